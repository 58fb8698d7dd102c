// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* How often a task has asked for memory before it gives up. */
#include "askers.h"

#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

#define NOW	1000ul
#define MANY	(2 * UMAD_ASKERS)

static const char tasks[MANY]; /* of which only the addresses count */

static struct umad_askers *new_askers(struct kunit *test)
{
	struct umad_askers *askers = kunit_kzalloc(test, sizeof(*askers), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, askers);
	umad_askers_init(askers);
	return askers;
}

static void askers_count_of_one_fault(struct kunit *test)
{
	struct umad_askers *askers = new_askers(test);
	unsigned int i;

	for (i = 1; i < 20; i++)
		KUNIT_EXPECT_EQ(test, umad_askers_note(askers, tasks, 7, NOW + i), i);
}

static void askers_begin_again_with_the_next_fault(struct kunit *test)
{
	struct umad_askers *askers = new_askers(test);

	umad_askers_note(askers, tasks, 7, NOW);
	KUNIT_EXPECT_EQ(test, umad_askers_note(askers, tasks, 7, NOW), 2);
	KUNIT_EXPECT_EQ(test, umad_askers_note(askers, tasks, 8, NOW), 1);
	KUNIT_EXPECT_EQ(test, umad_askers_note(askers, tasks, 8, NOW), 2);
}

static void askers_are_counted_each(struct kunit *test)
{
	struct umad_askers *askers = new_askers(test);
	unsigned int i, n;

	for (n = 1; n < 20; n++)
		for (i = 0; i < UMAD_ASKERS; i++)
			KUNIT_EXPECT_EQ(test, umad_askers_note(askers, tasks + i, 7, NOW), n);
}

/* All in vain: one counts as having asked 12 times before it has 17 times, and is killed. */
static void askers_in_vain_are_too_many(struct kunit *test)
{
	struct umad_askers *askers = new_askers(test);
	unsigned int i, n, most = 0;

	for (n = 0; n < 16; n++)
		for (i = 0; i < MANY; i++)
			most = max(most, umad_askers_note(askers, tasks + i, 7, NOW));
	KUNIT_EXPECT_GE(test, most, 12);
}

/* Each gets what it asks for. */
static void askers_with_success_are_many(struct kunit *test)
{
	struct umad_askers *askers = new_askers(test);
	unsigned int i, n, most = 0;

	for (n = 0; n < 100; n++)
		for (i = 0; i < UMAD_ASKERS; i++)
			most = max(most, umad_askers_note(askers, tasks + i, n, NOW));
	KUNIT_EXPECT_EQ(test, most, 1);
}

static void askers_are_forgotten(struct kunit *test)
{
	struct umad_askers *askers = new_askers(test);
	unsigned long later = NOW + 5 * HZ;
	unsigned int i;

	for (i = 0; i < UMAD_ASKERS; i++)
		umad_askers_note(askers, tasks + i, 7, NOW);
	KUNIT_EXPECT_EQ(test, umad_askers_note(askers, tasks, 7, later), 2);
	KUNIT_EXPECT_EQ(test, umad_askers_note(askers, tasks + 1, 7, later + 1), 1);
	KUNIT_EXPECT_EQ(test, umad_askers_note(askers, tasks + UMAD_ASKERS, 7, later + 1), 1);
}

static struct kunit_case askers_cases[] = {
	KUNIT_CASE(askers_count_of_one_fault),
	KUNIT_CASE(askers_begin_again_with_the_next_fault),
	KUNIT_CASE(askers_are_counted_each),
	KUNIT_CASE(askers_in_vain_are_too_many),
	KUNIT_CASE(askers_with_success_are_many),
	KUNIT_CASE(askers_are_forgotten),
	{}
};

static struct kunit_suite askers_suite = {
	.name = "umad_askers",
	.test_cases = askers_cases,
};

kunit_test_suite(askers_suite);
