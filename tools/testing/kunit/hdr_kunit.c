// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The user ABI's header, byte by byte, and what converts it. */
#include "addr.h"
#include "hdr.h"

#include <kunit/test.h>
#include <linux/string.h>
#include <rdma/ib_addr.h>

/* Both layouts, with values that read the same from either end in host order. */
#define COMMON_FIELDS							\
	.id = 0x01010101, .status = 0x02020202, .timeout_ms = 0x03030303, \
	.retries = 0x04040404, .length = 0x05050505,			\
	.qpn = cpu_to_be32(0x06070809), .qkey = cpu_to_be32(0x0a0b0c0d), \
	.lid = cpu_to_be16(0x0e0f), .sl = 0x10, .path_bits = 0x11,	\
	.grh_present = 0x12, .gid_index = 0x13, .hop_limit = 0x14,	\
	.traffic_class = 0x15,						\
	.gid = { 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27,	\
		 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f },	\
	.flow_label = cpu_to_be32(0x30313233)

static const struct ib_user_mad_hdr_old old_hdr = { COMMON_FIELDS };

static const struct ib_user_mad_hdr new_hdr = {
	COMMON_FIELDS,
	.pkey_index = 0x4040,
	.reserved = { 0x50, 0x51, 0x52, 0x53, 0x54, 0x55 },
};

/* What a program reads: the new layout, of which the old one is 56 bytes. */
static const u8 hdr_bytes[] = {
	/* id, status, timeout_ms, retries, length */
	0x01, 0x01, 0x01, 0x01, 0x02, 0x02, 0x02, 0x02, 0x03, 0x03, 0x03, 0x03,
	0x04, 0x04, 0x04, 0x04, 0x05, 0x05, 0x05, 0x05,
	/* qpn, qkey, lid */
	0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
	/* sl, path_bits, grh_present, gid_index, hop_limit, traffic_class */
	0x10, 0x11, 0x12, 0x13, 0x14, 0x15,
	/* gid, flow_label */
	0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b,
	0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x31, 0x32, 0x33,
	/* pkey_index, reserved */
	0x40, 0x40, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55,
};

static void expect_bytes(struct kunit *test, const void *hdr, size_t len)
{
	const u8 *raw = hdr;
	size_t i;

	KUNIT_ASSERT_LE(test, len, sizeof(hdr_bytes));
	for (i = 0; i < len; i++)
		KUNIT_EXPECT_EQ_MSG(test, raw[i], hdr_bytes[i], "byte %zu", i);
}

static void hdr_layout(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizeof(new_hdr), 64);
	expect_bytes(test, &new_hdr, sizeof(new_hdr));
}

static void hdr_old_layout(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sizeof(old_hdr), 56);
	expect_bytes(test, &old_hdr, sizeof(old_hdr));
}

/**
 * struct ah_case - a port's address family and a header's GRH
 * @name: of the case
 * @type: of the port
 * @grh_present: as a caller may write it, any number is true
 */
struct ah_case {
	const char *name;
	enum rdma_ah_attr_type type;
	u8 grh_present;
};

static const struct ah_case ah_cases[] = {
	{ "ib", RDMA_AH_ATTR_TYPE_IB, 0 },
	{ "ib grh", RDMA_AH_ATTR_TYPE_IB, 1 },
	{ "ib grh 2", RDMA_AH_ATTR_TYPE_IB, 2 },
	{ "roce", RDMA_AH_ATTR_TYPE_ROCE, 0 },
	{ "roce grh", RDMA_AH_ATTR_TYPE_ROCE, 1 },
	{ "roce grh 255", RDMA_AH_ATTR_TYPE_ROCE, 255 },
	{ "opa", RDMA_AH_ATTR_TYPE_OPA, 0 },
	{ "opa grh", RDMA_AH_ATTR_TYPE_OPA, 1 },
};

static void ah_desc(const struct ah_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(ah, ah_cases, ah_desc);

static void expect_grh(struct kunit *test, const struct ib_user_mad_hdr *hdr,
		       struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	KUNIT_EXPECT_EQ(test, memcmp(grh->dgid.raw, hdr->gid, 16), 0);
	KUNIT_EXPECT_EQ(test, grh->flow_label, 0x30313233);
	KUNIT_EXPECT_EQ(test, grh->sgid_index, hdr->gid_index);
	KUNIT_EXPECT_EQ(test, grh->hop_limit, hdr->hop_limit);
	KUNIT_EXPECT_EQ(test, grh->traffic_class, hdr->traffic_class);
	KUNIT_EXPECT_NULL(test, grh->sgid_attr);
}

static void hdr_to_ah_attr(struct kunit *test)
{
	const struct ah_case *c = test->param_value;
	static const struct ib_global_route no_grh;
	struct ib_user_mad_hdr hdr = new_hdr;
	struct rdma_ah_attr attr;
	struct umad_addr addr;
	u32 lid;

	hdr.grh_present = c->grh_present;
	memset(&attr, 0xa5, sizeof(attr));
	umad_addr_from_hdr(&addr, &hdr);
	umad_addr_to_ah_attr(&addr, c->type, 7, &attr);

	lid = c->type == RDMA_AH_ATTR_TYPE_ROCE ? 0 : 0x0e0f;
	KUNIT_EXPECT_EQ(test, attr.type, c->type);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr), lid);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr), hdr.sl);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_path_bits(&attr),
			c->type == RDMA_AH_ATTR_TYPE_ROCE ? 0 : hdr.path_bits);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_port_num(&attr), 7);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_static_rate(&attr), 0);
	if (c->type == RDMA_AH_ATTR_TYPE_OPA)
		KUNIT_EXPECT_FALSE(test, rdma_ah_get_make_grd(&attr));

	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&attr),
			c->grh_present ? IB_AH_GRH : 0);
	if (c->grh_present)
		expect_grh(test, &hdr, &attr);
	else
		KUNIT_EXPECT_EQ(test, memcmp(&attr.grh, &no_grh,
					     sizeof(no_grh)), 0);
}

/**
 * struct wc_case - a completion's LID, and what the header makes of it
 * @name: of the case
 * @slid: as ib_core has it
 * @opa: the port speaks OPA
 * @wc_flags: of the completion
 * @lid: that the caller sees
 * @grh: that the caller sees
 */
struct wc_case {
	const char *name;
	u32 slid;
	bool opa;
	int wc_flags;
	u16 lid;
	u8 grh;
};

static const struct wc_case wc_cases[] = {
	{ "ib", 0x1234, false, 0, 0x1234, 0 },
	{ "ib permissive", 0xffff, false, 0, 0xffff, 0 },
	{ "ib grh", 1, false, IB_WC_GRH, 1, 1 },
	{ "roce", 0, false, IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE, 0, 1 },
	{ "other flags", 2, false,
	  IB_WC_WITH_VLAN | IB_WC_WITH_SMAC | IB_WC_IP_CSUM_OK, 2, 0 },
	{ "opa", 0x4321, true, 0, 0x4321, 0 },
	{ "opa long", 0x89abcdef, true, 0, 0xcdef, 0 },
	{ "opa permissive", 0xffffffff, true, IB_WC_GRH, 0xffff, 1 },
	{ "opa high half", 0x7fff0000, true, 0, 0, 0 },
};

static void wc_desc(const struct wc_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(wc, wc_cases, wc_desc);

static void hdr_from_wc(struct kunit *test)
{
	const struct wc_case *c = test->param_value;
	struct ib_user_mad_hdr want = {}, hdr;
	const struct ib_wc wc = {
		.src_qp = 0x123456,
		.slid = c->slid,
		.sl = 13,
		.dlid_path_bits = 0x5a,
		.pkey_index = 0xbeef,
		.wc_flags = c->wc_flags,
		.byte_len = 0xffffffff,
		.vlan_id = 0xffff,
	};

	want.qpn = cpu_to_be32(0x123456);
	want.lid = cpu_to_be16(c->lid);
	want.sl = 13;
	want.path_bits = 0x5a;
	want.pkey_index = 0xbeef;
	want.grh_present = c->grh;

	memset(&hdr, 0xff, sizeof(hdr));
	umad_hdr_from_wc(&hdr, &wc, c->opa);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(hdr.lid), c->lid);
	KUNIT_EXPECT_EQ(test, hdr.grh_present, c->grh);
	KUNIT_EXPECT_EQ(test, hdr.pkey_index, 0xbeef);
	KUNIT_EXPECT_EQ(test, hdr.path_bits, 0x5a);
	/* And all else as it should be, or zero. */
	KUNIT_EXPECT_EQ(test, memcmp(&hdr, &want, sizeof(hdr)), 0);
}

/**
 * struct grh_case - the first word of a GRH
 * @name: of the case
 * @word: version (4 bits), traffic class (8), flow label (20)
 * @traffic_class: of it
 * @flow_label: of it
 */
struct grh_case {
	const char *name;
	u32 word;
	u8 traffic_class;
	u32 flow_label;
};

static const struct grh_case grh_cases[] = {
	{ "mixed", 0x6ab12345, 0xab, 0x12345 },
	{ "version only", 0x60000000, 0, 0 },
	{ "class only", 0x0ff00000, 0xff, 0 },
	{ "label only", 0x000fffff, 0, 0xfffff },
	{ "class bits at the ends", 0x68100000, 0x81, 0 },
	{ "label bits at the ends", 0x60080001, 0, 0x80001 },
	{ "all ones", 0xffffffff, 0xff, 0xfffff },
	{ "zero", 0, 0, 0 },
};

static void grh_desc(const struct grh_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(grh, grh_cases, grh_desc);

static void hdr_set_grh(struct kunit *test)
{
	const struct grh_case *c = test->param_value;
	const struct ib_grh grh = {
		.version_tclass_flow = cpu_to_be32(c->word),
		.paylen = cpu_to_be16(0xffff),
		.next_hdr = 0x1b,
		.hop_limit = 1,
		.sgid.raw = { 0x55 },
		.dgid.raw = { 0xaa },
	};
	const union ib_gid sgid = { .raw = { 0xfd, 1, 2, 3, [15] = 0xff } };
	struct ib_user_mad_hdr want = new_hdr, hdr = new_hdr;

	want.gid_index = 254;
	want.hop_limit = 64;
	want.traffic_class = c->traffic_class;
	want.flow_label = cpu_to_be32(c->flow_label);
	memcpy(want.gid, sgid.raw, sizeof(want.gid));

	umad_hdr_set_grh(&hdr, &grh, &sgid, 254, 64);
	KUNIT_EXPECT_EQ(test, hdr.traffic_class, c->traffic_class);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(hdr.flow_label), c->flow_label);
	/* And what is not of the GRH is left alone. */
	KUNIT_EXPECT_EQ(test, memcmp(&hdr, &want, sizeof(hdr)), 0);
}

/**
 * struct pair_case - two addresses
 * @name: of the case
 * @a: one
 * @b: the other
 * @same_addr: are they one address, wherever they stand in a tree?
 * @same_node: do both count for one node?
 */
struct pair_case {
	const char *name;
	struct umad_addr a, b;
	bool same_addr, same_node;
};

#define LID(low)		.lid = cpu_to_be16(low)
#define LONG_LID(high, low)	LID(low), .lid_high = cpu_to_be16(high)
#define GID(last)		.grh = 1, .gid = { 0xfd, [15] = (last) }

static const struct pair_case pair_cases[] = {
	{ "one LID", { LID(7) }, { LID(7) }, true, true },
	{ "two LIDs", { LID(7) }, { LID(0x700) }, false, false },
	{ "high half of a LID", { LONG_LID(1, 7) }, { LONG_LID(2, 7) }, true, false },
	{ "a GID more", { LID(7) }, { LID(7), GID(1) }, false, true },
	{ "two GIDs of a LID", { LID(7), GID(1) }, { LID(7), GID(2) }, false, true },
	{ "behind a router", { LID(7), GID(1) }, { LID(8), GID(1) }, true, false },
	{ "RoCE", { GID(1) }, { GID(1) }, true, true },
	{ "two of RoCE", { GID(1) }, { GID(2) }, false, false },
};

static void pair_desc(const struct pair_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(pair, pair_cases, pair_desc);

static void addr_order(struct kunit *test)
{
	const struct pair_case *c = test->param_value;
	int way = umad_addr_compare(&c->a, &c->b);
	int back = umad_addr_compare(&c->b, &c->a);

	KUNIT_EXPECT_EQ(test, c->same_addr, !way);
	KUNIT_EXPECT_EQ(test, way > 0, back < 0);
	KUNIT_EXPECT_EQ(test, way < 0, back > 0);

	way = umad_addr_compare_node(&c->a, &c->b);
	back = umad_addr_compare_node(&c->b, &c->a);
	KUNIT_EXPECT_EQ(test, c->same_node, !way);
	KUNIT_EXPECT_EQ(test, way > 0, back < 0);
	KUNIT_EXPECT_EQ(test, way < 0, back > 0);
}

static struct kunit_case hdr_cases[] = {
	KUNIT_CASE(hdr_layout),
	KUNIT_CASE(hdr_old_layout),
	KUNIT_CASE_PARAM(addr_order, pair_gen_params),
	KUNIT_CASE_PARAM(hdr_to_ah_attr, ah_gen_params),
	KUNIT_CASE_PARAM(hdr_from_wc, wc_gen_params),
	KUNIT_CASE_PARAM(hdr_set_grh, grh_gen_params),
	{}
};

static struct kunit_suite hdr_suite = {
	.name = "umad_hdr",
	.test_cases = hdr_cases,
};

kunit_test_suite(hdr_suite);
