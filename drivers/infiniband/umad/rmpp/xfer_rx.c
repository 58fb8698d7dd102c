// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp/xfer_rx.h"

#include <linux/limits.h>
#include "agent.h"
#include "charge.h"
#include "file.h"
#include "pagebuf.h"
#include "port.h"
#include "request.h"
#include "rmpp/abort.h"
#include "rmpp/account.h"
#include "rmpp/limits.h"
#include "rmpp/match.h"
#include "rmpp/memo.h"
#include "rmpp/peer.h"
#include "rmpp/table.h"
#include "rmpp/xfer_tx.h"
#include "unread.h"

/* So often the request of a response that has begun is looked at, if nothing comes. */
#define REQUEST_LOOK		(5ULL * NSEC_PER_SEC)
/* Whoever repeats a segment sooner than this after a message is complete does not. */
#define REPEAT_MIN_MS		20
/* An ACK of a first segment is repeated only as long as a file has no more of these. */
#define LONE_REPEATED		64

/**
 * struct rx_segment - a packet that is being dealt with
 * @rwc: the packet
 * @packet: its RMPP header
 * @now: when it came; the clock is read once
 * @err: why its bytes could not be kept, or 0
 * @grown: memory that they took
 * @victim: a message that had to make room for it, to be told; or NULL
 * @oldest: a complete one that lingers no more, for umad_xfer_rx_put_lingering(); or
 *	NULL
 * @answered: the request that the message has answered, to be put; or NULL
 * @unwanted: the message is whole, and nobody wants it
 */
struct rx_segment {
	const struct ib_mad_recv_wc *rwc;
	const struct rmpp_packet *packet;
	u64 now;
	int err;
	size_t grown;
	struct umad_xfer_rx *victim;
	struct umad_xfer_rx *oldest;
	struct umad_request *answered;
	bool unwanted;
};

/* The segment's bytes into the pages. */
static void segment_copy(struct umad_xfer_rx *rx, struct rx_segment *seg)
{
	const struct rmpp_layout *layout = &rx->engine.layout;
	struct umad_file *file = rx->agent->file;
	struct umad_pagebuf *body = rx->entry->view.body;
	struct umad_charge charge = umad_charge_begin(file->reserve->memcg);
	const void *mad = seg->rwc->recv_buf.mad;
	size_t before = body->bytes;
	size_t len;

	/* OPA's last MAD may be short; what is missing reads as zero. */
	len = min_t(size_t, layout->data, seg->rwc->mad_len - layout->hdr);
	seg->err = umad_pagebuf_write(body, (size_t)(seg->packet->seg - 1) * layout->data,
				      mad + layout->hdr, len);
	umad_charge_end(&charge);
	seg->grown = body->bytes - before;
	/* Not of what has begun the message: that may have found no memory. */
	if (!seg->err && seg->packet->seg == 1)
		memcpy(rx->entry->head, mad, layout->hdr);
}

/* A response is on its way: its request waits for the next segment now. */
static bool keep_request(struct umad_xfer_rx *rx, ktime_t now)
{
	struct umad_request *req = rx->req;

	if (!req)
		return true;
	if (req->txn.state != UMAD_TXN_WAIT)
		return false;
	if (rx->solicited)
		umad_answer_goes_on(req, rx->engine.expected, now);
	return true;
}

/*
 * The message is whole: give it to the process, if it still wants it. Returns
 * what lingers no more, for umad_xfer_rx_put_lingering(), or NULL.
 */
static struct umad_xfer_rx *complete_rx(struct umad_xfer_rx *rx)
{
	struct umad_agent *agent = rx->agent;
	struct umad_file *file = agent->file;
	struct umad_stats *stats = &file->port->stats;
	struct umad_rmpp_rx_entry *entry = rx->entry;
	bool wanted = !agent->shutdown;
	struct umad_xfer_rx *oldest;

	lockdep_assert_held(&file->lock);
	/* The requests of an agent that goes away are canceled by its closer. */
	if (rx->req && wanted)
		wanted = umad_request_step(rx->req, UMAD_TXN_EV_RESPONSE, 0, 0) ==
			 UMAD_TXN_DELIVER;
	if (rx->req && wanted)
		umad_stat_inc(stats, UMAD_STAT_SEND_COMPLETED);
	umad_xfer_rx_uncharge_all(rx);
	oldest = umad_xfer_rx_linger(rx);

	if (!wanted) {
		umad_stat_inc(stats, agent->shutdown ?
			      UMAD_STAT_RECV_DROPPED_DEAD :
			      UMAD_STAT_RECV_UNMATCHED);
		return oldest;
	}
	rx->entry = NULL;
	entry->rx_entry.hdr = rx->from;
	if (rx->req)
		entry->rx_entry.ops = &umad_rmpp_answer_ops;
	entry->view.data = entry->head;
	entry->view.len = rx->engine.layout.hdr;
	entry->view.body_len = rmpp_rx_data_len(&rx->engine);
	entry->view.first = rx->engine.layout.hdr + rx->engine.layout.data;
	umad_rxq_charge_always(&file->rxq, &entry->rx_entry,
			       entry->view.body->bytes + sizeof(*entry));
	umad_unread_settle(file);
	umad_stat_inc(stats, UMAD_STAT_RMPP_RECEIVED);
	if (!umad_file_queue(file, &entry->rx_entry, UMAD_STAT_RECV_DELIVERED)) {
		umad_stat_inc(stats, UMAD_STAT_RECV_DROPPED_DEAD);
		rx->entry = entry;
	}
	return oldest;
}

/* Its request has ended. If another has the same TID, ABORT would be that one's. */
static enum rmpp_rx_verdict cancel_late(struct umad_xfer_rx *rx)
{
	lockdep_assert_held(&rx->agent->file->lock);
	if (umad_rmpp_find_request(rx->agent, &rx->key))
		WRITE_ONCE(rx->silent, true);
	return rmpp_rx_cancel(&rx->engine, IB_MGMT_RMPP_STATUS_T2L);
}

/* A segment is as good as lost. The first one begins the message again. */
static enum rmpp_rx_verdict segment_drop(struct umad_xfer_rx *rx)
{
	lockdep_assert_held(&rx->agent->file->lock);
	if (rx->engine.highest || rx->solicited)
		return RMPP_RX_DROP;
	/* That may be one of a single segment, which the bounds have no place for. */
	rmpp_rx_cancel(&rx->engine, IB_MGMT_RMPP_STATUS_RESX);
	return RMPP_RX_CLOSE;
}

static enum rmpp_rx_verdict segment_accept(struct umad_xfer_rx *rx, struct rx_segment *seg)
{
	struct umad_file *file = rx->agent->file;
	enum rmpp_rx_verdict verdict;

	lockdep_assert_held(&file->lock);
	if (!rx->listed)
		return RMPP_RX_DROP;
	umad_rmpp_charge(rx, seg->grown);
	/* A whole message has begun whatever others hold (limits.c). */
	if (!seg->err && seg->grown && !rmpp_is_whole(seg->packet) &&
	    !umad_rmpp_may_grow(rx, seg->now, &seg->victim))
		seg->err = -ENOSPC;
	/* Its sender repeats it. */
	if (seg->err == -ENOMEM)
		return segment_drop(rx);
	if (seg->err)
		return rmpp_rx_no_room(&rx->engine);
	if (!keep_request(rx, ns_to_ktime(seg->now)))
		return cancel_late(rx);
	verdict = rmpp_rx_stored(&rx->engine, seg->packet, seg->now);
	umad_rmpp_window_seen(rx, seg->now);
	umad_rmpp_peer_seen(rx);
	if (rx->engine.state == RMPP_RX_DONE) {
		seg->oldest = complete_rx(rx);
		seg->unwanted = rx->entry;
		/* The message lingers: what it has answered need not. */
		swap(rx->req, seg->answered);
		rx->was_asked = seg->answered;
	}
	return verdict;
}

/* What a segment leaves behind, to be done without the lock. */
static void clean_up(struct umad_xfer_rx *rx, struct rx_segment *seg)
{
	struct umad_file *file = rx->agent->file;

	if (seg->err == -ENOMEM) {
		umad_stat_inc(&file->port->stats, UMAD_STAT_RECV_DROPPED_NOMEM);
		umad_reserve_refill(file);
	}
	if (seg->victim)
		umad_xfer_rx_stop_evicted(seg->victim);
	if (seg->answered)
		umad_request_put(seg->answered);
	/* Only this thread has to do with it. */
	if (seg->unwanted) {
		umad_rxq_free(&file->rxq, &rx->entry->rx_entry);
		rx->entry = NULL;
	}
	if (seg->oldest)
		umad_xfer_rx_put_lingering(seg->oldest);
}

/*
 * STOP and ABORT are never answered (IBA 13.6.2), nor is what is forgotten. Said
 * in the section that makes the engine CLOSED, or the work that has resolved the
 * address would answer with why.
 */
static void keep_silent(struct umad_xfer_rx *rx, enum rmpp_rx_verdict verdict)
{
	lockdep_assert_held(&rx->agent->file->lock);
	if (verdict == RMPP_RX_CLOSE)
		WRITE_ONCE(rx->silent, true);
}

/* The engine does not hear that the request has ended. */
static u64 deadline_of(const struct umad_xfer_rx *rx, u64 now)
{
	u64 deadline = rmpp_rx_deadline(&rx->engine);

	if (!rx->req)
		return deadline;
	return min(deadline, now + REQUEST_LOOK);
}

/* Do what the engine says, set its timer, and drop it if it is closed. Releases the lock. */
static void verdict_apply(struct umad_xfer_rx *rx, enum rmpp_rx_verdict verdict, u64 now)
	__releases(&rx->agent->file->lock)
{
	struct umad_file *file = rx->agent->file;
	bool answer = false, unlisted = false;
	struct rmpp_packet packet;

	keep_silent(rx, verdict);
	if (verdict == RMPP_RX_ACK || verdict == RMPP_RX_ABORT ||
	    verdict == RMPP_RX_STOP)
		answer = umad_xfer_rx_prepare(rx, &packet);
	/* While no other message of this key can begin: its sender would take it for his. */
	if (answer && rx->engine.state == RMPP_RX_CLOSED) {
		umad_request_unlock(file);
		umad_xfer_rx_post(rx, &packet);
		spin_lock(&file->lock);
		answer = false;
	}
	if (rx->listed && rx->engine.state == RMPP_RX_CLOSED) {
		if (list_empty(&rx->linger_node))
			umad_xfer_rx_failed(rx, verdict == RMPP_RX_STOP);
		unlisted = umad_xfer_rx_remove(rx);
	} else if (rx->listed) {
		umad_rmpp_set_timer(file, &rx->timer, deadline_of(rx, now));
	}
	umad_request_unlock(file);
	if (answer)
		umad_xfer_rx_post(rx, &packet);
	if (unlisted)
		umad_xfer_rx_put(rx);
}

/**
 * umad_xfer_rx_receive() - a packet for a message that has begun; releases the lock
 * @rx: the message; caller must be in a handler of ib_core
 * @rwc: the packet
 * @packet: its RMPP header
 *
 * Context: process, &umad_file.lock held on entry; may sleep.
 */
void umad_xfer_rx_receive(struct umad_xfer_rx *rx, const struct ib_mad_recv_wc *rwc,
			  const struct rmpp_packet *packet)
	__releases(&rx->agent->file->lock)
{
	struct rx_segment seg = { .rwc = rwc, .packet = packet, .now = ktime_get_ns() };
	struct umad_file *file = rx->agent->file;
	enum rmpp_rx_verdict verdict;

	umad_xfer_rx_get(rx);
	verdict = rmpp_rx_receive(&rx->engine, packet, seg.now);
	if (verdict == RMPP_RX_STORE) {
		rx->copying++;
		spin_unlock(&file->lock);
		segment_copy(rx, &seg);
		spin_lock(&file->lock);
		rx->copying--;
		verdict = segment_accept(rx, &seg);
	}
	verdict_apply(rx, verdict, seg.now);
	clean_up(rx, &seg);
	umad_xfer_rx_put(rx);
}

/*
 * A request with the TID of a message to us waits that is not the one which that
 * answers, or has answered: is this packet of another message? Segments after the
 * first can only be so if they are in the window which the request has granted, and
 * then they may be of either.
 */
static bool is_anothers(const struct umad_xfer_rx *rx,
			const struct rmpp_packet *packet)
{
	struct umad_request *req;

	if (!rx->was_asked && !rx->req)
		return false;
	req = umad_rmpp_find_request(rx->agent, &rx->key);
	if (!req || req == rx->req)
		return false;
	if (packet->seg == 1 ||
	    (req->rmpp && packet->seg <= req->rmpp->response_window))
		return true;
	/* A copy that was on its way: the new sender would get the answer to it. */
	return rx->was_asked && ktime_get_ns() - rx->engine.progress_at <
				REPEAT_MIN_MS * NSEC_PER_MSEC;
}

/* Has the first segment come with other bytes? */
static bool first_differs(const struct umad_xfer_rx *rx, const struct ib_mad_recv_wc *rwc)
{
	const struct rmpp_layout *layout = &rx->engine.layout;
	const size_t attr = offsetof(struct ib_mad_hdr, attr_id);
	const void *mad = rwc->recv_buf.mad;
	size_t len, at, n;
	u8 bytes[64];

	if (memcmp(rx->entry->head + attr, mad + attr, IB_MGMT_MAD_HDR - attr) ||
	    memcmp(rx->entry->head + IB_MGMT_RMPP_HDR, mad + IB_MGMT_RMPP_HDR,
		   layout->hdr - IB_MGMT_RMPP_HDR))
		return true;
	len = min_t(size_t, layout->data, rwc->mad_len - layout->hdr);
	for (at = 0; at < len; at += n) {
		n = min(sizeof(bytes), len - at);
		umad_pagebuf_read(rx->entry->view.body, at, bytes, n);
		if (memcmp(bytes, mad + layout->hdr + at, n))
			return true;
	}
	return false;
}

/* What the first segment of a message that has begun may be, if it comes again. */
enum first_again {
	FIRST_IS_COPY,
	FIRST_BEGINS_ANOTHER,
	FIRST_IS_STRAY,
	FIRST_IS_AMBIGUOUS,
};

/*
 * Another response to this TID: of two attempts, or the true one after a late copy of what
 * the same node has answered to an earlier request. The segments that follow may be of
 * either, and all ACKs are for both. If more than one segment has come, the first response
 * goes on; if it has stood still since its first, that was a late copy. Between these
 * nobody can say whose the next segment is.
 */
static enum first_again first_again(const struct umad_xfer_rx *rx,
				    const struct ib_mad_recv_wc *rwc,
				    const struct rmpp_packet *packet)
{
	const struct rmpp_rx *engine = &rx->engine;
	u64 idle;

	lockdep_assert_held(&rx->agent->file->lock);
	if (packet->seg != 1 || engine->state != RMPP_RX_REASSEMBLING || engine->expected < 2)
		return FIRST_IS_COPY;
	if (rx->solicited && rx->req->answer_silent)
		return FIRST_BEGINS_ANOTHER;
	if (!rmpp_is_whole(packet) && !first_differs(rx, rwc))
		return FIRST_IS_COPY;
	idle = ktime_get_ns() - engine->progress_at;
	/* Unasked, it may be a late copy, or the first has been given up: time shows which. */
	if (!rx->req)
		return idle >= (engine->highest > 1 ? RMPP_RX_BEGUN_GIVEN_UP :
						      RMPP_RX_LONE_GIVEN_UP) ?
		       FIRST_BEGINS_ANOTHER : FIRST_IS_STRAY;
	if (engine->highest > 1)
		return FIRST_IS_STRAY;
	if (rmpp_is_whole(packet) || idle >= REPEAT_MIN_MS * NSEC_PER_MSEC)
		return FIRST_BEGINS_ANOTHER;
	return FIRST_IS_AMBIGUOUS;
}

/* Neither response can be trusted. Releases the lock. */
static void end_ambiguous(struct umad_xfer_rx *rx)
	__releases(&rx->agent->file->lock)
{
	enum rmpp_rx_verdict verdict;

	umad_xfer_rx_get(rx);
	verdict = rmpp_rx_cancel(&rx->engine, IB_MGMT_RMPP_STATUS_UNSPEC);
	verdict_apply(rx, verdict, ktime_get_ns());
	umad_xfer_rx_put(rx);
}

static struct umad_agent *timer_enter(struct umad_timer *timer, ktime_t now)
{
	struct umad_xfer_rx *rx = container_of(timer, struct umad_xfer_rx, timer);

	if (!umad_active_ref_tryget(&rx->agent->active_ref))
		return NULL;
	umad_xfer_rx_get(rx);
	return rx->agent;
}

static void timer_run(struct umad_timer *timer)
{
	struct umad_xfer_rx *rx = container_of(timer, struct umad_xfer_rx, timer);
	struct umad_file *file = rx->agent->file;
	enum rmpp_rx_verdict verdict;
	u64 now;

	spin_lock(&file->lock);
	now = ktime_get_ns();
	rx->engine.crowded = umad_rmpp_is_crowded(file);
	/*
	 * A flood of first segments is not answered more than once: the repetitions of a
	 * jiffy all come at once. Who has lost the ACK sends again.
	 */
	if (rx->is_lone && file->rmpp->lone_count > LONE_REPEATED)
		rmpp_rx_hush(&rx->engine);
	if (rx->req && rx->engine.state == RMPP_RX_REASSEMBLING &&
	    rx->req->txn.state != UMAD_TXN_WAIT)
		verdict = cancel_late(rx);
	else
		verdict = rmpp_rx_timer(&rx->engine, now);
	verdict_apply(rx, verdict, now);
	umad_xfer_rx_put(rx);
}

static const struct umad_timer_ops timer_ops = {
	.enter = timer_enter,
	.run = timer_run,
};

/* The first segment of a message, or one of none. */
static void transfer_begin(struct umad_agent *agent, const struct ib_mad_recv_wc *rwc,
			   const struct rmpp_packet *packet, const struct umad_rmpp_key *key)
{
	struct umad_xfer_rx *rx;

	rx = umad_xfer_rx_begin(agent, rwc, packet, key, &timer_ops);
	if (!rx)
		return;
	spin_lock(&agent->file->lock);
	umad_xfer_rx_receive(rx, rwc, packet);
	umad_xfer_rx_put(rx);
}

/**
 * umad_xfer_rx_find() - the message that a packet is of; takes the lock
 * @agent: that it was routed to
 * @rwc: the packet
 * @key: whose message it belongs to
 * @recall: a complete one that is only remembered is to linger again
 *
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 * Return: the message, or NULL, with &umad_file.lock held; no reference is taken.
 */
struct umad_xfer_rx *umad_xfer_rx_find(struct umad_agent *agent,
				       const struct ib_mad_recv_wc *rwc,
				       const struct umad_rmpp_key *key, bool recall)
	__acquires(&agent->file->lock)
{
	struct umad_file *file = agent->file;
	struct umad_xfer_rx *rx;

	spin_lock(&file->lock);
	rx = umad_rmpp_table_find(file->rmpp, key);
	if (rx || !recall || !umad_rmpp_memo_find(file, key, ktime_get_ns()))
		return rx;
	spin_unlock(&file->lock);
	umad_xfer_rx_recall(agent, rwc, key, &timer_ops);
	spin_lock(&file->lock);
	return umad_rmpp_table_find(file->rmpp, key);
}

/**
 * umad_xfer_rx_data() - a DATA packet has been received
 * @agent: that it was routed to
 * @rwc: the packet
 * @packet: its RMPP header
 * @key: whose message it belongs to
 *
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 */
void umad_xfer_rx_data(struct umad_agent *agent,
		       const struct ib_mad_recv_wc *rwc,
		       const struct rmpp_packet *packet,
		       const struct umad_rmpp_key *key)
{
	enum first_again again = FIRST_BEGINS_ANOTHER;
	struct umad_file *file = agent->file;
	struct umad_xfer_rx *rx;
	u8 status;

	rx = umad_xfer_rx_find(agent, rwc, key, true);
	if (rx && !is_anothers(rx, packet))
		again = first_again(rx, rwc, packet);
	if (again == FIRST_IS_COPY) {
		umad_xfer_rx_receive(rx, rwc, packet);
		return;
	}
	/* What cannot begin takes nobody's place, and ABORT would be taken for the other's. */
	if (rx && rmpp_rx_check_start(packet, &status) != RMPP_RX_STORE) {
		spin_unlock(&file->lock);
		umad_stat_inc(&file->port->stats, UMAD_STAT_RMPP_UNMATCHED);
		return;
	}
	if (again == FIRST_IS_AMBIGUOUS) {
		end_ambiguous(rx);
		return;
	}
	/* Its sender would take an ACK of the first for one of its own. */
	if (again == FIRST_IS_STRAY && !rx->req)
		rmpp_rx_hush(&rx->engine);
	/* It is of the other; or what is remembered found no memory: as good as lost. */
	if (again == FIRST_IS_STRAY ||
	    (!rx && umad_rmpp_memo_find(file, key, ktime_get_ns()))) {
		spin_unlock(&file->lock);
		return;
	}
	spin_unlock(&file->lock);
	transfer_begin(agent, rwc, packet, key);
}

/**
 * umad_xfer_rx_cancel_all() - give up all that an agent is receiving
 * @agent: dying, without active references
 *
 * The senders of those not complete are sent ABORT, where the address is known;
 * what is complete is forgotten.
 * Context: process; may sleep; hold no lock.
 */
void umad_xfer_rx_cancel_all(struct umad_agent *agent)
{
	struct umad_file *file = agent->file;
	struct umad_xfer_rx *rx;
	bool tell, lone, more;

	/* Its file may have nothing for RMPP. */
	if (!agent->kernel_rmpp)
		return;
	do {
		spin_lock(&file->lock);
		more = umad_rmpp_memo_forget(agent);
		spin_unlock(&file->lock);
		cond_resched();
	} while (more);
	for (;;) {
		spin_lock(&file->lock);
		rx = list_first_entry_or_null(&agent->receivers,
					      struct umad_xfer_rx, agent_node);
		if (rx) {
			lone = rx->is_lone;
			tell = rx->ah && !rx->silent &&
			       rx->engine.state == RMPP_RX_REASSEMBLING;
			if (rx->engine.state == RMPP_RX_REASSEMBLING)
				umad_stat_inc(&file->port->stats,
					      UMAD_STAT_RMPP_RX_FAILED);
			rmpp_rx_cancel(&rx->engine, IB_MGMT_RMPP_STATUS_UNSPEC);
			umad_xfer_rx_remove(rx);
		}
		spin_unlock(&file->lock);
		if (!rx)
			return;
		if (tell)
			umad_rmpp_post_abort(agent, &rx->to, rx->ah,
					     (struct ib_mad_hdr *)rx->head, lone);
		umad_xfer_rx_put(rx);
		cond_resched();
	}
}
