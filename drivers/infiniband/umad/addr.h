/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Addresses of remote ports: where transactions and transfers go, whom transfers come
 * from, what address handles and MADs for ib_core are made of. Self-contained.
 */
#ifndef UMAD_ADDR_H
#define UMAD_ADDR_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <rdma/ib_user_mad.h>
#include <rdma/ib_verbs.h>

/**
 * struct umad_addr - the address of a remote queue pair, and the way to it
 * @gid: remote GID when @grh
 * @qpn: remote queue pair number
 * @flow_label: of the GRH
 * @lid: remote LID
 * @lid_high: the rest of it: OPA's have 32 bits, of which headers carry 16; only known
 *	of who sends
 * @pkey_index: into the port's table
 * @grh: there is a GRH: 0 or 1
 * @sl: service level
 * @path_bits: of the port's LID
 * @gid_index: into the port's table, when @grh
 * @hop_limit: of the GRH
 * @traffic_class: of the GRH
 */
struct umad_addr {
	u8 gid[16];
	__be32 qpn;
	__be32 flow_label;
	__be16 lid;
	__be16 lid_high;
	u16 pkey_index;
	u8 grh;
	u8 sl;
	u8 path_bits;
	u8 gid_index;
	u8 hop_limit;
	u8 traffic_class;
};

static_assert(sizeof(struct umad_addr) == 36);

void umad_addr_from_hdr(struct umad_addr *addr, const struct ib_user_mad_hdr *hdr);
void umad_addr_to_ah_attr(const struct umad_addr *addr, enum rdma_ah_attr_type type,
			  u32 port_num, struct rdma_ah_attr *attr);
void umad_addr_identity(struct umad_addr *id, const struct umad_addr *addr);
int umad_addr_compare(const struct umad_addr *a, const struct umad_addr *b);
int umad_addr_compare_node(const struct umad_addr *a, const struct umad_addr *b);
int umad_addr_likeness(const struct umad_addr *a, const struct umad_addr *b);

#endif /* UMAD_ADDR_H */
