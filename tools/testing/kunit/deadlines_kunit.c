// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* When files deal with their deadlines: turns, and their end. */
#include "deadlines.h"

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/slab.h>
#include "kunit_thread.h"
#include "umad_compat.h"

#define FILES	20
/* Less than what deadlines.c takes for a long turn. */
#define LONG_US	900

/**
 * struct test_file - has so many deadlines
 * @deadlines: of it
 * @left: turns that it needs
 * @due: since when it needs the next
 * @turns: that it has had
 * @others: of @watched when it had its last
 * @watched: counts others' turns, or NULL
 * @interrupted: others had the processor in one of them, which counts as long where the
 *	kernel does not say for how long that was
 * @held: its turn ends when this is completed, or NULL
 * @begun: completed by each turn
 */
struct test_file {
	struct umad_deadlines deadlines;
	int left;
	ktime_t due;
	atomic_t turns;
	int others;
	atomic_t *watched;
	bool interrupted;
	struct completion *held;
	struct completion begun;
};

struct deadlines_env {
	struct umad_deadline_pool *pool;
	struct umad_turn port[2], process[3];
	struct test_file file[FILES];
	atomic_t turns;
};

static ktime_t take_turn(struct umad_deadlines *deadlines)
{
	struct test_file *file = container_of(deadlines, struct test_file, deadlines);
	u64 delay = umad_run_delay();
	ktime_t start = ktime_get();

	complete(&file->begun);
	if (file->held)
		wait_for_completion(file->held);
	/* To sleep takes a jiffy without high resolution: that would be a long turn. */
	while (ktime_us_delta(ktime_get(), start) < 100)
		cpu_relax();
	start = ktime_add_ns(start, umad_run_delay() - delay);
	if (ktime_us_delta(ktime_get(), start) > LONG_US)
		file->interrupted = true;
	atomic_inc(&file->turns);
	if (file->watched)
		file->others = atomic_inc_return(file->watched);
	return --file->left > 0 ? file->due : KTIME_MAX;
}

static const struct umad_deadlines_ops test_ops = {
	.turn = take_turn,
};

/* A file of process 0 or 1 of a port, or of process 2 of another one. */
static void add_file(struct kunit *test, int i, int process, int left)
{
	struct deadlines_env *env = test->priv;
	struct test_file *file = &env->file[i];

	umad_deadlines_init(&file->deadlines, env->pool, &env->process[process], &test_ops);
	init_completion(&file->begun);
	file->left = left;
	file->due = ktime_get();
	file->watched = &env->turns;
}

static void deadlines_env_exit(struct kunit *test)
{
	struct deadlines_env *env = test->priv;
	int i;

	if (!env)
		return;
	for (i = 0; i < FILES; i++)
		if (env->file[i].deadlines.pool)
			umad_deadlines_destroy(&env->file[i].deadlines);
	umad_deadline_pool_destroy(env->pool);
}

static int deadlines_env_init(struct kunit *test)
{
	struct deadlines_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);

	if (!env)
		return -ENOMEM;
	env->pool = umad_deadline_pool_create("umad_kunit");
	if (!env->pool)
		return -ENOMEM;
	umad_turn_init(&env->port[0], &env->pool->root);
	umad_turn_init(&env->port[1], &env->pool->root);
	umad_turn_init(&env->process[0], &env->port[0]);
	umad_turn_init(&env->process[1], &env->port[0]);
	umad_turn_init(&env->process[2], &env->port[1]);
	test->priv = env;
	return 0;
}

static bool had_turns(struct test_file *file, int turns)
{
	int ms;

	for (ms = 0; ms < 10000 && atomic_read(&file->turns) < turns; ms += 20)
		msleep(20);
	return atomic_read(&file->turns) == turns;
}

/* A turn comes not before the deadline, and only as long as there is something to do. */
static void deadlines_a_turn(struct kunit *test)
{
	struct deadlines_env *env = test->priv;
	struct test_file *file = &env->file[0];
	unsigned long start = jiffies;

	add_file(test, 0, 0, 3);
	umad_deadlines_set(&file->deadlines, 50 * NSEC_PER_MSEC);
	KUNIT_ASSERT_NE(test, 0UL, wait_for_completion_timeout(&file->begun, THREAD_SOON));
	KUNIT_EXPECT_GE(test, jiffies - start, msecs_to_jiffies(50));
	KUNIT_EXPECT_TRUE(test, had_turns(file, 3));
	msleep(50);
	KUNIT_EXPECT_EQ(test, 3, atomic_read(&file->turns));
}

/* All threads are busy: with files of process 0. */
static void keep_threads(struct kunit *test, struct completion *hold)
{
	struct deadlines_env *env = test->priv;
	int i;

	for (i = 0; i < UMAD_DEADLINE_THREADS; i++) {
		add_file(test, i, 0, 1);
		env->file[i].held = hold;
		umad_deadlines_set(&env->file[i].deadlines, 0);
		KUNIT_EXPECT_NE(test, 0UL, wait_for_completion_timeout(&env->file[i].begun,
								       THREAD_SOON));
	}
}

/* And go on. They have seen @hold, which is on the test's stack, when this returns. */
static void let_threads_go(struct kunit *test, struct completion *hold)
{
	struct deadlines_env *env = test->priv;
	int i;

	complete_all(hold);
	for (i = 0; i < UMAD_DEADLINE_THREADS; i++)
		KUNIT_EXPECT_TRUE(test, had_turns(&env->file[i], 1));
}

/* Who comes last waits for a turn of each port, and there of each process, not file. */
static void come_last(struct kunit *test, int process)
{
	struct deadlines_env *env = test->priv;
	struct test_file *file = &env->file[FILES - 1];
	DECLARE_COMPLETION_ONSTACK(hold);
	int i;

	keep_threads(test, &hold);
	for (i = UMAD_DEADLINE_THREADS; i < FILES - 1; i++) {
		add_file(test, i, 0, 100);
		umad_deadlines_set(&env->file[i].deadlines, 0);
	}
	msleep(50);
	add_file(test, i, process, 1);
	umad_deadlines_set(&file->deadlines, -1);
	msleep(50);
	let_threads_go(test, &hold);
	KUNIT_EXPECT_TRUE(test, had_turns(file, 1));
	/* Its own is one of those that are counted. Each second one is of those who came first. */
	KUNIT_EXPECT_LE(test, file->others, 4 * UMAD_DEADLINE_THREADS + 2);
}

/* Half of the time is of who waits for longest, though others have their turns. */
static void deadlines_of_long_ago(struct kunit *test)
{
	struct deadlines_env *env = test->priv;
	struct test_file *file = &env->file[FILES - 1];
	DECLARE_COMPLETION_ONSTACK(hold);
	int i;

	keep_threads(test, &hold);
	add_file(test, FILES - 1, 1, 20);
	umad_deadlines_set(&file->deadlines, -1);
	msleep(50);
	for (i = UMAD_DEADLINE_THREADS; i < FILES - 1; i++) {
		add_file(test, i, 0, 100);
		/* As if each were of a process of its own. */
		umad_turn_init(&env->file[i].deadlines.turn, &env->port[0]);
		umad_deadlines_set(&env->file[i].deadlines, 0);
	}
	msleep(50);
	let_threads_go(test, &hold);
	KUNIT_EXPECT_TRUE(test, had_turns(file, 20));
	if (file->interrupted)
		kunit_skip(test, "a turn was interrupted");
	/* By turns alone each of 17 others would have had 20. */
	KUNIT_EXPECT_LE(test, file->others, 20 * 6);
}

static void deadlines_of_another_process(struct kunit *test)
{
	come_last(test, 1);
}

static void deadlines_of_another_port(struct kunit *test)
{
	come_last(test, 2);
}

/* A deadline that passes in the turn of its file is not forgotten. */
static void deadlines_in_the_turn(struct kunit *test)
{
	struct deadlines_env *env = test->priv;
	struct test_file *file = &env->file[0];
	DECLARE_COMPLETION_ONSTACK(hold);

	add_file(test, 0, 0, 1);
	file->held = &hold;
	umad_deadlines_set(&file->deadlines, 0);
	KUNIT_ASSERT_NE(test, 0UL, wait_for_completion_timeout(&file->begun, THREAD_SOON));
	umad_deadlines_set(&file->deadlines, 0);
	msleep(50);
	/* Not two at a time. */
	KUNIT_EXPECT_FALSE(test, completion_done(&file->begun));
	complete_all(&hold);
	KUNIT_EXPECT_TRUE(test, had_turns(file, 2));
}

static void destroy_first(void *arg)
{
	struct deadlines_env *env = arg;

	umad_deadlines_destroy(&env->file[0].deadlines);
}

/* The end of a file waits for its turn, and not for those of others. */
static void deadlines_end_in_the_turn(struct kunit *test)
{
	struct deadlines_env *env = test->priv;
	struct test_file *file = &env->file[0];
	DECLARE_COMPLETION_ONSTACK(hold);
	struct thread thread = {};

	add_file(test, 0, 0, 10);
	file->held = &hold;
	umad_deadlines_set(&file->deadlines, 0);
	KUNIT_ASSERT_NE(test, 0UL, wait_for_completion_timeout(&file->begun, THREAD_SOON));
	KUNIT_ASSERT_EQ(test, 0, thread_start(&thread, destroy_first, env));
	KUNIT_EXPECT_FALSE(test, thread_is_done(&thread, THREAD_WHILE));
	umad_deadlines_set(&file->deadlines, 0);
	complete_all(&hold);
	KUNIT_EXPECT_TRUE(test, thread_is_done(&thread, THREAD_SOON));
	thread_stop(&thread);
	msleep(50);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&file->turns));
	KUNIT_EXPECT_FALSE(test, timer_pending(&file->deadlines.timer));
	file->deadlines.pool = NULL;
}

/* It takes its place in the line with it. */
static void deadlines_end_waiting(struct kunit *test)
{
	struct deadlines_env *env = test->priv;
	const int last = UMAD_DEADLINE_THREADS;
	DECLARE_COMPLETION_ONSTACK(hold);

	keep_threads(test, &hold);
	add_file(test, last, 0, 1);
	umad_deadlines_set(&env->file[last].deadlines, 0);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, completion_done(&env->file[last].begun));
	KUNIT_EXPECT_TRUE(test, umad_turn_is_awaited(&env->pool->root));
	umad_deadlines_destroy(&env->file[last].deadlines);
	env->file[last].deadlines.pool = NULL;
	KUNIT_EXPECT_FALSE(test, umad_turn_is_awaited(&env->pool->root));
	let_threads_go(test, &hold);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&env->file[last].turns));
}

static struct kunit_case deadlines_cases[] = {
	KUNIT_CASE(deadlines_a_turn),
	KUNIT_CASE(deadlines_of_another_process),
	KUNIT_CASE(deadlines_of_another_port),
	KUNIT_CASE(deadlines_of_long_ago),
	KUNIT_CASE(deadlines_in_the_turn),
	KUNIT_CASE(deadlines_end_in_the_turn),
	KUNIT_CASE(deadlines_end_waiting),
	{}
};

static struct kunit_suite deadlines_suite = {
	.name = "umad_deadlines",
	.init = deadlines_env_init,
	.exit = deadlines_env_exit,
	.test_cases = deadlines_cases,
};

kunit_test_suite(deadlines_suite);
