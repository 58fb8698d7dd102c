// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "txn_env.h"

#include <linux/moduleparam.h>
#include <linux/random.h>

static unsigned long seed;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "Of the random tests, as an earlier run printed it (default: another one in each run)");

/* A class with nothing special about it. */
#define TXN_CLASS	9

/**
 * txn_env_init() - the suites' init: an empty table
 * @test: gets a &struct txn_env as its private data
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int txn_env_init(struct kunit *test)
{
	struct txn_env *env;

	env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	if (!env)
		return -ENOMEM;
	spin_lock_init(&env->lock);
	/* Not zero, which any forgotten member would be too. */
	env->now = ms_to_ktime(1000000);
	test->priv = env;
	umad_timers_init(&env->timers, &env->lock);
	umad_txn_table_init(&env->table, &env->timers);
	return 0;
}

/**
 * txn_env_exit() - the suites' exit
 * @test: has left the table empty, or the module warns
 *
 * Context: process.
 */
void txn_env_exit(struct kunit *test)
{
	struct txn_env *env = test->priv;

	if (!env)
		return;
	umad_txn_table_destroy(&env->table);
	umad_timers_destroy(&env->timers);
}

/**
 * txn_env_seed() - start a random sequence, and say how to have it again
 * @test: that wants one
 * @rnd: to be started
 *
 * Context: process.
 */
void txn_env_seed(struct kunit *test, struct rnd_state *rnd)
{
	u64 used = seed ?: get_random_u32();

	kunit_info(test, "seed=%llu\n", used);
	prandom_seed_state(rnd, used);
}

/**
 * txn_make() - a request to LID 1
 * @txn: to be filled in
 * @tid: its transaction ID, in host order
 * @timeout_ms: as in the ABI
 * @retries: as in the ABI
 *
 * Context: any.
 */
void txn_make(struct umad_txn *txn, u64 tid, u32 timeout_ms, u32 retries)
{
	const struct umad_addr dest = { .lid = cpu_to_be16(1) };
	const struct umad_txn_key key = {
		.tid = cpu_to_be64(tid),
		.mgmt_class = TXN_CLASS,
	};

	umad_txn_init(txn, &key, &dest, timeout_ms, retries);
}

/**
 * txn_add() - umad_txn_add() at the fake clock's time
 * @env: of the test
 * @txn: to be added
 * @refuse_duplicate: apply the duplicate rules
 *
 * Context: process.
 * Return: as umad_txn_add().
 */
int txn_add(struct txn_env *env, struct umad_txn *txn, bool refuse_duplicate)
{
	int ret;

	spin_lock(&env->lock);
	ret = umad_txn_add(&env->table, txn, refuse_duplicate, env->now);
	spin_unlock(&env->lock);
	return ret;
}

/**
 * txn_find() - umad_txn_find()
 * @env: of the test
 * @tid: in host order
 * @mgmt_class: 0 for that of txn_make()
 *
 * Context: process.
 * Return: as umad_txn_find().
 */
struct umad_txn *txn_find(struct txn_env *env, u64 tid, u8 mgmt_class)
{
	struct umad_txn *txn;

	spin_lock(&env->lock);
	txn = umad_txn_find(&env->table, cpu_to_be64(tid),
			    mgmt_class ?: TXN_CLASS);
	spin_unlock(&env->lock);
	return txn;
}

/**
 * txn_first_due() - umad_timers_first_due() at the fake clock's time
 * @env: of the test
 *
 * Context: process.
 * Return: the transaction that is overdue for longest, or NULL.
 */
struct umad_txn *txn_first_due(struct txn_env *env)
{
	struct umad_timer *timer;

	spin_lock(&env->lock);
	timer = umad_timers_first_due(&env->timers, env->now);
	spin_unlock(&env->lock);
	return timer ? container_of(timer, struct umad_txn, timer) : NULL;
}

/**
 * txn_next_deadline() - umad_timers_next()
 * @env: of the test
 *
 * Context: process.
 * Return: as umad_timers_next().
 */
ktime_t txn_next_deadline(struct txn_env *env)
{
	ktime_t next;

	spin_lock(&env->lock);
	next = umad_timers_next(&env->timers);
	spin_unlock(&env->lock);
	return next;
}

/**
 * txn_find_to() - umad_txn_find_to()
 * @env: of the test
 * @like: has the key and the destination that are looked for
 *
 * Context: process.
 * Return: as umad_txn_find_to().
 */
struct umad_txn *txn_find_to(struct txn_env *env, const struct umad_txn *like)
{
	struct umad_txn *txn;

	spin_lock(&env->lock);
	txn = umad_txn_find_to(&env->table, &like->key, &like->dest);
	spin_unlock(&env->lock);
	return txn;
}

/**
 * txn_hold() - umad_txn_hold()
 * @env: of the test
 * @txn: just added
 *
 * Context: process.
 */
void txn_hold(struct txn_env *env, struct umad_txn *txn)
{
	spin_lock(&env->lock);
	umad_txn_hold(&env->table, txn);
	spin_unlock(&env->lock);
}

/**
 * txn_attempt_done() - umad_txn_attempt_done() with the lock, now
 * @env: the table
 * @txn: a transaction
 *
 * Context: process.
 */
void txn_attempt_done(struct txn_env *env, struct umad_txn *txn)
{
	spin_lock(&env->lock);
	umad_txn_attempt_done(&env->table, txn, env->now);
	spin_unlock(&env->lock);
}

/**
 * txn_find_near() - umad_txn_find_near()
 * @env: of the test
 * @like: has the key and the destination that are looked for
 *
 * Context: process.
 * Return: as umad_txn_find_near().
 */
struct umad_txn *txn_find_near(struct txn_env *env, const struct umad_txn *like)
{
	struct umad_txn *txn;

	spin_lock(&env->lock);
	txn = umad_txn_find_near(&env->table, &like->key, &like->dest);
	spin_unlock(&env->lock);
	return txn;
}

/**
 * txn_wait_until() - umad_txn_wait_until()
 * @env: of the test
 * @txn: waits
 * @expires: on the fake clock
 *
 * Context: process.
 */
void txn_wait_until(struct txn_env *env, struct umad_txn *txn, ktime_t expires)
{
	spin_lock(&env->lock);
	umad_txn_wait_until(&env->table, txn, expires);
	spin_unlock(&env->lock);
}

/**
 * txn_step() - umad_txn_step() at the fake clock's time
 * @env: of the test
 * @txn: to be stepped
 * @event: what happens
 *
 * Context: process.
 * Return: as umad_txn_step().
 */
enum umad_txn_action txn_step(struct txn_env *env, struct umad_txn *txn,
			      enum umad_txn_event event)
{
	enum umad_txn_action action;

	spin_lock(&env->lock);
	action = umad_txn_step(&env->table, txn, event, env->now);
	spin_unlock(&env->lock);
	return action;
}
