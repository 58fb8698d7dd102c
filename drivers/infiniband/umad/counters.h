/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The counters of a port, in the order in which they are shown; no include guard:
 * UMAD_COUNTER(enumerator without UMAD_STAT_, name in debugfs, unit, meaning).
 * The table in Documentation/ is made from this list.
 */
UMAD_COUNTER(SEND_POSTED, send_posted, "MADs",
	     "first attempts handed to ib_core, or kept for that; an RMPP message counts as one")
UMAD_COUNTER(SEND_BACKLOGGED, send_backlogged, "MADs",
	     "of send_posted, those that had to wait for a place in ib_core")
UMAD_COUNTER(SEND_RETRIED, send_retried, "MADs",
	     "further attempts handed to ib_core after a timeout")
UMAD_COUNTER(SEND_COMPLETED, send_completed, "MADs",
	     "requests answered; without a response: MADs sent, RMPP messages acknowledged")
UMAD_COUNTER(SEND_TIMED_OUT, send_timed_out, "MADs",
	     "requests reported to the caller with ETIMEDOUT")
UMAD_COUNTER(SEND_FAILED, send_failed, "MADs",
	     "attempts, and RMPP segments, that failed on this host")
UMAD_COUNTER(SEND_CANCELED, send_canceled, "MADs",
	     "outstanding requests that unregistering, close or removal ended")
UMAD_COUNTER(SEND_REFUSED, send_refused, "writes",
	     "writes that failed after their MAD was copied and their agent found")
UMAD_COUNTER(SEND_DUPLICATE, send_duplicate, "writes",
	     "of send_refused, those for a transaction ID in use")
UMAD_COUNTER(SEND_OVER_LIMIT, send_over_limit, "writes",
	     "of send_refused, those beyond max_sends")
UMAD_COUNTER(RECV_DELIVERED, recv_delivered, "MADs",
	     "queued for read(); an RMPP message counts as one")
UMAD_COUNTER(RECV_UNMATCHED, recv_unmatched, "MADs",
	     "responses without a request: late, unsolicited, or RMPP ones whose request ended")
UMAD_COUNTER(RECV_DROPPED_BUDGET, recv_dropped_budget, "MADs",
	     "dropped, as the receive queue of the file is full (recv_budget)")
UMAD_COUNTER(RECV_DROPPED_NOMEM, recv_dropped_nomem, "MADs",
	     "dropped, as memory was short; RMPP segments too, which are retransmitted")
UMAD_COUNTER(RECV_DROPPED_GID, recv_dropped_gid, "MADs",
	     "dropped, as they were sent to a GID that is not in the port's table")
UMAD_COUNTER(RECV_DROPPED_FOREIGN, recv_dropped_foreign, "MADs",
	     "dropped responses: by another port; local ones that nothing on this port sent")
UMAD_COUNTER(RECV_DROPPED_DEAD, recv_dropped_dead, "MADs",
	     "dropped, as the agent or the file was going away")
UMAD_COUNTER(READ_SHORT, read_short, "reads",
	     "reads that failed, as the buffer was shorter than the entry")
UMAD_COUNTER(RMPP_SENT, rmpp_sent, "messages",
	     "acknowledged to the last segment, or answered by an RMPP message")
UMAD_COUNTER(RMPP_TX_FAILED, rmpp_tx_failed, "messages",
	     "failed, or stopped by their receiver after the delivery")
UMAD_COUNTER(RMPP_SEND_REFUSED, rmpp_send_refused, "writes",
	     "writes of messages that failed for rmpp_send_bytes, or half of it to one peer")
UMAD_COUNTER(RMPP_RETRANSMITTED, rmpp_retransmitted, "segments",
	     "segments sent more than once")
UMAD_COUNTER(RMPP_RECEIVED, rmpp_received, "messages",
	     "received completely, and queued for read()")
UMAD_COUNTER(RMPP_RX_FAILED, rmpp_rx_failed, "messages",
	     "begun and ended before they were complete, but not refused")
UMAD_COUNTER(RMPP_REFUSED, rmpp_refused, "messages",
	     "refused with STOP for a limit, at their beginning or later")
UMAD_COUNTER(RMPP_EVICTED, rmpp_evicted, "messages",
	     "of rmpp_refused, those that were idle and made room for another")
UMAD_COUNTER(RMPP_ACKS_MERGED, rmpp_acks_merged, "ACKs",
	     "merged into a later one, as four of the message were in ib_core")
UMAD_COUNTER(RMPP_UNMATCHED, rmpp_unmatched, "packets",
	     "packets that belong to no message")
