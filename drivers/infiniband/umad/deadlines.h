/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * When files deal with their deadlines. Few threads do it for all files of a pool: hundreds
 * that compute would have each step of a message wait for a slice of the processor of each,
 * as the scheduler prefers each that has slept. In the threads the files take turns
 * (turns.h), below their processes and ports, or who has many deadlines at once, or such
 * as take long, would delay those of others by all of them. But who has many once in a
 * while would have to wait for as many turns of all who have few all the time: so half of
 * the time is given to who is overdue for longest.
 */
#ifndef UMAD_DEADLINES_H
#define UMAD_DEADLINES_H

#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/timerqueue.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "turns.h"

struct completion;
struct umad_deadline_pool;
struct umad_deadlines;

#define UMAD_DEADLINE_THREADS	2

/**
 * struct umad_deadline_thread - gives turns, as long as somebody waits for one
 * @pool: whose
 * @work: it
 * @busy: it is queued or runs; protected by &umad_deadline_pool.lock
 * @since: when others had the processor last; its own, as those below
 * @begun: when the turn has begun
 * @delay: for how many ns the thread had waited for a processor by then
 * @overdue: it was given to who was overdue for longest
 */
struct umad_deadline_thread {
	struct umad_deadline_pool *pool;
	struct work_struct work;
	bool busy;
	ktime_t since;
	ktime_t begun;
	u64 delay;
	bool overdue;
};

/**
 * struct umad_deadline_pool - files that share threads
 * @wq: for the threads only
 * @lock: protects the rest; taken by timers, and inside &umad_file.lock
 * @root: who waits for a turn
 * @due: they, too: who is overdue for longest first
 * @ahead: by how many ns the turns of those took longer than the others, within limits
 * @thread: those who give them
 */
struct umad_deadline_pool {
	struct workqueue_struct *wq;
	spinlock_t lock; /* protects the rest */
	struct umad_turn root;
	struct timerqueue_head due;
	s64 ahead;
	struct umad_deadline_thread thread[UMAD_DEADLINE_THREADS];
};

/**
 * struct umad_deadlines_ops - whose they are
 * @turn: deal with a few that have passed; returns when the first of the rest has, or
 *	KTIME_MAX if there are no more. Sleeps.
 */
struct umad_deadlines_ops {
	ktime_t (*turn)(struct umad_deadlines *deadlines);
};

/**
 * struct umad_deadlines - of a file: what its turns are for
 * @pool: constant
 * @ops: constant
 * @timer: the first of them
 * @turn: among the files of its process
 * @due: in @due of @pool, while it waits for a turn; protected by &umad_deadline_pool.lock,
 *	as those below
 * @running: it has its turn
 * @again: the timer has expired meanwhile
 * @ended: there will be no more turns; completed after the last
 */
struct umad_deadlines {
	struct umad_deadline_pool *pool;
	const struct umad_deadlines_ops *ops;
	struct timer_list timer;
	struct umad_turn turn;
	struct timerqueue_node due;
	bool running;
	bool again;
	struct completion *ended;
};

struct umad_deadline_pool *umad_deadline_pool_create(const char *name);
void umad_deadline_pool_destroy(struct umad_deadline_pool *pool);
void umad_deadlines_init(struct umad_deadlines *deadlines, struct umad_deadline_pool *pool,
			 struct umad_turn *process, const struct umad_deadlines_ops *ops);
void umad_deadlines_set(struct umad_deadlines *deadlines, s64 ns);
void umad_deadlines_destroy(struct umad_deadlines *deadlines);

#endif /* UMAD_DEADLINES_H */
