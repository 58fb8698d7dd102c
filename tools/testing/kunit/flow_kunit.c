// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The places of an agent's requests in ib_core, and who gets one when. */
#include "flow.h"

#include <kunit/test.h>
#include <linux/list.h>

#define ENTRIES	200

struct flow_env {
	spinlock_t lock; /* the owner's, taken for each call */
	struct umad_flow flow;
	struct umad_flow_entry entry[ENTRIES];
};

static bool enter(struct flow_env *env, unsigned int i)
{
	bool ret;

	spin_lock(&env->lock);
	ret = umad_flow_enter(&env->flow, &env->entry[i]);
	spin_unlock(&env->lock);
	return ret;
}

static void take(struct flow_env *env, unsigned int i)
{
	spin_lock(&env->lock);
	umad_flow_take(&env->flow, &env->entry[i]);
	spin_unlock(&env->lock);
}

static void leave(struct flow_env *env, unsigned int i)
{
	spin_lock(&env->lock);
	umad_flow_leave(&env->flow, &env->entry[i]);
	spin_unlock(&env->lock);
}

/* Number of the entry that gets a place now, or -1. */
static int next(struct flow_env *env)
{
	struct umad_flow_entry *entry;

	spin_lock(&env->lock);
	entry = umad_flow_next(&env->flow);
	spin_unlock(&env->lock);
	return entry ? entry - env->entry : -1;
}

static int flow_env_init(struct kunit *test)
{
	struct flow_env *env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	unsigned int i;

	if (!env)
		return -ENOMEM;
	test->priv = env;
	spin_lock_init(&env->lock);
	for (i = 0; i < ENTRIES; i++)
		umad_flow_entry_init(&env->entry[i]);
	return 0;
}

/* All that is left goes. */
static void flow_env_exit(struct kunit *test)
{
	struct flow_env *env = test->priv;
	unsigned int i;

	if (!env || !env->flow.lock)
		return;
	spin_lock(&env->lock);
	for (i = 0; i < ENTRIES; i++)
		umad_flow_leave(&env->flow, &env->entry[i]);
	spin_unlock(&env->lock);
	umad_flow_destroy(&env->flow);
}

/* With @limit places, and @n entered. */
static struct flow_env *begin(struct kunit *test, unsigned int limit, unsigned int n)
{
	struct flow_env *env = test->priv;
	unsigned int i;

	umad_flow_init(&env->flow, &env->lock, limit);
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, enter(env, i), !limit || i < limit);
	return env;
}

static void flow_without_limit(struct kunit *test)
{
	struct flow_env *env = begin(test, 0, ENTRIES);

	KUNIT_EXPECT_FALSE(test, umad_flow_has_backlog(&env->flow));
	KUNIT_EXPECT_FALSE(test, umad_flow_is_full(&env->flow));
	KUNIT_EXPECT_EQ(test, env->flow.used, 0);
	KUNIT_EXPECT_EQ(test, next(env), -1);
	leave(env, 0);
	KUNIT_EXPECT_EQ(test, env->flow.used, 0);
}

static void flow_first_come_first_served(struct kunit *test)
{
	struct flow_env *env = begin(test, 16, 100);
	int i;

	KUNIT_EXPECT_TRUE(test, umad_flow_is_full(&env->flow));
	KUNIT_EXPECT_EQ(test, env->flow.used, 16);
	KUNIT_EXPECT_EQ(test, env->flow.waiting, 84);
	KUNIT_EXPECT_EQ(test, next(env), -1);
	/* In whatever order the places come back. */
	for (i = 0; i < 84; i++) {
		leave(env, i ^ 1);
		KUNIT_EXPECT_EQ(test, next(env), 16 + i);
		KUNIT_EXPECT_EQ(test, next(env), -1);
	}
}

/* One that comes now does not get the place that is free for one that waits. */
static void flow_nobody_overtakes(struct kunit *test)
{
	struct flow_env *env = begin(test, 2, 4);

	leave(env, 0);
	KUNIT_EXPECT_FALSE(test, umad_flow_is_full(&env->flow));
	KUNIT_EXPECT_FALSE(test, enter(env, 4));
	KUNIT_EXPECT_EQ(test, next(env), 2);
	leave(env, 1);
	leave(env, 2);
	KUNIT_EXPECT_EQ(test, next(env), 3);
	KUNIT_EXPECT_EQ(test, next(env), 4);
	KUNIT_EXPECT_EQ(test, next(env), -1);
}

static void flow_leaving_the_backlog(struct kunit *test)
{
	struct flow_env *env = begin(test, 2, 6);

	leave(env, 2);
	leave(env, 4);
	/* Twice is once. */
	leave(env, 4);
	KUNIT_EXPECT_EQ(test, env->flow.used, 2);
	KUNIT_EXPECT_EQ(test, env->flow.waiting, 2);
	leave(env, 0);
	leave(env, 1);
	KUNIT_EXPECT_EQ(test, next(env), 3);
	KUNIT_EXPECT_EQ(test, next(env), 5);
	KUNIT_EXPECT_FALSE(test, umad_flow_has_backlog(&env->flow));
}

static void flow_beyond_the_limit(struct kunit *test)
{
	struct flow_env *env = begin(test, 2, 3);

	take(env, 10);
	take(env, 11);
	KUNIT_EXPECT_EQ(test, env->flow.used, 4);
	leave(env, 0);
	leave(env, 10);
	KUNIT_EXPECT_EQ(test, next(env), -1);
	leave(env, 11);
	KUNIT_EXPECT_EQ(test, next(env), 2);
	KUNIT_EXPECT_TRUE(test, umad_flow_is_full(&env->flow));
}

static struct kunit_case flow_cases[] = {
	KUNIT_CASE(flow_without_limit),
	KUNIT_CASE(flow_first_come_first_served),
	KUNIT_CASE(flow_nobody_overtakes),
	KUNIT_CASE(flow_leaving_the_backlog),
	KUNIT_CASE(flow_beyond_the_limit),
	{}
};

static struct kunit_suite flow_suite = {
	.name = "umad_flow",
	.init = flow_env_init,
	.exit = flow_env_exit,
	.test_cases = flow_cases,
};

kunit_test_suite(flow_suite);
