/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Sends. */
#ifndef SIM_SEND_H
#define SIM_SEND_H

#include <rdma/ib_verbs.h>

int sim_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);

#endif
