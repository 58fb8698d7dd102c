// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp_send.h"

#include <linux/err.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/time64.h>
#include "agent.h"
#include "ah.h"
#include "port.h"
#include "file.h"
#include "post.h"
#include "rmpp_recv.h"
#include "segbuf.h"
#include "send.h"

/*
 * Segments that one call hands to ib_core. Where they are acknowledged as fast as they
 * are posted, the caller would not come back before the end of the message; the timer
 * goes on.
 */
#define PUMP_MAX	4096

/**
 * umad_rmpp_tx_mad() - the MAD header of a message
 * @tx: the message
 *
 * Context: any.
 * Return: the header, that each segment begins with.
 */
struct ib_mad_hdr *umad_rmpp_tx_mad(struct umad_rmpp_tx *tx)
{
	return (struct ib_mad_hdr *)tx->head;
}

/**
 * umad_rmpp_tx_start() - set up the engine of a message
 * @send: with a message that nobody else knows yet; inside the agent's gate
 *
 * Context: process; takes &umad_file.lock; does not sleep.
 */
void umad_rmpp_tx_start(struct umad_send *send)
{
	const struct ib_user_mad_hdr *hdr = &send->hdr;
	struct umad_port *port = send->file->port;
	struct umad_rmpp_tx *tx = send->rmpp;
	struct ib_mad_hdr *mad = umad_rmpp_tx_mad(tx);
	u32 window = 1, segs;

	tx->send = send;
	tx->mad_size = sizeof(struct ib_mad);
	if (rdma_cap_opa_mad(port->ib_dev, port->port_num) &&
	    mad->base_version == OPA_MGMT_BASE_VERSION)
		tx->mad_size = sizeof(struct opa_mad);
	tx->layout = rmpp_layout_of(mad->mgmt_class, tx->mad_size);
	segs = rmpp_segments(&tx->layout, tx->data_len);
	/* The answer of a double-sided transfer begins with their window. */
	if (ib_response_mad(mad))
		window = umad_rmpp_rx_reply_window(send->agent, hdr, mad);
	rmpp_tx_init(&tx->engine, segs, window, hdr->timeout_ms, hdr->retries,
		     ktime_get_ns());
}

static void segment_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_send *send = umad_post_owner(buf);
	struct umad_file *file = send->file;

	umad_post_free(buf, send->ah);
	spin_lock(&file->lock);
	rmpp_tx_sent(&send->rmpp->engine, ktime_get_ns());
	if (status != IB_WC_SUCCESS && !send->agent->dying)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_FAILED);
	spin_unlock(&file->lock);
	umad_rmpp_tx_pump(send);
	umad_send_put(send);
}

/* The same for the placeholder, which does not count as posted any more. */
static void held_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_send *send = umad_post_owner(buf);
	struct umad_file *file = send->file;
	bool finish = false;

	spin_lock(&file->lock);
	if (send->waiting == buf)
		send->waiting = NULL;
	if (status != IB_WC_SUCCESS && status != IB_WC_WR_FLUSH_ERR)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_FAILED);
	/* The response has overtaken the last ACK, and there was no room for it. */
	if (send->answer_lost)
		umad_send_step(send, UMAD_TXN_EV_LOST, status, ktime_get(), &finish);
	spin_unlock(&file->lock);
	umad_post_free(buf, send->ah);
	if (finish)
		umad_send_finish(send);
	umad_send_put(send);
}

static void fill_segment(struct umad_rmpp_tx *tx, u32 seg,
			 struct ib_rmpp_mad *mad)
{
	size_t offset = (size_t)(seg - 1) * tx->layout.data;
	size_t len = min_t(size_t, tx->layout.data, tx->data_len - offset);
	u32 segs = rmpp_segments(&tx->layout, tx->data_len);
	u32 class_hdr = tx->layout.hdr - IB_MGMT_RMPP_HDR;
	struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_DATA,
		.seg = seg,
	};

	/* IBA 13.6.2.3: each segment's class header counts. */
	if (seg == 1) {
		packet.flags |= IB_MGMT_RMPP_FLAG_FIRST;
		packet.len = tx->data_len + segs * class_hdr;
	}
	if (seg == segs) {
		packet.flags |= IB_MGMT_RMPP_FLAG_LAST;
		packet.len = len + class_hdr;
	}
	rmpp_format(mad, &packet);
	umad_segbuf_read(tx->data, offset, (void *)mad + tx->layout.hdr, len);
}

/*
 * A response of one MAD can come before the last ACK, or in its place if that
 * was lost. So the last segment stays in ib_core as the placeholder, if there is
 * none; an ACK uses it up, and the turn-around ACK follows it.
 */
static bool hold(struct umad_send *send, struct ib_mad_send_buf *buf)
{
	bool holds;

	spin_lock(&send->file->lock);
	holds = !send->waiting && send->txn.state == UMAD_TXN_WAIT;
	if (holds) {
		umad_post_wait_for_ever(buf);
		umad_post_set_done(buf, held_done);
		send->waiting = buf;
	}
	spin_unlock(&send->file->lock);
	return holds;
}

/* ib_core has taken the placeholder, or not, and does not say when it has left. */
static void held(struct umad_send *send, struct ib_mad_send_buf *buf, int err)
{
	spin_lock(&send->file->lock);
	if (!err)
		rmpp_tx_sent(&send->rmpp->engine, ktime_get_ns());
	else if (send->waiting == buf)
		send->waiting = NULL;
	/* It may have ended before ib_core knew what to take back. */
	if (!err && send->txn.state == UMAD_TXN_DONE)
		umad_send_take_back(send);
	spin_unlock(&send->file->lock);
}

static int post_segment(struct umad_send *send, u32 seg)
{
	struct umad_rmpp_tx *tx = send->rmpp;
	const struct umad_post post = {
		.core = send->agent->core,
		.ah = send->ah,
		.qpn = be32_to_cpu(send->hdr.qpn),
		.pkey_index = send->hdr.pkey_index,
		.head = tx->head,
		.head_len = tx->layout.hdr,
		.len = tx->mad_size,
		.gfp = UMAD_POST_NOWAIT,
		.done = segment_done,
		.owner = send,
	};
	struct ib_mad_send_buf *buf;
	bool holds;
	int ret;

	buf = umad_post_build(&post);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	fill_segment(tx, seg, buf->mad);
	umad_send_get(send);
	holds = seg == tx->engine.segs && hold(send, buf);
	ret = ib_post_send_mad(buf, NULL);
	if (holds)
		held(send, buf, ret);
	if (ret) {
		umad_post_free(buf, send->ah);
		umad_send_put(send);
	}
	return ret;
}

/**
 * umad_rmpp_tx_is_active() - is its message still to be sent?
 * @send: with a message
 *
 * Context: process, &umad_file.lock held.
 * Return: false when its transaction has ended, or its agent ends.
 */
bool umad_rmpp_tx_is_active(const struct umad_send *send)
{
	return !send->agent->dying && (send->txn.state == UMAD_TXN_WAIT ||
				       send->txn.state == UMAD_TXN_SEND);
}

/* When its timer is to run next. */
static u64 next_deadline(const struct umad_send *send)
{
	if (!umad_rmpp_tx_is_active(send))
		return U64_MAX;
	return min(rmpp_tx_deadline(&send->rmpp->engine), send->rmpp->turn_at);
}

/**
 * umad_rmpp_tx_arm() - have the timer run when something is to be done next
 * @send: with a message
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_tx_arm(struct umad_send *send)
{
	umad_rmpp_set_timer(send->file, &send->rmpp->timer, next_deadline(send));
}

/**
 * umad_rmpp_tx_pump() - hand to ib_core what may be sent now
 * @send: with a message; inside the agent's gate, or in a handler of ib_core;
 *	the caller has a reference
 *
 * One thread at a time does it, so that segments leave in order; what another
 * finds to be done meanwhile is left to it.
 * Context: process; may sleep; hold no lock.
 */
void umad_rmpp_tx_pump(struct umad_send *send)
{
	struct umad_rmpp_tx *tx = send->rmpp;
	struct umad_file *file = send->file;
	unsigned int budget = PUMP_MAX;
	u32 seg, resent;

	spin_lock(&file->lock);
	tx->again = true;
	if (tx->pumping)
		goto out;
	tx->pumping = true;
	resent = tx->engine.resent;
	while (tx->again && budget) {
		tx->again = false;
		while (budget && umad_rmpp_tx_is_active(send) &&
		       (seg = rmpp_tx_next(&tx->engine, ktime_get_ns()))) {
			budget--;
			spin_unlock(&file->lock);
			cond_resched();
			if (post_segment(send, seg)) {
				umad_stat_inc(&file->port->stats,
					      UMAD_STAT_SEND_FAILED);
				spin_lock(&file->lock);
				rmpp_tx_sent(&tx->engine, ktime_get_ns());
				continue;
			}
			spin_lock(&file->lock);
		}
	}
	umad_stat_add(&file->port->stats, UMAD_STAT_RMPP_RESENT,
		      tx->engine.resent - resent);
	tx->pumping = false;
	if (budget || !umad_rmpp_tx_is_active(send))
		umad_rmpp_tx_arm(send);
	else
		umad_rmpp_set_timer(file, &tx->timer, ktime_get_ns());
out:
	spin_unlock(&file->lock);
}

/* An answer to the receiver's packets, or to its silence. */
static void post_control(struct umad_send *send, u8 type, u8 status)
{
	const struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = type,
		.status = status,
	};

	umad_rmpp_post_control(send->agent, send->ah, &send->hdr,
			       umad_rmpp_tx_mad(send->rmpp), &packet, NULL,
			       NULL);
}

/* The receiver has it all: the caller's time-out runs, for the response. */
static void wait_for_response(struct umad_send *send, ktime_t now)
{
	struct umad_txn *txn = &send->txn;

	umad_txn_wait_until(&send->file->txns, txn,
			    txn->timeout == UMAD_TXN_FOREVER ? KTIME_MAX :
			    ktime_add(now, txn->timeout));
	umad_send_arm(send->file, now);
}

static void acked(struct umad_send *send, ktime_t now, bool *finish)
{
	struct umad_stats *stats = &send->file->port->stats;

	umad_stat_inc(stats, UMAD_STAT_RMPP_SENT);
	if (send->txn.state == UMAD_TXN_WAIT) {
		wait_for_response(send, now);
		return;
	}
	umad_stat_inc(stats, UMAD_STAT_SEND_COMPLETED);
	umad_send_step(send, UMAD_TXN_EV_SENT, 0, now, finish);
}

/* The engine has taken an event: see to its end, or to what it sends next. */
static void settle(struct umad_send *send)
{
	bool finish = false, turn = false, abort = false;
	struct umad_rmpp_tx *tx = send->rmpp;
	struct umad_file *file = send->file;
	ktime_t now = ktime_get();

	spin_lock(&file->lock);
	if (umad_rmpp_tx_is_active(send) && !tx->settled &&
	    tx->engine.state == RMPP_TX_ACKED) {
		tx->settled = true;
		tx->response_window = umad_rmpp_window_offer(file->port,
							     ktime_to_ns(now));
		acked(send, now, &finish);
		turn = send->txn.state == UMAD_TXN_WAIT;
	} else if (umad_rmpp_tx_is_active(send) && !tx->settled &&
		   tx->engine.state == RMPP_TX_FAILED) {
		tx->settled = true;
		abort = rmpp_tx_must_abort(&tx->engine);
		umad_stat_inc(&file->port->stats, UMAD_STAT_RMPP_UNDELIVERED);
		umad_send_step(send, UMAD_TXN_EV_UNDELIVERED,
			       tx->engine.status, now, &finish);
	}
	spin_unlock(&file->lock);

	if (turn)
		umad_rmpp_turn_around(send);
	if (abort)
		post_control(send, IB_MGMT_RMPP_TYPE_ABORT, tx->engine.status);
	/* Sends what is next, or takes the timer away. */
	umad_rmpp_tx_pump(send);
	if (finish)
		umad_send_finish(send);
}

/**
 * umad_rmpp_tx_timer() - the engine's deadline has come
 * @send: with a message; inside the agent's gate; the caller has a reference
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_rmpp_tx_timer(struct umad_send *send)
{
	struct umad_rmpp_tx *tx = send->rmpp;
	bool turn = false;
	u64 now;

	spin_lock(&send->file->lock);
	now = ktime_get_ns();
	rmpp_tx_timer(&tx->engine, now);
	if (now >= tx->turn_at) {
		tx->turn_at = U64_MAX;
		turn = umad_rmpp_wants_turn(send);
	}
	spin_unlock(&send->file->lock);
	if (turn)
		umad_rmpp_turn_around(send);
	settle(send);
}

/**
 * umad_rmpp_tx_waited() - what has timed out has a turn to be sent again
 * @send: with a message; umad_rmpp_tx_timer() will be called
 * @now: the time
 *
 * Context: process, &umad_file.lock held.
 */
void umad_rmpp_tx_waited(struct umad_send *send, ktime_t now)
{
	lockdep_assert_held(&send->file->lock);
	rmpp_tx_waited(&send->rmpp->engine, ktime_to_ns(send->again_since),
		       ktime_to_ns(now));
	/* It may be two segments, and the last one does not say when it has left. */
	umad_pace_unknown(&send->file->port->pace, now);
}

/* The message that a packet of its receiver's is about, with a reference. */
static struct umad_send *find_send(struct umad_agent *agent,
				   const struct ib_mad_hdr *mad,
				   const struct umad_rmpp_key *from)
{
	const struct umad_txn_key key = {
		.tid = mad->tid,
		.mgmt_class = mad->mgmt_class,
		/* Its receiver has turned the bit (IBA 13.6.2). */
		.response = !ib_response_mad(mad),
	};
	struct umad_send *send;

	lockdep_assert_held(&agent->file->lock);
	send = umad_rmpp_find_send(agent, &key, from);
	if (!send || !send->rmpp)
		return NULL;
	umad_send_get(send);
	return send;
}

/**
 * umad_rmpp_tx_receive() - is this packet the receiver's of a message of ours?
 * @agent: that it was routed to
 * @rwc: the packet
 * @packet: its RMPP header; not DATA, but for DATA of an unknown version
 *
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 * Return: true if it is; it has been dealt with.
 */
bool umad_rmpp_tx_receive(struct umad_agent *agent,
			  const struct ib_mad_recv_wc *rwc,
			  const struct rmpp_packet *packet)
{
	const struct ib_mad_hdr *mad = &rwc->recv_buf.mad->mad_hdr;
	struct umad_file *file = agent->file;
	bool finish = false, turn = false;
	struct umad_rmpp_tx *tx;
	struct umad_rmpp_key from;
	struct umad_send *send;

	umad_rmpp_key_of(&from, agent, rwc);
	spin_lock(&file->lock);
	send = find_send(agent, mad, &from);
	if (!send) {
		spin_unlock(&file->lock);
		return false;
	}
	tx = send->rmpp;
	if (tx->engine.state == RMPP_TX_ACKED && !tx->settled) {
		/* Another thread is about to see to it. */
	} else if (tx->engine.state != RMPP_TX_ACKED) {
		rmpp_tx_receive(&tx->engine, packet, ktime_get_ns());
	} else if (packet->type == IB_MGMT_RMPP_TYPE_ACK) {
		/*
		 * They have not seen our turn-around ACK; or an old one came
		 * late, and ib_core took it for the response.
		 */
		turn = packet->seg == tx->engine.segs || !send->waiting;
	} else if (packet->type == IB_MGMT_RMPP_TYPE_STOP ||
		   packet->type == IB_MGMT_RMPP_TYPE_ABORT) {
		/* They have it, and will not answer it. */
		tx->engine.reason = packet->type == IB_MGMT_RMPP_TYPE_STOP ?
				    RMPP_REASON_STOPPED : RMPP_REASON_ABORTED;
		tx->engine.status = packet->status;
		umad_stat_inc(&file->port->stats, UMAD_STAT_RMPP_UNDELIVERED);
		umad_send_step(send, UMAD_TXN_EV_UNDELIVERED, packet->status,
			       ktime_get(), &finish);
	}
	spin_unlock(&file->lock);

	if (turn)
		umad_rmpp_turn_around(send);
	settle(send);
	if (finish)
		umad_send_finish(send);
	umad_send_put(send);
	return true;
}

/**
 * umad_rmpp_tx_answered() - a response has begun, so the request has arrived
 * @send: with a message or without; in a handler of ib_core; the caller has a
 *	reference
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_rmpp_tx_answered(struct umad_send *send)
{
	struct umad_rmpp_tx *tx = send->rmpp;

	if (!tx)
		return;
	spin_lock(&send->file->lock);
	tx->answered = true;
	if (umad_rmpp_tx_is_active(send) && tx->engine.state == RMPP_TX_SENDING &&
	    send->txn.state == UMAD_TXN_WAIT) {
		tx->engine.state = RMPP_TX_ACKED;
		tx->settled = true;
		umad_stat_inc(&send->file->port->stats, UMAD_STAT_RMPP_SENT);
		wait_for_response(send, ktime_get());
	}
	spin_unlock(&send->file->lock);
	umad_rmpp_tx_pump(send);
}

/**
 * umad_rmpp_tx_stop() - its transaction is DONE, take the timer away
 * @send: with a message or without
 *
 * Context: process; takes &umad_file.lock; does not sleep.
 */
void umad_rmpp_tx_stop(struct umad_send *send)
{
	if (!send->rmpp)
		return;
	spin_lock(&send->file->lock);
	umad_rmpp_set_timer(send->file, &send->rmpp->timer, U64_MAX);
	spin_unlock(&send->file->lock);
}

/**
 * umad_rmpp_tx_canceled() - tell the receiver that no more will come
 * @send: DONE, with a message or without; its agent is still registered
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_rmpp_tx_canceled(struct umad_send *send)
{
	struct umad_rmpp_tx *tx = send->rmpp;
	bool tell;

	if (!tx)
		return;
	spin_lock(&send->file->lock);
	tell = tx->engine.state == RMPP_TX_SENDING;
	spin_unlock(&send->file->lock);
	if (tell)
		post_control(send, IB_MGMT_RMPP_TYPE_ABORT,
			     IB_MGMT_RMPP_STATUS_UNSPEC);
}

/**
 * umad_rmpp_tx_explain() - why was it not delivered?
 * @send: with a message or without
 * @reserved: &ib_user_mad_hdr.reserved, of a message set to &enum rmpp_reason, the
 *	RMPPStatus, 0; of a single MAD left as it is
 *
 * Context: process, &umad_file.lock held.
 */
void umad_rmpp_tx_explain(struct umad_send *send, u8 *reserved)
{
	/* ABI: of a single MAD all comes back as it was written. */
	if (!send->rmpp)
		return;
	memset(reserved, 0, sizeof(send->hdr.reserved));
	reserved[0] = send->rmpp->engine.reason;
	reserved[1] = send->rmpp->engine.status;
}
