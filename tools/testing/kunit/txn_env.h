/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A transaction table with a lock and a clock of its own, for the suites
 * about txn.c. The calls take the lock as the module's owner of a table does.
 */
#ifndef UMAD_KUNIT_TXN_ENV_H
#define UMAD_KUNIT_TXN_ENV_H

#include <kunit/test.h>
#include <linux/prandom.h>
#include "txn.h"

/* How many events there are. */
#define TXN_EVENTS	(UMAD_TXN_EV_UNDELIVERED + 1)

/* A request that was given up listens for so long, in ms. */
#define TXN_LATE_MS	5000

/**
 * struct txn_env - a table under test
 * @lock: the table's
 * @timers: its deadlines
 * @table: under test
 * @now: the fake clock, moved by the test
 */
struct txn_env {
	spinlock_t lock;	/* as &umad_file.lock */
	struct umad_timers timers;
	struct umad_txn_table table;
	ktime_t now;
};

int txn_env_init(struct kunit *test);
void txn_env_exit(struct kunit *test);
void txn_env_seed(struct kunit *test, struct rnd_state *rnd);

void txn_make(struct umad_txn *txn, u64 tid, u32 timeout_ms, u32 retries);
int txn_add(struct txn_env *env, struct umad_txn *txn, bool refuse_duplicate);
struct umad_txn *txn_find(struct txn_env *env, u64 tid, u8 mgmt_class);
struct umad_txn *txn_first_due(struct txn_env *env);
ktime_t txn_next_deadline(struct txn_env *env);
struct umad_txn *txn_find_to(struct txn_env *env, const struct umad_txn *like);
struct umad_txn *txn_find_near(struct txn_env *env,
			       const struct umad_txn *like);
void txn_wait_until(struct txn_env *env, struct umad_txn *txn, ktime_t expires);
void txn_hold(struct txn_env *env, struct umad_txn *txn);
void txn_attempt_done(struct txn_env *env, struct umad_txn *txn);
enum umad_txn_action txn_step(struct txn_env *env, struct umad_txn *txn,
			      enum umad_txn_event event);

#endif /* UMAD_KUNIT_TXN_ENV_H */
