// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The RMPP receiver: acknowledgments that are withheld. */
#include "rmpp_rx_env.h"

/* A segment is stored; what is due is not sent. */
static enum rmpp_rx_verdict take(struct kunit *test, u32 seg)
{
	struct rmpp_packet packet = segment(seg);
	struct rx_env *env = test->priv;

	EXPECT_VERDICT(test, rmpp_rx_receive(&env->rx, &packet, env->now), RMPP_RX_STORE);
	return rmpp_rx_stored(&env->rx, &packet, env->now);
}

/* Only who has used up its window waits for one. */
static void window_used_up(struct kunit *test)
{
	struct rx_env *env = test->priv;

	env->window = 4;
	KUNIT_EXPECT_FALSE(test, rmpp_rx_may_withhold(&env->rx));
	EXPECT_VERDICT(test, take(test, 1), RMPP_RX_ACK);
	KUNIT_EXPECT_TRUE(test, rmpp_rx_may_withhold(&env->rx));
	rmpp_rx_format_ack(&env->rx, env->window, &env->ack);
	KUNIT_EXPECT_FALSE(test, rmpp_rx_may_withhold(&env->rx));
	take(test, 2);
	take(test, 3);
	take(test, 5);
	KUNIT_EXPECT_FALSE(test, rmpp_rx_may_withhold(&env->rx));
	EXPECT_VERDICT(test, take(test, 4), RMPP_RX_ACK);
	KUNIT_EXPECT_TRUE(test, rmpp_rx_may_withhold(&env->rx));
}

static void sent_when_it_is_time(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u64 until = env->now + 5 * MS;

	take(test, 1);
	rmpp_rx_withhold(&env->rx, until);
	KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx), until);
	EXPECT_VERDICT(test, rmpp_rx_timer(&env->rx, until - 1), RMPP_RX_DROP);
	EXPECT_ACK(test, rx_expire(env), 1, 1 + WINDOW);
	/* It may get lost, as any. */
	KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx), until + 100 * MS);
	EXPECT_ACK(test, rx_expire(env), 1, 1 + WINDOW);
}

static void sent_to_who_asks(struct kunit *test)
{
	struct rx_env *env = test->priv;

	take(test, 1);
	rmpp_rx_withhold(&env->rx, env->now + 5 * MS);
	env->now += MS;
	EXPECT_ACK(test, give(env, segment(1)), 1, 1 + WINDOW);
	KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx), env->now + 100 * MS);
}

static struct kunit_case rmpp_rx_wait_cases[] = {
	KUNIT_CASE(window_used_up),
	KUNIT_CASE(sent_when_it_is_time),
	KUNIT_CASE(sent_to_who_asks),
	{}
};

static struct kunit_suite rmpp_rx_wait_suite = {
	.name = "rmpp_rx_wait",
	.init = rx_env_init,
	.test_cases = rmpp_rx_wait_cases,
};

kunit_test_suite(rmpp_rx_wait_suite);
