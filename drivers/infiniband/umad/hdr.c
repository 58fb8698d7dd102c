// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "hdr.h"

#include <linux/bitops.h>
#include <linux/string.h>
#include <rdma/ib_addr.h>
#include "umad_bitmap.h"
#include "umad_export.h"

/**
 * umad_hdr_from_wc() - where a received MAD came from, all but its GRH
 * @hdr: filled in; @id and @length are left to the caller
 * @wc: the receive's completion
 * @opa: the port speaks OPA, whose LIDs have 32 bits: the ABI carries 16, as
 *	in-tree; who needs the rest finds it in the MAD
 *
 * Context: any.
 */
void umad_hdr_from_wc(struct ib_user_mad_hdr *hdr, const struct ib_wc *wc,
		      bool opa)
{
	memset(hdr, 0, sizeof(*hdr));
	hdr->qpn = cpu_to_be32(wc->src_qp);
	hdr->lid = opa ? cpu_to_be16(wc->slid & 0xffff) :
			 ib_lid_be16(wc->slid);
	hdr->sl = wc->sl;
	hdr->path_bits = wc->dlid_path_bits;
	hdr->pkey_index = wc->pkey_index;
	hdr->grh_present = !!(wc->wc_flags & IB_WC_GRH);
}
EXPORT_SYMBOL_IF_KUNIT(umad_hdr_from_wc);

/**
 * umad_hdr_set_grh() - the GRH of a received MAD
 * @hdr: filled in
 * @grh: as received
 * @sgid: the sender's GID
 * @gid_index: where the GID it was sent to stands in the port's table
 * @hop_limit: for an answer
 *
 * Context: any.
 */
void umad_hdr_set_grh(struct ib_user_mad_hdr *hdr, const struct ib_grh *grh,
		      const union ib_gid *sgid, u8 gid_index, u8 hop_limit)
{
	/* version (4 bits), traffic class (8), flow label (20): IBA 8.3 */
	u32 word = be32_to_cpu(grh->version_tclass_flow);

	hdr->gid_index = gid_index;
	hdr->hop_limit = hop_limit;
	hdr->traffic_class = (word >> 20) & 0xff;
	hdr->flow_label = cpu_to_be32(word & 0xfffff);
	memcpy(hdr->gid, sgid->raw, sizeof(hdr->gid));
}
EXPORT_SYMBOL_IF_KUNIT(umad_hdr_set_grh);

/**
 * umad_reg_from_req() - read the argument of IB_USER_MAD_REGISTER_AGENT
 * @reg: filled in
 * @ureq: the caller's structure, in kernel memory
 * @compat: the caller's longs have 32 bits
 *
 * Context: any.
 */
void umad_reg_from_req(struct umad_reg *reg,
		       const struct ib_user_mad_reg_req *ureq, bool compat)
{
	memset(reg, 0, sizeof(*reg));
	reg->qpn = ureq->qpn;
	reg->rmpp_version = ureq->rmpp_version;
	reg->req.mgmt_class = ureq->mgmt_class;
	if (!ureq->mgmt_class)
		return;

	reg->req.mgmt_class_version = ureq->mgmt_class_version;
	memcpy(reg->req.oui, ureq->oui, sizeof(reg->req.oui));
	if (compat) {
		/* ABI: an array of 32-bit words, the low one first. */
		u32 words[IB_MGMT_MAX_METHODS / 32];

		memcpy(words, ureq->method_mask, sizeof(words));
		bitmap_from_arr32(reg->req.method_mask, words,
				  IB_MGMT_MAX_METHODS);
	} else {
		memcpy(reg->req.method_mask, ureq->method_mask,
		       sizeof(reg->req.method_mask));
	}
}
EXPORT_SYMBOL_IF_KUNIT(umad_reg_from_req);

/**
 * umad_reg_from_req2() - read the argument of IB_USER_MAD_REGISTER_AGENT2
 * @reg: filled in, on error up to @qpn and @flags
 * @ureq: the caller's structure, in kernel memory
 *
 * Context: any.
 * Return: 0, or -EINVAL when the OUI of a class has more than 24 bits.
 */
int umad_reg_from_req2(struct umad_reg *reg,
		       const struct ib_user_mad_reg_req2 *ureq)
{
	memset(reg, 0, sizeof(*reg));
	reg->qpn = ureq->qpn;
	reg->flags = ureq->flags;
	reg->rmpp_version = ureq->rmpp_version;
	reg->req.mgmt_class = ureq->mgmt_class;
	if (!ureq->mgmt_class)
		return 0;
	if (ureq->oui >> 24)
		return -EINVAL;

	reg->req.mgmt_class_version = ureq->mgmt_class_version;
	reg->req.oui[0] = ureq->oui >> 16;
	reg->req.oui[1] = ureq->oui >> 8;
	reg->req.oui[2] = ureq->oui;
	/* ABI: 64-bit words, the low one first, whatever the caller's long. */
	bitmap_from_arr64(reg->req.method_mask, ureq->method_mask,
			  IB_MGMT_MAX_METHODS);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(umad_reg_from_req2);

/**
 * umad_mad_is_rmpp_active() - is this MAD a packet of an RMPP transfer?
 * @mad: its header, with the RMPP header behind it
 *
 * Context: any.
 * Return: true for a class with an RMPP header whose Active flag is set;
 * without it the rest of that header means nothing (IBA 13.6.2.1).
 */
bool umad_mad_is_rmpp_active(const struct ib_mad_hdr *mad)
{
	const struct ib_rmpp_mad *rmpp = (const struct ib_rmpp_mad *)mad;

	return ib_is_mad_class_rmpp(mad->mgmt_class) &&
	       (rmpp->rmpp_hdr.rmpp_rtime_flags & IB_MGMT_RMPP_FLAG_ACTIVE);
}
EXPORT_SYMBOL_IF_KUNIT(umad_mad_is_rmpp_active);

/**
 * umad_mad_check_len() - may a MAD of this length go out as one packet?
 * @mad: its header
 * @len: bytes the caller wrote, header included
 * @opa: the port speaks OPA
 *
 * The least is what the class puts before its data (CVE-2026-23243: a
 * shorter MAD made the data's length negative in-tree).
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int umad_mad_check_len(const struct ib_mad_hdr *mad, size_t len, bool opa)
{
	size_t max = sizeof(struct ib_mad);

	if (opa && mad->base_version == OPA_MGMT_BASE_VERSION)
		max = sizeof(struct opa_mad);
	if (len > max || len < ib_get_mad_data_offset(mad->mgmt_class))
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(umad_mad_check_len);
