// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a file does at its deadlines. */
#include <linux/types.h>
#include "request.h"

#include "agent.h"
#include "file.h"

/* Timers entered in one go with the file's lock held. */
#define BATCH		16
/*
 * So many that have passed are a turn, and of those that have expired at least as many, if there
 * are so many; after so long no more are begun.
 */
#define TURN		2
#define TURN_NS		(200 * NSEC_PER_USEC)
/*
 * Requests of an agent that listen for a late response: ib_core keeps them.
 * They are taken back in the order in which they were posted, because ib_core
 * searches its list in that order. As long as timeouts have to be reported, a file
 * may have more, but no more than FILE_EXPIRED_MAX: max_sends does not count them.
 */
#define EXPIRED_MAX	8
#define FILE_EXPIRED_MAX 256

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
 * One batch under the lock. Fills in the @n that are to be run. True: there are more.
 * One request that ends is the last of a batch: its wait entry is taken back, and
 * ib_core's search for that is long behind many whose timeout is infinite.
 */
static bool enter_batch(struct umad_file *file, struct due *due, unsigned int *n)
{
	unsigned int looked_at = 0;
	struct umad_timer *timer;
	ktime_t now = ktime_get();
	bool more;

	*n = 0;
	spin_lock(&file->lock);
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

/* As many as fit a turn: if 200,000 are woken up, it is one; true: there are more. */
static bool run_due(struct umad_file *file, ktime_t start)
{
	struct due due[BATCH];
	unsigned int total = 0, n, i;
	bool more;

	do {
		more = enter_batch(file, due, &n);
		for (i = 0; i < n; i++) {
			due[i].timer->ops->run(due[i].timer);
			umad_agent_leave(due[i].agent);
		}
		/* Those of agents that go away are not among them. */
		total += n ?: BATCH;
	} while (more && total < TURN && ktime_sub(ktime_get(), start) < TURN_NS);
	return more;
}

/* An agent for which too many listen for a late response, with an active reference. */
static struct umad_agent *crowded_agent(struct umad_file *file)
{
	struct umad_agent *agent;
	unsigned int id;

	lockdep_assert_held(&file->lock);
	for (id = 0; id < file->slots; id++) {
		agent = umad_file_agent(file, id);
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

/*
 * All but EXPIRED_MAX of each agent, or until the file has no more than @most, if that takes
 * no longer than a turn. True: some are left. Those of an agent that goes away are not
 * among them.
 */
static bool drop_some(struct umad_file *file, ktime_t start, unsigned int most)
{
	unsigned int n = 0;

	while (READ_ONCE(file->expired) > most) {
		if (!drop_expired(file))
			return false;
		if (++n >= TURN && ktime_sub(ktime_get(), start) >= TURN_NS)
			return true;
	}
	return false;
}

/* With another turn, if there is more: since when. Else at the next deadline. */
static ktime_t go_on(struct umad_file *file, bool more)
{
	ktime_t due = KTIME_MAX;

	spin_lock(&file->lock);
	if (more) {
		file->armed = ktime_get();
		due = min(umad_timers_next(&file->timers), file->armed);
	} else {
		file->armed = KTIME_MAX;
		umad_file_arm(file);
	}
	spin_unlock(&file->lock);
	return due;
}

static ktime_t deadline_turn(struct umad_deadlines *deadlines)
{
	struct umad_file *file = container_of(deadlines, struct umad_file, deadlines);
	ktime_t start = ktime_get();
	bool more = true;

	if (!drop_some(file, start, FILE_EXPIRED_MAX))
		more = run_due(file, start);
	if (!more)
		more = drop_some(file, start, 0);
	return go_on(file, more);
}

const struct umad_deadlines_ops umad_file_deadlines_ops = {
	.turn = deadline_turn,
};
