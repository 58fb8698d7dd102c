// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The turn-around ACK: the receiver of our request may begin its response. */
#include <linux/types.h>
#include "rmpp/xfer_tx.h"

#include <linux/err.h>
#include <linux/limits.h>
#include <linux/time64.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "post.h"
#include "request.h"
#include "wait_entry.h"

/*
 * One that could not be posted is tried again after so long, when it has a turn: of thousands of
 * requests they are in the way of others, for as long as the device takes none.
 */
#define TURN_RETRY	(100ULL * NSEC_PER_MSEC)
/*
 * Of one message in the send queue: its receiver may ask for them as fast as it likes.
 * Each time it uses one up, and without one a response is lost: then more, as many as
 * segments may be there.
 */
#define REPEATS_MAX	4
/*
 * That its receiver refuses, each of which uses one up. Who refuses one refuses the next, too: the
 * two nodes would go on without end. So the next wait entry is one that it does not see; and if
 * so many of those are used up as well, or the device does not send them, there is one each
 * TURN_RETRY. A device may send it to QP 1 all the same, as bnxt_re does where it builds the
 * headers of QP 1 itself.
 */
#define REFUSALS_MAX	64

/**
 * umad_rmpp_wants_turn() - is a turn-around ACK due because there is no wait entry?
 * @req: with a message
 *
 * Its end was seen to, and a response may come, and ib_core would drop it.
 * Context: process, &umad_file.lock held.
 * Return: true if so.
 */
bool umad_rmpp_wants_turn(const struct umad_request *req)
{
	return req->rmpp->finished && umad_xfer_tx_is_active(req) &&
	       req->txn.state == UMAD_TXN_WAIT && !req->waiting && !req->answer_comes;
}

/* Once more, soon. */
static void put_off_turn(struct umad_request *req)
{
	struct umad_xfer_tx *tx = req->rmpp;

	lockdep_assert_held(&req->file->lock);
	if (tx->turn_at != U64_MAX)
		return;
	tx->turn_at = ktime_get_ns() + TURN_RETRY;
	tx->turn_blocked = false;
	umad_xfer_tx_arm(req);
}

/**
 * umad_rmpp_await() - the wait entry has failed, or was taken by a response that came to nothing
 * @req: with a message or without
 *
 * The message has arrived and will be answered, maybe once more: by one MAD, which ib_core would
 * drop. A single MAD is sent again, for as long as it may be.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_await(struct umad_request *req)
{
	if (req->rmpp && umad_rmpp_wants_turn(req))
		put_off_turn(req);
}

static bool is_refused(const struct umad_request *req)
{
	return req->rmpp->refusals > REFUSALS_MAX;
}

static bool can_be_silent(const struct umad_request *req)
{
	lockdep_assert_held(&req->file->lock);
	return !req->file->rmpp->silent_failed;
}

static bool is_used_up(const struct umad_request *req)
{
	return req->rmpp->refusals > (can_be_silent(req) ? 2 * REFUSALS_MAX : REFUSALS_MAX);
}

/* One has left ib_core. True: the next could not be posted, and is due. */
static bool next_is_due(struct umad_request *req)
{
	struct umad_xfer_tx *tx = req->rmpp;

	lockdep_assert_held(&req->file->lock);
	tx->turns--;
	if (!tx->turn_blocked || tx->turn_at == U64_MAX || is_used_up(req) ||
	    !umad_rmpp_wants_turn(req))
		return false;
	tx->turn_at = U64_MAX;
	return true;
}

static void turn_around_ended(struct ib_mad_send_buf *buf, enum ib_wc_status status,
			      bool waited)
{
	struct umad_request *req = umad_post_owner(buf);
	struct umad_file *file = req->file;
	bool turn;

	spin_lock(&file->lock);
	umad_request_count_failure(req, status);
	waited = waited && umad_wait_entry_done(req, buf);
	if (waited && umad_request_has_lost_answer(req))
		umad_request_step(req, UMAD_TXN_EV_LOST, status, 0);
	turn = next_is_due(req);
	if (!turn)
		umad_rmpp_await(req);
	umad_request_unlock(file);
	if (turn)
		umad_rmpp_turn_around(req);
	umad_request_free_mad(req, buf);
}

static void turn_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	turn_around_ended(buf, status, false);
}

static void waiting_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	turn_around_ended(buf, status, true);
}

/* If the device fails it for what it is, that is an error of QP 1 each time, which others have. */
static void silent_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_request *req = umad_post_owner(buf);
	struct umad_file *file = req->file;

	if (status != IB_WC_SUCCESS && status != IB_WC_WR_FLUSH_ERR &&
	    status != IB_WC_RESP_TIMEOUT_ERR) {
		spin_lock(&file->lock);
		file->rmpp->silent_failed = true;
		spin_unlock(&file->lock);
	}
	turn_around_ended(buf, status, true);
}

static int post_turn(struct umad_request *req, const struct rmpp_packet *packet, bool silent)
{
	struct umad_xfer_tx *tx = req->rmpp;
	struct umad_file *file = req->file;
	struct ib_mad_send_buf *buf;
	bool waits;
	int ret;

	if (silent)
		buf = umad_request_build_silent(req, tx->head, tx->layout.hdr, UMAD_POST_NOWAIT,
						turn_done);
	else
		buf = umad_request_build_mad(req, tx->head, tx->layout.hdr, tx->layout.hdr,
					     UMAD_POST_NOWAIT, turn_done);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	rmpp_format(buf->mad, packet);
	spin_lock(&file->lock);
	waits = umad_wait_entry_attach(req, buf, silent ? silent_done : waiting_done);
	spin_unlock(&file->lock);

	ret = umad_post_send(buf);
	if (!ret && !umad_request_has_ended(req))
		return 0;
	spin_lock(&file->lock);
	umad_wait_entry_posted(req, buf, waits, ret);
	spin_unlock(&file->lock);
	if (ret)
		umad_request_free_mad(req, buf);
	return ret;
}

/**
 * umad_rmpp_turn_around() - now they send and we receive (IBA 13.6.6.3)
 * @req: with a message that is acknowledged; caller must hold an active reference to
 *	its agent, or be in a handler of ib_core; the caller has a reference
 *
 * The ACK stays in ib_core to catch a response of one MAD, if nothing does; for who has refused
 * too many, one that it does not see. If it could not be posted, it is again: without a deadline
 * nothing else would make that good.
 * Context: process; may sleep; hold no lock.
 */
void umad_rmpp_turn_around(struct umad_request *req)
{
	struct umad_xfer_tx *tx = req->rmpp;
	struct umad_file *file = req->file;
	const struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_ACK,
		.len = tx->response_window,
	};
	bool post, silent;

	spin_lock(&file->lock);
	silent = is_refused(req) && !req->waiting && can_be_silent(req);
	post = tx->turns < (req->waiting ? REPEATS_MAX : RMPP_TX_POSTED_MAX) &&
	       !umad_wait_entry_is_full(req) && req->txn.state == UMAD_TXN_WAIT;
	tx->turns += post;
	spin_unlock(&file->lock);
	if (post && (!post_turn(req, &packet, silent) ||
		     (silent && !post_turn(req, &packet, false))))
		return;

	spin_lock(&file->lock);
	tx->turns -= post;
	if (post)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_FAILED);
	if (umad_rmpp_wants_turn(req)) {
		put_off_turn(req);
		tx->turn_blocked = true;
	}
	spin_unlock(&file->lock);
}

/**
 * umad_xfer_tx_turn_again() - its wait entry was used up by what is not the response
 * @req: with a message; in a handler of ib_core; the caller has a reference
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_xfer_tx_turn_again(struct umad_request *req)
{
	bool turn;

	spin_lock(&req->file->lock);
	turn = umad_rmpp_wants_turn(req);
	if (turn && is_used_up(req)) {
		put_off_turn(req);
		turn = false;
	}
	spin_unlock(&req->file->lock);
	if (turn)
		umad_rmpp_turn_around(req);
}
