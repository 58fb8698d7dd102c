// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* When a file may send something again; see again.h. */
#include "again.h"

#include <kunit/visibility.h>
#include "queues.h"
#include "umad_compat.h"

/* From one turn to the next at most: a device that is slow stops nobody. */
#define TURN_MAX	NSEC_PER_MSEC
/* Of five parts one is for what is sent again. */
#define SHARE		5

/**
 * umad_pace_init() - as slow as can be, until it is known how long one takes
 * @pace: of a new port
 *
 * Context: any.
 */
void umad_pace_init(struct umad_pace *pace)
{
	spin_lock_init(&pace->lock);
	pace->next = 0;
	pace->took = TURN_MAX;
}
EXPORT_SYMBOL_IF_KUNIT(umad_pace_init);

/**
 * umad_pace_turn() - take the next turn
 * @pace: of the port
 * @now: the time
 *
 * Context: process, &umad_file.lock held.
 * Return: when to send, @now or later.
 */
ktime_t umad_pace_turn(struct umad_pace *pace, ktime_t now)
{
	ktime_t turn;

	spin_lock(&pace->lock);
	turn = ktime_after(pace->next, now) ? pace->next : now;
	pace->next = ktime_add_ns(turn, min_t(s64, SHARE * pace->took, TURN_MAX));
	spin_unlock(&pace->lock);
	return turn;
}
EXPORT_SYMBOL_IF_KUNIT(umad_pace_turn);

/**
 * umad_pace_took() - an attempt has left the send queue
 * @pace: of the port
 * @ns: since it was begun
 *
 * Context: process; takes no lock but its own.
 */
void umad_pace_took(struct umad_pace *pace, s64 ns)
{
	spin_lock(&pace->lock);
	pace->took = clamp_t(s64, ns, 1, TURN_MAX);
	spin_unlock(&pace->lock);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pace_took);

/**
 * umad_pace_unknown() - of the attempt now begun nobody will hear when it has left
 * @pace: of the port
 * @now: the time
 *
 * Context: process; takes no lock but its own.
 */
void umad_pace_unknown(struct umad_pace *pace, ktime_t now)
{
	ktime_t next = ktime_add_ns(now, TURN_MAX);

	spin_lock(&pace->lock);
	if (ktime_after(next, pace->next))
		pace->next = next;
	spin_unlock(&pace->lock);
}
EXPORT_SYMBOL_IF_KUNIT(umad_pace_unknown);

static enum hrtimer_restart queue_again_work(struct hrtimer *timer)
{
	struct umad_again *again = container_of(timer, struct umad_again, timer);

	queue_work(umad_timer_wq, &again->work);
	return HRTIMER_NORESTART;
}

/**
 * umad_again_init() - nothing waits
 * @again: of a new file
 * @pace: of its port
 * @send_next: sends the first that waits; clears &umad_again.has_turn and calls
 *	umad_again_arm() for those that are left
 *
 * Context: any.
 */
void umad_again_init(struct umad_again *again, struct umad_pace *pace,
		     work_func_t send_next)
{
	again->pace = pace;
	INIT_LIST_HEAD(&again->waiting);
	again->has_turn = false;
	INIT_WORK(&again->work, send_next);
	hrtimer_setup(&again->timer, queue_again_work, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);
}
EXPORT_SYMBOL_IF_KUNIT(umad_again_init);

/**
 * umad_again_destroy() - the work does not run any more
 * @again: nothing waits, and nothing will
 *
 * Context: process; sleeps.
 */
void umad_again_destroy(struct umad_again *again)
{
	WARN_ON_ONCE(!list_empty(&again->waiting));
	hrtimer_cancel(&again->timer);
	cancel_work_sync(&again->work);
}
EXPORT_SYMBOL_IF_KUNIT(umad_again_destroy);

/**
 * umad_again_arm() - take a turn, if something waits and the file has none
 * @again: of the file
 * @now: the time
 *
 * Context: process, &umad_file.lock held.
 */
void umad_again_arm(struct umad_again *again, ktime_t now)
{
	ktime_t turn;

	if (again->has_turn || list_empty(&again->waiting))
		return;
	again->has_turn = true;
	turn = umad_pace_turn(again->pace, now);
	if (turn == now)
		queue_work(umad_timer_wq, &again->work);
	else
		hrtimer_start(&again->timer, turn, HRTIMER_MODE_ABS);
}
EXPORT_SYMBOL_IF_KUNIT(umad_again_arm);
