// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The transaction table: duplicates, lookups, tens of thousands of entries. */
#include "txn_env.h"

#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>

/* An address handle for each send is what bounds rxe at about this many. */
#define MANY		30000
#define CHUNK		1000
#define FOREVER		0x80000000

/**
 * struct dup_send - what the duplicate rules look at, and the timeout
 * @tid: transaction ID
 * @mgmt_class: management class
 * @response: the MAD is a response
 * @timeout_ms: as in the ABI
 * @dest: where it goes
 */
struct dup_send {
	u64 tid;
	u8 mgmt_class;
	bool response;
	u32 timeout_ms;
	struct umad_addr dest;
};

/**
 * struct dup_case - may the second be outstanding beside the first?
 * @name: of the case
 * @first: added without question
 * @second: added then
 * @raw: the second is a segment of a program's own RMPP
 * @want: what adding the second returns
 */
struct dup_case {
	const char *name;
	struct dup_send first;
	struct dup_send second;
	bool raw;
	int want;
};

#define LID(n)		{ .lid = cpu_to_be16(n) }
#define GID(n, l)	{ .lid = cpu_to_be16(l), .grh = true, .gid = { \
				0xfd, [15] = (n) } }
#define REQUEST(tid, mgmt_class, dest)	{ tid, mgmt_class, false, 100, dest }
#define RESPONSE(tid, mgmt_class, dest)	{ tid, mgmt_class, true, 0, dest }

static const struct dup_case dup_cases[] = {
	{ "request, same", REQUEST(7, 3, LID(1)), REQUEST(7, 3, LID(1)),
	  .want = -EINVAL },
	{ "request, other LID", REQUEST(7, 3, LID(1)), REQUEST(7, 3, LID(2)),
	  .want = -EINVAL },
	{ "request, other GID", REQUEST(7, 3, GID(1, 0)),
	  REQUEST(7, 3, GID(2, 0)), .want = -EINVAL },
	{ "request, GID and LID", REQUEST(7, 3, LID(1)),
	  REQUEST(7, 3, GID(2, 0)), .want = -EINVAL },
	{ "request, other class", REQUEST(7, 3, LID(1)),
	  REQUEST(7, 4, LID(1)) },
	{ "request, other low TID", REQUEST(7, 3, LID(1)),
	  REQUEST(8, 3, LID(1)) },
	{ "request, other high TID", REQUEST(7, 3, LID(1)),
	  REQUEST(7 + (1ULL << 63), 3, LID(1)) },
	{ "request, TID 0", REQUEST(0, 3, LID(1)), REQUEST(0, 3, LID(1)),
	  .want = -EINVAL },
	{ "request without response", { 7, 3, false, 0, LID(1) },
	  REQUEST(7, 3, LID(1)), .want = -EINVAL },
	{ "request forever", { 7, 3, false, FOREVER, LID(1) },
	  REQUEST(7, 3, LID(1)), .want = -EINVAL },
	{ "request, raw", REQUEST(7, 3, LID(1)), REQUEST(7, 3, LID(1)),
	  .raw = true },
	{ "request and response", REQUEST(7, 3, LID(1)),
	  RESPONSE(7, 3, LID(1)) },
	{ "response and request", RESPONSE(7, 3, LID(1)),
	  REQUEST(7, 3, LID(1)) },
	{ "response, same LID", RESPONSE(7, 3, LID(1)), RESPONSE(7, 3, LID(1)),
	  .want = -EINVAL },
	{ "response, other LID", RESPONSE(7, 3, LID(1)),
	  RESPONSE(7, 3, LID(0x101)) },
	{ "response, same GID", RESPONSE(7, 3, GID(1, 0)),
	  RESPONSE(7, 3, GID(1, 0)), .want = -EINVAL },
	{ "response, same GID, other LID", RESPONSE(7, 3, GID(1, 1)),
	  RESPONSE(7, 3, GID(1, 2)), .want = -EINVAL },
	{ "response, other GID, same LID", RESPONSE(7, 3, GID(1, 1)),
	  RESPONSE(7, 3, GID(2, 1)) },
	{ "response, GID and same LID", RESPONSE(7, 3, LID(1)),
	  RESPONSE(7, 3, GID(1, 1)) },
	{ "response, other class", RESPONSE(7, 3, LID(1)),
	  RESPONSE(7, 4, LID(1)) },
	{ "response, other TID", RESPONSE(7, 3, LID(1)),
	  RESPONSE(8, 3, LID(1)) },
	{ "response, with a timeout", { 7, 3, true, 100, LID(1) },
	  RESPONSE(7, 3, LID(1)), .want = -EINVAL },
	{ "response, raw", RESPONSE(7, 3, LID(1)), RESPONSE(7, 3, LID(1)),
	  .raw = true },
};

static void dup_desc(const struct dup_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(dup, dup_cases, dup_desc);

static struct umad_txn *make(struct kunit *test, const struct dup_send *send)
{
	const struct umad_txn_key key = {
		.tid = cpu_to_be64(send->tid),
		.mgmt_class = send->mgmt_class,
		.response = send->response,
	};
	struct umad_txn *txn;

	txn = kunit_kzalloc(test, sizeof(*txn), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, txn);
	umad_txn_init(txn, &key, &send->dest, send->timeout_ms, 0);
	return txn;
}

static void txn_duplicates(struct kunit *test)
{
	const struct dup_case *c = test->param_value;
	struct umad_txn *first = make(test, &c->first);
	struct umad_txn *second = make(test, &c->second);
	struct txn_env *env = test->priv;

	KUNIT_ASSERT_EQ(test, txn_add(env, first, true), 0);
	KUNIT_EXPECT_EQ(test, txn_add(env, second, !c->raw), c->want);
	KUNIT_EXPECT_EQ(test, env->table.count, c->want ? 1 : 2);
	if (c->want)
		KUNIT_EXPECT_EQ(test, second->state, UMAD_TXN_NEW);
	else
		txn_step(env, second, UMAD_TXN_EV_CANCEL);

	txn_step(env, first, UMAD_TXN_EV_CANCEL);
	KUNIT_EXPECT_EQ(test, env->table.count, 0);

	/* Neither the refusal nor the end of the other stays in the way. */
	second = make(test, &c->second);
	KUNIT_EXPECT_EQ(test, txn_add(env, second, true), 0);
	txn_step(env, second, UMAD_TXN_EV_CANCEL);
}

/* A TID is free as soon as its transaction has ended, however it did. */
static void txn_tid_is_free_again(struct kunit *test)
{
	static const enum umad_txn_event ends[] = {
		UMAD_TXN_EV_RESPONSE, UMAD_TXN_EV_DEADLINE,
		UMAD_TXN_EV_FAILED, UMAD_TXN_EV_CANCEL,
		UMAD_TXN_EV_UNDELIVERED,
	};
	struct umad_txn *txn, *next;
	struct txn_env *env = test->priv;
	unsigned int i;

	txn = kunit_kcalloc(test, 2, sizeof(*txn), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, txn);
	next = txn + 1;
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		txn_make(txn, 7, 100, 0);
		KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
		txn_step(env, txn, UMAD_TXN_EV_SENT);
		txn_make(next, 7, 100, 0);
		KUNIT_EXPECT_EQ(test, txn_add(env, next, true), -EINVAL);

		txn_step(env, txn, ends[i]);
		txn_make(next, 7, 100, 0);
		KUNIT_EXPECT_EQ(test, txn_add(env, next, true), 0);
		KUNIT_EXPECT_PTR_EQ(test, txn_find(env, 7, 0), next);
		txn_step(env, txn, UMAD_TXN_EV_CANCEL);
		KUNIT_EXPECT_PTR_EQ(test, txn_find(env, 7, 0), next);
		txn_step(env, next, UMAD_TXN_EV_CANCEL);
		KUNIT_EXPECT_EQ(test, env->table.count, 0);
	}
}

static void txn_find_key(struct kunit *test)
{
	struct txn_env *env = test->priv;
	struct umad_txn *txn;

	txn = kunit_kzalloc(test, sizeof(*txn), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, txn);
	KUNIT_EXPECT_NULL(test, txn_find(env, 0x0123456789abcdef, 0));
	txn_make(txn, 0x0123456789abcdef, 100, 0);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	KUNIT_EXPECT_PTR_EQ(test, txn_find(env, 0x0123456789abcdef, 0), txn);
	KUNIT_EXPECT_NULL(test, txn_find(env, 0x0123456789abcdee, 0));
	KUNIT_EXPECT_NULL(test, txn_find(env, 0x8123456789abcdef, 0));
	KUNIT_EXPECT_NULL(test, txn_find(env, 0x89abcdef, 0));
	KUNIT_EXPECT_NULL(test, txn_find(env, 0x0123456789abcdef,
					 txn->key.mgmt_class + 1));
	txn_step(env, txn, UMAD_TXN_EV_CANCEL);
}

/* Who expects no response, or is a response, is not found by one. */
static void txn_find_waits_only(struct kunit *test)
{
	const struct dup_send no_response = { 7, 3, false, 0, LID(1) };
	const struct dup_send request = REQUEST(7, 3, LID(1));
	const struct dup_send response = { 7, 3, true, 100, LID(1) };
	struct umad_txn *sent = make(test, &no_response);
	struct umad_txn *wait = make(test, &request);
	struct umad_txn *reply = make(test, &response);
	struct txn_env *env = test->priv;

	KUNIT_ASSERT_EQ(test, txn_add(env, sent, true), 0);
	KUNIT_EXPECT_NULL(test, txn_find(env, 7, 3));
	KUNIT_ASSERT_EQ(test, txn_add(env, reply, true), 0);
	KUNIT_EXPECT_NULL(test, txn_find(env, 7, 3));
	/* Two of one key, as raw segments are; one waits. */
	KUNIT_ASSERT_EQ(test, txn_add(env, wait, false), 0);
	KUNIT_EXPECT_PTR_EQ(test, txn_find(env, 7, 3), wait);
	txn_step(env, sent, UMAD_TXN_EV_SENT);
	KUNIT_EXPECT_PTR_EQ(test, txn_find(env, 7, 3), wait);

	/* The other way round: whichever stands first in its bucket. */
	sent = make(test, &no_response);
	KUNIT_ASSERT_EQ(test, txn_add(env, sent, false), 0);
	KUNIT_EXPECT_PTR_EQ(test, txn_find(env, 7, 3), wait);
	txn_step(env, wait, UMAD_TXN_EV_RESPONSE);
	KUNIT_EXPECT_NULL(test, txn_find(env, 7, 3));

	txn_step(env, sent, UMAD_TXN_EV_CANCEL);
	txn_step(env, reply, UMAD_TXN_EV_CANCEL);
	KUNIT_EXPECT_EQ(test, env->table.count, 0);
}

/* That very destination first, then its LID or its GID. */
static void txn_find_near_destination(struct kunit *test)
{
	const struct dup_send to_lid = RESPONSE(7, 3, LID(1));
	const struct dup_send to_gid = RESPONSE(7, 3, GID(1, 1));
	const struct dup_send other_gid = RESPONSE(7, 3, GID(2, 1));
	const struct dup_send other_lid = RESPONSE(7, 3, GID(1, 2));
	const struct dup_send neither = RESPONSE(7, 3, GID(2, 2));
	const struct dup_send no_lids = RESPONSE(7, 3, GID(2, 0));
	struct umad_txn *lid = make(test, &to_lid);
	struct umad_txn *gid = make(test, &to_gid);
	struct txn_env *env = test->priv;

	KUNIT_ASSERT_EQ(test, txn_add(env, gid, true), 0);
	KUNIT_EXPECT_PTR_EQ(test, txn_find_near(env, lid), gid);
	KUNIT_EXPECT_PTR_EQ(test, txn_find_near(env, make(test, &other_gid)),
			    gid);
	KUNIT_EXPECT_PTR_EQ(test, txn_find_near(env, make(test, &other_lid)),
			    gid);
	KUNIT_EXPECT_NULL(test, txn_find_near(env, make(test, &neither)));
	KUNIT_EXPECT_NULL(test, txn_find_near(env, make(test, &no_lids)));
	KUNIT_ASSERT_EQ(test, txn_add(env, lid, true), 0);
	KUNIT_EXPECT_PTR_EQ(test, txn_find_near(env, make(test, &to_lid)), lid);
	KUNIT_EXPECT_PTR_EQ(test, txn_find_near(env, make(test, &to_gid)), gid);
	txn_step(env, lid, UMAD_TXN_EV_CANCEL);
	txn_step(env, gid, UMAD_TXN_EV_CANCEL);
	KUNIT_EXPECT_EQ(test, env->table.count, 0);
}

/* By its own key and destination, whether it expects a response or not. */
static void txn_find_destination(struct kunit *test)
{
	const struct dup_send to_lid = RESPONSE(7, 3, LID(1));
	const struct dup_send to_gid = RESPONSE(7, 3, GID(1, 1));
	const struct dup_send to_other = RESPONSE(7, 3, GID(2, 1));
	const struct dup_send request = REQUEST(7, 3, LID(1));
	struct umad_txn *lid = make(test, &to_lid);
	struct umad_txn *gid = make(test, &to_gid);
	struct umad_txn *wait = make(test, &request);
	struct txn_env *env = test->priv;

	KUNIT_EXPECT_NULL(test, txn_find_to(env, lid));
	KUNIT_ASSERT_EQ(test, txn_add(env, lid, true), 0);
	KUNIT_ASSERT_EQ(test, txn_add(env, gid, true), 0);
	KUNIT_EXPECT_NULL(test, txn_find_to(env, wait));
	KUNIT_ASSERT_EQ(test, txn_add(env, wait, true), 0);
	KUNIT_EXPECT_PTR_EQ(test, txn_find_to(env, make(test, &to_lid)), lid);
	KUNIT_EXPECT_PTR_EQ(test, txn_find_to(env, make(test, &to_gid)), gid);
	KUNIT_EXPECT_PTR_EQ(test, txn_find_to(env, make(test, &request)), wait);
	KUNIT_EXPECT_NULL(test, txn_find_to(env, make(test, &to_other)));

	txn_step(env, lid, UMAD_TXN_EV_SENT);
	KUNIT_EXPECT_NULL(test, txn_find_to(env, lid));
	KUNIT_EXPECT_PTR_EQ(test, txn_find_to(env, gid), gid);
	/* Given up is given up. */
	txn_step(env, wait, UMAD_TXN_EV_DEADLINE);
	KUNIT_EXPECT_NULL(test, txn_find_to(env, wait));
	txn_step(env, wait, UMAD_TXN_EV_CANCEL);
	txn_step(env, gid, UMAD_TXN_EV_CANCEL);
}

/* All of @chunks with TIDs from 0 on, the timeouts spread over a second. */
static void add_many(struct kunit *test, struct umad_txn **chunks)
{
	struct txn_env *env = test->priv;
	struct umad_txn *txn;
	unsigned int i;

	for (i = 0; i < MANY; i++) {
		if (i % CHUNK == 0) {
			txn = kunit_kcalloc(test, CHUNK, sizeof(*txn),
					    GFP_KERNEL);
			KUNIT_ASSERT_NOT_ERR_OR_NULL(test, txn);
			chunks[i / CHUNK] = txn;
			cond_resched();
		}
		txn = &chunks[i / CHUNK][i % CHUNK];
		/* TIDs as libibumad makes them: one half is the same. */
		txn_make(txn, i + (0x11ULL << 32), 1 + i % 1000, 0);
		KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	}
	KUNIT_EXPECT_EQ(test, env->table.count, MANY);
}

/* Time of so many lookups, in ns. */
static s64 find_some(struct kunit *test, struct umad_txn **chunks,
		     unsigned int first)
{
	struct txn_env *env = test->priv;
	ktime_t start = ktime_get();
	unsigned int i;

	for (i = first; i < first + CHUNK; i++)
		if (txn_find(env, i + (0x11ULL << 32), 0) !=
		    &chunks[i / CHUNK][i % CHUNK])
			KUNIT_FAIL(test, "transaction %u is not found", i);
	return ktime_sub(ktime_get(), start);
}

static unsigned int expire_all(struct kunit *test,
			       enum umad_txn_action action)
{
	struct txn_env *env = test->priv;
	struct umad_txn *txn;
	unsigned int n = 0;

	while ((txn = txn_first_due(env))) {
		KUNIT_ASSERT_EQ(test, action,
				txn_step(env, txn, UMAD_TXN_EV_DEADLINE));
		if (++n % CHUNK == 0)
			cond_resched();
	}
	return n;
}

static void txn_many(struct kunit *test)
{
	struct txn_env *env = test->priv;
	struct umad_txn **chunks;
	s64 all = 0, few;
	unsigned int i;

	chunks = kunit_kcalloc(test, MANY / CHUNK, sizeof(*chunks), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, chunks);
	add_many(test, chunks);
	for (i = 0; i < MANY; i += CHUNK)
		all += find_some(test, chunks, i);

	/* Half of the deadlines have passed: exactly these. */
	env->now = ktime_add_ms(env->now, 500);
	KUNIT_EXPECT_EQ(test, expire_all(test, UMAD_TXN_REPORT), MANY / 2);
	KUNIT_EXPECT_EQ(test, env->table.count, MANY / 2);
	KUNIT_EXPECT_NULL(test, txn_find(env, 0x11ULL << 32, 0));
	KUNIT_EXPECT_NOT_NULL(test, txn_find(env, 999 + (0x11ULL << 32), 0));
	env->now = ktime_add_ms(env->now, 500);
	KUNIT_EXPECT_EQ(test, expire_all(test, UMAD_TXN_REPORT), MANY / 2);
	KUNIT_EXPECT_EQ(test, env->table.count, 0);

	env->now = ktime_add_ms(env->now, TXN_LATE_MS);
	KUNIT_EXPECT_EQ(test, expire_all(test, UMAD_TXN_NONE), MANY);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), KTIME_MAX);

	/* A table with a few: a list would be some ten times as fast there. */
	for (i = 0; i < CHUNK; i++) {
		txn_make(&chunks[0][i], i + (0x11ULL << 32), 100, 0);
		KUNIT_ASSERT_EQ(test, txn_add(env, &chunks[0][i], true), 0);
	}
	few = find_some(test, chunks, 0);
	kunit_info(test, "a lookup costs %lld ns among %u, %lld ns among %u\n",
		   all / MANY, MANY, few / CHUNK, CHUNK);
	KUNIT_EXPECT_LT(test, all / MANY, 8 * few / CHUNK);
	for (i = 0; i < CHUNK; i++)
		txn_step(env, &chunks[0][i], UMAD_TXN_EV_CANCEL);
	KUNIT_EXPECT_EQ(test, env->table.count, 0);
}

/* What can be answered is found among any number of equal keys. */
static void txn_equal_keys(struct kunit *test)
{
	const struct dup_send plain = { 7, 3, false, 0, LID(1) };
	const struct dup_send waits = REQUEST(7, 3, LID(2));
	struct umad_txn *sent[8], *message, *single;
	struct txn_env *env = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sent); i++) {
		sent[i] = make(test, &plain);
		KUNIT_ASSERT_EQ(test, txn_add(env, sent[i], false), 0);
	}
	KUNIT_EXPECT_NULL(test, txn_find(env, 7, 3));
	KUNIT_EXPECT_PTR_EQ(test, txn_find_to(env, sent[1]), sent[0]);
	single = make(test, &waits);
	KUNIT_ASSERT_EQ(test, txn_add(env, single, false), 0);
	KUNIT_EXPECT_PTR_EQ(test, txn_find(env, 7, 3), single);
	message = make(test, &waits);
	message->no_deadline = true;
	KUNIT_ASSERT_EQ(test, txn_add(env, message, false), 0);
	KUNIT_EXPECT_PTR_EQ(test, txn_find_to(env, single), message);
	KUNIT_EXPECT_PTR_EQ(test, txn_find_to(env, sent[3]), sent[0]);
	txn_step(env, message, UMAD_TXN_EV_CANCEL);
	KUNIT_EXPECT_PTR_EQ(test, txn_find_to(env, single), single);
	txn_step(env, single, UMAD_TXN_EV_RESPONSE);
	KUNIT_EXPECT_NULL(test, txn_find(env, 7, 3));
	for (i = 0; i < ARRAY_SIZE(sent); i++)
		txn_step(env, sent[i], UMAD_TXN_EV_SENT);
	KUNIT_EXPECT_EQ(test, env->table.count, 0);
}

#define EQUAL	20000

/* And they come and go at the cost of any other. */
static void txn_equal_keys_cost(struct kunit *test)
{
	const struct umad_txn_key key = { .tid = cpu_to_be64(7),
					  .mgmt_class = 3 };
	struct umad_addr dest = LID(1);
	struct txn_env *env = test->priv;
	struct umad_txn *txns;
	ktime_t begin;
	s64 ms;
	int i;

	txns = kvcalloc(EQUAL, sizeof(*txns), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, txns);
	begin = ktime_get();
	for (i = 0; i < EQUAL; i++) {
		umad_txn_init(&txns[i], &key, &dest, 1000, 0);
		KUNIT_EXPECT_EQ(test, txn_add(env, &txns[i], false), 0);
	}
	/* The oldest first, as they complete. */
	for (i = 0; i < EQUAL; i++)
		txn_step(env, &txns[i], UMAD_TXN_EV_CANCEL);
	ms = ktime_ms_delta(ktime_get(), begin);
	kunit_info(test, "%d in %lld ms\n", EQUAL, ms);
	/* Quadratic, it would be a minute. */
	KUNIT_EXPECT_LT(test, ms, 5000);
	KUNIT_EXPECT_EQ(test, env->table.count, 0);
	kvfree(txns);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE_PARAM(txn_duplicates, dup_gen_params),
	KUNIT_CASE(txn_tid_is_free_again),
	KUNIT_CASE(txn_find_key),
	KUNIT_CASE(txn_find_waits_only),
	KUNIT_CASE(txn_find_destination),
	KUNIT_CASE(txn_find_near_destination),
	KUNIT_CASE(txn_equal_keys),
	KUNIT_CASE(txn_equal_keys_cost),
	KUNIT_CASE(txn_many),
	{}
};

static struct kunit_suite table_suite = {
	.name = "umad_txn_table",
	.init = txn_env_init,
	.exit = txn_env_exit,
	.test_cases = table_cases,
};

kunit_test_suite(table_suite);
