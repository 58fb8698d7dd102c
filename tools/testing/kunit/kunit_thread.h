/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A second thread for a test, which outlives neither the test nor the module. */
#ifndef UMAD_KUNIT_THREAD_H
#define UMAD_KUNIT_THREAD_H

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

/* Long enough for anything that happens at all, on a slow machine too. */
#define THREAD_SOON	(10 * HZ)
/* Long enough for something that must not happen to show. */
#define THREAD_WHILE	(HZ / 5)

/**
 * struct thread - a thread that does one thing
 * @task: the thread, NULL before thread_start()
 * @done: completed when @run has returned
 * @run: the thing; must end when kthread_should_stop()
 * @arg: for it
 */
struct thread {
	struct task_struct *task;
	struct completion done;
	void (*run)(void *arg);
	void *arg;
};

static inline int thread_fn(void *data)
{
	struct thread *thread = data;

	thread->run(thread->arg);
	complete(&thread->done);
	return 0;
}

/**
 * thread_start() - let a thread run
 * @thread: to be filled in; stop it with thread_stop()
 * @run: what it does
 * @arg: for @run
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
static inline int __must_check thread_start(struct thread *thread,
					    void (*run)(void *arg), void *arg)
{
	struct task_struct *task;

	init_completion(&thread->done);
	thread->run = run;
	thread->arg = arg;
	task = kthread_create(thread_fn, thread, "umad_kunit");
	if (IS_ERR(task))
		return PTR_ERR(task);
	/* It may end before kthread_stop(). */
	thread->task = get_task_struct(task);
	wake_up_process(task);
	return 0;
}

/**
 * thread_is_done() - has it done its thing?
 * @thread: was started
 * @jiffies: to wait for it
 *
 * Context: process; sleeps.
 * Return: true if it has.
 */
static inline bool thread_is_done(struct thread *thread, unsigned long jiffies)
{
	if (!wait_for_completion_timeout(&thread->done, jiffies))
		return false;
	/* So that the question can be asked again. */
	complete(&thread->done);
	return true;
}

/**
 * thread_stop() - wait until a thread has ended
 * @thread: may never have been started
 *
 * Context: process; sleeps.
 */
static inline void thread_stop(struct thread *thread)
{
	if (!thread->task)
		return;
	kthread_stop(thread->task);
	put_task_struct(thread->task);
	thread->task = NULL;
}

#endif /* UMAD_KUNIT_THREAD_H */
