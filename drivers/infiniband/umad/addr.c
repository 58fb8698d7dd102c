// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "addr.h"

#include <linux/string.h>
#include "umad_export.h"

/**
 * umad_addr_from_hdr() - the address that a caller's header names
 * @addr: filled in
 * @hdr: the caller's header
 */
void umad_addr_from_hdr(struct umad_addr *addr, const struct ib_user_mad_hdr *hdr)
{
	*addr = (struct umad_addr){
		.qpn = hdr->qpn,
		.flow_label = hdr->flow_label,
		.lid = hdr->lid,
		.pkey_index = hdr->pkey_index,
		.grh = !!hdr->grh_present,
		.sl = hdr->sl,
		.path_bits = hdr->path_bits,
		.gid_index = hdr->gid_index,
		.hop_limit = hdr->hop_limit,
		.traffic_class = hdr->traffic_class,
	};
	memcpy(addr->gid, hdr->gid, sizeof(addr->gid));
}
EXPORT_SYMBOL_IF_KUNIT(umad_addr_from_hdr);

/**
 * umad_addr_to_ah_attr() - an address as verbs take it
 * @addr: the address
 * @type: address family of the port
 * @port_num: of the RDMA device
 * @attr: filled in; holds no reference
 *
 * Nothing is judged here: ib_core and the driver refuse what they cannot do.
 */
void umad_addr_to_ah_attr(const struct umad_addr *addr, enum rdma_ah_attr_type type,
			  u32 port_num, struct rdma_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->type = type;
	rdma_ah_set_dlid(attr, be16_to_cpu(addr->lid));
	rdma_ah_set_sl(attr, addr->sl);
	rdma_ah_set_path_bits(attr, addr->path_bits);
	rdma_ah_set_port_num(attr, port_num);
	if (!addr->grh)
		return;

	rdma_ah_set_grh(attr, NULL, be32_to_cpu(addr->flow_label),
			addr->gid_index, addr->hop_limit, addr->traffic_class);
	memcpy(rdma_ah_retrieve_grh(attr)->dgid.raw, addr->gid,
	       sizeof(addr->gid));
}
EXPORT_SYMBOL_IF_KUNIT(umad_addr_to_ah_attr);

/**
 * umad_addr_identity() - of an address, what tells queue pairs apart
 * @id: filled in: LID, GID and QPN, the rest is zero
 * @addr: the address
 */
void umad_addr_identity(struct umad_addr *id, const struct umad_addr *addr)
{
	*id = (struct umad_addr){
		.qpn = addr->qpn,
		.lid = addr->lid,
		.lid_high = addr->lid_high,
		.grh = addr->grh,
	};
	if (id->grh)
		memcpy(id->gid, addr->gid, sizeof(id->gid));
}

/**
 * umad_addr_compare() - the order of addresses: by GID when there is a GRH, else by LID
 * @a: one
 * @b: the other
 *
 * Behind a router many nodes share one LID.
 * Return: less than, equal to or greater than 0, as @a comes before, is, or comes
 * after @b.
 */
int umad_addr_compare(const struct umad_addr *a, const struct umad_addr *b)
{
	if (a->grh != b->grh)
		return a->grh - b->grh;
	if (a->grh)
		return memcmp(a->gid, b->gid, sizeof(a->gid));
	return (int)be16_to_cpu(a->lid) - (int)be16_to_cpu(b->lid);
}
EXPORT_SYMBOL_IF_KUNIT(umad_addr_compare);

/**
 * umad_addr_compare_node() - the order of nodes, for what each may have a share of
 * @a: an address of one
 * @b: of the other
 *
 * Not by the GID where there are LIDs: a node has any number of those, and may write
 * another's into its packets. RoCE has no LIDs.
 * Return: less than, equal to or greater than 0, as @a comes before, is, or comes
 * after @b.
 */
int umad_addr_compare_node(const struct umad_addr *a, const struct umad_addr *b)
{
	if (a->lid != b->lid)
		return (int)be16_to_cpu(a->lid) - (int)be16_to_cpu(b->lid);
	if (a->lid_high != b->lid_high)
		return (int)be16_to_cpu(a->lid_high) - (int)be16_to_cpu(b->lid_high);
	return a->lid ? 0 : umad_addr_compare(a, b);
}
EXPORT_SYMBOL_IF_KUNIT(umad_addr_compare_node);

/**
 * umad_addr_likeness() - may it be the same node?
 * @a: one, on InfiniBand
 * @b: the other
 *
 * A node may answer by another of its GIDs, or without one. A GID tells more than a LID, which
 * may be that of a router.
 * Return: 2 if the GIDs are equal, else 1 if the LIDs are, else 0.
 */
int umad_addr_likeness(const struct umad_addr *a, const struct umad_addr *b)
{
	if (a->grh && b->grh && !memcmp(a->gid, b->gid, sizeof(a->gid)))
		return 2;
	return a->lid && a->lid == b->lid;
}
