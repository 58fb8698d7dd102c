// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every request ends exactly once, and the module's counters say the same as
 * the ledger of the programs: requests answered once, twice, late or not at
 * all, refused, cancelled with their agent or file, as single MADs and as
 * messages of several segments. UMAD_SEED in the environment begins another
 * sequence, UMAD_REQUESTS sets its length.
 */
#include "kselftest_harness.h"
#include "ledger.h"

#include <stdio.h>

#define WORKERS	3

static const char *const counters[] = {
	"send_posted", "send_completed", "send_timed_out", "send_canceled",
	"send_refused",
};

FIXTURE(ledger) {
	struct test_port port;
	struct ledger_server server;
	struct ledger_worker workers[WORKERS];
	long before[ARRAY_SIZE(counters)];
};

FIXTURE_VARIANT(ledger) {
	bool messages;
};

FIXTURE_VARIANT_ADD(ledger, single_mads) {
	.messages = false,
};

FIXTURE_VARIANT_ADD(ledger, messages_too) {
	.messages = true,
};

static void count(FIXTURE_DATA(ledger) *self)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(counters); i++)
		self->before[i] = umad_counter(&self->port, counters[i]) -
				  self->before[i];
}

FIXTURE_SETUP(ledger)
{
	ASSERT_EQ(0, umad_port_find(&self->port));
	count(self);
}

FIXTURE_TEARDOWN(ledger)
{
}

TEST_F_TIMEOUT(ledger, every_request_ends_exactly_once, 300)
{
	const char *seed = getenv("UMAD_SEED"), *n = getenv("UMAD_REQUESTS");
	struct ledger_sums sums = { 0 };
	int i;

	self->server.ibdev = self->port.ibdev;
	self->server.seed = seed ? atoi(seed) : 1;
	ledger_server_start(&self->server);
	for (i = 0; i < WORKERS; i++) {
		self->workers[i].path = &self->port;
		self->workers[i].ibdev = self->port.ibdev;
		self->workers[i].seed = self->server.seed + 1 + i;
		self->workers[i].requests = n ? atoi(n) : 1500;
		self->workers[i].messages = variant->messages;
		ledger_worker_start(&self->workers[i]);
	}
	for (i = 0; i < WORKERS; i++) {
		EXPECT_TRUE(side_done(&self->workers[i].call, 200000));
		ledger_worker_stop(&self->workers[i]);
		ledger_print("worker", &self->workers[i].ledger.sums);
		ledger_add(&sums, &self->workers[i].ledger.sums);
	}
	ledger_server_stop(&self->server);
	ledger_print("all", &sums);
	EXPECT_TRUE(ledger_balanced(&sums));
	count(self);
	TH_LOG("seed %d, %lu responses", seed ? atoi(seed) : 1,
	       self->server.responses);
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		TH_LOG("%s: %ld", counters[i], self->before[i]);
	/* In-tree has no counters. */
	if (umad_counter(&self->port, counters[0]) < 0)
		return;
	/* Every send that ib_core got has ended, the server's as well. */
	EXPECT_EQ(sums.written + self->server.responses, self->before[0]);
	EXPECT_EQ(self->before[0],
		  self->before[1] + self->before[2] + self->before[3]);
	EXPECT_LE(sums.answered, self->before[1]);
	EXPECT_LE(sums.timed_out, self->before[2]);
}

TEST_HARNESS_MAIN
