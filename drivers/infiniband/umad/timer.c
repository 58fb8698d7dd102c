// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "timer.h"

#include <linux/bug.h>
#include <linux/lockdep.h>
#include "umad_export.h"

/**
 * umad_timers_init() - make an empty queue
 * @timers: to be made
 * @lock: that its owner will hold around all calls
 */
void umad_timers_init(struct umad_timers *timers, spinlock_t *lock)
{
	timers->lock = lock;
	timerqueue_init_head(&timers->queue);
}
EXPORT_SYMBOL_IF_KUNIT(umad_timers_init);

/**
 * umad_timers_destroy() - an empty queue is not used any more
 * @timers: nobody uses it any more
 */
void umad_timers_destroy(struct umad_timers *timers)
{
	WARN_ON_ONCE(timerqueue_getnext(&timers->queue));
}
EXPORT_SYMBOL_IF_KUNIT(umad_timers_destroy);

/**
 * umad_timer_init() - it is not set
 * @timer: to be filled in
 * @ops: whose it is
 */
void umad_timer_init(struct umad_timer *timer, const struct umad_timer_ops *ops)
{
	timerqueue_init(&timer->node);
	timer->ops = ops;
}
EXPORT_SYMBOL_IF_KUNIT(umad_timer_init);

/**
 * umad_timer_clear() - there is no deadline
 * @timers: its queue
 * @timer: set or not
 *
 * Context: process, the queue's lock held; does not sleep.
 */
void umad_timer_clear(struct umad_timers *timers, struct umad_timer *timer)
{
	lockdep_assert_held(timers->lock);
	if (!umad_timer_is_set(timer))
		return;
	timerqueue_del(&timers->queue, &timer->node);
	timerqueue_init(&timer->node);
}
EXPORT_SYMBOL_IF_KUNIT(umad_timer_clear);

/**
 * umad_timer_set() - there is a deadline, in place of an earlier one
 * @timers: its queue
 * @timer: set or not
 * @expires: the time, or KTIME_MAX for never
 *
 * Context: process, the queue's lock held; does not sleep.
 */
void umad_timer_set(struct umad_timers *timers, struct umad_timer *timer,
		    ktime_t expires)
{
	umad_timer_clear(timers, timer);
	if (expires == KTIME_MAX)
		return;
	timer->node.expires = expires;
	timerqueue_add(&timers->queue, &timer->node);
}
EXPORT_SYMBOL_IF_KUNIT(umad_timer_set);

/**
 * umad_timer_put_off() - there is a deadline; too early a one may stay
 * @timers: its queue
 * @timer: set or not; its owner looks at the time when it is entered
 * @expires: the time, or KTIME_MAX for never
 *
 * An RMPP engine puts its deadline off with each segment, which leaves the queue alone.
 * Context: process, the queue's lock held; does not sleep.
 */
void umad_timer_put_off(struct umad_timers *timers, struct umad_timer *timer,
			ktime_t expires)
{
	lockdep_assert_held(timers->lock);
	if (expires == KTIME_MAX || !umad_timer_is_set(timer) ||
	    ktime_before(expires, timer->node.expires))
		umad_timer_set(timers, timer, expires);
}
EXPORT_SYMBOL_IF_KUNIT(umad_timer_put_off);

/**
 * umad_timers_first_due() - a timer whose deadline has passed
 * @timers: the queue
 * @now: the clock of the deadlines
 *
 * Context: process, the queue's lock held; does not sleep.
 * Return: the one that is overdue for longest, set still; or NULL.
 */
struct umad_timer *umad_timers_first_due(struct umad_timers *timers, ktime_t now)
{
	struct timerqueue_node *node;

	lockdep_assert_held(timers->lock);
	node = timerqueue_getnext(&timers->queue);
	if (!node || ktime_after(node->expires, now))
		return NULL;
	return container_of(node, struct umad_timer, node);
}
EXPORT_SYMBOL_IF_KUNIT(umad_timers_first_due);

/**
 * umad_timers_next() - when to look again
 * @timers: the queue
 *
 * Context: process, the queue's lock held; does not sleep.
 * Return: the earliest deadline, or KTIME_MAX when there is none.
 */
ktime_t umad_timers_next(struct umad_timers *timers)
{
	struct timerqueue_node *node;

	lockdep_assert_held(timers->lock);
	node = timerqueue_getnext(&timers->queue);
	return node ? node->expires : KTIME_MAX;
}
EXPORT_SYMBOL_IF_KUNIT(umad_timers_next);
