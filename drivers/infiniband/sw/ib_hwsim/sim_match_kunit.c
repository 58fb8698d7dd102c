// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The fields of a packet: each one matched by a rule, and each one changed. */
#include "sim_rules.h"

#include <kunit/test.h>
#include <linux/string.h>
#include "sim_kunit.h"

static int match_env_init(struct kunit *test)
{
	test->priv = sim_rules_new();
	return test->priv ? 0 : -ENOMEM;
}

static void match_env_exit(struct kunit *test)
{
	sim_rules_free(test->priv);
}

/* Does a rule with these keys act on that packet? */
static bool matches(struct kunit *test, struct sim_packet *packet,
		    const char *keys)
{
	struct sim_rules *rules = test->priv;
	struct sim_verdict verdict;
	char line[200];

	sim_rules_clear(rules);
	scnprintf(line, sizeof(line), "%s action=pass", keys);
	KUNIT_EXPECT_EQ_MSG(test, 0, sim_rules_add(rules, line), "'%s'", keys);
	return sim_rules_judge(rules, packet, &verdict);
}

/**
 * struct key_case - a key
 * @yes: with the value of the test packet
 * @no: with another value
 */
struct key_case {
	const char *yes;
	const char *no;
};

static const struct key_case key_cases[] = {
	{ "slid=0x10", "slid=0x20" },
	{ "slid=16", "slid=0x10010" },
	{ "dlid=0x20", "dlid=0x10" },
	{ "sqp=1", "sqp=0" },
	{ "dqp=1", "dqp=0" },
	{ "qkey=0x80010000", "qkey=0x80010001" },
	{ "pkey=0x8001", "pkey=1" },
	{ "pkey=1/0x7fff", "pkey=2/0x7fff" },
	{ "sl=3", "sl=0" },
	{ "len=256", "len=2048" },
	{ "base=1", "base=0x80" },
	{ "class=0x03", "class=0x04" },
	{ "classver=2", "classver=1" },
	{ "method=0x92", "method=0x12" },
	{ "method=0x80/0x80", "method=0/0x80" },
	{ "method=0x12/0x7f", "method=0x01/0x7f" },
	{ "status=0x0100", "status=0x0001" },
	{ "tid=0x1200000034", "tid=0x34" },
	{ "tid=0x34/0xffffffff", "tid=0x12/0xffffffff" },
	{ "attr=0x35", "attr=0x3500" },
	{ "mod=0x01020304", "mod=0x04030201" },
	{ "rmpp=data", "rmpp=ack" },
	{ "rmpp=any", "rmpp=none" },
	{ "rmpp!=none", "rmpp!=any" },
	{ "rmpp!=ack", "rmpp!=data" },
	{ "rmppver=1", "rmppver=2" },
	{ "rmpptype=1", "rmpptype=2" },
	{ "rtime=15", "rtime=14" },
	{ "flags=1", "flags=3" },
	{ "flags=0/4", "flags=4/4" },
	{ "rmppstatus=0", "rmppstatus=1" },
	{ "seg=7", "seg=8" },
	{ "seg!=8", "seg!=7" },
	{ "paylen=220", "paylen=0" },
	/* A condition on a field that the packet does not have is false. */
	{ "class=3", "nwl=220" },
	{ "class=3", "nwl!=1" },
	/* All conditions must be true. */
	{ "class=3 attr=0x35 seg=7 slid=16", "class=3 attr=0x35 seg=7 slid=17" },
	{ "seg=1/1 seg=2/2 seg=0/0x8", "seg=1/1 seg=2/2 seg=8/0x8" },
};

static void key_desc(const struct key_case *c, char *desc)
{
	strscpy(desc, c->no, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(key, key_cases, key_desc);

static void match_key(struct kunit *test)
{
	struct sim_packet *packet = sim_kunit_test_packet(test);
	const struct key_case *c = test->param_value;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	KUNIT_EXPECT_TRUE(test, matches(test, packet, c->yes));
	KUNIT_EXPECT_FALSE(test, matches(test, packet, c->no));
}

/* Each RMPP type, and fields that only some types have. */
static void match_rmpp_types(struct kunit *test)
{
	static const char * const names[] = {
		"none", "data", "ack", "stop", "abort",
	};
	struct sim_packet *packet = sim_kunit_test_packet(test);
	char keys[32];
	int type, i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	for (type = 0; type < ARRAY_SIZE(names); type++) {
		packet->mad[25] = type;
		for (i = 0; i < ARRAY_SIZE(names); i++) {
			scnprintf(keys, sizeof(keys), "rmpp=%s", names[i]);
			KUNIT_EXPECT_EQ_MSG(test, matches(test, packet, keys),
					    i == type, "type %d %s", type,
					    keys);
		}
		KUNIT_EXPECT_EQ(test, matches(test, packet, "seg=7"),
				type == 1 || type == 2);
		KUNIT_EXPECT_EQ(test, matches(test, packet, "paylen=220"),
				type == 1);
		KUNIT_EXPECT_EQ(test, matches(test, packet, "nwl=220"),
				type == 2);
	}
	/* An undefined type matches none of them, and does not shift a mask. */
	packet->mad[25] = 200;
	KUNIT_EXPECT_FALSE(test, matches(test, packet, "seg=7"));
	KUNIT_EXPECT_TRUE(test, matches(test, packet, "rmpp=any"));
	KUNIT_EXPECT_TRUE(test, matches(test, packet, "rmpptype=200"));
}

/* Without the flag Active, and in classes without such a header. */
static void match_no_rmpp(struct kunit *test)
{
	static const u8 with[] = { 0x03, 0x06, 0x10, 0x12, 0x30, 0x4f };
	static const u8 without[] = {
		0x01, 0x04, 0x05, 0x07, 0x09, 0x0f, 0x2f, 0x50, 0x81,
	};
	struct sim_packet *packet = sim_kunit_test_packet(test);
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	for (i = 0; i < ARRAY_SIZE(with); i++) {
		packet->mad[1] = with[i];
		KUNIT_EXPECT_TRUE(test, matches(test, packet, "rmpp=data"));
		KUNIT_EXPECT_TRUE(test, matches(test, packet, "seg=7"));
	}
	for (i = 0; i < ARRAY_SIZE(without); i++) {
		packet->mad[1] = without[i];
		KUNIT_EXPECT_TRUE(test, matches(test, packet, "rmpp=none"));
		KUNIT_EXPECT_FALSE(test, matches(test, packet, "seg=7"));
		KUNIT_EXPECT_FALSE(test, matches(test, packet, "rmppver=1"));
	}
	packet->mad[1] = 0x03;
	packet->mad[26] = 0x78;
	KUNIT_EXPECT_TRUE(test, matches(test, packet, "rmpp=none"));
	KUNIT_EXPECT_FALSE(test, matches(test, packet, "flags=0"));
	KUNIT_EXPECT_FALSE(test, matches(test, packet, "seg=7"));
}

/* MADs that end before a field, and long ones. */
static void match_len(struct kunit *test)
{
	struct sim_packet *packet = sim_kunit_test_packet(test);
	struct sim_packet *opa;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	packet->len = 15;
	KUNIT_EXPECT_FALSE(test, matches(test, packet, "tid=0x1200000034"));
	KUNIT_EXPECT_FALSE(test, matches(test, packet, "attr=0x35"));
	KUNIT_EXPECT_TRUE(test, matches(test, packet, "rmpp=none class=3"));
	packet->len = 35;
	KUNIT_EXPECT_TRUE(test, matches(test, packet, "tid=0x1200000034"));
	KUNIT_EXPECT_FALSE(test, matches(test, packet, "seg=7"));
	packet->len = 0;
	KUNIT_EXPECT_FALSE(test, matches(test, packet, "base=1"));
	KUNIT_EXPECT_TRUE(test, matches(test, packet, "len=0"));

	opa = sim_kunit_packet(IB_HWSIM_MAX_MAD);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, opa);
	opa->mad[0] = 0x80;
	KUNIT_EXPECT_TRUE(test, matches(test, opa, "base=0x80 len=2048 seg=7"));
	sim_packet_free(opa);
}

/**
 * struct mutate_case - a change of the test packet
 * @action: of the rule
 * @offset: first byte of the MAD that changes
 * @len: number of bytes that change
 * @bytes: their new values
 */
struct mutate_case {
	const char *action;
	u32 offset;
	u32 len;
	u8 bytes[8];
};

static const struct mutate_case mutate_cases[] = {
	{ "mutate field=base value=0x80", 0, 1, { 0x80 } },
	{ "mutate field=class value=4", 1, 1, { 4 } },
	{ "mutate field=classver value=3", 2, 1, { 3 } },
	{ "mutate field=method value=0x12", 3, 1, { 0x12 } },
	{ "mutate field=status value=0x1c", 4, 2, { 0, 0x1c } },
	{ "mutate field=tid value=0x0102030405060708", 8, 8,
	  { 1, 2, 3, 4, 5, 6, 7, 8 } },
	{ "mutate field=tid add=1", 15, 1, { 0x35 } },
	{ "mutate field=attr value=0x1234", 16, 2, { 0x12, 0x34 } },
	{ "mutate field=mod value=1", 20, 4, { 0, 0, 0, 1 } },
	{ "mutate field=rmppver value=2", 24, 1, { 2 } },
	{ "mutate field=rmpptype value=3", 25, 1, { 3 } },
	/* Two fields in one byte. */
	{ "mutate field=flags value=7", 26, 1, { 0x7f } },
	{ "mutate field=flags value=0", 26, 1, { 0x78 } },
	{ "mutate field=rtime value=0", 26, 1, { 0x01 } },
	{ "mutate field=rtime value=31", 26, 1, { 0xf9 } },
	{ "mutate field=rtime add=17", 26, 1, { 0x01 } },
	{ "mutate field=rmppstatus value=119", 27, 1, { 119 } },
	{ "mutate field=seg value=0", 28, 4, { 0, 0, 0, 0 } },
	{ "mutate field=seg add=0xffffffff", 31, 1, { 6 } },
	{ "mutate field=seg value=0xffffffff", 28, 4, { 0xff, 0xff, 0xff, 0xff } },
	{ "mutate field=paylen value=221", 35, 1, { 221 } },
	/* value= writes it, though this is no ACK; add= does not, as it has no value. */
	{ "mutate field=nwl value=65", 35, 1, { 65 } },
	{ "mutate field=nwl add=1", 0, 0 },
	{ "corrupt byte=0", 0, 1, { 0xfe } },
	{ "corrupt byte=255 xor=1", 255, 1, { 0xfe } },
	{ "corrupt byte=256", 0, 0 },
	{ "corrupt byte=2047 xor=1", 0, 0 },
};

static void mutate_desc(const struct mutate_case *c, char *desc)
{
	strscpy(desc, c->action, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(mutate, mutate_cases, mutate_desc);

static void match_mutate(struct kunit *test)
{
	struct sim_packet *packet = sim_kunit_test_packet(test);
	struct sim_packet *want = sim_kunit_test_packet(test);
	const struct mutate_case *c = test->param_value;
	struct sim_rules *rules = test->priv;
	struct sim_verdict verdict;
	char line[80];

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, want);
	memcpy(want->mad + c->offset, c->bytes, c->len);
	scnprintf(line, sizeof(line), "action=%s", c->action);
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, line));
	KUNIT_EXPECT_TRUE(test, sim_rules_judge(rules, packet, &verdict));
	KUNIT_EXPECT_EQ(test, verdict.action,
			c->action[0] == 'c' ? SIM_CORRUPT : SIM_MUTATE);
	/* The right bytes change, and no others. */
	KUNIT_EXPECT_EQ(test, 0, memcmp(packet, want, struct_size(packet, mad, packet->len)));
}

static void match_mutate_address(struct kunit *test)
{
	static const char * const lines[] = {
		"nth=1 action=mutate field=slid value=0xffff",
		"nth=2 action=mutate field=dlid add=1",
		"nth=3 action=mutate field=sqp value=0xffffff",
		"nth=4 action=mutate field=dqp value=0",
		"nth=5 action=mutate field=qkey value=0",
		"nth=6 action=mutate field=pkey value=0xffff",
		"nth=7 action=mutate field=sl value=15",
	};
	struct sim_packet *packet = sim_kunit_test_packet(test);
	struct sim_packet *want = sim_kunit_test_packet(test);
	struct sim_rules *rules = test->priv;
	struct sim_verdict verdict;
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, want);
	want->slid = 0xffff;
	want->dlid = 0x21;
	want->src_qp = 0xffffff;
	want->dest_qp = 0;
	want->qkey = 0;
	want->pkey = 0xffff;
	want->sl = 15;
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, lines[i]));
	for (i = 0; i < ARRAY_SIZE(lines); i++)
		KUNIT_EXPECT_TRUE(test, sim_rules_judge(rules, packet,
							&verdict));
	KUNIT_EXPECT_EQ(test, 0, memcmp(packet, want, struct_size(packet, mad, packet->len)));
}

/* A class without RMPP, or a MAD that ends before, has no such field. */
static void match_mutate_absent(struct kunit *test)
{
	struct sim_packet *packet = sim_kunit_test_packet(test);
	struct sim_packet *want = sim_kunit_test_packet(test);
	struct sim_rules *rules = test->priv;
	struct sim_verdict verdict;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, want);
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "action=mutate field=seg value=9"));
	packet->mad[1] = 0x04;
	KUNIT_EXPECT_TRUE(test, sim_rules_judge(rules, packet, &verdict));
	packet->mad[1] = 0x03;
	packet->len = 20;
	KUNIT_EXPECT_TRUE(test, sim_rules_judge(rules, packet, &verdict));
	packet->len = SIM_MAD_LEN;
	KUNIT_EXPECT_EQ(test, 0, memcmp(packet, want, struct_size(packet, mad, packet->len)));

	/* But the flag Active can be set. */
	packet->mad[26] = 0;
	sim_rules_clear(rules);
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "action=mutate field=flags value=1"));
	KUNIT_EXPECT_TRUE(test, sim_rules_judge(rules, packet, &verdict));
	KUNIT_EXPECT_EQ(test, packet->mad[26], 1);
}

static struct kunit_case match_cases[] = {
	KUNIT_CASE_PARAM(match_key, key_gen_params),
	KUNIT_CASE(match_rmpp_types),
	KUNIT_CASE(match_no_rmpp),
	KUNIT_CASE(match_len),
	KUNIT_CASE_PARAM(match_mutate, mutate_gen_params),
	KUNIT_CASE(match_mutate_address),
	KUNIT_CASE(match_mutate_absent),
	{}
};

static struct kunit_suite match_suite = {
	.name = "sim_match",
	.init = match_env_init,
	.exit = match_env_exit,
	.test_cases = match_cases,
};

kunit_test_suite(match_suite);
