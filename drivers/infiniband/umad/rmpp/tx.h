/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The sender of one RMPP message (IBA 13.6.6.1 and Figure 178). Pure: events
 * and the time go in; what is to be sent, when to call again and how it ended
 * come out. It has no lock, no clock, no memory of its own and no segment's
 * bytes. Times are nanoseconds of a monotonic clock.
 */
#ifndef UMAD_RMPP_TX_H
#define UMAD_RMPP_TX_H

#include <linux/time64.h>
#include <linux/types.h>
#include "rmpp/wire.h"

/* Segments one message may have in the send queue: others want it too. */
#define RMPP_TX_POSTED_MAX	64
/* With a timeout before it, what a receiver remembers for: 10 s. */
#define RMPP_TX_WAIT_MAX	(8ULL * NSEC_PER_SEC)

/**
 * enum rmpp_tx_state - where a sender stands
 * @RMPP_TX_SENDING: segments are to be sent, or to be acknowledged
 * @RMPP_TX_ACKED: the receiver has them all
 * @RMPP_TX_FAILED: it will not get them, @reason and @status say why
 */
enum rmpp_tx_state {
	RMPP_TX_SENDING,
	RMPP_TX_ACKED,
	RMPP_TX_FAILED,
};

/**
 * enum rmpp_reason - why a message was not delivered; seen by processes as the first
 *	byte of &ib_user_mad_hdr.reserved
 * @RMPP_REASON_NONE: it was delivered
 * @RMPP_REASON_TIMEOUT: the receiver acknowledged nothing for too long
 * @RMPP_REASON_STOPPED: the receiver sent STOP
 * @RMPP_REASON_ABORTED: the receiver sent ABORT
 * @RMPP_REASON_PROTOCOL_ERROR: the receiver broke the protocol, and was sent ABORT
 * @RMPP_REASON_NO_MEMORY: the sender's memory was needed, and the receiver was sent STOP
 */
enum rmpp_reason {
	RMPP_REASON_NONE,
	RMPP_REASON_TIMEOUT,
	RMPP_REASON_STOPPED,
	RMPP_REASON_ABORTED,
	RMPP_REASON_PROTOCOL_ERROR,
	RMPP_REASON_NO_MEMORY,
};

/**
 * struct rmpp_tx - a sender
 * @state: where it stands
 * @reason: why it failed
 * @status: RMPPStatus that was received or is to be sent in an ABORT; 0: none
 * @segs: segments of the message
 * @una: first segment not acknowledged, WF of the specification
 * @next: first segment never sent, NS
 * @window_last: last segment the receiver allows, WL; never shrinks
 * @cwnd: segments that may be unacknowledged: shrinks under loss
 * @ssthresh: @cwnd from which on it grows slowly
 * @grown: segments acknowledged since @cwnd last grew by one
 * @recover: last segment that was out when a loss was noticed; 0: no loss
 * @prior_cwnd: @cwnd before the loss, until it is sure that it was one
 * @reordering: repeated acknowledgments that are taken for a loss
 * @dup_acks: acknowledgments in a row that say nothing new
 * @inflation: segments that may be sent beyond @cwnd, for those behind the gap
 *	that have arrived
 * @early_acks: the receiver acknowledges before its window is used up, and
 *	when it misses a segment; one of the in-tree kernel does neither
 * @send_gap: @gap_next to @gap_last are to be sent again
 * @gap_next: see there
 * @gap_last: see there; what was sent again last ends with it
 * @gap_run: so many segments are sent again at a time
 * @send_probe: the segment before @una is to be sent again: any receiver
 *	answers a segment that it has with its true position
 * @gap_sent_at: when a segment was last sent again, not as a probe; 0: not since the
 *	loss was noticed
 * @probes: probes sent since something was last acknowledged
 * @probed_at: when the last of them was
 * @posted: segments in the send queue
 * @posted_at: since when there is one
 * @timed_seg: segment whose round trip is being measured; 0: none
 * @timed_at: when it was sent
 * @srtt: smoothed round trip; 0: not measured yet
 * @rttvar: its mean deviation
 * @rtt_min: shortest round trip so far
 * @rto: how long to wait for an acknowledgment
 * @rto_backoff: it ran out with no other sign of a loss, so it may be too short: do
 *	not lower @rto before a round trip has been measured
 * @rto_at: when to stop waiting; 0: nothing is waited for
 * @rto_max: the most @rto may become
 * @give_up_after: give up when nothing was acknowledged for so long
 * @progress_at: when something was; later by the time that sending took
 * @waited: of that, what the caller kept it from sending for
 * @heard_at: when an ACK came last, also of what was acknowledged before
 * @resent: segments sent more than once, for the counters
 */
struct rmpp_tx {
	enum rmpp_tx_state state;
	enum rmpp_reason reason;
	u8 status;
	u32 segs;
	u32 una;
	u32 next;
	u32 window_last;
	u32 cwnd;
	u32 ssthresh;
	u32 grown;
	u32 recover;
	u32 prior_cwnd;
	u32 reordering;
	u32 dup_acks;
	u32 inflation;
	bool early_acks;
	bool send_gap;
	u32 gap_next;
	u32 gap_last;
	u32 gap_run;
	bool send_probe;
	u64 gap_sent_at;
	u32 probes;
	u64 probed_at;
	u32 posted;
	u64 posted_at;
	u32 timed_seg;
	u64 timed_at;
	u64 srtt;
	u64 rttvar;
	u64 rtt_min;
	u64 rto;
	bool rto_backoff;
	u64 rto_at;
	u64 rto_max;
	u64 give_up_after;
	u64 progress_at;
	u64 waited;
	u64 heard_at;
	u32 resent;
};

void rmpp_tx_init(struct rmpp_tx *tx, u32 segs, u32 window, u32 timeout_ms,
		  u32 retries, u64 now);
bool rmpp_tx_may_send(const struct rmpp_tx *tx);
u32 rmpp_tx_next(struct rmpp_tx *tx, u64 now);
void rmpp_tx_sent(struct rmpp_tx *tx, u64 now);
void rmpp_tx_receive(struct rmpp_tx *tx, const struct rmpp_packet *packet,
		     u64 now);
void rmpp_tx_timer(struct rmpp_tx *tx, u64 now);
bool rmpp_tx_will_resend(const struct rmpp_tx *tx, u64 now);
u64 rmpp_tx_deadline(const struct rmpp_tx *tx);
bool rmpp_tx_must_abort(const struct rmpp_tx *tx);

/* tx_wait.c */
void rmpp_tx_waited(struct rmpp_tx *tx, u64 since, u64 now);
u64 rmpp_tx_wait_deadline(const struct rmpp_tx *tx, u64 since);
void rmpp_tx_held(struct rmpp_tx *tx, u64 since, u64 now);
bool rmpp_tx_is_silent(const struct rmpp_tx *tx, u64 now);
void rmpp_tx_no_memory(struct rmpp_tx *tx);

#endif /* UMAD_RMPP_TX_H */
