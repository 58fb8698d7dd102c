/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A well-behaved process beside a hostile one, on the same port: it sends itself
 * requests and keeps a ledger of them. Each ends exactly once, each with the
 * right answer, or with a time-out where nobody serves it.
 */
#ifndef UMAD_FUZZ_LEDGER_H
#define UMAD_FUZZ_LEDGER_H

#include "umad_util.h"

/* In memory that both processes see. */
struct fuzz_ledger {
	int stop;
	int ready;
	pid_t pid;
	uint64_t sent, answered, timed_out, served;
	uint64_t longest_us;	/* the longest round trip */
	char fault[128];	/* what was wrong first, or empty */
};

struct fuzz_ledger *ledger_start(const struct test_port *port);
void ledger_stop(struct fuzz_ledger *ledger);

#endif /* UMAD_FUZZ_LEDGER_H */
