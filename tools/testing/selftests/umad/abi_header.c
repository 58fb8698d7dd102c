// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The project's own <rdma/ib_user_mad.h>, from include/uapi, lays everything
 * out as programs know it. All of it is checked by the compiler, in 64 and in
 * 32 bits; the program only says so.
 */
#include <assert.h>
#include <stddef.h>
#include <stdio.h>

#include "../../../../include/uapi/rdma/ib_user_mad.h"

#define SIZE(type, size) static_assert(sizeof(struct type) == (size), #type)
#define AT(type, member, offset) \
	static_assert(offsetof(struct type, member) == (offset), #type "." #member)

static_assert(IB_USER_MAD_ABI_VERSION == 5, "ABI version");
static_assert(IB_USER_MAD_USER_RMPP == 1, "flag USER_RMPP");
static_assert(IB_USER_MAD_REG_FLAGS_CAP == 1, "flags there are");

SIZE(ib_user_mad_hdr_old, 56);
SIZE(ib_user_mad_hdr, 64);
AT(ib_user_mad_hdr, id, 0);
AT(ib_user_mad_hdr, status, 4);
AT(ib_user_mad_hdr, timeout_ms, 8);
AT(ib_user_mad_hdr, retries, 12);
AT(ib_user_mad_hdr, length, 16);
AT(ib_user_mad_hdr, qpn, 20);
AT(ib_user_mad_hdr, qkey, 24);
AT(ib_user_mad_hdr, lid, 28);
AT(ib_user_mad_hdr, sl, 30);
AT(ib_user_mad_hdr, path_bits, 31);
AT(ib_user_mad_hdr, grh_present, 32);
AT(ib_user_mad_hdr, gid_index, 33);
AT(ib_user_mad_hdr, hop_limit, 34);
AT(ib_user_mad_hdr, traffic_class, 35);
AT(ib_user_mad_hdr, gid, 36);
AT(ib_user_mad_hdr, flow_label, 52);
AT(ib_user_mad_hdr, pkey_index, 56);
AT(ib_user_mad_hdr, reserved, 58);
AT(ib_user_mad_hdr_old, flow_label, 52);

SIZE(ib_user_mad, 64);
AT(ib_user_mad, data, 64);

SIZE(ib_user_mad_reg_req, 28);
AT(ib_user_mad_reg_req, id, 0);
AT(ib_user_mad_reg_req, method_mask, 4);
AT(ib_user_mad_reg_req, qpn, 20);
AT(ib_user_mad_reg_req, mgmt_class, 21);
AT(ib_user_mad_reg_req, mgmt_class_version, 22);
AT(ib_user_mad_reg_req, oui, 23);
AT(ib_user_mad_reg_req, rmpp_version, 26);

SIZE(ib_user_mad_reg_req2, 40);
AT(ib_user_mad_reg_req2, id, 0);
AT(ib_user_mad_reg_req2, qpn, 4);
AT(ib_user_mad_reg_req2, mgmt_class, 8);
AT(ib_user_mad_reg_req2, mgmt_class_version, 9);
AT(ib_user_mad_reg_req2, res, 10);
AT(ib_user_mad_reg_req2, flags, 12);
AT(ib_user_mad_reg_req2, method_mask, 16);
AT(ib_user_mad_reg_req2, oui, 32);
AT(ib_user_mad_reg_req2, rmpp_version, 36);

int main(void)
{
	printf("TAP version 13\n1..1\nok 1 the compiler agrees\n");
	return 0;
}
