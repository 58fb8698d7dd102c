// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: a ring of completions, and the notification of ib_core.
 *
 * Lock: cq->lock, hard irqs off, protects the ring. A CQ outlives its QPs, and only a
 * QP that is alive pushes to it: see port->qp_lock.
 */
#include "sim_cq.h"

#include <linux/slab.h>
#include "sim.h"

int sim_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct sim_cq_user *user)
{
	struct sim_cq *cq = to_sim_cq(ibcq);
	int ret;

	ret = sim_fail_hit(&to_sim(ibcq->device)->fail, SIM_VERB_CREATE_CQ);
	if (ret)
		return ret;
	if (user || attr->flags)
		return -EOPNOTSUPP;
	if (attr->cqe < 1 || attr->cqe > SIM_MAX_CQE)
		return -EINVAL;

	cq->ring = kvcalloc(attr->cqe, sizeof(*cq->ring), GFP_KERNEL);
	if (!cq->ring)
		return -ENOMEM;
	cq->size = attr->cqe;
	spin_lock_init(&cq->lock);
	ibcq->cqe = attr->cqe;
	return 0;
}

int sim_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	kvfree(to_sim_cq(ibcq)->ring);
	return 0;
}

int sim_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct sim_cq *cq = to_sim_cq(ibcq);
	unsigned long flags;
	int done = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (done < n && cq->count) {
		wc[done++] = cq->ring[cq->head];
		cq->head = (cq->head + 1) % cq->size;
		cq->count--;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return done;
}

int sim_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags notify)
{
	struct sim_cq *cq = to_sim_cq(ibcq);
	unsigned long flags;
	bool missed;
	int ret;

	ret = sim_fail_hit(&to_sim(ibcq->device)->fail, SIM_VERB_REQ_NOTIFY);
	if (ret)
		return ret;

	spin_lock_irqsave(&cq->lock, flags);
	missed = cq->count && (notify & IB_CQ_REPORT_MISSED_EVENTS);
	/* If completions were missed, the caller polls and calls this again. */
	cq->armed = !missed;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

/**
 * sim_cq_push() - add a completion
 * @cq: the CQ
 * @wc: the completion, which is copied
 *
 * Context: any; the caller holds a lock that keeps the QP of @wc alive.
 * Return: false if the ring is full, because the CQ was created too small.
 */
bool sim_cq_push(struct sim_cq *cq, const struct ib_wc *wc)
{
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&cq->lock, flags);
	room = cq->count < cq->size;
	if (room) {
		cq->ring[(cq->head + cq->count) % cq->size] = *wc;
		cq->count++;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return room;
}

/**
 * sim_cq_notify() - call the completion handler if it was requested
 * @cq: the CQ
 *
 * The handler may poll and post: no lock of a QP or CQ may be held.
 *
 * Context: any; the CQ must not go away meanwhile.
 */
void sim_cq_notify(struct sim_cq *cq)
{
	unsigned long flags;
	bool call;

	spin_lock_irqsave(&cq->lock, flags);
	call = cq->armed && cq->count;
	if (call)
		cq->armed = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (call)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}
