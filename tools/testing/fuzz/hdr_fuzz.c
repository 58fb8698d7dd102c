// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a program's header, a registration and a received completion become.
 * Each is in memory of exactly its size, so that a byte too far is seen.
 */
#include "fuzz.h"
#include "addr.h"
#include "hdr.h"

#include <linux/errno.h>
#include <rdma/ib_addr.h>

static void check_ah_attr(struct input *in)
{
	struct ib_user_mad_hdr *hdr = fuzz_alloc(sizeof(*hdr));
	static const enum rdma_ah_attr_type types[] = {
		RDMA_AH_ATTR_TYPE_IB, RDMA_AH_ATTR_TYPE_ROCE,
		RDMA_AH_ATTR_TYPE_OPA };
	struct rdma_ah_attr attr;
	struct umad_addr addr;
	u8 type = take(in) % 3;
	u32 port = take(in);

	take_bytes(in, hdr, sizeof(*hdr));
	memset(&attr, 0xff, sizeof(attr));
	umad_addr_from_hdr(&addr, hdr);
	umad_addr_to_ah_attr(&addr, types[type], port, &attr);
	MUST(attr.type == types[type] && attr.port_num == port);
	MUST(attr.sl == hdr->sl);
	MUST(!rdma_ah_get_ah_flags(&attr) == !hdr->grh_present);
	MUST(!attr.grh.sgid_attr);
	if (types[type] != RDMA_AH_ATTR_TYPE_ROCE)
		MUST(rdma_ah_get_dlid(&attr) == be16_to_cpu(hdr->lid));
	if (types[type] != RDMA_AH_ATTR_TYPE_ROCE)
		MUST(rdma_ah_get_path_bits(&attr) == hdr->path_bits);
	if (hdr->grh_present) {
		MUST(!memcmp(attr.grh.dgid.raw, hdr->gid, 16));
		MUST(attr.grh.sgid_index == hdr->gid_index);
		MUST(attr.grh.hop_limit == hdr->hop_limit);
		MUST(attr.grh.traffic_class == hdr->traffic_class);
		MUST(attr.grh.flow_label == be32_to_cpu(hdr->flow_label));
	}
	fuzz_free(hdr);
}

static void check_wc(struct input *in)
{
	struct ib_user_mad_hdr *hdr = fuzz_alloc(sizeof(*hdr));
	struct ib_grh *grh = fuzz_alloc(sizeof(*grh));
	struct ib_wc wc = { .src_qp = take32(in), .slid = take32(in) };
	bool opa = take(in) & 1;
	union ib_gid sgid;
	u32 word;

	wc.sl = take(in);
	wc.dlid_path_bits = take(in);
	wc.pkey_index = take16(in);
	wc.wc_flags = take(in);
	/* What ib_core asserts for anything but OPA, with a warning. */
	if (!opa)
		wc.slid &= 0xffff;
	memset(hdr, 0xff, sizeof(*hdr));
	umad_hdr_from_wc(hdr, &wc, opa);
	MUST(!hdr->id && !hdr->status && !hdr->length && !hdr->flow_label);
	MUST(!memchr_inv(hdr->gid, 0, sizeof(hdr->gid)));
	MUST(!memchr_inv(hdr->reserved, 0, sizeof(hdr->reserved)));
	MUST(be32_to_cpu(hdr->qpn) == wc.src_qp && hdr->sl == wc.sl);
	MUST(be16_to_cpu(hdr->lid) == (wc.slid & 0xffff));
	MUST(hdr->path_bits == wc.dlid_path_bits);
	MUST(hdr->pkey_index == wc.pkey_index);
	MUST(hdr->grh_present == !!(wc.wc_flags & IB_WC_GRH));

	take_bytes(in, grh, sizeof(*grh));
	take_bytes(in, &sgid, sizeof(sgid));
	umad_hdr_set_grh(hdr, grh, &sgid, take(in), take(in));
	word = be32_to_cpu(grh->version_tclass_flow);
	MUST(be32_to_cpu(hdr->flow_label) == (word & 0xfffff));
	MUST(hdr->traffic_class == (word >> 20 & 0xff));
	MUST(!memcmp(hdr->gid, sgid.raw, 16));
	fuzz_free(grh);
	fuzz_free(hdr);
}

/* An agent without a class only sends: it must not get any method. */
static void check_methods(const struct umad_reg *reg, const void *mask,
			  size_t size)
{
	size_t bit;

	for (bit = 0; bit < size * 8; bit++)
		MUST(test_bit(bit, reg->req.method_mask) ==
		     (reg->req.mgmt_class &&
		      (((const u8 *)mask)[bit / 8] >> bit % 8 & 1)));
}

static void check_reg(struct input *in)
{
	struct ib_user_mad_reg_req *old = fuzz_alloc(sizeof(*old));
	struct ib_user_mad_reg_req2 *new = fuzz_alloc(sizeof(*new));
	struct umad_reg reg;
	u8 compat = take(in) & 1;
	int ret;

	take_bytes(in, old, sizeof(*old));
	if (take(in) & 1)
		old->mgmt_class = 0;
	memset(&reg, 0xff, sizeof(reg));
	umad_reg_from_req(&reg, old, compat);
	MUST(reg.qpn == old->qpn && !reg.flags);
	MUST(reg.rmpp_version == old->rmpp_version);
	MUST(reg.req.mgmt_class == old->mgmt_class);
	MUST(!old->mgmt_class || !memcmp(reg.req.oui, old->oui, 3));
	check_methods(&reg, old->method_mask, sizeof(old->method_mask));

	take_bytes(in, new, sizeof(*new));
	if (take(in) & 1)
		new->oui &= 0xffffff;
	memset(&reg, 0xff, sizeof(reg));
	ret = umad_reg_from_req2(&reg, new);
	MUST(reg.qpn == new->qpn && reg.flags == new->flags);
	MUST(ret == (new->mgmt_class && new->oui > 0xffffff ? -EINVAL : 0));
	if (!ret) {
		MUST(reg.rmpp_version == new->rmpp_version);
		MUST(!new->mgmt_class ||
		     (u32)(reg.req.oui[0] << 16 | reg.req.oui[1] << 8 |
			   reg.req.oui[2]) == new->oui);
		check_methods(&reg, new->method_mask, sizeof(new->method_mask));
	}
	fuzz_free(new);
	fuzz_free(old);
}

/* A MAD that is let out as one packet is one that can be: and only that. */
static void check_mad(struct input *in)
{
	size_t len = take16(in) % 2100, least;
	struct ib_rmpp_mad *mad = fuzz_zalloc(IB_MGMT_RMPP_HDR);
	bool opa = take(in) & 1, is_rmpp, fits;
	int ret;

	take_bytes(in, mad, IB_MGMT_RMPP_HDR);
	if (take(in) & 1)
		mad->mad_hdr.mgmt_class = IB_MGMT_CLASS_SUBN_ADM;
	if (take(in) & 1)
		mad->mad_hdr.base_version = OPA_MGMT_BASE_VERSION;
	least = ib_get_mad_data_offset(mad->mad_hdr.mgmt_class);
	is_rmpp = umad_mad_is_rmpp_active(&mad->mad_hdr);
	MUST(is_rmpp == (ib_is_mad_class_rmpp(mad->mad_hdr.mgmt_class) &&
			 (mad->rmpp_hdr.rmpp_rtime_flags & 1)));
	ret = umad_mad_check_len(&mad->mad_hdr, len, opa);
	fits = opa && mad->mad_hdr.base_version == 0x80 ? len <= 2048 :
							  len <= 256;
	MUST(ret == (fits && len >= least ? 0 : -EINVAL));
	fuzz_free(mad);
}

void fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, size };

	check_mad(&in);
	check_ah_attr(&in);
	check_wc(&in);
	check_reg(&in);
}
