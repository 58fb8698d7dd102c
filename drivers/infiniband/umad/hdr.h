/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The user ABI's structures, their sizes to the byte, and what converts them
 * to and from the kernel's own. Pure: no device, no lock, no allocation.
 */
#ifndef UMAD_HDR_H
#define UMAD_HDR_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_user_mad.h>
#include <rdma/ib_verbs.h>

/* Agents of one file, and so the bound of their ids. */
#define UMAD_MAX_AGENTS		32

/* Bytes of the longest MAD that is one packet: OPA's. */
#define UMAD_MAX_MAD		sizeof(struct opa_mad)

/* Bytes of the two header layouts. */
#define UMAD_HDR_OLD_SIZE	sizeof(struct ib_user_mad_hdr_old)
#define UMAD_HDR_SIZE		sizeof(struct ib_user_mad_hdr)

static_assert(sizeof(struct ib_user_mad_hdr_old) == 56);
static_assert(sizeof(struct ib_user_mad_hdr) == 64);
static_assert(offsetof(struct ib_user_mad_hdr, status) == 4);
static_assert(offsetof(struct ib_user_mad_hdr, timeout_ms) == 8);
static_assert(offsetof(struct ib_user_mad_hdr, retries) == 12);
static_assert(offsetof(struct ib_user_mad_hdr, length) == 16);
static_assert(offsetof(struct ib_user_mad_hdr, qpn) == 20);
static_assert(offsetof(struct ib_user_mad_hdr, qkey) == 24);
static_assert(offsetof(struct ib_user_mad_hdr, lid) == 28);
static_assert(offsetof(struct ib_user_mad_hdr, sl) == 30);
static_assert(offsetof(struct ib_user_mad_hdr, path_bits) == 31);
static_assert(offsetof(struct ib_user_mad_hdr, grh_present) == 32);
static_assert(offsetof(struct ib_user_mad_hdr, gid_index) == 33);
static_assert(offsetof(struct ib_user_mad_hdr, hop_limit) == 34);
static_assert(offsetof(struct ib_user_mad_hdr, traffic_class) == 35);
static_assert(offsetof(struct ib_user_mad_hdr, gid) == 36);
static_assert(offsetof(struct ib_user_mad_hdr, flow_label) == 52);
static_assert(offsetof(struct ib_user_mad_hdr_old, flow_label) == 52);
static_assert(offsetof(struct ib_user_mad_hdr, pkey_index) == 56);
static_assert(offsetof(struct ib_user_mad_hdr, reserved) == 58);
static_assert(offsetof(struct ib_user_mad, data) == 64);

static_assert(sizeof(struct ib_user_mad_reg_req) == 28);
static_assert(offsetof(struct ib_user_mad_reg_req, method_mask) == 4);
static_assert(offsetof(struct ib_user_mad_reg_req, qpn) == 20);
static_assert(offsetof(struct ib_user_mad_reg_req, mgmt_class) == 21);
static_assert(offsetof(struct ib_user_mad_reg_req, mgmt_class_version) == 22);
static_assert(offsetof(struct ib_user_mad_reg_req, oui) == 23);
static_assert(offsetof(struct ib_user_mad_reg_req, rmpp_version) == 26);

static_assert(sizeof(struct ib_user_mad_reg_req2) == 40);
static_assert(offsetof(struct ib_user_mad_reg_req2, qpn) == 4);
static_assert(offsetof(struct ib_user_mad_reg_req2, mgmt_class) == 8);
static_assert(offsetof(struct ib_user_mad_reg_req2, mgmt_class_version) == 9);
static_assert(offsetof(struct ib_user_mad_reg_req2, flags) == 12);
static_assert(offsetof(struct ib_user_mad_reg_req2, method_mask) == 16);
static_assert(offsetof(struct ib_user_mad_reg_req2, oui) == 32);
static_assert(offsetof(struct ib_user_mad_reg_req2, rmpp_version) == 36);

/**
 * struct umad_reg - what a registration asks for, whichever ioctl it came by
 * @qpn: 0 or 1 when valid, as the caller gave it
 * @flags: IB_USER_MAD_USER_RMPP or 0
 * @rmpp_version: as the caller gave it
 * @req: for ib_core; a mgmt_class of 0 stands for an agent that only sends
 */
struct umad_reg {
	u32 qpn;
	u32 flags;
	u8 rmpp_version;
	struct ib_mad_reg_req req;
};

void umad_hdr_from_wc(struct ib_user_mad_hdr *hdr, const struct ib_wc *wc,
		      bool opa);
void umad_hdr_set_grh(struct ib_user_mad_hdr *hdr, const struct ib_grh *grh,
		      const union ib_gid *sgid, u8 gid_index, u8 hop_limit);
void umad_reg_from_req(struct umad_reg *reg,
		       const struct ib_user_mad_reg_req *ureq, bool compat);
int umad_reg_from_req2(struct umad_reg *reg,
		       const struct ib_user_mad_reg_req2 *ureq);
bool umad_mad_is_rmpp_active(const struct ib_mad_hdr *mad);

/**
 * umad_mad_is_flow_controlled() - does ib_core of 6.17 limit requests of a class?
 * @mgmt_class: of the MAD
 *
 * As is_solicited_fc_mad() of ib_core has it.
 * Context: any.
 * Return: true if so, whether this ib_core does or not.
 */
static inline bool umad_mad_is_flow_controlled(u8 mgmt_class)
{
	switch (mgmt_class) {
	case IB_MGMT_CLASS_CM:
	case IB_MGMT_CLASS_SUBN_ADM:
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
		return true;
	default:
		return false;
	}
}

int umad_mad_check_len(const struct ib_mad_hdr *mad, size_t len, bool opa);

#endif /* UMAD_HDR_H */
