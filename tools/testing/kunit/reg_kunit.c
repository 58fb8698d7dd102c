// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The registration structures, byte by byte, and what reads them. */
#include "hdr.h"

#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/string.h>

#define METHODS		128

static void reg_req_layout(struct kunit *test)
{
	struct ib_user_mad_reg_req req;
	u8 *raw = (u8 *)&req;

	KUNIT_EXPECT_EQ(test, sizeof(req), 28);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)&req.id, raw);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)req.method_mask, raw + 4);
	KUNIT_EXPECT_EQ(test, sizeof(req.method_mask), 16);
	KUNIT_EXPECT_PTR_EQ(test, &req.qpn, raw + 20);
	KUNIT_EXPECT_PTR_EQ(test, &req.mgmt_class, raw + 21);
	KUNIT_EXPECT_PTR_EQ(test, &req.mgmt_class_version, raw + 22);
	KUNIT_EXPECT_PTR_EQ(test, &req.oui[0], raw + 23);
	KUNIT_EXPECT_EQ(test, sizeof(req.oui), 3);
	KUNIT_EXPECT_PTR_EQ(test, &req.rmpp_version, raw + 26);
}

static void reg_req2_layout(struct kunit *test)
{
	struct ib_user_mad_reg_req2 req;
	u8 *raw = (u8 *)&req;

	KUNIT_EXPECT_EQ(test, sizeof(req), 40);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)&req.id, raw);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)&req.qpn, raw + 4);
	KUNIT_EXPECT_PTR_EQ(test, &req.mgmt_class, raw + 8);
	KUNIT_EXPECT_PTR_EQ(test, &req.mgmt_class_version, raw + 9);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)&req.flags, raw + 12);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)req.method_mask, raw + 16);
	KUNIT_EXPECT_EQ(test, sizeof(req.method_mask), 16);
	KUNIT_EXPECT_PTR_EQ(test, (u8 *)&req.oui, raw + 32);
	KUNIT_EXPECT_PTR_EQ(test, &req.rmpp_version, raw + 36);
}

/* The ways a caller can name its methods. */
enum mask_form { MASK_NATIVE, MASK_COMPAT, MASK_REQ2, MASK_FORMS };

static const char * const mask_names[] = { "native", "compat", "req2" };

/* Puts a mask in @words 32-bit words, the low one first, into a structure. */
static void read_mask(struct kunit *test, struct umad_reg *reg,
		      enum mask_form form, const u32 *words)
{
	struct ib_user_mad_reg_req2 req2 = { .mgmt_class = 9 };
	struct ib_user_mad_reg_req req = { .mgmt_class = 9 };
	u8 *raw = (u8 *)&req + 4;
	unsigned int i;

	memset(reg, 0xff, sizeof(*reg));
	switch (form) {
	case MASK_NATIVE:
		for (i = 0; i < METHODS; i++)
			if (words[i / 32] & BIT(i % 32))
				req.method_mask[i / BITS_PER_LONG] |=
					BIT(i % BITS_PER_LONG);
		umad_reg_from_req(reg, &req, false);
		break;
	case MASK_COMPAT:
		memcpy(raw, words, 16);
		umad_reg_from_req(reg, &req, true);
		break;
	default:
		req2.method_mask[0] = words[0] | (u64)words[1] << 32;
		req2.method_mask[1] = words[2] | (u64)words[3] << 32;
		KUNIT_EXPECT_EQ(test, umad_reg_from_req2(reg, &req2), 0);
		break;
	}
}

static void reg_mask_each_method(struct kunit *test)
{
	unsigned int method, form;
	struct umad_reg reg;

	for (method = 0; method < METHODS; method++) {
		u32 words[4] = {};

		words[method / 32] = BIT(method % 32);
		for (form = 0; form < MASK_FORMS; form++) {
			read_mask(test, &reg, form, words);
			KUNIT_EXPECT_EQ_MSG(test, 1,
					    bitmap_weight(reg.req.method_mask,
							  METHODS),
					    "%s method %u", mask_names[form],
					    method);
			KUNIT_EXPECT_TRUE_MSG(test,
					      test_bit(method,
						       reg.req.method_mask),
					      "%s method %u", mask_names[form],
					      method);
		}
	}
}

static void reg_mask_many_methods(struct kunit *test)
{
	static const u32 words[4] = {
		0x80000001, 0xdeadbeef, 0x00ff00ff, 0x7ffffffe,
	};
	unsigned int method, form;
	struct umad_reg reg;
	bool want;

	for (form = 0; form < MASK_FORMS; form++) {
		read_mask(test, &reg, form, words);
		for (method = 0; method < METHODS; method++) {
			want = words[method / 32] & BIT(method % 32);
			KUNIT_EXPECT_EQ_MSG(test, want,
					    test_bit(method,
						     reg.req.method_mask),
					    "%s method %u", mask_names[form],
					    method);
		}
	}
}

static void reg_from_req(struct kunit *test)
{
	const struct ib_user_mad_reg_req ureq = {
		.id = 77, .qpn = 1, .mgmt_class = 0x40,
		.mgmt_class_version = 2, .oui = { 0x12, 0x34, 0x56 },
		.rmpp_version = 3,
	};
	struct umad_reg reg;

	memset(&reg, 0xff, sizeof(reg));
	umad_reg_from_req(&reg, &ureq, false);
	KUNIT_EXPECT_EQ(test, reg.qpn, 1);
	KUNIT_EXPECT_EQ(test, reg.flags, 0);
	KUNIT_EXPECT_EQ(test, reg.rmpp_version, 3);
	KUNIT_EXPECT_EQ(test, reg.req.mgmt_class, 0x40);
	KUNIT_EXPECT_EQ(test, reg.req.mgmt_class_version, 2);
	KUNIT_EXPECT_EQ(test, reg.req.oui[0], 0x12);
	KUNIT_EXPECT_EQ(test, reg.req.oui[1], 0x34);
	KUNIT_EXPECT_EQ(test, reg.req.oui[2], 0x56);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(reg.req.method_mask, METHODS));
}

static void reg_from_req2(struct kunit *test)
{
	const struct ib_user_mad_reg_req2 ureq = {
		.id = 77, .qpn = 0x100, .mgmt_class = 0x4f,
		.mgmt_class_version = 4, .flags = 0x80000001,
		.oui = 0xabcdef, .rmpp_version = 1,
		.res = 0xffff, .reserved = { 0xff, 0xff, 0xff },
	};
	struct umad_reg reg;

	memset(&reg, 0xff, sizeof(reg));
	KUNIT_EXPECT_EQ(test, umad_reg_from_req2(&reg, &ureq), 0);
	/* Not cut to a byte: 0x100 is no queue pair. */
	KUNIT_EXPECT_EQ(test, reg.qpn, 0x100);
	KUNIT_EXPECT_EQ(test, reg.flags, 0x80000001);
	KUNIT_EXPECT_EQ(test, reg.rmpp_version, 1);
	KUNIT_EXPECT_EQ(test, reg.req.mgmt_class, 0x4f);
	KUNIT_EXPECT_EQ(test, reg.req.mgmt_class_version, 4);
	/* As in a MAD on the wire: the high byte first. */
	KUNIT_EXPECT_EQ(test, reg.req.oui[0], 0xab);
	KUNIT_EXPECT_EQ(test, reg.req.oui[1], 0xcd);
	KUNIT_EXPECT_EQ(test, reg.req.oui[2], 0xef);
}

/* Without a class there is nothing to route by: all but the rest is ignored. */
static void reg_send_only(struct kunit *test)
{
	struct ib_user_mad_reg_req2 ureq2;
	struct ib_user_mad_reg_req ureq;
	struct umad_reg want, reg;
	unsigned int form;

	memset(&ureq2, 0xff, sizeof(ureq2));
	memset(&ureq, 0xff, sizeof(ureq));
	memset(&want, 0, sizeof(want));
	ureq2.mgmt_class = 0;
	ureq.mgmt_class = 0;
	want.rmpp_version = 0xff;
	want.qpn = 0xff;
	for (form = MASK_NATIVE; form <= MASK_COMPAT; form++) {
		umad_reg_from_req(&reg, &ureq, form == MASK_COMPAT);
		KUNIT_EXPECT_EQ(test, memcmp(&reg, &want, sizeof(reg)), 0);
	}

	want.qpn = 0xffffffff;
	want.flags = 0xffffffff;
	KUNIT_EXPECT_EQ(test, umad_reg_from_req2(&reg, &ureq2), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&reg, &want, sizeof(reg)), 0);
}

/**
 * struct oui_case - an OUI as REGISTER_AGENT2 takes it
 * @name: of the case
 * @oui: the caller's 32 bits
 * @mgmt_class: the caller's
 * @want: what comes back
 */
struct oui_case {
	const char *name;
	u32 oui;
	u8 mgmt_class;
	int want;
};

static const struct oui_case oui_cases[] = {
	{ "24 bits", 0xffffff, 0x40, 0 },
	{ "none", 0, 0x40, 0 },
	{ "bit 24", 0x1000000, 0x40, -EINVAL },
	{ "bit 31", 0x80000000, 0x40, -EINVAL },
	{ "all bits", 0xffffffff, 0x40, -EINVAL },
	{ "bit 24, no vendor class", 0x1000000, 0x03, -EINVAL },
	{ "bit 24, no class", 0x1000000, 0, 0 },
};

static void oui_desc(const struct oui_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(oui, oui_cases, oui_desc);

static void reg_oui_bits(struct kunit *test)
{
	const struct oui_case *c = test->param_value;
	const struct ib_user_mad_reg_req2 ureq = {
		.qpn = 1, .flags = 1, .mgmt_class = c->mgmt_class,
		.oui = c->oui,
	};
	struct umad_reg reg;

	memset(&reg, 0xff, sizeof(reg));
	KUNIT_EXPECT_EQ(test, umad_reg_from_req2(&reg, &ureq), c->want);
	/* They are judged first, so an error leaves them. */
	KUNIT_EXPECT_EQ(test, reg.qpn, 1);
	KUNIT_EXPECT_EQ(test, reg.flags, 1);
}

static struct kunit_case reg_cases[] = {
	KUNIT_CASE(reg_req_layout),
	KUNIT_CASE(reg_req2_layout),
	KUNIT_CASE(reg_mask_each_method),
	KUNIT_CASE(reg_mask_many_methods),
	KUNIT_CASE(reg_from_req),
	KUNIT_CASE(reg_from_req2),
	KUNIT_CASE(reg_send_only),
	KUNIT_CASE_PARAM(reg_oui_bits, oui_gen_params),
	{}
};

static struct kunit_suite reg_suite = {
	.name = "umad_reg",
	.test_cases = reg_cases,
};

kunit_test_suite(reg_suite);
