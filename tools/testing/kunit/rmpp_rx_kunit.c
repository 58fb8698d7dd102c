// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The RMPP receiver alone: when it answers, what it refuses, when it ends. */
#include <linux/bitmap.h>
#include <linux/limits.h>
#include "rmpp_rx_env.h"

/* One ACK for the first, then each 32nd: a window has 64. */
static void acks_in_order(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 seg;

	EXPECT_ACK(test, give(env, segment(1)), 1, 65);
	for (seg = 2; seg < 100; seg++)
		if (seg % 32 == 1)
			EXPECT_ACK(test, give(env, segment(seg)), seg,
				   seg + 64);
		else
			EXPECT_VERDICT(test, give(env, segment(seg)),
				       RMPP_RX_DROP);
	EXPECT_ACK(test, give(env, segment(100)), 100, 164);
	KUNIT_EXPECT_EQ(test, (int)env->rx.state, (int)RMPP_RX_DONE);
	KUNIT_EXPECT_EQ(test, env->rx.dropped, 0u);
}

/* Where nothing goes wrong fewer will do, until something does. */
static void acks_of_in_order_transfer(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 seg, last = 0;

	rmpp_rx_init(&env->rx, &rmpp_layout_sa, 3000 * 200, 1, env->now);
	env->window = 1024;
	for (seg = 1; seg <= 2000; seg++) {
		if (give(env, data_packet(seg, 3000, 220)) != RMPP_RX_ACK)
			continue;
		if (seg > 1)
			KUNIT_EXPECT_EQ(test, seg - last, seg < RMPP_RX_IN_ORDER_RUN ?
					32u : min(32 + seg / 16, 128u));
		last = seg;
	}
	KUNIT_EXPECT_GT(test, last, 2000u - 128);

	EXPECT_VERDICT(test, give(env, data_packet(2000, 3000, 220)),
		       RMPP_RX_ACK);
	for (seg = 2001; seg < 2032; seg++)
		EXPECT_VERDICT(test, give(env, data_packet(seg, 3000, 220)),
			       RMPP_RX_DROP);
	EXPECT_VERDICT(test, give(env, data_packet(2032, 3000, 220)),
		       RMPP_RX_ACK);
}

/* A sender that may send no more must be told. */
static void acks_of_narrow_windows(struct kunit *test)
{
	static const u32 windows[] = { 1, 2, 3, 7, 64, 1024, 5000 };
	struct rx_env *env = test->priv;
	u32 i, seg, limit;

	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		rmpp_rx_init(&env->rx, &rmpp_layout_sa, 2000 * 200, 1, env->now);
		env->window = windows[i];
		limit = 1;
		for (seg = 1; seg < 1500; seg++) {
			KUNIT_ASSERT_LE(test, seg, limit);
			if (give(env, data_packet(seg, 2000, 0)) == RMPP_RX_ACK)
				limit = env->ack.len;
			KUNIT_ASSERT_LE(test, limit, seg + windows[i]);
			KUNIT_ASSERT_LE(test, limit,
					seg + RMPP_RX_WINDOW_MAX);
		}
	}
}

/* Segments from @seg on until one is acknowledged. */
static u32 until_acked(struct rx_env *env, u32 seg)
{
	u32 given = 0;

	do
		given++;
	while (give(env, data_packet(seg++, 2000, 220)) != RMPP_RX_ACK && given < 100);
	return given;
}

/* Many share the budget: nothing is gained by an ACK that comes early, but after a loss. */
static void small_window_is_used_up(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 seg;

	rmpp_rx_init(&env->rx, &rmpp_layout_sa, 2000 * 200, 1, env->now);
	env->window = 6;
	EXPECT_ACK(test, give(env, data_packet(1, 2000, 220)), 1, 7);
	for (seg = 2; seg + 3 < RMPP_RX_WINDOW_SMALL; seg += 3)
		KUNIT_EXPECT_EQ(test, until_acked(env, seg), 3u);
	/* The sender may use what it was allowed, no more. */
	seg = env->ack.len;
	KUNIT_EXPECT_EQ(test, until_acked(env, env->ack.seg + 1), 6u);
	KUNIT_EXPECT_EQ(test, env->ack.seg, seg);
	KUNIT_EXPECT_EQ(test, until_acked(env, env->ack.seg + 1), 6u);
	/* Two are the other way round. */
	seg = env->ack.seg;
	EXPECT_ACK(test, give(env, data_packet(seg + 2, 2000, 220)), seg, seg + 6);
	EXPECT_ACK(test, give(env, data_packet(seg + 1, 2000, 220)), seg + 2, seg + 8);
	KUNIT_EXPECT_EQ(test, until_acked(env, seg + 3), 3u);
}

static void window_never_shrinks(struct kunit *test)
{
	struct rx_env *env = test->priv;
	unsigned int acks = 0;
	u32 seg;

	give_up_to(env, 33);
	KUNIT_EXPECT_EQ(test, env->ack.len, 97u);
	env->window = 1;
	for (seg = 34; seg < 65; seg++)
		EXPECT_VERDICT(test, give(env, segment(seg)), RMPP_RX_DROP);
	/* As it may send these, it is not acknowledged more often than with such a window. */
	for (seg = 65; seg < 97; seg++)
		if (give(env, segment(seg)) == RMPP_RX_ACK) {
			EXPECT_ACK(test, RMPP_RX_ACK, seg, 97);
			acks++;
		}
	KUNIT_EXPECT_GE(test, 8u, acks);
	EXPECT_ACK(test, give(env, segment(97)), 97, 98);
}

/* What the first segment says is left is enough; if it is true. */
static void claim_bounds_the_window(struct kunit *test)
{
	struct rx_env *env = test->priv;
	struct rmpp_packet packet = segment(1);
	u32 seg;

	packet.len = 4 * 220 + 1;
	EXPECT_ACK(test, give(env, packet), 1, 5);
	for (seg = 2; seg < 5; seg++)
		EXPECT_VERDICT(test, give(env, segment(seg)), RMPP_RX_DROP);
	EXPECT_ACK(test, give(env, segment(5)), 5, 69);
	/* A claim of nothing more than there is says nothing. */
	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 1, env->now);
	packet.len = 1;
	EXPECT_ACK(test, give(env, packet), 1, 65);
	/* What was allowed before stays allowed. */
	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 10, env->now);
	packet.len = 5 * 220;
	EXPECT_ACK(test, give(env, packet), 1, 10);
}

/* The window is what can be had when the ACK is sent, not when it is due. */
static void window_of_the_moment(struct kunit *test)
{
	struct rx_env *env = test->priv;
	struct rmpp_packet packet = segment(1), ack;

	rmpp_rx_receive(&env->rx, &packet, env->now);
	EXPECT_VERDICT(test, rmpp_rx_stored(&env->rx, &packet, env->now),
		       RMPP_RX_ACK);
	rmpp_rx_format_ack(&env->rx, 3, &ack);
	KUNIT_EXPECT_EQ(test, ack.len, 4u);
	rmpp_rx_format_ack(&env->rx, 1, &ack);
	KUNIT_EXPECT_EQ(test, ack.len, 4u);
	rmpp_rx_format_ack(&env->rx, 20, &ack);
	KUNIT_EXPECT_EQ(test, ack.len, 21u);
	/* ACKs follow the window that was granted: each half. */
	for (packet.seg = 2; packet.seg < 11; packet.seg++)
		EXPECT_VERDICT(test, give(env, segment(packet.seg)),
			       RMPP_RX_DROP);
	EXPECT_ACK(test, give(env, segment(11)), 11, 75);
}

static void gap_is_told(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 seg, told = 0;

	give_up_to(env, 10);
	for (seg = 12; seg <= 60; seg++) {
		if (give(env, segment(seg)) != RMPP_RX_ACK)
			continue;
		told++;
		KUNIT_EXPECT_EQ(test, env->ack.seg, 10u);
		KUNIT_EXPECT_EQ(test, env->ack.len, 74u);
		/* The first three at once, so that the sender mends it. */
		if (told <= 3)
			KUNIT_EXPECT_EQ(test, seg, 11 + told);
	}
	KUNIT_EXPECT_GE(test, told, 10u);
	KUNIT_EXPECT_LE(test, told, 20u);
	EXPECT_ACK(test, give(env, segment(11)), 60, 124);
}

static void gap_after_gap(struct kunit *test)
{
	struct rx_env *env = test->priv;

	give_up_to(env, 10);
	EXPECT_ACK(test, give(env, segment(13)), 10, 74);
	/* One step is news too, as long as something waits behind the gap. */
	EXPECT_ACK(test, give(env, segment(11)), 11, 75);
	EXPECT_ACK(test, give(env, segment(15)), 11, 75);
	EXPECT_ACK(test, give(env, segment(12)), 13, 77);
	EXPECT_ACK(test, give(env, segment(14)), 15, 79);
	EXPECT_VERDICT(test, give(env, segment(16)), RMPP_RX_DROP);
}

/* More was sent again than was missing: that is no sender who goes back at each ACK. */
static void more_than_the_gap_comes_again(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 seg;

	give_up_to(env, 10);
	for (seg = 14; seg <= 20; seg++)
		give(env, segment(seg));
	for (seg = 11; seg <= 12; seg++)
		EXPECT_ACK(test, give(env, segment(seg)), seg, seg + 64);
	EXPECT_ACK(test, give(env, segment(13)), 20, 84);
	/* It is told so once. */
	EXPECT_ACK(test, give(env, segment(14)), 20, 84);
	for (seg = 15; seg <= 20; seg++)
		EXPECT_VERDICT(test, give(env, segment(seg)), RMPP_RX_DROP);
	KUNIT_EXPECT_FALSE(test, env->rx.rewinds);
	/* But behind it, it is. */
	give(env, segment(21));
	give(env, segment(22));
	give(env, segment(21));
	give(env, segment(22));
	KUNIT_EXPECT_TRUE(test, env->rx.rewinds);
}

static void reversed(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 seg;

	give_up_to(env, 1);
	for (seg = 40; seg > 2; seg--)
		give(env, data_packet(seg, 40, 30));
	KUNIT_EXPECT_EQ(test, env->rx.expected, 2u);
	EXPECT_ACK(test, give(env, segment(2)), 40, 104);
	KUNIT_EXPECT_EQ(test, (int)env->rx.state, (int)RMPP_RX_DONE);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data_len(&env->rx), 39 * 200 + 10ULL);
}

static void duplicates_are_not_stored(struct kunit *test)
{
	struct rx_env *env = test->priv;
	struct rmpp_packet packet;
	u32 seg;

	give_up_to(env, 10);
	give(env, segment(15));
	for (seg = 1; seg <= 15; seg++) {
		if (seg > 10 && seg < 15)
			continue;
		packet = segment(seg);
		EXPECT_VERDICT(test, rmpp_rx_receive(&env->rx, &packet,
						     env->now), RMPP_RX_ACK);
	}
	KUNIT_EXPECT_EQ(test, env->rx.dropped, 11u);
	EXPECT_ACK(test, give(env, segment(1)), 10, 74);
}

/* The whole of the widest window behind a gap, in an index of that size. */
static void widest_window(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 seg;

	rmpp_rx_init(&env->rx, &rmpp_layout_sa, 5000 * 200, 1, env->now);
	env->window = U32_MAX;
	EXPECT_ACK(test, give(env, data_packet(1, 5000, 0)), 1,
		   1 + RMPP_RX_WINDOW_MAX);
	for (seg = 3; seg <= 1 + RMPP_RX_WINDOW_MAX; seg++)
		give(env, data_packet(seg, 5000, 0));
	EXPECT_VERDICT(test, give(env, data_packet(seg, 5000, 0)),
		       RMPP_RX_DROP);
	KUNIT_EXPECT_EQ(test, env->rx.dropped, 1u);
	EXPECT_ACK(test, give(env, data_packet(2, 5000, 0)), seg - 1,
		   seg - 1 + RMPP_RX_WINDOW_MAX);
	/* Nothing is left of it in the index. */
	KUNIT_EXPECT_TRUE(test, bitmap_empty(env->rx.have,
					     RMPP_RX_WINDOW_MAX));
}

static void last_before_what_was_sent(struct kunit *test)
{
	struct rx_env *env = test->priv;

	give_up_to(env, 5);
	give(env, segment(20));
	EXPECT_VERDICT(test, give(env, data_packet(12, 12, 220)),
		       RMPP_RX_ABORT);
	expect_dead(test, IB_MGMT_RMPP_STATUS_BAD_LEN);
}

static void two_lasts(struct kunit *test)
{
	struct rx_env *env = test->priv;

	give_up_to(env, 5);
	give(env, data_packet(20, 20, 220));
	EXPECT_VERDICT(test, give(env, data_packet(10, 10, 220)),
		       RMPP_RX_ABORT);
	expect_dead(test, IB_MGMT_RMPP_STATUS_BAD_LEN);
}

static void beyond_the_last(struct kunit *test)
{
	struct rx_env *env = test->priv;

	give_up_to(env, 5);
	give(env, data_packet(20, 20, 220));
	EXPECT_ACK(test, give(env, data_packet(20, 20, 220)), 5, 69);
	EXPECT_VERDICT(test, give(env, segment(21)), RMPP_RX_ABORT);
	expect_dead(test, IB_MGMT_RMPP_STATUS_BAD_LEN);
}

static void message_of_the_bound(struct kunit *test)
{
	struct rx_env *env = test->priv;

	give_up_to(env, 100);
	KUNIT_EXPECT_EQ(test, (int)env->rx.state, (int)RMPP_RX_DONE);
	/* A last segment that the bound cuts is one all the same. */
	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES - 199, 1, env->now);
	give_up_to(env, 100);
	KUNIT_EXPECT_EQ(test, (int)env->rx.state, (int)RMPP_RX_DONE);
}

static void message_over_the_bound(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 seg;

	for (seg = 1; seg <= 100; seg++)
		give(env, data_packet(seg, 200, 220));
	KUNIT_EXPECT_EQ(test, (int)env->rx.state, (int)RMPP_RX_REASSEMBLING);
	EXPECT_VERDICT(test, give(env, data_packet(101, 200, 220)),
		       RMPP_RX_STOP);
	expect_dead(test, IB_MGMT_RMPP_STATUS_RESX);
}

static void claim_over_the_bound(struct kunit *test)
{
	struct rx_env *env = test->priv;
	struct rmpp_packet packet = segment(1);

	packet.len = 101 * 220 - 1;
	EXPECT_ACK(test, give(env, packet), 1, 65);
	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 1, env->now);
	packet.len = 101 * 220;
	EXPECT_VERDICT(test, give(env, packet), RMPP_RX_STOP);
	expect_dead(test, IB_MGMT_RMPP_STATUS_RESX);
	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 1, env->now);
	packet.len = U32_MAX;
	EXPECT_VERDICT(test, give(env, packet), RMPP_RX_STOP);
}

static void no_room(struct kunit *test)
{
	struct rx_env *env = test->priv;

	give_up_to(env, 5);
	EXPECT_VERDICT(test, rmpp_rx_no_room(&env->rx), RMPP_RX_STOP);
	expect_dead(test, IB_MGMT_RMPP_STATUS_RESX);
}

/* The ACK is repeated ever more rarely, then the sender is given up. */
static void acks_are_repeated_until_idle(struct kunit *test)
{
	struct rx_env *env = test->priv;
	enum rmpp_rx_verdict verdict;
	u64 begin = env->now, wait = 100 * MS;
	u32 count = 0;

	give_up_to(env, 5);
	EXPECT_VERDICT(test, rmpp_rx_timer(&env->rx, env->now + wait - 1),
		       RMPP_RX_DROP);
	while ((verdict = rx_expire(env)) == RMPP_RX_ACK) {
		KUNIT_EXPECT_EQ(test, env->ack.seg, 5u);
		KUNIT_EXPECT_EQ(test, env->ack.len, 69u);
		count++;
	}
	EXPECT_VERDICT(test, verdict, RMPP_RX_ABORT);
	KUNIT_EXPECT_EQ(test, env->now - begin, IDLE_MAX);
	KUNIT_EXPECT_EQ(test, count, 4u);
	expect_dead(test, IB_MGMT_RMPP_STATUS_T2L);
}

/* Not more often than segments have come: a new one is worth one more. */
static void few_segments_have_few_repeats(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 segs, count;

	for (segs = 1; segs <= 6; segs++) {
		u64 begin = env->now;

		give_up_to(env, segs);
		for (count = 0; rx_expire(env) == RMPP_RX_ACK; count++)
			KUNIT_EXPECT_LE(test, env->now - begin, 1500 * MS);
		KUNIT_EXPECT_EQ(test, count, min(segs, 4u));
		rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 1, env->now);
	}
	give_up_to(env, 2);
	while (rmpp_rx_deadline(&env->rx) < env->now + IDLE_MAX / 2)
		rx_expire(env);
	give_up_to(env, 3);
	KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx), env->now + 100 * MS);
	EXPECT_VERDICT(test, rx_expire(env), RMPP_RX_ACK);
	EXPECT_VERDICT(test, rx_expire(env), RMPP_RX_ABORT);
}

static void segments_put_ack_repeats_off(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u32 seg;

	give_up_to(env, 2);
	rx_expire(env);
	rx_expire(env);
	/* For hours, but never silent for long: age alone ends nothing. */
	for (seg = 3; seg < 60; seg++) {
		give(env, segment(seg));
		KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx),
				env->now + 100 * MS);
		env->now += IDLE_MAX - 1;
	}
	KUNIT_EXPECT_EQ(test, (int)env->rx.state, (int)RMPP_RX_REASSEMBLING);
	/* Duplicates are no progress. */
	give(env, segment(7));
	env->now++;
	EXPECT_VERDICT(test, rmpp_rx_timer(&env->rx, env->now), RMPP_RX_ABORT);
}

/* Left alone until something comes of it: it is looked at meanwhile, which does nothing. */
static enum rmpp_rx_verdict expire_at_last(struct rx_env *env)
{
	enum rmpp_rx_verdict verdict;
	int n = 0;

	do {
		verdict = rx_expire(env);
	} while (verdict == RMPP_RX_DROP && ++n < 100);
	return verdict;
}

/* Anybody can send one segment: two answers, and it is forgotten without a word. */
static void lone_first_segment(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u64 begin = env->now;

	give_up_to(env, 1);
	EXPECT_VERDICT(test, rx_expire(env), RMPP_RX_ACK);
	KUNIT_EXPECT_EQ(test, env->now, begin + 100 * MS);
	/* Again, as its sender has not seen our answer: that is no progress. */
	EXPECT_VERDICT(test, give(env, segment(1)), RMPP_RX_ACK);
	EXPECT_VERDICT(test, expire_at_last(env), RMPP_RX_CLOSE);
	KUNIT_EXPECT_EQ(test, env->now, begin + IDLE_MAX);
	KUNIT_EXPECT_EQ(test, (int)env->rx.state, (int)RMPP_RX_CLOSED);
}

/* Sooner, if others need its place; and that may be later. */
static void lone_first_segment_gives_way(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u64 begin = env->now;

	env->rx.crowded = true;
	give_up_to(env, 1);
	EXPECT_VERDICT(test, rx_expire(env), RMPP_RX_ACK);
	EXPECT_VERDICT(test, rx_expire(env), RMPP_RX_CLOSE);
	KUNIT_EXPECT_EQ(test, env->now, begin + 6000 * MS);

	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 1, env->now);
	begin = env->now;
	give_up_to(env, 1);
	while (env->now - begin < 20000 * MS)
		rx_expire(env);
	env->rx.crowded = true;
	EXPECT_VERDICT(test, rx_expire(env), RMPP_RX_CLOSE);
	KUNIT_EXPECT_LE(test, env->now, begin + 22000 * MS);
	/* But not if there is more of it. */
	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 1, env->now);
	env->rx.crowded = true;
	give_up_to(env, 2);
	while (rx_expire(env) == RMPP_RX_ACK)
		;
	expect_dead(test, IB_MGMT_RMPP_STATUS_T2L);
	KUNIT_EXPECT_LE(test, begin + IDLE_MAX, env->now);
}

static void second_segment_ends_that(struct kunit *test)
{
	struct rx_env *env = test->priv;

	give_up_to(env, 1);
	rx_expire(env);
	give_up_to(env, 2);
	KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx), env->now + 100 * MS);
	/* So does one behind a gap. */
	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 1, env->now);
	give_up_to(env, 1);
	rx_expire(env);
	give(env, segment(5));
	KUNIT_EXPECT_EQ(test, rmpp_rx_deadline(&env->rx), env->now + 100 * MS);
	while (rx_expire(env) == RMPP_RX_ACK)
		;
	expect_dead(test, IB_MGMT_RMPP_STATUS_T2L);
}

/* What was asked for is nudged, and has its 40 s. */
static void lone_segment_of_a_response(struct kunit *test)
{
	struct rx_env *env = test->priv;
	u64 begin = env->now;
	u32 count = 0;

	env->rx.solicited = true;
	give_up_to(env, 1);
	while (rx_expire(env) == RMPP_RX_ACK)
		count++;
	KUNIT_EXPECT_EQ(test, env->now - begin, IDLE_MAX);
	KUNIT_EXPECT_EQ(test, count, 4u);
	expect_dead(test, IB_MGMT_RMPP_STATUS_T2L);
}

static void no_ack_repeat_before_the_first(struct kunit *test)
{
	struct rx_env *env = test->priv;

	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 10, env->now);
	EXPECT_VERDICT(test, expire_at_last(env), RMPP_RX_CLOSE);
}

/* What our turn-around ACK allowed may come at once. */
static void first_window(struct kunit *test)
{
	struct rx_env *env = test->priv;

	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 10, env->now);
	EXPECT_ACK(test, give(env, segment(10)), 0, 64);
	/* The first one is answered at once all the same. */
	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 10, env->now);
	EXPECT_ACK(test, give(env, segment(1)), 1, 65);
	EXPECT_VERDICT(test, give(env, segment(2)), RMPP_RX_DROP);
	rmpp_rx_init(&env->rx, &rmpp_layout_sa, MAX_BYTES, 10, env->now);
	EXPECT_VERDICT(test, give(env, segment(11)), RMPP_RX_DROP);
	KUNIT_EXPECT_EQ(test, env->rx.dropped, 1u);
}

static struct kunit_case rmpp_rx_cases[] = {
	KUNIT_CASE(acks_in_order),
	KUNIT_CASE(acks_of_in_order_transfer),
	KUNIT_CASE(acks_of_narrow_windows),
	KUNIT_CASE(small_window_is_used_up),
	KUNIT_CASE(window_never_shrinks),
	KUNIT_CASE(claim_bounds_the_window),
	KUNIT_CASE(window_of_the_moment),
	KUNIT_CASE(gap_is_told),
	KUNIT_CASE(gap_after_gap),
	KUNIT_CASE(more_than_the_gap_comes_again),
	KUNIT_CASE(reversed),
	KUNIT_CASE(duplicates_are_not_stored),
	KUNIT_CASE(widest_window),
	KUNIT_CASE(last_before_what_was_sent),
	KUNIT_CASE(two_lasts),
	KUNIT_CASE(beyond_the_last),
	KUNIT_CASE(message_of_the_bound),
	KUNIT_CASE(message_over_the_bound),
	KUNIT_CASE(claim_over_the_bound),
	KUNIT_CASE(no_room),
	KUNIT_CASE(acks_are_repeated_until_idle),
	KUNIT_CASE(few_segments_have_few_repeats),
	KUNIT_CASE(segments_put_ack_repeats_off),
	KUNIT_CASE(lone_first_segment),
	KUNIT_CASE(lone_first_segment_gives_way),
	KUNIT_CASE(second_segment_ends_that),
	KUNIT_CASE(lone_segment_of_a_response),
	KUNIT_CASE(no_ack_repeat_before_the_first),
	KUNIT_CASE(first_window),
	{}
};

static struct kunit_suite rmpp_rx_suite = {
	.name = "rmpp_rx",
	.init = rx_env_init,
	.test_cases = rmpp_rx_cases,
};

kunit_test_suite(rmpp_rx_suite);
