// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Further attempts: one at a time, and others have the port for longer than they. */
#include "again.h"

#include <kunit/test.h>
#include <linux/delay.h>

#define US(n)	((n) * NSEC_PER_USEC)

struct again_env {
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
	umad_again_init(&env->again, count_run);
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

static void again_one_at_a_time(struct kunit *test)
{
	struct again_env *env = test->priv;

	KUNIT_EXPECT_TRUE(test, umad_again_may_begin(&env->again, US(1)));
	umad_again_begin(&env->again, US(1));
	KUNIT_EXPECT_FALSE(test, umad_again_may_begin(&env->again, US(1)));
	KUNIT_EXPECT_FALSE(test, umad_again_may_begin(&env->again, KTIME_MAX));
}

static void again_pause_is_twice_as_long(struct kunit *test)
{
	struct again_env *env = test->priv;

	umad_again_begin(&env->again, US(100));
	umad_again_done(&env->again, US(150));
	KUNIT_EXPECT_FALSE(test, umad_again_may_begin(&env->again, US(150)));
	KUNIT_EXPECT_FALSE(test, umad_again_may_begin(&env->again, US(250) - 1));
	KUNIT_EXPECT_TRUE(test, umad_again_may_begin(&env->again, US(250)));
}

static void again_pause_has_a_bound(struct kunit *test)
{
	struct again_env *env = test->priv;

	umad_again_begin(&env->again, 0);
	umad_again_done(&env->again, US(60000000));
	KUNIT_EXPECT_FALSE(test, umad_again_may_begin(&env->again, US(60000999)));
	KUNIT_EXPECT_TRUE(test, umad_again_may_begin(&env->again, US(60001000)));
}

static bool ran(struct again_env *env, int runs)
{
	int ms;

	for (ms = 0; ms < 1000 && atomic_read(&env->runs) < runs; ms += 20)
		msleep(20);
	return atomic_read(&env->runs) == runs;
}

/* The work runs for one that waits; not for none, and not beside another. */
static void again_work_runs(struct kunit *test)
{
	struct again_env *env = test->priv;

	umad_again_begin(&env->again, ktime_get());
	list_add_tail(&env->one, &env->again.waiting);
	umad_again_arm(&env->again);
	msleep(50);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&env->runs));

	umad_again_done(&env->again, ktime_get());
	KUNIT_EXPECT_TRUE(test, ran(env, 1));
	KUNIT_EXPECT_TRUE(test, umad_again_may_begin(&env->again, ktime_get()));

	umad_again_arm(&env->again);
	KUNIT_EXPECT_TRUE(test, ran(env, 2));

	list_del_init(&env->one);
	umad_again_begin(&env->again, ktime_get());
	umad_again_done(&env->again, ktime_get());
	msleep(50);
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&env->runs));
}

static struct kunit_case again_cases[] = {
	KUNIT_CASE(again_one_at_a_time),
	KUNIT_CASE(again_pause_is_twice_as_long),
	KUNIT_CASE(again_pause_has_a_bound),
	KUNIT_CASE(again_work_runs),
	{}
};

static struct kunit_suite again_suite = {
	.name = "umad_again",
	.init = again_env_init,
	.exit = again_env_exit,
	.test_cases = again_cases,
};

kunit_test_suite(again_suite);
