// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RMPP sender against receiver, ours and models of the in-tree ones, through a
 * pipe with faults. Each transfer has a seed, which a failure names; the
 * module's parameter "seed" runs that one alone.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#include "rmpp_intree.h"
#include "rmpp_pipe.h"
#include "rmpp_profiles.h"

#define RETRIES		3
/* Of our receiver: what it waits before it gives up, and lingers. */
#define RX_ENDS		(51000 * MS)
/* So late come the deadlines, at most. */
#define LATE_MS		8
/* And so long may be the wait for a turn. */
#define WAIT_MAX_MS	400

static uint only_seed;
module_param_named(seed, only_seed, uint, 0444);
MODULE_PARM_DESC(seed, "run the RMPP transfers with this seed only");

/**
 * struct pair - a transfer
 * @profile: its kind
 * @pipe: between the two
 * @now: the time
 * @layout: of the message's class
 * @segs: segments of the message
 * @last_len: PayloadLength of the last
 * @window: the widest that the receiver gives
 * @tx: our sender, if it is
 * @rx: our receiver, if it is
 * @rx_started: a message has begun for it
 * @waited: it has let the sender wait for its turn
 * @old_tx: the in-tree sender, if it is that
 * @old_rx: the in-tree receiver, if it is that
 * @tx_late: how late its next deadline will be
 * @rx_late: how late its next deadline will be
 * @used: of the time that the sender may take, in percent
 * @stored: what came, by segment; 0: did not yet
 * @posted: segments in the send queue
 * @sent: segments that were sent
 * @mistake: what is wrong; NULL: nothing so far
 */
struct pair {
	const struct profile *profile;
	struct pipe pipe;
	u64 now;
	struct rmpp_layout layout;
	u32 segs;
	u32 last_len;
	u32 window;
	struct rmpp_tx tx;
	struct rmpp_rx rx;
	bool rx_started;
	bool waited;
	struct intree_tx old_tx;
	struct intree_rx old_rx;
	u64 tx_late;
	u64 rx_late;
	u32 used;
	u32 *stored;
	u32 posted;
	u32 sent;
	const char *mistake;
};

/* The bytes of a segment, as it were; never 0. */
static u32 payload_of(u32 seg)
{
	return (seg * 2654435761u) | 1;
}

static enum rmpp_tx_state tx_state(const struct pair *pair)
{
	return pair->profile->intree_tx ? pair->old_tx.state : pair->tx.state;
}

static enum rmpp_rx_state rx_state(const struct pair *pair)
{
	return pair->profile->intree_rx ? pair->old_rx.state : pair->rx.state;
}

static u64 roll_late(struct pair *pair)
{
	return pipe_random(&pair->pipe, LATE_MS * 1000) * (u64)NSEC_PER_USEC;
}

static u64 later(u64 deadline, u64 late)
{
	return deadline == U64_MAX ? deadline : deadline + late;
}

static u64 tx_due(const struct pair *pair)
{
	if (!pair->profile->intree_tx)
		return later(rmpp_tx_deadline(&pair->tx), pair->tx_late);
	if (pair->old_tx.state != RMPP_TX_SENDING)
		return U64_MAX;
	return later(pair->old_tx.wait_until, pair->tx_late);
}

static u64 rx_due(const struct pair *pair)
{
	if (pair->profile->intree_rx)
		return later(pair->old_rx.until, pair->rx_late);
	if (!pair->rx_started)
		return U64_MAX;
	return later(rmpp_rx_deadline(&pair->rx), pair->rx_late);
}

static u32 tx_next(struct pair *pair)
{
	if (pair->profile->intree_tx)
		return intree_tx_next(&pair->old_tx);
	return rmpp_tx_next(&pair->tx, pair->now);
}

/* What the glue does after each event of the sender. */
static void tx_pump(struct pair *pair)
{
	struct rmpp_packet packet;
	u32 seg;

	while ((seg = tx_next(pair))) {
		if (seg > pair->segs)
			pair->mistake = "sent beyond the message";
		pair->sent++;
		if (++pair->posted > RMPP_TX_POSTED_MAX)
			pair->mistake = "too many in the send queue";
		packet = data_packet(seg, pair->segs, pair->last_len);
		pipe_send(&pair->pipe, PIPE_TO_RX, &packet, payload_of(seg),
			  pair->now);
	}
	if (pair->tx.state != RMPP_TX_FAILED || !rmpp_tx_must_abort(&pair->tx))
		return;
	packet = end_packet(IB_MGMT_RMPP_TYPE_ABORT, pair->tx.status);
	pipe_send(&pair->pipe, PIPE_TO_RX, &packet, 0, pair->now);
}

static void tx_receive(struct pair *pair, const struct rmpp_packet *packet)
{
	if (tx_state(pair) != RMPP_TX_SENDING)
		return;
	if (pair->profile->intree_tx)
		intree_tx_receive(&pair->old_tx, packet);
	else
		rmpp_tx_receive(&pair->tx, packet, pair->now);
	tx_pump(pair);
}

static void tx_sent(struct pair *pair)
{
	pair->posted--;
	if (pair->profile->intree_tx)
		intree_tx_sent(&pair->old_tx, pair->now);
	else
		rmpp_tx_sent(&pair->tx, pair->now);
	if (tx_state(pair) == RMPP_TX_SENDING)
		tx_pump(pair);
}

static void tx_timer(struct pair *pair)
{
	pair->tx_late = roll_late(pair);
	if (pair->profile->intree_tx)
		intree_tx_timer(&pair->old_tx, pair->now);
	else
		rmpp_tx_timer(&pair->tx, pair->now);
	tx_pump(pair);
}

/* Mostly, if all that was granted has come: now, or when its turn has come. */
static bool must_wait(struct pair *pair)
{
	bool waited = pair->waited;
	struct rmpp_rx *rx = &pair->rx;

	rx->in_turn = pair->profile->turns && !rx->rewinds;
	pair->waited = rx->in_turn && !waited && rmpp_rx_may_hold(rx) &&
		       pipe_random(&pair->pipe, 4);
	return pair->waited;
}

static void rx_answer(struct pair *pair, enum rmpp_rx_verdict verdict)
{
	struct rmpp_packet packet;
	u32 window = pair->window;

	/* Now and then others have taken the window away. */
	if (!pipe_random(&pair->pipe, 8))
		window = 1 + pipe_random(&pair->pipe, window);
	switch (verdict) {
	case RMPP_RX_ACK:
		if (pair->profile->intree_rx)
			packet = intree_rx_ack(&pair->old_rx);
		else if (must_wait(pair))
			rmpp_rx_hold(&pair->rx, pair->now + pipe_random(&pair->pipe, WAIT_MAX_MS) *
				     MS, &packet);
		else
			rmpp_rx_format_ack(&pair->rx, window, &packet);
		break;
	case RMPP_RX_ABORT:
		packet = end_packet(IB_MGMT_RMPP_TYPE_ABORT,
				    pair->profile->intree_rx ?
				    IB_MGMT_RMPP_STATUS_T2L : pair->rx.status);
		break;
	case RMPP_RX_STOP:
		pair->mistake = "STOP";
		return;
	default:
		return;
	}
	pipe_send(&pair->pipe, PIPE_TO_TX, &packet, 0, pair->now);
}

static void store(struct pair *pair, const struct pipe_event *event)
{
	u32 seg = event->packet.seg;

	if (!seg || seg > pair->segs)
		pair->mistake = "stored beyond the message";
	else if (pair->stored[seg])
		pair->mistake = "stored twice";
	else
		pair->stored[seg] = event->payload;
}

static enum rmpp_rx_verdict receive_old(struct pair *pair,
					const struct pipe_event *event)
{
	enum rmpp_rx_verdict verdict;

	verdict = intree_rx_receive(&pair->old_rx, &event->packet,
				    pair->stored);
	if (verdict != RMPP_RX_STORE)
		return verdict;
	store(pair, event);
	return intree_rx_stored(&pair->old_rx, &event->packet, pair->stored,
				pair->now);
}

static enum rmpp_rx_verdict receive_ours(struct pair *pair,
					 const struct pipe_event *event)
{
	const struct rmpp_packet *packet = &event->packet;
	enum rmpp_rx_verdict verdict;
	u8 status;

	if (!pair->rx_started) {
		verdict = rmpp_rx_check_start(packet, &status);
		if (verdict == RMPP_RX_ABORT)
			pair->mistake = "not a start";
		if (verdict != RMPP_RX_STORE)
			return RMPP_RX_DROP;
		rmpp_rx_init(&pair->rx, &pair->layout, U32_MAX, 1, pair->now);
		pair->rx_started = true;
	}
	verdict = rmpp_rx_receive(&pair->rx, packet, pair->now);
	if (verdict != RMPP_RX_STORE)
		return verdict;
	store(pair, event);
	return rmpp_rx_stored(&pair->rx, packet, pair->now);
}

static void rx_receive(struct pair *pair, const struct pipe_event *event)
{
	rx_answer(pair, pair->profile->intree_rx ? receive_old(pair, event) :
						   receive_ours(pair, event));
}

static void rx_timer(struct pair *pair)
{
	pair->rx_late = roll_late(pair);
	rx_answer(pair, pair->profile->intree_rx ?
		  intree_rx_timer(&pair->old_rx, pair->now) :
		  rmpp_rx_timer(&pair->rx, pair->now));
}

/* One event; false when there is none before @until. */
static bool step(struct pair *pair, u64 until)
{
	u64 pipe = pipe_next_at(&pair->pipe);
	u64 tx = tx_due(pair), rx = rx_due(pair);
	struct pipe_event event;
	u64 at = min(pipe, min(tx, rx));

	if (at > until)
		return false;
	pair->now = max(pair->now, at);
	if (at == pipe) {
		event = pipe_next(&pair->pipe);
		if (event.kind == PIPE_TO_RX)
			rx_receive(pair, &event);
		else if (event.kind == PIPE_TO_TX)
			tx_receive(pair, &event.packet);
		else
			tx_sent(pair);
	} else if (at == tx) {
		tx_timer(pair);
	} else {
		rx_timer(pair);
	}
	return true;
}

/* Mostly short, as log(size) is even; the window in the same way. */
static u32 random_size(struct pair *pair, u32 most)
{
	u32 size = most;

	while (size > 1 && pipe_random(&pair->pipe, 3))
		size /= 2;
	return 1 + pipe_random(&pair->pipe, size);
}

static void pair_init(struct pair *pair, const struct profile *profile,
		      u32 seed)
{
	static const u8 classes[] = {
		IB_MGMT_CLASS_SUBN_ADM,
		IB_MGMT_CLASS_DEVICE_MGMT,
		IB_MGMT_CLASS_VENDOR_RANGE2_START,
	};
	u32 class_hdr;

	pipe_init(&pair->pipe, &profile->fault, seed);
	pair->profile = profile;
	pair->now = 0;
	pair->mistake = NULL;
	pair->posted = 0;
	pair->sent = 0;
	pair->rx_started = false;
	pair->waited = false;
	pair->segs = random_size(pair, profile->segs);
	pair->window = random_size(pair, RMPP_RX_WINDOW_MAX);
	if (profile->window) {
		pair->segs = profile->segs;
		pair->window = profile->window;
	}
	pair->layout = rmpp_layout_of(classes[seed % ARRAY_SIZE(classes)],
				      seed % 2 ? 256 : 2048);
	class_hdr = pair->layout.hdr - IB_MGMT_RMPP_HDR;
	pair->last_len = class_hdr + pipe_random(&pair->pipe,
						 pair->layout.data + 1);
	memset(pair->stored, 0, (pair->segs + 2) * sizeof(*pair->stored));
	memset(&pair->rx, 0, sizeof(pair->rx));
	pair->tx_late = roll_late(pair);
	pair->rx_late = roll_late(pair);
	intree_rx_init(&pair->old_rx);
	intree_tx_init(&pair->old_tx, pair->segs, RETRIES);
	pair->old_tx.rewind = profile->rewind;
	pair->old_tx.most = profile->most;
	rmpp_tx_init(&pair->tx, pair->segs, 1, 0, RETRIES, pair->now);
}

static const char *check_message(const struct pair *pair)
{
	u32 class_hdr = pair->layout.hdr - IB_MGMT_RMPP_HDR, seg;

	for (seg = 1; seg <= pair->segs; seg++)
		if (pair->stored[seg] != payload_of(seg))
			return "wrong bytes";
	if (!pair->profile->intree_rx &&
	    rmpp_rx_data_len(&pair->rx) != pair->last_len - class_hdr +
	    (u64)(pair->segs - 1) * pair->layout.data)
		return "wrong length";
	return NULL;
}

/* Each fault of the pipe may cost some resends, but not ever more of them. */
static const char *check_resends(const struct pair *pair)
{
	const struct pipe *pipe = &pair->pipe;

	/* Our ACKs must not make it send all again and again. */
	if (pair->profile->rewind && !pair->profile->fault.lost &&
	    pair->sent > 2 * pair->segs)
		return "a storm";
	if (pair->profile->intree_tx || pair->profile->fault.cut)
		return NULL;
	if (pair->tx.resent > 4 * (pipe->lost + pipe->late + pipe->twice) + 4)
		return "too many resends";
	return NULL;
}

static const char *check_end(const struct pair *pair)
{
	enum rmpp_reason reason = pair->tx.reason;

	switch (tx_state(pair)) {
	case RMPP_TX_SENDING:
		return "the sender does not end";
	case RMPP_TX_ACKED:
		if (rx_state(pair) != RMPP_RX_DONE)
			return "acknowledged, but not complete";
		break;
	case RMPP_TX_FAILED:
		if (!pair->profile->may_fail)
			return "failed";
		if (!pair->profile->intree_tx &&
		    reason != RMPP_REASON_TIMEOUT &&
		    reason != RMPP_REASON_ABORTED)
			return "an odd reason";
		break;
	}
	if (rx_state(pair) == RMPP_RX_DONE && check_message(pair))
		return check_message(pair);
	return check_resends(pair);
}

/* Returns what is wrong, or NULL. */
static const char *run(struct pair *pair)
{
	const struct profile *profile = pair->profile;
	u64 until = profile->base_ms * MS + (u64)profile->seg_us *
		    NSEC_PER_USEC * pair->segs;
	const char *mistake;

	tx_pump(pair);
	while (!pair->mistake && tx_state(pair) == RMPP_TX_SENDING)
		if (!step(pair, until))
			break;
	pair->used = div64_u64(pair->now * 100, until);
	mistake = pair->mistake ?: check_end(pair);
	if (mistake)
		return mistake;
	/* The receiver must end, too, and nothing must go on forever. */
	until = pair->now + RX_ENDS;
	while (!pair->mistake && step(pair, until))
		;
	if (pair->mistake)
		return pair->mistake;
	if (pair->pipe.overflow)
		return "too much in the pipe";
	if (pair->pipe.count || tx_due(pair) != U64_MAX ||
	    rx_due(pair) != U64_MAX)
		return "it goes on forever";
	return pair->posted ? "the send queue is not empty" : NULL;
}

static void profile_name(const struct profile *profile, char *name)
{
	strscpy(name, profile->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(profile, profiles, profile_name);

static void transfers(struct kunit *test)
{
	const struct profile *profile = test->param_value;
	struct pair *pair = test->priv;
	const char *mistake;
	u32 i, seed, failed = 0;
	u32 used = 0, resent = 0, delivered = 0;
	u64 sent = 0, segs = 0;

	for (i = 0; i < profile->seeds; i++) {
		/* Seeds of different profiles differ, too. */
		seed = only_seed ?: (profile - profiles) * 100000 + i + 1;
		pair_init(pair, profile, seed);
		mistake = run(pair);
		if (mistake)
			KUNIT_FAIL(test, "seed %u: %s (%u segments, window %u)",
				   seed, mistake, pair->segs, pair->window);
		if (tx_state(pair) == RMPP_TX_ACKED)
			delivered++;
		resent += pair->tx.resent;
		sent += pair->sent;
		segs += pair->segs;
		used = max(used, pair->used);
		if ((mistake && ++failed == 5) || only_seed)
			break;
	}
	kunit_info(test,
		   "%s: %u delivered, %u resent, %llu sent of %llu, %u %% of the time at most",
		   profile->name, delivered, resent, sent, segs, used);
	KUNIT_EXPECT_GT(test, delivered, 0u);
}

static int pair_test_init(struct kunit *test)
{
	struct pair *pair;

	pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);
	if (!pair)
		return -ENOMEM;
	test->priv = pair;
	pair->stored = kvcalloc(SEGS_MAX + 2, sizeof(*pair->stored),
				GFP_KERNEL);
	if (!pair->stored)
		return -ENOMEM;
	return pipe_alloc(&pair->pipe);
}

static void pair_test_exit(struct kunit *test)
{
	struct pair *pair = test->priv;

	if (!pair)
		return;
	pipe_free(&pair->pipe);
	kvfree(pair->stored);
}

static struct kunit_case rmpp_pair_cases[] = {
	KUNIT_CASE_PARAM(transfers, profile_gen_params),
	{}
};

static struct kunit_suite rmpp_pair_suite = {
	.name = "rmpp_pair",
	.init = pair_test_init,
	.exit = pair_test_exit,
	.test_cases = rmpp_pair_cases,
};

kunit_test_suite(rmpp_pair_suite);
