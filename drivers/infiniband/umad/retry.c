// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* When a file may send something again; see retry.h. */
#include "retry.h"

#include "addr.h"
#include "queues.h"
#include "umad_compat.h"
#include "umad_export.h"
#include "umad_rbtree.h"

/*
 * Of eight parts one is for what is sent again: with one of five, who floods requests took
 * a neighbour's round trips to more than twice what they take alone.
 */
#define SHARE		8
/*
 * From one turn to the next. What a MAD costs others is not only its time in the send
 * queue; and a device that is slow stops nobody.
 */
#define TURN_MIN	(100 * NSEC_PER_USEC)
#define TURN_MAX	NSEC_PER_MSEC
/*
 * Further attempts of a file in the send queue: of a device that stands still, more
 * would only wait there, and be in the way of others when it goes on.
 */
#define IN_FLIGHT_MAX	8

/* Gives a turn that has come, and sees to the next. */
static void give_turn(struct umad_pace *pace, ktime_t now)
{
	struct umad_turn *root = &pace->root, *turn;

	lockdep_assert_held(&pace->lock);
	if (umad_turn_is_awaited(root) && !ktime_before(now, pace->next)) {
		turn = umad_turn_take(root);
		queue_work(umad_timer_wq,
			   &container_of(turn, struct umad_retry_queue, turn)->work);
		pace->next = ktime_add_ns(now, clamp_t(s64, SHARE * pace->took,
						       TURN_MIN, TURN_MAX));
	}
	if (umad_turn_is_awaited(root))
		hrtimer_start(&pace->timer, pace->next, HRTIMER_MODE_ABS);
}

static enum hrtimer_restart turn_has_come(struct hrtimer *timer)
{
	struct umad_pace *pace = container_of(timer, struct umad_pace, timer);
	unsigned long flags;

	spin_lock_irqsave(&pace->lock, flags);
	give_turn(pace, ktime_get());
	spin_unlock_irqrestore(&pace->lock, flags);
	return HRTIMER_NORESTART;
}

/**
 * umad_pace_init() - as slow as can be, until it is known how long one takes
 * @pace: of a new port
 *
 * Context: any.
 */
void umad_pace_init(struct umad_pace *pace)
{
	spin_lock_init(&pace->lock);
	umad_turn_init(&pace->root, NULL);
	pace->next = 0;
	pace->took = TURN_MAX;
	hrtimer_setup(&pace->timer, turn_has_come, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pace_init);

/**
 * umad_pace_destroy() - no turn is given any more
 * @pace: of a port without files
 *
 * Context: process.
 */
void umad_pace_destroy(struct umad_pace *pace)
{
	WARN_ON_ONCE(umad_turn_is_awaited(&pace->root));
	hrtimer_cancel(&pace->timer);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pace_destroy);

/**
 * umad_pace_took() - an attempt has left the send queue
 * @pace: of the port
 * @ns: since it was begun
 *
 * Context: any.
 */
void umad_pace_took(struct umad_pace *pace, s64 ns)
{
	unsigned long flags;

	spin_lock_irqsave(&pace->lock, flags);
	pace->took = clamp_t(s64, ns, 0, TURN_MAX);
	spin_unlock_irqrestore(&pace->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pace_took);

/**
 * umad_pace_unknown() - of the attempt now begun nobody will hear when it has left
 * @pace: of the port
 * @now: the time
 *
 * Context: any.
 */
void umad_pace_unknown(struct umad_pace *pace, ktime_t now)
{
	ktime_t next = ktime_add_ns(now, TURN_MAX);
	unsigned long flags;

	spin_lock_irqsave(&pace->lock, flags);
	if (ktime_after(next, pace->next))
		pace->next = next;
	spin_unlock_irqrestore(&pace->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pace_unknown);

static void lines_init(struct umad_retry_lines *lines)
{
	lines->dests = RB_ROOT;
	INIT_LIST_HEAD(&lines->turns);
}

/**
 * umad_retry_queue_init() - nothing waits
 * @queue: of a new file
 * @pace: of its port
 * @process: that has opened it
 * @send_next: sends the first that waits; clears &umad_retry_queue.has_turn and calls
 *	umad_retry_queue_arm() for those that are left
 *
 * Context: any.
 */
void umad_retry_queue_init(struct umad_retry_queue *queue, struct umad_pace *pace,
			   struct umad_turn *process, work_func_t send_next)
{
	queue->pace = pace;
	umad_turn_init(&queue->turn, process);
	lines_init(&queue->all);
	lines_init(&queue->apart);
	queue->in_flight = 0;
	queue->has_turn = false;
	queue->apart_had = false;
	INIT_WORK(&queue->work, send_next);
}
EXPORT_SYMBOL_IF_KUNIT(umad_retry_queue_init);

static bool is_empty(const struct umad_retry_queue *queue)
{
	return list_empty(&queue->all.turns) && list_empty(&queue->apart.turns);
}

/**
 * umad_retry_queue_destroy() - the work does not run any more
 * @queue: nothing waits, and nothing will
 *
 * Its turn falls to the next file.
 * Context: process; sleeps.
 */
void umad_retry_queue_destroy(struct umad_retry_queue *queue)
{
	struct umad_pace *pace = queue->pace;
	unsigned long flags;

	WARN_ON_ONCE(!is_empty(queue));
	spin_lock_irqsave(&pace->lock, flags);
	umad_turn_leave(&queue->turn);
	spin_unlock_irqrestore(&pace->lock, flags);
	cancel_work_sync(&queue->work);
}
EXPORT_SYMBOL_IF_KUNIT(umad_retry_queue_destroy);

/**
 * umad_retry_queue_arm() - wait for a turn, if something is to be sent and the file does not
 * @queue: of the file; with IN_FLIGHT_MAX in the send queue it waits for those
 * @now: the time
 *
 * Context: process, &umad_file.lock held.
 */
void umad_retry_queue_arm(struct umad_retry_queue *queue, ktime_t now)
{
	struct umad_pace *pace = queue->pace;
	unsigned long flags;

	if (queue->has_turn || is_empty(queue) ||
	    queue->in_flight >= IN_FLIGHT_MAX)
		return;
	queue->has_turn = true;
	spin_lock_irqsave(&pace->lock, flags);
	umad_turn_wait(&queue->turn);
	give_turn(pace, now);
	spin_unlock_irqrestore(&pace->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(umad_retry_queue_arm);

/**
 * umad_retry_init() - it does not wait yet
 * @entry: to be filled in
 * @dest: where to; kept by the caller
 *
 * Context: any.
 */
void umad_retry_init(struct umad_retry *entry, const struct umad_addr *dest)
{
	entry->dest = dest;
	entry->apart = false;
	INIT_LIST_HEAD(&entry->node);
	INIT_LIST_HEAD(&entry->rest);
	RB_CLEAR_NODE(&entry->first);
}
EXPORT_SYMBOL_IF_KUNIT(umad_retry_init);

static int compare_entry(struct rb_node *node, const struct rb_node *other)
{
	return umad_addr_compare_node(rb_entry(node, struct umad_retry,
					      first)->dest,
				     rb_entry(other, struct umad_retry,
					      first)->dest);
}

static struct umad_retry_lines *lines_of(struct umad_retry_queue *queue,
					 const struct umad_retry *entry)
{
	return entry->apart ? &queue->apart : &queue->all;
}

/**
 * umad_retry_queue_add() - get in line, behind all others to the same destination
 * @queue: of the file
 * @entry: does not wait
 *
 * umad_retry_queue_arm() has to follow.
 * Context: process, &umad_file.lock held.
 */
void umad_retry_queue_add(struct umad_retry_queue *queue, struct umad_retry *entry)
{
	struct umad_retry_lines *lines = lines_of(queue, entry);
	struct rb_node *same;

	same = rb_find_add(&entry->first, &lines->dests, compare_entry);
	if (!same) {
		list_add_tail(&entry->node, &lines->turns);
		return;
	}
	RB_CLEAR_NODE(&entry->first);
	list_add_tail(&entry->node,
		      &rb_entry(same, struct umad_retry, first)->rest);
}
EXPORT_SYMBOL_IF_KUNIT(umad_retry_queue_add);

/**
 * umad_retry_queue_remove() - wait no more
 * @queue: of the file
 * @entry: waits or not
 *
 * The next to its destination takes its place.
 * Context: process, &umad_file.lock held.
 */
void umad_retry_queue_remove(struct umad_retry_queue *queue, struct umad_retry *entry)
{
	struct umad_retry_lines *lines = lines_of(queue, entry);
	struct umad_retry *next;

	if (RB_EMPTY_NODE(&entry->first)) {
		list_del_init(&entry->node);
		return;
	}
	next = list_first_entry_or_null(&entry->rest, struct umad_retry,
					node);
	if (next) {
		list_del(&next->node);
		list_replace_init(&entry->node, &next->node);
		list_splice_init(&entry->rest, &next->rest);
		rb_replace_node(&entry->first, &next->first, &lines->dests);
	} else {
		list_del_init(&entry->node);
		rb_erase(&entry->first, &lines->dests);
	}
	RB_CLEAR_NODE(&entry->first);
}
EXPORT_SYMBOL_IF_KUNIT(umad_retry_queue_remove);

/**
 * umad_retry_queue_next() - take from the line whose turn it is
 * @queue: of the file
 *
 * Its destination has its next turn behind all others; what is apart has each second one.
 * Context: process, &umad_file.lock held.
 * Return: the entry, or NULL if none waits.
 */
struct umad_retry *umad_retry_queue_next(struct umad_retry_queue *queue)
{
	struct umad_retry_lines *lines = &queue->all;
	struct umad_retry *entry;

	if (list_empty(&lines->turns) ||
	    (!queue->apart_had && !list_empty(&queue->apart.turns)))
		lines = &queue->apart;
	entry = list_first_entry_or_null(&lines->turns, struct umad_retry, node);
	if (!entry)
		return NULL;
	queue->apart_had = entry->apart;
	list_move_tail(&entry->node, &lines->turns);
	umad_retry_queue_remove(queue, entry);
	return entry;
}
EXPORT_SYMBOL_IF_KUNIT(umad_retry_queue_next);
