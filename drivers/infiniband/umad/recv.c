// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Received MADs, from ib_core to a file's queue. All agents of a port share
 * one work of ib_core's: nothing here waits for a reader, or for an address.
 */
#include "recv.h"

#include <linux/build_bug.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include "agent.h"
#include "charge.h"
#include "file.h"
#include "port.h"
#include "post.h"
#include "recv_hdr.h"
#include "request.h"
#include "rmpp/demux.h"
#include "rxq.h"
#include "unread.h"

/**
 * struct recv_entry - a received MAD in a file's queue
 * @rx_entry: what the queue knows of it; the length in its header is that of the MAD
 * @mad: the bytes
 */
struct recv_entry {
	struct umad_rx_entry rx_entry;
	u8 mad[];
};

/* A process may have any number of them unread. */
static_assert(sizeof(struct recv_entry) + sizeof(struct ib_mad) <= 352);

static struct kmem_cache *ib_cache; /* of MADs of InfiniBand */
static struct kmem_cache *opa_cache; /* of longer ones */

static struct kmem_cache *create_cache(const char *name, size_t mad_len)
{
	/* Not SLAB_ACCOUNT: what is taken of a reserve is charged to nobody. */
	return kmem_cache_create_usercopy(name, sizeof(struct recv_entry) + mad_len, 0, 0,
					  offsetof(struct recv_entry, mad), mad_len, NULL);
}

/**
 * umad_recv_init() - before the first MAD is received
 *
 * Context: process; sleeps.
 * Return: 0 or -ENOMEM.
 */
int umad_recv_init(void)
{
	ib_cache = create_cache("ib_umad_mad", sizeof(struct ib_mad));
	opa_cache = create_cache("ib_umad_opa_mad", sizeof(struct opa_mad));
	if (ib_cache && opa_cache)
		return 0;
	umad_recv_exit();
	return -ENOMEM;
}

/**
 * umad_recv_exit() - no file is left
 *
 * Context: process; sleeps.
 */
void umad_recv_exit(void)
{
	kmem_cache_destroy(opa_cache);
	kmem_cache_destroy(ib_cache);
}

static struct kmem_cache *cache_of(size_t mad_len)
{
	return mad_len <= sizeof(struct ib_mad) ? ib_cache : opa_cache;
}

static void view_recv(const struct umad_rx_entry *rx_entry, struct umad_rx_view *view)
{
	view->data = container_of(rx_entry, struct recv_entry, rx_entry)->mad;
	view->len = rx_entry->hdr.length;
}

static void release_recv(struct umad_rxq *q, struct umad_rx_entry *rx_entry, bool here)
{
	kmem_cache_free(cache_of(rx_entry->hdr.length),
			container_of(rx_entry, struct recv_entry, rx_entry));
}

/* Of memory that is charged to nobody. */
static void release_reserve(struct umad_rxq *q, struct umad_rx_entry *rx_entry, bool here)
{
	umad_reserve_free(container_of(q, struct umad_file, rxq),
			  kmem_cache_size(cache_of(rx_entry->hdr.length)));
	release_recv(q, rx_entry, here);
}

static const struct umad_rx_ops recv_ops = {
	.view = view_recv,
	.release = release_recv,
	.unasked = true,
};

static const struct umad_rx_ops answer_ops = {
	.view = view_recv,
	.release = release_recv,
};

static const struct umad_rx_ops reserve_ops = {
	.view = view_recv,
	.release = release_reserve,
};

static struct recv_entry *alloc_entry(struct umad_file *file,
				      const struct ib_mad_recv_wc *rwc)
{
	size_t len = rwc->mad_len, reserve;
	struct recv_entry *recv;

	if (WARN_ON_ONCE(len > sizeof(struct opa_mad)))
		return NULL;
	recv = umad_reserve_alloc(file, cache_of(len), &reserve);
	if (!recv)
		return NULL;
	recv->rx_entry.ops = reserve ? &reserve_ops : &recv_ops;
	recv->rx_entry.charge = 0;
	memcpy(recv->mad, rwc->recv_buf.mad, len);
	/* Of OPA's short ones what is missing of the header reads as zero. */
	if (len < IB_MGMT_MAD_HDR)
		memset(recv->mad + len, 0, IB_MGMT_MAD_HDR - len);
	return recv;
}

/* An entry of what was received, charged to the file; NULL when dropped. */
static struct recv_entry *make_entry(struct umad_agent *agent,
				     const struct ib_mad_recv_wc *rwc)
{
	enum umad_stat why = UMAD_STAT_RECV_DROPPED_GID;
	struct umad_file *file = agent->file;
	struct ib_user_mad_hdr hdr;
	struct recv_entry *recv;
	size_t size;

	if (umad_recv_hdr(agent, rwc, &hdr))
		goto drop;

	why = UMAD_STAT_RECV_DROPPED_NOMEM;
	recv = alloc_entry(file, rwc);
	if (!recv)
		goto drop;
	recv->rx_entry.hdr = hdr;
	recv->rx_entry.hdr.length = rwc->mad_len;

	why = UMAD_STAT_RECV_DROPPED_BUDGET;
	size = kmem_cache_size(cache_of(rwc->mad_len));
	if (umad_unread_may_grow(file, size) &&
	    umad_rxq_charge(&file->rxq, &recv->rx_entry, size))
		return recv;

	recv->rx_entry.ops->release(&file->rxq, &recv->rx_entry, false);
drop:
	umad_stat_inc(&file->port->stats, why);
	return NULL;
}

/*
 * A directed route SMP that has not left the host: such a one has no GRH's
 * place before it. ib_core looks for no request that it answers, and in-tree
 * delivers it, though the request was written without a timeout.
 */
static bool is_local(const struct ib_mad_recv_wc *rwc)
{
	return rwc->recv_buf.mad->mad_hdr.mgmt_class ==
	       IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE && !rwc->recv_buf.grh;
}

/*
 * What stays on the host is answered by the port that its writer has asked, or by a
 * process of that port. ib_core's own agents answer others.
 */
static bool is_by_foreign_writer(const struct ib_mad_send_buf *buf,
				 const struct ib_mad_agent *core)
{
	const struct ib_mad_agent *writer = buf->mad_agent;

	return writer->device != core->device ||
	       writer->port_num != core->port_num ||
	       writer->send_handler != umad_send_handler;
}

/*
 * ib_core finds the agent for a response by its TID alone, and then a request of
 * that agent: also when another port has received it, on another fabric or of another
 * network namespace; and the handler of one agent would run at two ports at once.
 * The QP itself tells nothing: mlx5 receives the MADs of QP1 by one of its own, with
 * the same port. Of a switch the port is 0.
 */
static bool is_by_foreign_port(const struct ib_qp *qp,
			       const struct ib_mad_agent *core)
{
	return qp && (qp->device != core->device ||
		      (qp->port && core->qp->port &&
		       qp->port != core->qp->port));
}

/* Nobody who may answer this agent has sent that response. */
static bool is_foreign(const struct ib_mad_recv_wc *rwc,
		       const struct ib_mad_send_buf *buf,
		       const struct ib_mad_agent *core)
{
	if (!ib_response_mad(&rwc->recv_buf.mad->mad_hdr))
		return false;
	if (is_local(rwc))
		return buf && is_by_foreign_writer(buf, core);
	return is_by_foreign_port(rwc->wc->qp, core);
}

/* To the request that it answers, and to the process. */
static void mad_deliver(struct umad_agent *agent, struct ib_mad_send_buf *buf,
			const struct ib_mad_recv_wc *rwc, struct recv_entry *recv)
{
	const struct ib_mad_hdr *mad = &rwc->recv_buf.mad->mad_hdr;
	enum umad_stat dropped = UMAD_STAT_RECV_DROPPED_DEAD;
	struct umad_file *file = agent->file;
	bool queued = false, answers;

	spin_lock(&file->lock);
	answers = ib_response_mad(mad) &&
		  umad_request_answered(agent, buf, mad, &recv->rx_entry.hdr);
	if (answers && recv->rx_entry.ops == &recv_ops)
		recv->rx_entry.ops = &answer_ops;
	/* A segment for a process's own RMPP needs no request of ours. */
	if (ib_response_mad(mad) && !answers &&
	    !umad_mad_is_rmpp_active(mad) && !is_local(rwc))
		dropped = UMAD_STAT_RECV_UNMATCHED;
	else if (!agent->shutdown)
		queued = umad_file_queue(file, &recv->rx_entry,
					 UMAD_STAT_RECV_DELIVERED);
	umad_request_unlock(file);
	if (!queued) {
		umad_stat_inc(&file->port->stats, dropped);
		umad_rxq_free(&file->rxq, &recv->rx_entry);
	}
}

/* For a process's own RMPP: its sender repeats it. */
static bool is_segment(const struct ib_mad_hdr *mad)
{
	return umad_mad_is_rmpp_active(mad) &&
	       ((const struct ib_rmpp_mad *)mad)->rmpp_hdr.rmpp_type == IB_MGMT_RMPP_TYPE_DATA;
}

static void answer_lost(struct umad_agent *agent, struct ib_mad_send_buf *buf,
			const struct ib_mad_recv_wc *rwc)
{
	struct ib_user_mad_hdr hdr;
	int ret = umad_recv_hdr(agent, rwc, &hdr);

	umad_request_answer_lost(agent, buf, &rwc->recv_buf.mad->mad_hdr, ret ? NULL : &hdr);
}

/* What an agent, or a hidden one of it, has received. */
static void receive(struct umad_agent *agent, const struct ib_mad_agent *core,
		    struct ib_mad_send_buf *buf, struct ib_mad_recv_wc *rwc)
{
	const struct ib_mad_hdr *mad = &rwc->recv_buf.mad->mad_hdr;
	struct recv_entry *recv;
	bool foreign;

	if (rwc->wc->status != IB_WC_SUCCESS)
		goto free;
	foreign = is_foreign(rwc, buf, core);
	/* Another file's, or another client's: not to be looked into. */
	if (buf && buf->mad_agent != core)
		buf = NULL;
	if (foreign) {
		umad_stat_inc(&agent->file->port->stats,
			      UMAD_STAT_RECV_DROPPED_FOREIGN);
		if (buf)
			umad_rmpp_waste(buf);
		goto free;
	}
	if (agent->kernel_rmpp && umad_mad_is_rmpp_active(mad)) {
		umad_rmpp_receive(agent, buf, rwc);
		goto free;
	}
	umad_sched_note_single(&agent->file->port->sched);
	recv = make_entry(agent, rwc);
	if (recv)
		mad_deliver(agent, buf, rwc, recv);
	else if (buf && !is_segment(mad))
		answer_lost(agent, buf, rwc);
free:
	ib_free_recv_mad(rwc);
}

/**
 * umad_recv_handler() - ib_core has received a MAD
 * @core: ib_core's agent
 * @buf: the MAD sent that it answers, or NULL; but with a directed route SMP
 *	that has not left the host, the buffer of whoever has sent that
 * @rwc: the MAD; consumed
 *
 * A response that cannot be kept leaves its request waiting, so that the
 * caller gets it again or hears that it timed out.
 * Context: process, a work that all agents of the port share.
 */
void umad_recv_handler(struct ib_mad_agent *core, struct ib_mad_send_buf *buf,
		       struct ib_mad_recv_wc *rwc)
{
	struct umad_agent *agent = core->context;

	/*
	 * The agent may receive before its registration has returned. Later, a store would race
	 * with plain loads, and take the cache line from those who send.
	 */
	if (unlikely(!READ_ONCE(agent->core)))
		WRITE_ONCE(agent->core, core);
	receive(agent, core, buf, rwc);
}

/**
 * umad_recv_hidden_handler() - ib_core has received the response to what a hidden agent sent
 * @core: ib_core's agent
 * @buf: as of umad_recv_handler()
 * @rwc: the MAD; consumed
 *
 * Context: process, a work that all agents of the port share.
 */
void umad_recv_hidden_handler(struct ib_mad_agent *core, struct ib_mad_send_buf *buf,
			      struct ib_mad_recv_wc *rwc)
{
	struct ib_mad_hdr *mad = &rwc->recv_buf.mad->mad_hdr;
	struct umad_agent *agent = core->context;

	mad->tid = umad_tid_with(agent->core, mad->tid);
	receive(agent, core, buf, rwc);
}
