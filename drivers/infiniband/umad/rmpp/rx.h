/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The receiver of one RMPP message (IBA 13.6.6.2, Figures 176 and 177). Pure,
 * as the sender: it says which segments to store and what to answer, and has
 * neither the segments nor the queue pair. Times are nanoseconds.
 */
#ifndef UMAD_RMPP_RX_H
#define UMAD_RMPP_RX_H

#include <linux/bitmap.h>
#include <linux/types.h>
#include "rmpp/wire.h"

/* The widest window; a power of two. */
#define RMPP_RX_WINDOW_MAX	1024
/*
 * At least every so many segments are acknowledged, and each half window; more rarely once so
 * many have come in order, and nothing twice: one more for each so many, up to each quarter
 * and that many. A sender that had to slow down opens its window again by one for each
 * eighth, and has to have twice as many outstanding as wait for an ACK. A small window is
 * acknowledged at its end, once that many have come in order.
 */
#define RMPP_RX_ACK_MAX		32
#define RMPP_RX_IN_ORDER_RUN		256
#define RMPP_RX_ACK_GROW_EVERY		16
#define RMPP_RX_ACK_IN_ORDER	128
#define RMPP_RX_WINDOW_SMALL		16

/*
 * Without a segment for so long, in ns, a sender has most likely given its message up: in-tree
 * repeats what is lost after 2 s, OPA's fabric manager after up to 5.2 s. Of one of which nothing
 * but segment 1 has come the first is enough.
 */
#define RMPP_RX_LONE_GIVEN_UP	(5ULL * NSEC_PER_SEC / 2)
#define RMPP_RX_BEGUN_GIVEN_UP	(6ULL * NSEC_PER_SEC)

/**
 * enum rmpp_rx_state - where a receiver stands
 * @RMPP_RX_REASSEMBLING: segments are missing
 * @RMPP_RX_DONE: the message is complete; lingers to answer what is repeated
 * @RMPP_RX_CLOSED: nothing more is to be done or answered
 */
enum rmpp_rx_state {
	RMPP_RX_REASSEMBLING,
	RMPP_RX_DONE,
	RMPP_RX_CLOSED,
};

/**
 * enum rmpp_rx_verdict - what to do about a packet
 * @RMPP_RX_DROP: nothing
 * @RMPP_RX_STORE: store the segment, then call rmpp_rx_stored()
 * @RMPP_RX_ACK: send the ACK that rmpp_rx_format_ack() makes
 * @RMPP_RX_ABORT: send ABORT with @status, the message is closed
 * @RMPP_RX_STOP: send STOP with @status, the message is closed
 * @RMPP_RX_CLOSE: send nothing, the message is closed: the sender has ended it, or
 *	it has lingered long enough
 */
enum rmpp_rx_verdict {
	RMPP_RX_DROP,
	RMPP_RX_STORE,
	RMPP_RX_ACK,
	RMPP_RX_ABORT,
	RMPP_RX_STOP,
	RMPP_RX_CLOSE,
};

/**
 * struct rmpp_rx - a receiver
 * @state: where it stands
 * @status: RMPPStatus for an ABORT or STOP
 * @layout: of the class
 * @max_segs: segments a message may have
 * @expected: first segment that is missing, ES of the specification
 * @window_last: last segment that the sender may send, WL; never shrinks
 * @window: segments that the last ACK could have allowed beyond what had arrived
 * @claim: segments of the message by what the first one says; 0: it does not
 * @acked: last segment acknowledged
 * @highest: highest segment stored
 * @stored: segments that have been stored
 * @last: number of the segment with the Last flag; 0: not seen yet
 * @last_len: its PayloadLength
 * @gap_acks: segments that have come behind the gap at @expected
 * @in_order_run: segments that have come in order since one did not, or came twice
 * @ack_most: segments; an ACK for so many at least, or for as many as at first, as the sender
 *	seems to have no more than twice as many outstanding; 0: it does not
 * @repwin: window that a turn-around ACK gave us, 1 if there was none
 * @began_at: when it began
 * @progress_at: when a segment was last stored
 * @lone_until: when it is looked at, if segment 1 is still alone then
 * @again_until: when a repeated segment is no longer a reason to linger on, once it is complete
 * @ack_repeat_at: when to repeat the acknowledgment, should nothing come
 * @ack_repeat: how long the wait for that is, this time
 * @ack_repeats: how often it was repeated since a segment was stored
 * @all_ack_repeats: the same, since the message began
 * @crowded: others need its place: set by the owner before rmpp_rx_timer()
 * @solicited: it answers a request of ours: set by the owner when it begins. Else
 *	one segment alone is worth little: anybody can send that
 * @in_turn: its window is not for others meanwhile: set by the owner before
 *	rmpp_rx_format_ack(), and acknowledged at its end
 * @held: by rmpp_rx_hold(), until rmpp_rx_timer(), or the next rmpp_rx_format_ack()
 * @again: the segment that came twice last
 * @again_run: how many have come twice in turn, each the one behind that before, with
 *	nothing new among them and nothing missing
 * @gap_end: the last segment that had come when the last gap was filled; 0: there was none
 * @rewinds: the sender goes back at each ACK, so it is sent as few as can be
 * @dropped: segments that came for nothing: twice, or out of the window
 * @have: by segment modulo its size: stored, from @expected on
 */
struct rmpp_rx {
	enum rmpp_rx_state state;
	u8 status;
	struct rmpp_layout layout;
	u32 max_segs;
	u32 expected;
	u32 window_last;
	u32 window;
	u32 claim;
	u32 acked;
	u32 highest;
	u32 stored;
	u32 last;
	u32 last_len;
	u32 gap_acks;
	u32 in_order_run;
	u32 ack_most;
	u32 repwin;
	u64 began_at;
	u64 progress_at;
	u64 lone_until;
	u64 again_until;
	u64 ack_repeat_at;
	u64 ack_repeat;
	u32 ack_repeats;
	u32 all_ack_repeats;
	bool crowded;
	bool solicited;
	bool in_turn;
	bool held;
	u32 again;
	u32 again_run;
	u32 gap_end;
	bool rewinds;
	u32 dropped;
	DECLARE_BITMAP(have, RMPP_RX_WINDOW_MAX);
};

/* Has all come that the last ACK allows, so that the sender waits for the next? */
static inline bool rmpp_rx_window_used_up(const struct rmpp_rx *rx)
{
	return rx->expected > rx->window_last;
}

/* May rmpp_rx_hold() let the sender wait? */
static inline bool rmpp_rx_may_hold(const struct rmpp_rx *rx)
{
	return rx->state == RMPP_RX_REASSEMBLING && !rx->held && rmpp_rx_window_used_up(rx);
}

/**
 * rmpp_rx_hush() - repeat no acknowledgment until a segment comes
 * @rx: the receiver
 *
 * Context: any.
 */
static inline void rmpp_rx_hush(struct rmpp_rx *rx)
{
	rx->ack_repeat_at = U64_MAX;
}

void rmpp_rx_init(struct rmpp_rx *rx, const struct rmpp_layout *layout,
		  u64 max_bytes, u32 first_window, u64 now);
void rmpp_rx_restore(struct rmpp_rx *rx, u32 last, u32 window_last, u32 repwin, u64 until,
		     u64 again_until);
enum rmpp_rx_verdict rmpp_rx_receive(struct rmpp_rx *rx,
				     const struct rmpp_packet *packet, u64 now);
enum rmpp_rx_verdict rmpp_rx_stored(struct rmpp_rx *rx,
				    const struct rmpp_packet *packet,
				    u64 now);
enum rmpp_rx_verdict rmpp_rx_no_room(struct rmpp_rx *rx);
enum rmpp_rx_verdict rmpp_rx_cancel(struct rmpp_rx *rx, u8 status);
enum rmpp_rx_verdict rmpp_rx_timer(struct rmpp_rx *rx, u64 now);
u64 rmpp_rx_slow_at(const struct rmpp_rx *rx);
u64 rmpp_rx_deadline(const struct rmpp_rx *rx);
void rmpp_rx_format_ack(struct rmpp_rx *rx, u32 window,
			struct rmpp_packet *ack);
void rmpp_rx_hold(struct rmpp_rx *rx, u64 until, struct rmpp_packet *ack);
u64 rmpp_rx_data_len(const struct rmpp_rx *rx);
enum rmpp_rx_verdict rmpp_rx_check_start(const struct rmpp_packet *packet,
					 u8 *status);

#endif /* UMAD_RMPP_RX_H */
