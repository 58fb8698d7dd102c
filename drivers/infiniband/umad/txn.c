// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "txn.h"

#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/string.h>
#include "umad_export.h"
#include "umad_rbtree.h"

/*
 * How long a request that was given up still listens for its response, in ms:
 * a response that comes within it is counted as late, not as never asked for.
 */
#define UMAD_TXN_EXPIRED_MS	5000

static const char * const state_names[] = {
	[UMAD_TXN_NEW] = "new",
	[UMAD_TXN_SEND] = "send",
	[UMAD_TXN_WAIT] = "wait",
	[UMAD_TXN_EXPIRED] = "expired",
	[UMAD_TXN_DONE] = "done",
};

/**
 * umad_txn_state_name() - a state, for people
 * @state: to be named
 *
 * Context: any.
 * Return: a word.
 */
const char *umad_txn_state_name(enum umad_txn_state state)
{
	return state < ARRAY_SIZE(state_names) ? state_names[state] : "?";
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_state_name);

/**
 * umad_txn_table_init() - make an empty table
 * @table: to be made
 * @timers: the queue of its deadlines, under whose lock all calls are made
 */
void umad_txn_table_init(struct umad_txn_table *table, struct umad_timers *timers)
{
	table->timers = timers;
	table->tree = RB_ROOT;
	table->count = 0;
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_table_init);

/**
 * umad_txn_table_destroy() - an empty table is not used any more
 * @table: nobody uses it any more
 *
 * Context: any.
 */
void umad_txn_table_destroy(struct umad_txn_table *table)
{
	WARN_ON_ONCE(table->count || !RB_EMPTY_ROOT(&table->tree));
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_table_destroy);

/**
 * umad_txn_init() - describe a request
 * @txn: to be filled in
 * @key: its transaction ID, class and direction
 * @dest: where it goes
 * @timeout_ms: as in the ABI: 0 for no response, 0x80000000 and above infinite
 * @retries: attempts after the first; means nothing without a finite timeout
 *
 * Context: any.
 */
void umad_txn_init(struct umad_txn *txn, const struct umad_txn_key *key,
		   const struct umad_addr *dest, u32 timeout_ms,
		   u32 retries)
{
	txn->key = *key;
	txn->dest = *dest;
	txn->timeout = timeout_ms > S32_MAX ? UMAD_TIMEOUT_INFINITE :
					      ms_to_ktime(timeout_ms);
	txn->no_deadline = false;
	txn->no_late = false;
	txn->retries_left = retries;
	txn->state = UMAD_TXN_NEW;
	umad_timer_init(&txn->timer, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_init);

/**
 * struct probe - what is looked for in the tree
 * @key: of the transaction
 * @dest: its destination
 * @rank: of a request, see rank_of()
 */
struct probe {
	const struct umad_txn_key *key;
	const struct umad_addr *dest;
	int rank;
};

#define RANKS	4

/*
 * Requests with equal keys: those that a response can answer come first, and
 * of these, messages, which packets of their receivers are about. So neither is
 * searched for among any number of others.
 */
static int rank_of(const struct umad_txn *txn)
{
	return (txn->timeout ? 0 : 2) + !txn->no_deadline;
}

/* The whole key; what is equal to begin with stands together. */
static int compare_key(const void *probe, const struct rb_node *node)
{
	const struct umad_txn_key *a = ((const struct probe *)probe)->key;
	const struct umad_txn_key *b = &rb_entry(node, struct umad_txn,
						 node)->key;
	u64 tid_a = be64_to_cpu(a->tid), tid_b = be64_to_cpu(b->tid);

	if (tid_a != tid_b)
		return tid_a < tid_b ? -1 : 1;
	if (a->mgmt_class != b->mgmt_class)
		return a->mgmt_class - b->mgmt_class;
	return a->response - b->response;
}

/* What is equal so: of requests the rank; then the destination. */
static int compare_rest(const struct probe *probe, const struct umad_txn *txn)
{
	int c = probe->key->response ? 0 : probe->rank - rank_of(txn);

	return c ?: umad_addr_compare(probe->dest, &txn->dest);
}

static int compare_all(const void *probe, const struct rb_node *node)
{
	return compare_key(probe, node) ?:
	       compare_rest(probe, rb_entry(node, struct umad_txn, node));
}

static struct umad_txn *first_match(struct umad_txn_table *table,
				    const struct probe *probe,
				    int (*compare)(const void *probe,
						   const struct rb_node *node))
{
	struct rb_node *node = rb_find_first(probe, &table->tree, compare);

	return node ? rb_entry(node, struct umad_txn, node) : NULL;
}

/*
 * Equal ones stand in the order in which they came. One file may have a TID and class
 * outstanding in one request only, whatever its destination, and in one response to each
 * destination: if there is such a one, it would stand right before or after this, and
 * those two are met on the way down. False: there is.
 */
static bool insert(struct umad_txn_table *table, struct umad_txn *txn, bool refuse_duplicate)
{
	const struct probe probe = {
		.key = &txn->key, .dest = &txn->dest, .rank = rank_of(txn),
	};
	struct rb_node **link = &table->tree.rb_node, *parent = NULL;
	int c;

	while (*link) {
		parent = *link;
		c = compare_key(&probe, parent);
		if (!c && refuse_duplicate && !txn->key.response)
			return false;
		if (!c)
			c = compare_rest(&probe, rb_entry(parent, struct umad_txn, node));
		if (!c && refuse_duplicate && txn->key.response)
			return false;
		link = c < 0 ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&txn->node, parent, link);
	rb_insert_color(&txn->node, &table->tree);
	return true;
}

/**
 * umad_txn_add() - enter a request that is about to be posted
 * @table: of the file
 * @txn: made by umad_txn_init()
 * @refuse_duplicate: apply the duplicate rules; segments of a process that
 *	does RMPP itself share one TID and are let through
 * @now: the clock of the deadlines; the first attempt's time runs from here
 *
 * Context: process, the table's lock held; does not sleep.
 * Return: 0; -EINVAL for a duplicate.
 */
int umad_txn_add(struct umad_txn_table *table, struct umad_txn *txn,
		 bool refuse_duplicate, ktime_t now)
{
	lockdep_assert_held(table->timers->lock);
	if (!insert(table, txn, refuse_duplicate))
		return -EINVAL;
	table->count++;
	WRITE_ONCE(txn->state, txn->timeout ? UMAD_TXN_WAIT : UMAD_TXN_SEND);
	if (txn->timeout && txn->timeout != UMAD_TIMEOUT_INFINITE && !txn->no_deadline)
		umad_timer_set(table->timers, &txn->timer, ktime_add(now, txn->timeout));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_add);

/**
 * umad_txn_find() - whose response is this?
 * @table: of the file
 * @tid: transaction ID of the response, as on the wire
 * @mgmt_class: of the response
 *
 * Context: process, the table's lock held; does not sleep.
 * Return: a request in state UMAD_TXN_WAIT, or NULL.
 */
struct umad_txn *umad_txn_find(struct umad_txn_table *table, __be64 tid,
			       u8 mgmt_class)
{
	const struct umad_txn_key key = { .tid = tid,
					  .mgmt_class = mgmt_class };
	const struct probe probe = { .key = &key };
	struct umad_txn *txn;

	lockdep_assert_held(table->timers->lock);
	txn = first_match(table, &probe, compare_key);
	return txn && txn->state == UMAD_TXN_WAIT ? txn : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_find);

/**
 * umad_txn_find_to() - which send to that destination is this about?
 * @table: of the file
 * @key: of the MAD that was sent
 * @dest: where it went
 *
 * Context: process, the table's lock held; does not sleep.
 * Return: a transaction in state UMAD_TXN_WAIT or UMAD_TXN_SEND, or NULL.
 */
struct umad_txn *umad_txn_find_to(struct umad_txn_table *table,
				  const struct umad_txn_key *key,
				  const struct umad_addr *dest)
{
	struct probe probe = { .key = key, .dest = dest };
	struct umad_txn *txn = NULL;

	lockdep_assert_held(table->timers->lock);
	for (; !txn && probe.rank < (key->response ? 1 : RANKS); probe.rank++)
		txn = first_match(table, &probe, compare_all);
	return txn;
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_find_to);

/* So many of one key are looked at: a process may have any number. */
#define NEAR_MAX	16

/**
 * umad_txn_find_near() - which send to that node is this about?
 * @table: of the file
 * @key: of the MAD that was sent
 * @dest: where the packet came from; its LID means something
 *
 * The one to that very destination if there is one; else one that has its LID or
 * its GID.
 * Context: process, the table's lock held; does not sleep.
 * Return: a transaction in state UMAD_TXN_WAIT or UMAD_TXN_SEND, or NULL.
 */
struct umad_txn *umad_txn_find_near(struct umad_txn_table *table,
				    const struct umad_txn_key *key,
				    const struct umad_addr *dest)
{
	struct umad_txn *txn = umad_txn_find_to(table, key, dest);
	const struct probe probe = { .key = key };
	unsigned int looked_at = 0;
	struct rb_node *node;

	if (txn)
		return txn;
	node = rb_find_first(&probe, &table->tree, compare_key);
	for (; node && looked_at++ < NEAR_MAX; node = rb_next(node)) {
		txn = rb_entry(node, struct umad_txn, node);
		if (compare_key(&probe, node))
			break;
		if (umad_addr_likeness(&txn->dest, dest))
			return txn;
	}
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_find_near);

/**
 * umad_txn_wait_until() - give a waiting transaction its last deadline
 * @table: of the file
 * @txn: in state UMAD_TXN_WAIT
 * @expires: the time, or KTIME_MAX for none; no attempt follows it
 *
 * Context: process, the table's lock held; does not sleep.
 */
void umad_txn_wait_until(struct umad_txn_table *table, struct umad_txn *txn,
			 ktime_t expires)
{
	lockdep_assert_held(table->timers->lock);
	WARN_ON_ONCE(txn->state != UMAD_TXN_WAIT);
	txn->retries_left = 0;
	umad_timer_set(table->timers, &txn->timer, expires);
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_wait_until);

/**
 * umad_txn_resume() - what it was put off for has come to nothing
 * @table: of the file
 * @txn: in state UMAD_TXN_WAIT
 * @expires: the time of its next deadline
 * @retries: attempts that are left
 *
 * Context: process, the table's lock held; does not sleep.
 */
void umad_txn_resume(struct umad_txn_table *table, struct umad_txn *txn, ktime_t expires,
		     u32 retries)
{
	umad_txn_wait_until(table, txn, expires);
	txn->retries_left = retries;
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_resume);

/**
 * umad_txn_put_off() - let a transaction wait for so long from now on
 * @table: of the file
 * @txn: in state UMAD_TXN_WAIT
 * @now: the clock of the deadlines
 * @wait: how long; an eighth longer at the most
 *
 * For what happens often: most of the time the deadline need not move.
 * Context: process, the table's lock held; does not sleep.
 */
void umad_txn_put_off(struct umad_txn_table *table, struct umad_txn *txn,
		      ktime_t now, ktime_t wait)
{
	lockdep_assert_held(table->timers->lock);
	if (!txn->retries_left && umad_timer_is_set(&txn->timer) &&
	    !ktime_before(txn->timer.node.expires, ktime_add(now, wait)))
		return;
	wait = ktime_add(wait, ktime_divns(wait, 8));
	umad_txn_wait_until(table, txn, ktime_add(now, wait));
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_put_off);

/**
 * umad_txn_hold() - the first attempt is not posted yet
 * @table: of the file
 * @txn: just added, in state UMAD_TXN_WAIT
 *
 * It has no deadline until umad_txn_attempt_done().
 * Context: process, the table's lock held; does not sleep.
 */
void umad_txn_hold(struct umad_txn_table *table, struct umad_txn *txn)
{
	lockdep_assert_held(table->timers->lock);
	WARN_ON_ONCE(txn->state != UMAD_TXN_WAIT);
	umad_timer_clear(table->timers, &txn->timer);
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_hold);

/**
 * umad_txn_attempt_done() - an attempt has left, or has failed: a further one, or the
 *	first after umad_txn_hold()
 * @table: of the file
 * @txn: that was to be sent; whatever has become of it since
 * @now: the clock of the deadlines; the attempt's time runs from here
 *
 * So there is one such attempt in the send queue at the most, however short the
 * timeout and slow the queue.
 * Context: process, the table's lock held; does not sleep.
 */
void umad_txn_attempt_done(struct umad_txn_table *table, struct umad_txn *txn,
			   ktime_t now)
{
	lockdep_assert_held(table->timers->lock);
	if (txn->state == UMAD_TXN_WAIT && !txn->no_deadline &&
	    txn->timeout != UMAD_TIMEOUT_INFINITE &&
	    !umad_timer_is_set(&txn->timer))
		umad_timer_set(table->timers, &txn->timer, ktime_add(now, txn->timeout));
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_attempt_done);

/**
 * umad_txn_wants_attempt() - is a request still to be sent again?
 * @table: of the file
 * @txn: for which UMAD_TXN_RETRY was returned, some time ago
 *
 * Context: process, the table's lock held; does not sleep.
 * Return: false if it has ended, or been given its last deadline, since.
 */
bool umad_txn_wants_attempt(struct umad_txn_table *table,
			    const struct umad_txn *txn)
{
	lockdep_assert_held(table->timers->lock);
	return txn->state == UMAD_TXN_WAIT &&
	       !umad_timer_is_set(&txn->timer);
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_wants_attempt);

/* The one place where a state changes after umad_txn_add(). */
static void set_state(struct umad_txn_table *table, struct umad_txn *txn,
		      enum umad_txn_state state, ktime_t now)
{
	bool was_in_tree = txn->state == UMAD_TXN_SEND ||
			   txn->state == UMAD_TXN_WAIT;

	WARN_ON_ONCE(txn->state == UMAD_TXN_NEW || txn->state >= state);
	umad_timer_clear(table->timers, &txn->timer);
	if (was_in_tree) {
		rb_erase(&txn->node, &table->tree);
		table->count--;
	}
	if (state == UMAD_TXN_EXPIRED)
		umad_timer_set(table->timers, &txn->timer, ktime_add_ms(now, UMAD_TXN_EXPIRED_MS));
	/* Read without the lock by umad_request_has_ended(). */
	WRITE_ONCE(txn->state, state);
}

static enum umad_txn_action deadline_passed(struct umad_txn_table *table,
					    struct umad_txn *txn, ktime_t now)
{
	if (!txn->retries_left) {
		set_state(table, txn, txn->no_late ? UMAD_TXN_DONE : UMAD_TXN_EXPIRED, now);
		return UMAD_TXN_REPORT;
	}
	/* Not before this attempt has left is there time for the next one. */
	txn->retries_left--;
	umad_timer_clear(table->timers, &txn->timer);
	return UMAD_TXN_RETRY;
}

static enum umad_txn_action step_wait(struct umad_txn_table *table,
				      struct umad_txn *txn,
				      enum umad_txn_event event, ktime_t now)
{
	bool forever = txn->timeout == UMAD_TIMEOUT_INFINITE;

	switch (event) {
	case UMAD_TXN_EV_RESPONSE:
		set_state(table, txn, UMAD_TXN_DONE, now);
		return UMAD_TXN_DELIVER;
	case UMAD_TXN_EV_DEADLINE:
		return deadline_passed(table, txn, now);
	case UMAD_TXN_EV_SENT:
		/* A process on this host has it, and takes its time. */
		return UMAD_TXN_NONE;
	case UMAD_TXN_EV_LOST:
		/* Its deadline sends it again or reports it; has it none? */
		if (!forever)
			return UMAD_TXN_NONE;
		break;
	case UMAD_TXN_EV_FAILED:
		/* The attempts that are left may fare better. */
		if (!forever && txn->retries_left)
			return UMAD_TXN_NONE;
		break;
	case UMAD_TXN_EV_CANCEL:
		set_state(table, txn, UMAD_TXN_DONE, now);
		return UMAD_TXN_NONE;
	case UMAD_TXN_EV_UNDELIVERED:
		break;
	}
	set_state(table, txn, UMAD_TXN_DONE, now);
	return UMAD_TXN_REPORT;
}

/**
 * umad_txn_step() - what an event means to a transaction
 * @table: of the file
 * @txn: in @table, or DONE
 * @event: what happened
 * @now: the clock of the deadlines, of UMAD_TXN_EV_DEADLINE; else it means nothing
 *
 * The table of states and events is in Documentation/internals/requests.rst.
 * Context: process, the table's lock held; does not sleep.
 * Return: what the caller has to do; the new state is in @txn. Each
 * transaction yields UMAD_TXN_DELIVER or UMAD_TXN_REPORT at most once.
 */
enum umad_txn_action umad_txn_step(struct umad_txn_table *table,
				   struct umad_txn *txn,
				   enum umad_txn_event event, ktime_t now)
{
	lockdep_assert_held(table->timers->lock);
	switch (txn->state) {
	case UMAD_TXN_WAIT:
		return step_wait(table, txn, event, now);
	case UMAD_TXN_SEND:
		if (event == UMAD_TXN_EV_RESPONSE)
			return UMAD_TXN_UNMATCHED;
		if (event != UMAD_TXN_EV_DEADLINE)
			set_state(table, txn, UMAD_TXN_DONE, now);
		/* Such a message is missed even if no answer was expected. */
		return event == UMAD_TXN_EV_UNDELIVERED ? UMAD_TXN_REPORT :
							  UMAD_TXN_NONE;
	case UMAD_TXN_EXPIRED:
		set_state(table, txn, UMAD_TXN_DONE, now);
		break;
	case UMAD_TXN_NEW:
		WARN_ON_ONCE(1);
		break;
	case UMAD_TXN_DONE:
		break;
	}
	return event == UMAD_TXN_EV_RESPONSE ? UMAD_TXN_UNMATCHED : UMAD_TXN_NONE;
}
EXPORT_SYMBOL_IF_KUNIT(umad_txn_step);
