// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a refusal of ib_core's means, and which registrations exclude each other. */
#include "refusal.h"

#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/string.h>
#include <rdma/ib_mad.h>
#include "hdr.h"

#define VENDOR	0x3a	/* has an OUI */
#define METHOD	5

/**
 * struct core_case - a registration that ib_core has refused
 * @name: of the case
 * @qpn: the caller's
 * @mgmt_class: the caller's
 * @version: of the class
 * @oui: last byte of the OUI
 * @error: what ib_core returned
 * @want: the reason
 */
struct core_case {
	const char *name;
	u32 qpn;
	u8 mgmt_class, version, oui;
	int error;
	enum umad_refusal want;
};

static const struct core_case core_cases[] = {
	{ "version", 1, 0x0a, 0x83, 0, -EINVAL, UMAD_REFUSED_VERSION },
	{ "last version", 1, 0x0a, 0x82, 0, -EINVAL, UMAD_REFUSED_TAKEN },
	{ "version before class", 1, 0x50, 0x83, 0, -EINVAL, UMAD_REFUSED_VERSION },
	{ "class", 1, 0x50, 1, 0, -EINVAL, UMAD_REFUSED_CLASS },
	{ "last class", 1, 0x4f, 1, 1, -EINVAL, UMAD_REFUSED_TAKEN },
	{ "class 0x80", 1, 0x80, 1, 0, -EINVAL, UMAD_REFUSED_CLASS },
	{ "class 0x82", 0, 0x82, 1, 0, -EINVAL, UMAD_REFUSED_CLASS },
	{ "first class without OUI", 1, 0x30, 1, 0, -EINVAL, UMAD_REFUSED_NO_OUI },
	{ "last class without OUI", 1, 0x4f, 1, 0, -EINVAL, UMAD_REFUSED_NO_OUI },
	{ "class needs no OUI", 1, 0x2f, 1, 0, -EINVAL, UMAD_REFUSED_TAKEN },
	{ "0x01 on QP1", 1, 0x01, 1, 0, -EINVAL, UMAD_REFUSED_CLASS_QP },
	{ "0x81 on QP1", 1, 0x81, 1, 0, -EINVAL, UMAD_REFUSED_CLASS_QP },
	{ "0x03 on QP0", 0, 0x03, 2, 0, -EINVAL, UMAD_REFUSED_CLASS_QP },
	{ "vendor on QP0", 0, 0x30, 1, 1, -EINVAL, UMAD_REFUSED_CLASS_QP },
	{ "0x01 taken", 0, 0x01, 1, 0, -EINVAL, UMAD_REFUSED_TAKEN },
	{ "0x81 taken", 0, 0x81, 1, 0, -EINVAL, UMAD_REFUSED_TAKEN },
	{ "0x03 taken", 1, 0x03, 2, 0, -EINVAL, UMAD_REFUSED_TAKEN },
	{ "no class", 1, 0, 0, 0, -EINVAL, UMAD_REFUSED_OTHER },
	{ "memory", 1, 0x03, 2, 0, -ENOMEM, UMAD_REFUSED_NOMEM },
	{ "memory without class", 1, 0, 0, 0, -ENOMEM, UMAD_REFUSED_NOMEM },
	{ "OUIs", 1, VENDOR, 1, 9, -ENOMEM, UMAD_REFUSED_OUIS },
	{ "QP", 0, 0x81, 1, 0, -EPROTONOSUPPORT, UMAD_REFUSED_NO_QP },
	{ "port", 0, 0x81, 1, 0, -ENODEV, UMAD_REFUSED_NO_MADS },
	{ "SELinux", 0, 0x81, 1, 0, -EACCES, UMAD_REFUSED_DENIED },
	{ "LSM", 0, 0x81, 1, 0, -EPERM, UMAD_REFUSED_DENIED },
	{ "any other", 1, 0x03, 2, 0, -EBUSY, UMAD_REFUSED_OTHER },
};

static void core_desc(const struct core_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(core, core_cases, core_desc);

static void refusal_core(struct kunit *test)
{
	const struct core_case *c = test->param_value;
	struct umad_reg reg = {
		.qpn = c->qpn,
		.req.mgmt_class = c->mgmt_class,
		.req.mgmt_class_version = c->version,
		.req.oui[2] = c->oui,
	};

	KUNIT_EXPECT_EQ(test, umad_refusal_by_core(&reg, c->error), c->want);
}

static void req_init(struct ib_mad_reg_req *req, u8 mgmt_class)
{
	memset(req, 0, sizeof(*req));
	req->mgmt_class = mgmt_class;
	req->mgmt_class_version = 1;
	req->oui[1] = 7;
	__set_bit(METHOD, req->method_mask);
	__set_bit(IB_MGMT_MAX_METHODS - 1, req->method_mask);
}

/* Both ways round. */
static bool overlap(const struct ib_mad_reg_req *a, const struct ib_mad_reg_req *b)
{
	bool ret = umad_reg_overlaps(a, b);

	WARN_ON(umad_reg_overlaps(b, a) != ret);
	return ret;
}

static void refusal_overlaps(struct kunit *test)
{
	struct ib_mad_reg_req a, b;

	req_init(&a, VENDOR);
	req_init(&b, VENDOR);
	KUNIT_EXPECT_TRUE(test, overlap(&a, &b));
	__clear_bit(METHOD, b.method_mask);
	KUNIT_EXPECT_TRUE(test, overlap(&a, &b));
	__clear_bit(IB_MGMT_MAX_METHODS - 1, b.method_mask);
	KUNIT_EXPECT_FALSE(test, overlap(&a, &b));
	__set_bit(METHOD + 1, b.method_mask);
	KUNIT_EXPECT_FALSE(test, overlap(&a, &b));

	req_init(&b, VENDOR);
	b.oui[1]++;
	KUNIT_EXPECT_FALSE(test, overlap(&a, &b));
	req_init(&b, VENDOR);
	b.mgmt_class_version++;
	KUNIT_EXPECT_FALSE(test, overlap(&a, &b));
	req_init(&b, VENDOR + 1);
	KUNIT_EXPECT_FALSE(test, overlap(&a, &b));
}

/* An OUI means nothing where the class has none; 0x01 and 0x81 are two classes. */
static void refusal_overlaps_without_oui(struct kunit *test)
{
	struct ib_mad_reg_req a, b;

	req_init(&a, 0x0a);
	req_init(&b, 0x0a);
	b.oui[1]++;
	KUNIT_EXPECT_TRUE(test, overlap(&a, &b));
	req_init(&a, 0x01);
	req_init(&b, 0x81);
	KUNIT_EXPECT_FALSE(test, overlap(&a, &b));
	/* Agents that only send. */
	req_init(&a, 0);
	req_init(&b, 0);
	KUNIT_EXPECT_FALSE(test, overlap(&a, &b));
}

static void refusal_names(struct kunit *test)
{
	enum umad_refusal a, b;

	for (a = 0; a < UMAD_REFUSED_COUNT; a++) {
		KUNIT_EXPECT_LT(test, strlen(umad_refusal_name(a)),
				UMAD_REFUSAL_NAME_LEN);
		for (b = 0; b < a; b++)
			KUNIT_EXPECT_STRNEQ(test, umad_refusal_name(a),
					    umad_refusal_name(b));
	}
}

static struct kunit_case refusal_cases[] = {
	KUNIT_CASE_PARAM(refusal_core, core_gen_params),
	KUNIT_CASE(refusal_overlaps),
	KUNIT_CASE(refusal_overlaps_without_oui),
	KUNIT_CASE(refusal_names),
	{}
};

static struct kunit_suite refusal_suite = {
	.name = "umad_refusal",
	.test_cases = refusal_cases,
};

kunit_test_suite(refusal_suite);
