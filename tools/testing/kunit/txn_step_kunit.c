// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of states and events of a transaction, each cell alone, and then
 * as the model for all sequences of events up to a length.
 */
#include "txn_env.h"

#include <linux/kernel.h>
#include <linux/string.h>

#define FOREVER		0x80000000
#define SEQUENCE_LEN	5

/**
 * struct step_cell - what an event leads to
 * @after: the next state; UMAD_TXN_NEW where the event cannot happen
 * @action: for the owner
 */
struct step_cell {
	enum umad_txn_state after;
	enum umad_txn_action action;
};

/**
 * struct step_row - a state and what tells its variants apart
 * @name: of the row
 * @before: the state
 * @timeout_ms: 0 for no response, FOREVER, or any other
 * @retries: 0, or any other
 * @on: by &enum umad_txn_event
 */
struct step_row {
	const char *name;
	enum umad_txn_state before;
	u32 timeout_ms;
	u32 retries;
	struct step_cell on[TXN_EVENTS];
};

#define ROW(label, state, timeout, left, response, deadline, sent, lost,    \
	    failed, cancel, undelivered)				    \
	{								    \
		.name = (label), .before = UMAD_TXN_##state,		    \
		.timeout_ms = (timeout), .retries = (left), .on = {	    \
			[UMAD_TXN_EV_RESPONSE] = response,		    \
			[UMAD_TXN_EV_DEADLINE] = deadline,		    \
			[UMAD_TXN_EV_SENT] = sent,			    \
			[UMAD_TXN_EV_LOST] = lost,			    \
			[UMAD_TXN_EV_FAILED] = failed,			    \
			[UMAD_TXN_EV_CANCEL] = cancel,			    \
			[UMAD_TXN_EV_UNDELIVERED] = undelivered,	    \
		}							    \
	}
#define TO(state, action)	{ UMAD_TXN_##state, UMAD_TXN_##action }
#define CANNOT_HAPPEN		{ UMAD_TXN_NEW, UMAD_TXN_NONE }

static const struct step_row rows[] = {
	ROW("send", SEND, 0, 0,
	    TO(SEND, UNMATCHED), TO(SEND, NONE), TO(DONE, NONE), TO(DONE, NONE),
	    TO(DONE, NONE), TO(DONE, NONE), TO(DONE, REPORT)),
	/* Retries mean nothing without a timeout. */
	ROW("send, with retries", SEND, 0, 3,
	    TO(SEND, UNMATCHED), TO(SEND, NONE), TO(DONE, NONE), TO(DONE, NONE),
	    TO(DONE, NONE), TO(DONE, NONE), TO(DONE, REPORT)),
	ROW("wait, last attempt", WAIT, 100, 0,
	    TO(DONE, DELIVER), TO(EXPIRED, REPORT), TO(WAIT, NONE),
	    TO(WAIT, NONE), TO(DONE, REPORT), TO(DONE, NONE),
	    TO(DONE, REPORT)),
	ROW("wait, retries left", WAIT, 100, 2,
	    TO(DONE, DELIVER), TO(WAIT, RETRY), TO(WAIT, NONE),
	    TO(WAIT, NONE), TO(WAIT, NONE), TO(DONE, NONE),
	    TO(DONE, REPORT)),
	/* The deadline is one of umad_txn_wait_until(), which ends retries. */
	ROW("wait forever", WAIT, FOREVER, 0,
	    TO(DONE, DELIVER), TO(EXPIRED, REPORT), TO(WAIT, NONE),
	    TO(DONE, REPORT), TO(DONE, REPORT), TO(DONE, NONE),
	    TO(DONE, REPORT)),
	ROW("wait forever, with retries", WAIT, FOREVER, 2,
	    TO(DONE, DELIVER), CANNOT_HAPPEN, TO(WAIT, NONE),
	    TO(DONE, REPORT), TO(DONE, REPORT), TO(DONE, NONE),
	    TO(DONE, REPORT)),
	ROW("expired", EXPIRED, 100, 0,
	    TO(DONE, UNMATCHED), TO(DONE, NONE), TO(DONE, NONE), TO(DONE, NONE),
	    TO(DONE, NONE), TO(DONE, NONE), TO(DONE, NONE)),
	ROW("done", DONE, 100, 0,
	    TO(DONE, UNMATCHED), TO(DONE, NONE), TO(DONE, NONE), TO(DONE, NONE),
	    TO(DONE, NONE), TO(DONE, NONE), TO(DONE, NONE)),
	ROW("done, retries left", DONE, 100, 2,
	    TO(DONE, UNMATCHED), TO(DONE, NONE), TO(DONE, NONE), TO(DONE, NONE),
	    TO(DONE, NONE), TO(DONE, NONE), TO(DONE, NONE)),
	ROW("done, no response expected", DONE, 0, 0,
	    TO(DONE, UNMATCHED), TO(DONE, NONE), TO(DONE, NONE), TO(DONE, NONE),
	    TO(DONE, NONE), TO(DONE, NONE), TO(DONE, NONE)),
	ROW("done, waited forever", DONE, FOREVER, 2,
	    TO(DONE, UNMATCHED), TO(DONE, NONE), TO(DONE, NONE), TO(DONE, NONE),
	    TO(DONE, NONE), TO(DONE, NONE), TO(DONE, NONE)),
};

static void row_desc(const struct step_row *row, char *desc)
{
	strscpy(desc, row->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(row, rows, row_desc);

static const char * const event_names[TXN_EVENTS] = {
	[UMAD_TXN_EV_RESPONSE] = "response",
	[UMAD_TXN_EV_DEADLINE] = "deadline",
	[UMAD_TXN_EV_SENT] = "sent",
	[UMAD_TXN_EV_LOST] = "lost",
	[UMAD_TXN_EV_FAILED] = "failed",
	[UMAD_TXN_EV_CANCEL] = "cancel",
	[UMAD_TXN_EV_UNDELIVERED] = "undelivered",
};

/* A transaction in the row's state. */
static void reach(struct kunit *test, struct umad_txn *txn,
		  const struct step_row *row)
{
	struct txn_env *env = test->priv;

	txn_make(txn, 1, row->timeout_ms, row->retries);
	KUNIT_ASSERT_EQ(test, txn_add(env, txn, true), 0);
	if (row->before == UMAD_TXN_EXPIRED) {
		env->now = txn_next_deadline(env);
		KUNIT_EXPECT_EQ(test, UMAD_TXN_REPORT,
				txn_step(env, txn, UMAD_TXN_EV_DEADLINE));
	} else if (row->before == UMAD_TXN_DONE) {
		txn_step(env, txn, UMAD_TXN_EV_CANCEL);
	}
	KUNIT_ASSERT_EQ(test, txn->state, row->before);
}

/* Where the transaction must stand in its state, if its clock starts now. */
static void expect_place(struct kunit *test, struct umad_txn *txn,
			 ktime_t deadline)
{
	struct txn_env *env = test->priv;
	bool in_tree = txn->state == UMAD_TXN_SEND ||
		       txn->state == UMAD_TXN_WAIT;

	KUNIT_EXPECT_EQ(test, env->table.count, in_tree);
	KUNIT_EXPECT_PTR_EQ(test, txn_find(env, 1, 0),
			    txn->state == UMAD_TXN_WAIT ? txn : NULL);
	KUNIT_EXPECT_EQ(test, txn_next_deadline(env), deadline);
}

static ktime_t deadline_after(struct txn_env *env,
			      const struct step_cell *cell, ktime_t before)
{
	/* Until the attempt has left the send queue. */
	if (cell->action == UMAD_TXN_RETRY)
		return KTIME_MAX;
	if (cell->after == UMAD_TXN_EXPIRED)
		return ktime_add_ms(env->now, TXN_LATE_MS);
	return cell->after == UMAD_TXN_DONE ? KTIME_MAX : before;
}

static void txn_step_cell(struct kunit *test, const struct step_row *row,
			  unsigned int event)
{
	const struct step_cell *cell = &row->on[event];
	struct txn_env *env = test->priv;
	u32 left = row->retries;
	struct umad_txn *txn;
	ktime_t before;

	txn = kunit_kzalloc(test, sizeof(*txn), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, txn);
	reach(test, txn, row);

	before = txn_next_deadline(env);
	env->now = event == UMAD_TXN_EV_DEADLINE && before != KTIME_MAX ?
		   before : ktime_add_ms(env->now, 1);
	KUNIT_EXPECT_EQ_MSG(test, txn_step(env, txn, event), cell->action,
			    "%s", event_names[event]);
	KUNIT_EXPECT_EQ_MSG(test, txn->state, cell->after,
			    "%s", event_names[event]);
	if (cell->action == UMAD_TXN_RETRY)
		left--;
	KUNIT_EXPECT_EQ(test, txn->retries_left, left);
	expect_place(test, txn, deadline_after(env, cell, before));
	if (cell->action == UMAD_TXN_RETRY) {
		env->now = ktime_add_ms(env->now, 3);
		txn_attempt_done(env, txn);
		expect_place(test, txn,
			     ktime_add_ms(env->now, row->timeout_ms));
	}

	txn_step(env, txn, UMAD_TXN_EV_CANCEL);
	KUNIT_EXPECT_EQ(test, txn->state, UMAD_TXN_DONE);
	expect_place(test, txn, KTIME_MAX);
}

static void txn_step_table(struct kunit *test)
{
	const struct step_row *row = test->param_value;
	unsigned int event;

	for (event = 0; event < TXN_EVENTS; event++)
		if (row->on[event].after != UMAD_TXN_NEW)
			txn_step_cell(test, row, event);
}

/**
 * struct config - a transaction to be driven through all sequences
 * @name: of the case
 * @timeout_ms: as in the ABI
 * @retries: as in the ABI
 */
struct config {
	const char *name;
	u32 timeout_ms;
	u32 retries;
};

static const struct config configs[] = {
	{ "no response", 0, 0 },
	{ "no response, 1 retry", 0, 1 },
	{ "no retry", 100, 0 },
	{ "1 retry", 100, 1 },
	{ "2 retries", 100, 2 },
	{ "more retries than events", 100, SEQUENCE_LEN + 1 },
	{ "forever", FOREVER, 0 },
	{ "forever, 1 retry", 0xffffffff, 1 },
};

static void config_desc(const struct config *config, char *desc)
{
	strscpy(desc, config->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(config, configs, config_desc);

/* The model: what the table above says of a transaction as it stands. */
static const struct step_cell *model(const struct config *config,
				     enum umad_txn_state state, u32 left,
				     unsigned int event)
{
	bool forever = config->timeout_ms >= FOREVER, row_forever;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		row_forever = rows[i].timeout_ms == FOREVER;
		if (rows[i].before != state)
			continue;
		if (state != UMAD_TXN_WAIT ||
		    (forever == row_forever && !left == !rows[i].retries))
			return &rows[i].on[event];
	}
	return NULL;
}

/* One sequence, its events the digits of @number; false ends the test. */
static bool run_sequence(struct kunit *test, const struct config *config,
			 struct umad_txn *txn, unsigned int number)
{
	unsigned int len, event, digits = number, ends = 0, attempts = 1;
	enum umad_txn_state state;
	struct txn_env *env = test->priv;
	const struct step_cell *cell;
	enum umad_txn_action action;
	ktime_t next;

	txn_make(txn, 1, config->timeout_ms, config->retries);
	if (txn_add(env, txn, true))
		return false;
	state = config->timeout_ms ? UMAD_TXN_WAIT : UMAD_TXN_SEND;
	for (len = 0; len < SEQUENCE_LEN; len++, digits /= TXN_EVENTS) {
		event = digits % TXN_EVENTS;
		cell = model(config, state, config->retries + 1 - attempts,
			     event);
		if (!cell)
			return false;
		if (cell->after == UMAD_TXN_NEW)
			continue;
		next = txn_next_deadline(env);
		env->now = event == UMAD_TXN_EV_DEADLINE && next != KTIME_MAX ?
			   next : ktime_add_ms(env->now, 1);

		action = txn_step(env, txn, event);
		state = cell->after;
		ends += action == UMAD_TXN_DELIVER || action == UMAD_TXN_REPORT;
		attempts += action == UMAD_TXN_RETRY;
		if (action != cell->action || txn->state != state || ends > 1)
			return false;
		/* By turns at once, and never. */
		if (action == UMAD_TXN_RETRY && len % 2)
			txn_attempt_done(env, txn);
	}
	txn_step(env, txn, UMAD_TXN_EV_CANCEL);
	return !env->table.count && txn_next_deadline(env) == KTIME_MAX;
}

static void txn_step_sequences(struct kunit *test)
{
	const struct config *config = test->param_value;
	unsigned int number, all = 1, i;
	struct umad_txn *txn;

	txn = kunit_kzalloc(test, sizeof(*txn), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, txn);
	for (i = 0; i < SEQUENCE_LEN; i++)
		all *= TXN_EVENTS;

	/* Shorter sequences are the beginnings of these. */
	for (number = 0; number < all; number++)
		KUNIT_ASSERT_TRUE_MSG(test,
				      run_sequence(test, config, txn, number),
				      "the sequence with number %u", number);
}

static void txn_state_names(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, umad_txn_state_name(UMAD_TXN_NEW), "new");
	KUNIT_EXPECT_STREQ(test, umad_txn_state_name(UMAD_TXN_SEND), "send");
	KUNIT_EXPECT_STREQ(test, umad_txn_state_name(UMAD_TXN_WAIT), "wait");
	KUNIT_EXPECT_STREQ(test, umad_txn_state_name(UMAD_TXN_EXPIRED), "expired");
	KUNIT_EXPECT_STREQ(test, umad_txn_state_name(UMAD_TXN_DONE), "done");
	KUNIT_EXPECT_STREQ(test, umad_txn_state_name(UMAD_TXN_DONE + 1), "?");
}

static struct kunit_case step_cases[] = {
	KUNIT_CASE_PARAM(txn_step_table, row_gen_params),
	KUNIT_CASE_PARAM(txn_step_sequences, config_gen_params),
	KUNIT_CASE(txn_state_names),
	{}
};

static struct kunit_suite step_suite = {
	.name = "umad_txn_step",
	.init = txn_env_init,
	.exit = txn_env_exit,
	.test_cases = step_cases,
};

kunit_test_suite(step_suite);
