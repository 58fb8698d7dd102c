// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The RMPP receiver alone, of a message that is complete. */
#include <linux/limits.h>
#include "rmpp_rx_env.h"

/* What was remembered of it is enough to answer as before. */
static void restored(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u64 until;

	give_up_to(env, 5);
	until = env->now + LINGER;
	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 1, env->now);
	rmpp_rx_restore(&env->rx, 5, 69, 7, until, env->now + AGAIN);
	KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx), until);
	KUNIT_EXPECT_EQ(test, env->rx.repwin, 7u);
	env->now += 2000 * MS;
	EXPECT_ACK(test, give(env, segment(5)), 5, 69);
	EXPECT_ACK(test, give(env, segment(1)), 5, 69);
	KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx), env->now + LINGER);
	EXPECT_VERDICT(test, rx_expire(env), RMPP_RX_CLOSE);
}

static void lingers(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 i;

	give_up_to(env, 100);
	for (i = 0; i < 4; i++) {
		env->now += LINGER - 1;
		EXPECT_VERDICT(test, rmpp_rx_timer(&env->rx, env->now),
			       RMPP_RX_DROP);
		EXPECT_ACK(test, give(env, segment(100 - i)), 100, 164);
	}
	EXPECT_VERDICT(test, rx_expire(env), RMPP_RX_CLOSE);
	expect_dead(test, 0);
}

/* Who uses the transaction ID for another message, again and again, is heard at last. */
static void lingers_not_for_ever(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u64 begin;

	give_up_to(env, 100);
	begin = env->now;
	while (env->now + 3000 * MS < rmpp_rx_deadline(&env->rx)) {
		env->now += 3000 * MS;
		EXPECT_ACK(test, give(env, segment(1)), 100, 164);
	}
	KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx), begin + AGAIN + LINGER);
	EXPECT_VERDICT(test, rx_expire(env), RMPP_RX_CLOSE);
}

/* Behind the end that its sender has made of it, copies are answered, but do not keep it. */
static void ended_lingers_no_longer(struct kunit *test)
{
	const struct rmpp_packet end = end_packet(IB_MGMT_RMPP_TYPE_ABORT,
						  IB_MGMT_RMPP_STATUS_TMR);
	struct rx_env *env = test->priv;
	u64 begin;

	give_up_to(env, 100);
	env->now += 2000 * MS;
	EXPECT_ACK(test, give(env, segment(2)), 100, 164);
	begin = env->now;
	env->now += 1000 * MS;
	EXPECT_VERDICT(test, give(env, end), RMPP_RX_DROP);
	env->now += 2000 * MS;
	EXPECT_ACK(test, give(env, segment(2)), 100, 164);
	KUNIT_EXPECT_LE(test, rmpp_rx_deadline(&env->rx), begin + 1000 * MS + LINGER);
	EXPECT_VERDICT(test, rx_expire(env), RMPP_RX_CLOSE);
}

static void turn_around(struct kunit *test)
{
	struct rx_env *env = test->priv;

	EXPECT_VERDICT(test, give(env, ack_packet(0, 33)), RMPP_RX_DROP);
	KUNIT_EXPECT_EQ(test, env->rx.repwin, 1u);
	give_up_to(env, 100);
	KUNIT_EXPECT_EQ(test, env->rx.repwin, 1u);
	EXPECT_VERDICT(test, give(env, ack_packet(5, 33)), RMPP_RX_DROP);
	KUNIT_EXPECT_EQ(test, env->rx.repwin, 1u);
	EXPECT_VERDICT(test, give(env, ack_packet(0, 33)), RMPP_RX_DROP);
	KUNIT_EXPECT_EQ(test, env->rx.repwin, 33u);
	give(env, ack_packet(0, 0));
	KUNIT_EXPECT_EQ(test, env->rx.repwin, 1u);
	give(env, ack_packet(0, U32_MAX));
	KUNIT_EXPECT_EQ(test, env->rx.repwin, (u32)S32_MAX);
}

static struct kunit_case rmpp_rx_linger_cases[] = {
	KUNIT_CASE(restored),
	KUNIT_CASE(lingers),
	KUNIT_CASE(lingers_not_for_ever),
	KUNIT_CASE(ended_lingers_no_longer),
	KUNIT_CASE(turn_around),
	{}
};

static struct kunit_suite rmpp_rx_linger_suite = {
	.name = "rmpp_rx_linger",
	.init = rx_env_init,
	.test_cases = rmpp_rx_linger_cases,
};

kunit_test_suite(rmpp_rx_linger_suite);
