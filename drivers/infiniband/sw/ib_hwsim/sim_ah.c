// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address handles, and the global route header made from one. */
#include "sim_ah.h"

#include <linux/delay.h>
#include <rdma/ib_pack.h>
#include "sim.h"
#include "sim_packet.h"

/* Fields of a GRH (IBA 8.3). */
#define SIM_GRH_IPVER		6
#define SIM_GRH_NEXT_IBA	0x1b
/* Bytes that the GRH's payload length counts besides the MAD. */
#define SIM_GRH_EXTRA	(IB_BTH_BYTES + IB_DETH_BYTES + IB_ICRC_BYTES)

int sim_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		  struct ib_udata *udata)
{
	struct sim_dev *sim = to_sim(ibah->device);
	struct sim_ah *ah = to_sim_ah(ibah);
	u32 ms = READ_ONCE(sim->ah_ms);
	int ret;

	/* As if the address had to be resolved. */
	if (ms && init_attr->flags & RDMA_CREATE_AH_SLEEPABLE)
		msleep(ms);
	ret = sim_fail_hit(&sim->fail, SIM_VERB_CREATE_AH);
	if (ret)
		return ret;
	ah->attr = *init_attr->ah_attr;
	/* The reference is the caller's, and may be gone when a packet is sent. */
	ah->attr.grh.sgid_attr = NULL;
	atomic_inc(&sim->n_ah);
	return 0;
}

int sim_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_sim_ah(ibah)->attr;
	return 0;
}

int sim_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	atomic_dec(&to_sim(ibah->device)->n_ah);
	return 0;
}

/**
 * sim_ah_grh() - write the global route header of a packet
 * @port: the sending port
 * @ah: the destination
 * @len: bytes of the MAD
 * @to: 40 bytes for the header
 *
 * Context: any.
 * Return: 1 if there is one, 0 if not, or -errno.
 */
int sim_ah_grh(struct sim_port *port, struct sim_ah *ah, u32 len, u8 *to)
{
	const struct ib_global_route *route = &ah->attr.grh;
	struct ib_grh grh = {};
	int ret;

	if (!(rdma_ah_get_ah_flags(&ah->attr) & IB_AH_GRH))
		return 0;
	ret = sim_attrs_gid(&port->attrs, route->sgid_index, &grh.sgid);
	if (ret)
		return ret;
	grh.version_tclass_flow =
		cpu_to_be32(SIM_GRH_IPVER << 28 | route->traffic_class << 20 |
			    (route->flow_label & IB_GRH_FLOWLABEL_MASK));
	grh.paylen = cpu_to_be16(len + SIM_GRH_EXTRA);
	grh.next_hdr = SIM_GRH_NEXT_IBA;
	grh.hop_limit = route->hop_limit;
	grh.dgid = route->dgid;
	BUILD_BUG_ON(sizeof(grh) != SIM_GRH_LEN);
	memcpy(to, &grh, sizeof(grh));
	return 1;
}
