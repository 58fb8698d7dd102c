// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Charging a cgroup in a worker: nothing of it stays with that thread. */
#include "charge.h"

#include <kunit/test.h>

static void charge_is_over(struct kunit *test)
{
	/* Of nothing that is allocated meanwhile. */
	struct mem_cgroup *before = (struct mem_cgroup *)&before;
	struct mem_cgroup *file = (struct mem_cgroup *)&file, *after;
	struct mem_cgroup *own = set_active_memcg(before);
	struct umad_charge charge = umad_charge_begin(file);

	umad_charge_end(&charge);
	after = set_active_memcg(own);
	if (!IS_ENABLED(CONFIG_MEMCG))
		kunit_skip(test, "no cgroups of memory");
	KUNIT_EXPECT_PTR_EQ(test, after, before);
}

/* What is above memory.high is not the worker's. */
static void charge_throttles_nobody(struct kunit *test)
{
#ifdef CONFIG_MEMCG
	unsigned int own = current->memcg_nr_pages_over_high;
	struct umad_charge charge = umad_charge_begin(NULL);

	current->memcg_nr_pages_over_high += 5;
	umad_charge_end(&charge);
	KUNIT_EXPECT_EQ(test, current->memcg_nr_pages_over_high, own);
	current->memcg_nr_pages_over_high = own;
#else
	kunit_skip(test, "no cgroups of memory");
#endif
}

static struct kunit_case charge_cases[] = {
	KUNIT_CASE(charge_is_over),
	KUNIT_CASE(charge_throttles_nobody),
	{}
};

static struct kunit_suite charge_suite = {
	.name = "umad_charge",
	.test_cases = charge_cases,
};

kunit_test_suite(charge_suite);
