/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The deadlines of a file: of its requests and of both RMPP engines, in one queue.
 * Self-contained: told the time, so that KUnit drives it with a clock of its own.
 */
#ifndef UMAD_TIMER_H
#define UMAD_TIMER_H

#include <linux/ktime.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>

struct umad_agent;
struct umad_timer;

/**
 * struct umad_timer_ops - whose deadline it is
 * @enter: it has passed, and the timer is not set any more. What can be done at once is
 *	done. Takes a reference, and an active one to the agent, for the caller of
 *	@run; NULL if there is nothing to run; the queue's lock held
 * @run: the rest; drops the reference; no lock held
 */
struct umad_timer_ops {
	struct umad_agent *(*enter)(struct umad_timer *timer, ktime_t now);
	void (*run)(struct umad_timer *timer);
};

/**
 * struct umad_timer - a deadline
 * @node: in &umad_timers.queue while it is set
 * @ops: whose it is, constant
 */
struct umad_timer {
	struct timerqueue_node node;
	const struct umad_timer_ops *ops;
};

/**
 * struct umad_timers - a queue of deadlines
 * @lock: the owner's, held around every call but those that make and end it or a timer;
 *	never taken in interrupts
 * @queue: by time
 */
struct umad_timers {
	spinlock_t *lock; /* the owner's, protects @queue */
	struct timerqueue_head queue;
};

void umad_timers_init(struct umad_timers *timers, spinlock_t *lock);
void umad_timers_destroy(struct umad_timers *timers);
void umad_timer_init(struct umad_timer *timer, const struct umad_timer_ops *ops);
void umad_timer_set(struct umad_timers *timers, struct umad_timer *timer,
		    ktime_t expires);
void umad_timer_put_off(struct umad_timers *timers, struct umad_timer *timer,
			ktime_t expires);
void umad_timer_clear(struct umad_timers *timers, struct umad_timer *timer);
struct umad_timer *umad_timers_first_due(struct umad_timers *timers, ktime_t now);
ktime_t umad_timers_next(struct umad_timers *timers);

/**
 * umad_timer_is_set() - has it a deadline?
 * @timer: set or not
 *
 * Context: process, the queue's lock held.
 * Return: true if so.
 */
static inline bool umad_timer_is_set(const struct umad_timer *timer)
{
	return !RB_EMPTY_NODE(&timer->node.node);
}

#endif /* UMAD_TIMER_H */
