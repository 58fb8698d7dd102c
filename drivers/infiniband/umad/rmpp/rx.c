// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rmpp/rx.h"

#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "umad_export.h"

/*
 * A sender that is silent for so long is given up. In-tree it is 40 s for the whole message, here
 * 40 s without a new segment: the sender's own timeouts, 2 s for each retry, must fit in.
 */
#define IDLE_MAX		(40ULL * NSEC_PER_SEC)
/*
 * With segment 1 alone it is forgotten after so long, or looked at again and again, if others
 * need its place. Senders that have not seen its ACK repeat it after 2 s (in-tree) or up to
 * 5.2 s (OPA's fabric manager); who has seen it may have been cut off for longer.
 */
#define LONE_MAX		(6ULL * NSEC_PER_SEC)
#define LONE_AGAIN		(2ULL * NSEC_PER_SEC)
/* How long a complete message answers what is repeated, as in-tree. */
#define LINGER			(10ULL * NSEC_PER_SEC)
/*
 * Each repeated segment begins that again, for so long: its sender's timeouts must fit in, as
 * above. Then another message may have its transaction ID, even if its sender goes on and on.
 */
#define LINGER_AGAIN		(40ULL * NSEC_PER_SEC)
/*
 * An acknowledgment may be lost: one is repeated while nothing comes, after
 * so long, then after twice as long, and so on, so many times: the last one 1.5 s after
 * the segment. Then it is the sender's turn, who repeats a segment after 2 s or more.
 */
#define ACK_REPEAT_FIRST		(100ULL * NSEC_PER_MSEC)
#define ACK_REPEATS		4
/*
 * A gap is told so many times at once, which makes the sender mend it, and then
 * for each so many segments, which tells it that others get through.
 */
#define GAP_ACKS		3
#define GAP_ACK_EVERY		4
/*
 * A sender that follows Figure 178 to the letter (illumos) goes back to the segment behind
 * the acknowledged one at each ACK, that of Windows at each repeated one, too. So what is
 * on the way comes twice; and with an ACK for each of those, again and again. Others send
 * no two such segments in turn. Such a sender gets an ACK at the end of its window, and
 * when it has been silent for so long.
 */
#define REWIND_RUN		2
#define REWIND_SILENCE		(20ULL * NSEC_PER_MSEC)

/**
 * rmpp_rx_init() - begin to receive a message
 * @rx: to be filled in
 * @layout: of its class
 * @max_bytes: of data that the message may have
 * @first_window: segments its sender may send before the first ACK: 1, or what
 *	our turn-around ACK said
 * @now: the time
 *
 * Context: any; the caller serialises all calls for one @rx.
 */
void rmpp_rx_init(struct rmpp_rx *rx, const struct rmpp_layout *layout,
		  u64 max_bytes, u32 first_window, u64 now)
{
	u64 max_segs;
	u32 rest;

	memset(rx, 0, sizeof(*rx));
	rx->state = RMPP_RX_REASSEMBLING;
	rx->layout = *layout;
	max_segs = div_u64_rem(max_bytes, layout->data, &rest);
	rx->max_segs = min_t(u64, max_segs + !!rest, S32_MAX);
	rx->expected = 1;
	rx->window = 1;
	rx->window_last = clamp_t(u32, first_window, 1, RMPP_RX_WINDOW_MAX);
	rx->repwin = 1;
	rx->began_at = now;
	rx->progress_at = now;
	rx->lone_until = now + LONE_MAX;
	rx->ack_repeat = ACK_REPEAT_FIRST;
	rx->ack_repeat_at = now + ACK_REPEAT_FIRST;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_init);

/**
 * rmpp_rx_restore() - it is complete again, and answers what is repeated
 * @rx: just made by rmpp_rx_init()
 * @last: its last segment
 * @window_last: the last segment that an ACK has allowed
 * @repwin: window that a turn-around ACK gave us, or 1
 * @until: when rmpp_rx_deadline() was
 * @again_until: as &rmpp_rx.again_until was
 *
 * Context: any.
 */
void rmpp_rx_restore(struct rmpp_rx *rx, u32 last, u32 window_last, u32 repwin, u64 until,
		     u64 again_until)
{
	rx->state = RMPP_RX_DONE;
	rx->expected = last + 1;
	rx->highest = last;
	rx->last = last;
	rx->window_last = window_last;
	rx->repwin = repwin;
	rx->progress_at = until - LINGER;
	rx->again_until = again_until;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_restore);

static enum rmpp_rx_verdict rx_terminate(struct rmpp_rx *rx,
					 enum rmpp_rx_verdict verdict, u8 status)
{
	rx->state = RMPP_RX_CLOSED;
	rx->status = status;
	return verdict;
}

static bool is_stored(const struct rmpp_rx *rx, u32 seg)
{
	return seg < rx->expected ||
	       (seg <= rx->highest &&
		test_bit(seg % RMPP_RX_WINDOW_MAX, rx->have));
}

static bool has_first(const struct rmpp_packet *packet)
{
	return packet->flags & IB_MGMT_RMPP_FLAG_FIRST;
}

/*
 * Once more? Who sends packets by an address that is another's must not make us send
 * that many for each: in all no more repeats than segments.
 */
static bool may_repeat_ack(const struct rmpp_rx *rx)
{
	return rx->ack_repeats < ACK_REPEATS &&
	       (rx->solicited || rx->all_ack_repeats < rx->expected - 1);
}

/* Our answer was lost, or the sender asks where we stand; or it goes back. */
static enum rmpp_rx_verdict receive_again(struct rmpp_rx *rx, u32 seg, u64 now)
{
	bool next = rx->again_run && seg == rx->again + 1 && rx->highest < rx->expected;

	rx->dropped++;
	rx->in_order_run = 0;
	rx->again = seg;
	rx->again_run = next ? rx->again_run + 1 : 1;
	/* Of many that may be missing it has sent more again than were. */
	if (seg <= rx->gap_end)
		return next ? RMPP_RX_DROP : RMPP_RX_ACK;
	if (rx->again_run >= REWIND_RUN)
		rx->rewinds = true;
	if (!rx->rewinds || !may_repeat_ack(rx))
		return RMPP_RX_ACK;
	rx->ack_repeat_at = now + REWIND_SILENCE;
	return RMPP_RX_DROP;
}

/* The order of the checks is the specification's, Figure 176. */
static enum rmpp_rx_verdict receive_data(struct rmpp_rx *rx,
					 const struct rmpp_packet *packet, u64 now)
{
	bool first = packet->seg == 1;
	bool last = packet->flags & IB_MGMT_RMPP_FLAG_LAST;

	if (packet->status)
		return rx_terminate(rx, RMPP_RX_ABORT, IB_MGMT_RMPP_STATUS_BAD_STATUS);
	if (!packet->seg || has_first(packet) != first)
		return rx_terminate(rx, RMPP_RX_ABORT, IB_MGMT_RMPP_STATUS_BAD_SEG);

	if (is_stored(rx, packet->seg))
		return receive_again(rx, packet->seg, now);
	/* Who does not wait may have short timeouts. */
	if (rx->held && packet->seg == rx->expected)
		rx->window_last = packet->seg;
	if (packet->seg > rx->window_last) {
		rx->dropped++;
		return RMPP_RX_DROP;
	}
	/* Beyond the end, or an end before what was sent, as a second one is. */
	if ((rx->last && packet->seg > rx->last) ||
	    (last && packet->seg < rx->highest))
		return rx_terminate(rx, RMPP_RX_ABORT, IB_MGMT_RMPP_STATUS_BAD_LEN);
	if (packet->seg > rx->max_segs)
		return rmpp_rx_no_room(rx);
	/* The first one may say how long the message is; 0 if it does not. */
	if (first && !last &&
	    packet->len / rmpp_payload_max(&rx->layout) > rx->max_segs)
		return rmpp_rx_no_room(rx);
	return RMPP_RX_STORE;
}

/*
 * The message is the process's already, nothing can spoil it any more: what
 * is wrong is dropped, so that the sender may still learn of its success. If it has not,
 * it ends with an ABORT, and copies of what it has sent may come behind that; but they do
 * not keep it, or another message with its transaction ID would.
 */
static enum rmpp_rx_verdict receive_done(struct rmpp_rx *rx,
					 const struct rmpp_packet *packet,
					 u64 now)
{
	switch (packet->type) {
	case IB_MGMT_RMPP_TYPE_DATA:
		rx->progress_at = max(rx->progress_at, min(now, rx->again_until));
		rx->dropped++;
		return RMPP_RX_ACK;
	case IB_MGMT_RMPP_TYPE_ACK:
		/* The turn-around ACK: the window for our answer. */
		if (!packet->seg && !packet->status)
			rx->repwin = clamp_t(u32, packet->len, 1, S32_MAX);
		return RMPP_RX_DROP;
	case IB_MGMT_RMPP_TYPE_STOP:
	case IB_MGMT_RMPP_TYPE_ABORT:
		rx->again_until = min(rx->again_until, now);
		return RMPP_RX_DROP;
	default:
		return RMPP_RX_DROP;
	}
}

/**
 * rmpp_rx_receive() - a packet of the sender's has come
 * @rx: the receiver
 * @packet: with the Active flag set, any type, any version
 * @now: the time
 *
 * Context: any.
 * Return: what to do. STOP and ABORT are never answered.
 */
enum rmpp_rx_verdict rmpp_rx_receive(struct rmpp_rx *rx,
				     const struct rmpp_packet *packet, u64 now)
{
	bool ended = packet->type == IB_MGMT_RMPP_TYPE_STOP ||
		     packet->type == IB_MGMT_RMPP_TYPE_ABORT;

	switch (rx->state) {
	case RMPP_RX_CLOSED:
		return RMPP_RX_DROP;
	case RMPP_RX_DONE:
		return receive_done(rx, packet, now);
	case RMPP_RX_REASSEMBLING:
		break;
	}
	if (ended)
		return rx_terminate(rx, RMPP_RX_CLOSE, packet->status);
	if (packet->version != IB_MGMT_RMPP_VERSION)
		return rx_terminate(rx, RMPP_RX_ABORT, IB_MGMT_RMPP_STATUS_UNV);
	switch (packet->type) {
	case IB_MGMT_RMPP_TYPE_DATA:
		return receive_data(rx, packet, now);
	case IB_MGMT_RMPP_TYPE_ACK:
		return RMPP_RX_DROP;
	default:
		return rx_terminate(rx, RMPP_RX_ABORT, IB_MGMT_RMPP_STATUS_BADT);
	}
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_receive);

/* Move @expected over what is there. */
static void expected_advance(struct rmpp_rx *rx)
{
	while (rx->expected <= rx->highest &&
	       test_bit(rx->expected % RMPP_RX_WINDOW_MAX, rx->have)) {
		clear_bit(rx->expected % RMPP_RX_WINDOW_MAX, rx->have);
		rx->expected++;
	}
}

static u32 ack_interval_first(const struct rmpp_rx *rx)
{
	return clamp_t(u32, rx->window / 2, 1, RMPP_RX_ACK_MAX);
}

/*
 * A window that is small for what others have of the budget is used up before it is acknowledged,
 * if nothing is lost: others keep the way busy. A large one is kept open, in case an ACK is lost.
 */
static u32 ack_interval(const struct rmpp_rx *rx)
{
	u32 often = ack_interval_first(rx);
	u32 most = clamp_t(u32, rx->window / 4, often, rx->ack_most ?: RMPP_RX_ACK_IN_ORDER);

	if (rx->rewinds)
		return U32_MAX;
	if ((rx->in_turn || rx->window < RMPP_RX_WINDOW_SMALL) &&
	    rx->in_order_run >= RMPP_RX_WINDOW_SMALL)
		return rx->window;
	if (rx->in_order_run < RMPP_RX_IN_ORDER_RUN)
		return often;
	return min(often + rx->in_order_run / RMPP_RX_ACK_GROW_EVERY, most);
}

/* A segment beyond a gap has come: is the sender to be told again? */
static bool tell_gap(struct rmpp_rx *rx)
{
	rx->gap_acks++;
	if (rx->rewinds)
		return rx->gap_acks == 1;
	return rx->gap_acks <= GAP_ACKS || rx->gap_acks % GAP_ACK_EVERY == 0;
}

/**
 * rmpp_rx_stored() - a segment has been stored
 * @rx: the receiver, that said RMPP_RX_STORE
 * @packet: of the segment
 * @now: the time
 *
 * The state becomes RMPP_RX_DONE when the message is complete.
 * Context: any.
 * Return: RMPP_RX_ACK or RMPP_RX_DROP.
 */
enum rmpp_rx_verdict rmpp_rx_stored(struct rmpp_rx *rx,
				    const struct rmpp_packet *packet,
				    u64 now)
{
	bool filled_gap;

	if (rx->state != RMPP_RX_REASSEMBLING)
		return RMPP_RX_DROP;

	rx->progress_at = now;
	rx->lone_until = now + LONE_MAX;
	rx->ack_repeats = 0;
	rx->ack_repeat = rx->rewinds ? REWIND_SILENCE : ACK_REPEAT_FIRST;
	rx->ack_repeat_at = now + rx->ack_repeat;
	rx->again_run = 0;
	rx->stored++;
	rx->highest = max(rx->highest, packet->seg);
	if (packet->flags & IB_MGMT_RMPP_FLAG_LAST) {
		rx->last = packet->seg;
		rx->last_len = packet->len;
	}
	/* The length may be anything, and is not rounded up past its range. */
	if (packet->seg == 1)
		rx->claim = packet->len / rmpp_payload_max(&rx->layout) +
			    !!(packet->len % rmpp_payload_max(&rx->layout));
	set_bit(packet->seg % RMPP_RX_WINDOW_MAX, rx->have);
	if (packet->seg != rx->expected) {
		rx->in_order_run = 0;
		return tell_gap(rx) ? RMPP_RX_ACK : RMPP_RX_DROP;
	}

	expected_advance(rx);
	/* Waited for, with more behind it, or before another gap: what was resent may end here. */
	filled_gap = rx->gap_acks || rx->expected > packet->seg + 1 ||
		     (rx->highest >= rx->expected && !rx->rewinds);
	rx->in_order_run = filled_gap ? 0 : rx->in_order_run + 1;
	if (filled_gap && rx->highest < rx->expected)
		rx->gap_end = rx->highest;
	rx->gap_acks = 0;
	if (rx->last && rx->expected > rx->last) {
		rx->state = RMPP_RX_DONE;
		rx->again_until = now + LINGER_AGAIN;
		return RMPP_RX_ACK;
	}
	if (filled_gap || packet->seg == 1 || rmpp_rx_window_used_up(rx) ||
	    rx->expected - 1 - rx->acked >= ack_interval(rx))
		return RMPP_RX_ACK;
	return RMPP_RX_DROP;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_stored);

/**
 * rmpp_rx_no_room() - a bound or the memory does not allow the message
 * @rx: the receiver
 *
 * Context: any.
 * Return: RMPP_RX_STOP, with status RESX (IBA 13.6.2.4).
 */
enum rmpp_rx_verdict rmpp_rx_no_room(struct rmpp_rx *rx)
{
	return rx_terminate(rx, RMPP_RX_STOP, IB_MGMT_RMPP_STATUS_RESX);
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_no_room);

/**
 * rmpp_rx_cancel() - its owner gives the message up
 * @rx: the receiver
 * @status: for the ABORT
 *
 * Context: any.
 * Return: RMPP_RX_ABORT.
 */
enum rmpp_rx_verdict rmpp_rx_cancel(struct rmpp_rx *rx, u8 status)
{
	return rx_terminate(rx, RMPP_RX_ABORT, status);
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_cancel);

/* Unsolicited, and nothing but segment 1 has come. */
static bool is_lone(const struct rmpp_rx *rx)
{
	return !rx->solicited && rx->highest <= 1;
}

/* It has stopped before the interval had passed, with nothing missing: it may have a limit. */
static void learn_from_silence(struct rmpp_rx *rx)
{
	u32 burst = rx->expected - 1 - rx->acked;

	if (burst >= ack_interval_first(rx) && rx->highest < rx->expected)
		rx->ack_most = max_t(u32, burst / 2, RMPP_RX_ACK_MAX);
}

/**
 * rmpp_rx_timer() - the deadline has come, or has not
 * @rx: the receiver
 * @now: the time
 *
 * Context: any.
 * Return: RMPP_RX_DROP for nothing, RMPP_RX_ACK to repeat the last one,
 * RMPP_RX_ABORT for a silent sender, RMPP_RX_CLOSE when a complete message has
 * lingered long enough, or of one nothing but segment 1 has come.
 */
enum rmpp_rx_verdict rmpp_rx_timer(struct rmpp_rx *rx, u64 now)
{
	switch (rx->state) {
	case RMPP_RX_CLOSED:
		return RMPP_RX_DROP;
	case RMPP_RX_DONE:
		if (now - rx->progress_at < LINGER)
			return RMPP_RX_DROP;
		return rx_terminate(rx, RMPP_RX_CLOSE, 0);
	case RMPP_RX_REASSEMBLING:
		break;
	}
	if (now - rx->progress_at >= IDLE_MAX)
		return rx_terminate(rx, is_lone(rx) ? RMPP_RX_CLOSE : RMPP_RX_ABORT,
				    IB_MGMT_RMPP_STATUS_T2L);
	if (is_lone(rx) && now >= rx->lone_until) {
		if (rx->crowded)
			return rx_terminate(rx, RMPP_RX_CLOSE, IB_MGMT_RMPP_STATUS_T2L);
		rx->lone_until = now + LONE_AGAIN;
	}
	if (now < rx->ack_repeat_at)
		return RMPP_RX_DROP;
	if (rx->held) {
		rx->held = false;
		rx->ack_repeat_at = now + rx->ack_repeat;
		return RMPP_RX_ACK;
	}
	learn_from_silence(rx);
	rx->ack_repeat *= 2;
	rx->ack_repeats++;
	rx->all_ack_repeats++;
	rx->ack_repeat_at = may_repeat_ack(rx) ? now + rx->ack_repeat : U64_MAX;
	return rx->expected > 1 ? RMPP_RX_ACK : RMPP_RX_DROP;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_timer);

/**
 * rmpp_rx_slow_at() - when is the message slow, if nothing more comes?
 * @rx: the receiver
 *
 * It is then so old that it is not of a short standstill, and has had fewer segments than
 * seconds.
 * Context: any.
 * Return: the time.
 */
u64 rmpp_rx_slow_at(const struct rmpp_rx *rx)
{
	return rx->began_at + max(RMPP_RX_BEGUN_GIVEN_UP, rx->stored * (u64)NSEC_PER_SEC);
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_slow_at);

/**
 * rmpp_rx_deadline() - when to call rmpp_rx_timer()
 * @rx: the receiver
 *
 * Context: any.
 * Return: the time, or U64_MAX when no time matters.
 */
u64 rmpp_rx_deadline(const struct rmpp_rx *rx)
{
	switch (rx->state) {
	case RMPP_RX_REASSEMBLING:
		return min3(rx->progress_at + IDLE_MAX, rx->ack_repeat_at,
			    is_lone(rx) ? rx->lone_until : U64_MAX);
	case RMPP_RX_DONE:
		return rx->progress_at + LINGER;
	case RMPP_RX_CLOSED:
		break;
	}
	return U64_MAX;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_deadline);

static void put_ack(const struct rmpp_rx *rx, struct rmpp_packet *ack)
{
	*ack = (struct rmpp_packet){
		.version = IB_MGMT_RMPP_VERSION, .type = IB_MGMT_RMPP_TYPE_ACK,
		.seg = rx->acked, .len = rx->window_last,
	};
}

/**
 * rmpp_rx_format_ack() - the acknowledgment of what has arrived
 * @rx: the receiver
 * @window: segments to allow from now on, what the port has to give
 * @ack: filled in
 *
 * Widens the window, but not beyond the end that the first segment spoke of,
 * unless that was wrong. Call when the ACK is really sent.
 * Context: any.
 */
void rmpp_rx_format_ack(struct rmpp_rx *rx, u32 window, struct rmpp_packet *ack)
{
	u32 end;

	rx->held = false;
	rx->acked = rx->expected - 1;
	window = clamp_t(u32, window, 1, RMPP_RX_WINDOW_MAX);
	end = rx->acked + window;
	if (rx->claim > rx->acked)
		end = min(end, rx->claim);
	rx->window_last = max(rx->window_last, end);
	/* What it may send by an earlier ACK, it sends without this one. */
	rx->window = clamp_t(u32, rx->window_last - rx->acked, window, RMPP_RX_WINDOW_MAX);
	put_ack(rx, ack);
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_format_ack);

/**
 * rmpp_rx_hold() - acknowledge what has arrived, and allow nothing for a time
 * @rx: the receiver, of which rmpp_rx_may_hold() is true
 * @until: when rmpp_rx_timer() asks for the ACK that allows more
 * @ack: filled in, as by rmpp_rx_format_ack()
 *
 * Context: any.
 */
void rmpp_rx_hold(struct rmpp_rx *rx, u64 until, struct rmpp_packet *ack)
{
	rx->held = true;
	rx->acked = rx->expected - 1;
	rx->ack_repeat_at = until;
	put_ack(rx, ack);
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_hold);

/**
 * rmpp_rx_data_len() - how long a complete message is
 * @rx: the receiver, DONE
 *
 * A PayloadLength that cannot be, which some subnet managers send in a single
 * segment, is taken for a full segment.
 * Context: any.
 * Return: bytes of data, without any header.
 */
u64 rmpp_rx_data_len(const struct rmpp_rx *rx)
{
	u32 class_hdr = rx->layout.hdr - IB_MGMT_RMPP_HDR;
	u32 last = rx->layout.data;

	if (rx->last_len >= class_hdr &&
	    rx->last_len <= rmpp_payload_max(&rx->layout))
		last = rx->last_len - class_hdr;
	return (u64)(rx->last - 1) * rx->layout.data + last;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_data_len);

/**
 * rmpp_rx_check_start() - may this packet begin a message?
 * @packet: that belongs to no receiver
 * @status: set for RMPP_RX_ABORT
 *
 * Context: any.
 * Return: RMPP_RX_STORE: begin one; RMPP_RX_ABORT: tell its sender what is
 * wrong; RMPP_RX_DROP: say nothing, it is of a message that is over.
 */
enum rmpp_rx_verdict rmpp_rx_check_start(const struct rmpp_packet *packet,
					 u8 *status)
{
	bool first = packet->seg == 1;

	/* Never an answer to these two, nor to an ACK (Figure 175). */
	if (packet->type == IB_MGMT_RMPP_TYPE_STOP ||
	    packet->type == IB_MGMT_RMPP_TYPE_ABORT ||
	    packet->type == IB_MGMT_RMPP_TYPE_ACK)
		return RMPP_RX_DROP;

	*status = IB_MGMT_RMPP_STATUS_UNV;
	if (packet->version != IB_MGMT_RMPP_VERSION)
		return RMPP_RX_ABORT;
	*status = IB_MGMT_RMPP_STATUS_BADT;
	if (packet->type != IB_MGMT_RMPP_TYPE_DATA)
		return RMPP_RX_ABORT;
	*status = IB_MGMT_RMPP_STATUS_BAD_STATUS;
	if (packet->status)
		return RMPP_RX_ABORT;
	*status = IB_MGMT_RMPP_STATUS_BAD_SEG;
	if (!packet->seg || has_first(packet) != first)
		return RMPP_RX_ABORT;
	return first ? RMPP_RX_STORE : RMPP_RX_DROP;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_check_start);
