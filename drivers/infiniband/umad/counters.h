/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The counters of a port, in the order in which they are shown; no include guard:
 * UMAD_COUNTER(enumerator without UMAD_STAT_, name in debugfs, unit, meaning).
 * The table in Documentation/ is made from this list.
 */
UMAD_COUNTER(REGISTER_REFUSED, register_refused, "registrations",
	     "registrations that failed, other than by a bad pointer; by reason below")
UMAD_COUNTER(REGISTER_REFUSED_GONE, register_refused_gone, "registrations",
	     "the RDMA device was gone")
UMAD_COUNTER(REGISTER_REFUSED_QPN, register_refused_qpn, "registrations",
	     "a QP other than 0 and 1")
UMAD_COUNTER(REGISTER_REFUSED_FLAGS, register_refused_flags, "registrations",
	     "unknown flags")
UMAD_COUNTER(REGISTER_REFUSED_OUI, register_refused_oui, "registrations",
	     "an OUI of more than 24 bits")
UMAD_COUNTER(REGISTER_REFUSED_NOMEM, register_refused_nomem, "registrations",
	     "no memory, also of the cgroup")
UMAD_COUNTER(REGISTER_REFUSED_IDS, register_refused_ids, "registrations",
	     "a 33rd agent of a file")
UMAD_COUNTER(REGISTER_REFUSED_NO_QP, register_refused_no_qp, "registrations",
	     "QP0 or QP1 of a port without it: QP0 on RoCE, for instance")
UMAD_COUNTER(REGISTER_REFUSED_RMPP_VERSION, register_refused_rmpp_version, "registrations",
	     "an RMPP version above 1")
UMAD_COUNTER(REGISTER_REFUSED_USER_RMPP, register_refused_user_rmpp, "registrations",
	     "IB_USER_MAD_USER_RMPP with class 0")
UMAD_COUNTER(REGISTER_REFUSED_RMPP_CLASS, register_refused_rmpp_class, "registrations",
	     "RMPP version 1 with a class that has no RMPP header")
UMAD_COUNTER(REGISTER_REFUSED_VERSION, register_refused_version, "registrations",
	     "a class version that ib_core does not take: 0x83 and above")
UMAD_COUNTER(REGISTER_REFUSED_CLASS, register_refused_class, "registrations",
	     "a class that ib_core does not take: 0x50 and above, other than 0x81")
UMAD_COUNTER(REGISTER_REFUSED_NO_OUI, register_refused_no_oui, "registrations",
	     "a class of 0x30 to 0x4f without OUI")
UMAD_COUNTER(REGISTER_REFUSED_CLASS_QP, register_refused_class_qp, "registrations",
	     "class 0x01 or 0x81 on QP1, or another on QP0")
UMAD_COUNTER(REGISTER_REFUSED_NO_MADS, register_refused_no_mads, "registrations",
	     "a port that ib_core has not opened, as it had failed to")
UMAD_COUNTER(REGISTER_REFUSED_DENIED, register_refused_denied, "registrations",
	     "denied by a security module")
UMAD_COUNTER(REGISTER_REFUSED_OUIS, register_refused_ouis, "registrations",
	     "a ninth OUI of a class of 0x30 to 0x4f, or no memory for it")
UMAD_COUNTER(REGISTER_REFUSED_TAKEN, register_refused_taken, "registrations",
	     "a method of the class that another agent of the port has")
UMAD_COUNTER(REGISTER_REFUSED_OTHER, register_refused_other, "registrations",
	     "another error of ib_core")
UMAD_COUNTER(SEND_POSTED, send_posted, "MADs",
	     "first attempts handed to ib_core, or kept for that; an RMPP message counts as one")
UMAD_COUNTER(SEND_BACKLOGGED, send_backlogged, "MADs",
	     "of send_posted, those that had to wait for a place in ib_core")
UMAD_COUNTER(SEND_RESOLVED_BEFORE, send_resolved_before, "addresses",
	     "of writes and of messages to be answered, resolved within the last second (RoCE)")
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
	     "of send_refused, those beyond max_sends, or what the cgroup has room for")
UMAD_COUNTER(RECV_DELIVERED, recv_delivered, "MADs",
	     "queued for read(); an RMPP message counts as one")
UMAD_COUNTER(RECV_UNMATCHED, recv_unmatched, "MADs",
	     "responses without a request: late, unsolicited, or RMPP ones whose request ended")
UMAD_COUNTER(RECV_DROPPED_BUDGET, recv_dropped_budget, "MADs",
	     "dropped, as the receive queue of the file is full (recv_budget)")
UMAD_COUNTER(RECV_DROPPED_NOMEM, recv_dropped_nomem, "MADs",
	     "dropped, as memory was short; RMPP segments too, which are retransmitted")
UMAD_COUNTER(RECV_SHED, recv_shed, "MADs",
	     "of recv_delivered, those dropped unread, as the cgroup had no memory left")
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
UMAD_COUNTER(RMPP_SEND_SHED, rmpp_send_shed, "messages",
	     "of rmpp_tx_failed, answers that were ended, as the cgroup had no memory left")
UMAD_COUNTER(RMPP_SEND_REFUSED, rmpp_send_refused, "writes",
	     "writes of messages that failed for rmpp_send_bytes, or for a peer's part of it")
UMAD_COUNTER(RMPP_SEND_SHARED, rmpp_send_shared, "messages",
	     "sent with the data of an equal one that the file was sending")
UMAD_COUNTER(RMPP_RETRANSMITTED, rmpp_retransmitted, "segments",
	     "segments sent more than once")
UMAD_COUNTER(RMPP_RECEIVED, rmpp_received, "messages",
	     "received completely, and queued for read()")
UMAD_COUNTER(RMPP_RX_FAILED, rmpp_rx_failed, "messages",
	     "begun and ended before they were complete, but not refused")
UMAD_COUNTER(RMPP_REFUSED, rmpp_refused, "messages",
	     "refused with STOP for a limit, at their beginning or later")
UMAD_COUNTER(RMPP_EVICTED, rmpp_evicted, "messages",
	     "of rmpp_refused, those that made room for another while idle, or for a cgroup")
UMAD_COUNTER(RMPP_TURNS, rmpp_turns, "waits",
	     "of messages that share the port's window with many, for their turn")
UMAD_COUNTER(RMPP_ACKS_MERGED, rmpp_acks_merged, "ACKs",
	     "merged into a later one, as four of the message were in ib_core")
UMAD_COUNTER(RMPP_ANSWERS_DROPPED, rmpp_answers_dropped, "packets",
	     "not sent, as the file had rmpp_file_answers in ib_core")
UMAD_COUNTER(RMPP_UNMATCHED, rmpp_unmatched, "packets",
	     "packets that belong to no message")
