// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The RMPP receiver alone, of a message that takes turns with others. */
#include "rmpp_rx_env.h"

#define WAIT	(50 * MS)
#define FIRST	(1 + WINDOW)	/* of its first two windows, the last segment */

/* To where its second window is used up, and it has to wait. */
static int turn_init(struct kunit *test)
{
	struct rmpp_packet packet = segment(FIRST);
	struct rx_env *env;
	int ret = rx_env_init(test);

	if (ret)
		return ret;
	env = test->priv;
	give(env, segment(1));
	env->window = 1;
	give_up_to(env, FIRST - 1);
	EXPECT_VERDICT(test, rmpp_rx_receive(&env->rx, &packet, env->now), RMPP_RX_STORE);
	EXPECT_VERDICT(test, rmpp_rx_stored(&env->rx, &packet, env->now), RMPP_RX_ACK);
	rmpp_rx_hold(&env->rx, env->now + WAIT, &env->ack);
	env->window = WINDOW;
	return 0;
}

static void is_acknowledged_and_opened_later(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u64 begin = env->now, repeat;

	EXPECT_ACK(test, RMPP_RX_ACK, FIRST, FIRST);
	EXPECT_VERDICT(test, rmpp_rx_timer(&env->rx, begin + WAIT - 1), RMPP_RX_DROP);
	env->window = 20;
	EXPECT_ACK(test, rx_expire(env), FIRST, FIRST + 20);
	KUNIT_EXPECT_EQ(test, env->now, begin + WAIT);
	/* It was none of those that are repeated as they may be lost. */
	for (repeat = 100 * MS; repeat <= 800 * MS; repeat *= 2) {
		begin = env->now;
		EXPECT_ACK(test, rx_expire(env), FIRST, FIRST + 20);
		KUNIT_EXPECT_EQ(test, env->now, begin + repeat);
	}
	EXPECT_VERDICT(test, rx_expire(env), RMPP_RX_ABORT);
}

/* In-tree senders send the segment behind what is acknowledged, after their timeouts. */
static void impatient_sender_is_let_go_on(struct kunit *test)
{
	struct rx_env *env = test->priv;

	EXPECT_VERDICT(test, give(env, segment(FIRST + 2)), RMPP_RX_DROP);
	EXPECT_ACK(test, give(env, segment(FIRST + 1)), FIRST + 1, FIRST + 1 + WINDOW);
	EXPECT_VERDICT(test, give(env, segment(FIRST + 2)), RMPP_RX_DROP);
	KUNIT_EXPECT_EQ(test, env->rx.stored, (u32)FIRST + 2);
	/* Its timer is that of a lost ACK again. */
	KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx), env->now + 100 * MS);
}

/* Without memory it is as good as lost. */
static void segment_that_is_not_stored_lets_no_other_in(struct kunit *test)
{
	struct rx_env *env = test->priv;
	struct rmpp_packet packet = segment(FIRST + 1);

	EXPECT_VERDICT(test, rmpp_rx_receive(&env->rx, &packet, env->now), RMPP_RX_STORE);
	EXPECT_VERDICT(test, give(env, segment(FIRST + 2)), RMPP_RX_DROP);
	EXPECT_ACK(test, give(env, segment(FIRST + 1)), FIRST + 1, FIRST + 1 + WINDOW);
}

/* As ours do. */
static void sender_that_asks_is_let_go_on(struct kunit *test)
{
	struct rx_env *env = test->priv;

	EXPECT_ACK(test, give(env, segment(FIRST)), FIRST, FIRST + WINDOW);
	KUNIT_EXPECT_FALSE(test, env->rx.held);
}

static void turn_has_one_ACK(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 seg;

	env->window = 32;
	env->rx.in_turn = true;
	EXPECT_ACK(test, rx_expire(env), FIRST, FIRST + 32);
	for (seg = FIRST + 1; seg < FIRST + 32; seg++)
		EXPECT_VERDICT(test, give(env, segment(seg)), RMPP_RX_DROP);
	EXPECT_ACK(test, give(env, segment(seg)), seg, seg + 32);
}

static void loss_in_a_turn_is_reported_at_once(struct kunit *test)
{
	struct rx_env *env = test->priv;

	env->window = 32;
	env->rx.in_turn = true;
	EXPECT_ACK(test, rx_expire(env), FIRST, FIRST + 32);
	EXPECT_VERDICT(test, give(env, segment(FIRST + 1)), RMPP_RX_DROP);
	EXPECT_ACK(test, give(env, segment(FIRST + 3)), FIRST + 1, FIRST + 33);
	EXPECT_ACK(test, give(env, segment(FIRST + 2)), FIRST + 3, FIRST + 35);
}

/*
 * The turn-around ACK has allowed all of a response, and now there is a window of one: its
 * sender waits for no ACK all the same.
 */
static void segments_allowed_before_are_acknowledged_seldom(struct kunit *test)
{
	struct rx_env *env = test->priv;
	unsigned int acks = 0;
	u32 seg;

	rmpp_rx_init(&env->rx, &rmpp_layout_sa, 2000 * 200, 300, env->now);
	env->window = 1;
	for (seg = 1; seg < 300; seg++)
		acks += give(env, data_packet(seg, 2000, 220)) == RMPP_RX_ACK;
	KUNIT_EXPECT_LT(test, acks, 30u);
	EXPECT_ACK(test, give(env, data_packet(300, 2000, 220)), 300, 301);
	EXPECT_ACK(test, give(env, data_packet(301, 2000, 220)), 301, 302);
}

static struct kunit_case rmpp_rx_turn_cases[] = {
	KUNIT_CASE(is_acknowledged_and_opened_later),
	KUNIT_CASE(impatient_sender_is_let_go_on),
	KUNIT_CASE(segment_that_is_not_stored_lets_no_other_in),
	KUNIT_CASE(sender_that_asks_is_let_go_on),
	KUNIT_CASE(turn_has_one_ACK),
	KUNIT_CASE(loss_in_a_turn_is_reported_at_once),
	KUNIT_CASE(segments_allowed_before_are_acknowledged_seldom),
	{}
};

static struct kunit_suite rmpp_rx_turn_suite = {
	.name = "rmpp_rx_turn",
	.init = turn_init,
	.test_cases = rmpp_rx_turn_cases,
};

kunit_test_suite(rmpp_rx_turn_suite);
