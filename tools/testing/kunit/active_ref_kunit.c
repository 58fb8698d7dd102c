// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Active references: draining waits for the last one, and there are none after. */
#include "active_ref.h"

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/sched.h>
#include "kunit_thread.h"

#define USERS		3
#define ROUNDS		20

/**
 * struct active_ref_env - active references under test
 * @active_ref: under test
 * @closer: closes it
 * @users: go in and out
 * @gone: the object is gone; set after the drain
 * @entered: how often a user got in
 * @mistakes: how often a user was inside, and it was gone
 */
struct active_ref_env {
	struct umad_active_ref active_ref;
	struct thread closer;
	struct thread users[USERS];
	bool gone;
	atomic_t entered;
	atomic_t mistakes;
};

static int active_ref_env_init(struct kunit *test)
{
	struct active_ref_env *env;

	env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	if (!env)
		return -ENOMEM;
	test->priv = env;
	umad_active_ref_init(&env->active_ref);
	return 0;
}

static void active_ref_env_exit(struct kunit *test)
{
	struct active_ref_env *env = test->priv;
	int i;

	if (!env)
		return;
	for (i = 0; i < USERS; i++)
		thread_stop(&env->users[i]);
	thread_stop(&env->closer);
}

static void kill_ref(void *arg)
{
	struct active_ref_env *env = arg;

	umad_active_ref_kill(&env->active_ref);
	umad_active_ref_drain(&env->active_ref);
}

/* Start to kill and drain; it has been killed when this returns. */
static void start_closer(struct kunit *test)
{
	struct active_ref_env *env = test->priv;
	unsigned long end = jiffies + THREAD_SOON;

	KUNIT_ASSERT_EQ(test, 0, thread_start(&env->closer, kill_ref, env));
	while (!READ_ONCE(env->active_ref.killed) && time_before(jiffies, end))
		usleep_range(1000, 2000);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(env->active_ref.killed));
}

/* If it lets somebody in, leave again, or the closer would wait forever. */
static void expect_closed(struct kunit *test)
{
	struct active_ref_env *env = test->priv;
	bool inside = umad_active_ref_tryget(&env->active_ref);

	KUNIT_EXPECT_FALSE(test, inside);
	if (inside)
		umad_active_ref_put(&env->active_ref);
}

static void active_ref_unused(struct kunit *test)
{
	struct active_ref_env *env = test->priv;

	KUNIT_ASSERT_TRUE(test, umad_active_ref_tryget(&env->active_ref));
	umad_active_ref_put(&env->active_ref);
	/* Nobody is inside: the closer need not wait. */
	KUNIT_ASSERT_EQ(test, 0, thread_start(&env->closer, kill_ref, env));
	KUNIT_ASSERT_TRUE(test, thread_is_done(&env->closer, THREAD_SOON));
	expect_closed(test);
	expect_closed(test);
}

static void active_ref_drain_waits_for_the_last(struct kunit *test)
{
	struct active_ref_env *env = test->priv;

	/* One thread may be inside more than once. */
	KUNIT_ASSERT_TRUE(test, umad_active_ref_tryget(&env->active_ref));
	KUNIT_EXPECT_TRUE(test, umad_active_ref_tryget(&env->active_ref));
	start_closer(test);
	KUNIT_EXPECT_FALSE(test, thread_is_done(&env->closer, THREAD_WHILE));

	/* Those that are held keep the object, but let nobody take another. */
	expect_closed(test);
	umad_active_ref_put(&env->active_ref);
	KUNIT_EXPECT_FALSE(test, thread_is_done(&env->closer, THREAD_WHILE));
	expect_closed(test);

	umad_active_ref_put(&env->active_ref);
	KUNIT_EXPECT_TRUE(test, thread_is_done(&env->closer, THREAD_SOON));
	expect_closed(test);
}

static void use_ref(void *arg)
{
	struct active_ref_env *env = arg;

	while (!kthread_should_stop()) {
		if (!umad_active_ref_tryget(&env->active_ref))
			return;
		atomic_inc(&env->entered);
		if (READ_ONCE(env->gone))
			atomic_inc(&env->mistakes);
		cond_resched();
		if (READ_ONCE(env->gone))
			atomic_inc(&env->mistakes);
		umad_active_ref_put(&env->active_ref);
	}
}

/* A stream of sections neither holds the closer off nor slips past it. */
static void active_ref_under_load(struct kunit *test)
{
	struct active_ref_env *env = test->priv;
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		umad_active_ref_init(&env->active_ref);
		WRITE_ONCE(env->gone, false);
		atomic_set(&env->entered, 0);
		for (i = 0; i < USERS; i++)
			KUNIT_ASSERT_EQ(test, 0,
					thread_start(&env->users[i], use_ref,
						     env));
		while (atomic_read(&env->entered) < 100 * USERS)
			usleep_range(100, 1000);
		KUNIT_ASSERT_EQ(test, 0, thread_start(&env->closer, kill_ref,
						      env));
		KUNIT_ASSERT_TRUE(test, thread_is_done(&env->closer,
						       THREAD_SOON));
		WRITE_ONCE(env->gone, true);
		for (i = 0; i < USERS; i++) {
			KUNIT_EXPECT_TRUE(test,
					  thread_is_done(&env->users[i],
							 THREAD_SOON));
			thread_stop(&env->users[i]);
		}
		thread_stop(&env->closer);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&env->mistakes), 0);
}

static struct kunit_case active_ref_cases[] = {
	KUNIT_CASE(active_ref_unused),
	KUNIT_CASE(active_ref_drain_waits_for_the_last),
	KUNIT_CASE(active_ref_under_load),
	{}
};

static struct kunit_suite active_ref_suite = {
	.name = "umad_active_ref",
	.init = active_ref_env_init,
	.exit = active_ref_env_exit,
	.test_cases = active_ref_cases,
};

kunit_test_suite(active_ref_suite);
