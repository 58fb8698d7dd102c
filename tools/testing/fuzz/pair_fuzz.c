// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RMPP sender against the RMPP receiver, with real MADs and real bytes, in
 * virtual time. The input is what the wire does to each packet; at its end the
 * wire becomes good, and then the message has to arrive.
 */
#include "fuzz.h"
#include "pagebuf.h"
#include "rmpp/rx.h"
#include "rmpp/tx.h"
#include "shim/memory.h"

#include <linux/gfp.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#define SEGS_MAX	300
#define FLIGHT_MAX	2048
/* What one packet takes on the wire. */
#define PACKET_TIME	(10 * NSEC_PER_USEC)
/* Idle so long a receiver gives up. */
#define IDLE_MAX	(40ULL * NSEC_PER_SEC)

enum event_kind { TO_RX, TO_TX, SENT };

/**
 * struct event - a packet on its way, or a segment in the send queue
 * @at: when it comes out
 * @order: of those of one time
 * @kind: what it is
 * @mad: the packet
 */
struct event {
	u64 at;
	u64 order;
	enum event_kind kind;
	struct ib_rmpp_mad mad;
};

/**
 * struct world - the two ends and what is between them
 * @in: what the wire will do
 * @good: it does nothing bad any more
 * @must_arrive: at that moment both ends were able to make it
 * @tx: the sender
 * @rx: the receiver
 * @layout: of the class
 * @window: that the receiver has to give
 * @waited: it has let the sender wait for its turn
 * @claims: the first segment says how long the message is
 * @now: the time
 * @delay: of the wire
 * @busy: until when it is taken, in each direction
 * @lose: packets to be lost from now on
 * @keep: packets to be left alone from now on
 * @order: of the next event
 * @steps: events and deadlines since the wire is good
 * @count: of @events
 * @events: in no order
 * @len: bytes of the message
 * @message: what is sent
 * @body: what has arrived
 * @arrived: the receiver was DONE
 */
struct world {
	struct input in;
	bool good;
	bool must_arrive;
	struct rmpp_tx tx;
	struct rmpp_rx rx;
	struct rmpp_layout layout;
	u32 window;
	bool waited;
	bool claims;
	u64 now;
	u64 delay;
	u64 busy[2];
	u32 lose;
	u32 keep;
	u64 order;
	u32 steps;
	u32 count;
	struct event events[FLIGHT_MAX];
	u32 len;
	u8 message[SEGS_MAX * 256];
	struct umad_pagebuf *body;
	bool arrived;
};

static struct world world;

/* The input has come to its end: what can be asked for from now on? */
static void become_good(struct world *w)
{
	u64 give_up_after = w->tx.progress_at + w->tx.give_up_after;
	u64 idle = w->rx.progress_at + IDLE_MAX;
	u64 enough = w->now + 3 * w->tx.rto_max + NSEC_PER_SEC;

	w->good = true;
	w->must_arrive = w->tx.state == RMPP_TX_ACKED ||
			 (w->tx.state == RMPP_TX_SENDING &&
			  w->rx.state != RMPP_RX_CLOSED &&
			  give_up_after > enough && idle > enough);
}

static void add_event(struct world *w, enum event_kind kind, u64 at,
		      const struct ib_rmpp_mad *mad)
{
	struct event *event;

	/* Full only with a wire that holds things back. */
	MUST(w->count < FLIGHT_MAX || !w->good);
	if (w->count == FLIGHT_MAX)
		return;
	event = &w->events[w->count++];
	event->kind = kind;
	event->at = at;
	event->order = w->order++;
	if (mad)
		event->mad = *mad;
}

/* One packet goes onto the wire, and the input says what becomes of it. */
static void onto_wire(struct world *w, enum event_kind kind,
		      const struct ib_rmpp_mad *mad)
{
	u64 *busy = &w->busy[kind == TO_TX];
	u64 at = max(w->now, *busy) + w->delay;
	u8 fate = 0;

	*busy = max(w->now, *busy) + PACKET_TIME;
	if (w->lose) {
		w->lose--;
		return;
	}
	if (w->keep)
		w->keep--;
	else if (w->in.left)
		fate = take(&w->in);
	else if (!w->good)
		become_good(w);

	switch (fate) {
	case 0 ... 0x7f:
		break;
	case 0x80 ... 0x9f:
		return;
	case 0xa0 ... 0xaf:
		w->lose = fate & 0xf;
		return;
	case 0xb0 ... 0xbf:
		w->keep = (fate & 0xf) * 8;
		break;
	case 0xc0 ... 0xcf:
		add_event(w, kind, at + (fate & 0xf) * PACKET_TIME, mad);
		break;
	case 0xd0 ... 0xdf:
		at += (fate & 0xf) * 3 * PACKET_TIME;
		break;
	case 0xe0 ... 0xef:
		at += take_time(&w->in) % (5 * NSEC_PER_SEC);
		break;
	default:
		w->window = (fate & 0xf) * 16 + 1;
		break;
	}
	add_event(w, kind, at, mad);
}

static void send_control(struct world *w, enum event_kind kind, u8 type,
			 u8 status)
{
	struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = type,
		.status = status,
	};
	struct ib_rmpp_mad mad = {};

	rmpp_format(&mad, &packet);
	onto_wire(w, kind, &mad);
}

static void send_segment(struct world *w, u32 seg)
{
	u32 data = w->layout.data, at = (seg - 1) * data;
	struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_DATA,
		.flags = IB_MGMT_RMPP_FLAG_ACTIVE,
		.seg = seg,
	};
	struct ib_rmpp_mad mad = {};
	u32 len = min(data, w->len - at);

	if (seg == 1)
		packet.flags |= IB_MGMT_RMPP_FLAG_FIRST;
	if (seg == w->tx.segs) {
		packet.flags |= IB_MGMT_RMPP_FLAG_LAST;
		packet.len = w->layout.hdr - IB_MGMT_RMPP_HDR + len;
	} else if (seg == 1 && w->claims) {
		packet.len = w->len + w->tx.segs *
			     (w->layout.hdr - IB_MGMT_RMPP_HDR);
	}
	rmpp_format(&mad, &packet);
	memcpy((u8 *)&mad + w->layout.hdr, w->message + at, len);
	onto_wire(w, TO_RX, &mad);
	add_event(w, SENT, w->now + PACKET_TIME, NULL);
}

/* After each event of the sender's: what it has to send, and did it end? */
static void run_tx(struct world *w, enum rmpp_tx_state before)
{
	u32 seg, burst = 0;

	while ((seg = rmpp_tx_next(&w->tx, w->now))) {
		MUST(++burst <= RMPP_TX_POSTED_MAX);
		send_segment(w, seg);
	}
	if (w->tx.state == before)
		return;
	MUST(before == RMPP_TX_SENDING);
	/* Neither breaks the protocol. */
	MUST(w->tx.reason != RMPP_REASON_PROTOCOL_ERROR);
	MUST(w->tx.reason != RMPP_REASON_STOPPED);
	MUST(w->tx.state != RMPP_TX_ACKED || w->arrived);
	MUST(w->tx.state == RMPP_TX_ACKED || !w->must_arrive || w->arrived);
	if (w->tx.state == RMPP_TX_FAILED && rmpp_tx_must_abort(&w->tx))
		send_control(w, TO_RX, IB_MGMT_RMPP_TYPE_ABORT, w->tx.status);
}

static void arrived(struct world *w)
{
	static u8 bytes[SEGS_MAX * 256];

	MUST(!w->arrived);
	w->arrived = true;
	MUST(rmpp_rx_data_len(&w->rx) == w->len);
	umad_pagebuf_read(w->body, 0, bytes, w->len);
	MUST(!memcmp(bytes, w->message, w->len));
}

static void run_rx(struct world *w, enum rmpp_rx_verdict verdict)
{
	struct rmpp_packet ack;
	struct ib_rmpp_mad mad = {};

	switch (verdict) {
	case RMPP_RX_ACK:
		w->waited = w->window % 8 == 7 && !w->waited && rmpp_rx_may_hold(&w->rx);
		if (w->waited)
			rmpp_rx_hold(&w->rx, w->now + w->tx.rto_max / 4, &ack);
		else
			rmpp_rx_format_ack(&w->rx, w->window, &ack);
		rmpp_format(&mad, &ack);
		onto_wire(w, TO_TX, &mad);
		break;
	case RMPP_RX_ABORT:
		/* It may be weary of waiting, and nothing else. */
		MUST(w->rx.status == IB_MGMT_RMPP_STATUS_T2L);
		MUST(!w->must_arrive || w->tx.state != RMPP_TX_SENDING);
		send_control(w, TO_TX, IB_MGMT_RMPP_TYPE_ABORT, w->rx.status);
		break;
	case RMPP_RX_CLOSE:
		MUST(w->arrived || w->tx.state == RMPP_TX_FAILED ||
		     !(w->rx.solicited || w->rx.highest > 1));
		break;
	default:
		MUST(verdict == RMPP_RX_DROP);
		break;
	}
}

static void to_rx(struct world *w, const struct ib_rmpp_mad *mad)
{
	struct rmpp_packet packet;
	enum rmpp_rx_verdict verdict;

	rmpp_parse(mad, &packet);
	verdict = rmpp_rx_receive(&w->rx, &packet, w->now);
	if (verdict == RMPP_RX_STORE) {
		u32 at = (packet.seg - 1) * w->layout.data;

		MUST(packet.seg >= 1 && packet.seg <= w->tx.segs);
		MUST(!umad_pagebuf_write(w->body, at, (u8 *)mad + w->layout.hdr,
					 w->layout.data));
		verdict = rmpp_rx_stored(&w->rx, &packet, w->now);
		if (w->rx.state == RMPP_RX_DONE)
			arrived(w);
	}
	run_rx(w, verdict);
}

static void to_tx(struct world *w, const struct ib_rmpp_mad *mad)
{
	enum rmpp_tx_state before = w->tx.state;
	struct rmpp_packet packet;

	rmpp_parse(mad, &packet);
	rmpp_tx_receive(&w->tx, &packet, w->now);
	run_tx(w, before);
}

/* What comes out next, taken out; false when nothing is on its way. */
static bool next_event(struct world *w, u64 before, struct event *event)
{
	u32 i, first = 0;

	for (i = 1; i < w->count; i++)
		if (w->events[i].at < w->events[first].at ||
		    (w->events[i].at == w->events[first].at &&
		     w->events[i].order < w->events[first].order))
			first = i;
	if (!w->count || w->events[first].at > before)
		return false;
	*event = w->events[first];
	w->events[first] = w->events[--w->count];
	return true;
}

/* The next thing that happens; false when nothing will. */
static bool step(struct world *w)
{
	u64 tx_at = rmpp_tx_deadline(&w->tx), rx_at = rmpp_rx_deadline(&w->rx);
	enum rmpp_tx_state before = w->tx.state;
	struct event event;

	if (next_event(w, min(tx_at, rx_at), &event)) {
		w->now = max(w->now, event.at);
		if (event.kind == TO_RX) {
			to_rx(w, &event.mad);
		} else if (event.kind == TO_TX) {
			to_tx(w, &event.mad);
		} else {
			rmpp_tx_sent(&w->tx, w->now);
			run_tx(w, before);
		}
		return true;
	}
	if (min(tx_at, rx_at) == U64_MAX)
		return false;
	w->now = max(w->now, min(tx_at, rx_at));
	if (tx_at <= rx_at) {
		rmpp_tx_timer(&w->tx, w->now);
		run_tx(w, before);
	} else {
		run_rx(w, rmpp_rx_timer(&w->rx, w->now));
	}
	return true;
}

static void set_up(struct world *w, const u8 *data, size_t size)
{
	u32 i, segs, timeout, retries;
	u8 shape;

	memset(w, 0, offsetof(struct world, events));
	w->in = (struct input){ data, size };
	w->arrived = false;
	shape = take(&w->in);
	w->layout = rmpp_layout_of(shape & 1 ? IB_MGMT_CLASS_SUBN_ADM :
				   IB_MGMT_CLASS_VENDOR_RANGE2_START, 256);
	/* Mostly short, for there are more of those in a second. */
	segs = take(&w->in) % 8 ? 32 : SEGS_MAX;
	w->len = take16(&w->in) % (segs * w->layout.data) + 1;
	for (i = 0; i < w->len; i++)
		w->message[i] = i * 7 + i / 251;
	w->window = take(&w->in) + 1;
	w->claims = shape & 0x80;
	w->delay = take_time(&w->in) % (20 * NSEC_PER_MSEC);
	timeout = 500 + (shape >> 1 & 3) * 500;
	retries = 3 + (shape >> 3 & 7);
	segs = rmpp_segments(&w->layout, w->len);
	w->body = umad_pagebuf_alloc(GFP_KERNEL);
	MUST(w->body);
	w->now = NSEC_PER_SEC;
	rmpp_tx_init(&w->tx, segs, 1, timeout, retries, w->now);
	rmpp_rx_init(&w->rx, &w->layout, shape & 0x40 ? w->len : S32_MAX, 1,
		     w->now);
	w->rx.solicited = shape & 0x01;
}

void fuzz_one(const u8 *data, size_t size)
{
	struct world *w = &world;

	fuzz_memory_reset();
	set_up(w, data, size);
	run_tx(w, RMPP_TX_SENDING);
	while (step(w)) {
		if (!w->good)
			continue;
		MUST(++w->steps < 20000 + 40 * w->tx.segs);
	}
	MUST(w->tx.state != RMPP_TX_SENDING && w->rx.state == RMPP_RX_CLOSED);
	MUST(!w->must_arrive || (w->arrived && w->tx.state == RMPP_TX_ACKED));
	umad_pagebuf_free(w->body);
}
