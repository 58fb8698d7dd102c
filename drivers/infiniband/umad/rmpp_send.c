// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Messages on their way: segments, ACKs, deadlines. */
#include <linux/types.h>
#include "rmpp_send.h"

#include <kunit/visibility.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/time64.h>
#include "agent.h"
#include "charge.h"
#include "file.h"
#include "port.h"
#include "post.h"
#include "rmpp_abort.h"
#include "rmpp_control.h"
#include "rmpp_match.h"
#include "segbuf.h"
#include "send.h"
#include "trace.h"
#include "wait_entry.h"

/*
 * Segments that one call hands to ib_core. Where they are acknowledged as fast as they
 * are posted, the caller would not come back before the end of the message; the timer
 * goes on.
 */
#define PUMP_MAX	4096

static void segment_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_send *send = umad_post_owner(buf);
	struct umad_file *file = send->file;

	spin_lock(&file->lock);
	rmpp_tx_sent(&send->rmpp->engine, ktime_get_ns());
	umad_send_count_failure(send, status);
	spin_unlock(&file->lock);
	umad_rmpp_tx_pump(send);
	umad_send_unbuild(send, buf);
}

/* The same for the wait entry, which does not count as posted any more. */
static void waiting_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_send *send = umad_post_owner(buf);
	struct umad_file *file = send->file;

	spin_lock(&file->lock);
	umad_wait_entry_done(send, buf);
	umad_send_count_failure(send, status);
	/* The response has overtaken the last ACK, and there was no room for it. */
	if (send->answer_lost)
		umad_send_step(send, UMAD_TXN_EV_LOST, status, ktime_get());
	umad_send_unlock(file);
	umad_send_unbuild(send, buf);
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
 * A response of one MAD can come before the last ACK, or in its place if that was
 * lost. So the last segment is the wait entry, if there is none; an ACK uses it up,
 * and the turn-around ACK follows it. ib_core does not say when it has left.
 */
static int post_last(struct umad_send *send, struct ib_mad_send_buf *buf)
{
	struct umad_file *file = send->file;
	bool waits, full;
	int ret;

	spin_lock(&file->lock);
	/* The wait entries are in the device's queue beside what the engine counts. */
	full = send->waits_posted + send->rmpp->engine.posted > RMPP_TX_POSTED_MAX;
	waits = !full && umad_wait_entry_attach(send, buf, waiting_done);
	spin_unlock(&file->lock);
	if (full)
		return -ENOBUFS;
	if (!waits)
		return ib_post_send_mad(buf, NULL);
	ret = ib_post_send_mad(buf, NULL);
	spin_lock(&file->lock);
	if (!ret)
		rmpp_tx_sent(&send->rmpp->engine, ktime_get_ns());
	umad_wait_entry_posted(send, buf, true, ret);
	spin_unlock(&file->lock);
	return ret;
}

static int post_segment(struct umad_send *send, u32 seg)
{
	struct umad_rmpp_tx *tx = send->rmpp;
	struct ib_mad_send_buf *buf;
	int ret;

	buf = umad_send_build(send, tx->head, tx->layout.hdr, tx->mad_size,
			      UMAD_POST_NOWAIT, segment_done);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	fill_segment(tx, seg, buf->mad);
	if (seg == tx->engine.segs)
		ret = post_last(send, buf);
	else
		ret = ib_post_send_mad(buf, NULL);
	if (ret)
		umad_send_unbuild(send, buf);
	else
		WRITE_ONCE(tx->taken, true);
	return ret;
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
	umad_stat_add(&file->port->stats, UMAD_STAT_RMPP_RETRANSMITTED,
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
static void post_abort(struct umad_send *send, u8 status)
{
	const struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_ABORT,
		.status = status,
	};

	umad_rmpp_post_control(send->agent->core, send->ah, &send->hdr,
			       umad_rmpp_tx_mad(send->rmpp), &packet, NULL,
			       NULL);
}

/* The receiver has it all: the caller's timeout runs, for the response. */
static void wait_for_response(struct umad_send *send, ktime_t now)
{
	struct umad_txn *txn = &send->txn;

	umad_txn_wait_until(&send->file->txns, txn,
			    txn->timeout == UMAD_TIMEOUT_INFINITE ? KTIME_MAX :
			    ktime_add(now, txn->timeout));
	umad_send_arm(send->file, now);
}

static void acked(struct umad_send *send, ktime_t now)
{
	struct umad_stats *stats = &send->file->port->stats;

	umad_stat_inc(stats, UMAD_STAT_RMPP_SENT);
	if (send->txn.state == UMAD_TXN_WAIT) {
		wait_for_response(send, now);
		return;
	}
	umad_stat_inc(stats, UMAD_STAT_SEND_COMPLETED);
	umad_send_step(send, UMAD_TXN_EV_SENT, 0, now);
}

/* The engine has taken an event: see to its end, or to what it sends next. */
static void settle(struct umad_send *send)
{
	bool turn = false, abort = false;
	struct umad_rmpp_tx *tx = send->rmpp;
	struct umad_file *file = send->file;
	ktime_t now = ktime_get();

	spin_lock(&file->lock);
	if (umad_rmpp_tx_is_active(send) && !tx->settled &&
	    tx->engine.state == RMPP_TX_ACKED) {
		tx->settled = true;
		tx->response_window = umad_rmpp_window_offer(file->port,
							     ktime_to_ns(now));
		acked(send, now);
		turn = send->txn.state == UMAD_TXN_WAIT;
	} else if (umad_rmpp_tx_is_active(send) && !tx->settled &&
		   tx->engine.state == RMPP_TX_FAILED) {
		tx->settled = true;
		abort = rmpp_tx_must_abort(&tx->engine);
		umad_stat_inc(&file->port->stats, UMAD_STAT_RMPP_TX_FAILED);
		umad_send_step(send, UMAD_TXN_EV_UNDELIVERED,
			       tx->engine.status, now);
	}
	umad_send_unlock(file);

	if (turn)
		umad_rmpp_turn_around(send);
	if (abort)
		post_abort(send, tx->engine.status);
	/* Sends what is next, or takes the timer away. */
	umad_rmpp_tx_pump(send);
}

/* The engine's deadline has come, or what has timed out has a turn. */
static void tx_timer(struct umad_send *send)
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
	bool turn = false;
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
		umad_stat_inc(&file->port->stats, UMAD_STAT_RMPP_TX_FAILED);
		umad_send_step(send, UMAD_TXN_EV_UNDELIVERED, packet->status,
			       ktime_get());
	}
	umad_send_unlock(file);

	if (turn)
		umad_rmpp_turn_around(send);
	settle(send);
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

/* Its engine is to be called, unless that has to wait for a turn. */
static bool tx_is_due(struct umad_send *send, ktime_t now)
{
	struct rmpp_tx *tx = &send->rmpp->engine;
	u64 give_up;

	/* One that has ended is about to be freed. */
	if (!umad_rmpp_tx_is_active(send))
		return true;
	if (!umad_again_waits(&send->in_line) &&
	    rmpp_tx_will_resend(tx, ktime_to_ns(now)))
		umad_send_again(send, now);
	if (!umad_again_waits(&send->in_line) || tx->state != RMPP_TX_SENDING)
		return true;
	/*
	 * Waiting for its turn is no silence of its receiver's; but there is an end
	 * to it, or the line of one that never answers has none.
	 */
	give_up = rmpp_tx_wait_deadline(tx, ktime_to_ns(send->again_since));
	if (ktime_to_ns(now) >= give_up)
		return true;
	umad_rmpp_set_timer(send->file, &send->rmpp->timer, give_up);
	return false;
}

static struct umad_send *timer_send(struct umad_rmpp_timer *timer)
{
	return container_of(timer, struct umad_rmpp_tx, timer)->send;
}

static struct umad_agent *timer_enter(struct umad_rmpp_timer *timer, ktime_t now)
{
	struct umad_send *send = timer_send(timer);

	if (!tx_is_due(send, now) || !umad_gate_enter(&send->agent->gate))
		return NULL;
	umad_send_get(send);
	return send->agent;
}

static void timer_run(struct umad_rmpp_timer *timer)
{
	struct umad_send *send = timer_send(timer);

	tx_timer(send);
	umad_send_put(send);
}

static const struct umad_rmpp_timer_ops timer_ops = {
	.enter = timer_enter,
	.run = timer_run,
};

static void take_turn(struct umad_send *send, ktime_t now)
{
	rmpp_tx_waited(&send->rmpp->engine, ktime_to_ns(send->again_since),
		       ktime_to_ns(now));
	/* It may be two segments, and the last one does not say when it has left. */
	umad_pace_unknown(&send->file->port->pace, now);
}

/* Why it was not delivered: &enum rmpp_reason, the RMPPStatus. */
static void describe(const struct umad_send *send, u8 *reserved)
{
	reserved[0] = send->rmpp->engine.reason;
	reserved[1] = send->rmpp->engine.status;
}

static void stop(struct umad_send *send)
{
	umad_rmpp_set_timer(send->file, &send->rmpp->timer, U64_MAX);
}

/* Tell the receiver that no more will come. */
static void canceled(struct umad_send *send)
{
	struct umad_rmpp_tx *tx = send->rmpp;
	bool tell;

	spin_lock(&send->file->lock);
	/* The receiver knows of it only if ib_core has let a segment pass. */
	tell = READ_ONCE(tx->taken) && tx->engine.state == RMPP_TX_SENDING;
	spin_unlock(&send->file->lock);
	if (tell)
		umad_rmpp_post_abort(send->agent, send->ah, &send->hdr,
				     umad_rmpp_tx_mad(tx));
}

static void release(struct umad_send *send)
{
	umad_rmpp_tx_free(send->rmpp);
}

static const struct umad_send_ops message_ops = {
	.wants_turn = umad_rmpp_tx_is_active,
	.take_turn = take_turn,
	.retransmit = tx_timer,
	.describe = describe,
	.stop = stop,
	.canceled = canceled,
	.release = release,
	/* The receiver repeats its ACK; without one its response is lost. */
	.waits_max = RMPP_TX_POSTED_MAX,
};

/* Set up the engine of a message that nobody else knows yet. */
static void start(struct umad_send *send)
{
	const struct ib_user_mad_hdr *hdr = &send->hdr;
	struct umad_port *port = send->file->port;
	struct umad_rmpp_tx *tx = send->rmpp;
	struct ib_mad_hdr *mad = umad_rmpp_tx_mad(tx);
	u32 window = 1, segs;

	tx->send = send;
	tx->timer.ops = &timer_ops;
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

static int send_message(struct umad_agent *agent,
			const struct ib_user_mad_hdr *hdr,
			struct umad_rmpp_tx *tx)
{
	struct umad_send *send;
	int ret;

	/* The id may have come to another agent since the program's write. */
	send = ERR_PTR(-EINVAL);
	if (agent->kernel_rmpp)
		send = umad_send_create(agent, &message_ops, hdr,
					umad_rmpp_tx_mad(tx));
	if (IS_ERR(send)) {
		umad_rmpp_tx_free(tx);
		return PTR_ERR(send);
	}
	send->rmpp = tx;
	send->txn.no_deadline = true;
	start(send);
	ret = umad_send_enter(send, NULL, NULL, true);
	if (ret) {
		umad_send_put(send);
		return ret;
	}
	umad_stat_inc(&agent->file->port->stats, UMAD_STAT_SEND_POSTED);
	umad_rmpp_tx_pump(send);
	umad_send_put(send);
	return 0;
}

/**
 * umad_rmpp_send() - send a message of several segments for a program
 * @file: that it was written to
 * @hdr: the program's header, @id below UMAD_MAX_AGENTS
 * @tx: the message; consumed
 *
 * After 0 the file hears of it once more at the most: by the response, or by
 * this header with status ETIMEDOUT, also if no response was expected but the
 * message was not delivered.
 * Context: as umad_send_mad().
 * Return: as umad_send_mad().
 */
int umad_rmpp_send(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		   struct umad_rmpp_tx *tx)
{
	struct umad_agent *agent;
	unsigned int over_high;
	int ret;

	trace_ib_umad_write(file, hdr, umad_rmpp_tx_mad(tx));
	agent = umad_agent_enter(file, hdr->id);
	if (!agent) {
		umad_rmpp_tx_free(tx);
		return -EIO;
	}
	over_high = umad_throttle_defer();
	ret = send_message(agent, hdr, tx);
	if (ret)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_REFUSED);
	umad_agent_leave(agent);
	umad_throttle_resume(over_high);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rmpp_send);
