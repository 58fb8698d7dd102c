// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The RMPP sender alone: each packet in each state, windows, and endings. */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "rmpp_tx_env.h"

static void expect_failed(struct kunit *test, enum rmpp_reason reason,
			  u8 status)
{
	struct tx_env *env = test->priv;

	KUNIT_EXPECT_EQ(test, (int)env->tx.state, (int)RMPP_TX_FAILED);
	KUNIT_EXPECT_EQ(test, (int)env->tx.reason, (int)reason);
	KUNIT_EXPECT_EQ(test, (int)env->tx.status, (int)status);
	KUNIT_EXPECT_EQ(test, rmpp_tx_must_abort(&env->tx),
			reason == RMPP_REASON_TIMEOUT ||
			reason == RMPP_REASON_PROTOCOL_ERROR);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&env->tx, env->now), 0u);
	KUNIT_EXPECT_EQ(test, rmpp_tx_deadline(&env->tx), U64_MAX);
}

/**
 * struct ending - a packet and what it does to a sender with 2 to 65 out
 * @name: of the case
 * @packet: that comes
 * @reason: why it has then failed; RMPP_REASON_NONE: it goes on
 * @status: then
 */
struct ending {
	const char *name;
	struct rmpp_packet packet;
	enum rmpp_reason reason;
	u8 status;
};

#define P(_version, _type, _status, _seg, _len) \
	{ .version = _version, .type = IB_MGMT_RMPP_TYPE_##_type, \
	  .flags = IB_MGMT_RMPP_FLAG_ACTIVE, .status = _status, \
	  .seg = _seg, .len = _len }
/* Types that are none. */
#define IB_MGMT_RMPP_TYPE_NONE	0
#define IB_MGMT_RMPP_TYPE_FIVE	5

static const struct ending endings[] = {
	{ "ACK of some", P(1, ACK, 0, 10, 65) },
	{ "ACK of all sent", P(1, ACK, 0, 65, 129) },
	{ "ACK with a closed window", P(1, ACK, 0, 65, 65) },
	{ "ACK beyond the message's end", P(1, ACK, 0, 65, 5000) },
	{ "ACK, old", P(1, ACK, 0, 0, 1) },
	{ "ACK, repeated", P(1, ACK, 0, 1, 65) },
	{ "ACK, narrower window", P(1, ACK, 0, 10, 20) },
	{ "ACK, status", P(1, ACK, 1, 10, 65),
	  RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_BAD_STATUS },
	{ "ACK, window below it", P(1, ACK, 0, 10, 9),
	  RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_W2S },
	{ "ACK, not yet sent", P(1, ACK, 0, 66, 130),
	  RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_S2B },
	{ "ACK, beyond the message", P(1, ACK, 0, 1001, 1100),
	  RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_S2B },
	{ "ACK, highest number", P(1, ACK, 0, U32_MAX, U32_MAX),
	  RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_S2B },
	{ "ACK, version", P(2, ACK, 0, 10, 65),
	  RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_UNV },
	{ "DATA", P(1, DATA, 0, 1, 220) },
	{ "no type", P(1, NONE, 0, 0, 0),
	  RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_BADT },
	{ "type 5", P(1, FIVE, 0, 0, 0),
	  RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_BADT },
	{ "STOP", P(1, STOP, 1, 0, 0), RMPP_REASON_STOPPED, 1 },
	{ "STOP, odd status", P(1, STOP, 77, 0, 0), RMPP_REASON_STOPPED, 77 },
	{ "STOP, version", P(9, STOP, 1, 0, 0), RMPP_REASON_STOPPED, 1 },
	{ "ABORT", P(1, ABORT, 118, 0, 0), RMPP_REASON_ABORTED,
	  118 },
	{ "ABORT, status 0", P(1, ABORT, 0, 0, 0), RMPP_REASON_ABORTED, 0 },
	{ "ABORT, version", P(0, ABORT, 127, 0, 0), RMPP_REASON_ABORTED, 127 },
};

static void ending_name(const struct ending *ending, char *name)
{
	strscpy(name, ending->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ending, endings, ending_name);

static void packet_while_sending(struct kunit *test)
{
	const struct ending *ending = test->param_value;
	struct tx_env *env = test->priv;

	open_window(test);
	rmpp_tx_receive(&env->tx, &ending->packet, env->now);
	if (ending->reason) {
		expect_failed(test, ending->reason, ending->status);
		return;
	}
	KUNIT_EXPECT_EQ(test, (int)env->tx.state, (int)RMPP_TX_SENDING);
	KUNIT_EXPECT_GE(test, env->tx.window_last, 65u);
	KUNIT_EXPECT_LE(test, env->tx.window_last, (u32)SEGS);
}

/* What has ended is not changed by anything any more. */
static void packet_when_acked(struct kunit *test)
{
	const struct ending *ending = test->param_value;
	struct tx_env *env = test->priv;

	rmpp_tx_init(&env->tx, 1, 1, 0, 2, env->now);
	drain(env);
	ack(env, 1, 65);
	KUNIT_ASSERT_EQ(test, (int)env->tx.state, (int)RMPP_TX_ACKED);
	rmpp_tx_receive(&env->tx, &ending->packet, env->now);
	rmpp_tx_timer(&env->tx, env->now + PATIENCE);
	KUNIT_EXPECT_EQ(test, (int)env->tx.state, (int)RMPP_TX_ACKED);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&env->tx, env->now), 0u);
	KUNIT_EXPECT_EQ(test, rmpp_tx_deadline(&env->tx), U64_MAX);
	KUNIT_EXPECT_FALSE(test, rmpp_tx_must_abort(&env->tx));
}

static void packet_when_failed(struct kunit *test)
{
	struct rmpp_packet stop = end_packet(IB_MGMT_RMPP_TYPE_STOP, 1);
	const struct ending *ending = test->param_value;
	struct tx_env *env = test->priv;

	open_window(test);
	rmpp_tx_receive(&env->tx, &stop, env->now);
	rmpp_tx_receive(&env->tx, &ending->packet, env->now);
	rmpp_tx_timer(&env->tx, env->now + PATIENCE);
	expect_failed(test, RMPP_REASON_STOPPED, 1);
}

static void window_of_one_at_first(struct kunit *test)
{
	struct tx_env *env = test->priv;

	KUNIT_EXPECT_EQ(test, drain(env), 1u);
	KUNIT_EXPECT_EQ(test, env->first, 1u);
	KUNIT_EXPECT_EQ(test, drain(env), 0u);
}

static void window_of_the_turn_around(struct kunit *test)
{
	struct tx_env *env = test->priv;

	rmpp_tx_init(&env->tx, SEGS, 20, 0, 2, env->now);
	KUNIT_EXPECT_EQ(test, drain(env), 20u);
	rmpp_tx_init(&env->tx, 3, 20, 0, 2, env->now);
	KUNIT_EXPECT_EQ(test, drain(env), 3u);
	rmpp_tx_init(&env->tx, 3, 0, 0, 2, env->now);
	KUNIT_EXPECT_EQ(test, drain(env), 1u);
}

static void window_never_shrinks(struct kunit *test)
{
	struct tx_env *env = test->priv;

	open_window(test);
	ack(env, 65, 165);
	KUNIT_EXPECT_EQ(test, env->tx.window_last, 165u);
	ack(env, 100, 100);
	KUNIT_EXPECT_EQ(test, env->tx.window_last, 165u);
	KUNIT_EXPECT_EQ(test, ack(env, 165, 5000) + env->tx.una, SEGS + 1u);
	KUNIT_EXPECT_EQ(test, env->tx.window_last, (u32)SEGS);
}

/* The same number with a wider window is news, and no sign of a loss. */
static void window_update_is_no_repeat(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	open_window(test);
	env->tx.cwnd = 200;
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, ack(env, 1, 66 + i), 1u);
	KUNIT_EXPECT_EQ(test, env->tx.resent, 0u);
	KUNIT_EXPECT_EQ(test, env->last, 75u);
}

static void old_ack_is_let_pass(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	open_window(test);
	ack(env, 40, 165);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, ack(env, 20, 300), 0u);
	KUNIT_EXPECT_EQ(test, env->tx.una, 41u);
	KUNIT_EXPECT_EQ(test, env->tx.window_last, 165u);
	KUNIT_EXPECT_EQ(test, env->tx.resent, 0u);
}

static void few_in_the_send_queue(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 i;

	drain(env);
	env->now += MS;
	KUNIT_ASSERT_EQ(test, (int)env->tx.posted, 0);
	ack(env, 1, 1);
	ack(env, 1, 0);
	rmpp_tx_init(&env->tx, SEGS, SEGS, 0, 2, env->now);
	for (i = 1; i <= RMPP_TX_POSTED_MAX; i++)
		KUNIT_EXPECT_EQ(test, rmpp_tx_next(&env->tx, env->now), i);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&env->tx, env->now), 0u);
	rmpp_tx_sent(&env->tx, env->now);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&env->tx, env->now), i);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&env->tx, env->now), 0u);
}

/* A full send queue is no silence of the receiver's. */
static void posted_does_not_time_out(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u64 rto = env->tx.rto;

	KUNIT_ASSERT_EQ(test, rmpp_tx_next(&env->tx, env->now), 1u);
	expire(env);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&env->tx, env->now), 0u);
	KUNIT_EXPECT_EQ(test, env->tx.rto, rto);
	rmpp_tx_sent(&env->tx, env->now);
	expire(env);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&env->tx, env->now), 1u);
	KUNIT_EXPECT_EQ(test, env->tx.rto, 2 * rto);
}

/* Its caller made it wait for longer than its patience: it sends nevertheless. */
static void wait_for_a_turn_costs_no_patience(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u64 due;

	open_window(test);
	due = rmpp_tx_deadline(&env->tx);
	KUNIT_EXPECT_FALSE(test, rmpp_tx_will_resend(&env->tx, due - 1));
	KUNIT_EXPECT_TRUE(test, rmpp_tx_will_resend(&env->tx, due));
	due = env->now + PATIENCE - 1000 * MS;
	KUNIT_EXPECT_TRUE(test, rmpp_tx_will_resend(&env->tx, due));
	env->now = due + 4000 * MS;
	KUNIT_EXPECT_FALSE(test, rmpp_tx_will_resend(&env->tx, env->now));
	rmpp_tx_waited(&env->tx, due, env->now);
	rmpp_tx_timer(&env->tx, env->now);
	KUNIT_EXPECT_EQ(test, (int)env->tx.state, (int)RMPP_TX_SENDING);
	KUNIT_EXPECT_EQ(test, drain(env), 2u);
	/* Nor is time given twice. */
	rmpp_tx_waited(&env->tx, 0, env->now);
	KUNIT_EXPECT_LE(test, env->tx.progress_at, env->now);
}

/* One that never answers is waited for 8 s in all, however many turns that is. */
static void waits_have_an_end(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u64 begun = env->now, due;

	rmpp_tx_init(&env->tx, 1, 1, 1000, 0, env->now);
	drain(env);
	while (env->tx.state == RMPP_TX_SENDING && env->now - begun < 30000 * MS) {
		due = rmpp_tx_deadline(&env->tx);
		KUNIT_EXPECT_GE(test, begun + 9000 * MS,
				rmpp_tx_wait_deadline(&env->tx, due));
		env->now = due + 500 * MS;
		rmpp_tx_waited(&env->tx, due, env->now);
		rmpp_tx_timer(&env->tx, env->now);
		drain(env);
	}
	KUNIT_EXPECT_GE(test, 10000 * MS, env->now - begun);
	expect_failed(test, RMPP_REASON_TIMEOUT, IB_MGMT_RMPP_STATUS_TMR);
}

/* What was acknowledged while it waited counts. */
static void wait_begins_with_the_last_progress(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u64 since;

	open_window(test);
	since = env->now;
	env->now += 9000 * MS;
	ack(env, 10, 65);
	KUNIT_EXPECT_EQ(test, rmpp_tx_wait_deadline(&env->tx, since),
			env->now + 8000 * MS);
}

/* Its receiver, if it had all, does not know any more that it had. */
static void wait_for_long_costs_patience(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u64 due;

	open_window(test);
	due = env->now + PATIENCE - 1000 * MS;
	env->now = due + 8000 * MS;
	rmpp_tx_waited(&env->tx, due, env->now);
	rmpp_tx_timer(&env->tx, env->now);
	expect_failed(test, RMPP_REASON_TIMEOUT, IB_MGMT_RMPP_STATUS_TMR);
}

static void timer_too_soon(struct kunit *test)
{
	struct tx_env *env = test->priv;

	open_window(test);
	rmpp_tx_timer(&env->tx, rmpp_tx_deadline(&env->tx) - 1);
	KUNIT_EXPECT_EQ(test, drain(env), 0u);
	expire(env);
	KUNIT_EXPECT_EQ(test, drain(env), 2u);
}

/* The gap, and then what makes an in-tree receiver tell its position. */
static void time_out_sends_hole_and_probe(struct kunit *test)
{
	struct tx_env *env = test->priv;

	open_window(test);
	expire(env);
	KUNIT_EXPECT_EQ(test, drain(env), 2u);
	KUNIT_EXPECT_EQ(test, env->first, 2u);
	KUNIT_EXPECT_EQ(test, env->last, 1u);
	/* It stops short: the same for the next gap. */
	KUNIT_EXPECT_EQ(test, ack(env, 30, 65), 2u);
	KUNIT_EXPECT_EQ(test, env->first, 31u);
	KUNIT_EXPECT_EQ(test, env->last, 30u);
	KUNIT_EXPECT_EQ(test, ack(env, 65, 129), 64u);
	KUNIT_EXPECT_EQ(test, env->tx.resent, 4u);
}

static void no_probe_before_the_first_ack(struct kunit *test)
{
	struct tx_env *env = test->priv;

	drain(env);
	expire(env);
	KUNIT_EXPECT_EQ(test, drain(env), 1u);
	KUNIT_EXPECT_EQ(test, env->first, 1u);
}

/*
 * It may have all, and have forgotten it after 10 s: the first segment would begin the
 * message again.
 */
static void no_first_segment_after_a_long_silence(struct kunit *test)
{
	struct tx_env *env = test->priv;
	unsigned int late = 0;
	u64 heard;

	rmpp_tx_init(&env->tx, 3, 1, 2000, 9, env->now);
	KUNIT_EXPECT_EQ(test, drain(env), 1u);
	KUNIT_EXPECT_EQ(test, ack(env, 1, 3), 2u);
	heard = env->now;
	for (expire(env); env->tx.state == RMPP_TX_SENDING; expire(env)) {
		if (env->now - heard < 8000 * MS) {
			KUNIT_EXPECT_EQ(test, drain(env), 2u);
			continue;
		}
		late++;
		KUNIT_EXPECT_EQ(test, drain(env), 1u);
		KUNIT_EXPECT_EQ(test, env->last, 2u);
	}
	KUNIT_EXPECT_LE(test, 3u, late);
	expect_failed(test, RMPP_REASON_TIMEOUT, IB_MGMT_RMPP_STATUS_TMR);
}

/* What is missing is its end, which any receiver answers that it comes to again: twice that. */
static void no_first_segment_of_two(struct kunit *test)
{
	struct tx_env *env = test->priv;

	rmpp_tx_init(&env->tx, 2, 1, 2000, 3, env->now);
	KUNIT_EXPECT_EQ(test, drain(env), 1u);
	KUNIT_EXPECT_EQ(test, ack(env, 1, 2), 1u);
	for (expire(env); env->tx.state == RMPP_TX_SENDING; expire(env)) {
		KUNIT_EXPECT_EQ(test, drain(env), 2u);
		KUNIT_EXPECT_EQ(test, env->first, 2u);
		KUNIT_EXPECT_EQ(test, env->last, 2u);
	}
	expect_failed(test, RMPP_REASON_TIMEOUT, IB_MGMT_RMPP_STATUS_TMR);
}

/* It cannot have it all: whatever it has, a probe alone makes an in-tree one say so. */
static void probe_of_the_middle_after_a_long_silence(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u64 begun;

	rmpp_tx_init(&env->tx, SEGS, 1, 2000, 9, env->now);
	drain(env);
	begun = env->now;
	KUNIT_EXPECT_EQ(test, ack(env, 1, 65), 64u);
	while (env->now - begun < 12000 * MS)
		expire(env);
	KUNIT_EXPECT_EQ(test, drain(env), 2u);
	KUNIT_EXPECT_EQ(test, env->last, 1u);
}

/* All was acknowledged, and the window closed: ask, but not soon, until it opens. */
static void closed_window_is_asked_about(struct kunit *test)
{
	struct tx_env *env = test->priv;

	open_window(test);
	KUNIT_EXPECT_EQ(test, ack(env, 65, 65), 0u);
	KUNIT_EXPECT_EQ(test, rmpp_tx_deadline(&env->tx), env->now + 500 * MS);
	expire(env);
	KUNIT_EXPECT_EQ(test, drain(env), 1u);
	KUNIT_EXPECT_EQ(test, env->first, 65u);
	KUNIT_EXPECT_EQ(test, ack(env, 65, 75), 10u);
	KUNIT_EXPECT_EQ(test, env->first, 66u);
}

/* Twice as long each time, to the ceiling, until the patience is at an end. */
static void silence_ends_it(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u64 begin = env->now, wait = 100 * MS;
	u32 sent = drain(env);

	while (env->now + wait < begin + PATIENCE) {
		KUNIT_EXPECT_EQ(test, rmpp_tx_deadline(&env->tx),
				env->now + wait);
		expire(env);
		KUNIT_ASSERT_EQ(test, (int)env->tx.state,
				(int)RMPP_TX_SENDING);
		sent += drain(env);
		wait = min(2 * wait, 2000 * MS);
	}
	KUNIT_EXPECT_EQ(test, sent, 7u);
	expire(env);
	KUNIT_EXPECT_EQ(test, env->now - begin, PATIENCE);
	expect_failed(test, RMPP_REASON_TIMEOUT, IB_MGMT_RMPP_STATUS_TMR);
}

/* Its caller had read the clock, and then another thread took an ACK. */
static void timer_with_an_older_clock(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u64 before;

	open_window(test);
	before = env->now + PATIENCE - 2;
	env->now = before + 1;
	ack(env, 2, 65);
	KUNIT_EXPECT_TRUE(test, !rmpp_tx_will_resend(&env->tx, before));
	rmpp_tx_timer(&env->tx, before);
	KUNIT_EXPECT_EQ(test, (int)env->tx.state, (int)RMPP_TX_SENDING);
}

static void patience_is_renewed(struct kunit *test)
{
	struct tx_env *env = test->priv;
	u32 seg;

	open_window(test);
	/* Much longer than the patience, but never silent. */
	for (seg = 2; seg < 30; seg++) {
		env->now += PATIENCE - 1;
		rmpp_tx_timer(&env->tx, env->now);
		ack(env, seg, 65);
		KUNIT_ASSERT_EQ(test, (int)env->tx.state,
				(int)RMPP_TX_SENDING);
	}
	/* Repetition is no progress. */
	env->now += PATIENCE - 1;
	ack(env, seg - 1, 65);
	KUNIT_EXPECT_LE(test, rmpp_tx_deadline(&env->tx), env->now + 1);
	env->now++;
	rmpp_tx_timer(&env->tx, env->now);
	expect_failed(test, RMPP_REASON_TIMEOUT, IB_MGMT_RMPP_STATUS_TMR);
}

/* A slow send queue of our own is not the receiver's silence. */
static void patience_begins_when_it_is_sent(struct kunit *test)
{
	struct tx_env *env = test->priv;

	rmpp_tx_init(&env->tx, SEGS, SEGS, 100, 0, env->now);
	rmpp_tx_next(&env->tx, env->now);
	env->now += 90 * MS;
	rmpp_tx_next(&env->tx, env->now);
	env->now += 500 * MS;
	rmpp_tx_timer(&env->tx, env->now);
	KUNIT_EXPECT_EQ(test, (int)env->tx.state, (int)RMPP_TX_SENDING);
	rmpp_tx_sent(&env->tx, env->now);
	rmpp_tx_sent(&env->tx, env->now);
	env->now += 99 * MS;
	rmpp_tx_timer(&env->tx, env->now);
	KUNIT_EXPECT_EQ(test, (int)env->tx.state, (int)RMPP_TX_SENDING);
	env->now += MS;
	rmpp_tx_timer(&env->tx, env->now);
	expect_failed(test, RMPP_REASON_TIMEOUT, IB_MGMT_RMPP_STATUS_TMR);
}

/* But its silence before that counts, or sending again would never end. */
static void patience_goes_on_after_sending_again(struct kunit *test)
{
	struct tx_env *env = test->priv;

	rmpp_tx_init(&env->tx, 1, 1, 1000, 0, env->now);
	rmpp_tx_next(&env->tx, env->now);
	rmpp_tx_sent(&env->tx, env->now);
	env->now += 100 * MS;
	rmpp_tx_timer(&env->tx, env->now);
	KUNIT_ASSERT_EQ(test, rmpp_tx_next(&env->tx, env->now), 1u);
	env->now += 5000 * MS;
	rmpp_tx_timer(&env->tx, env->now);
	KUNIT_EXPECT_EQ(test, (int)env->tx.state, (int)RMPP_TX_SENDING);
	rmpp_tx_sent(&env->tx, env->now);
	rmpp_tx_timer(&env->tx, env->now + 899 * MS);
	KUNIT_EXPECT_EQ(test, (int)env->tx.state, (int)RMPP_TX_SENDING);
	KUNIT_EXPECT_LE(test, rmpp_tx_deadline(&env->tx), env->now + 900 * MS);
	env->now += 900 * MS;
	rmpp_tx_timer(&env->tx, env->now);
	expect_failed(test, RMPP_REASON_TIMEOUT, IB_MGMT_RMPP_STATUS_TMR);
}

/**
 * struct attempt - what a program asks for and gets
 * @timeout_ms: as written
 * @retries: as written
 * @give_up_after: how long the sender then waits, in ms
 */
struct attempt {
	u32 timeout_ms;
	u32 retries;
	u64 give_up_after;
};

static const struct attempt attempts[] = {
	{ 0, 0, 2000 }, { 0, 3, 8000 }, { 5, 9, 50 }, { 1500, 1, 3000 }, { 2000, 0, 2000 },
	{ 5, 0, 5 }, { 2001, 0, 2000 }, { U32_MAX, 2, 6000 }, { 2000, U32_MAX, 2000ULL << 32 },
};

static void attempt_name(const struct attempt *attempt, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "%u ms, %u retries",
		 attempt->timeout_ms, attempt->retries);
}

KUNIT_ARRAY_PARAM(attempt, attempts, attempt_name);

static void time_outs_and_retries(struct kunit *test)
{
	const struct attempt *attempt = test->param_value;
	struct tx_env *env = test->priv;
	u64 end = env->now + attempt->give_up_after * MS;

	rmpp_tx_init(&env->tx, 1, 1, attempt->timeout_ms, attempt->retries,
		     env->now);
	KUNIT_EXPECT_LE(test, env->tx.rto_max, 2000 * MS);
	drain(env);
	rmpp_tx_timer(&env->tx, end - 1);
	KUNIT_EXPECT_EQ(test, (int)env->tx.state, (int)RMPP_TX_SENDING);
	drain(env);
	KUNIT_EXPECT_LE(test, rmpp_tx_deadline(&env->tx), end);
	rmpp_tx_timer(&env->tx, end);
	expect_failed(test, RMPP_REASON_TIMEOUT, IB_MGMT_RMPP_STATUS_TMR);
}

static struct kunit_case rmpp_tx_cases[] = {
	KUNIT_CASE_PARAM(packet_while_sending, ending_gen_params),
	KUNIT_CASE_PARAM(packet_when_acked, ending_gen_params),
	KUNIT_CASE_PARAM(packet_when_failed, ending_gen_params),
	KUNIT_CASE(window_of_one_at_first),
	KUNIT_CASE(window_of_the_turn_around),
	KUNIT_CASE(window_never_shrinks),
	KUNIT_CASE(window_update_is_no_repeat),
	KUNIT_CASE(old_ack_is_let_pass),
	KUNIT_CASE(few_in_the_send_queue),
	KUNIT_CASE(posted_does_not_time_out),
	KUNIT_CASE(wait_for_a_turn_costs_no_patience),
	KUNIT_CASE(waits_have_an_end),
	KUNIT_CASE(wait_begins_with_the_last_progress),
	KUNIT_CASE(wait_for_long_costs_patience),
	KUNIT_CASE(timer_too_soon),
	KUNIT_CASE(time_out_sends_hole_and_probe),
	KUNIT_CASE(no_probe_before_the_first_ack),
	KUNIT_CASE(no_first_segment_after_a_long_silence),
	KUNIT_CASE(no_first_segment_of_two),
	KUNIT_CASE(probe_of_the_middle_after_a_long_silence),
	KUNIT_CASE(closed_window_is_asked_about),
	KUNIT_CASE(silence_ends_it),
	KUNIT_CASE(timer_with_an_older_clock),
	KUNIT_CASE(patience_is_renewed),
	KUNIT_CASE(patience_begins_when_it_is_sent),
	KUNIT_CASE(patience_goes_on_after_sending_again),
	KUNIT_CASE_PARAM(time_outs_and_retries, attempt_gen_params),
	{}
};

static struct kunit_suite rmpp_tx_suite = {
	.name = "rmpp_tx",
	.init = tx_env_init,
	.test_cases = rmpp_tx_cases,
};

kunit_test_suite(rmpp_tx_suite);
