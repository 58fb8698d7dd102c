// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What is sent again: its pace on a port, and the turn of a file. */
#include "again.h"

#include <kunit/test.h>
#include <linux/delay.h>

#define US(n)	((n) * NSEC_PER_USEC)

struct again_env {
	struct umad_pace pace;
	struct umad_again again;
	struct list_head one;
	atomic_t runs;
};

static void count_run(struct work_struct *work)
{
	struct umad_again *again = container_of(work, struct umad_again, work);

	atomic_inc(&container_of(again, struct again_env, again)->runs);
}

static int again_env_init(struct kunit *test)
{
	struct again_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);

	if (!env)
		return -ENOMEM;
	test->priv = env;
	INIT_LIST_HEAD(&env->one);
	umad_pace_init(&env->pace);
	umad_again_init(&env->again, &env->pace, count_run);
	return 0;
}

static void again_env_exit(struct kunit *test)
{
	struct again_env *env = test->priv;

	if (!env)
		return;
	list_del_init(&env->one);
	umad_again_destroy(&env->again);
}

static void pace_is_slow_at_first(struct kunit *test)
{
	struct again_env *env = test->priv;

	KUNIT_EXPECT_EQ(test, US(5000), umad_pace_turn(&env->pace, US(5000)));
	KUNIT_EXPECT_EQ(test, US(6000), umad_pace_turn(&env->pace, US(5000)));
	KUNIT_EXPECT_EQ(test, US(7000), umad_pace_turn(&env->pace, US(5500)));
	/* Time that nobody used is gone. */
	KUNIT_EXPECT_EQ(test, US(9000), umad_pace_turn(&env->pace, US(9000)));
}

static void pace_leaves_four_fifths(struct kunit *test)
{
	struct again_env *env = test->priv;

	umad_pace_took(&env->pace, US(20));
	KUNIT_EXPECT_EQ(test, US(5000), umad_pace_turn(&env->pace, US(5000)));
	KUNIT_EXPECT_EQ(test, US(5100), umad_pace_turn(&env->pace, US(5000)));
	KUNIT_EXPECT_EQ(test, US(5200), umad_pace_turn(&env->pace, US(5000)));
}

static void pace_has_a_bound(struct kunit *test)
{
	struct again_env *env = test->priv;

	umad_pace_took(&env->pace, US(60000000));
	KUNIT_EXPECT_EQ(test, US(5000), umad_pace_turn(&env->pace, US(5000)));
	KUNIT_EXPECT_EQ(test, US(6000), umad_pace_turn(&env->pace, US(5000)));
	/* Nor does a clock that stands still make it endless. */
	umad_pace_took(&env->pace, 0);
	umad_pace_turn(&env->pace, US(7000));
	KUNIT_EXPECT_LT(test, US(7000), umad_pace_turn(&env->pace, US(7000)));
}

/* Of one that becomes the placeholder nobody hears when it has left. */
static void pace_after_an_unknown(struct kunit *test)
{
	struct again_env *env = test->priv;

	umad_pace_took(&env->pace, US(20));
	umad_pace_turn(&env->pace, US(5000));
	umad_pace_unknown(&env->pace, US(5010));
	KUNIT_EXPECT_EQ(test, US(6010), umad_pace_turn(&env->pace, US(5020)));
}

static bool ran(struct again_env *env, int runs)
{
	int ms;

	for (ms = 0; ms < 1000 && atomic_read(&env->runs) < runs; ms += 20)
		msleep(20);
	return atomic_read(&env->runs) == runs;
}

/* A file has one turn at a time, and none if nothing waits. */
static void again_turn_of_a_file(struct kunit *test)
{
	struct again_env *env = test->priv;

	umad_again_arm(&env->again, ktime_get());
	msleep(50);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&env->runs));

	list_add_tail(&env->one, &env->again.waiting);
	umad_again_arm(&env->again, ktime_get());
	umad_again_arm(&env->again, ktime_get());
	KUNIT_EXPECT_TRUE(test, ran(env, 1));
	msleep(50);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&env->runs));

	env->again.has_turn = false;
	umad_again_arm(&env->again, ktime_get());
	KUNIT_EXPECT_TRUE(test, ran(env, 2));
}

/* The turn of the port is another's: the work runs later, by itself. */
static void again_waits_for_its_turn(struct kunit *test)
{
	struct again_env *env = test->priv;
	ktime_t begin = ktime_get(), turn = begin;
	int i;

	for (i = 0; i < 50; i++)
		turn = umad_pace_turn(&env->pace, begin);
	list_add_tail(&env->one, &env->again.waiting);
	umad_again_arm(&env->again, ktime_get());
	KUNIT_EXPECT_TRUE(test, ran(env, 1));
	KUNIT_EXPECT_GT(test, ktime_get(), turn);
}

static struct kunit_case again_cases[] = {
	KUNIT_CASE(pace_is_slow_at_first),
	KUNIT_CASE(pace_leaves_four_fifths),
	KUNIT_CASE(pace_has_a_bound),
	KUNIT_CASE(pace_after_an_unknown),
	KUNIT_CASE(again_turn_of_a_file),
	KUNIT_CASE(again_waits_for_its_turn),
	{}
};

static struct kunit_suite again_suite = {
	.name = "umad_again",
	.init = again_env_init,
	.exit = again_env_exit,
	.test_cases = again_cases,
};

kunit_test_suite(again_suite);
