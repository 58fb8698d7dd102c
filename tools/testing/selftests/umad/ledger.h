/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Every request ends exactly once: answered, timed out, refused by write(), or
 * cancelled by its owner. A ledger counts, for a worker that writes requests of
 * all kinds and a server that answers them as it likes.
 */
#ifndef UMAD_LEDGER_H
#define UMAD_LEDGER_H

#include "rmpp_util.h"

#define LEDGER_SLOTS	4096	/* requests of a file that are remembered */

enum ledger_state {
	LEDGER_NONE,
	LEDGER_OUT,
	LEDGER_CANCELLED,
	LEDGER_ENDED,
};

struct ledger_sums {
	unsigned long written, answered, timed_out, refused, cancelled;
	/* What must not be. */
	unsigned long twice, unknown, damaged, wrong_errno;
};

/* Of one open file; the sums are of all files of a worker. */
struct ledger {
	struct {
		uint32_t tid;
		uint32_t agent;
		enum ledger_state state;
	} slots[LEDGER_SLOTS];
	unsigned int out;
	uint32_t next_tid;
	struct ledger_sums sums;
};

struct ledger_worker {
	const struct test_port *path;	/* from its port to its server's */
	const char *ibdev;
	unsigned int seed;
	unsigned int requests;		/* to be written, 0: until @stop */
	bool removals;			/* the device comes and goes */
	bool messages;			/* of several segments, too */
	int stop;
	int fd;
	struct ledger ledger;
	struct rmpp_msg msg, got;
	unsigned long opens;
	struct side_call call;
};

struct ledger_server {
	const char *ibdev;
	unsigned int seed;
	bool removals;
	int stop;
	int fd;
	unsigned long requests, responses, opens;
	struct rmpp_msg msg, reply;
	struct side_call call;
};

void ledger_wrote(struct ledger *ledger, uint32_t agent, uint32_t tid);
void ledger_read(struct ledger *ledger, uint32_t tid, uint32_t status);
void ledger_cancel(struct ledger *ledger, int agent);
void ledger_add(struct ledger_sums *sums, const struct ledger_sums *more);
bool ledger_balanced(const struct ledger_sums *sums);
void ledger_print(const char *who, const struct ledger_sums *sums);

void ledger_worker_start(struct ledger_worker *worker);
void ledger_worker_stop(struct ledger_worker *worker);
void ledger_server_start(struct ledger_server *server);
void ledger_server_stop(struct ledger_server *server);

#endif /* UMAD_LEDGER_H */
