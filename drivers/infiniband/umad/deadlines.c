// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* When a file may deal with its deadlines; see deadlines.h. */
#include "deadlines.h"

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/slab.h>
#include "umad_compat.h"
#include "umad_export.h"

/*
 * The deadlines of a jiffy come at once. After so long, others have the processor if they
 * wait for it: for a kernel thread that has just woken up they are not preferred. Not
 * sooner: who computes may keep it for some ms each time.
 */
#define OTHERS_AFTER		(500 * NSEC_PER_USEC)
#define OTHERS_US		10

/*
 * A turn that took longer, as it slept or had very many to wake up, is not made good for as
 * long to those who take turns: there would be hundreds of them. And those whose deadline passed
 * meanwhile are before its file, whatever that has left. To who is overdue it is made good for
 * longer, as the file of the next turn may take as long.
 */
#define LONG_TURN		((s64)NSEC_PER_MSEC)
#define OWED_MAX		((s64)(10 * NSEC_PER_MSEC))

/*
 * The timer wheel rounds up what is so many jiffies away by an eighth at most: with the deadline
 * of a request of 20 s, all that come in the 2 s behind it would wait for that, even if it has
 * long been answered. By a seventh too early, the turn finds nothing and sets the timer again,
 * which is exact after a few.
 */
#define WHEEL_EXACT		63
#define WHEEL_EARLY		7

static void let_others_run(struct umad_deadline_thread *thread)
{
	if (ktime_sub(ktime_get(), thread->since) < OTHERS_AFTER)
		return;
	/* Without high resolution that would be a jiffy each time. */
	if (!single_task_running() && hrtimer_resolution < NSEC_PER_MSEC)
		usleep_range(OTHERS_US, 2 * OTHERS_US);
	else
		cond_resched();
	thread->since = ktime_get();
}

/* Somebody waits. All may be busy. */
static void one_thread_more(struct umad_deadline_pool *pool)
{
	unsigned int i;

	lockdep_assert_held(&pool->lock);
	for (i = 0; i < UMAD_DEADLINE_THREADS; i++) {
		if (pool->thread[i].busy)
			continue;
		pool->thread[i].busy = true;
		queue_work(pool->wq, &pool->thread[i].work);
		return;
	}
}

static bool is_waiting(const struct umad_deadlines *deadlines)
{
	return !RB_EMPTY_NODE(&deadlines->due.node);
}

static void wait_for_turn(struct umad_deadlines *deadlines, ktime_t due)
{
	struct umad_deadline_pool *pool = deadlines->pool;

	lockdep_assert_held(&pool->lock);
	if (is_waiting(deadlines))
		return;
	umad_turn_wait(&deadlines->turn);
	deadlines->due.expires = due;
	timerqueue_add(&pool->due, &deadlines->due);
}

static void wait_no_more(struct umad_deadlines *deadlines)
{
	struct umad_deadline_pool *pool = deadlines->pool;

	lockdep_assert_held(&pool->lock);
	if (!is_waiting(deadlines))
		return;
	umad_turn_leave(&deadlines->turn);
	timerqueue_del(&pool->due, &deadlines->due);
}

/* Who is overdue for longest, or whose turn it is: of the time, each have a half. */
static struct umad_deadlines *next_file(struct umad_deadline_thread *thread)
{
	struct umad_deadline_pool *pool = thread->pool;

	thread->overdue = pool->ahead <= 0;
	if (thread->overdue)
		return container_of(timerqueue_getnext(&pool->due), struct umad_deadlines, due);
	return container_of(umad_turn_take(&pool->root), struct umad_deadlines, turn);
}

/* NULL: nobody waits, and the thread ends. */
static struct umad_deadlines *begin_turn(struct umad_deadline_thread *thread)
{
	struct umad_deadline_pool *pool = thread->pool;
	struct umad_deadlines *deadlines = NULL;

	spin_lock_bh(&pool->lock);
	thread->busy = umad_turn_is_awaited(&pool->root);
	if (thread->busy) {
		deadlines = next_file(thread);
		wait_no_more(deadlines);
		deadlines->running = true;
		deadlines->again = false;
	} else {
		pool->ahead = 0;
	}
	spin_unlock_bh(&pool->lock);
	thread->begun = ktime_get();
	thread->delay = umad_run_delay();
	return deadlines;
}

/* How long the turn took, but for the time of others who were given the processor. */
static s64 turn_took(const struct umad_deadline_thread *thread, ktime_t now)
{
	return ktime_sub(now, thread->begun) - (s64)(umad_run_delay() - thread->delay);
}

static void end_turn(struct umad_deadline_thread *thread, struct umad_deadlines *deadlines,
		     ktime_t due)
{
	struct umad_deadline_pool *pool = thread->pool;
	ktime_t now = ktime_get();
	s64 ns = turn_took(thread, now);

	spin_lock_bh(&pool->lock);
	pool->ahead = clamp(pool->ahead + (thread->overdue ? ns : -ns), -OWED_MAX, LONG_TURN);
	deadlines->running = false;
	if (deadlines->ended)
		complete(deadlines->ended);
	else if (due != KTIME_MAX || deadlines->again)
		wait_for_turn(deadlines, ns > LONG_TURN ? now : min(due, now));
	spin_unlock_bh(&pool->lock);
}

static void give_turns(struct work_struct *work)
{
	struct umad_deadline_thread *thread =
		container_of(work, struct umad_deadline_thread, work);
	struct umad_deadlines *deadlines;

	thread->since = ktime_get();
	while ((deadlines = begin_turn(thread))) {
		end_turn(thread, deadlines, deadlines->ops->turn(deadlines));
		let_others_run(thread);
	}
}

static void timer_has_expired(struct timer_list *timer)
{
	struct umad_deadlines *deadlines = container_of(timer, struct umad_deadlines, timer);
	struct umad_deadline_pool *pool = deadlines->pool;

	spin_lock(&pool->lock);
	if (deadlines->running) {
		deadlines->again = true;
	} else if (!deadlines->ended) {
		wait_for_turn(deadlines, ktime_get());
		one_thread_more(pool);
	}
	spin_unlock(&pool->lock);
}

/**
 * umad_deadline_pool_create() - make threads for the deadlines of some files
 * @name: of their workqueue
 *
 * Context: process; may sleep.
 * Return: the pool, or NULL without memory.
 */
struct umad_deadline_pool *umad_deadline_pool_create(const char *name)
{
	struct umad_deadline_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL);
	unsigned int i;

	if (!pool)
		return NULL;
	/* Not WQ_HIGHPRI: a process decides how much there is to be done. */
	pool->wq = alloc_workqueue("%s", WQ_UNBOUND, UMAD_DEADLINE_THREADS, name);
	if (!pool->wq) {
		kfree(pool);
		return NULL;
	}
	spin_lock_init(&pool->lock);
	umad_turn_init(&pool->root, NULL);
	timerqueue_init_head(&pool->due);
	for (i = 0; i < UMAD_DEADLINE_THREADS; i++) {
		pool->thread[i].pool = pool;
		INIT_WORK(&pool->thread[i].work, give_turns);
	}
	return pool;
}
EXPORT_SYMBOL_IF_KUNIT(umad_deadline_pool_create);

/**
 * umad_deadline_pool_destroy() - the threads end
 * @pool: of whose files none is left; consumed; may be NULL
 *
 * Context: process, but none of the threads; sleeps.
 */
void umad_deadline_pool_destroy(struct umad_deadline_pool *pool)
{
	if (!pool)
		return;
	destroy_workqueue(pool->wq);
	WARN_ON_ONCE(umad_turn_is_awaited(&pool->root));
	kfree(pool);
}
EXPORT_SYMBOL_IF_KUNIT(umad_deadline_pool_destroy);

/**
 * umad_deadlines_init() - there are none yet
 * @deadlines: of a new file
 * @pool: whose threads deal with them, kept by the caller
 * @process: that has opened the file
 * @ops: whose they are
 *
 * Context: any.
 */
void umad_deadlines_init(struct umad_deadlines *deadlines, struct umad_deadline_pool *pool,
			 struct umad_turn *process, const struct umad_deadlines_ops *ops)
{
	deadlines->pool = pool;
	deadlines->ops = ops;
	timer_setup(&deadlines->timer, timer_has_expired, 0);
	umad_turn_init(&deadlines->turn, process);
	timerqueue_init(&deadlines->due);
	deadlines->running = false;
	deadlines->again = false;
	deadlines->ended = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(umad_deadlines_init);

/**
 * umad_deadlines_set() - there is a first deadline, in place of an earlier one
 * @deadlines: of the file; the caller sees to it that another call does not overtake
 * @ns: until then, may have passed
 *
 * Rounded up to jiffies: before the deadline there would be nothing to do. But what is far
 * has its first turn before.
 * Context: any.
 */
void umad_deadlines_set(struct umad_deadlines *deadlines, s64 ns)
{
	unsigned long n = nsecs_to_jiffies(max_t(s64, ns, 0)) + 1;

	if (n >= WHEEL_EXACT)
		n -= n / WHEEL_EARLY;
	/* On 32 bits, what is farther would seem to have passed. */
	mod_timer(&deadlines->timer, jiffies + min_t(unsigned long, n, MAX_JIFFY_OFFSET));
}
EXPORT_SYMBOL_IF_KUNIT(umad_deadlines_set);

/**
 * umad_deadlines_destroy() - there will be none any more
 * @deadlines: of a file that sets no new ones, but perhaps in its turn
 *
 * Context: process; sleeps until the turn has ended, if the file has one.
 */
void umad_deadlines_destroy(struct umad_deadlines *deadlines)
{
	struct umad_deadline_pool *pool = deadlines->pool;
	DECLARE_COMPLETION_ONSTACK(ended);
	bool running;

	spin_lock_bh(&pool->lock);
	deadlines->ended = &ended;
	wait_no_more(deadlines);
	running = deadlines->running;
	spin_unlock_bh(&pool->lock);
	if (running)
		wait_for_completion(&ended);
	timer_delete_sync(&deadlines->timer);
}
EXPORT_SYMBOL_IF_KUNIT(umad_deadlines_destroy);
