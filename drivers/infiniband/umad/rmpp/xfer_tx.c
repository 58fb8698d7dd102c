// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Messages on their way: segments, ACKs, deadlines. */
#include <linux/types.h>
#include "rmpp/xfer_tx.h"

#include <linux/err.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/time64.h>
#include "agent.h"
#include "ah.h"
#include "charge.h"
#include "file.h"
#include "port.h"
#include "post.h"
#include "request.h"
#include "rmpp/abort.h"
#include "rmpp/control.h"
#include "rmpp/match.h"
#include "trace.h"
#include "umad_export.h"

/* An answer to the receiver's packets, or to its silence: STOP or ABORT. */
static void post_end(struct umad_request *req, u8 type)
{
	const struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = type,
		.status = req->rmpp->engine.status,
	};

	umad_rmpp_post_control(req->agent->core, &req->txn.dest, req->ah,
			       umad_xfer_tx_mad(req->rmpp), &packet, NULL,
			       NULL);
}

/* The receiver has it all: the caller's timeout runs, for the response. */
static void wait_for_response(struct umad_request *req, ktime_t now)
{
	struct umad_txn *txn = &req->txn;

	umad_txn_wait_until(&req->file->txns, txn,
			    txn->timeout == UMAD_TIMEOUT_INFINITE ? KTIME_MAX :
			    ktime_add(now, txn->timeout));
	umad_file_arm(req->file);
}

static void transfer_acked(struct umad_request *req, ktime_t now)
{
	struct umad_stats *stats = &req->file->port->stats;

	umad_stat_inc(stats, UMAD_STAT_RMPP_SENT);
	if (req->txn.state == UMAD_TXN_WAIT) {
		wait_for_response(req, now);
		return;
	}
	umad_stat_inc(stats, UMAD_STAT_SEND_COMPLETED);
	umad_request_step(req, UMAD_TXN_EV_SENT, 0, now);
}

/**
 * enum after - what is to be posted when the lock is released
 * @AFTER_NOTHING: nothing
 * @AFTER_TURN: the turn-around ACK
 * @AFTER_ABORT: ABORT
 */
enum after {
	AFTER_NOTHING,
	AFTER_TURN,
	AFTER_ABORT,
};

/*
 * No segment is sent again, and its turn-around ACK does not wait where one would have: unlike
 * those of others the clock of its request runs.
 */
static void engine_ended(struct umad_request *req)
{
	req->rmpp->finished = true;
	umad_retry_queue_remove(&req->file->retry_queue, &req->retry);
	req->retry.apart = true;
}

/* Has the engine come to its end by an event? */
static enum after transfer_finish(struct umad_request *req)
{
	struct umad_xfer_tx *tx = req->rmpp;
	struct umad_file *file = req->file;
	ktime_t now;

	lockdep_assert_held(&file->lock);
	if (tx->engine.state == RMPP_TX_SENDING || tx->finished ||
	    !umad_xfer_tx_is_active(req))
		return AFTER_NOTHING;
	engine_ended(req);
	now = ktime_get();
	if (tx->engine.state == RMPP_TX_ACKED) {
		tx->response_window = umad_rmpp_window_offer(file, ktime_to_ns(now));
		transfer_acked(req, now);
		return req->txn.state == UMAD_TXN_WAIT ? AFTER_TURN : AFTER_NOTHING;
	}
	umad_stat_inc(&file->port->stats, UMAD_STAT_RMPP_TX_FAILED);
	umad_request_step(req, UMAD_TXN_EV_UNDELIVERED, tx->engine.status, now);
	return rmpp_tx_must_abort(&tx->engine) ? AFTER_ABORT : AFTER_NOTHING;
}

/*
 * The engine has taken an event: see to its end, or to what it sends next. @turn: the
 * turn-around ACK is due whatever comes of it. Releases the lock.
 */
static void go_on(struct umad_request *req, bool turn) __releases(&req->file->lock)
{
	enum after after = transfer_finish(req);

	umad_xfer_tx_want(req);
	umad_request_unlock(req->file);
	umad_xfer_tx_give_back(req->rmpp);
	if (turn || after == AFTER_TURN)
		umad_rmpp_turn_around(req);
	if (after == AFTER_ABORT)
		post_end(req, IB_MGMT_RMPP_TYPE_ABORT);
}

/* The engine's deadline has come, or what has timed out has a turn. */
static void tx_timer(struct umad_request *req)
{
	struct umad_xfer_tx *tx = req->rmpp;
	bool turn = false;
	u64 now;

	spin_lock(&req->file->lock);
	now = ktime_get_ns();
	/* Waiting for a turn to send it is at fault for nothing. */
	if (!umad_xfer_tx_is_ready(tx))
		rmpp_tx_timer(&tx->engine, now);
	if (now >= tx->turn_at) {
		tx->turn_at = U64_MAX;
		turn = umad_rmpp_wants_turn(req);
	} else if (tx->turn_at != U64_MAX) {
		umad_xfer_tx_arm(req);
	}
	go_on(req, turn);
}

/**
 * umad_xfer_tx_find() - the message that a packet of its receiver's is about
 * @agent: that it was routed to
 * @mad: the packet
 * @from: whom it came from
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: its request, or NULL.
 */
struct umad_request *umad_xfer_tx_find(struct umad_agent *agent,
				       const struct ib_mad_hdr *mad,
				       const struct umad_rmpp_key *from)
{
	const struct umad_txn_key key = {
		.tid = mad->tid,
		.mgmt_class = mad->mgmt_class,
		/* Its receiver has turned the bit (IBA 13.6.2). */
		.response = !ib_response_mad(mad),
	};
	struct umad_request *req;

	req = umad_rmpp_find_outstanding(agent, &key, from);
	return req && req->rmpp ? req : NULL;
}

/*
 * Its receiver has acknowledged all, and says more. Only an ACK matters: they have not seen our
 * turn-around ACK; or an old one came late, and ib_core took it for the response. STOP and ABORT
 * do not end the request, as the response may still come: they may be of a response that has
 * failed, or refuse the turn-around ACK, which who is not to answer by a message aborts (IBA
 * 13.6, figure 177). An ACK of no segment is ours, which ib_core of a host without such an agent
 * has sent back: it does that with Get and Set.
 */
static bool turn_around_is_due(struct umad_request *req, const struct rmpp_packet *packet)
{
	struct umad_xfer_tx *tx = req->rmpp;

	if (packet->type != IB_MGMT_RMPP_TYPE_ACK || !packet->seg) {
		tx->refusals += tx->refusals != UINT_MAX;
		return false;
	}
	if (packet->seg == tx->engine.segs)
		tx->refusals = 0;
	return packet->seg == tx->engine.segs || umad_rmpp_wants_turn(req);
}

/**
 * umad_xfer_tx_receive() - a packet of its receiver's; releases the lock
 * @req: that umad_xfer_tx_find() has found; caller must be in a handler of ib_core
 * @packet: its RMPP header; not DATA, but for DATA of an unknown version
 *
 * Context: process, &umad_file.lock held on entry; may sleep.
 */
void umad_xfer_tx_receive(struct umad_request *req, const struct rmpp_packet *packet)
	__releases(&req->file->lock)
{
	struct umad_xfer_tx *tx = req->rmpp;
	bool turn = false;

	umad_request_get(req);
	if (tx->engine.state != RMPP_TX_ACKED)
		rmpp_tx_receive(&tx->engine, packet, ktime_get_ns());
	else if (tx->finished)
		turn = turn_around_is_due(req, packet);
	go_on(req, turn);
	umad_request_put(req);
}

/**
 * umad_xfer_tx_answered() - a response has begun, so the request has arrived
 * @req: with a message or without; in a handler of ib_core; the caller has a
 *	reference
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_xfer_tx_answered(struct umad_request *req)
{
	struct umad_xfer_tx *tx = req->rmpp;

	if (!tx)
		return;
	spin_lock(&req->file->lock);
	if (umad_xfer_tx_is_active(req) && tx->engine.state == RMPP_TX_SENDING &&
	    req->txn.state == UMAD_TXN_WAIT) {
		WRITE_ONCE(tx->engine.state, RMPP_TX_ACKED);
		engine_ended(req);
		umad_stat_inc(&req->file->port->stats, UMAD_STAT_RMPP_SENT);
		wait_for_response(req, ktime_get());
	}
	/* It may be gone already. */
	umad_rmpp_await(req);
	umad_xfer_tx_want(req);
	spin_unlock(&req->file->lock);
	umad_xfer_tx_give_back(tx);
}

/**
 * umad_xfer_tx_may_go() - may a message be ended for its memory?
 * @tx: of an inserted request
 *
 * Segments in ib_core have bytes of their own.
 * Context: process, &umad_file.lock held.
 * Return: false if it has ended, or one is being made at this moment.
 */
bool umad_xfer_tx_may_go(const struct umad_xfer_tx *tx)
{
	return !tx->posting && tx->engine.state == RMPP_TX_SENDING &&
	       umad_xfer_tx_is_active(tx->req);
}

/**
 * umad_xfer_tx_evict() - end a message for its memory
 * @req: of one for which umad_xfer_tx_may_go() is true
 *
 * Context: process, &umad_file.lock held, until umad_xfer_tx_stop_evicted() can follow, without
 * it; with an active reference to the agent, which that consumes; does not sleep.
 */
void umad_xfer_tx_evict(struct umad_request *req)
{
	struct umad_xfer_tx *tx = req->rmpp;

	lockdep_assert_held(&req->file->lock);
	umad_stat_inc(&req->file->port->stats, UMAD_STAT_RMPP_TX_FAILED);
	umad_stat_inc(&req->file->port->stats, UMAD_STAT_RMPP_SEND_SHED);
	rmpp_tx_no_memory(&tx->engine);
	tx->finished = true;
	umad_request_step(req, UMAD_TXN_EV_UNDELIVERED, tx->engine.status, 0);
}

/**
 * umad_xfer_tx_stop_evicted() - tell the receiver of a message, and its sender
 * @req: of umad_xfer_tx_evict(), DONE and in no list; consumed
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_xfer_tx_stop_evicted(struct umad_request *req)
{
	struct umad_agent *agent = req->agent;

	umad_rxq_wake(&req->file->rxq);
	post_end(req, IB_MGMT_RMPP_TYPE_STOP);
	umad_request_put_done(req);
	umad_agent_leave(agent);
}

/* Its engine is to be called, unless that has to wait for a turn. */
static bool tx_is_due(struct umad_request *req, ktime_t now)
{
	struct rmpp_tx *tx = &req->rmpp->engine;
	u64 give_up;

	/* One that has ended is about to be freed. */
	if (!umad_xfer_tx_is_active(req))
		return true;
	/* See next_deadline(). */
	if (umad_xfer_tx_is_ready(req->rmpp) && tx->state == RMPP_TX_SENDING)
		return false;
	if (ktime_to_ns(now) >= req->rmpp->turn_at && umad_rmpp_wants_turn(req)) {
		umad_request_retry(req, now);
		return false;
	}
	if (!umad_retry_is_queued(&req->retry) &&
	    rmpp_tx_will_resend(tx, ktime_to_ns(now)))
		umad_request_retry(req, now);
	if (!umad_retry_is_queued(&req->retry) || tx->state != RMPP_TX_SENDING)
		return true;
	/*
	 * Waiting for its turn is no silence of its receiver's; but there is an end
	 * to it, or the line of one that never answers has none.
	 */
	give_up = rmpp_tx_wait_deadline(tx, ktime_to_ns(req->retry_since));
	if (ktime_to_ns(now) >= give_up)
		return true;
	umad_rmpp_set_timer(req->file, &req->rmpp->timer, give_up);
	return false;
}

static struct umad_request *timer_send(struct umad_timer *timer)
{
	return container_of(timer, struct umad_xfer_tx, timer)->req;
}

static struct umad_agent *timer_enter(struct umad_timer *timer, ktime_t now)
{
	struct umad_request *req = timer_send(timer);

	if (!tx_is_due(req, now) || !umad_active_ref_tryget(&req->agent->active_ref))
		return NULL;
	umad_request_get(req);
	return req->agent;
}

static void timer_run(struct umad_timer *timer)
{
	struct umad_request *req = timer_send(timer);

	tx_timer(req);
	umad_request_put(req);
}

static const struct umad_timer_ops timer_ops = {
	.enter = timer_enter,
	.run = timer_run,
};

static void take_turn(struct umad_request *req, ktime_t now)
{
	rmpp_tx_waited(&req->rmpp->engine, ktime_to_ns(req->retry_since),
		       ktime_to_ns(now));
	/* It may be two segments, and the last one does not say when it has left. */
	umad_pace_unknown(&req->file->port->pace, now);
}

/* Why it was not delivered: &enum rmpp_reason, the RMPPStatus. */
static void error_describe(const struct umad_request *req, u8 *reserved)
{
	reserved[0] = req->rmpp->engine.reason;
	reserved[1] = req->rmpp->engine.status;
}

static void transfer_stop(struct umad_request *req)
{
	umad_sched_queue_del(&req->rmpp->ready);
	umad_xfer_tx_free_spares(req->rmpp);
	umad_rmpp_set_timer(req->file, &req->rmpp->timer, U64_MAX);
}

/* Tell the receiver that no more will come. */
static void transfer_cancel(struct umad_request *req)
{
	struct umad_xfer_tx *tx = req->rmpp;
	bool tell;

	spin_lock(&req->file->lock);
	/* The receiver knows of it only if ib_core has let a segment pass. */
	tell = READ_ONCE(tx->taken) && tx->engine.state == RMPP_TX_SENDING;
	spin_unlock(&req->file->lock);
	if (tell)
		umad_rmpp_post_abort(req->agent, &req->txn.dest, req->ah,
				     umad_xfer_tx_mad(tx), false);
}

static void transfer_release(struct umad_request *req)
{
	umad_xfer_tx_free(req->rmpp);
}

static const struct umad_request_ops message_ops = {
	.wants_turn = umad_xfer_tx_is_active,
	.take_turn = take_turn,
	.retransmit = tx_timer,
	.describe = error_describe,
	.stop = transfer_stop,
	.cancel = transfer_cancel,
	.release = transfer_release,
	/* The receiver repeats its ACK; without one its response is lost. */
	.waits_max = RMPP_TX_POSTED_MAX,
};

/* Set up the engine of a message that nobody else knows yet. */
static void transfer_init(struct umad_request *req)
{
	const struct ib_user_mad_hdr *hdr = &req->hdr;
	struct umad_port *port = req->file->port;
	struct umad_xfer_tx *tx = req->rmpp;
	struct ib_mad_hdr *mad = umad_xfer_tx_mad(tx);
	u32 window = 1, segs;

	tx->req = req;
	umad_sched_entry_init(&tx->ready);
	umad_timer_init(&tx->timer, &timer_ops);
	tx->mad_size = sizeof(struct ib_mad);
	if (rdma_cap_opa_mad(port->ib_dev, port->port_num) &&
	    mad->base_version == OPA_MGMT_BASE_VERSION)
		tx->mad_size = sizeof(struct opa_mad);
	tx->layout = rmpp_layout_of(mad->mgmt_class, tx->mad_size);
	segs = rmpp_segments(&tx->layout, tx->data_len);
	/* The answer of a double-sided transfer begins with their window. */
	if (ib_response_mad(mad))
		window = umad_xfer_rx_reply_window(req->agent, &req->txn.dest, mad);
	rmpp_tx_init(&tx->engine, segs, window, hdr->timeout_ms, hdr->retries,
		     ktime_get_ns());
}

static int send_message(struct umad_agent *agent,
			const struct ib_user_mad_hdr *hdr,
			struct umad_xfer_tx *tx)
{
	struct umad_request *req;
	int ret;

	/* The id may have come to another agent since the process's write. */
	req = ERR_PTR(-EINVAL);
	if (agent->kernel_rmpp)
		req = umad_request_create(agent, &message_ops, hdr,
					  umad_xfer_tx_mad(tx));
	if (IS_ERR(req)) {
		umad_xfer_tx_free(tx);
		return PTR_ERR(req);
	}
	req->rmpp = tx;
	req->txn.no_deadline = true;
	transfer_init(req);
	ret = umad_request_insert(req, NULL, NULL, true);
	if (ret) {
		umad_request_put(req);
		return ret;
	}
	umad_stat_inc(&agent->file->port->stats, UMAD_STAT_SEND_POSTED);
	umad_xfer_tx_begin(req);
	umad_request_put(req);
	return 0;
}

/**
 * umad_rmpp_send() - send a message of several segments for a process
 * @file: that it was written to
 * @hdr: the process's header, @id below UMAD_MAX_AGENTS
 * @tx: the message; consumed
 *
 * After 0 the file hears of it once more at the most: by the response, or by
 * this header with status ETIMEDOUT, also if no response was expected but the
 * message was not delivered.
 * Context: as umad_send_mad().
 * Return: as umad_send_mad().
 */
int umad_rmpp_send(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		   struct umad_xfer_tx *tx)
{
	struct umad_agent *agent;
	unsigned int over_high;
	int ret;

	ret = umad_ah_enter(file);
	if (ret) {
		umad_xfer_tx_free(tx);
		return ret;
	}
	trace_ib_umad_write(file, hdr, umad_xfer_tx_mad(tx));
	over_high = umad_throttle_defer();
	agent = umad_agent_enter(file, hdr->id);
	if (agent) {
		ret = send_message(agent, hdr, tx);
		if (ret)
			umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_REFUSED);
		umad_agent_leave(agent);
	} else {
		umad_xfer_tx_free(tx);
		ret = -EIO;
	}
	umad_ah_leave(file);
	umad_throttle_resume(over_high);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(umad_rmpp_send);
