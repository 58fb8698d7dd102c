// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Failing verbs: which calls fail, and with which error. */
#include "sim_fail.h"

#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/string.h>

static int fail_env_init(struct kunit *test)
{
	struct sim_fail *fail;

	fail = kunit_kzalloc(test, sizeof(*fail), GFP_KERNEL);
	if (!fail)
		return -ENOMEM;
	test->priv = fail;
	sim_fail_init(fail, NULL);
	return 0;
}

/**
 * struct fail_case - a line
 * @text: the line
 * @ret: result of the write
 * @error: error of failing calls of create_ah
 * @hits: one character for each of 6 calls: x if it fails
 */
struct fail_case {
	const char *text;
	int ret;
	int error;
	const char *hits;
};

static const struct fail_case fail_cases[] = {
	{ "off", 0, 0, "......" },
	{ "all", 0, -ENOMEM, "xxxxxx" },
	{ "all EAGAIN\n", 0, -EAGAIN, "xxxxxx" },
	{ " all  19 ", 0, -ENODEV, "xxxxxx" },
	{ "all -19", 0, -ENODEV, "xxxxxx" },
	{ "nth 1", 0, -ENOMEM, "x....." },
	{ "nth 3 EIO", 0, -EIO, "..x..." },
	{ "nth 7", 0, -ENOMEM, "......" },
	{ "every 1", 0, -ENOMEM, "xxxxxx" },
	{ "every 2 EBUSY", 0, -EBUSY, ".x.x.x" },
	{ "every 4", 0, -ENOMEM, "...x.." },
	/* These are refused, and change nothing: all calls fail with EPERM before. */
	{ "", -EINVAL, -EPERM, "xxxxxx" },
	{ "on", -EINVAL, -EPERM, "xxxxxx" },
	{ "off EIO", -EINVAL, -EPERM, "xxxxxx" },
	{ "all ENOSUCH", -EINVAL, -EPERM, "xxxxxx" },
	{ "all 0", -EINVAL, -EPERM, "xxxxxx" },
	{ "all 4096", -EINVAL, -EPERM, "xxxxxx" },
	{ "all EIO EIO", -EINVAL, -EPERM, "xxxxxx" },
	{ "nth", -EINVAL, -EPERM, "xxxxxx" },
	{ "nth 0", -EINVAL, -EPERM, "xxxxxx" },
	{ "nth EIO", -EINVAL, -EPERM, "xxxxxx" },
	{ "every 0", -EINVAL, -EPERM, "xxxxxx" },
	{ "every -1", -EINVAL, -EPERM, "xxxxxx" },
};

static void fail_desc(const struct fail_case *c, char *desc)
{
	strscpy(desc, c->text, KUNIT_PARAM_DESC_SIZE);
	strreplace(desc, '\n', ' ');
}

KUNIT_ARRAY_PARAM(fail, fail_cases, fail_desc);

static void fail_verb(struct kunit *test)
{
	const struct fail_case *c = test->param_value;
	struct sim_fail *fail = test->priv;
	int i;

	KUNIT_ASSERT_EQ(test, 0, sim_fail_set(fail, SIM_VERB_CREATE_AH,
					      "all EPERM"));
	KUNIT_EXPECT_EQ(test, c->ret, sim_fail_set(fail, SIM_VERB_CREATE_AH,
						   c->text));
	for (i = 0; c->hits[i]; i++) {
		KUNIT_EXPECT_EQ_MSG(test, c->hits[i] == 'x' ? c->error : 0,
				    sim_fail_hit(fail, SIM_VERB_CREATE_AH),
				    "call %d", i + 1);
		/* Other verbs neither fail nor count. */
		KUNIT_EXPECT_EQ(test, 0, sim_fail_hit(fail,
						      SIM_VERB_POST_SEND));
	}
}

static void fail_each(struct kunit *test)
{
	struct sim_fail *fail = test->priv;
	enum sim_verb verb, other;

	for (verb = 0; verb < SIM_VERBS; verb++) {
		KUNIT_ASSERT_EQ(test, 0, sim_fail_set(fail, verb, "all"));
		for (other = 0; other < SIM_VERBS; other++) {
			int error = sim_fail_hit(fail, other);

			if (verb == other)
				KUNIT_EXPECT_LT(test, error, 0);
			else
				KUNIT_EXPECT_EQ(test, error, 0);
		}
		KUNIT_ASSERT_EQ(test, 0, sim_fail_set(fail, verb, "off"));
	}
}

/* A device whose initial state is copied. */
static void fail_like(struct kunit *test)
{
	struct sim_fail *fail = test->priv;
	struct sim_fail *copy;

	copy = kunit_kzalloc(test, sizeof(*copy), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, copy);
	KUNIT_ASSERT_EQ(test, 0, sim_fail_set(fail, SIM_VERB_CREATE_QP,
					      "nth 2 EIO"));
	KUNIT_EXPECT_EQ(test, 0, sim_fail_hit(fail, SIM_VERB_CREATE_QP));
	sim_fail_init(copy, fail);
	/* It has its own counters. */
	KUNIT_EXPECT_EQ(test, 0, sim_fail_hit(copy, SIM_VERB_CREATE_QP));
	KUNIT_EXPECT_EQ(test, -EIO, sim_fail_hit(copy, SIM_VERB_CREATE_QP));
	KUNIT_EXPECT_EQ(test, -EIO, sim_fail_hit(fail, SIM_VERB_CREATE_QP));
	KUNIT_EXPECT_EQ(test, 0, sim_fail_hit(copy, SIM_VERB_CREATE_CQ));
}

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
static void fail_attr(struct kunit *test)
{
	struct sim_fail *fail = test->priv;
	struct fault_attr *attr = &fail->verb[SIM_VERB_POST_SEND].attr;

	/* As its files would set it: twice, with certainty, without a log line. */
	attr->probability = 100;
	attr->verbose = 0;
	atomic_set(&attr->times, 2);
	KUNIT_EXPECT_EQ(test, -ENOMEM, sim_fail_hit(fail, SIM_VERB_POST_SEND));
	KUNIT_EXPECT_EQ(test, 0, sim_fail_hit(fail, SIM_VERB_POST_RECV));
	KUNIT_EXPECT_EQ(test, -ENOMEM, sim_fail_hit(fail, SIM_VERB_POST_SEND));
	KUNIT_EXPECT_EQ(test, 0, sim_fail_hit(fail, SIM_VERB_POST_SEND));
}
#else
static void fail_attr(struct kunit *test)
{
	kunit_skip(test, "no fault injection in this kernel");
}
#endif

static struct kunit_case sim_fail_cases[] = {
	KUNIT_CASE_PARAM(fail_verb, fail_gen_params),
	KUNIT_CASE(fail_each),
	KUNIT_CASE(fail_like),
	KUNIT_CASE(fail_attr),
	{}
};

static struct kunit_suite fail_suite = {
	.name = "sim_fail",
	.init = fail_env_init,
	.test_cases = sim_fail_cases,
};

kunit_test_suite(fail_suite);
