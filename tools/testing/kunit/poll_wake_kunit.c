// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The work that wakes pollers: it does not outlive its file. */
#include "poll_wake.h"
#include "rxq.h"

#include <kunit/test.h>
#include <linux/limits.h>

/* A process that has had its part is woken 10 s later; the debug kernel sees a freed timer. */
static void poll_wake_that_is_to_come_is_cancelled(struct kunit *test)
{
	struct umad_rxq *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);
	atomic64_t paid_at = ATOMIC64_INIT(S64_MAX / 2);
	struct umad_poll_wake *wake = NULL;

	KUNIT_ASSERT_NOT_NULL(test, q);
	umad_rxq_init(q, 1000);
	umad_poll_wake_soon(&wake, q, &paid_at);
	KUNIT_ASSERT_NOT_NULL(test, wake);
	umad_poll_wake_free(wake);
}

static void poll_wake_of_nothing(struct kunit *test)
{
	umad_poll_wake_free(NULL);
}

static struct kunit_case poll_wake_cases[] = {
	KUNIT_CASE(poll_wake_that_is_to_come_is_cancelled),
	KUNIT_CASE(poll_wake_of_nothing),
	{}
};

static struct kunit_suite poll_wake_suite = {
	.name = "umad_poll_wake",
	.test_cases = poll_wake_cases,
};

kunit_test_suite(poll_wake_suite);
