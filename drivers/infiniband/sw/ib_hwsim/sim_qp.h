/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* QP0 and QP1 of a port. */
#ifndef SIM_QP_H
#define SIM_QP_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include "sim.h"

struct sim_packet;

#define SIM_MAX_WR	16384
#define SIM_MAX_SGE	4

/**
 * struct sim_wqe - a posted receive, or a send whose completion is held
 * @wr_id: of the work request
 * @buffer: receive: the buffer
 * @len: receive: bytes of @buffer
 * @status: send: status of its completion
 */
struct sim_wqe {
	u64 wr_id;
	void *buffer;
	u32 len;
	enum ib_wc_status status;
};

/**
 * struct sim_queue - work requests, the oldest first
 * @ring: the work requests
 * @size: of @ring; constant
 * @head: where the oldest one is
 * @count: how many there are
 */
struct sim_queue {
	struct sim_wqe *ring;
	u32 size;
	u32 head;
	u32 count;
};

/**
 * struct sim_qp - QP0 or QP1 of a port
 * @ibqp: the QP of ib_core
 * @port: its port; constant
 * @lock: protects all below
 * @state: as set by modify_qp
 * @qkey: Q_Key of sends that ask for the QP's own
 * @signal_all: each send has a completion; constant
 * @rq: posted receives
 * @held: sends whose completion is held
 */
struct sim_qp {
	struct ib_qp ibqp;
	struct sim_port *port;
	spinlock_t lock;	/* hard irqs off */
	enum ib_qp_state state;
	u32 qkey;
	bool signal_all;
	struct sim_queue rq;
	struct sim_queue held;
};

static inline struct sim_qp *to_sim_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct sim_qp, ibqp);
}

int sim_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata);
int sim_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int sim_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int sim_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init_attr);
int sim_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);
enum sim_count sim_qp_receive(struct sim_qp *qp,
			      const struct sim_packet *packet, u16 pkey_index);
int sim_qp_sent(struct sim_qp *qp, u64 wr_id, bool signaled,
		enum ib_wc_status status);
u32 sim_qp_release(struct sim_qp *qp, u32 max);
u32 sim_qp_held(struct sim_qp *qp);

#endif
