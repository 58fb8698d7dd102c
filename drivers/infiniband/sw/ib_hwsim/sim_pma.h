/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The performance management agent. */
#ifndef SIM_PMA_H
#define SIM_PMA_H

#include <linux/types.h>
#include <rdma/ib_mad.h>

struct sim_port;

bool sim_pma_answer(struct sim_port *port, const struct ib_mad *in,
		    struct ib_mad *out);

#endif
