// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rmpp/tx.h"

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "umad_export.h"

/* Attempts wait no longer than in-tree: processes count on 2 s, in ms. */
#define ATTEMPT_MAX_MS		2000
/*
 * The floor of the measured timeout; timers may be some jiffies late, and a
 * receiver may be busy. RRespTime does not count, peers claim 4 us.
 */
#define RTO_MIN			(20 * NSEC_PER_MSEC)
/*
 * A receiver that allows nothing for now has others, and says when it has not, or our port
 * would get a probe and its answer for each wait.
 */
#define CLOSED_MIN		(500 * NSEC_PER_MSEC)
/* Before anything was measured. */
#define RTO_FIRST		(100 * NSEC_PER_MSEC)

/* Segments outstanding at first, what the in-tree receiver allows. */
#define CWND_FIRST		64
/*
 * Never fewer: once segments get lost a receiver of ours acknowledges each 32nd
 * (RMPP_RX_ACK_MAX), and with twice as many one lost ACK does no harm.
 */
#define CWND_MIN		64
#define CWND_MAX		4096
/*
 * @cwnd grows by one for so many acknowledged segments: slowly, an eighth. A receiver of ours
 * acknowledges more rarely half as fast (RMPP_RX_ACK_GROW_EVERY).
 */
#define GROW_EVERY		8
/*
 * So many repeated acknowledgments are a loss, fewer may be reordering. More
 * of them are needed where that was wrong, but no more than CWND_MIN
 * segments can bring about.
 */
#define REORDERING_FIRST		3
#define REORDERING_MAX		12
/* Segments behind the gap that each further one tells of, from ours. */
#define REPEAT_SEGS		4
/* The gap is not sent again before a round trip and this have passed. */
#define GAP_RETRY		NSEC_PER_MSEC

/**
 * rmpp_tx_init() - begin to send a message
 * @tx: to be filled in
 * @segs: segments of the message, at least one
 * @window: segments the receiver is known to allow: one, or what the
 *	turn-around ACK of a double-sided transfer said (IBA 13.6.6.3)
 * @timeout_ms: as written by the process: each attempt's, 0 for none
 * @retries: attempts after the first
 * @now: the time
 *
 * Context: any; the caller serialises all calls for one @tx.
 */
void rmpp_tx_init(struct rmpp_tx *tx, u32 segs, u32 window, u32 timeout_ms,
		  u32 retries, u64 now)
{
	u64 attempt;

	if (!timeout_ms || timeout_ms > ATTEMPT_MAX_MS)
		timeout_ms = ATTEMPT_MAX_MS;
	attempt = timeout_ms * (u64)NSEC_PER_MSEC;

	memset(tx, 0, sizeof(*tx));
	tx->state = RMPP_TX_SENDING;
	tx->segs = segs;
	tx->una = 1;
	tx->next = 1;
	tx->window_last = clamp_t(u32, window, 1, segs);
	tx->cwnd = CWND_FIRST;
	tx->reordering = REORDERING_FIRST;
	tx->rtt_min = U64_MAX;
	tx->ssthresh = CWND_MAX;
	tx->rto_max = attempt;
	tx->rto = min_t(u64, RTO_FIRST, attempt);
	/* Cannot overflow: 2 s in ns take 31 bits, retries 32. */
	tx->give_up_after = attempt * ((u64)retries + 1);
	tx->progress_at = now;
	tx->heard_at = now;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_init);

static bool has_outstanding(const struct rmpp_tx *tx)
{
	return tx->next > tx->una;
}

static void tx_fail(struct rmpp_tx *tx, enum rmpp_reason reason, u8 status)
{
	WRITE_ONCE(tx->state, RMPP_TX_FAILED);
	tx->reason = reason;
	tx->status = status;
	tx->rto_at = 0;
}

/*
 * The limit on what is outstanding works with a receiver that acknowledges as
 * it goes; one that waits for the end of its window must be given it all. But no
 * receiver needs a window that is larger than ours can be: one without end would have
 * two packets call for a whole message, of who may have forged its address.
 */
static u32 send_limit(const struct rmpp_tx *tx)
{
	u64 limit = (u64)tx->una - 1 + CWND_MAX;

	if (tx->early_acks)
		limit = (u64)tx->una - 1 + tx->cwnd + tx->inflation;
	return min_t(u64, limit, tx->window_last);
}

/*
 * The segment before the gap has arrived, and makes the receiver say where it stands.
 * But to one that may have it all, and has forgotten it since, a first one begins a
 * message, and the second of two ends it. That is always answered, and so its own probe:
 * two are less likely to get lost. 0: there is none.
 */
static u32 probe_seg(const struct rmpp_tx *tx, u64 now)
{
	if (tx->una != 2 || tx->next <= tx->segs)
		return tx->una - 1;
	if (tx->segs == 2)
		return 2;
	return now - tx->heard_at < RMPP_TX_WAIT_MAX ? 1 : 0;
}

static void segment_post(struct rmpp_tx *tx, u64 now)
{
	if (!tx->posted++)
		tx->posted_at = now;
	tx->rto_at = now + tx->rto;
}

static u32 segment_retransmit(struct rmpp_tx *tx, u32 seg, u64 now)
{
	/*
	 * What has been sent twice measures nothing (Karn), and a gap delays
	 * the answer to what is behind it; but with @rto_backoff even that is welcome.
	 */
	if (!tx->rto_backoff || seg == tx->timed_seg)
		tx->timed_seg = 0;
	tx->resent++;
	segment_post(tx, now);
	return seg;
}

static bool may_send_new(const struct rmpp_tx *tx)
{
	return tx->next <= tx->segs && tx->next <= send_limit(tx);
}

/**
 * rmpp_tx_may_send() - is something to be sent?
 * @tx: the sender
 *
 * Context: any.
 * Return: false if rmpp_tx_next() would return 0; it may even if true.
 */
bool rmpp_tx_may_send(const struct rmpp_tx *tx)
{
	return tx->state == RMPP_TX_SENDING && tx->posted < RMPP_TX_POSTED_MAX &&
	       (tx->send_gap || tx->send_probe || may_send_new(tx));
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_may_send);

/**
 * rmpp_tx_next() - what to send now
 * @tx: the sender
 * @now: the time
 *
 * Call until it returns 0: after rmpp_tx_init(), and after each event.
 * Context: any.
 * Return: the number of a segment, which is taken to be posted: rmpp_tx_sent()
 * has to follow when the send queue is done with it; or 0 for nothing.
 */
u32 rmpp_tx_next(struct rmpp_tx *tx, u64 now)
{
	u32 probe;

	if (!rmpp_tx_may_send(tx))
		return 0;

	if (tx->send_gap) {
		tx->send_gap = tx->gap_next < tx->gap_last;
		tx->gap_sent_at = now;
		/* Nothing new is left that could show gaps further on. */
		if (tx->next > tx->segs)
			tx->recover = tx->segs;
		return segment_retransmit(tx, tx->gap_next++, now);
	}
	probe = tx->send_probe ? probe_seg(tx, now) : 0;
	tx->send_probe = false;
	if (probe) {
		tx->probes++;
		tx->probed_at = now;
		return segment_retransmit(tx, probe, now);
	}
	if (!may_send_new(tx))
		return 0;

	if (!tx->timed_seg) {
		tx->timed_seg = tx->next;
		tx->timed_at = now;
	}
	segment_post(tx, now);
	/* Do not count time spent in the send queue. */
	tx->progress_at = now;
	return tx->next++;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_next);

/**
 * rmpp_tx_sent() - the send queue is done with a segment, sent or not
 * @tx: the sender
 * @now: the time
 *
 * One that was not sent is as good as lost on the way. The deadline may change.
 * Context: any.
 */
void rmpp_tx_sent(struct rmpp_tx *tx, u64 now)
{
	u64 silence = 0;

	if (--tx->posted)
		return;
	/* What it took to send is not the receiver's silence: but ours. */
	if (tx->posted_at > tx->progress_at)
		silence = tx->posted_at - tx->progress_at;
	tx->progress_at = now - silence;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_sent);

/* Smooth the round trip as RFC 6298 does, and set the timeout by it. */
static void rtt_update(struct rmpp_tx *tx, u64 rtt)
{
	u64 diff = rtt > tx->srtt ? rtt - tx->srtt : tx->srtt - rtt;

	if (tx->srtt) {
		tx->rttvar = (3 * tx->rttvar + diff) / 4;
		tx->srtt = (7 * tx->srtt + rtt) / 8;
	} else {
		tx->srtt = max_t(u64, rtt, 1);
		tx->rttvar = rtt / 2;
	}
	tx->rtt_min = min(tx->rtt_min, rtt);
	tx->rto_backoff = false;
}

/* Not used with @rto_backoff: what was too short once would be so again. */
static u64 rto_measured(const struct rmpp_tx *tx)
{
	u64 rto = tx->srtt ? tx->srtt + 4 * tx->rttvar : RTO_FIRST;

	return min(max_t(u64, rto, RTO_MIN), tx->rto_max);
}

static void rtt_sample(struct rmpp_tx *tx, const struct rmpp_packet *packet,
		       u64 now)
{
	if (tx->timed_seg && packet->seg >= tx->timed_seg) {
		rtt_update(tx, now - tx->timed_at);
		tx->timed_seg = 0;
	} else if (tx->probes == 1 && !tx->early_acks &&
		   packet->seg < tx->window_last) {
		/* Nothing but the probe can have called for this. */
		rtt_update(tx, now - tx->probed_at);
	}
}

/* From @una on, so many of those that may be missing are to be sent again. */
static void resend_gap(struct rmpp_tx *tx, u32 run)
{
	tx->gap_run = run;
	tx->gap_next = tx->una;
	tx->gap_last = min_t(u64, (u64)tx->una + run - 1, max(tx->recover, tx->una));
	tx->send_gap = true;
}

/* Something between here and there was full: send less, from @una on. */
static void enter_recovery(struct rmpp_tx *tx)
{
	u32 outstanding = tx->next - tx->una;

	tx->recover = tx->next - 1;
	tx->prior_cwnd = tx->cwnd;
	tx->cwnd = max_t(u32, min(tx->cwnd, outstanding) / 2, CWND_MIN);
	tx->ssthresh = tx->cwnd;
	tx->grown = 0;
	tx->inflation = 0;
	tx->gap_sent_at = 0;
	resend_gap(tx, 1);
}

static void cwnd_grow(struct rmpp_tx *tx, u32 acked)
{
	if (tx->cwnd < tx->ssthresh) {
		tx->cwnd = min_t(u64, (u64)tx->cwnd + acked, CWND_MAX);
		return;
	}
	tx->grown += acked;
	while (tx->grown >= GROW_EVERY && tx->cwnd < CWND_MAX) {
		tx->grown -= GROW_EVERY;
		tx->cwnd++;
	}
}

/*
 * Was it reordering? Then the answer came sooner than any could to what was
 * sent again. @rtt_min is lowered to what such an answer took, so that an
 * error of it does not last.
 */
static bool was_reordering(struct rmpp_tx *tx, u64 now)
{
	u64 since = now - tx->gap_sent_at;
	bool sooner = since < tx->rtt_min / 4 * 3;

	/* It has had no turn yet. */
	if (!tx->gap_sent_at)
		return true;
	tx->rtt_min = min(tx->rtt_min, since);
	return sooner;
}

static void leave_recovery(struct rmpp_tx *tx)
{
	tx->recover = 0;
	tx->send_gap = false;
	tx->prior_cwnd = 0;
}

/* Acknowledged, with a loss noticed before: is it made good? */
static void recovery_update(struct rmpp_tx *tx, u64 now)
{
	u64 limit = (u64)tx->una - 1 + tx->cwnd;
	u64 wanted = (u64)tx->next - 1 + REORDERING_FIRST;

	if (tx->prior_cwnd && was_reordering(tx, now)) {
		tx->cwnd = tx->prior_cwnd;
		tx->reordering = min_t(u32, 2 * tx->reordering, REORDERING_MAX);
		tx->inflation = 0;
		leave_recovery(tx);
		return;
	}
	if (tx->prior_cwnd && tx->reordering > REORDERING_FIRST)
		tx->reordering--;
	tx->prior_cwnd = 0;
	/*
	 * Some new ones in any case: should there be a loss behind those, or
	 * what is sent again be lost again, they make the receiver say so.
	 */
	tx->inflation = wanted > limit ? wanted - limit : 0;
	if (tx->una > tx->recover) {
		leave_recovery(tx);
		return;
	}
	/* The rest of what is sent again is on its way, or is to be sent. */
	if (tx->una <= tx->gap_last) {
		tx->gap_next = max(tx->gap_next, tx->una);
		tx->send_gap = tx->gap_next <= tx->gap_last;
		return;
	}
	/*
	 * It stopped short: here is the next gap. If that goes on where what was sent again ends,
	 * many in a row were lost, and one at a time would take a round trip for each. With
	 * nothing new to send behind it, the receiver may see no gap, and acknowledge late.
	 */
	resend_gap(tx, tx->una == tx->gap_last + 1 ? min(2 * tx->gap_run, tx->cwnd) : 1);
	tx->send_probe = !tx->early_acks || !may_send_new(tx);
}

static void acked_more(struct rmpp_tx *tx, u32 seg, u64 now)
{
	u32 acked = seg + 1 - tx->una;
	u64 wait;

	tx->una = seg + 1;
	tx->dup_acks = 0;
	tx->probes = 0;
	tx->progress_at = now;
	tx->waited = 0;
	tx->send_probe = false;
	if (tx->una > tx->segs) {
		WRITE_ONCE(tx->state, RMPP_TX_ACKED);
		tx->rto_at = 0;
		return;
	}
	if (!tx->rto_backoff)
		tx->rto = rto_measured(tx);
	wait = tx->rto;
	if (tx->window_last < tx->una)
		wait = min_t(u64, max_t(u64, wait, CLOSED_MIN), tx->rto_max);
	tx->rto_at = now + wait;
	if (tx->recover) {
		recovery_update(tx, now);
	} else {
		tx->inflation -= min(tx->inflation, acked);
		cwnd_grow(tx, acked);
	}
}

static void acked_again(struct rmpp_tx *tx, u64 now)
{
	u64 again = tx->srtt + max_t(u64, 4 * tx->rttvar, GAP_RETRY);

	if (!has_outstanding(tx))
		return;
	tx->dup_acks++;
	if (!tx->recover) {
		if (tx->dup_acks >= tx->reordering)
			enter_recovery(tx);
		return;
	}
	/* It tells of segments that have left the way: others may follow. */
	tx->inflation = min_t(u32, tx->inflation + REPEAT_SEGS, CWND_MAX);
	/*
	 * The gap was sent again, and is still one: but answers to what was
	 * sent before it come in for a round trip.
	 */
	if (now - tx->gap_sent_at > again)
		resend_gap(tx, 1);
}

/* IBA 13.6.6.1; what is old or reordered is let pass, as in-tree. */
static void receive_ack(struct rmpp_tx *tx, const struct rmpp_packet *packet,
			u64 now)
{
	u32 window_last = tx->window_last;

	if (packet->status) {
		tx_fail(tx, RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_BAD_STATUS);
		return;
	}
	if (packet->len < packet->seg) {
		tx_fail(tx, RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_W2S);
		return;
	}
	if (packet->seg >= tx->next) {
		tx_fail(tx, RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_S2B);
		return;
	}
	if (packet->seg + 1 < tx->una)
		return;
	tx->heard_at = now;

	if (packet->seg >= tx->una)
		rtt_sample(tx, packet, now);
	/* In-tree a window is not widened before it is used up. */
	if (packet->seg < window_last && window_last < tx->segs &&
	    packet->len > window_last)
		tx->early_acks = true;
	/* The window may reach beyond the message; it never shrinks. */
	tx->window_last = max(window_last, min(packet->len, tx->segs));

	if (packet->seg >= tx->una)
		acked_more(tx, packet->seg, now);
	else if (tx->window_last == window_last)
		acked_again(tx, now);
}

/**
 * rmpp_tx_receive() - a packet of the receiver's has come
 * @tx: the sender
 * @packet: with the Active flag set; any type, any version
 * @now: the time
 *
 * The state may change. STOP and ABORT are never answered; other violations
 * are, see rmpp_tx_must_abort().
 * Context: any.
 */
void rmpp_tx_receive(struct rmpp_tx *tx, const struct rmpp_packet *packet,
		     u64 now)
{
	if (tx->state != RMPP_TX_SENDING)
		return;
	/* These two first: not even one of another version is answered. */
	if (packet->type == IB_MGMT_RMPP_TYPE_STOP) {
		tx_fail(tx, RMPP_REASON_STOPPED, packet->status);
		return;
	}
	if (packet->type == IB_MGMT_RMPP_TYPE_ABORT) {
		tx_fail(tx, RMPP_REASON_ABORTED, packet->status);
		return;
	}
	if (packet->version != IB_MGMT_RMPP_VERSION) {
		tx_fail(tx, RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_UNV);
		return;
	}
	switch (packet->type) {
	case IB_MGMT_RMPP_TYPE_ACK:
		receive_ack(tx, packet, now);
		break;
	case IB_MGMT_RMPP_TYPE_DATA:
		/* Both sides cannot send: Figure 178 discards it. */
		break;
	default:
		tx_fail(tx, RMPP_REASON_PROTOCOL_ERROR, IB_MGMT_RMPP_STATUS_BADT);
		break;
	}
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_receive);

/* Nothing came: send the first one again, and ask where the receiver stands. */
static void timed_out(struct rmpp_tx *tx)
{
	/* No other sign of a loss: perhaps @rto was too short. */
	if (!tx->recover && !tx->dup_acks)
		tx->rto_backoff = true;
	tx->rto = min(2 * tx->rto, tx->rto_max);
	tx->timed_seg = 0;
	tx->dup_acks = 0;
	if (has_outstanding(tx)) {
		enter_recovery(tx);
		/* This is no reordering, whatever comes. */
		tx->prior_cwnd = 0;
	}
	tx->send_probe = tx->una > 1;
}

/**
 * rmpp_tx_timer() - the deadline has come, or has not
 * @tx: the sender
 * @now: the time
 *
 * Context: any.
 */
void rmpp_tx_timer(struct rmpp_tx *tx, u64 now)
{
	if (tx->state != RMPP_TX_SENDING)
		return;
	/* The clock may have been read before the last progress was made. */
	now = max(now, tx->progress_at);
	if (!tx->posted && now - tx->progress_at >= tx->give_up_after) {
		tx_fail(tx, RMPP_REASON_TIMEOUT, IB_MGMT_RMPP_STATUS_TMR);
		return;
	}
	if (!tx->rto_at || now < tx->rto_at)
		return;

	/* In the send queue still: that is slow, not the receiver. */
	if (!tx->posted)
		timed_out(tx);
	tx->rto_at = now + tx->rto;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_timer);

/**
 * rmpp_tx_will_resend() - would rmpp_tx_timer() have something sent again?
 * @tx: the sender
 * @now: the time
 *
 * Context: any.
 * Return: false when nothing is due, or it would give up.
 */
bool rmpp_tx_will_resend(const struct rmpp_tx *tx, u64 now)
{
	return tx->state == RMPP_TX_SENDING && !tx->posted && tx->rto_at &&
	       now >= tx->rto_at &&
	       max(now, tx->progress_at) - tx->progress_at < tx->give_up_after;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_will_resend);

/**
 * rmpp_tx_deadline() - when to call rmpp_tx_timer()
 * @tx: the sender
 *
 * Context: any.
 * Return: the time, or U64_MAX when no time matters.
 */
u64 rmpp_tx_deadline(const struct rmpp_tx *tx)
{
	u64 give_up = tx->progress_at + tx->give_up_after;

	if (tx->state != RMPP_TX_SENDING)
		return U64_MAX;
	/* With something posted @rto_at is set, and giving up is put off. */
	if (tx->posted)
		return tx->rto_at;
	return tx->rto_at ? min(tx->rto_at, give_up) : give_up;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_deadline);

/**
 * rmpp_tx_must_abort() - is the receiver to be told that it failed?
 * @tx: the sender, FAILED
 *
 * Context: any.
 * Return: true when an ABORT with @tx->status is to be sent.
 */
bool rmpp_tx_must_abort(const struct rmpp_tx *tx)
{
	return tx->reason == RMPP_REASON_TIMEOUT ||
	       tx->reason == RMPP_REASON_PROTOCOL_ERROR;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_must_abort);
