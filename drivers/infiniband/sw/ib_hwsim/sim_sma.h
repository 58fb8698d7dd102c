/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The subnet management agent. */
#ifndef SIM_SMA_H
#define SIM_SMA_H

#include <linux/types.h>
#include <rdma/ib_smi.h>

struct sim_node;
struct sim_port;

#define SIM_SMP_LEN		sizeof(struct ib_smp)

bool sim_sma_answer(struct sim_node *node, u32 in_port,
		    const struct ib_smp *in, struct ib_smp *out);
void sim_sma_get_port_info(struct sim_port *port, struct ib_smp *out);

#endif
