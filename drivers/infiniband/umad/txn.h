/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Transactions: which sends of a file are outstanding, which received
 * response answers which of them, and when each is to be sent again or given
 * up. Self-contained: knows neither ib_core nor files, and is told the time, so that
 * KUnit drives it with a clock of its own.
 */
#ifndef UMAD_TXN_H
#define UMAD_TXN_H

#include <linux/ktime.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include "addr.h"
#include "timer.h"

/**
 * enum umad_txn_state - where a transaction stands
 * @UMAD_TXN_NEW: not in a table yet
 * @UMAD_TXN_SEND: expects no response; in the tree until it has been sent
 * @UMAD_TXN_WAIT: expects a response; in the tree, and in the deadline queue
 *	unless its timeout is infinite, its deadline is set later, or an attempt that is
 *	to begin its time has not left: a further one, or a first that was held back
 * @UMAD_TXN_EXPIRED: given up and reported; out of the tree, in the deadline
 *	queue until a late response is no longer listened for
 * @UMAD_TXN_DONE: in neither; only its references keep it
 */
enum umad_txn_state {
	UMAD_TXN_NEW,
	UMAD_TXN_SEND,
	UMAD_TXN_WAIT,
	UMAD_TXN_EXPIRED,
	UMAD_TXN_DONE,
};

/**
 * enum umad_txn_event - what happens to a transaction
 * @UMAD_TXN_EV_RESPONSE: a response to it has been received
 * @UMAD_TXN_EV_DEADLINE: its deadline has passed
 * @UMAD_TXN_EV_SENT: its send is complete; ib_core waits for no response, but
 *	one may still come by itself
 * @UMAD_TXN_EV_LOST: the same, because the response came and could not be kept
 * @UMAD_TXN_EV_FAILED: its send failed here, and will catch no response
 * @UMAD_TXN_EV_CANCEL: its owner gives it up
 * @UMAD_TXN_EV_UNDELIVERED: its message of several segments did not arrive, or
 *	no response can come any more
 */
enum umad_txn_event {
	UMAD_TXN_EV_RESPONSE,
	UMAD_TXN_EV_DEADLINE,
	UMAD_TXN_EV_SENT,
	UMAD_TXN_EV_LOST,
	UMAD_TXN_EV_FAILED,
	UMAD_TXN_EV_CANCEL,
	UMAD_TXN_EV_UNDELIVERED,
};

/**
 * enum umad_txn_action - what the owner has to do after an event
 * @UMAD_TXN_NONE: nothing
 * @UMAD_TXN_DELIVER: hand the response to the caller
 * @UMAD_TXN_RETRY: send it again, and call umad_txn_attempt_done() when the send
 *	queue is done with it: it has no deadline until then
 * @UMAD_TXN_REPORT: tell the caller that nobody answered
 * @UMAD_TXN_UNMATCHED: drop the response, nobody waits for it any more
 */
enum umad_txn_action {
	UMAD_TXN_NONE,
	UMAD_TXN_DELIVER,
	UMAD_TXN_RETRY,
	UMAD_TXN_REPORT,
	UMAD_TXN_UNMATCHED,
};

/* umad_txn.timeout of a transaction without one. */
#define UMAD_TIMEOUT_INFINITE	KTIME_MAX

/**
 * struct umad_txn_key - what finds a transaction
 * @tid: transaction ID as on the wire, all 64 bits
 * @mgmt_class: management class
 * @response: the MAD sent is itself a response
 * @pad: zero
 */
struct umad_txn_key {
	__be64 tid;
	u8 mgmt_class;
	u8 response;
	u8 pad[6];
};

/**
 * struct umad_txn - one outstanding send
 * @key: constant while in a table
 * @dest: where its MAD goes; constant while in a table
 * @timeout: how long each attempt waits: 0 when no response is expected,
 *	UMAD_TIMEOUT_INFINITE, or else
 * @no_deadline: set before umad_txn_add(): its deadline is set later
 * @no_late: constant: it is DONE when its time is up, and not EXPIRED
 * @retries_left: attempts still to be made; protected by the table's lock
 * @state: protected by the table's lock
 * @node: in &umad_txn_table.tree
 * @timer: its deadline, in the queue of the table; its ops are set by the owner
 */
struct umad_txn {
	struct umad_txn_key key;
	struct umad_addr dest;
	ktime_t timeout;
	bool no_deadline;
	bool no_late;
	u32 retries_left;
	enum umad_txn_state state;
	struct rb_node node;
	struct umad_timer timer;
};

/**
 * struct umad_txn_table - the outstanding requests of one file
 * @tree: those in state SEND and WAIT, ordered by &struct umad_txn_key. A tree,
 *	because a process may have any number of one key, and the order in which
 *	they come and go must not matter; nor does it allocate under the lock
 * @timers: the queue of its deadlines, which may have others' too; its lock is held
 *	around every call but init and destroy, and protects all
 * @count: transactions in @tree
 */
struct umad_txn_table {
	struct rb_root tree;
	struct umad_timers *timers;
	unsigned int count;
};

void umad_txn_table_init(struct umad_txn_table *table, struct umad_timers *timers);
void umad_txn_table_destroy(struct umad_txn_table *table);
void umad_txn_init(struct umad_txn *txn, const struct umad_txn_key *key,
		   const struct umad_addr *dest, u32 timeout_ms,
		   u32 retries);
int umad_txn_add(struct umad_txn_table *table, struct umad_txn *txn,
		 bool refuse_duplicate, ktime_t now);
struct umad_txn *umad_txn_find(struct umad_txn_table *table, __be64 tid,
			       u8 mgmt_class);
struct umad_txn *umad_txn_find_to(struct umad_txn_table *table,
				  const struct umad_txn_key *key,
				  const struct umad_addr *dest);
struct umad_txn *umad_txn_find_near(struct umad_txn_table *table,
				    const struct umad_txn_key *key,
				    const struct umad_addr *dest);
void umad_txn_wait_until(struct umad_txn_table *table, struct umad_txn *txn,
			 ktime_t expires);
void umad_txn_resume(struct umad_txn_table *table, struct umad_txn *txn, ktime_t expires,
		     u32 retries);
void umad_txn_put_off(struct umad_txn_table *table, struct umad_txn *txn,
		      ktime_t now, ktime_t wait);
void umad_txn_attempt_done(struct umad_txn_table *table,
			   struct umad_txn *txn, ktime_t now);
void umad_txn_hold(struct umad_txn_table *table, struct umad_txn *txn);
bool umad_txn_wants_attempt(struct umad_txn_table *table,
			    const struct umad_txn *txn);
enum umad_txn_action umad_txn_step(struct umad_txn_table *table,
				   struct umad_txn *txn,
				   enum umad_txn_event event, ktime_t now);
const char *umad_txn_state_name(enum umad_txn_state state);

#endif /* UMAD_TXN_H */
