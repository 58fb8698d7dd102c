/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Address handles. */
#ifndef SIM_AH_H
#define SIM_AH_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct sim_port;

/**
 * struct sim_ah - an address handle
 * @ibah: the address handle of ib_core
 * @attr: the address, without a reference to a GID
 */
struct sim_ah {
	struct ib_ah ibah;
	struct rdma_ah_attr attr;
};

static inline struct sim_ah *to_sim_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct sim_ah, ibah);
}

int sim_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		  struct ib_udata *udata);
int sim_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sim_destroy_ah(struct ib_ah *ibah, u32 flags);
int sim_ah_grh(struct sim_port *port, struct sim_ah *ah, u32 len, u8 *to);

#endif
