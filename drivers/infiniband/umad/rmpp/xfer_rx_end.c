// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* How a message being received is answered, and how it ends. */
#include <linux/types.h>
#include "rmpp/xfer_rx.h"

#include <linux/err.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include "agent.h"
#include "ah.h"
#include "file.h"
#include "port.h"
#include "post.h"
#include "request.h"
#include "rmpp/account.h"
#include "rmpp/control.h"
#include "rmpp/memo.h"
#include "rmpp/resolve.h"
#include "rmpp/table.h"
#include "rmpp/xfer_tx.h"
#include "room.h"

/*
 * ACKs of one message in ib_core. Each tells all, so one more may wait for the
 * next completion; but the three that tell of a gap must get out as three, for
 * that is what makes senders mend it.
 */
#define ACKS_POSTED_MAX		4
/*
 * Complete messages of a file that linger: each has an address handle, of which a
 * device may have few. Of more a memo is left. They have a part of the cgroup's memory, too.
 */
#define LINGERING_MAX		1024
#define LINGERING_PART		16

/**
 * umad_xfer_rx_uncharge_all() - take a message off the accounts: it is whole, or will not be
 * @rx: the message
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_xfer_rx_uncharge_all(struct umad_xfer_rx *rx)
{
	umad_rmpp_window_leave(rx);
	umad_rmpp_uncount(rx);
}

/**
 * umad_xfer_rx_remove() - out of the table and the lists
 * @rx: the message
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true: put the table's reference, without the lock.
 */
bool umad_xfer_rx_remove(struct umad_xfer_rx *rx)
{
	struct umad_file *file = rx->agent->file;

	lockdep_assert_held(&file->lock);
	if (!rx->listed)
		return false;
	rx->listed = false;
	umad_rmpp_addr_forget(rx);
	umad_rmpp_table_remove(file->rmpp, rx);
	list_del(&rx->agent_node);
	if (list_empty(&rx->linger_node)) {
		umad_xfer_rx_uncharge_all(rx);
		if (rx->solicited)
			umad_rmpp_await(rx->req);
	} else {
		list_del_init(&rx->linger_node);
		file->rmpp->lingering_count--;
	}
	umad_rmpp_set_timer(file, &rx->timer, U64_MAX);
	return true;
}

/**
 * umad_xfer_rx_linger() - a message is complete, and answers what is repeated
 * @rx: off the accounts
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: another that does so no more, for umad_xfer_rx_put_lingering() without the
 * lock; or NULL.
 */
struct umad_xfer_rx *umad_xfer_rx_linger(struct umad_xfer_rx *rx)
{
	struct umad_file *file = rx->agent->file;
	struct umad_xfer_rx *oldest;
	u64 max;

	lockdep_assert_held(&file->lock);
	list_add_tail(&rx->linger_node, &file->rmpp->lingering);
	max = umad_reserve_part(file->reserve, LINGERING_PART, UMAD_RX_BYTES);
	if (++file->rmpp->lingering_count <= clamp_t(u64, max, 1, LINGERING_MAX))
		return NULL;
	oldest = list_first_entry(&file->rmpp->lingering, struct umad_xfer_rx, linger_node);
	/* Closed: whoever closed it takes it down. */
	if (!umad_active_ref_tryget(&oldest->agent->active_ref))
		return NULL;
	umad_rmpp_memo_add(file, oldest, ktime_get_ns());
	umad_xfer_rx_remove(oldest);
	return oldest;
}

/**
 * umad_xfer_rx_put_lingering() - a message lingers no more
 * @rx: of umad_xfer_rx_linger(), consumed
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_xfer_rx_put_lingering(struct umad_xfer_rx *rx)
{
	struct umad_agent *agent = rx->agent;

	umad_xfer_rx_put(rx);
	umad_agent_leave(agent);
}

static void format_answer(struct umad_xfer_rx *rx, struct rmpp_packet *packet)
{
	if (rx->engine.state != RMPP_RX_CLOSED) {
		umad_rmpp_window_ack(rx, packet, ktime_get_ns());
		return;
	}
	*packet = (struct rmpp_packet){
		.version = IB_MGMT_RMPP_VERSION,
		.type = rx->engine.status == IB_MGMT_RMPP_STATUS_RESX ?
			IB_MGMT_RMPP_TYPE_STOP : IB_MGMT_RMPP_TYPE_ABORT,
		.status = rx->engine.status,
	};
}

/* To be sent now? Else a work, when its turn comes, or a completion sees to it. */
static bool may_answer(struct umad_xfer_rx *rx)
{
	lockdep_assert_held(&rx->agent->file->lock);
	if (rx->silent)
		return false;
	if (!rx->ah) {
		umad_rmpp_addr_ask(rx);
		return false;
	}
	/* STOP or ABORT comes once, and is the last. */
	if (rx->engine.state == RMPP_RX_CLOSED)
		return true;
	if (rx->acks_posted >= ACKS_POSTED_MAX) {
		rx->ack_due = true;
		umad_stat_inc(&rx->agent->file->port->stats,
			      UMAD_STAT_RMPP_ACKS_MERGED);
		return false;
	}
	return true;
}

/**
 * umad_xfer_rx_prepare() - what is due: where we stand, or why it ends
 * @rx: the message; caller must hold an active reference to its agent, or be in a handler
 *	of ib_core
 * @packet: filled in
 *
 * The first time the address has to be resolved, which takes a work of our own:
 * ib_core's receive work must not wait for that.
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true: umad_xfer_rx_post() has to follow; false: nothing is to be sent now.
 */
bool umad_xfer_rx_prepare(struct umad_xfer_rx *rx, struct rmpp_packet *packet)
{
	if (!may_answer(rx) || !umad_rmpp_answer_enter(rx->agent->file))
		return false;
	format_answer(rx, packet);
	if (packet->type == IB_MGMT_RMPP_TYPE_ACK) {
		rx->acks_posted++;
		umad_xfer_rx_get(rx);
	}
	return true;
}

/*
 * A message that lingers on RoCE needs no address until a segment is repeated: its handle
 * would keep the port's GID, which ib_core may want to make again, in its place.
 */
static struct umad_ah *take_ah(struct umad_xfer_rx *rx)
{
	struct umad_ah *ah = rx->ah;

	lockdep_assert_held(&rx->agent->file->lock);
	if (rx->engine.state != RMPP_RX_DONE || rx->acks_posted ||
	    !rx->agent->file->port->roce)
		return NULL;
	rx->ah = NULL;
	return ah;
}

/* ib_core has done with an ACK: has another become due meanwhile? */
static void ack_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_xfer_rx *rx = umad_post_owner(buf);
	struct umad_file *file = rx->agent->file;
	struct rmpp_packet packet;
	struct umad_ah *ah;
	bool again;

	umad_post_free(buf, rx->ah);
	spin_lock(&file->lock);
	umad_rmpp_answer_leave(file);
	rx->acks_posted--;
	again = rx->ack_due && !rx->agent->shutdown &&
		rx->engine.state != RMPP_RX_CLOSED;
	rx->ack_due = false;
	again = again && umad_xfer_rx_prepare(rx, &packet);
	ah = take_ah(rx);
	spin_unlock(&file->lock);
	if (again)
		umad_xfer_rx_post(rx, &packet);
	if (ah)
		umad_ah_put(ah);
	umad_xfer_rx_put(rx);
}

static void answer_leave(struct umad_file *file)
{
	spin_lock(&file->lock);
	umad_rmpp_answer_leave(file);
	spin_unlock(&file->lock);
}

/*
 * STOP, ABORT, or an ACK that keeps no message. ib_core keeps the agent until this returns, and
 * so the file is there.
 */
static void end_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_agent *agent = buf->mad_agent->context;

	umad_post_free(buf, umad_post_owner(buf));
	answer_leave(agent->file);
}

/* It is not posted, or keeps no message. */
static void ack_leave(struct umad_xfer_rx *rx)
{
	struct umad_file *file = rx->agent->file;
	struct umad_ah *ah;

	spin_lock(&file->lock);
	rx->acks_posted--;
	ah = take_ah(rx);
	spin_unlock(&file->lock);
	if (ah)
		umad_ah_put(ah);
	umad_xfer_rx_put(rx);
}

/*
 * A device that does not send would have whole messages fill the cgroup, where they could not
 * be given back. Nothing more is to be said of them, so ACKs are not merged.
 */
static bool keeps_message(const struct umad_xfer_rx *rx)
{
	return READ_ONCE(rx->engine.state) != RMPP_RX_DONE ||
	       umad_reserve_max(rx->agent->file->reserve) == U64_MAX;
}

/**
 * umad_xfer_rx_post() - send what was prepared
 * @rx: as for umad_xfer_rx_prepare()
 * @packet: that it has filled in
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_xfer_rx_post(struct umad_xfer_rx *rx, const struct rmpp_packet *packet)
{
	struct ib_mad_hdr *head = (struct ib_mad_hdr *)rx->head;
	bool ack = packet->type == IB_MGMT_RMPP_TYPE_ACK;
	bool keeps = ack && keeps_message(rx);
	int ret;

	ret = umad_rmpp_post_control(rx->agent->core, &rx->to, rx->ah, head, packet,
				     keeps ? ack_done : end_done,
				     keeps ? (void *)rx : rx->ah);
	if (ret)
		answer_leave(rx->agent->file);
	if (ack && (ret || !keeps))
		ack_leave(rx);
}

/* Both. */
static void answer_send(struct umad_xfer_rx *rx)
{
	struct umad_file *file = rx->agent->file;
	struct rmpp_packet packet;
	bool post;

	spin_lock(&file->lock);
	post = umad_xfer_rx_prepare(rx, &packet);
	spin_unlock(&file->lock);
	if (post)
		umad_xfer_rx_post(rx, &packet);
}

/**
 * umad_xfer_rx_answer_work() - resolve the sender's address, and answer
 * @work: &umad_xfer_rx.work
 *
 * Context: process, on the module's own queue; sleeps.
 */
void umad_xfer_rx_answer_work(struct work_struct *work)
{
	struct umad_xfer_rx *rx = container_of(work, struct umad_xfer_rx, work);
	struct umad_agent *agent = rx->agent;
	struct umad_file *file = agent->file;
	struct umad_ah *ah = ERR_PTR(-ESHUTDOWN);

	/* Whoever takes the agent away waits for us: not for an address. */
	if (!umad_active_ref_is_dead(&agent->active_ref) && !READ_ONCE(rx->silent))
		ah = umad_ah_create(agent, &rx->to, false);
	spin_lock(&file->lock);
	if (!IS_ERR(ah))
		rx->ah = ah;
	umad_rmpp_addr_done(rx, PTR_ERR_OR_ZERO(ah));
	spin_unlock(&file->lock);
	/* Without an address the sender asks again, or gives up. */
	if (!IS_ERR(ah))
		answer_send(rx);
	umad_xfer_rx_put(rx);
	umad_active_ref_put(&agent->active_ref);
}

/*
 * A response will not be completed. Its sender may begin again, until the deadline of the
 * request; without one it ends.
 */
static void response_failed(struct umad_request *req, u8 status)
{
	umad_request_fail_infinite(req, status);
	umad_answer_failed(req);
}

/**
 * umad_xfer_rx_failed() - a message will not be completed
 * @rx: in the table still
 * @refused: for want of room
 *
 * Context: process, &umad_file.lock held, until umad_request_unlock(); does not sleep.
 */
void umad_xfer_rx_failed(struct umad_xfer_rx *rx, bool refused)
{
	struct umad_file *file = rx->agent->file;

	umad_stat_inc(&file->port->stats, refused ? UMAD_STAT_RMPP_REFUSED :
						    UMAD_STAT_RMPP_RX_FAILED);
	if (rx->solicited)
		response_failed(rx->req, rx->engine.status);
}

/**
 * umad_xfer_rx_give_way() - another message begins in its place
 * @rx: in the table; that reference is the caller's after this
 *
 * Its request is not told: it is that of the other, or has ended.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_xfer_rx_give_way(struct umad_xfer_rx *rx)
{
	struct umad_stats *stats = &rx->agent->file->port->stats;

	lockdep_assert_held(&rx->agent->file->lock);
	if (rx->engine.state == RMPP_RX_REASSEMBLING) {
		umad_stat_inc(stats, UMAD_STAT_RMPP_RX_FAILED);
		rmpp_rx_cancel(&rx->engine, IB_MGMT_RMPP_STATUS_T2L);
	}
	/* Its ABORT would be taken for the other's. */
	WRITE_ONCE(rx->silent, true);
	umad_xfer_rx_remove(rx);
}

/**
 * umad_xfer_rx_tell_request() - a response was evicted, or refused
 * @req: the request that it was to answer; nothing is done while another answers it
 * @status: RMPPStatus, for the trace
 *
 * Context: process, in a handler of ib_core or with an active reference; may sleep; hold
 * no lock.
 */
void umad_xfer_rx_tell_request(struct umad_request *req, u8 status)
{
	spin_lock(&req->file->lock);
	if (!req->answer_comes && !req->agent->shutdown)
		response_failed(req, status);
	umad_request_unlock(req->file);
}

/**
 * umad_xfer_rx_evict() - end a message to make room for another
 * @rx: being reassembled, in the table
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true, and umad_xfer_rx_stop_evicted() has to follow, without the lock; false
 * if its agent ends, which takes it down.
 */
bool umad_xfer_rx_evict(struct umad_xfer_rx *rx)
{
	lockdep_assert_held(&rx->agent->file->lock);
	if (!umad_active_ref_tryget(&rx->agent->active_ref))
		return false;
	umad_stat_inc(&rx->agent->file->port->stats, UMAD_STAT_RMPP_EVICTED);
	umad_stat_inc(&rx->agent->file->port->stats, UMAD_STAT_RMPP_REFUSED);
	rmpp_rx_no_room(&rx->engine);
	umad_xfer_rx_remove(rx);
	/* No time for the address of one that takes most, and does nothing. */
	if (!rx->ah)
		WRITE_ONCE(rx->silent, true);
	return true;
}

/* Its sender has not heard of it, and may have repeated the first segment. */
static void keep_silent_beside_another(struct umad_xfer_rx *rx)
{
	struct umad_file *file = rx->agent->file;

	spin_lock(&file->lock);
	/* It would take STOP for one of what has begun since. */
	if (umad_rmpp_table_find(file->rmpp, &rx->key))
		WRITE_ONCE(rx->silent, true);
	spin_unlock(&file->lock);
}

/**
 * umad_xfer_rx_stop_evicted() - tell the sender of a message that it was evicted
 * @rx: umad_xfer_rx_evict() was true; consumed
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_xfer_rx_stop_evicted(struct umad_xfer_rx *rx)
{
	struct umad_agent *agent = rx->agent;

	keep_silent_beside_another(rx);
	answer_send(rx);
	/* An unsolicited one, beside the response, is not what it waits for. */
	if (rx->solicited)
		umad_xfer_rx_tell_request(rx->req, rx->engine.status);
	/* The table's. */
	umad_xfer_rx_put(rx);
	umad_agent_leave(agent);
}
