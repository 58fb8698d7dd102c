// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rxq.h"

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include "umad_export.h"

/* Bytes of an entry that umad_rxq_shed() need not have. */
#define SHED_SMALL	1024

/**
 * umad_rxq_init() - make an empty queue
 * @q: to be made
 * @budget: bytes that its entries may be charged in all
 *
 * Context: any.
 */
void umad_rxq_init(struct umad_rxq *q, size_t budget)
{
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->list[false]);
	INIT_LIST_HEAD(&q->list[true]);
	q->seq = 0;
	init_waitqueue_head(&q->wait);
	init_waitqueue_head(&q->readers);
	q->budget = budget;
	q->charged = 0;
	q->queued = 0;
	q->shutdown = false;
	q->seen_empty = false;
	q->said_ready = false;
	q->read_owed = false;
	q->wake_owed = false;
	atomic_set(&q->to_wake, 0);
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_init);

static struct list_head *list_of(struct umad_rxq *q, const struct umad_rx_entry *entry)
{
	return &q->list[entry->ops->unasked];
}

/* The oldest, or NULL. */
static struct umad_rx_entry *first_entry(struct umad_rxq *q)
{
	struct umad_rx_entry *asked, *unasked;

	asked = list_first_entry_or_null(&q->list[false], struct umad_rx_entry, node);
	unasked = list_first_entry_or_null(&q->list[true], struct umad_rx_entry, node);
	if (asked && unasked)
		return (s32)(asked->seq - unasked->seq) < 0 ? asked : unasked;
	return asked ?: unasked;
}

/**
 * umad_rxq_charge() - take an entry's bytes from the budget
 * @q: the queue it will go to
 * @entry: not charged yet; umad_rxq_free() gives the bytes back
 * @bytes: of memory it holds; of more than U32_MAX there is none
 *
 * Entries that must never be dropped, the caller's own timeouts, are simply
 * not charged: their number is bounded by what the caller has outstanding.
 * Context: process; does not sleep.
 * Return: false when the budget does not allow it.
 */
bool umad_rxq_charge(struct umad_rxq *q, struct umad_rx_entry *entry, size_t bytes)
{
	bool fits;

	spin_lock(&q->lock);
	fits = bytes <= min_t(size_t, q->budget, U32_MAX) && q->charged <= q->budget - bytes;
	if (fits) {
		WRITE_ONCE(q->charged, q->charged + bytes);
		entry->charge = bytes;
	}
	spin_unlock(&q->lock);
	return fits;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_charge);

/**
 * umad_rxq_charge_always() - take an entry's bytes from the budget, or beyond
 * @q: the queue it will go to
 * @entry: not charged yet
 * @bytes: of memory it holds
 *
 * For what has been acknowledged to its sender and must not be dropped.
 * Context: process; does not sleep.
 */
void umad_rxq_charge_always(struct umad_rxq *q, struct umad_rx_entry *entry,
			    size_t bytes)
{
	spin_lock(&q->lock);
	WRITE_ONCE(q->charged, q->charged + bytes);
	entry->charge = bytes;
	spin_unlock(&q->lock);
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_charge_always);

/**
 * umad_rxq_has_room() - is anything of the budget left?
 * @q: the queue
 *
 * Context: process; does not sleep.
 * Return: true if so, and the queue lives.
 */
bool umad_rxq_has_room(struct umad_rxq *q)
{
	bool room;

	spin_lock(&q->lock);
	room = !q->shutdown && q->charged < q->budget;
	spin_unlock(&q->lock);
	return room;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_has_room);

/**
 * umad_rxq_push() - queue an entry
 * @q: the queue
 * @entry: consumed on success
 *
 * Who waits for one is woken by umad_rxq_wake(): whoever waits for the file is looked at
 * for that, a process may wait 200,000 times, and the caller holds the file's lock.
 * Context: process; does not sleep.
 * Return: false when the queue is shut down, the caller keeps @entry.
 */
bool umad_rxq_push(struct umad_rxq *q, struct umad_rx_entry *entry)
{
	bool alive;

	spin_lock(&q->lock);
	alive = !q->shutdown;
	if (alive) {
		entry->seq = q->seq++;
		list_add_tail(&entry->node, list_of(q, entry));
		q->queued++;
		/* They will be woken. */
		q->seen_empty = false;
		q->read_owed = false;
		atomic_inc(&q->to_wake);
	}
	spin_unlock(&q->lock);
	return alive;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_push);

/**
 * umad_rxq_wake() - wake who waits for what has been queued
 * @q: the queue
 *
 * All readers and pollers once, but of the pollers that wait exclusively as many as there are
 * new entries.
 * Context: process; does not sleep; hold no lock.
 */
void umad_rxq_wake(struct umad_rxq *q)
{
	int n = atomic_read(&q->to_wake) ? atomic_xchg(&q->to_wake, 0) : 0;

	if (!n)
		return;
	__wake_up(&q->wait, TASK_INTERRUPTIBLE, n, poll_to_key(EPOLLIN | EPOLLRDNORM));
	wake_up_interruptible(&q->readers);
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_wake);

/**
 * umad_rxq_pop() - take the oldest entry out
 * @q: the queue
 *
 * The entry stays charged until umad_rxq_free().
 * Context: process; does not sleep.
 * Return: the entry, now the caller's, or NULL when there is none or the
 * queue is shut down.
 */
struct umad_rx_entry *umad_rxq_pop(struct umad_rxq *q)
{
	struct umad_rx_entry *entry = NULL;

	spin_lock(&q->lock);
	if (!q->shutdown)
		entry = first_entry(q);
	if (entry) {
		list_del(&entry->node);
		q->queued--;
		q->said_ready = false;
		q->read_owed = false;
	} else {
		q->seen_empty = true;
	}
	spin_unlock(&q->lock);
	return entry;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_pop);

/**
 * umad_rxq_put_back() - an entry could not be handed out, make it the oldest
 * @q: the queue it was popped from
 * @entry: consumed
 *
 * Another reader may have gone to sleep on the queue that looked empty, and is woken: in-tree
 * it slept on beside a MAD that it could have had. All pollers would have to be looked at, of
 * which a process may have 200,000, and fail to read again and again: so only if one has
 * seen the queue empty, and not here.
 * Context: process; may sleep when the queue is shut down; hold no lock.
 * Return: true if umad_rxq_wake_pollers() has to follow; who gets that does it for all who
 * put back meanwhile.
 */
bool umad_rxq_put_back(struct umad_rxq *q, struct umad_rx_entry *entry)
{
	struct umad_rx_entry *first;
	bool alive, wake;

	spin_lock(&q->lock);
	alive = !q->shutdown;
	wake = alive && q->seen_empty && !q->wake_owed;
	if (alive) {
		first = first_entry(q);
		entry->seq = (first ? first->seq : q->seq) - 1;
		list_add(&entry->node, list_of(q, entry));
		q->queued++;
		q->seen_empty = false;
		/* Its reader knows of it. */
		q->said_ready = true;
		q->read_owed = false;
		q->wake_owed |= wake;
	}
	spin_unlock(&q->lock);
	if (alive)
		wake_up_interruptible(&q->readers);
	else
		umad_rxq_free(q, entry);
	return wake;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_put_back);

/**
 * umad_rxq_wake_pollers() - wake all pollers, after umad_rxq_put_back()
 * @q: the queue
 *
 * Context: process; does not sleep; hold no lock.
 */
void umad_rxq_wake_pollers(struct umad_rxq *q)
{
	/* Who puts back from here on has to see to it himself. */
	spin_lock(&q->lock);
	q->wake_owed = false;
	spin_unlock(&q->lock);
	__wake_up(&q->wait, TASK_INTERRUPTIBLE, 0, poll_to_key(EPOLLIN | EPOLLRDNORM));
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_wake_pollers);

static void free_entry(struct umad_rxq *q, struct umad_rx_entry *entry, bool here)
{
	spin_lock(&q->lock);
	WRITE_ONCE(q->charged, q->charged - entry->charge);
	spin_unlock(&q->lock);
	entry->ops->release(q, entry, here);
}

/**
 * umad_rxq_free() - give back an entry and what it was charged
 * @q: the queue it was charged to
 * @entry: in no queue; consumed
 *
 * Context: process; may sleep.
 */
void umad_rxq_free(struct umad_rxq *q, struct umad_rx_entry *entry)
{
	free_entry(q, entry, false);
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_free);

/**
 * umad_rxq_free_here() - the same, in the time of who has read it
 * @q: the queue it was charged to
 * @entry: in no queue; consumed
 *
 * Its memory may be wanted at once.
 * Context: process, on behalf of user space; may sleep.
 */
void umad_rxq_free_here(struct umad_rxq *q, struct umad_rx_entry *entry)
{
	free_entry(q, entry, true);
}

/**
 * umad_rxq_shed() - drop what nobody has asked for, the newest first
 * @q: the queue
 * @bytes: so much, if there is
 * @gone: where the entries go, not charged any more, for &umad_rx_ops.release without a queue
 * @n: set to how many these are
 *
 * They might as well not have been received. The oldest of them stays if it is small: whoever
 * polls may know of it.
 * Context: process; does not sleep.
 * Return: bytes.
 */
size_t umad_rxq_shed(struct umad_rxq *q, size_t bytes, struct list_head *gone,
		     unsigned int *n)
{
	struct umad_rx_entry *entry, *next;
	struct list_head *unasked = &q->list[true];
	size_t freed = 0;

	*n = 0;
	spin_lock(&q->lock);
	list_for_each_entry_safe_reverse(entry, next, unasked, node) {
		if (freed >= bytes ||
		    (list_is_first(&entry->node, unasked) && entry->charge <= SHED_SMALL))
			break;
		freed += entry->charge;
		list_move(&entry->node, gone);
		q->queued--;
		++*n;
	}
	WRITE_ONCE(q->charged, q->charged - freed);
	if (q->said_ready && !first_entry(q)) {
		q->said_ready = false;
		q->read_owed = true;
	}
	spin_unlock(&q->lock);
	return freed;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_shed);

/**
 * umad_rxq_shutdown() - drop all entries, let none in any more, wake everybody
 * @q: the queue; may be shut down already
 *
 * Context: process; may sleep.
 */
void umad_rxq_shutdown(struct umad_rxq *q)
{
	struct umad_rx_entry *entry, *next;
	LIST_HEAD(dropped);

	spin_lock(&q->lock);
	WRITE_ONCE(q->shutdown, true);
	q->queued = 0;
	list_splice_init(&q->list[false], &dropped);
	list_splice_init(&q->list[true], &dropped);
	spin_unlock(&q->lock);
	wake_up_all(&q->wait);
	wake_up_all(&q->readers);
	list_for_each_entry_safe(entry, next, &dropped, node) {
		umad_rxq_free(q, entry);
		cond_resched();
	}
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_shutdown);

static bool is_ready(struct umad_rxq *q, bool says)
{
	bool ready, found;

	spin_lock(&q->lock);
	found = first_entry(q);
	ready = q->shutdown || found;
	if (!ready)
		q->seen_empty = true;
	/* Who asks again is not the only one to have heard it. */
	q->said_ready |= says && found;
	spin_unlock(&q->lock);
	return ready;
}

/**
 * umad_rxq_is_ready() - would a reader not sleep?
 * @q: the queue
 *
 * For who stands in its wait queue already.
 * Context: process; does not sleep.
 * Return: true when there is an entry, or when the queue is shut down.
 */
bool umad_rxq_is_ready(struct umad_rxq *q)
{
	return is_ready(q, false);
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_is_ready);

/**
 * umad_rxq_poll() - the same, and the process hears of it
 * @q: the queue
 *
 * Context: process; does not sleep.
 * Return: as umad_rxq_is_ready().
 */
bool umad_rxq_poll(struct umad_rxq *q)
{
	return is_ready(q, true);
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_poll);

/**
 * umad_rxq_take_owed() - is a reader not to sleep for what its process has heard of?
 * @q: the queue
 *
 * Context: process; does not sleep.
 * Return: true once, if that had to give way.
 */
bool umad_rxq_take_owed(struct umad_rxq *q)
{
	bool owed;

	spin_lock(&q->lock);
	owed = q->read_owed;
	q->read_owed = false;
	spin_unlock(&q->lock);
	return owed;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_take_owed);
