// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Segments of a message: cut, built, and posted when it is their turn. */
#include <linux/types.h>
#include "rmpp/xfer_tx.h"

#include <linux/err.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "agent.h"
#include "charge.h"
#include "file.h"
#include "pagebuf.h"
#include "port.h"
#include "post.h"
#include "request.h"
#include "user.h"
#include "wait_entry.h"

/* One less of a message is in ib_core's queue: another of the port's may be sent. */
static void give_place(struct umad_request *req, bool left) __must_hold(&req->file->lock)
{
	if (req->rmpp->unscheduled)
		req->rmpp->unscheduled--;
	else
		umad_sched_put(&req->file->port->sched, left);
}

static void segment_done(struct ib_mad_send_buf *buf, enum ib_wc_status status);

/* The wait entry does not count as posted in the engine. */
static void waiting_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_request *req = umad_post_owner(buf);
	struct umad_file *file = req->file;

	spin_lock(&file->lock);
	umad_wait_entry_done(req, buf);
	umad_request_count_failure(req, status);
	/* The response has overtaken the last ACK, and there was no room for it. */
	if (umad_request_has_lost_answer(req))
		umad_request_step(req, UMAD_TXN_EV_LOST, status, 0);
	umad_rmpp_await(req);
	umad_request_unlock(file);
	umad_request_free_mad(req, buf);
}

static void fill_segment(struct umad_xfer_tx *tx, u32 seg,
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
	umad_pagebuf_read(tx->data, offset, (void *)mad + tx->layout.hdr, len);
}

/*
 * A response of one MAD can come before the last ACK, or in its place if that was
 * lost. So the last segment is the wait entry, if there is none; an ACK uses it up,
 * and the turn-around ACK follows it. ib_core does not say when it has left.
 */
static int post_last(struct umad_request *req, struct ib_mad_send_buf *buf)
{
	struct umad_file *file = req->file;
	bool waits;
	int ret;

	spin_lock(&file->lock);
	waits = umad_wait_entry_attach(req, buf, waiting_done);
	spin_unlock(&file->lock);
	ret = umad_post_send(buf);
	if (!waits)
		return ret;
	spin_lock(&file->lock);
	umad_wait_entry_posted(req, buf, true, ret);
	/* The last ACK may have come meanwhile: its turn-around ACK does not wait. */
	umad_rmpp_await(req);
	spin_unlock(&file->lock);
	return ret ?: 1;
}

/*
 * The last segment may stay for as long as the request does, so it is charged; unless
 * the cgroup is full, for a message that has begun has to go on.
 */
static struct ib_mad_send_buf *segment_build(struct umad_request *req, bool last)
{
	struct umad_xfer_tx *tx = req->rmpp;
	struct umad_charge charge = umad_charge_begin(req->file->reserve->memcg);
	struct ib_mad_send_buf *buf = ERR_PTR(-ENOMEM);

	if (last)
		buf = umad_request_build_mad(req, tx->head, tx->layout.hdr, tx->mad_size,
					     UMAD_GFP_HANDLER, segment_done);
	umad_charge_end(&charge);
	if (IS_ERR(buf))
		buf = umad_request_build_mad(req, tx->head, tx->layout.hdr, tx->mad_size,
					     UMAD_POST_NOWAIT, segment_done);
	return buf;
}

/*
 * To make a MAD takes a tenth of what a segment does in all, and most of that is to clear
 * what is written next. So one that has left is sent again with the next segment. A port
 * keeps no more than ib_core has of its segments, whatever number of messages waits.
 */
#define SPARES_MAX	64

/* Is the MAD of a segment that has left kept for another? */
static bool spare_keep(struct umad_xfer_tx *tx, struct ib_mad_send_buf *buf)
	__must_hold(&tx->file->lock)
{
	atomic_t *spares = &tx->file->port->spares;

	if (!umad_xfer_tx_is_ready(tx) && !tx->posting)
		return false;
	if (atomic_inc_return(spares) > SPARES_MAX) {
		atomic_dec(spares);
		return false;
	}
	buf->next = tx->spare;
	tx->spare = buf;
	return true;
}

static struct ib_mad_send_buf *spare_take(struct umad_xfer_tx *tx)
	__must_hold(&tx->file->lock)
{
	struct ib_mad_send_buf *buf = tx->spare;

	if (!buf)
		return NULL;
	tx->spare = buf->next;
	buf->next = NULL;
	atomic_dec(&tx->file->port->spares);
	return buf;
}

/**
 * umad_xfer_tx_free_spares() - it sends nothing now
 * @tx: a message
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_xfer_tx_free_spares(struct umad_xfer_tx *tx)
{
	struct ib_mad_send_buf *buf;

	lockdep_assert_held(&tx->file->lock);
	while ((buf = spare_take(tx)))
		ib_free_send_mad(buf);
}

/*
 * Build a segment, in @buf if that is not NULL, and hand it to ib_core. Return: 0; 1 if it
 * is the wait entry; an errno.
 */
static int post_segment(struct umad_request *req, u32 seg, struct ib_mad_send_buf *buf)
{
	struct umad_xfer_tx *tx = req->rmpp;
	int ret;

	if (buf)
		umad_request_hold_mad(req);
	else
		buf = segment_build(req, seg == tx->engine.segs);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	fill_segment(tx, seg, buf->mad);
	if (seg == tx->engine.segs)
		ret = post_last(req, buf);
	else
		ret = umad_post_send(buf);
	if (ret < 0)
		umad_request_free_mad(req, buf);
	else
		WRITE_ONCE(tx->taken, true);
	return ret;
}

/* The wait entries are in the device's queue beside what the engine counts. */
static bool is_last_too_many(const struct umad_request *req, u32 seg)
{
	const struct rmpp_tx *engine = &req->rmpp->engine;

	return seg == engine->segs &&
	       req->waits_posted + engine->posted > RMPP_TX_POSTED_MAX;
}

/* Hand a segment to ib_core; without the lock meanwhile. */
static void post_next(struct umad_request *req, u32 seg)
	__must_hold(&req->file->lock)
{
	struct umad_file *file = req->file;
	struct ib_mad_send_buf *buf = NULL;
	int ret = -ENOBUFS;

	if (!is_last_too_many(req, seg)) {
		/* The last one may be the wait entry, and stay. */
		if (seg != req->rmpp->engine.segs)
			buf = spare_take(req->rmpp);
		spin_unlock(&file->lock);
		ret = post_segment(req, seg, buf);
		spin_lock(&file->lock);
	}
	if (ret < 0)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_FAILED);
	/* What became the wait entry does not say when it has left. */
	if (ret) {
		rmpp_tx_sent(&req->rmpp->engine, ktime_get_ns());
		give_place(req, false);
	}
}

/*
 * Of short messages that a process is sending: one, and some of the next before the end of
 * the first is known. With more it sends them like a long one, as others would wait for
 * them as long.
 */
#define SHORT_SEGS_MAX	40
/* Messages that have nothing to be sent any more, in one turn. */
#define LOOKED_AT_MAX	32

/*
 * What counts as being sent is a message of which a segment waits for a turn or to leave. A
 * silent receiver keeps none of them.
 */
static void count_short(struct umad_request *req, bool waits) __must_hold(&req->file->lock)
{
	struct rmpp_tx *engine = &req->rmpp->engine;
	bool is_sent = waits || engine->posted;
	bool is_short = engine->segs > 1 && engine->segs <= UMAD_SCHED_SHORT_SEGS;

	umad_xfer_tx_count(req->rmpp, is_sent && is_short ? engine->segs : 0);
}

/* Where the next segment of a message waits. */
static struct umad_sched_queue *queue_of(const struct umad_request *req)
{
	bool is_short = req->rmpp->engine.segs <= UMAD_SCHED_SHORT_SEGS &&
			atomic_read(&req->file->user->short_segs) <= SHORT_SEGS_MAX;

	return &req->file->rmpp->send_queue[is_short ? UMAD_SCHED_SHORT : UMAD_SCHED_LONG];
}

/**
 * umad_xfer_tx_want() - what may be sent now waits for a turn, or else for its deadline
 * @req: with a message
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_xfer_tx_want(struct umad_request *req)
{
	struct umad_xfer_tx *tx = req->rmpp;
	struct umad_sched_queue *queue;
	bool waits;

	lockdep_assert_held(&req->file->lock);
	/* That thread looks again. */
	if (tx->posting || umad_xfer_tx_is_ready(tx))
		return;
	waits = umad_xfer_tx_is_active(req) && rmpp_tx_may_send(&tx->engine);
	count_short(req, waits);
	if (waits) {
		queue = queue_of(req);
		tx->ready_since = ktime_get_ns();
		umad_sched_queue_add(queue, &tx->ready, tx->engine.segs - tx->engine.next + 1);
		umad_sched_queue_wait(queue);
	}
	umad_xfer_tx_arm(req);
}

/*
 * Hand to ib_core what may be sent now, at most @max segments. One thread at a time does
 * it, so that they leave in order. The caller has a reference, and an active one to the
 * agent. The lock is dropped around each post. Return: how many were handed out.
 */
static unsigned int segments_post(struct umad_request *req, unsigned int max)
	__must_hold(&req->file->lock)
{
	struct umad_xfer_tx *tx = req->rmpp;
	struct umad_file *file = req->file;
	unsigned int n = 0;
	u32 seg, resent;

	lockdep_assert_held(&file->lock);
	if (tx->posting)
		return 0;
	tx->posting = true;
	resent = tx->engine.resent;
	while (n < max && umad_xfer_tx_is_active(req) &&
	       (seg = rmpp_tx_next(&tx->engine, ktime_get_ns()))) {
		n++;
		post_next(req, seg);
	}
	umad_stat_add(&file->port->stats, UMAD_STAT_RMPP_RETRANSMITTED,
		      tx->engine.resent - resent);
	tx->posting = false;
	umad_xfer_tx_want(req);
	if (!umad_xfer_tx_is_ready(tx))
		umad_xfer_tx_free_spares(tx);
	return n;
}

static void segment_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_request *req = umad_post_owner(buf);
	struct umad_file *file = req->file;
	bool kept;

	spin_lock(&file->lock);
	rmpp_tx_sent(&req->rmpp->engine, ktime_get_ns());
	umad_request_count_failure(req, status);
	give_place(req, true);
	umad_xfer_tx_want(req);
	kept = status == IB_WC_SUCCESS && spare_keep(req->rmpp, buf);
	spin_unlock(&file->lock);
	umad_xfer_tx_give_back(req->rmpp);
	if (kept)
		umad_request_release_mad(req);
	else
		umad_request_free_mad(req, buf);
}

/*
 * The message that is the next to send, with a reference, and an active one to its agent;
 * NULL if there is none, or when @looked_at has come to its bound.
 */
static struct umad_request *ready_next(struct umad_sched_queue *queue, unsigned int *looked_at)
{
	struct umad_sched_entry *entry;
	struct umad_xfer_tx *tx;

	while ((*looked_at)++ < LOOKED_AT_MAX && (entry = umad_sched_queue_take(queue))) {
		tx = container_of(entry, struct umad_xfer_tx, ready);
		/* Whoever ends its agent ends it, too. */
		if (!umad_active_ref_tryget(&tx->req->agent->active_ref))
			continue;
		umad_request_get(tx->req);
		rmpp_tx_held(&tx->engine, tx->ready_since, ktime_get_ns());
		return tx->req;
	}
	return NULL;
}

/* Send what a turn of a file allows. */
static void take_turn(struct umad_file *file, enum umad_sched_class class)
{
	struct umad_sched_queue *queue = &file->rmpp->send_queue[class];
	unsigned int left = queue->grant, looked_at = 0;
	struct umad_request *req;
	struct umad_agent *agent;

	spin_lock(&file->lock);
	while (left && (req = ready_next(queue, &looked_at))) {
		left -= segments_post(req, left);
		spin_unlock(&file->lock);
		/* Its last ACK may have come before the last post has returned. */
		umad_xfer_tx_give_back(req->rmpp);
		agent = req->agent;
		umad_request_put(req);
		umad_agent_leave(agent);
		/* Not for each segment: each time ib_core would run for what has come of one. */
		cond_resched();
		spin_lock(&file->lock);
	}
	umad_sched_queue_end_turn(queue, left);
	spin_unlock(&file->lock);
}

static void short_work(struct work_struct *work)
{
	take_turn(container_of(work, struct umad_rmpp, send_queue[UMAD_SCHED_SHORT].work)->file,
		  UMAD_SCHED_SHORT);
}

static void long_work(struct work_struct *work)
{
	take_turn(container_of(work, struct umad_rmpp, send_queue[UMAD_SCHED_LONG].work)->file,
		  UMAD_SCHED_LONG);
}

/**
 * umad_xfer_tx_queues_init() - what a file needs to send messages
 * @rmpp: to be given to its file, which has its port and its process
 */
void umad_xfer_tx_queues_init(struct umad_rmpp *rmpp)
{
	static const work_func_t works[] = {
		[UMAD_SCHED_SHORT] = short_work,
		[UMAD_SCHED_LONG] = long_work,
	};
	struct umad_file *file = rmpp->file;
	unsigned int class;

	for (class = 0; class < UMAD_SCHED_CLASSES; class++)
		umad_sched_queue_init(&rmpp->send_queue[class], &file->port->sched,
				      class, file->user->send_turn, works[class]);
}

/**
 * umad_xfer_tx_queues_destroy() - nothing is sent any more
 * @rmpp: of a file without agents
 *
 * Context: process; sleeps.
 */
void umad_xfer_tx_queues_destroy(struct umad_rmpp *rmpp)
{
	unsigned int class;

	for (class = 0; class < UMAD_SCHED_CLASSES; class++)
		umad_sched_queue_destroy(&rmpp->send_queue[class]);
}

/**
 * umad_xfer_tx_begin() - send the first segment of a message
 * @req: inserted; caller must hold an active reference to its agent, and a reference
 *
 * It waits for no turn, no more than a single MAD does: its receiver may be silent, and
 * whoever writes many of them would have all of them wait here.
 * Context: process; may sleep; hold no lock.
 */
void umad_xfer_tx_begin(struct umad_request *req)
{
	struct umad_xfer_tx *tx = req->rmpp;

	if (tx->engine.segs == 1)
		umad_sched_note_single(&req->file->port->sched);
	spin_lock(&req->file->lock);
	/* It may have ended. */
	if (req->txn.key.response && tx->data)
		list_add_tail(&tx->sent_node, &req->file->rmpp->answers_sent);
	tx->unscheduled++;
	if (!segments_post(req, 1))
		tx->unscheduled--;
	spin_unlock(&req->file->lock);
	umad_xfer_tx_give_back(tx);
}
