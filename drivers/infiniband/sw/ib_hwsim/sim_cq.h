/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completion queues. */
#ifndef SIM_CQ_H
#define SIM_CQ_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include "sim_compat.h"

#define SIM_MAX_CQE	65536

/**
 * struct sim_cq - a completion queue
 * @ibcq: the CQ of ib_core
 * @lock: protects all below
 * @ring: completions
 * @size: of @ring; constant
 * @head: where the oldest one is
 * @count: how many there are
 * @armed: notify ib_core of the next completion
 */
struct sim_cq {
	struct ib_cq ibcq;
	spinlock_t lock;	/* a leaf, hard irqs off */
	struct ib_wc *ring;
	u32 size;
	u32 head;
	u32 count;
	bool armed;
};

static inline struct sim_cq *to_sim_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct sim_cq, ibcq);
}

int sim_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct sim_cq_user *user);
int sim_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int sim_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc);
int sim_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
bool sim_cq_push(struct sim_cq *cq, const struct ib_wc *wc);
void sim_cq_notify(struct sim_cq *cq);

#endif
