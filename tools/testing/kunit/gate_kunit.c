// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The gate: its closer waits for who is inside, and nobody enters after. */
#include "gate.h"

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/sched.h>
#include "kunit_thread.h"

#define USERS		3
#define ROUNDS		20

/**
 * struct gate_env - a gate under test
 * @gate: under test
 * @closer: closes it
 * @users: go in and out
 * @gone: what the gate fences is gone; set after the close
 * @entered: how often a user got in
 * @mistakes: how often a user was inside, and it was gone
 */
struct gate_env {
	struct umad_gate gate;
	struct thread closer;
	struct thread users[USERS];
	bool gone;
	atomic_t entered;
	atomic_t mistakes;
};

static int gate_env_init(struct kunit *test)
{
	struct gate_env *env;

	env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	if (!env)
		return -ENOMEM;
	test->priv = env;
	umad_gate_init(&env->gate);
	return 0;
}

static void gate_env_exit(struct kunit *test)
{
	struct gate_env *env = test->priv;
	int i;

	if (!env)
		return;
	for (i = 0; i < USERS; i++)
		thread_stop(&env->users[i]);
	thread_stop(&env->closer);
}

static void close_gate(void *arg)
{
	struct gate_env *env = arg;

	umad_gate_shut(&env->gate);
	umad_gate_wait(&env->gate);
}

/* Start to close the gate; the closer is at it when this returns. */
static void start_closer(struct kunit *test)
{
	struct gate_env *env = test->priv;
	unsigned long end = jiffies + THREAD_SOON;

	KUNIT_ASSERT_EQ(test, 0, thread_start(&env->closer, close_gate, env));
	while (!READ_ONCE(env->gate.closed) && time_before(jiffies, end))
		usleep_range(1000, 2000);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(env->gate.closed));
}

/* If it lets somebody in, leave again, or the closer would wait forever. */
static void expect_closed(struct kunit *test)
{
	struct gate_env *env = test->priv;
	bool inside = umad_gate_enter(&env->gate);

	KUNIT_EXPECT_FALSE(test, inside);
	if (inside)
		umad_gate_leave(&env->gate);
}

static void gate_empty(struct kunit *test)
{
	struct gate_env *env = test->priv;

	KUNIT_ASSERT_TRUE(test, umad_gate_enter(&env->gate));
	umad_gate_leave(&env->gate);
	/* Nobody is inside: the closer need not wait. */
	KUNIT_ASSERT_EQ(test, 0, thread_start(&env->closer, close_gate, env));
	KUNIT_ASSERT_TRUE(test, thread_is_done(&env->closer, THREAD_SOON));
	expect_closed(test);
	expect_closed(test);
}

static void gate_waits_for_the_last(struct kunit *test)
{
	struct gate_env *env = test->priv;

	/* One thread may be inside more than once. */
	KUNIT_ASSERT_TRUE(test, umad_gate_enter(&env->gate));
	KUNIT_EXPECT_TRUE(test, umad_gate_enter(&env->gate));
	start_closer(test);
	KUNIT_EXPECT_FALSE(test, thread_is_done(&env->closer, THREAD_WHILE));

	/* Those inside keep the resource, but not the gate open. */
	expect_closed(test);
	umad_gate_leave(&env->gate);
	KUNIT_EXPECT_FALSE(test, thread_is_done(&env->closer, THREAD_WHILE));
	expect_closed(test);

	umad_gate_leave(&env->gate);
	KUNIT_EXPECT_TRUE(test, thread_is_done(&env->closer, THREAD_SOON));
	expect_closed(test);
}

static void use_gate(void *arg)
{
	struct gate_env *env = arg;

	while (!kthread_should_stop()) {
		if (!umad_gate_enter(&env->gate))
			return;
		atomic_inc(&env->entered);
		if (READ_ONCE(env->gone))
			atomic_inc(&env->mistakes);
		cond_resched();
		if (READ_ONCE(env->gone))
			atomic_inc(&env->mistakes);
		umad_gate_leave(&env->gate);
	}
}

/* A stream of sections neither holds the closer off nor slips past it. */
static void gate_under_load(struct kunit *test)
{
	struct gate_env *env = test->priv;
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		umad_gate_init(&env->gate);
		WRITE_ONCE(env->gone, false);
		atomic_set(&env->entered, 0);
		for (i = 0; i < USERS; i++)
			KUNIT_ASSERT_EQ(test, 0,
					thread_start(&env->users[i], use_gate,
						     env));
		while (atomic_read(&env->entered) < 100 * USERS)
			usleep_range(100, 1000);
		KUNIT_ASSERT_EQ(test, 0, thread_start(&env->closer, close_gate,
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

static struct kunit_case gate_cases[] = {
	KUNIT_CASE(gate_empty),
	KUNIT_CASE(gate_waits_for_the_last),
	KUNIT_CASE(gate_under_load),
	{}
};

static struct kunit_suite gate_suite = {
	.name = "umad_gate",
	.init = gate_env_init,
	.exit = gate_env_exit,
	.test_cases = gate_cases,
};

kunit_test_suite(gate_suite);
