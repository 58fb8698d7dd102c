// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rules: valid and invalid ones, their matches, and their verdicts. */
#include "sim_rules.h"

#include <kunit/test.h>
#include <linux/string.h>
#include "sim_kunit.h"
#include "sim_rule.h"

static int rules_env_init(struct kunit *test)
{
	test->priv = sim_rules_new();
	return test->priv ? 0 : -ENOMEM;
}

static void rules_env_exit(struct kunit *test)
{
	sim_rules_free(test->priv);
}

static const char * const bad_rules[] = {
	"",
	"drop",
	"action",
	"action=",
	"=drop",
	"class=3",
	"action=lose",
	"action=drop action=drop",
	"color=3 action=drop",
	"class= action=drop",
	"class=0x action=drop",
	"class=x action=drop",
	"class=256 action=drop",
	"class=-1 action=drop",
	"class=3/ action=drop",
	"class=3/0x100 action=drop",
	"class=3/0xfc action=drop",
	"attr=0x10000 action=drop",
	"tid=0x10000000000000000 action=drop",
	"rmpp=1 action=drop",
	"rmpp=nack action=drop",
	"rmpp=DATA action=drop",
	"nth=0 action=drop",
	"every=0 action=drop",
	"count=0 action=drop",
	"nth=1 nth=2 action=drop",
	"nth=1 every=2 action=drop",
	"nth!=1 action=drop",
	"action!=drop",
	"action=drop ms=10",
	"action=drop copies=2",
	"action=pass byte=1",
	"action=dup copies=0",
	"action=dup copies=65",
	"action=dup behind=1",
	"action=delay",
	"action=delay ms=0",
	"action=delay ms=60001",
	"action=delay ms=10ms",
	"action=reorder behind=0",
	"action=corrupt",
	"action=corrupt byte=2048",
	"action=corrupt byte=1 xor=0",
	"action=corrupt byte=1 xor=256",
	"action=corrupt xor=1",
	"action=mutate",
	"action=mutate field=seg",
	"action=mutate value=1",
	"action=mutate field=seg value=1 add=1",
	"action=mutate field=seg field=nwl value=1",
	"action=mutate field=seg value=0x100000000",
	"action=mutate field=flags value=8",
	"action=mutate field=len value=8",
	"action=mutate field=rmpp value=1",
	"action=mutate field=color value=1",
	"action=drop field=seg",
	"slid=1 slid=1 slid=1 slid=1 slid=1 slid=1 slid=1 slid=1 slid=1 slid=1 slid=1 slid=1 slid=1 action=drop",
	"action=drop; action=drop",
};

static void rules_refused(struct kunit *test)
{
	struct sim_rules *rules = test->priv;
	char *line;
	int i;

	for (i = 0; i < ARRAY_SIZE(bad_rules); i++)
		KUNIT_EXPECT_EQ_MSG(test, sim_rules_add(rules, bad_rules[i]),
				    -EINVAL, "'%s'", bad_rules[i]);

	line = kunit_kzalloc(test, SIM_RULE_LEN_MAX + 2, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, line);
	memset(line, ' ', SIM_RULE_LEN_MAX + 1);
	memcpy(line, "action=drop", strlen("action=drop"));
	KUNIT_EXPECT_EQ(test, sim_rules_add(rules, line), -EINVAL);
	line[SIM_RULE_LEN_MAX] = '\0';
	KUNIT_EXPECT_EQ(test, sim_rules_add(rules, line), 0);
}

static void rules_shown(struct kunit *test)
{
	struct sim_packet *packet = sim_kunit_test_packet(test);
	struct sim_rules *rules = test->priv;
	struct sim_verdict verdict;
	struct seq_file s;
	char *text = sim_kunit_show(test, &s);
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, text);
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "class=0x01 action=drop"));
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, " class=3\tevery=2   count=1 action=drop\n"));
	for (i = 0; i < 5; i++)
		sim_rules_judge(rules, packet, &verdict);
	sim_rules_show(rules, &s);
	KUNIT_EXPECT_STREQ(test, text,
			   "1 matched=0 hits=0: class=0x01 action=drop\n"
			   "2 matched=5 hits=1: class=3 every=2 count=1 action=drop\n");

	/* Their numbers and counters restart. */
	sim_rules_clear(rules);
	KUNIT_EXPECT_FALSE(test, sim_rules_judge(rules, packet, &verdict));
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "action=pass"));
	text = sim_kunit_show(test, &s);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, text);
	sim_rules_show(rules, &s);
	KUNIT_EXPECT_STREQ(test, text, "1 matched=0 hits=0: action=pass\n");
}

static void rules_bounded(struct kunit *test)
{
	struct sim_rules *rules = test->priv;
	int i;

	for (i = 0; i < SIM_RULES_MAX; i++)
		KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "action=drop"));
	KUNIT_EXPECT_EQ(test, -ENOSPC, sim_rules_add(rules, "action=drop"));
	sim_rules_clear(rules);
	KUNIT_EXPECT_EQ(test, 0, sim_rules_add(rules, "action=drop"));
}

/**
 * struct due_case - which matches a rule acts on
 * @rule: the rule without its action
 * @due: one character for each match: x if the rule acts
 */
struct due_case {
	const char *rule;
	const char *due;
};

static const struct due_case due_cases[] = {
	{ "class=3", "xxxxxxxxxxxx" },
	{ "nth=1", "x..........." },
	{ "nth=3", "..x........." },
	{ "nth=13", "............" },
	{ "every=1", "xxxxxxxxxxxx" },
	{ "every=4", "...x...x...x" },
	{ "count=1", "x..........." },
	{ "count=5", "xxxxx......." },
	{ "every=3 count=2", "..x..x......" },
	{ "nth=2 count=1", ".x.........." },
};

static void due_desc(const struct due_case *c, char *desc)
{
	strscpy(desc, c->rule, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(due, due_cases, due_desc);

static void rules_due(struct kunit *test)
{
	struct sim_packet *packet = sim_kunit_test_packet(test);
	const struct due_case *c = test->param_value;
	struct sim_rules *rules = test->priv;
	struct sim_verdict verdict;
	char line[80];
	bool acted;
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	scnprintf(line, sizeof(line), "class=3 %s action=drop",
		  strcmp(c->rule, "class=3") ? c->rule : "");
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, line));
	for (i = 0; c->due[i]; i++) {
		acted = sim_rules_judge(rules, packet, &verdict);
		KUNIT_EXPECT_EQ_MSG(test, acted, c->due[i] == 'x', "match %d",
				    i + 1);
		KUNIT_EXPECT_EQ(test, verdict.action,
				acted ? SIM_DROP : SIM_PASS);
		KUNIT_EXPECT_EQ(test, verdict.rule, (u32)acted);
		/* Packets that do not match do not count. */
		packet->mad[1] = 4;
		KUNIT_EXPECT_FALSE(test, sim_rules_judge(rules, packet,
							 &verdict));
		packet->mad[1] = 3;
	}
}

/* Which rule decides if several match. */
static void rules_order(struct kunit *test)
{
	struct sim_packet *packet = sim_kunit_test_packet(test);
	struct sim_rules *rules = test->priv;
	static const u32 want[] = { 3, 1, 2, 3, 3 };
	struct sim_verdict verdict;
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "nth=2 action=drop"));
	/* It also counts packets that the first rule decides about. */
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "nth=3 action=drop"));
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "attr=0x35 action=pass"));
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "action=drop"));
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		KUNIT_EXPECT_TRUE(test, sim_rules_judge(rules, packet,
							&verdict));
		KUNIT_EXPECT_EQ_MSG(test, verdict.rule, want[i], "packet %d",
				    i + 1);
	}
}

static void rules_verdicts(struct kunit *test)
{
	struct sim_packet *packet = sim_kunit_test_packet(test);
	struct sim_packet *before = sim_kunit_test_packet(test);
	struct sim_rules *rules = test->priv;
	struct sim_verdict v;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, packet);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, before);
	KUNIT_EXPECT_FALSE(test, sim_rules_judge(rules, packet, &v));
	KUNIT_EXPECT_EQ(test, v.action, SIM_PASS);
	KUNIT_EXPECT_EQ(test, v.delay_us, 0U);

	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "nth=1 action=dup"));
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "nth=2 action=dup copies=64 ms=3"));
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "nth=3 action=delay ms=60000"));
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "nth=4 action=reorder"));
	KUNIT_ASSERT_EQ(test, 0, sim_rules_add(rules, "nth=5 action=reorder behind=10000"));

	KUNIT_EXPECT_TRUE(test, sim_rules_judge(rules, packet, &v));
	KUNIT_EXPECT_EQ(test, v.action, SIM_DUP);
	KUNIT_EXPECT_EQ(test, v.copies, 1U);
	KUNIT_EXPECT_EQ(test, v.delay_us, 0U);
	KUNIT_EXPECT_TRUE(test, sim_rules_judge(rules, packet, &v));
	KUNIT_EXPECT_EQ(test, v.action, SIM_DUP);
	KUNIT_EXPECT_EQ(test, v.copies, 64U);
	KUNIT_EXPECT_EQ(test, v.delay_us, 3000U);
	KUNIT_EXPECT_TRUE(test, sim_rules_judge(rules, packet, &v));
	KUNIT_EXPECT_EQ(test, v.action, SIM_DELAY);
	KUNIT_EXPECT_EQ(test, v.delay_us, 60000000U);
	KUNIT_EXPECT_TRUE(test, sim_rules_judge(rules, packet, &v));
	KUNIT_EXPECT_EQ(test, v.action, SIM_REORDER);
	KUNIT_EXPECT_EQ(test, v.behind, 1U);
	KUNIT_EXPECT_TRUE(test, sim_rules_judge(rules, packet, &v));
	KUNIT_EXPECT_EQ(test, v.action, SIM_REORDER);
	KUNIT_EXPECT_EQ(test, v.behind, 10000U);
	KUNIT_EXPECT_EQ(test, memcmp(packet, before, struct_size(packet, mad, packet->len)), 0);
}

static struct kunit_case rules_cases[] = {
	KUNIT_CASE(rules_refused),
	KUNIT_CASE(rules_shown),
	KUNIT_CASE(rules_bounded),
	KUNIT_CASE_PARAM(rules_due, due_gen_params),
	KUNIT_CASE(rules_order),
	KUNIT_CASE(rules_verdicts),
	{}
};

static struct kunit_suite rules_suite = {
	.name = "sim_rules",
	.init = rules_env_init,
	.exit = rules_env_exit,
	.test_cases = rules_cases,
};

kunit_test_suite(rules_suite);
