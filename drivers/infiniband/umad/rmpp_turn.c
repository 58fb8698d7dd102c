// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The turn-around ACK: the receiver of our request may begin its response. */
#include <linux/types.h>
#include "rmpp_send.h"

#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/time64.h>
#include "agent.h"
#include "port.h"
#include "file.h"
#include "post.h"
#include "send.h"

/* One that could not be posted is tried again after so long. */
#define TURN_AGAIN	(100 * NSEC_PER_MSEC)
/*
 * Of one message in the send queue: its receiver may ask for them as fast as it likes.
 * Each time it uses one up, and without one a response is lost: then more, as many as
 * segments may be there.
 */
#define REPEATS_MAX	4

/**
 * umad_rmpp_wants_turn() - is a turn-around ACK due because there is no placeholder?
 * @send: with a message
 *
 * A response may come, and ib_core would drop it.
 * Context: process, &umad_file.lock held.
 * Return: true if so.
 */
bool umad_rmpp_wants_turn(const struct umad_send *send)
{
	return umad_rmpp_tx_is_active(send) && send->txn.state == UMAD_TXN_WAIT &&
	       !send->waiting && !send->rmpp->answered;
}

/**
 * umad_rmpp_turn_done() - a turn-around ACK has left ib_core
 * @send: with a message, of which ib_core has nothing else that ends in send_done()
 *
 * Context: process, &umad_file.lock held.
 * Return: true if the next one was put off, and is due.
 */
bool umad_rmpp_turn_done(struct umad_send *send)
{
	struct umad_rmpp_tx *tx = send->rmpp;

	tx->turns--;
	if (tx->turn_at == U64_MAX || !umad_rmpp_wants_turn(send))
		return false;
	tx->turn_at = U64_MAX;
	return true;
}

/**
 * umad_rmpp_turn_around() - now they send and we receive (IBA 13.6.6.3)
 * @send: with a message that is acknowledged; inside the agent's gate, or in a handler
 *	of ib_core; the caller has a reference
 *
 * The ACK stays in ib_core to catch a response of one MAD, if nothing does. If it could
 * not be posted, it is again: without a deadline nothing else would make that good.
 * Context: process; may sleep; hold no lock.
 */
void umad_rmpp_turn_around(struct umad_send *send)
{
	struct umad_rmpp_tx *tx = send->rmpp;
	u8 mad[UMAD_RMPP_HDR_MAX] __aligned(8);
	struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_ACK,
		.len = tx->response_window,
	};
	int ret = -EBUSY;

	memcpy(mad, tx->head, tx->layout.hdr);
	rmpp_format((struct ib_rmpp_mad *)mad, &packet);
	spin_lock(&send->file->lock);
	if (tx->turns < (send->waiting ? REPEATS_MAX : RMPP_TX_POSTED_MAX)) {
		tx->turns++;
		ret = 0;
	}
	spin_unlock(&send->file->lock);
	if (!ret) {
		ret = umad_send_post(send, mad, tx->layout.hdr, false);
		spin_lock(&send->file->lock);
		tx->turns -= !!ret;
		spin_unlock(&send->file->lock);
	}
	if (!ret)
		return;
	spin_lock(&send->file->lock);
	if (umad_rmpp_wants_turn(send)) {
		tx->turn_at = ktime_get_ns() + TURN_AGAIN;
		umad_rmpp_tx_arm(send);
	}
	spin_unlock(&send->file->lock);
}

/**
 * umad_rmpp_tx_turn_again() - its placeholder was used up by what is not the response
 * @send: with a message; in a handler of ib_core; the caller has a reference
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_rmpp_tx_turn_again(struct umad_send *send)
{
	bool turn;

	spin_lock(&send->file->lock);
	turn = send->rmpp->settled && umad_rmpp_wants_turn(send);
	spin_unlock(&send->file->lock);
	if (turn)
		umad_rmpp_turn_around(send);
}
