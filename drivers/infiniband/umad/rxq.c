// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rxq.h"

#include <kunit/visibility.h>
#include <linux/poll.h>
#include <linux/sched.h>

/**
 * umad_rxq_init() - make an empty queue
 * @q: to be made
 * @budget: bytes that its records may be charged in all
 *
 * Context: any.
 */
void umad_rxq_init(struct umad_rxq *q, size_t budget)
{
	spin_lock_init(&q->lock);
	INIT_LIST_HEAD(&q->list);
	init_waitqueue_head(&q->wait);
	q->budget = budget;
	q->charged = 0;
	q->queued = 0;
	q->dead = false;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_init);

/**
 * umad_rxq_charge() - take a record's bytes from the budget
 * @q: the queue it will go to
 * @msg: not charged yet; umad_rxq_free() gives the bytes back
 * @bytes: of memory it holds
 *
 * Records that must never be dropped, the caller's own timeouts, are simply
 * not charged: their number is bounded by what the caller has outstanding.
 * Context: process; does not sleep.
 * Return: false when the budget does not allow it.
 */
bool umad_rxq_charge(struct umad_rxq *q, struct umad_msg *msg, size_t bytes)
{
	bool fits;

	spin_lock(&q->lock);
	fits = bytes <= q->budget && q->charged <= q->budget - bytes;
	if (fits) {
		q->charged += bytes;
		msg->charge = bytes;
	}
	spin_unlock(&q->lock);
	return fits;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_charge);

/**
 * umad_rxq_charge_always() - take a record's bytes from the budget, or beyond
 * @q: the queue it will go to
 * @msg: not charged yet
 * @bytes: of memory it holds
 *
 * For what has been acknowledged to its sender and must not be dropped.
 * Context: process; does not sleep.
 */
void umad_rxq_charge_always(struct umad_rxq *q, struct umad_msg *msg,
			    size_t bytes)
{
	spin_lock(&q->lock);
	q->charged += bytes;
	msg->charge = bytes;
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
	room = !q->dead && q->charged < q->budget;
	spin_unlock(&q->lock);
	return room;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_has_room);

/**
 * umad_rxq_push() - queue a record and wake who waits for one
 * @q: the queue
 * @msg: consumed on success
 *
 * Context: process; does not sleep.
 * Return: false when the queue is dead, the caller keeps @msg.
 */
bool umad_rxq_push(struct umad_rxq *q, struct umad_msg *msg)
{
	bool alive;

	spin_lock(&q->lock);
	alive = !q->dead;
	if (alive) {
		list_add_tail(&msg->node, &q->list);
		q->queued++;
	}
	spin_unlock(&q->lock);
	if (alive)
		wake_up_interruptible_poll(&q->wait, EPOLLIN | EPOLLRDNORM);
	return alive;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_push);

/**
 * umad_rxq_pop() - take the oldest record out
 * @q: the queue
 *
 * The record stays charged until umad_rxq_free().
 * Context: process; does not sleep.
 * Return: the record, now the caller's, or NULL when there is none or the
 * queue is dead.
 */
struct umad_msg *umad_rxq_pop(struct umad_rxq *q)
{
	struct umad_msg *msg = NULL;

	spin_lock(&q->lock);
	if (!q->dead)
		msg = list_first_entry_or_null(&q->list, struct umad_msg, node);
	if (msg) {
		list_del(&msg->node);
		q->queued--;
	}
	spin_unlock(&q->lock);
	return msg;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_pop);

/**
 * umad_rxq_put_back() - a record could not be handed out, make it the oldest
 * @q: the queue it was popped from
 * @msg: consumed
 *
 * Another reader may have gone to sleep on the queue that looked empty, and
 * is woken: in-tree it slept on beside a MAD that it could have had.
 * Context: process; may sleep when the queue has died.
 */
void umad_rxq_put_back(struct umad_rxq *q, struct umad_msg *msg)
{
	bool alive;

	spin_lock(&q->lock);
	alive = !q->dead;
	if (alive) {
		list_add(&msg->node, &q->list);
		q->queued++;
	}
	spin_unlock(&q->lock);
	if (alive)
		wake_up_interruptible_poll(&q->wait, EPOLLIN | EPOLLRDNORM);
	else
		umad_rxq_free(q, msg);
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_put_back);

/**
 * umad_rxq_free() - give back a record and what it was charged
 * @q: the queue it was charged to
 * @msg: in no queue; consumed
 *
 * Context: process; may sleep.
 */
void umad_rxq_free(struct umad_rxq *q, struct umad_msg *msg)
{
	spin_lock(&q->lock);
	q->charged -= msg->charge;
	spin_unlock(&q->lock);
	msg->release(msg);
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_free);

/**
 * umad_rxq_kill() - drop all records, let none in any more, wake everybody
 * @q: the queue; may be dead already
 *
 * Context: process; may sleep.
 */
void umad_rxq_kill(struct umad_rxq *q)
{
	struct umad_msg *msg, *next;
	LIST_HEAD(dropped);

	spin_lock(&q->lock);
	q->dead = true;
	q->queued = 0;
	list_splice_init(&q->list, &dropped);
	spin_unlock(&q->lock);
	wake_up_all(&q->wait);
	list_for_each_entry_safe(msg, next, &dropped, node) {
		umad_rxq_free(q, msg);
		cond_resched();
	}
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_kill);

/**
 * umad_rxq_is_ready() - would a reader sleep?
 * @q: the queue
 *
 * Context: process; does not sleep.
 * Return: true when there is a record, or when the queue is dead.
 */
bool umad_rxq_is_ready(struct umad_rxq *q)
{
	bool ready;

	spin_lock(&q->lock);
	ready = q->dead || !list_empty(&q->list);
	spin_unlock(&q->lock);
	return ready;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rxq_is_ready);
