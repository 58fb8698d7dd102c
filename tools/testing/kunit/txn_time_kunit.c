// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The deadline queue: its order, and when attempts are made and given up. */
#include "txn_env.h"

#include <linux/kernel.h>
#include <linux/string.h>

#define RANDOM		2000

static struct umad_txn *alloc_txns(struct kunit *test, unsigned int n)
{
	struct umad_txn *txns;

	txns = kunit_kcalloc(test, n, sizeof(*txns), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, txns);
	return txns;
}

/**
 * struct retry_case - a request that nobody answers
 * @name: of the case
 * @timeout_ms: of each attempt
 * @retries: after the first attempt
 */
struct retry_case {
	const char *name;
	u32 timeout_ms;
	u32 retries;
};

static const struct retry_case retry_cases[] = {
	{ "1 ms, 0 retries", 1, 0 },
	{ "100 ms, 0 retries", 100, 0 },
	{ "1 ms, 1 retry", 1, 1 },
	{ "100 ms, 3 retries", 100, 3 },
	{ "1000 ms, 5000 retries", 1000, 5000 },
	{ "longest timeout, 10 retries", S32_MAX, 10 },
};

static void retry_desc(const struct retry_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(retry, retry_cases, retry_desc);

/* retries + 1 attempts, timeout apart, and the report timeout after the last */
static void txn_retries_exact(struct kunit *test)
{
	const struct retry_case *c = test->param_value;
	struct umad_txn *txn = alloc_txns(test, 1);
	enum umad_txn_action action = UMAD_TXN_RETRY;
	struct txn_env *env = test->priv;
	u32 attempts = 1;
	ktime_t due;

	txn_make(txn, 1, c->timeout_ms, c->retries);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	due = env->now;
	for (;;) {
		due = ktime_add_ms(due, c->timeout_ms);
		KUNIT_ASSERT_EQ(test, txn_next_deadline(env), due);
		env->now = ktime_sub_ns(due, 1);
		KUNIT_ASSERT_NULL(test, txn_first_due(env));
		env->now = due;
		KUNIT_ASSERT_PTR_EQ(test, txn_first_due(env), txn);
		/* What ib_core says of the attempt changes nothing. */
		KUNIT_ASSERT_EQ(test, UMAD_TXN_NONE,
				txn_step(env, txn, UMAD_TXN_EV_SENT));
		action = txn_step(env, txn, UMAD_TXN_EV_DEADLINE);
		if (action != UMAD_TXN_RETRY || attempts > c->retries)
			break;
		/* It takes its time to leave, which is not the peer's. */
		KUNIT_ASSERT_EQ(test, txn_next_deadline(env), KTIME_MAX);
		env->now = ktime_add_ms(env->now, 7);
		txn_attempt_done(env, txn);
		due = env->now;
		attempts++;
	}
	KUNIT_EXPECT_EQ(test, action, UMAD_TXN_REPORT);
	KUNIT_EXPECT_EQ(test, attempts, c->retries + 1);
	KUNIT_EXPECT_EQ(test, txn->state, UMAD_TXN_EXPIRED);
	KUNIT_EXPECT_PTR_EQ(test, txn_find(env, 1, 0), NULL);
	txn_step(env, txn, UMAD_TXN_EV_CANCEL);
}

/* A work that runs late does not make the attempts follow in a burst. */
static void txn_late_clock(struct kunit *test)
{
	struct umad_txn *txn = alloc_txns(test, 1);
	struct txn_env *env = test->priv;

	txn_make(txn, 1, 100, 2);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	env->now = ktime_add_ms(env->now, 1000);
	KUNIT_EXPECT_PTR_EQ(test, txn_first_due(env), txn);
	KUNIT_EXPECT_EQ(test, UMAD_TXN_RETRY,
			txn_step(env, txn, UMAD_TXN_EV_DEADLINE));
	txn_attempt_done(env, txn);
	KUNIT_EXPECT_NULL(test, txn_first_due(env));
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env),
			ktime_add_ms(env->now, 100));
	txn_step(env, txn, UMAD_TXN_EV_CANCEL);
}

/* What is kept has no time until it is posted, and then all of it. */
static void txn_hold_starts_no_clock(struct kunit *test)
{
	struct umad_txn *txn = alloc_txns(test, 1);
	struct txn_env *env = test->priv;

	txn_make(txn, 1, 100, 1);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	txn_hold(env, txn);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), KTIME_MAX);
	KUNIT_EXPECT_PTR_EQ(test, txn_find(env, 1, 0), txn);
	env->now = ktime_add_ms(env->now, 1000);
	KUNIT_EXPECT_NULL(test, txn_first_due(env));
	txn_attempt_done(env, txn);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), ktime_add_ms(env->now, 100));
	env->now = txn_next_deadline(env);
	KUNIT_EXPECT_EQ(test, UMAD_TXN_RETRY, txn_step(env, txn, UMAD_TXN_EV_DEADLINE));
	txn_step(env, txn, UMAD_TXN_EV_CANCEL);

	/* An infinite timeout stays that. */
	txn_make(txn, 1, -1, 0);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	txn_hold(env, txn);
	txn_attempt_done(env, txn);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), KTIME_MAX);
	/* One that ends before it is posted has none either. */
	KUNIT_EXPECT_EQ(test, UMAD_TXN_DELIVER, txn_step(env, txn, UMAD_TXN_EV_RESPONSE));
	txn_attempt_done(env, txn);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), KTIME_MAX);
}

/* However it ends, an attempt that leaves afterwards sets no deadline. */
static void txn_attempt_outlives(struct kunit *test)
{
	struct umad_txn *txn = alloc_txns(test, 1);
	struct txn_env *env = test->priv;

	txn_make(txn, 1, 100, 2);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	env->now = txn_next_deadline(env);
	KUNIT_EXPECT_EQ(test, UMAD_TXN_RETRY,
			txn_step(env, txn, UMAD_TXN_EV_DEADLINE));
	KUNIT_EXPECT_EQ(test, UMAD_TXN_DELIVER,
			txn_step(env, txn, UMAD_TXN_EV_RESPONSE));
	txn_attempt_done(env, txn);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), KTIME_MAX);

	/* Nor one of a request whose last deadline has been set meanwhile. */
	txn_make(txn, 1, 100, 2);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	env->now = txn_next_deadline(env);
	KUNIT_EXPECT_EQ(test, UMAD_TXN_RETRY,
			txn_step(env, txn, UMAD_TXN_EV_DEADLINE));
	txn_wait_until(env, txn, ktime_add_ms(env->now, 5000));
	txn_attempt_done(env, txn);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env),
			ktime_add_ms(env->now, 5000));
	txn_step(env, txn, UMAD_TXN_EV_CANCEL);
}

/* The most retries there can be are counted, not wrapped. */
static void txn_retries_max(struct kunit *test)
{
	struct umad_txn *txn = alloc_txns(test, 1);
	struct txn_env *env = test->priv;
	unsigned int i;

	txn_make(txn, 1, S32_MAX, U32_MAX);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env),
			ktime_add_ms(env->now, S32_MAX));
	for (i = 1; i <= 3; i++) {
		env->now = txn_next_deadline(env);
		KUNIT_EXPECT_EQ(test, UMAD_TXN_RETRY,
				txn_step(env, txn, UMAD_TXN_EV_DEADLINE));
		KUNIT_EXPECT_EQ(test, txn->retries_left, U32_MAX - i);
		txn_attempt_done(env, txn);
	}
	txn_step(env, txn, UMAD_TXN_EV_CANCEL);
}

/**
 * struct timeout_case - a timeout that has no deadline
 * @name: of the case
 * @timeout_ms: as in the ABI
 * @state: it is in then
 */
struct timeout_case {
	const char *name;
	u32 timeout_ms;
	enum umad_txn_state state;
};

static const struct timeout_case timeout_cases[] = {
	{ "no response", 0, UMAD_TXN_SEND },
	{ "0x80000000", 0x80000000, UMAD_TXN_WAIT },
	{ "0x80000001", 0x80000001, UMAD_TXN_WAIT },
	{ "-1", 0xffffffff, UMAD_TXN_WAIT },
};

static void timeout_desc(const struct timeout_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(timeout, timeout_cases, timeout_desc);

/* It ends at its deadline, where nothing is to listen for a late response. */
static void txn_no_late(struct kunit *test)
{
	struct umad_txn *txn = alloc_txns(test, 1);
	struct txn_env *env = test->priv;

	txn_make(txn, 1, 20, 0);
	txn->no_late = true;
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	KUNIT_EXPECT_EQ(test, txn_step(env, txn, UMAD_TXN_EV_DEADLINE), UMAD_TXN_REPORT);
	KUNIT_EXPECT_EQ(test, txn->state, UMAD_TXN_DONE);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), KTIME_MAX);
	KUNIT_EXPECT_EQ(test, txn_step(env, txn, UMAD_TXN_EV_RESPONSE), UMAD_TXN_UNMATCHED);
}

static void txn_no_deadline(struct kunit *test)
{
	const struct timeout_case *c = test->param_value;
	struct umad_txn *txn = alloc_txns(test, 1);
	struct txn_env *env = test->priv;

	txn_make(txn, 1, c->timeout_ms, 7);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	KUNIT_EXPECT_EQ(test, txn->state, c->state);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), KTIME_MAX);
	env->now = KTIME_MAX;
	KUNIT_EXPECT_NULL(test, txn_first_due(env));
	txn_step(env, txn, UMAD_TXN_EV_CANCEL);
}

/* A request that was given up listens for a while, then ends by itself. */
static void txn_late_window(struct kunit *test)
{
	struct umad_txn *txn = alloc_txns(test, 1);
	struct txn_env *env = test->priv;

	txn_make(txn, 1, 20, 0);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	env->now = ktime_add_ms(env->now, 30);
	KUNIT_EXPECT_EQ(test, UMAD_TXN_REPORT,
			txn_step(env, txn, UMAD_TXN_EV_DEADLINE));
	KUNIT_EXPECT_EQ(test, env->table.count, 0);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env),
			ktime_add_ms(env->now, TXN_LATE_MS));
	KUNIT_EXPECT_NULL(test, txn_first_due(env));
	env->now = ktime_add_ms(env->now, TXN_LATE_MS);
	KUNIT_EXPECT_PTR_EQ(test, txn_first_due(env), txn);
	KUNIT_EXPECT_EQ(test, UMAD_TXN_NONE,
			txn_step(env, txn, UMAD_TXN_EV_DEADLINE));
	KUNIT_EXPECT_EQ(test, txn->state, UMAD_TXN_DONE);
	KUNIT_EXPECT_NULL(test, txn_first_due(env));
}

/* A message of several segments: its deadline comes when all are sent. */
static void txn_held(struct kunit *test)
{
	struct umad_txn *txn = alloc_txns(test, 1);
	struct txn_env *env = test->priv;
	ktime_t due;

	txn_make(txn, 1, 100, 5);
	txn->no_deadline = true;
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	KUNIT_EXPECT_EQ(test, txn->state, UMAD_TXN_WAIT);
	KUNIT_EXPECT_PTR_EQ(test, txn_find(env, 1, 0), txn);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), KTIME_MAX);

	due = ktime_add_ms(env->now, 300);
	txn_wait_until(env, txn, due);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), due);
	/* It may be moved either way, and taken away. */
	due = ktime_add_ms(env->now, 50);
	txn_wait_until(env, txn, due);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), due);
	txn_wait_until(env, txn, KTIME_MAX);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), KTIME_MAX);
	due = ktime_add_ms(env->now, 200);
	txn_wait_until(env, txn, due);

	/* And it is the last: the segments were what there was to send. */
	env->now = due;
	KUNIT_EXPECT_PTR_EQ(test, txn_first_due(env), txn);
	KUNIT_EXPECT_EQ(test, UMAD_TXN_REPORT,
			txn_step(env, txn, UMAD_TXN_EV_DEADLINE));
	KUNIT_EXPECT_EQ(test, txn->state, UMAD_TXN_EXPIRED);
	txn_step(env, txn, UMAD_TXN_EV_CANCEL);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), KTIME_MAX);
}

/* As its response's segments come, without moving for each of them. */
static void txn_put_off(struct kunit *test)
{
	struct umad_txn *txn = alloc_txns(test, 1);
	struct txn_env *env = test->priv;
	ktime_t wait = ms_to_ktime(800), due;

	txn_make(txn, 1, 5000, 5);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	spin_lock(&env->lock);
	umad_txn_put_off(&env->table, txn, env->now, wait);
	/* No attempt follows, however far away the next one was. */
	KUNIT_EXPECT_EQ(test, txn->retries_left, 0u);
	due = ktime_add_ms(env->now, 900);
	KUNIT_EXPECT_EQ(test, umad_timers_next(&env->timers), due);
	env->now = ktime_add_ms(env->now, 100);
	umad_txn_put_off(&env->table, txn, env->now, wait);
	KUNIT_EXPECT_EQ(test, umad_timers_next(&env->timers), due);
	env->now = ktime_add_ms(env->now, 1);
	umad_txn_put_off(&env->table, txn, env->now, wait);
	due = ktime_add_ms(env->now, 900);
	KUNIT_EXPECT_EQ(test, umad_timers_next(&env->timers), due);
	/* It has failed: sooner than that, and once more. */
	due = ktime_add_ms(env->now, 200);
	umad_txn_resume(&env->table, txn, due, 1);
	spin_unlock(&env->lock);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), due);
	env->now = due;
	KUNIT_EXPECT_EQ(test, UMAD_TXN_RETRY, txn_step(env, txn, UMAD_TXN_EV_DEADLINE));
	KUNIT_EXPECT_EQ(test, txn->retries_left, 0u);
	txn_step(env, txn, UMAD_TXN_EV_CANCEL);
}

static void add_random(struct kunit *test, struct umad_txn *txns,
		       struct rnd_state *rnd)
{
	struct txn_env *env = test->priv;
	unsigned int i;
	u32 timeout;

	for (i = 0; i < RANDOM; i++) {
		/* Many deadlines stand there twice. */
		timeout = 1 + prandom_u32_state(rnd) % (2 * RANDOM);
		txn_make(&txns[i], i, timeout, prandom_u32_state(rnd) % 3);
		KUNIT_ASSERT_EQ(test, txn_add(env, &txns[i], true), 0);
	}
}

/* The earliest deadline, found the slow way. */
static ktime_t earliest(const struct umad_txn *txns)
{
	ktime_t min = KTIME_MAX;
	unsigned int i;

	for (i = 0; i < RANDOM; i++)
		if (txns[i].state == UMAD_TXN_WAIT)
			min = min_t(ktime_t, min, txns[i].timer.node.expires);
	return min;
}

/* Responses, cancels and expiry in any order leave the queue right. */
static void txn_deadlines_random(struct kunit *test)
{
	struct umad_txn *txns = alloc_txns(test, RANDOM), *txn;
	struct txn_env *env = test->priv;
	enum umad_txn_event event;
	ktime_t last = env->now;
	unsigned int n = 0;
	struct rnd_state rnd;

	txn_env_seed(test, &rnd);
	add_random(test, txns, &rnd);
	while (env->table.count) {
		if (++n % 64 == 1)
			KUNIT_ASSERT_EQ(test, txn_next_deadline(env),
					earliest(txns));
		/* Some end before their time. */
		txn = &txns[prandom_u32_state(&rnd) % RANDOM];
		if (n % 8 == 0 && txn->state == UMAD_TXN_WAIT) {
			event = n % 16 ? UMAD_TXN_EV_RESPONSE :
					 UMAD_TXN_EV_CANCEL;
			txn_step(env, txn, event);
			KUNIT_ASSERT_EQ(test, txn->state, UMAD_TXN_DONE);
			continue;
		}
		env->now = txn_next_deadline(env);
		KUNIT_ASSERT_GE(test, env->now, last);
		last = env->now;
		txn = txn_first_due(env);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, txn);
		KUNIT_ASSERT_EQ(test, txn->timer.node.expires, env->now);
		txn_step(env, txn, UMAD_TXN_EV_DEADLINE);
		/* Those given up would only be in the way here. */
		if (txn->state == UMAD_TXN_EXPIRED)
			txn_step(env, txn, UMAD_TXN_EV_CANCEL);
		else
			txn_attempt_done(env, txn);
	}
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), KTIME_MAX);
	KUNIT_EXPECT_GT(test, n, RANDOM);
}

/* A long sleep: all are overdue at once, and come in order all the same. */
static void txn_deadlines_in_order(struct kunit *test)
{
	struct umad_txn *txns = alloc_txns(test, RANDOM), *txn;
	struct txn_env *env = test->priv;
	ktime_t last = env->now;
	unsigned int n = 0;
	struct rnd_state rnd;

	txn_env_seed(test, &rnd);
	add_random(test, txns, &rnd);
	env->now = ktime_add_ms(env->now, 10 * RANDOM);
	while ((txn = txn_first_due(env))) {
		KUNIT_ASSERT_GE(test, txn->timer.node.expires, last);
		last = txn->timer.node.expires;
		txn_step(env, txn, UMAD_TXN_EV_RESPONSE);
		n++;
	}
	KUNIT_EXPECT_EQ(test, n, RANDOM);
	KUNIT_EXPECT_EQ(test, env->table.count, 0);
}

/* A timer of another owner in the queue: too early a deadline may stay. */
static void txn_timer_put_off(struct kunit *test)
{
	struct txn_env *env = test->priv;
	ktime_t soon = ktime_add_ms(env->now, 10), late = ktime_add_ms(env->now, 20);
	struct umad_timer timer;

	umad_timer_init(&timer, NULL);
	spin_lock(&env->lock);
	KUNIT_EXPECT_FALSE(test, umad_timer_is_set(&timer));
	umad_timer_put_off(&env->timers, &timer, late);
	KUNIT_EXPECT_EQ(test, umad_timers_next(&env->timers), late);
	umad_timer_put_off(&env->timers, &timer, soon);
	KUNIT_EXPECT_EQ(test, umad_timers_next(&env->timers), soon);
	umad_timer_put_off(&env->timers, &timer, late);
	KUNIT_EXPECT_EQ(test, umad_timers_next(&env->timers), soon);
	umad_timer_set(&env->timers, &timer, late);
	KUNIT_EXPECT_EQ(test, umad_timers_next(&env->timers), late);
	umad_timer_put_off(&env->timers, &timer, KTIME_MAX);
	KUNIT_EXPECT_FALSE(test, umad_timer_is_set(&timer));
	spin_unlock(&env->lock);
}

static struct kunit_case time_cases[] = {
	KUNIT_CASE_PARAM(txn_retries_exact, retry_gen_params),
	KUNIT_CASE(txn_late_clock),
	KUNIT_CASE(txn_retries_max),
	KUNIT_CASE(txn_no_late),
	KUNIT_CASE_PARAM(txn_no_deadline, timeout_gen_params),
	KUNIT_CASE(txn_late_window),
	KUNIT_CASE(txn_held),
	KUNIT_CASE(txn_put_off),
	KUNIT_CASE(txn_hold_starts_no_clock),
	KUNIT_CASE(txn_attempt_outlives),
	KUNIT_CASE(txn_deadlines_random),
	KUNIT_CASE(txn_deadlines_in_order),
	KUNIT_CASE(txn_timer_put_off),
	{}
};

static struct kunit_suite time_suite = {
	.name = "umad_txn_time",
	.init = txn_env_init,
	.exit = txn_env_exit,
	.test_cases = time_cases,
};

kunit_test_suite(time_suite);
