// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Received MADs, from ib_core to a file's queue. All agents of a port share
 * one work of ib_core's: nothing here waits for a reader, or for an address.
 */
#include "recv.h"

#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include "agent.h"
#include "charge.h"
#include "device.h"
#include "file.h"
#include "hdr.h"
#include "post.h"
#include "rmpp.h"
#include "rxq.h"
#include "send.h"

/**
 * struct recv_msg - a received MAD in a file's queue
 * @msg: what the queue knows of it
 * @file: that it is for
 * @reserve: bytes of &umad_file.reserve that it takes
 * @mad: the bytes
 */
struct recv_msg {
	struct umad_msg msg;
	struct umad_file *file;
	size_t reserve;
	u8 mad[];
};

static void release_recv(struct umad_msg *msg)
{
	struct recv_msg *recv = container_of(msg, struct recv_msg, msg);

	umad_reserve_free(recv->file, recv->reserve);
	kfree(recv);
}

/* RoCE: which kind of header stands where the GRH would? */
static enum rdma_network_type network_type(const struct ib_wc *wc,
					   const struct ib_grh *grh)
{
	const union rdma_network_hdr *hdr = (const union rdma_network_hdr *)grh;

	if (wc->wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE)
		return wc->network_hdr_type;
	if (ib_get_rdma_header_version(hdr) == 4)
		return RDMA_NETWORK_IPV4;
	return grh->next_hdr == IPPROTO_UDP ? RDMA_NETWORK_IPV6 :
					      RDMA_NETWORK_ROCE_V1;
}

static bool gid_is_on_vlan(const struct ib_gid_attr *attr, u16 vlan)
{
	u16 gid_vlan = 0xffff;

	return !rdma_read_gid_l2_fields(attr, &gid_vlan, NULL) &&
	       gid_vlan == vlan;
}

/* One GID may stand in the table once for each VLAN. */
static int find_gid_on_vlan(struct ib_device *ib_dev, u32 port_num,
			    const union ib_gid *gid, enum ib_gid_type type,
			    u16 vlan)
{
	int len = ib_dev->port_data[port_num].immutable.gid_tbl_len;
	const struct ib_gid_attr *attr;
	bool match;
	int i;

	for (i = 0; i < len; i++) {
		attr = rdma_get_gid_attr(ib_dev, port_num, i);
		if (IS_ERR(attr))
			continue;
		match = attr->gid_type == type &&
			!memcmp(&attr->gid, gid, sizeof(*gid)) &&
			gid_is_on_vlan(attr, vlan);
		rdma_put_gid_attr(attr);
		if (match)
			return i;
	}
	return -ENOENT;
}

static int find_gid(struct ib_device *ib_dev, u32 port_num,
		    const union ib_gid *gid, enum ib_gid_type type,
		    const struct ib_wc *wc)
{
	u16 vlan = wc->wc_flags & IB_WC_WITH_VLAN ? wc->vlan_id : 0xffff;
	const struct ib_gid_attr *attr;
	bool match;
	int index;

	attr = rdma_find_gid_by_port(ib_dev, gid, type, port_num, NULL);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	index = attr->index;
	match = type == IB_GID_TYPE_IB || gid_is_on_vlan(attr, vlan);
	rdma_put_gid_attr(attr);
	return match ? index : find_gid_on_vlan(ib_dev, port_num, gid, type,
						vlan);
}

static int get_gids(struct umad_port *port, const struct ib_mad_recv_wc *rwc,
		    union ib_gid *sgid, union ib_gid *dgid,
		    enum rdma_network_type *net)
{
	const struct ib_grh *grh = rwc->recv_buf.grh;

	*net = RDMA_NETWORK_IB;
	if (rdma_protocol_roce(port->ib_dev, port->port_num))
		*net = network_type(rwc->wc, grh);
	return ib_get_gids_from_rdma_hdr((const union rdma_network_hdr *)grh,
					 *net, sgid, dgid);
}

/**
 * umad_recv_sgid() - the GID that a MAD was sent from
 * @agent: that received it
 * @rwc: the MAD, with a GRH
 * @sgid: set
 *
 * Context: process, ib_core's receive handler.
 * Return: 0 or -EINVAL.
 */
int umad_recv_sgid(struct umad_agent *agent, const struct ib_mad_recv_wc *rwc,
		   union ib_gid *sgid)
{
	enum rdma_network_type net;
	union ib_gid dgid;

	return get_gids(agent->file->port, rwc, sgid, &dgid, &net);
}

/*
 * The GRH's part of the header, as in-tree, which however resolves the
 * sender's address for it, and stalls the port while a neighbour is silent.
 */
static int fill_grh(struct ib_user_mad_hdr *hdr, struct umad_port *port,
		    const struct ib_mad_recv_wc *rwc)
{
	bool roce = rdma_protocol_roce(port->ib_dev, port->port_num);
	enum rdma_network_type net;
	union ib_gid sgid, dgid;
	int index, ret;

	ret = get_gids(port, rwc, &sgid, &dgid, &net);
	if (ret)
		return ret;

	/* IBA 13.5.4.4: the SA is addressed by a GUID that no port has. */
	if (!roce &&
	    dgid.global.interface_id == cpu_to_be64(IB_SA_WELL_KNOWN_GUID))
		index = 0;
	else
		index = find_gid(port->ib_dev, port->port_num, &dgid,
				 ib_network_to_gid_type(net), rwc->wc);
	if (index < 0)
		return index;

	umad_hdr_set_grh(hdr, rwc->recv_buf.grh, &sgid, index,
			 roce ? IPV6_DEFAULT_HOPLIMIT : 0xff);
	return 0;
}

/**
 * umad_recv_hdr() - the program's header of a received MAD
 * @agent: that received it
 * @rwc: the MAD
 * @hdr: filled in
 *
 * Context: process, ib_core's receive handler; resolves no address.
 * Return: 0, or an errno when it was sent to a GID that this port has not.
 */
int umad_recv_hdr(struct umad_agent *agent, const struct ib_mad_recv_wc *rwc,
		  struct ib_user_mad_hdr *hdr)
{
	struct umad_port *port = agent->file->port;

	umad_hdr_from_wc(hdr, rwc->wc,
			 rdma_cap_opa_mad(port->ib_dev, port->port_num));
	hdr->id = agent->id;
	return hdr->grh_present ? fill_grh(hdr, port, rwc) : 0;
}

static struct recv_msg *alloc_msg(struct umad_file *file, size_t len)
{
	struct recv_msg *recv;
	size_t reserve;

	recv = umad_reserve_alloc(file, struct_size(recv, mad, len), &reserve);
	if (recv) {
		recv->file = file;
		recv->reserve = reserve;
	}
	return recv;
}

/* A record of what was received, charged to the file; NULL when dropped. */
static struct recv_msg *make_msg(struct umad_agent *agent,
				 const struct ib_mad_recv_wc *rwc)
{
	struct umad_file *file = agent->file;
	struct umad_stats *stats = &file->port->stats;
	struct recv_msg *recv;
	enum umad_stat why;

	why = UMAD_STAT_RECV_DROPPED_NOMEM;
	recv = alloc_msg(file, rwc->mad_len);
	if (!recv)
		goto drop;

	recv->msg.data = recv->mad;
	recv->msg.len = rwc->mad_len;
	recv->msg.body = NULL;
	recv->msg.body_len = 0;
	recv->msg.charge = 0;
	recv->msg.release = release_recv;
	memcpy(recv->mad, rwc->recv_buf.mad, rwc->mad_len);

	why = UMAD_STAT_RECV_DROPPED_GID;
	if (umad_recv_hdr(agent, rwc, &recv->msg.hdr))
		goto drop_free;

	why = UMAD_STAT_RECV_DROPPED_BUDGET;
	if (!umad_rxq_charge(&file->rxq, &recv->msg, ksize(recv)))
		goto drop_free;
	return recv;

drop_free:
	release_recv(&recv->msg);
drop:
	umad_stat_inc(stats, why);
	return NULL;
}

static void deliver(struct umad_agent *agent, struct recv_msg *recv)
{
	struct umad_file *file = agent->file;
	bool queued = false;

	spin_lock(&file->lock);
	if (!agent->dying)
		queued = umad_file_queue(file, &recv->msg,
					 UMAD_STAT_RECV_DELIVERED);
	spin_unlock(&file->lock);
	if (!queued) {
		umad_stat_inc(&file->port->stats, UMAD_STAT_RECV_DROPPED_DEAD);
		umad_rxq_free(&file->rxq, &recv->msg);
	}
}

/*
 * A directed route SMP that has not left the host: such a one has no GRH's
 * place before it. ib_core looks for no request that it answers, and in-tree
 * delivers it, though the request was written without a time-out.
 */
static bool is_local(const struct ib_mad_recv_wc *rwc)
{
	return rwc->recv_buf.mad->mad_hdr.mgmt_class ==
	       IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE && !rwc->recv_buf.grh;
}

/*
 * What stays on the host is answered by the port that its writer has asked, or by a
 * program of that port. ib_core's own agents answer others.
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
	const struct ib_mad_hdr *mad = &rwc->recv_buf.mad->mad_hdr;
	struct umad_agent *agent = core->context;
	struct recv_msg *recv;
	bool foreign;

	if (rwc->wc->status != IB_WC_SUCCESS)
		goto free;
	foreign = is_foreign(rwc, buf, core);
	/* Another file's, or another client's: not to be looked into. */
	if (buf && buf->mad_agent != core)
		buf = NULL;
	/* The agent may receive before its registration has returned. */
	WRITE_ONCE(agent->core, core);
	if (foreign) {
		umad_stat_inc(&agent->file->port->stats,
			      UMAD_STAT_RECV_DROPPED_FOREIGN);
		if (buf && agent->kernel_rmpp)
			umad_rmpp_waste(buf);
		else if (buf)
			umad_send_answer_lost(buf, mad);
		goto free;
	}
	if (agent->kernel_rmpp && umad_mad_is_rmpp_active(mad)) {
		umad_rmpp_receive(agent, buf, rwc);
		goto free;
	}
	recv = make_msg(agent, rwc);
	if (!recv) {
		if (buf)
			umad_send_answer_lost(buf, mad);
		goto free;
	}

	/* A segment for a program's own RMPP needs no request of ours. */
	if (ib_response_mad(mad) && !umad_send_answered(agent, buf, mad) &&
	    !umad_mad_is_rmpp_active(mad) && !is_local(rwc)) {
		umad_stat_inc(&agent->file->port->stats,
			      UMAD_STAT_RECV_UNMATCHED);
		umad_rxq_free(&agent->file->rxq, &recv->msg);
		goto free;
	}
	deliver(agent, recv);
free:
	ib_free_recv_mad(rwc);
}
