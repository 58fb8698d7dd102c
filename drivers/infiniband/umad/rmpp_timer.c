// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Deadlines of RMPP engines, and what else a file has of RMPP. */
#include <linux/types.h>
#include "rmpp.h"

#include <linux/limits.h>
#include "agent.h"
#include "file.h"
#include "queues.h"

/* Timers dealt with in one go with the file's lock held. */
#define BATCH	16
/* And in one run of the work, as engines set new ones meanwhile. */
#define RUN_MAX	256

/* Run the work when the first timer is due, if it will not run before. */
static void arm(struct umad_rmpp *rmpp)
{
	struct timerqueue_node *node = timerqueue_getnext(&rmpp->timers);
	s64 ns;

	if (!node || node->expires >= rmpp->armed)
		return;
	rmpp->armed = node->expires;
	ns = max_t(s64, ktime_sub(node->expires, ktime_get()), 0);
	mod_delayed_work(umad_timer_wq, &rmpp->work, nsecs_to_jiffies(ns) + 1);
}

/**
 * umad_rmpp_set_timer() - when an engine wants to be called
 * @file: that has it
 * @timer: the engine's
 * @deadline: in nanoseconds, or U64_MAX for never
 *
 * With each segment the deadline is put off. The queue is left alone then: an
 * engine that is called too early finds nothing to do, and is asked again.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_set_timer(struct umad_file *file, struct umad_rmpp_timer *timer,
			 u64 deadline)
{
	struct umad_rmpp *rmpp = &file->rmpp;

	lockdep_assert_held(&file->lock);
	if (!RB_EMPTY_NODE(&timer->node.node)) {
		if (deadline != U64_MAX && deadline >= timer->node.expires)
			return;
		timerqueue_del(&rmpp->timers, &timer->node);
		timerqueue_init(&timer->node);
	}
	if (deadline == U64_MAX)
		return;
	timer->node.expires = deadline;
	timerqueue_add(&rmpp->timers, &timer->node);
	arm(rmpp);
}

/*
 * One batch under the lock. Fills in @due, of which @n are to be run, and the agents
 * with an active reference to each. True: there may be more.
 */
static bool collect(struct umad_file *file, struct umad_rmpp_timer **due,
		    struct umad_agent **inside, unsigned int *n)
{
	struct umad_rmpp *rmpp = &file->rmpp;
	struct timerqueue_node *node;
	struct umad_rmpp_timer *timer;
	ktime_t now = ktime_get();
	unsigned int looked_at;

	*n = 0;
	spin_lock(&file->lock);
	for (looked_at = 0; looked_at < BATCH; looked_at++) {
		node = timerqueue_getnext(&rmpp->timers);
		if (!node || ktime_after(node->expires, now))
			break;
		timerqueue_del(&rmpp->timers, node);
		timerqueue_init(node);
		timer = container_of(node, struct umad_rmpp_timer, node);
		/* Closed: whoever closed it takes everything down. */
		inside[*n] = timer->ops->enter(timer, now);
		if (inside[*n])
			due[(*n)++] = timer;
	}
	spin_unlock(&file->lock);
	return looked_at == BATCH;
}

static void timer_work(struct work_struct *work)
{
	struct umad_rmpp *rmpp = container_of(work, struct umad_rmpp,
					      work.work);
	struct umad_file *file = container_of(rmpp, struct umad_file, rmpp);
	struct umad_agent *inside[BATCH];
	struct umad_rmpp_timer *due[BATCH];
	unsigned int total = 0, n, i;
	bool more;

	do {
		more = collect(file, due, inside, &n);
		for (i = 0; i < n; i++) {
			due[i]->ops->run(due[i]);
			umad_agent_leave(inside[i]);
		}
		total += BATCH;
		cond_resched();
	} while (more && total < RUN_MAX);

	spin_lock(&file->lock);
	rmpp->armed = KTIME_MAX;
	arm(rmpp);
	spin_unlock(&file->lock);
}

/**
 * umad_rmpp_init() - what a file needs for RMPP
 * @rmpp: of a file
 *
 * Context: any.
 */
void umad_rmpp_init(struct umad_rmpp *rmpp)
{
	rmpp->receivers = RB_ROOT;
	rmpp->peers = RB_ROOT;
	rmpp->by_transfers = RB_ROOT_CACHED;
	rmpp->by_bytes = RB_ROOT_CACHED;
	rmpp->dests = RB_ROOT;
	INIT_LIST_HEAD(&rmpp->unresolved);
	INIT_LIST_HEAD(&rmpp->lingering);
	timerqueue_init_head(&rmpp->timers);
	INIT_DELAYED_WORK(&rmpp->work, timer_work);
	rmpp->armed = KTIME_MAX;
}

/**
 * umad_rmpp_destroy() - give back what a file had for RMPP
 * @rmpp: of a file without agents
 *
 * Context: process; sleeps.
 */
void umad_rmpp_destroy(struct umad_rmpp *rmpp)
{
	cancel_delayed_work_sync(&rmpp->work);
	WARN_ON_ONCE(rmpp->reassembling || !RB_EMPTY_ROOT(&rmpp->peers) ||
		     !RB_EMPTY_ROOT(&rmpp->receivers) ||
		     rmpp->lingering_count || rmpp->resolving ||
		     atomic_read(&rmpp->rejects) ||
		     rmpp->sending_bytes || !RB_EMPTY_ROOT(&rmpp->dests) ||
		     timerqueue_getnext(&rmpp->timers));
}
