// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The work of a file at its deadlines. */
#include <linux/types.h>
#include "request.h"

#include <linux/delay.h>
#include <linux/sched/stat.h>
#include <linux/workqueue.h>
#include "agent.h"
#include "file.h"
#include "port.h"

/* Timers entered in one go with the file's lock held. */
#define BATCH		16
/*
 * And so many in one run of the work, which then ends and is queued again: timeouts
 * may be shorter than what it takes to deal with them.
 */
#define RUN_MAX		256
/*
 * Requests of an agent that listen for a late response: ib_core keeps them.
 * They are taken back in the order in which they were posted, because ib_core
 * searches its list in that order, and RUN_MAX in one run of the work, because
 * it finds those taken back first until its own work has freed them.
 */
#define EXPIRED_MAX	8

/*
 * The deadlines of a jiffy come at once. After so many, others have the processor if they
 * wait for it: for a kernel thread that has just woken up they are not preferred. But who
 * computes may keep it for some ms each time: what is late already waits for a batch only.
 */
#define OTHERS_AFTER	2
#define LATE		(20 * NSEC_PER_MSEC)
#define OTHERS_US	10

static void let_others_run(void)
{
	if (!single_task_running())
		usleep_range(OTHERS_US, 2 * OTHERS_US);
	else
		cond_resched();
}

/**
 * struct due - a timer that has been entered
 * @timer: that is to be run
 * @agent: with an active reference
 */
struct due {
	struct umad_timer *timer;
	struct umad_agent *agent;
};

/*
 * One batch under the lock. Fills in the @n that are to be run, and by how many ns the
 * first was @late. True: there are more.
 * One request that ends is the last of a batch: its wait entry is taken back, and
 * ib_core's search for that is long behind many whose timeout is infinite.
 */
static bool enter_batch(struct umad_file *file, struct due *due, unsigned int *n, s64 *late)
{
	unsigned int looked_at = 0;
	struct umad_timer *timer;
	ktime_t now = ktime_get();
	bool more;

	*n = 0;
	spin_lock(&file->lock);
	*late = ktime_sub(now, umad_timers_next(&file->timers));
	while (looked_at++ < BATCH && list_empty(&file->done) &&
	       (timer = umad_timers_first_due(&file->timers, now))) {
		umad_timer_clear(&file->timers, timer);
		due[*n].timer = timer;
		due[*n].agent = timer->ops->enter(timer, now);
		*n += !!due[*n].agent;
	}
	more = umad_timers_first_due(&file->timers, now);
	umad_request_unlock(file);
	return more;
}

/* As many as fit one run of the work; true: there are more. */
static bool run_due(struct umad_file *file)
{
	struct due due[BATCH];
	unsigned int total = 0, others_at = 0, n, i;
	bool more;
	s64 late;

	do {
		more = enter_batch(file, due, &n, &late);
		for (i = 0; i < n; i++) {
			due[i].timer->ops->run(due[i].timer);
			umad_agent_leave(due[i].agent);
		}
		/* Those of agents that go away are not among them. */
		total += n ?: BATCH;
		if (total >= others_at + (late < LATE ? OTHERS_AFTER : BATCH)) {
			others_at = total;
			let_others_run();
		}
	} while (more && total < RUN_MAX);
	return more;
}

/* An agent for which too many listen for a late response, with an active reference. */
static struct umad_agent *crowded_agent(struct umad_file *file)
{
	struct umad_agent *agent;
	int id;

	lockdep_assert_held(&file->lock);
	for (id = 0; id < UMAD_MAX_AGENTS; id++) {
		agent = file->agent[id];
		if (agent && agent->expired_count > EXPIRED_MAX &&
		    umad_active_ref_tryget(&agent->active_ref))
			return agent;
	}
	return NULL;
}

/* The first of them listens no more; false: none had to. */
static bool drop_expired(struct umad_file *file)
{
	struct umad_agent *agent;
	struct umad_request *req;

	spin_lock(&file->lock);
	agent = crowded_agent(file);
	if (agent) {
		req = container_of(timerqueue_getnext(&agent->expired),
				   struct umad_request, expired_node);
		umad_request_step(req, UMAD_TXN_EV_CANCEL, 0, 0);
	}
	umad_request_unlock(file);
	if (agent)
		umad_agent_leave(agent);
	return agent;
}

/**
 * umad_deadline_work() - deal with the deadlines that have passed
 * @work: &umad_file.deadline_work
 *
 * Context: process, on the module's own queue; sleeps.
 */
void umad_deadline_work(struct work_struct *work)
{
	struct umad_file *file = container_of(work, struct umad_file,
					      deadline_work.work);
	unsigned int dropped = 0;
	bool more;

	more = run_due(file);
	while (dropped < RUN_MAX && drop_expired(file))
		if (!(++dropped % OTHERS_AFTER))
			let_others_run();

	spin_lock(&file->lock);
	file->armed = KTIME_MAX;
	if (more || dropped == RUN_MAX) {
		file->armed = ktime_get();
		mod_delayed_work(file->port->deadline_wq, &file->deadline_work, more ? 0 : 1);
	} else {
		umad_file_arm(file);
	}
	spin_unlock(&file->lock);
}
