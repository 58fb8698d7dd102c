// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RMPP sender against a receiver that says anything at any time, and a
 * send queue that is done with segments whenever it likes.
 */
#include "fuzz.h"
#include "rmpp/tx.h"

#include <linux/minmax.h>
#include <linux/time64.h>

/* The bounds of what the engine keeps to itself. */
#define CWND_MIN	64
#define CWND_MAX	4096
#define REORDERING_MAX	12
#define ATTEMPT_MAX	(2ULL * NSEC_PER_SEC)
#define SILENT_AFTER	(500ULL * NSEC_PER_MSEC)

/**
 * struct model - what the sender must be like
 * @tx: the sender
 * @before: as it was before the last call
 * @now: the time
 * @retries: that it was given
 * @posted: segments in the send queue
 * @acked: highest segment that a valid ACK named
 */
struct model {
	struct rmpp_tx tx;
	struct rmpp_tx before;
	u64 now;
	u32 retries;
	u32 posted;
	u32 acked;
};

/* What is true after each call. */
static void check(struct model *m)
{
	const struct rmpp_tx *tx = &m->tx, *before = &m->before;
	u64 deadline = rmpp_tx_deadline(tx);
	bool ended = tx->state != RMPP_TX_SENDING;

	MUST(tx->posted == m->posted);
	MUST(tx->posted <= RMPP_TX_POSTED_MAX);
	MUST(tx->una >= before->una && tx->una >= 1);
	MUST(tx->una == m->acked + 1);
	MUST(tx->next >= before->next && tx->next >= tx->una);
	MUST(tx->next - 1 <= tx->window_last);
	MUST(tx->window_last >= before->window_last);
	MUST(tx->window_last <= tx->segs && tx->window_last >= 1);
	MUST(tx->cwnd && tx->cwnd <= CWND_MAX);
	MUST(tx->reordering && tx->reordering <= REORDERING_MAX);
	MUST(tx->inflation <= CWND_MAX + tx->segs);
	MUST(tx->recover <= tx->segs);
	MUST(!tx->timed_seg || tx->timed_seg < tx->next);
	MUST(tx->rto && tx->rto <= tx->rto_max);
	MUST(tx->rto_max <= ATTEMPT_MAX);
	MUST(tx->progress_at <= m->now);

	MUST((tx->state == RMPP_TX_ACKED) == (m->acked == tx->segs));
	MUST((tx->state == RMPP_TX_FAILED) == (tx->reason != RMPP_REASON_NONE));
	MUST(rmpp_tx_must_abort(tx) == (tx->reason == RMPP_REASON_TIMEOUT ||
					tx->reason == RMPP_REASON_PROTOCOL_ERROR));
	MUST(!rmpp_tx_must_abort(tx) || tx->status);
	/* It can go, and nobody is known to be there. */
	if (rmpp_tx_is_silent(tx, m->now)) {
		MUST(!ended && !tx->posted && tx->next > tx->una);
		MUST(m->now - tx->progress_at >= SILENT_AFTER);
		MUST(m->now - tx->heard_at >= SILENT_AFTER);
	}
	/* A loss halves what is outstanding. */
	if (!ended && tx->recover && !before->recover)
		MUST(tx->cwnd <= max_t(u32, before->cwnd / 2, CWND_MIN));
	if (before->state != RMPP_TX_SENDING) {
		MUST(tx->state == before->state);
		MUST(tx->reason == before->reason);
		MUST(tx->status == before->status);
	}
	MUST(ended == (deadline == U64_MAX));
	MUST(ended || deadline);
	/* Something is posted, or an answer is waited for: not for long. */
	MUST(ended || tx->next == tx->una || deadline <= m->now + ATTEMPT_MAX);
	m->before = *tx;
}

static u32 send_some(struct model *m, u32 most)
{
	u32 before, seg, sent = 0;

	while (sent < most) {
		before = m->tx.next;
		seg = rmpp_tx_next(&m->tx, m->now);
		if (!seg)
			break;
		sent++;
		m->posted++;
		MUST(m->before.state == RMPP_TX_SENDING);
		MUST(seg <= m->tx.segs && seg <= m->tx.window_last);
		MUST(seg < m->tx.next);
		/* A new one; or of those that may be missing; or a probe. */
		MUST(seg == before || (seg >= m->tx.una && seg <= m->tx.recover) ||
		     seg == m->tx.una || seg == m->tx.una - 1);
		check(m);
	}
	MUST(sent <= RMPP_TX_POSTED_MAX);
	return sent;
}

static void sent(struct model *m, u32 most)
{
	while (m->posted && most--) {
		m->posted--;
		rmpp_tx_sent(&m->tx, m->now);
		check(m);
	}
}

static u32 take_number(struct model *m, struct input *in)
{
	const struct rmpp_tx *tx = &m->tx;
	u8 byte = take(in);

	switch (byte % 16) {
	case 0 ... 1:
		return tx->una - 1;
	case 2:
		return tx->una - 2 - byte / 16;
	case 3 ... 4:
		return tx->una + byte / 16;
	case 5 ... 6:
		return tx->next - 1;
	case 7:
		return tx->next + byte / 16;
	case 8:
		return tx->window_last;
	case 9:
		return tx->window_last + 1 + byte / 16;
	case 10:
		return tx->segs - byte / 16;
	case 11:
		return tx->segs + 1 + byte / 16;
	case 12:
		return tx->recover + byte / 16;
	case 13:
		return U32_MAX - byte / 16;
	case 14:
		return byte / 16;
	default:
		return take32(in);
	}
}

/* What the receiver says about the window: by how much it goes beyond @seg. */
static u32 take_window(struct model *m, struct input *in, u32 seg)
{
	u8 byte = take(in);

	if (byte < 0x80)
		return max(m->tx.window_last, seg + byte);
	if (byte < 0xc0)
		return seg + (byte & 0x3f) * 16;
	return take_number(m, in);
}

static void receive(struct model *m, struct input *in, bool valid)
{
	struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_ACK,
		.flags = IB_MGMT_RMPP_FLAG_ACTIVE,
	};
	bool was_sending = m->tx.state == RMPP_TX_SENDING;
	bool ends, old;

	packet.seg = take_number(m, in);
	packet.len = take_window(m, in, packet.seg);
	if (!valid) {
		packet.type = take(in) % 6;
		packet.status = take(in);
		if (packet.status & 1)
			packet.status = 0;
		if (take(in) > 0xf0)
			packet.version = take(in);
	}
	/* Judged by the specification's rules, Figure 178. */
	ends = packet.type == IB_MGMT_RMPP_TYPE_STOP ||
	       packet.type == IB_MGMT_RMPP_TYPE_ABORT ||
	       packet.version != IB_MGMT_RMPP_VERSION ||
	       (packet.type != IB_MGMT_RMPP_TYPE_ACK &&
		packet.type != IB_MGMT_RMPP_TYPE_DATA) ||
	       (packet.type == IB_MGMT_RMPP_TYPE_ACK &&
		(packet.status || packet.len < packet.seg ||
		 packet.seg >= m->tx.next));
	old = !ends && (packet.type == IB_MGMT_RMPP_TYPE_DATA ||
			packet.seg < m->acked);
	if (was_sending && !ends && packet.type == IB_MGMT_RMPP_TYPE_ACK)
		m->acked = max(m->acked, packet.seg);
	rmpp_tx_receive(&m->tx, &packet, m->now);
	if (was_sending)
		MUST(ends == (m->tx.state == RMPP_TX_FAILED));
	/* What comes late, or from a confused peer, is as if it had not. */
	if (was_sending && old)
		MUST(!memcmp(&m->tx, &m->before, sizeof(m->tx)));
	check(m);
}

/* All goes well for a while: windows and what is outstanding become large. */
static void go_well(struct model *m, u32 rounds)
{
	struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_ACK,
		.flags = IB_MGMT_RMPP_FLAG_ACTIVE,
	};

	while (rounds-- && m->tx.state == RMPP_TX_SENDING) {
		send_some(m, U32_MAX);
		m->now += NSEC_PER_MSEC;
		sent(m, U32_MAX);
		packet.seg = m->tx.next - 1;
		packet.len = packet.seg + 1024;
		m->acked = packet.seg;
		rmpp_tx_receive(&m->tx, &packet, m->now);
		check(m);
	}
}

static void timer(struct model *m)
{
	rmpp_tx_timer(&m->tx, m->now);
	check(m);
}

/* What it wants to send waits for a turn: nothing becomes due by that. */
static void held(struct model *m, u64 time)
{
	bool due = rmpp_tx_deadline(&m->tx) <= m->now;
	u64 since = m->now;

	m->now += time;
	rmpp_tx_held(&m->tx, since, m->now);
	check(m);
	MUST(due || rmpp_tx_deadline(&m->tx) > m->now);
}

/* Nobody answers any more: it ends, after a bounded number of time-outs. */
static void leave_alone(struct model *m)
{
	/* From 20 ms to 2 s by doubling, then once or twice an attempt. */
	u64 bound = 16 + 4ULL * (m->retries + 1);
	u64 attempts = 0, deadline;

	if (m->retries > 20 || m->tx.window_last - m->tx.next > 2048)
		return;
	bound += 4 * (m->tx.window_last + 1 - m->tx.next);
	while (m->tx.state == RMPP_TX_SENDING) {
		MUST(attempts++ < bound);
		send_some(m, U32_MAX);
		sent(m, U32_MAX);
		deadline = rmpp_tx_deadline(&m->tx);
		m->now = max(m->now, deadline);
		timer(m);
	}
}

/* Its memory is needed. */
static void give_way(struct model *m)
{
	if (m->tx.state != RMPP_TX_SENDING)
		return;
	rmpp_tx_no_memory(&m->tx);
	MUST(m->tx.state == RMPP_TX_FAILED && !rmpp_tx_may_send(&m->tx));
	check(m);
}

/* As if the first @segs segments had been acknowledged one by one. */
static void skip(struct model *m, u32 segs)
{
	struct rmpp_tx *tx = &m->tx;

	if (tx->next != 1 || segs >= tx->segs)
		return;
	tx->una = segs + 1;
	tx->next = segs + 1;
	tx->window_last = max(tx->window_last, segs + 1);
	m->acked = segs;
	check(m);
}

void fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct model model = {}, *m = &model;
	u8 shape = take(&in);
	u32 segs = shape & 0x01 ? take32(&in) & S32_MAX : take16(&in);
	u32 timeout = shape & 0x02 ? take32(&in) : shape;

	m->retries = shape & 0x04 ? take32(&in) : shape / 16;
	m->now = shape & 0x08 ? 0 : NSEC_PER_SEC;
	rmpp_tx_init(&m->tx, segs ?: 1, shape & 0x40 ? take32(&in) : 1,
		     timeout, m->retries, m->now);
	m->before = m->tx;
	check(m);
	if (shape & 0x80)
		skip(m, take32(&in) % m->tx.segs);

	while (in.left) {
		u8 byte = take(&in);

		switch (byte % 16) {
		case 0:
			sent(m, byte / 16 + 1);
			break;
		case 1:
			sent(m, U32_MAX);
			break;
		case 2:
			m->now += take_time(&in);
			timer(m);
			break;
		case 3:
			if (m->tx.state == RMPP_TX_SENDING)
				m->now = max(m->now, rmpp_tx_deadline(&m->tx));
			timer(m);
			break;
		case 4:
			m->now += take_time(&in);
			break;
		case 5 ... 6:
			send_some(m, byte / 16 + 1);
			break;
		case 7 ... 9:
			send_some(m, U32_MAX);
			break;
		case 10:
			receive(m, &in, false);
			break;
		case 11:
			go_well(m, byte / 16 * 8);
			break;
		case 12:
			if (byte == 0xfc)
				give_way(m);
			else if (rmpp_tx_may_send(&m->tx))
				held(m, take_time(&in));
			break;
		default:
			receive(m, &in, true);
			break;
		}
	}
	leave_alone(m);
}
