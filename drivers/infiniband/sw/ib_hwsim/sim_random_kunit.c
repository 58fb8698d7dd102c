// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Random faults: settings, frequencies, and repeatability. */
#include "sim_random.h"

#include <kunit/test.h>
#include <linux/string.h>
#include "sim_kunit.h"

#define PACKETS	20000

static int random_env_init(struct kunit *test)
{
	struct sim_random *random;

	random = kunit_kzalloc(test, sizeof(*random), GFP_KERNEL);
	if (!random)
		return -ENOMEM;
	test->priv = random;
	sim_random_init(random);
	return 0;
}

/**
 * struct set_case - a line of settings
 * @line: as written
 * @want: as read after that, or NULL if the line is refused
 */
struct set_case {
	const char *line;
	const char *want;
};

#define NOTHING "# judged=0 dropped=0 duplicated=0 reordered=0\n"

static const struct set_case set_cases[] = {
	{ "drop=1% seed=7", "drop=1.0000% seed=7\n" NOTHING },
	{ "drop=100% seed=7", "drop=100.0000% seed=7\n" NOTHING },
	{ "drop=0.5% seed=7", "drop=0.5000% seed=7\n" NOTHING },
	{ "drop=.25% seed=7", "drop=0.2500% seed=7\n" NOTHING },
	{ "drop=0.0001% seed=7", "drop=0.0001% seed=7\n" NOTHING },
	{ "drop=99.9999% seed=7", "drop=99.9999% seed=7\n" NOTHING },
	{ " dup=1.50%\treorder=2% seed=0xff\n",
	  "dup=1.5000% reorder=2.0000% behind=1 seed=255\n" NOTHING },
	{ "reorder=2% behind=3 seed=1",
	  "reorder=2.0000% behind=3 seed=1\n" NOTHING },
	{ "delay=10ms jitter=5ms seed=1",
	  "delay=10000us jitter=5000us seed=1\n" NOTHING },
	{ "delay=10 jitter=500us seed=1",
	  "delay=10000us jitter=500us seed=1\n" NOTHING },
	{ "delay=60s seed=1", "delay=60000000us seed=1\n" NOTHING },
	{ "", "off seed=0\n" NOTHING },
	{ "off", "off seed=0\n" NOTHING },
	{ "seed=4294967295", "off seed=4294967295\n" NOTHING },
	{ "drop=1" },
	{ "drop=%" },
	{ "drop=.%" },
	{ "drop=-1%" },
	{ "drop=1%%" },
	{ "drop=101%" },
	{ "drop=100.1%" },
	{ "drop=4294967297%" },
	{ "drop=0.00001%" },
	{ "drop" },
	{ "loss=1%" },
	{ "delay=ms" },
	{ "delay=1h" },
	{ "delay=61s" },
	{ "delay=18446744073709551617" },
	{ "jitter=1.5ms" },
	{ "behind=x" },
	{ "seed=" },
	{ "seed=4294967296" },
};

static void set_desc(const struct set_case *c, char *desc)
{
	strscpy(desc, c->line, KUNIT_PARAM_DESC_SIZE);
	strreplace(desc, '\n', ' ');
}

KUNIT_ARRAY_PARAM(set, set_cases, set_desc);

static void random_set(struct kunit *test)
{
	struct sim_random *random = test->priv;
	const struct set_case *c = test->param_value;
	const char *want = c->want ?: "drop=3.0000% seed=9\n" NOTHING;
	struct seq_file s;
	char *text = sim_kunit_show(test, &s);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, text);
	/* A line that is refused changes nothing. */
	KUNIT_ASSERT_EQ(test, 0, sim_random_set(random, "drop=3% seed=9"));
	KUNIT_EXPECT_EQ(test, c->want ? 0 : -EINVAL,
			sim_random_set(random, c->line));
	sim_random_show(random, &s);
	KUNIT_EXPECT_STREQ(test, text, want);
}

/* A hash of all decisions about PACKETS packets. */
static u64 run(struct sim_random *random)
{
	struct sim_verdict v;
	u64 all = 0;
	int i;

	for (i = 0; i < PACKETS; i++) {
		sim_random_judge(random, &v);
		all = all * 31 + v.action * 7 + v.delay_us;
	}
	return all;
}

static void random_repeats(struct kunit *test)
{
	static const char line[] = "drop=1% dup=2% reorder=3% delay=1ms jitter=5ms seed=42";
	struct sim_random *random = test->priv;
	u64 first, other;

	KUNIT_ASSERT_EQ(test, 0, sim_random_set(random, line));
	first = run(random);
	other = run(random);
	KUNIT_EXPECT_NE(test, first, other);
	KUNIT_ASSERT_EQ(test, 0, sim_random_set(random, line));
	KUNIT_EXPECT_EQ(test, first, run(random));
	sim_random_reseed(random, 42);
	KUNIT_EXPECT_EQ(test, first, run(random));
	sim_random_reseed(random, 43);
	KUNIT_EXPECT_EQ(test, 43U, sim_random_seed(random));
	KUNIT_EXPECT_NE(test, first, run(random));
}

/* A seed that was chosen makes the same decisions again. */
static void random_chosen_seed(struct kunit *test)
{
	struct sim_random *random = test->priv;
	u64 first;

	KUNIT_ASSERT_EQ(test, 0, sim_random_set(random, "drop=10% jitter=1ms"));
	first = run(random);
	sim_random_reseed(random, sim_random_seed(random));
	KUNIT_EXPECT_EQ(test, first, run(random));
}

/* A packet that is lost draws as many numbers as one that is not. */
static void random_independent(struct kunit *test)
{
	struct sim_random *random = test->priv;
	struct sim_verdict v;
	u32 *jitter;
	int i;

	jitter = kunit_kcalloc(test, PACKETS, sizeof(*jitter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, jitter);
	KUNIT_ASSERT_EQ(test, 0, sim_random_set(random, "jitter=1s seed=3"));
	for (i = 0; i < PACKETS; i++) {
		sim_random_judge(random, &v);
		KUNIT_EXPECT_EQ(test, v.action, SIM_PASS);
		jitter[i] = v.delay_us;
	}
	KUNIT_ASSERT_EQ(test, 0, sim_random_set(random, "drop=50% dup=50% jitter=1s seed=3"));
	for (i = 0; i < PACKETS; i++) {
		sim_random_judge(random, &v);
		KUNIT_ASSERT_EQ(test, jitter[i], v.delay_us);
	}
}

static void random_rates(struct kunit *test)
{
	static const char line[] =
		"drop=10% dup=5% reorder=20% behind=4 delay=10ms jitter=5ms seed=1";
	u32 count[SIM_ACTIONS] = {}, least = U32_MAX, most = 0;
	struct sim_random *random = test->priv;
	struct sim_verdict v;
	u64 sum = 0;
	int i;

	KUNIT_ASSERT_EQ(test, 0, sim_random_set(random, line));
	for (i = 0; i < PACKETS; i++) {
		sim_random_judge(random, &v);
		count[v.action]++;
		least = min(least, v.delay_us);
		most = max(most, v.delay_us);
		sum += v.delay_us;
		if (v.action == SIM_REORDER)
			KUNIT_EXPECT_EQ(test, v.behind, 4U);
		if (v.action == SIM_DUP)
			KUNIT_EXPECT_EQ(test, v.copies, 1U);
		KUNIT_EXPECT_EQ(test, v.rule, 0U);
	}
	/* 5 standard deviations to either side */
	KUNIT_EXPECT_GT(test, count[SIM_DROP], 2000U - 213);
	KUNIT_EXPECT_LT(test, count[SIM_DROP], 2000U + 213);
	KUNIT_EXPECT_GT(test, count[SIM_DUP], 900U - 147);
	KUNIT_EXPECT_LT(test, count[SIM_DUP], 900U + 147);
	KUNIT_EXPECT_GT(test, count[SIM_REORDER], 3420U - 267);
	KUNIT_EXPECT_LT(test, count[SIM_REORDER], 3420U + 267);
	KUNIT_EXPECT_EQ(test, random->dropped, (u64)count[SIM_DROP]);
	KUNIT_EXPECT_EQ(test, random->duplicated, (u64)count[SIM_DUP]);
	KUNIT_EXPECT_EQ(test, random->reordered, (u64)count[SIM_REORDER]);
	KUNIT_EXPECT_EQ(test, random->judged, (u64)PACKETS);
	KUNIT_EXPECT_GE(test, least, 10000U);
	KUNIT_EXPECT_LT(test, least, 10010U);
	KUNIT_EXPECT_LE(test, most, 15000U);
	KUNIT_EXPECT_GT(test, most, 14990U);
	KUNIT_EXPECT_GT(test, sum, 12400ULL * PACKETS);
	KUNIT_EXPECT_LT(test, sum, 12600ULL * PACKETS);
}

static void random_extremes(struct kunit *test)
{
	struct sim_random *random = test->priv;
	struct sim_verdict v;
	int i;

	/* Initially off. */
	sim_random_judge(random, &v);
	KUNIT_EXPECT_EQ(test, v.action, SIM_PASS);
	KUNIT_EXPECT_EQ(test, random->judged, 0ULL);
	KUNIT_ASSERT_EQ(test, 0, sim_random_set(random, "drop=100%"));
	for (i = 0; i < PACKETS; i++) {
		sim_random_judge(random, &v);
		KUNIT_ASSERT_EQ(test, v.action, SIM_DROP);
	}
	KUNIT_ASSERT_EQ(test, 0, sim_random_set(random, "drop=0% delay=1us"));
	for (i = 0; i < PACKETS; i++) {
		sim_random_judge(random, &v);
		KUNIT_ASSERT_EQ(test, v.action, SIM_PASS);
		KUNIT_ASSERT_EQ(test, v.delay_us, 1U);
	}
}

static struct kunit_case random_cases[] = {
	KUNIT_CASE_PARAM(random_set, set_gen_params),
	KUNIT_CASE(random_repeats),
	KUNIT_CASE(random_chosen_seed),
	KUNIT_CASE(random_independent),
	KUNIT_CASE(random_rates),
	KUNIT_CASE(random_extremes),
	{}
};

static struct kunit_suite random_suite = {
	.name = "sim_random",
	.init = random_env_init,
	.test_cases = random_cases,
};

kunit_test_suite(random_suite);
