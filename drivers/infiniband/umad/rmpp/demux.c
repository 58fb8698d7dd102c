// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which engine a packet is for. */
#include <linux/types.h>
#include "rmpp/demux.h"

#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "post.h"
#include "request.h"
#include "rmpp/control.h"
#include "rmpp/match.h"
#include "rmpp/memo.h"
#include "rmpp/table.h"
#include "rmpp/xfer_rx.h"
#include "rmpp/xfer_tx.h"
#include "send.h"
#include "wait_entry.h"

/*
 * What has used it up was not the response, and ib_core would drop that if it is a
 * single MAD. A message says again that it waits, a single MAD is sent again. If that
 * cannot be, a request without a deadline hears that no response can come any more.
 */
static void replace_wait_entry(struct ib_mad_send_buf *buf)
{
	struct umad_request *req = umad_post_owner(buf);

	if (req->rmpp) {
		umad_xfer_tx_turn_again(req);
		return;
	}
	if (umad_send_rearm(req, buf))
		return;
	spin_lock(&req->file->lock);
	umad_request_fail_infinite(req, IB_MGMT_RMPP_STATUS_UNSPEC);
	umad_request_unlock(req->file);
}

/**
 * umad_rmpp_waste() - what is not the response has used up a request's wait entry
 * @buf: the MAD sent that ib_core takes it for the answer of; ib_core completes it now
 *
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 */
void umad_rmpp_waste(struct ib_mad_send_buf *buf)
{
	struct umad_request *req = umad_post_owner(buf);

	spin_lock(&req->file->lock);
	umad_wait_entry_detach(req, buf);
	spin_unlock(&req->file->lock);
	replace_wait_entry(buf);
}

/*
 * Does it begin the response of a request, or belong to one that has begun? Of one that has
 * been silent, for which the request is sent again, it may be a late copy.
 */
static bool is_response_to(const struct umad_request *req,
			   struct umad_agent *agent,
			   const struct umad_rmpp_key *from,
			   const struct rmpp_packet *packet)
{
	struct umad_xfer_rx *rx;
	u8 status;

	lockdep_assert_held(&agent->file->lock);
	if (packet->type != IB_MGMT_RMPP_TYPE_DATA)
		return false;
	if (rmpp_rx_check_start(packet, &status) == RMPP_RX_STORE)
		return umad_rmpp_find_request(agent, from) == req;
	rx = umad_rmpp_table_find(agent->file->rmpp, from);
	return rx && rx->req == req && !(rx->solicited && req->answer_silent);
}

/* ib_core has taken a packet for the answer of @buf. Returns true if it is not that. */
static bool use_up(struct umad_agent *agent, struct ib_mad_send_buf *buf,
		   const struct umad_rmpp_key *from,
		   const struct rmpp_packet *packet)
{
	struct umad_request *req = umad_post_owner(buf);
	bool wasted;

	spin_lock(&agent->file->lock);
	wasted = !is_response_to(req, agent, from, packet);
	umad_wait_entry_detach(req, buf);
	spin_unlock(&agent->file->lock);
	return wasted;
}

/*
 * Its sender has ended: copies that come behind that do not keep a complete message, nor what
 * is remembered of it, even if the packet is for our answer.
 */
static void note_end(struct umad_file *file, struct umad_xfer_rx *rx,
		     const struct umad_rmpp_key *from, const struct rmpp_packet *packet)
{
	lockdep_assert_held(&file->lock);
	if (packet->type != IB_MGMT_RMPP_TYPE_STOP && packet->type != IB_MGMT_RMPP_TYPE_ABORT)
		return;
	if (!rx)
		umad_rmpp_memo_ended(file, from, ktime_get_ns());
	else if (rx->engine.state == RMPP_RX_DONE)
		rmpp_rx_receive(&rx->engine, packet, ktime_get_ns());
}

/* Not DATA: to the message that it is about; else it is unmatched. */
static void dispatch_control(struct umad_agent *agent, const struct ib_mad_recv_wc *rwc,
			     const struct umad_rmpp_key *from,
			     const struct rmpp_packet *packet)
{
	struct umad_file *file = agent->file;
	struct umad_request *req;
	struct umad_xfer_rx *rx;
	bool turn_around;
	u8 status;

	/*
	 * An ACK of segment 0 looks like one of our answer, and is one of
	 * their request; a response has no turn-around ACK. And who sends us a
	 * message ends that message, not the one that it answers.
	 */
	turn_around = packet->type == IB_MGMT_RMPP_TYPE_ACK && !packet->seg;
	rx = umad_xfer_rx_find(agent, rwc, from, turn_around);
	if (rx && (turn_around ? rx->engine.state == RMPP_RX_DONE && !rx->was_asked :
				 rx->engine.state == RMPP_RX_REASSEMBLING)) {
		umad_xfer_rx_receive(rx, rwc, packet);
		return;
	}
	note_end(file, rx, from, packet);
	req = umad_xfer_tx_find(agent, &rwc->recv_buf.mad->mad_hdr, from);
	if (req) {
		umad_xfer_tx_receive(req, packet);
		return;
	}
	if (rx && rx->engine.state == RMPP_RX_DONE) {
		umad_xfer_rx_receive(rx, rwc, packet);
		return;
	}
	spin_unlock(&file->lock);
	umad_stat_inc(&file->port->stats, UMAD_STAT_RMPP_UNMATCHED);
	if (rmpp_rx_check_start(packet, &status) == RMPP_RX_ABORT)
		umad_rmpp_reject(agent, rwc, IB_MGMT_RMPP_TYPE_ABORT,
				 status);
}

/**
 * umad_rmpp_receive() - an RMPP packet has been received
 * @agent: with RMPP done here
 * @buf: the MAD sent that ib_core takes it for the answer of, or NULL
 * @rwc: the packet, Active; stays the caller's
 *
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 */
void umad_rmpp_receive(struct umad_agent *agent, struct ib_mad_send_buf *buf,
		       const struct ib_mad_recv_wc *rwc)
{
	const struct ib_rmpp_mad *mad;
	struct umad_rmpp_key from;
	struct rmpp_packet packet;
	bool wasted = false;

	mad = (const struct ib_rmpp_mad *)rwc->recv_buf.mad;
	/* Of OPA: the rest of its headers is what the buffer has held before. */
	if (rwc->mad_len < max_t(size_t, offsetof(struct ib_rmpp_mad, data),
				 ib_get_mad_data_offset(mad->mad_hdr.mgmt_class))) {
		umad_stat_inc(&agent->file->port->stats, UMAD_STAT_RMPP_UNMATCHED);
		if (buf)
			umad_rmpp_waste(buf);
		return;
	}
	rmpp_parse(mad, &packet);
	umad_rmpp_key_of(&from, agent, rwc);
	if (buf)
		wasted = use_up(agent, buf, &from, &packet);
	/* It waits for no turn, as a single MAD. */
	if (rmpp_is_whole(&packet))
		umad_sched_note_single(&agent->file->port->sched);
	if (packet.version == IB_MGMT_RMPP_VERSION &&
	    packet.type == IB_MGMT_RMPP_TYPE_DATA)
		umad_xfer_rx_data(agent, rwc, &packet, &from);
	else
		dispatch_control(agent, rwc, &from, &packet);
	if (wasted)
		replace_wait_entry(buf);
}
