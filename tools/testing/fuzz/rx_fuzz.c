// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RMPP receiver: any packet at any time, beside a model of which segments
 * it has stored.
 */
#include "fuzz.h"
#include "rmpp/rx.h"

#include <linux/minmax.h>
#include <linux/time64.h>

/* Segments that the model keeps; what lies beyond is given back as no room. */
#define MODEL_SEGS	8192
/* Longer than any wait of a receiver. */
#define WAIT_MAX	(41ULL * NSEC_PER_SEC)
/*
 * One segment alone, that nobody asked for, is looked at after this, and does not wait longer
 * if others need its place.
 */
#define LONE_MAX	(6ULL * NSEC_PER_SEC)
/* A complete message does not linger for longer than this, whatever comes. */
#define LINGER_MAX	(50ULL * NSEC_PER_SEC)

/**
 * struct model - what the receiver must be like
 * @rx: the receiver
 * @before: as it was before the last call
 * @now: the time
 * @done_at: when the message became complete
 * @first_missing: lowest segment that was not stored
 * @stored: by segment
 * @max_bytes: the bound it was given
 * @last: segment that was stored with the Last flag, or 0
 */
struct model {
	struct rmpp_rx rx;
	struct rmpp_rx before;
	u64 now, done_at;
	u32 first_missing;
	bool stored[MODEL_SEGS + 2];
	u64 max_bytes;
	u32 last;
};

static struct model model;

/* What is true after each call. */
static void check(struct model *m)
{
	const struct rmpp_rx *rx = &m->rx, *before = &m->before;
	u64 deadline = rmpp_rx_deadline(rx);

	MUST(rx->state >= before->state);
	MUST(rx->window_last >= before->window_last);
	MUST(rx->expected >= before->expected);
	MUST(rx->acked >= before->acked);
	MUST(rx->highest >= before->highest);
	MUST(rx->acked < rx->expected);
	MUST(rx->expected == m->first_missing);
	MUST(rx->expected <= rx->highest + 1);
	MUST(rx->highest <= rx->window_last);
	MUST(rx->highest < rx->expected ||
	     rx->highest - rx->expected < RMPP_RX_WINDOW_MAX);
	MUST(rx->highest <= rx->max_segs);
	MUST(rx->window >= 1 && rx->window <= RMPP_RX_WINDOW_MAX);
	MUST(rx->window_last - (rx->expected - 1) <= RMPP_RX_WINDOW_MAX);
	MUST(rx->last == m->last);
	MUST(!rx->last || rx->highest <= rx->last);
	MUST(rx->repwin >= 1 && rx->repwin <= S32_MAX);

	if (before->state == RMPP_RX_CLOSED)
		MUST(!memcmp(rx, before, sizeof(*rx)));
	if (rx->state == RMPP_RX_CLOSED)
		MUST(deadline == U64_MAX);
	else
		MUST(deadline <= m->now + WAIT_MAX);
	if (rx->state == RMPP_RX_REASSEMBLING && !rx->solicited && rx->highest <= 1)
		MUST(deadline <= m->now + LONE_MAX);
	if (rx->state == RMPP_RX_DONE) {
		if (before->state != RMPP_RX_DONE)
			m->done_at = m->now;
		MUST(deadline <= m->done_at + LINGER_MAX);
		MUST(rx->last && m->first_missing == rx->last + 1);
		MUST(rmpp_rx_data_len(rx) <= (u64)rx->last * rx->layout.data);
		MUST(rmpp_rx_data_len(rx) >=
		     (u64)(rx->last - 1) * rx->layout.data);
		MUST(rmpp_rx_data_len(rx) <=
		     m->max_bytes + rx->layout.data - 1);
	}
	m->before = *rx;
}

/* What goes with each verdict. */
static void check_verdict(struct model *m, enum rmpp_rx_verdict verdict)
{
	enum rmpp_rx_state was = m->before.state;

	switch (verdict) {
	case RMPP_RX_DROP:
		MUST(m->rx.state == was);
		break;
	case RMPP_RX_STORE:
		MUST(was == RMPP_RX_REASSEMBLING && m->rx.state == was);
		break;
	case RMPP_RX_ACK:
		MUST(was != RMPP_RX_CLOSED && m->rx.state != RMPP_RX_CLOSED);
		break;
	case RMPP_RX_ABORT:
	case RMPP_RX_STOP:
		MUST(was == RMPP_RX_REASSEMBLING && m->rx.state == RMPP_RX_CLOSED);
		MUST(m->rx.status);
		MUST((m->rx.status == IB_MGMT_RMPP_STATUS_RESX) ==
		     (verdict == RMPP_RX_STOP));
		break;
	case RMPP_RX_CLOSE:
		MUST(was != RMPP_RX_CLOSED && m->rx.state == RMPP_RX_CLOSED);
		break;
	}
}

static void send_ack(struct model *m, struct input *in)
{
	u8 window = take(in);
	struct rmpp_packet ack;
	bool hold;

	if (m->rx.state == RMPP_RX_CLOSED)
		return;
	m->rx.in_turn = window & 2;
	hold = window > 250 && rmpp_rx_may_hold(&m->rx);
	if (hold)
		rmpp_rx_hold(&m->rx, m->now + take(in) * NSEC_PER_MSEC, &ack);
	else
		rmpp_rx_format_ack(&m->rx, window & 1 ? window : window * 16, &ack);
	MUST(m->rx.held == hold);
	MUST(ack.version == IB_MGMT_RMPP_VERSION);
	MUST(ack.type == IB_MGMT_RMPP_TYPE_ACK);
	MUST(!ack.flags && !ack.status);
	MUST(ack.seg == m->first_missing - 1);
	MUST(ack.len >= ack.seg);
	MUST(hold ? ack.len == ack.seg :
		    m->rx.state == RMPP_RX_DONE || ack.len > ack.seg);
	MUST(ack.len == m->rx.window_last);
	check(m);
}

/* A number that means something to this receiver, or any. */
static u32 take_number(struct model *m, struct input *in)
{
	const struct rmpp_rx *rx = &m->rx;
	u8 byte = take(in);

	switch (byte % 16) {
	case 0 ... 4:
		return rx->expected;
	case 5:
		return rx->expected + byte / 16;
	case 6:
		return rx->expected - 1 - byte / 16;
	case 7:
		return rx->window_last;
	case 8:
		return rx->window_last + 1;
	case 9:
		return rx->highest + 1;
	case 10:
		return rx->highest - byte / 16;
	case 11:
		return rx->last ?: rx->max_segs;
	case 12:
		return rx->expected + RMPP_RX_WINDOW_MAX + byte / 16 - 2;
	case 13:
		return byte / 16;
	case 14:
		return U32_MAX - byte / 16;
	default:
		return take32(in);
	}
}

static u32 take_len(struct model *m, struct input *in)
{
	u32 payload = rmpp_payload_max(&m->rx.layout);
	u8 byte = take(in);

	switch (byte % 8) {
	case 0:
		return payload;
	case 1:
		return payload + 1 + byte / 8;
	case 2:
		return m->rx.layout.hdr - IB_MGMT_RMPP_HDR + byte / 8 - 1;
	case 3:
		return (m->rx.max_segs + 1) * payload - byte / 8;
	case 4:
		return U32_MAX - byte / 8;
	case 5:
		return take32(in);
	default:
		return byte / 8;
	}
}

/* As a real sender would say it, but for what @faults asks for. */
static struct rmpp_packet take_packet(struct model *m, struct input *in)
{
	u8 faults = take(in);
	struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_DATA,
		.flags = IB_MGMT_RMPP_FLAG_ACTIVE,
		.seg = take_number(m, in),
	};

	if (faults & 0x01)
		packet.flags |= IB_MGMT_RMPP_FLAG_LAST;
	if (packet.seg == 1)
		packet.flags |= IB_MGMT_RMPP_FLAG_FIRST;
	if (faults & 0x02)
		packet.len = take_len(m, in);
	if ((faults & 0xe0) != 0xe0)
		return packet;
	if (faults & 0x04)
		packet.type = take(in) % 6;
	if (faults & 0x08)
		packet.status = take(in);
	if ((faults & 0x10) && take(in) % 4 == 0)
		packet.version = take(in);
	else if (faults & 0x10)
		packet.flags ^= IB_MGMT_RMPP_FLAG_FIRST;
	return packet;
}

static void store(struct model *m, const struct rmpp_packet *packet,
		  struct input *in)
{
	enum rmpp_rx_verdict verdict;
	u8 fate = take(in);

	MUST(packet->seg >= 1 && packet->seg <= m->rx.max_segs);
	MUST(packet->seg <= m->rx.window_last);
	MUST(!m->last || packet->seg <= m->last);
	/* Memory that is not there, as the glue says it. */
	if (packet->seg > MODEL_SEGS || fate == 0xff) {
		check_verdict(m, rmpp_rx_no_room(&m->rx));
		check(m);
		return;
	}
	MUST(!m->stored[packet->seg]);

	/* Its owner may have given it up while it was being stored. */
	if (fate == 0xfe) {
		verdict = rmpp_rx_cancel(&m->rx, IB_MGMT_RMPP_STATUS_T2L);
		check_verdict(m, verdict);
		check(m);
		MUST(rmpp_rx_stored(&m->rx, packet, m->now) == RMPP_RX_DROP);
		check(m);
		return;
	}
	verdict = rmpp_rx_stored(&m->rx, packet, m->now);
	m->stored[packet->seg] = true;
	while (m->stored[m->first_missing])
		m->first_missing++;
	if (packet->flags & IB_MGMT_RMPP_FLAG_LAST)
		m->last = packet->seg;
	MUST((m->rx.state == RMPP_RX_DONE) ==
	     (m->last && m->first_missing > m->last));
	MUST(verdict == RMPP_RX_ACK || verdict == RMPP_RX_DROP);
	/* The sender waits for these. */
	if (m->rx.state == RMPP_RX_DONE || rmpp_rx_window_used_up(&m->rx))
		MUST(verdict == RMPP_RX_ACK ||
		     packet->seg >= m->rx.expected);
	check(m);
	if (verdict == RMPP_RX_ACK && fate % 8)
		send_ack(m, in);
}

static void receive(struct model *m, struct input *in)
{
	struct rmpp_packet packet = take_packet(m, in);
	enum rmpp_rx_verdict verdict;

	verdict = rmpp_rx_receive(&m->rx, &packet, m->now);
	check_verdict(m, verdict);
	/* These are never answered. */
	if (packet.type == IB_MGMT_RMPP_TYPE_STOP ||
	    packet.type == IB_MGMT_RMPP_TYPE_ABORT)
		MUST(verdict == RMPP_RX_CLOSE || verdict == RMPP_RX_DROP);
	if (packet.type == IB_MGMT_RMPP_TYPE_ACK &&
	    packet.version == IB_MGMT_RMPP_VERSION)
		MUST(verdict == RMPP_RX_DROP);
	check(m);
	/* Who says that it will be too long is told so at once. */
	if (verdict == RMPP_RX_STORE && packet.seg == 1 &&
	    !(packet.flags & IB_MGMT_RMPP_FLAG_LAST))
		MUST(packet.len / rmpp_payload_max(&m->rx.layout) <=
		     m->rx.max_segs);
	if (verdict == RMPP_RX_STORE)
		store(m, &packet, in);
	else if (verdict == RMPP_RX_ACK && take(in) % 8)
		send_ack(m, in);
}

static void timer(struct model *m)
{
	bool due = m->rx.state == RMPP_RX_REASSEMBLING && m->rx.expected > 1 &&
		   m->now >= m->rx.ack_repeat_at;
	enum rmpp_rx_verdict verdict = rmpp_rx_timer(&m->rx, m->now);

	check_verdict(m, verdict);
	/* An ACK may have been lost. */
	MUST(!due || verdict != RMPP_RX_DROP);
	check(m);
}

/* All goes well for a while: numbers become large, and bits are used again. */
static void go_well(struct model *m, u32 segs, u32 window)
{
	struct rmpp_packet ack, packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_DATA,
		.flags = IB_MGMT_RMPP_FLAG_ACTIVE,
	};
	enum rmpp_rx_verdict verdict;

	while (segs-- && m->rx.state == RMPP_RX_REASSEMBLING && !m->last &&
	       m->rx.expected < min_t(u32, m->rx.max_segs, MODEL_SEGS)) {
		packet.seg = m->rx.expected;
		packet.flags &= ~IB_MGMT_RMPP_FLAG_FIRST;
		if (packet.seg == 1)
			packet.flags |= IB_MGMT_RMPP_FLAG_FIRST;
		if (packet.seg > m->rx.window_last) {
			rmpp_rx_format_ack(&m->rx, window, &ack);
			check(m);
			continue;
		}
		verdict = rmpp_rx_receive(&m->rx, &packet, m->now);
		MUST(verdict == RMPP_RX_STORE);
		rmpp_rx_stored(&m->rx, &packet, m->now);
		m->stored[packet.seg] = true;
		while (m->stored[m->first_missing])
			m->first_missing++;
		check(m);
	}
}

/* Left alone, each receiver ends, and its deadlines lead there. Others need its place. */
static void leave_alone(struct model *m)
{
	bool lone = m->rx.state == RMPP_RX_REASSEMBLING && !m->rx.solicited &&
		    m->rx.highest <= 1;
	u64 deadline, start = m->now;
	u32 steps = 0;

	while (m->rx.state != RMPP_RX_CLOSED) {
		deadline = rmpp_rx_deadline(&m->rx);
		MUST(++steps < 100);
		m->now = max(m->now, deadline);
		MUST(m->now - start <= (lone ? LONE_MAX : WAIT_MAX));
		m->rx.crowded = true;
		timer(m);
		MUST(rmpp_rx_deadline(&m->rx) > m->now);
	}
}

void fuzz_one(const u8 *data, size_t size)
{
	static const u8 classes[] = { IB_MGMT_CLASS_SUBN_ADM,
		IB_MGMT_CLASS_DEVICE_MGMT, IB_MGMT_CLASS_VENDOR_RANGE2_START };
	struct input in = { data, size };
	struct model *m = &model;
	struct rmpp_layout layout;
	u8 byte = take(&in);

	memset(m, 0, sizeof(*m));
	layout = rmpp_layout_of(classes[byte % 3], byte & 0x80 ? 2048 : 256);
	m->max_bytes = byte & 0x40 ? take64(&in) >> 8 : take16(&in) * 64 + 1;
	m->first_missing = 1;
	m->now = take(&in) ? 0 : NSEC_PER_SEC;
	rmpp_rx_init(&m->rx, &layout, m->max_bytes,
		     byte & 0x20 ? take32(&in) : 1, m->now);
	m->rx.solicited = byte & 0x10;
	m->before = m->rx;
	check(m);

	while (in.left) {
		byte = take(&in);
		switch (byte % 16) {
		case 0:
			m->now += take_time(&in);
			timer(m);
			break;
		case 1:
			if (m->rx.state == RMPP_RX_CLOSED)
				return;
			m->now = max(m->now, rmpp_rx_deadline(&m->rx));
			timer(m);
			break;
		case 2:
			m->now += take_time(&in);
			break;
		case 3:
			send_ack(m, &in);
			break;
		case 4:
			go_well(m, byte / 16 * 100, take(&in) * 8);
			break;
		default:
			receive(m, &in);
			break;
		}
	}
	leave_alone(m);
}
