// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What is judged of a MAD's bytes, against a table written down here. */
#include "hdr.h"

#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/string.h>

#define BASE_VERSION_IB		1
#define BASE_VERSION_OPA	0x80
/* Where the RMPP header's flags stand, and its Active flag. */
#define RMPP_FLAGS_OFFSET	26
#define RMPP_FLAG_ACTIVE	0x01
/* Lengths above the longest MAD that are tried too. */
#define LEN_END			2050

/* Bytes that a class puts before its data (IBA 13.4.3, 15.2.1, 16). */
static size_t least(u8 mgmt_class)
{
	switch (mgmt_class) {
	case 0x03:
		return 56;
	case 0x06:
	case 0x10:
	case 0x12:
		return 64;
	case 0x30 ... 0x4f:
		return 40;
	default:
		return 24;
	}
}

static bool has_rmpp(u8 mgmt_class)
{
	return least(mgmt_class) != 24;
}

/**
 * struct len_case - which MADs, on which port
 * @name: of the case
 * @base_version: of the MAD
 * @opa: the port speaks OPA
 * @most: bytes
 */
struct len_case {
	const char *name;
	u8 base_version;
	bool opa;
	size_t most;
};

static const struct len_case len_cases[] = {
	{ "ib mad on ib", BASE_VERSION_IB, false, 256 },
	{ "opa mad on ib", BASE_VERSION_OPA, false, 256 },
	{ "ib mad on opa", BASE_VERSION_IB, true, 256 },
	{ "opa mad on opa", BASE_VERSION_OPA, true, 2048 },
	{ "unknown mad on opa", 0x81, true, 256 },
	{ "version 0 on opa", 0, true, 256 },
};

static void len_desc(const struct len_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(len, len_cases, len_desc);

static void mad_check_len(struct kunit *test)
{
	const struct len_case *c = test->param_value;
	struct ib_mad_hdr mad = { .base_version = c->base_version };
	unsigned int mgmt_class;
	int want, got;
	size_t len;

	for (mgmt_class = 0; mgmt_class < 256; mgmt_class++) {
		mad.mgmt_class = mgmt_class;
		for (len = 0; len < LEN_END; len++) {
			/* All short ones, then those around the limit. */
			if (len == 300)
				len = 2040;
			want = len < least(mgmt_class) || len > c->most ?
			       -EINVAL : 0;
			got = umad_mad_check_len(&mad, len, c->opa);
			KUNIT_ASSERT_EQ_MSG(test, got, want,
					    "class 0x%x length %zu",
					    mgmt_class, len);
		}
		/* What a subtraction would make negative. */
		KUNIT_EXPECT_EQ(test, -EINVAL,
				umad_mad_check_len(&mad, SIZE_MAX, c->opa));
	}
}

static void mad_is_rmpp_active(struct kunit *test)
{
	unsigned int mgmt_class, flags;
	bool want, got;
	u8 *raw;

	raw = kunit_kzalloc(test, sizeof(struct ib_rmpp_mad), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, raw);
	/* Neither the common header nor the data may count. */
	memset(raw, 0xff, sizeof(struct ib_rmpp_mad));

	for (mgmt_class = 0; mgmt_class < 256; mgmt_class++) {
		raw[1] = mgmt_class;
		for (flags = 0; flags < 256; flags++) {
			raw[RMPP_FLAGS_OFFSET] = flags;
			want = has_rmpp(mgmt_class) &&
			       (flags & RMPP_FLAG_ACTIVE);
			got = umad_mad_is_rmpp_active((void *)raw);
			KUNIT_ASSERT_EQ_MSG(test, got, want,
					    "class 0x%x flags 0x%x",
					    mgmt_class, flags);
		}
	}
}

static struct kunit_case mad_cases[] = {
	KUNIT_CASE_PARAM(mad_check_len, len_gen_params),
	KUNIT_CASE(mad_is_rmpp_active),
	{}
};

static struct kunit_suite mad_suite = {
	.name = "umad_mad",
	.test_cases = mad_cases,
};

kunit_test_suite(mad_suite);
