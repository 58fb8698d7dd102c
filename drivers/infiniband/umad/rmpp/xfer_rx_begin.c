// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Whether a message may begin: who asked for it, the bounds. */
#include <linux/types.h>
#include "rmpp/xfer_rx.h"

#include <linux/err.h>
#include <linux/lockdep.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include "agent.h"
#include "ah.h"
#include "charge.h"
#include "file.h"
#include "pagebuf.h"
#include "port.h"
#include "recv_hdr.h"
#include "request.h"
#include "rmpp/account.h"
#include "rmpp/control.h"
#include "rmpp/limits.h"
#include "rmpp/match.h"
#include "rmpp/memo.h"
#include "rmpp/peer.h"
#include "rmpp/table.h"
#include "rmpp/xfer_tx.h"

static struct umad_rmpp_rx_entry *entry_alloc(struct umad_file *file)
{
	struct umad_charge charge = umad_charge_begin(file->reserve->memcg);
	struct umad_rmpp_rx_entry *entry;

	entry = kzalloc(sizeof(*entry), UMAD_GFP_HANDLER);
	if (entry) {
		entry->rx_entry.ops = &umad_rmpp_rx_ops;
		entry->view.body = umad_pagebuf_alloc(UMAD_GFP_HANDLER);
	}
	umad_charge_end(&charge);
	if (entry && !entry->view.body) {
		umad_rmpp_rx_entry_free(entry);
		return NULL;
	}
	return entry;
}

/* With what read() will return, if it is not complete. */
static struct umad_xfer_rx *rx_alloc(struct umad_agent *agent,
				     const struct ib_mad_recv_wc *rwc,
				     const struct umad_rmpp_key *key, bool complete)
{
	struct umad_file *file = agent->file;
	struct umad_charge charge = umad_charge_begin(file->reserve->memcg);
	struct umad_xfer_rx *rx;
	int ret = -ENOMEM;

	rx = kzalloc(sizeof(*rx), UMAD_GFP_HANDLER);
	umad_charge_end(&charge);
	if (!rx)
		return ERR_PTR(ret);
	if (!complete) {
		rx->entry = entry_alloc(file);
		if (!rx->entry)
			goto err;
	}

	rx->key = *key;
	rx->agent = agent;
	refcount_set(&rx->refs, 1);
	INIT_LIST_HEAD(&rx->linger_node);
	INIT_LIST_HEAD(&rx->peer_node);
	INIT_LIST_HEAD(&rx->file_node);
	timerqueue_init(&rx->slow_node);
	INIT_LIST_HEAD(&rx->window_node);
	INIT_WORK(&rx->work, umad_xfer_rx_answer_work);
	ret = umad_recv_hdr(agent, rwc, &rx->from);
	if (ret)
		goto err;
	umad_addr_from_hdr(&rx->to, &rx->from);
	return rx;
err:
	if (rx->entry)
		umad_rmpp_rx_entry_free(rx->entry);
	kfree(rx);
	return ERR_PTR(ret);
}

static void rx_setup(struct umad_xfer_rx *rx, const struct ib_mad_recv_wc *rwc)
{
	const struct ib_mad_hdr *mad = &rwc->recv_buf.mad->mad_hdr;
	struct ib_mad_hdr *head = (struct ib_mad_hdr *)rx->head;
	struct umad_request *req = rx->req;
	struct rmpp_layout layout;
	u32 window = 1;

	layout = rmpp_layout_of(mad->mgmt_class, rwc->mad_seg_size);
	if (rx->solicited && req->rmpp)
		window = req->rmpp->response_window;
	rmpp_rx_init(&rx->engine, &layout, umad_rmpp_max_message(), window,
		     ktime_get_ns());
	rx->engine.solicited = rx->solicited;
	memcpy(rx->head, mad, layout.hdr);
	/* ACK, STOP and ABORT go the other way (IBA 13.6.2). */
	head->method ^= IB_MGMT_METHOD_RESP;
}

static void rx_insert(struct umad_xfer_rx *rx)
{
	struct umad_agent *agent = rx->agent;

	lockdep_assert_held(&agent->file->lock);
	umad_rmpp_table_insert(agent->file->rmpp, rx);
	rx->listed = true;
	list_add_tail(&rx->agent_node, &agent->receivers);
}

/*
 * Into the table, unless a bound or the agent's end forbids it. Only a bound may do so when
 * another has given way to it.
 */
static int rx_list(struct umad_xfer_rx *rx, const struct ib_mad_recv_wc *rwc,
		   const struct rmpp_packet *packet)
{
	bool whole = packet->flags & IB_MGMT_RMPP_FLAG_LAST;
	struct umad_xfer_rx *victim = NULL, *other = NULL;
	struct umad_agent *agent = rx->agent;
	struct umad_file *file = agent->file;
	int ret;

	spin_lock(&file->lock);
	ret = -ESHUTDOWN;
	if (agent->shutdown)
		goto out;
	if (ib_response_mad(&rwc->recv_buf.mad->mad_hdr)) {
		ret = -ENOENT;
		rx->req = umad_rmpp_find_request(agent, &rx->key);
		if (!rx->req)
			goto out;
		umad_request_get(rx->req);
		/* Nobody answers what has not been sent: it is of an earlier one. */
		if (rx->req->rmpp && !umad_xfer_tx_is_sent(rx->req->rmpp))
			goto out;
		/* Its address has been resolved: RoCE's has to be the sender's. */
		if (file->port->roce) {
			umad_ah_get(rx->req->ah);
			rx->ah = rx->req->ah;
		}
	}
	ret = -ENOMEM;
	rx->peer = umad_rmpp_peer_get(file, &rx->key);
	if (!rx->peer)
		goto out;
	other = umad_rmpp_table_find(file->rmpp, &rx->key);
	if (other)
		umad_xfer_rx_give_way(other);
	/* A second one at a time is unsolicited. */
	rx->solicited = rx->req && !rx->req->answer_comes;
	ret = -ENOSPC;
	if (!umad_rmpp_may_begin(rx, whole, ktime_get_ns(), &victim))
		goto err_peer;
	ret = 0;
	rx_setup(rx, rwc);
	rx_insert(rx);
	umad_rmpp_count(rx);
	/* For the caller. */
	umad_xfer_rx_get(rx);
	goto out;

err_peer:
	umad_rmpp_peer_put(file, rx->peer);
	rx->peer = NULL;
out:
	umad_request_unlock(file);
	/* The table's. */
	if (other)
		umad_xfer_rx_put(other);
	if (victim)
		umad_xfer_rx_stop_evicted(victim);
	return ret;
}

static void count_lost(struct umad_agent *agent, int err)
{
	enum umad_stat why = UMAD_STAT_RECV_DROPPED_GID;

	if (err == -ENOMEM) {
		umad_reserve_refill(agent->file);
		why = UMAD_STAT_RECV_DROPPED_NOMEM;
	}
	umad_stat_inc(&agent->file->port->stats, why);
}

/**
 * umad_xfer_rx_begin() - begin to receive a message, or say why not
 * @agent: that it is for
 * @rwc: a DATA packet that belongs to no message, or takes the place of one
 * @packet: its RMPP header
 * @key: of the message that it would be
 * @ops: for its timer
 *
 * What is refused is counted and, if that is due, answered here.
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 * Return: the message with a reference, the packet not dealt with yet; NULL
 * when it is refused, not worth an answer, or finds no memory: as good as lost, its sender
 * repeats it.
 */
struct umad_xfer_rx *umad_xfer_rx_begin(struct umad_agent *agent,
					const struct ib_mad_recv_wc *rwc,
					const struct rmpp_packet *packet,
					const struct umad_rmpp_key *key,
					const struct umad_timer_ops *ops)
{
	struct umad_stats *stats = &agent->file->port->stats;
	struct umad_xfer_rx *rx;
	u8 status;
	int ret;

	switch (rmpp_rx_check_start(packet, &status)) {
	case RMPP_RX_STORE:
		break;
	case RMPP_RX_ABORT:
		umad_rmpp_reject(agent, rwc, IB_MGMT_RMPP_TYPE_ABORT,
				 status);
		fallthrough;
	default:
		umad_stat_inc(stats, UMAD_STAT_RMPP_UNMATCHED);
		return NULL;
	}

	rx = rx_alloc(agent, rwc, key, false);
	if (IS_ERR(rx)) {
		count_lost(agent, PTR_ERR(rx));
		return NULL;
	}
	umad_timer_init(&rx->timer, ops);
	ret = rx_list(rx, rwc, packet);
	if (!ret) {
		if (rx->req)
			umad_xfer_tx_answered(rx->req);
		return rx;
	}
	if (rx->solicited)
		umad_xfer_rx_tell_request(rx->req, IB_MGMT_RMPP_STATUS_RESX);
	umad_xfer_rx_put(rx);
	if (ret == -ENOMEM) {
		count_lost(agent, ret);
	} else if (ret == -ENOENT) {
		umad_stat_inc(stats, UMAD_STAT_RECV_UNMATCHED);
	} else if (ret != -ESHUTDOWN) {
		umad_stat_inc(stats, UMAD_STAT_RMPP_REFUSED);
		umad_rmpp_reject(agent, rwc, IB_MGMT_RMPP_TYPE_STOP,
				 IB_MGMT_RMPP_STATUS_RESX);
	}
	return NULL;
}

/* What is remembered of it into the table, if it still is. False: it is not. */
static bool rx_relist(struct umad_xfer_rx *rx, const struct ib_mad_recv_wc *rwc,
		      struct umad_xfer_rx **oldest)
{
	struct umad_file *file = rx->agent->file;
	struct umad_rmpp_memo *memo;

	lockdep_assert_held(&file->lock);
	memo = umad_rmpp_memo_find(file, &rx->key, ktime_get_ns());
	if (!memo || rx->agent->shutdown || umad_rmpp_table_find(file->rmpp, &rx->key))
		return false;
	rx_setup(rx, rwc);
	rmpp_rx_restore(&rx->engine, memo->last, memo->window_last, memo->repwin,
			memo->until, memo->again_until);
	rx->was_asked = memo->was_asked;
	umad_rmpp_memo_remove(file, memo);
	rx_insert(rx);
	*oldest = umad_xfer_rx_linger(rx);
	umad_rmpp_set_timer(file, &rx->timer, rmpp_rx_deadline(&rx->engine));
	return true;
}

/**
 * umad_xfer_rx_recall() - a complete message that is remembered lingers again
 * @agent: that it was for
 * @rwc: a packet of it
 * @key: of the message
 * @ops: for its timer
 *
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 */
void umad_xfer_rx_recall(struct umad_agent *agent, const struct ib_mad_recv_wc *rwc,
			 const struct umad_rmpp_key *key, const struct umad_timer_ops *ops)
{
	struct umad_file *file = agent->file;
	struct umad_xfer_rx *rx, *oldest = NULL;
	bool listed;

	rx = rx_alloc(agent, rwc, key, true);
	if (IS_ERR(rx)) {
		count_lost(agent, PTR_ERR(rx));
		return;
	}
	umad_timer_init(&rx->timer, ops);
	spin_lock(&file->lock);
	listed = rx_relist(rx, rwc, &oldest);
	spin_unlock(&file->lock);
	if (!listed)
		umad_xfer_rx_put(rx);
	if (oldest)
		umad_xfer_rx_put_lingering(oldest);
}
