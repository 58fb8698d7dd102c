// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The RMPP sender alone: what it measures, and what it does about losses. */
#include "rmpp_tx_env.h"

/*
 * A receiver that acknowledges early is known by an ACK that widens a window
 * which is not used up. Ends with all up to 64 acknowledged, and @cwnd more
 * segments out, 2 ms a round trip.
 */
static void early_receiver(struct kunit *test, u32 cwnd)
{
	struct tx_env *env = test->priv;

	KUNIT_ASSERT_EQ(test, drain(env), 1u);
	env->now += 2 * MS;
	KUNIT_ASSERT_EQ(test, ack(env, 1, 65), 64u);
	env->tx.cwnd = cwnd;
	env->tx.ssthresh = cwnd;
	env->now += 2 * MS;
	ack(env, 64, 600);
	KUNIT_ASSERT_TRUE(test, env->tx.early_acks);
	KUNIT_ASSERT_EQ(test, env->tx.una, 65u);
	/* One eighth of what was acknowledged has been added. */
	KUNIT_ASSERT_EQ(test, env->tx.cwnd, cwnd + 7);
	KUNIT_ASSERT_EQ(test, env->tx.next, 65 + env->tx.cwnd);
	KUNIT_ASSERT_EQ(test, env->tx.resent, 0u);
}

static void rto_is_measured(struct kunit *test)
{
	struct tx_env *env = test->priv;

	drain(env);
	env->now += 40 * MS;
	ack(env, 1, 65);
	KUNIT_EXPECT_EQ(test, env->tx.srtt, 40 * MS);
	KUNIT_EXPECT_EQ(test, env->tx.rto, 120 * MS);
	env->now += 40 * MS;
	ack(env, 65, 129);
	KUNIT_EXPECT_EQ(test, env->tx.rto, 100 * MS);
	KUNIT_EXPECT_EQ(test, rmpp_tx_deadline(&env->tx), env->now + 100 * MS);
}

static void rto_floor_and_ceiling(struct kunit *test)
{
	struct tx_env *env = test->priv;

	drain(env);
	env->now += 1;
	ack(env, 1, 65);
	KUNIT_EXPECT_EQ(test, env->tx.rto, 20 * MS);

	rmpp_tx_init(&env->tx, SEGS, 1, 30, 100, env->now);
	KUNIT_EXPECT_EQ(test, env->tx.rto, 30 * MS);
	drain(env);
	env->now += 29 * MS;
	ack(env, 1, 65);
	KUNIT_EXPECT_EQ(test, env->tx.rto, 30 * MS);
}

/* Which of the two sendings was answered? Nothing is learned from it. */
static void resent_measures_nothing(struct kunit *test)
{
	struct tx_env *env = test->priv;

	drain(env);
	expire(env);
	KUNIT_ASSERT_EQ(test, drain(env), 1u);
	env->now += MS;
	ack(env, 1, 65);
	KUNIT_EXPECT_EQ(test, env->tx.srtt, 0ULL);
	/* It stays doubled until something was measured. */
	KUNIT_EXPECT_EQ(test, env->tx.rto, 200 * MS);
	env->now += 2 * MS;
	ack(env, 65, 129);
	KUNIT_EXPECT_EQ(test, env->tx.srtt, 2 * MS);
	KUNIT_EXPECT_EQ(test, env->tx.rto, 20 * MS);
}

/* The way has become longer than the timeout: it must learn, not repeat. */
static void wrong_guess_is_not_repeated(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 round, seg = 65, resent;
	u64 answer;

	open_window(test);
	for (round = 0; round < 6; round++, seg += 64) {
		resent = env->tx.resent;
		answer = env->now + 300 * MS;
		while (rmpp_tx_deadline(&env->tx) < answer) {
			expire(env);
			drain(env);
		}
		env->now = answer;
		ack(env, seg, seg + 64);
	}
	KUNIT_EXPECT_EQ(test, env->tx.resent, resent);
	KUNIT_EXPECT_GT(test, env->tx.rto, 300 * MS);
	KUNIT_EXPECT_LE(test, env->tx.resent, 16u);
}

/* The probe's answer is the one thing that an in-tree receiver sends early. */
static void probe_is_measured(struct kunit *test)
{
	struct tx_env *env = test->priv;

	open_window(test);
	expire(env);
	drain(env);
	KUNIT_EXPECT_EQ(test, env->tx.rto, 40 * MS);
	env->now += 2 * MS;
	ack(env, 20, 65);
	KUNIT_EXPECT_EQ(test, env->tx.rto, 20 * MS);
	/* With two of them on the way it could be the answer to either. */
	expire(env);
	drain(env);
	expire(env);
	drain(env);
	env->now += 10 * MS;
	ack(env, 40, 65);
	KUNIT_EXPECT_EQ(test, env->tx.una, 41u);
	KUNIT_EXPECT_EQ(test, env->tx.srtt, 2 * MS);
}

/* In-tree: ACKs at the ends of windows only, which must be used to the end. */
static void late_receiver_gets_its_window(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 seg;

	open_window(test);
	env->tx.cwnd = 1;
	env->tx.ssthresh = 1;
	for (seg = 65; seg < 500; seg += 64)
		KUNIT_EXPECT_EQ(test, ack(env, seg, seg + 64), 64u);
	KUNIT_EXPECT_FALSE(test, env->tx.early_acks);
	/* Nor does a position in the middle, that a probe got, change that. */
	expire(env);
	drain(env);
	ack(env, seg - 30, seg);
	KUNIT_EXPECT_FALSE(test, env->tx.early_acks);
}

static void flight_limits_an_early_receiver(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 before;

	early_receiver(test, 64);
	before = env->tx.cwnd;
	KUNIT_EXPECT_EQ(test, drain(env), 0u);
	/* As many as have arrived, and an eighth. */
	KUNIT_EXPECT_EQ(test, ack(env, 96, 632), 36u);
	KUNIT_EXPECT_EQ(test, env->tx.cwnd, before + 4);
}

static void slow_start_doubles(struct kunit *test)
{
	struct tx_env *env = test->priv;

	early_receiver(test, 64);
	env->tx.ssthresh = 120;
	KUNIT_EXPECT_EQ(test, ack(env, 96, 632), 64u);
	KUNIT_EXPECT_EQ(test, env->tx.cwnd, 71u + 32);
}

static void third_repeat_resends_the_hole(struct kunit *test)
{
	struct tx_env *env = test->priv;

	early_receiver(test, 200);
	KUNIT_EXPECT_EQ(test, ack(env, 64, 600), 0u);
	KUNIT_EXPECT_EQ(test, ack(env, 64, 600), 0u);
	KUNIT_EXPECT_EQ(test, ack(env, 64, 600), 1u);
	KUNIT_EXPECT_EQ(test, env->first, 65u);
	/* Half of it, and once for all losses of one cwnd. */
	KUNIT_EXPECT_EQ(test, env->tx.cwnd, 103u);
	env->now += 2 * MS;
	KUNIT_EXPECT_GE(test, ack(env, 99, 635), 1u);
	KUNIT_EXPECT_EQ(test, env->first, 100u);
	KUNIT_EXPECT_EQ(test, env->tx.cwnd, 103u);
}

static void flight_has_a_floor(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	early_receiver(test, 64);
	for (i = 0; i < 10; i++) {
		expire(env);
		drain(env);
		KUNIT_EXPECT_EQ(test, env->tx.cwnd, 64u);
	}
	/* A receiver of ours would acknowledge that many. */
	KUNIT_EXPECT_EQ(test, env->tx.next - env->tx.una, 71u);
}

/* A burst of repeats within a round trip is about the same gap. */
static void hole_is_sent_once_in_a_round_trip(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	early_receiver(test, 64);
	for (i = 0; i < 60; i++)
		ack(env, 64, 600);
	KUNIT_EXPECT_EQ(test, env->tx.resent, 1u);
	/* So late it is sure that it was lost again. */
	env->now += 15 * MS;
	ack(env, 64, 600);
	KUNIT_EXPECT_EQ(test, env->tx.resent, 2u);
	KUNIT_EXPECT_EQ(test, env->first, 65u);
	ack(env, 64, 600);
	KUNIT_EXPECT_EQ(test, env->tx.resent, 2u);
}

/* Repeats tell that others arrive, so that new ones may follow. */
static void new_ones_follow_the_hole(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 next, i;

	early_receiver(test, 200);
	for (i = 0; i < 3; i++)
		ack(env, 64, 600);
	next = env->tx.next;
	for (i = 0; i < 40; i++)
		ack(env, 64, 600);
	KUNIT_EXPECT_GT(test, env->tx.next, next + 40);
	KUNIT_EXPECT_LE(test, env->tx.next, 601u);
}

/* Three new ones at least make the receiver tell of a second loss. */
static void new_ones_follow_recovery(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 next, i;

	early_receiver(test, 64);
	for (i = 0; i < 3; i++)
		ack(env, 64, 600);
	next = env->tx.next;
	env->now += 2 * MS;
	/* Partial: the gap and three new ones. */
	KUNIT_EXPECT_EQ(test, ack(env, 66, 602), 4u);
	KUNIT_EXPECT_EQ(test, env->first, 67u);
	KUNIT_EXPECT_EQ(test, env->last, next + 2);
}

/* What may be beyond the cwnd is given back when it is over. */
static void flight_is_kept_again(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	early_receiver(test, 200);
	for (i = 0; i < 60; i++)
		ack(env, 64, 600);
	env->now += 2 * MS;
	ack(env, 272, 808);
	KUNIT_ASSERT_EQ(test, env->tx.recover, 0u);
	for (i = 280; i < 600; i += 32) {
		ack(env, i, i + 536);
		KUNIT_EXPECT_EQ(test, env->tx.resent, 1u);
	}
	KUNIT_EXPECT_EQ(test, env->tx.next - env->tx.una, env->tx.cwnd);
}

/* The answer was quicker than the way is long: it was only out of order. */
static void reordering_is_undone(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	early_receiver(test, 200);
	for (i = 0; i < 3; i++)
		ack(env, 64, 600);
	KUNIT_EXPECT_EQ(test, env->tx.cwnd, 103u);
	env->now += MS / 10;
	ack(env, 70, 606);
	KUNIT_EXPECT_EQ(test, env->tx.resent, 1u);
	KUNIT_EXPECT_GE(test, env->tx.cwnd, 207u);
	/* And more of the same is needed the next time. */
	for (i = 0; i < 5; i++)
		ack(env, 70, 606);
	KUNIT_EXPECT_EQ(test, env->tx.resent, 1u);
	ack(env, 70, 606);
	KUNIT_EXPECT_EQ(test, env->tx.resent, 2u);
}

/* It was on the way all the time, while what would replace it waited for its turn. */
static void reordering_without_a_resend(struct kunit *test)
{
	const struct rmpp_packet again = ack_packet(64, 600), all = ack_packet(271, 800);
	struct tx_env *env = test->priv;
	u32 i;

	early_receiver(test, 200);
	for (i = 0; i < 3; i++)
		rmpp_tx_receive(&env->tx, &again, env->now);
	KUNIT_EXPECT_EQ(test, env->tx.cwnd, 103u);
	env->now += 20 * MS;
	rmpp_tx_receive(&env->tx, &all, env->now);
	KUNIT_EXPECT_EQ(test, env->tx.resent, 0u);
	KUNIT_EXPECT_GE(test, env->tx.cwnd, 207u);
	KUNIT_EXPECT_EQ(test, env->tx.reordering, 6u);
}

/* A receiver may say that it takes everything: it still gets it bit by bit. */
static void a_window_without_end(struct kunit *test)
{
	struct tx_env *env = test->priv;

	rmpp_tx_init(&env->tx, 100000, S32_MAX, 0, 2, env->now);
	KUNIT_EXPECT_EQ(test, drain(env), 4096u);
	KUNIT_EXPECT_EQ(test, ack(env, 4096, S32_MAX), 4096u);
}

/*
 * Behind the last gap nothing is left to send: each ACK shows the next. A receiver without a
 * segment behind it would acknowledge it late, but for the probe.
 */
static void holes_at_the_end(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	early_receiver(test, 200);
	env->tx.segs = env->tx.next - 1;
	for (i = 0; i < 3; i++)
		ack(env, 64, 600);
	for (i = 70; i < 100; i += 10) {
		env->now += 2 * MS;
		KUNIT_EXPECT_EQ(test, ack(env, i, i + 500), 2u);
		KUNIT_EXPECT_EQ(test, env->first, i + 1);
		KUNIT_EXPECT_EQ(test, env->last, i);
	}
	env->now += 2 * MS;
	ack(env, env->tx.segs, 900);
	KUNIT_EXPECT_EQ(test, (int)env->tx.state, (int)RMPP_TX_ACKED);
}

/* The end was reached after the loss was noticed: so it goes on to there. */
static void holes_of_the_last_flight(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	early_receiver(test, 64);
	env->tx.segs = env->tx.next + 2;
	for (i = 0; i < 3; i++)
		ack(env, 64, 600);
	env->now += 2 * MS;
	KUNIT_EXPECT_EQ(test, ack(env, 70, 606), 4u);
	KUNIT_ASSERT_EQ(test, env->tx.next, env->tx.segs + 1);
	env->now += 2 * MS;
	KUNIT_EXPECT_EQ(test, ack(env, 80, 616), 2u);
	KUNIT_EXPECT_EQ(test, env->first, 81u);
	KUNIT_EXPECT_EQ(test, env->last, 80u);
	env->now += 2 * MS;
	KUNIT_EXPECT_EQ(test, ack(env, env->tx.segs - 1, 900), 2u);
	KUNIT_EXPECT_EQ(test, env->first, env->tx.segs);
}

/* In-tree: what answers the probe names the gap, each round trip the next. */
static void holes_of_a_late_receiver(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 seg;

	open_window(test);
	expire(env);
	KUNIT_EXPECT_EQ(test, drain(env), 2u);
	for (seg = 10; seg < 60; seg += 10) {
		env->now += 2 * MS;
		KUNIT_EXPECT_EQ(test, ack(env, seg, 65), 2u);
		KUNIT_EXPECT_EQ(test, env->first, seg + 1);
		KUNIT_EXPECT_EQ(test, env->last, seg);
	}
	env->now += 2 * MS;
	KUNIT_EXPECT_EQ(test, ack(env, 65, 129), 64u);
}

/* Repeats from duplicates on the way are no loss when nothing is out. */
static void repeats_with_nothing_out(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	open_window(test);
	ack(env, 65, 65);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, ack(env, 65, 65), 0u);
	KUNIT_EXPECT_EQ(test, env->tx.resent, 0u);
}

static void resends_wait_for_the_send_queue(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i, seg;

	early_receiver(test, 64);
	ack(env, 96, 632);
	env->tx.cwnd = 400;
	for (i = 0; i < RMPP_TX_POSTED_MAX; i++)
		KUNIT_ASSERT_GT(test, rmpp_tx_next(&env->tx, env->now), 0u);
	for (i = 0; i < 3; i++) {
		struct rmpp_packet packet = ack_packet(96, 632);

		rmpp_tx_receive(&env->tx, &packet, env->now);
		seg = rmpp_tx_next(&env->tx, env->now);
		KUNIT_EXPECT_EQ(test, seg, 0u);
	}
	rmpp_tx_sent(&env->tx, env->now);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&env->tx, env->now), 97u);
	KUNIT_EXPECT_EQ(test, env->tx.posted, (u32)RMPP_TX_POSTED_MAX);
}

static struct kunit_case rmpp_tx_loss_cases[] = {
	KUNIT_CASE(rto_is_measured),
	KUNIT_CASE(rto_floor_and_ceiling),
	KUNIT_CASE(resent_measures_nothing),
	KUNIT_CASE(wrong_guess_is_not_repeated),
	KUNIT_CASE(probe_is_measured),
	KUNIT_CASE(late_receiver_gets_its_window),
	KUNIT_CASE(flight_limits_an_early_receiver),
	KUNIT_CASE(slow_start_doubles),
	KUNIT_CASE(third_repeat_resends_the_hole),
	KUNIT_CASE(flight_has_a_floor),
	KUNIT_CASE(hole_is_sent_once_in_a_round_trip),
	KUNIT_CASE(new_ones_follow_the_hole),
	KUNIT_CASE(new_ones_follow_recovery),
	KUNIT_CASE(reordering_is_undone),
	KUNIT_CASE(reordering_without_a_resend),
	KUNIT_CASE(a_window_without_end),
	KUNIT_CASE(flight_is_kept_again),
	KUNIT_CASE(holes_at_the_end),
	KUNIT_CASE(holes_of_the_last_flight),
	KUNIT_CASE(holes_of_a_late_receiver),
	KUNIT_CASE(repeats_with_nothing_out),
	KUNIT_CASE(resends_wait_for_the_send_queue),
	{}
};

static struct kunit_suite rmpp_tx_loss_suite = {
	.name = "rmpp_tx_loss",
	.init = tx_env_init,
	.test_cases = rmpp_tx_loss_cases,
};

kunit_test_suite(rmpp_tx_loss_suite);
