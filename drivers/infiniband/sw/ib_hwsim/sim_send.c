// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sends: a work request is copied to a packet, so the send can complete at once, or
 * whenever a test wants it to.
 */
#include "sim_send.h"

#include <linux/err.h>
#include "sim.h"
#include "sim_ah.h"
#include "sim_link.h"
#include "sim_packet.h"
#include "sim_qp.h"

static u32 mad_max(struct sim_port *port)
{
	return port->sim->config.opa ? IB_HWSIM_MAX_MAD : SIM_MAD_LEN;
}

/* Return: bytes of the MAD, or -errno. */
static int mad_len(struct sim_port *port, const struct ib_send_wr *wr)
{
	u32 len = 0;
	int i;

	if (wr->opcode != IB_WR_SEND || wr->num_sge < 1 ||
	    wr->num_sge > SIM_MAX_SGE)
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		if (wr->sg_list[i].length > mad_max(port) - len)
			return -EMSGSIZE;
		len += wr->sg_list[i].length;
	}
	return len < sizeof(struct ib_mad_hdr) ? -EINVAL : len;
}

static void copy_mad(struct sim_packet *packet, const struct ib_send_wr *wr)
{
	const struct ib_sge *sge;
	u32 at = 0;

	for (sge = wr->sg_list; sge < wr->sg_list + wr->num_sge; sge++) {
		/* A virtual address, as in post_recv(). */
		memcpy(packet->mad + at, (void *)(uintptr_t)sge->addr,
		       sge->length);
		at += sge->length;
	}
}

static int address(struct sim_packet *packet, struct sim_qp *qp,
		   const struct ib_ud_wr *ud)
{
	struct sim_port *port = qp->port;
	struct sim_ah *ah;
	u32 lmc;
	int ret;

	if (!ud->ah)
		return -EINVAL;
	ah = to_sim_ah(ud->ah);
	ret = sim_attrs_pkey(&port->attrs, ud->pkey_index, &packet->pkey);
	if (ret)
		return ret;
	ret = sim_ah_grh(port, ah, packet->len, packet->grh);
	if (ret < 0)
		return ret;

	packet->flags = ret ? IB_HWSIM_GRH : 0;
	packet->device = port->sim->config.id;
	packet->port = port->num;
	packet->slid = sim_attrs_lid(&port->attrs, &lmc);
	packet->slid |= rdma_ah_get_path_bits(&ah->attr) & ((1 << lmc) - 1);
	packet->dlid = rdma_ah_get_dlid(&ah->attr);
	/* A directed route that begins here has no LIDs. */
	if (!qp->ibqp.qp_num && packet->dlid == SIM_LID_PERMISSIVE)
		packet->slid = SIM_LID_PERMISSIVE;
	packet->sl = rdma_ah_get_sl(&ah->attr);
	packet->src_qp = qp->ibqp.qp_num;
	packet->dest_qp = ud->remote_qpn;
	/* With the highest bit set, the QP's own Q_Key is used (IBA 10.2.5). */
	packet->qkey = ud->remote_qkey & IB_QP_SET_QKEY ? READ_ONCE(qp->qkey) :
							  ud->remote_qkey;
	return 0;
}

static struct sim_packet *make_packet(struct sim_qp *qp,
				      const struct ib_send_wr *wr)
{
	struct sim_packet *packet;
	int ret;

	ret = mad_len(qp->port, wr);
	if (ret < 0)
		return ERR_PTR(ret);
	packet = sim_packet_alloc(GFP_ATOMIC, ret);
	if (!packet)
		return ERR_PTR(-ENOMEM);
	copy_mad(packet, wr);
	ret = address(packet, qp, ud_wr(wr));
	if (ret) {
		sim_packet_free(packet);
		return ERR_PTR(ret);
	}
	return packet;
}

static int post_send(struct sim_qp *qp, const struct ib_send_wr *wr)
{
	struct sim_dev *sim = qp->port->sim;
	struct sim_packet *packet;
	bool bad;
	int ret;

	ret = sim_fail_hit(&sim->fail, SIM_VERB_POST_SEND);
	if (ret)
		return ret;
	/* Not all sends are MADs: ib_core drains a QP in error by posting one. */
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		packet = NULL;
	else
		packet = make_packet(qp, wr);
	if (IS_ERR(packet))
		return PTR_ERR(packet);

	bad = !packet || sim_fail_hit(&sim->fail, SIM_VERB_SEND_WC);
	ret = sim_qp_sent(qp, wr->wr_id, wr->send_flags & IB_SEND_SIGNALED,
			  bad ? IB_WC_GENERAL_ERR : IB_WC_SUCCESS);
	if (!ret)
		sim_link_send(qp->port, packet);
	else
		sim_packet_free(packet);
	return min(ret, 0);
}

int sim_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr)
{
	struct sim_qp *qp = to_sim_qp(ibqp);
	int ret;

	for (; wr; wr = wr->next) {
		ret = post_send(qp, wr);
		if (ret) {
			*bad_wr = wr;
			return ret;
		}
	}
	return 0;
}
