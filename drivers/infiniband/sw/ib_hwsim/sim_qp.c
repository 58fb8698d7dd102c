// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * QP0 and QP1: their life and states, receives, and completions. What a send does
 * before its completion is in sim_send.c.
 *
 * Locks: qp->lock protects state and queues. port->qp_lock, taken before it, keeps a
 * QP alive that was found by its port; verbs do not need it, as ib_core does not
 * destroy a QP that it uses. Notifications are sent without qp->lock, since the
 * completion handler may post.
 */
#include "sim_qp.h"

#include <linux/slab.h>
#include <linux/workqueue.h>
#include "sim_cq.h"
#include "sim_packet.h"
#include "sim_port.h"

static int queue_init(struct sim_queue *queue, u32 size)
{
	queue->ring = kvcalloc(max(size, 1U), sizeof(*queue->ring), GFP_KERNEL);
	if (!queue->ring)
		return -ENOMEM;
	queue->size = size;
	return 0;
}

static bool queue_put(struct sim_queue *queue, const struct sim_wqe *wqe)
{
	if (queue->count == queue->size)
		return false;
	queue->ring[(queue->head + queue->count) % queue->size] = *wqe;
	queue->count++;
	return true;
}

static bool queue_get(struct sim_queue *queue, struct sim_wqe *wqe)
{
	if (!queue->count)
		return false;
	*wqe = queue->ring[queue->head];
	queue->head = (queue->head + 1) % queue->size;
	queue->count--;
	return true;
}

static void push(struct sim_qp *qp, struct ib_cq *ibcq, const struct ib_wc *wc)
{
	if (!sim_cq_push(to_sim_cq(ibcq), wc))
		sim_count(qp->port, SIM_CQ_OVERFLOW);
}

static void complete_send(struct sim_qp *qp, u64 wr_id,
			  enum ib_wc_status status)
{
	struct ib_wc wc = {
		.wr_id = wr_id,
		.status = status,
		.opcode = IB_WC_SEND,
		.qp = &qp->ibqp,
	};

	push(qp, qp->ibqp.send_cq, &wc);
}

static void flush_recv(struct sim_qp *qp, u64 wr_id)
{
	struct ib_wc wc = {
		.wr_id = wr_id,
		.status = IB_WC_WR_FLUSH_ERR,
		.opcode = IB_WC_RECV,
		.qp = &qp->ibqp,
	};

	push(qp, qp->ibqp.recv_cq, &wc);
}

static void notify(struct sim_qp *qp)
{
	struct sim_cq *send_cq = to_sim_cq(qp->ibqp.send_cq);
	struct sim_cq *recv_cq = to_sim_cq(qp->ibqp.recv_cq);

	sim_cq_notify(send_cq);
	if (recv_cq != send_cq)
		sim_cq_notify(recv_cq);
}

int sim_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata)
{
	struct sim_dev *sim = to_sim(ibqp->device);
	struct sim_qp *qp = to_sim_qp(ibqp);
	unsigned long flags;
	u32 qpn;
	int ret;

	ret = sim_fail_hit(&sim->fail, SIM_VERB_CREATE_QP);
	if (ret)
		return ret;
	if (udata || attr->srq || attr->create_flags)
		return -EOPNOTSUPP;
	if (attr->qp_type != IB_QPT_SMI && attr->qp_type != IB_QPT_GSI)
		return -EOPNOTSUPP;
	qp->port = sim_dev_port(sim, attr->port_num);
	if (!qp->port || attr->cap.max_send_wr > SIM_MAX_WR ||
	    attr->cap.max_recv_wr > SIM_MAX_WR)
		return -EINVAL;

	ret = queue_init(&qp->rq, attr->cap.max_recv_wr);
	if (ret)
		return ret;
	ret = queue_init(&qp->held, attr->cap.max_send_wr);
	if (ret)
		goto err_free_rq;
	spin_lock_init(&qp->lock);
	qp->state = IB_QPS_RESET;
	qp->signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qpn = attr->qp_type == IB_QPT_SMI ? 0 : 1;
	ibqp->qp_num = qpn;

	spin_lock_irqsave(&qp->port->qp_lock, flags);
	if (qp->port->qp[qpn])
		ret = -EBUSY;
	else
		qp->port->qp[qpn] = qp;
	spin_unlock_irqrestore(&qp->port->qp_lock, flags);
	if (ret)
		goto err_free_held;
	return 0;

err_free_held:
	kvfree(qp->held.ring);
err_free_rq:
	kvfree(qp->rq.ring);
	return ret;
}

/*
 * In ib_core of 6.1, ib_mad_port_close() destroys the QPs of a port while
 * ib_mad_recv_done() may be using one, which would then post to freed memory. With
 * hardware that is rare, here it is not. An ib_mad_recv_done() that starts later sees
 * that the port is closed.
 */
static void wait_for_completions(struct ib_cq *ibcq)
{
	if (ibcq->poll_ctx == IB_POLL_WORKQUEUE ||
	    ibcq->poll_ctx == IB_POLL_UNBOUND_WORKQUEUE)
		flush_work(&ibcq->work);
}

int sim_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct sim_qp *qp = to_sim_qp(ibqp);
	unsigned long flags;

	/* After this, no packet is received with it, and no completion released. */
	spin_lock_irqsave(&qp->port->qp_lock, flags);
	qp->port->qp[ibqp->qp_num] = NULL;
	spin_unlock_irqrestore(&qp->port->qp_lock, flags);
	wait_for_completions(ibqp->send_cq);
	wait_for_completions(ibqp->recv_cq);
	kvfree(qp->held.ring);
	kvfree(qp->rq.ring);
	return 0;
}

/* Complete all work requests with an error, the sends in order. */
static void flush_locked(struct sim_qp *qp)
{
	struct sim_wqe wqe;

	lockdep_assert_held(&qp->lock);
	while (queue_get(&qp->held, &wqe))
		complete_send(qp, wqe.wr_id, IB_WC_WR_FLUSH_ERR);
	while (queue_get(&qp->rq, &wqe))
		flush_recv(qp, wqe.wr_id);
}

static int set_state_locked(struct sim_qp *qp, enum ib_qp_state state, int mask)
{
	lockdep_assert_held(&qp->lock);
	if (!ib_modify_qp_is_ok(qp->state, state, qp->ibqp.qp_type, mask))
		return -EINVAL;
	qp->state = state;
	if (state == IB_QPS_RESET) {
		qp->rq.count = 0;
		qp->held.count = 0;
	} else if (state == IB_QPS_ERR) {
		flush_locked(qp);
	}
	return 0;
}

int sim_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata)
{
	struct sim_qp *qp = to_sim_qp(ibqp);
	unsigned long flags;
	int ret;

	ret = sim_fail_hit(&to_sim(ibqp->device)->fail, SIM_VERB_MODIFY_QP);
	if (ret)
		return ret;
	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;

	spin_lock_irqsave(&qp->lock, flags);
	if (mask & IB_QP_STATE)
		ret = set_state_locked(qp, attr->qp_state, mask);
	if (!ret && mask & IB_QP_QKEY)
		qp->qkey = attr->qkey;
	spin_unlock_irqrestore(&qp->lock, flags);
	notify(qp);
	return ret;
}

int sim_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init_attr)
{
	struct sim_qp *qp = to_sim_qp(ibqp);
	unsigned long flags;

	memset(attr, 0, sizeof(*attr));
	memset(init_attr, 0, sizeof(*init_attr));
	spin_lock_irqsave(&qp->lock, flags);
	attr->qp_state = qp->state;
	spin_unlock_irqrestore(&qp->lock, flags);
	attr->cur_qp_state = attr->qp_state;
	attr->port_num = qp->port->num;
	attr->cap.max_recv_wr = qp->rq.size;
	attr->cap.max_send_wr = qp->held.size;
	attr->cap.max_recv_sge = 1;
	attr->cap.max_send_sge = SIM_MAX_SGE;
	init_attr->cap = attr->cap;
	init_attr->qp_type = ibqp->qp_type;
	init_attr->port_num = qp->port->num;
	return 0;
}

static int post_recv(struct sim_qp *qp, const struct ib_recv_wr *wr)
{
	struct sim_wqe wqe = { .wr_id = wr->wr_id };
	unsigned long flags;
	int ret = 0;

	/* A virtual address: there is no DMA device, see ib_register_device. */
	if (wr->num_sge == 1) {
		wqe.buffer = (void *)(uintptr_t)wr->sg_list->addr;
		wqe.len = wr->sg_list->length;
	}

	spin_lock_irqsave(&qp->lock, flags);
	if (qp->state == IB_QPS_ERR)
		flush_recv(qp, wr->wr_id);
	else if (qp->state == IB_QPS_RESET || wr->num_sge != 1)
		ret = -EINVAL;
	else if (!queue_put(&qp->rq, &wqe))
		ret = -ENOMEM;
	spin_unlock_irqrestore(&qp->lock, flags);
	return ret;
}

int sim_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr)
{
	struct sim_qp *qp = to_sim_qp(ibqp);
	int ret = 0;

	for (; wr; wr = wr->next) {
		ret = sim_fail_hit(&to_sim(ibqp->device)->fail,
				   SIM_VERB_POST_RECV);
		if (!ret)
			ret = post_recv(qp, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	/* For receives that were flushed. */
	sim_cq_notify(to_sim_cq(ibqp->recv_cq));
	return ret;
}

static void fill_wc(struct sim_qp *qp, const struct sim_packet *packet,
		    u16 pkey_index, struct ib_wc *wc)
{
	u32 lmc;

	sim_attrs_lid(&qp->port->attrs, &lmc);
	*wc = (struct ib_wc) {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.qp = &qp->ibqp,
		.byte_len = SIM_GRH_LEN + packet->len,
		.src_qp = packet->src_qp,
		.slid = packet->slid,
		.wc_flags = packet->flags & IB_HWSIM_GRH ? IB_WC_GRH : 0,
		.pkey_index = pkey_index,
		.sl = packet->sl,
		/* For a switch, the port on which an SMP arrived. */
		.port_num = qp->port->num ?: 1,
	};
	if (packet->dlid < SIM_LID_MULTICAST)
		wc->dlid_path_bits = packet->dlid & ((1 << lmc) - 1);
}

/* Return: what the port counts. */
static enum sim_count receive_locked(struct sim_qp *qp,
				     const struct sim_packet *packet,
				     u16 pkey_index)
{
	struct sim_wqe wqe;
	struct ib_wc wc;

	lockdep_assert_held(&qp->lock);
	if (qp->state != IB_QPS_RTR && qp->state != IB_QPS_RTS)
		return SIM_RX_NO_QP;
	if (!qp->rq.count)
		return SIM_RX_NO_BUFFER;
	if (qp->rq.ring[qp->rq.head].len < SIM_GRH_LEN + packet->len)
		return SIM_RX_TOO_LONG;

	queue_get(&qp->rq, &wqe);
	/* Without a GRH, its bytes in the buffer stay as they are, as with hardware. */
	if (packet->flags & IB_HWSIM_GRH)
		memcpy(wqe.buffer, packet->grh, SIM_GRH_LEN);
	memcpy(wqe.buffer + SIM_GRH_LEN, packet->mad, packet->len);
	fill_wc(qp, packet, pkey_index, &wc);
	wc.wr_id = wqe.wr_id;
	push(qp, qp->ibqp.recv_cq, &wc);
	return SIM_RX_PACKETS;
}

/**
 * sim_qp_receive() - receive a packet, if there is a buffer for it
 * @qp: the QP
 * @packet: the packet, which the caller still owns
 * @pkey_index: index of its P_Key in the port's table
 *
 * Context: any; the caller holds port->qp_lock.
 * Return: what the port has to count.
 */
enum sim_count sim_qp_receive(struct sim_qp *qp,
			      const struct sim_packet *packet, u16 pkey_index)
{
	enum sim_count what;
	unsigned long flags;

	lockdep_assert_held(&qp->port->qp_lock);
	spin_lock_irqsave(&qp->lock, flags);
	what = receive_locked(qp, packet, pkey_index);
	spin_unlock_irqrestore(&qp->lock, flags);
	if (what == SIM_RX_PACKETS)
		sim_cq_notify(to_sim_cq(qp->ibqp.recv_cq));
	return what;
}

/**
 * sim_qp_sent() - complete a send, or have its completion held
 * @qp: the QP
 * @wr_id: of the send
 * @signaled: its sender wants a completion
 * @status: of the completion
 *
 * A completion is held if the port's @hold is set, or if others are held, so that none
 * overtakes another. A QP in error holds none: each send ends with
 * IB_WC_WR_FLUSH_ERR.
 *
 * Context: any.
 * Return: 0: send the packet; 1: do not send it; or -errno: it was not posted.
 */
int sim_qp_sent(struct sim_qp *qp, u64 wr_id, bool signaled,
		enum ib_wc_status status)
{
	struct sim_wqe wqe = { .wr_id = wr_id, .status = status };
	unsigned long flags;
	int ret = status != IB_WC_SUCCESS;

	signaled |= qp->signal_all || ret;
	spin_lock_irqsave(&qp->lock, flags);
	if (qp->state == IB_QPS_ERR) {
		complete_send(qp, wr_id, IB_WC_WR_FLUSH_ERR);
		ret = 1;
	} else if (qp->state != IB_QPS_RTS) {
		ret = -EINVAL;
	} else if (!signaled) {
		/* No completion. */
	} else if (!READ_ONCE(qp->port->hold) && !qp->held.count) {
		/* Pairs with sim_link_set_hold(), which then takes qp->lock. */
		complete_send(qp, wr_id, status);
	} else if (!queue_put(&qp->held, &wqe)) {
		ret = -ENOMEM;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	sim_cq_notify(to_sim_cq(qp->ibqp.send_cq));
	return ret;
}

/**
 * sim_qp_release() - complete sends whose completion is held, the oldest first
 * @qp: the QP
 * @max: how many at most
 *
 * Context: any; the caller holds port->qp_lock.
 * Return: how many.
 */
u32 sim_qp_release(struct sim_qp *qp, u32 max)
{
	struct sim_wqe wqe;
	unsigned long flags;
	u32 done = 0;

	lockdep_assert_held(&qp->port->qp_lock);
	spin_lock_irqsave(&qp->lock, flags);
	while (done < max && queue_get(&qp->held, &wqe)) {
		complete_send(qp, wqe.wr_id, wqe.status);
		done++;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	sim_cq_notify(to_sim_cq(qp->ibqp.send_cq));
	return done;
}

/**
 * sim_qp_held() - count the sends whose completion is held
 * @qp: the QP
 *
 * Context: any; the caller holds port->qp_lock.
 * Return: how many.
 */
u32 sim_qp_held(struct sim_qp *qp)
{
	unsigned long flags;
	u32 held;

	lockdep_assert_held(&qp->port->qp_lock);
	spin_lock_irqsave(&qp->lock, flags);
	held = qp->held.count;
	spin_unlock_irqrestore(&qp->lock, flags);
	return held;
}
