// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The transactions of a file beside a model that is a plain list: what each
 * event brings, which one a look-up finds, and when the next deadline is.
 */
#include "fuzz.h"
#include "txn.h"
#include "shim/memory.h"

#include <linux/errno.h>
#include <linux/minmax.h>

#define TXNS		24
/* How long a transaction that was given up listens. */
#define LATE		(5000 * NSEC_PER_MSEC)
#define NEVER		KTIME_MAX

/**
 * struct entry - one transaction
 * @txn: as the table knows it
 * @used: it is in the table, or was
 * @state: what it must be
 * @deadline: when, or NEVER: also while a further attempt is being sent
 * @retries: attempts that are left
 * @ended: answers that its caller has been given
 */
struct entry {
	struct umad_txn txn;
	bool used;
	enum umad_txn_state state;
	ktime_t deadline;
	u32 retries;
	u32 ended;
};

/**
 * struct model - the table, and what it must be like
 * @timers: its deadlines
 * @table: the table
 * @lock: that its owner holds
 * @now: the time
 * @entries: all transactions
 */
struct model {
	struct umad_timers timers;
	struct umad_txn_table table;
	spinlock_t lock; /* the table's, that nobody else takes */
	ktime_t now;
	struct entry entries[TXNS];
};

static struct model model;

static bool in_tree(const struct entry *entry)
{
	return entry->used && (entry->state == UMAD_TXN_SEND ||
			       entry->state == UMAD_TXN_WAIT);
}

static bool same_key(const struct umad_txn_key *a, const struct umad_txn_key *b)
{
	return a->tid == b->tid && a->mgmt_class == b->mgmt_class &&
	       !a->response == !b->response;
}

static bool same_dest(const struct umad_addr *a,
		      const struct umad_addr *b)
{
	if (a->grh != b->grh)
		return false;
	return a->grh ? !memcmp(a->gid, b->gid, 16) : a->lid == b->lid;
}

static void check(struct model *m)
{
	ktime_t next = NEVER;
	u32 i, count = 0;

	for (i = 0; i < TXNS; i++) {
		struct entry *entry = &m->entries[i];

		if (!entry->used)
			continue;
		MUST(entry->txn.state == entry->state);
		MUST(entry->ended <= 1);
		if (entry->state == UMAD_TXN_WAIT)
			MUST(entry->txn.retries_left == entry->retries);
		MUST(umad_txn_wants_attempt(&m->table, &entry->txn) ==
		     (entry->state == UMAD_TXN_WAIT &&
		      entry->deadline == NEVER));
		if (in_tree(entry))
			count++;
		next = min(next, entry->deadline);
	}
	MUST(m->table.count == count);
	MUST(umad_timers_next(&m->timers) == next);
}

static void take_key(struct umad_txn_key *key, struct input *in)
{
	u8 byte = take(in);

	memset(key, 0, sizeof(*key));
	key->tid = cpu_to_be64(byte & 3);
	key->mgmt_class = byte & 4 ? 3 : 4;
	key->response = byte >> 3 & 1;
}

static void take_dest(struct umad_addr *dest, struct input *in)
{
	u8 byte = take(in);

	memset(dest, 0, sizeof(*dest));
	dest->grh = byte & 1;
	dest->gid[15] = byte >> 1 & 1;
	dest->lid = cpu_to_be16(byte >> 2 & 1);
}

static u32 take_timeout(struct input *in)
{
	u8 byte = take(in);

	switch (byte % 8) {
	case 0:
		return 0;
	case 1:
		return 0x80000000 + byte;
	case 2:
		return S32_MAX - byte / 8;
	case 3:
		return take32(in);
	default:
		return byte / 8 + 1;
	}
}

static bool is_duplicate(struct model *m, const struct entry *new)
{
	u32 i;

	for (i = 0; i < TXNS; i++) {
		struct entry *entry = &m->entries[i];

		if (in_tree(entry) &&
		    same_key(&entry->txn.key, &new->txn.key) &&
		    (!new->txn.key.response ||
		     same_dest(&entry->txn.dest, &new->txn.dest)))
			return true;
	}
	return false;
}

static void add(struct model *m, struct entry *entry, struct input *in)
{
	struct umad_addr dest;
	struct umad_txn_key key;
	bool refuse = take(in) & 1;
	u32 timeout = take_timeout(in);
	u8 byte;
	int ret;

	memset(entry, 0, sizeof(*entry));
	take_key(&key, in);
	take_dest(&dest, in);
	entry->retries = take(in) % 4;
	if (entry->retries == 3)
		entry->retries = U32_MAX;
	umad_txn_init(&entry->txn, &key, &dest, timeout, entry->retries);
	byte = take(in) % 8;
	entry->txn.no_deadline = byte == 1;
	ret = umad_txn_add(&m->table, &entry->txn, refuse, m->now);
	if (refuse && is_duplicate(m, entry)) {
		MUST(ret == -EINVAL);
		return;
	}
	MUST(!ret);
	entry->used = true;
	entry->state = timeout ? UMAD_TXN_WAIT : UMAD_TXN_SEND;
	entry->deadline = NEVER;
	if (timeout && timeout <= S32_MAX && !entry->txn.no_deadline)
		entry->deadline = m->now + timeout * (s64)NSEC_PER_MSEC;
	if (byte != 2 || entry->state != UMAD_TXN_WAIT)
		return;
	/* It is kept, and its time begins when it is posted: as a further attempt's. */
	umad_txn_hold(&m->table, &entry->txn);
	entry->deadline = NEVER;
}

static void find(struct model *m, struct input *in)
{
	struct umad_txn *found;
	struct umad_txn_key key;
	bool any = false;
	u32 i;

	take_key(&key, in);
	key.response = 0;
	found = umad_txn_find(&m->table, key.tid, key.mgmt_class);
	for (i = 0; i < TXNS; i++) {
		struct entry *entry = &m->entries[i];

		if (!in_tree(entry) || entry->state != UMAD_TXN_WAIT ||
		    !same_key(&entry->txn.key, &key))
			continue;
		any = true;
		if (found == &entry->txn)
			return;
	}
	MUST(!found && !any);
}

static void find_to(struct model *m, struct input *in)
{
	struct umad_txn *found;
	struct umad_addr dest;
	struct umad_txn_key key;
	bool any = false;
	u32 i;

	take_key(&key, in);
	take_dest(&dest, in);
	found = umad_txn_find_to(&m->table, &key, &dest);
	for (i = 0; i < TXNS; i++) {
		struct entry *entry = &m->entries[i];

		if (!in_tree(entry) || !same_key(&entry->txn.key, &key) ||
		    !same_dest(&entry->txn.dest, &dest))
			continue;
		any = true;
		if (found == &entry->txn)
			return;
	}
	MUST(!found && !any);
}

/* As find_to(), but any of its addresses will do. */
static void find_near(struct model *m, struct input *in)
{
	u32 i, same = 0, near = 0, exact = 0;
	struct umad_txn *found;
	struct umad_addr dest;
	struct umad_txn_key key;
	bool found_exact = false, found_near = false;

	take_key(&key, in);
	take_dest(&dest, in);
	found = umad_txn_find_near(&m->table, &key, &dest);
	for (i = 0; i < TXNS; i++) {
		struct entry *entry = &m->entries[i];
		const struct umad_addr *to = &entry->txn.dest;
		bool is_exact, is_near;

		if (!in_tree(entry) || !same_key(&entry->txn.key, &key))
			continue;
		same++;
		is_exact = same_dest(to, &dest);
		is_near = (to->lid && to->lid == dest.lid) ||
			  (to->grh && dest.grh &&
			   !memcmp(to->gid, dest.gid, 16));
		exact += is_exact;
		near += is_near;
		if (found == &entry->txn) {
			found_exact = is_exact;
			found_near = is_near;
		}
	}
	MUST(!found == !(exact || near) || (!found && same > 16));
	MUST(!found || (exact ? found_exact : found_near));
}

static void ends(struct entry *entry, enum umad_txn_state state)
{
	entry->state = state;
	entry->deadline = NEVER;
}

/* The deadline of a request: another attempt, or it is given up. */
static enum umad_txn_action passes(struct model *m, struct entry *entry)
{
	if (entry->retries) {
		entry->retries--;
		entry->deadline = NEVER;
		return UMAD_TXN_RETRY;
	}
	ends(entry, UMAD_TXN_EXPIRED);
	entry->deadline = m->now + LATE;
	return UMAD_TXN_REPORT;
}

/* The table of design.rst: what @event must bring. */
static enum umad_txn_action expected(struct model *m, struct entry *entry,
				     enum umad_txn_event event)
{
	bool forever = entry->txn.timeout == UMAD_TIMEOUT_INFINITE;
	bool response = event == UMAD_TXN_EV_RESPONSE;

	if (entry->state == UMAD_TXN_SEND) {
		if (response)
			return UMAD_TXN_UNMATCHED;
		if (event == UMAD_TXN_EV_DEADLINE)
			return UMAD_TXN_NONE;
		ends(entry, UMAD_TXN_DONE);
		return event == UMAD_TXN_EV_UNDELIVERED ? UMAD_TXN_REPORT :
							  UMAD_TXN_NONE;
	}
	if (entry->state != UMAD_TXN_WAIT) {
		ends(entry, UMAD_TXN_DONE);
		return response ? UMAD_TXN_UNMATCHED : UMAD_TXN_NONE;
	}
	if (event == UMAD_TXN_EV_DEADLINE)
		return passes(m, entry);
	if (event == UMAD_TXN_EV_SENT)
		return UMAD_TXN_NONE;
	if (event == UMAD_TXN_EV_LOST && !forever)
		return UMAD_TXN_NONE;
	if (event == UMAD_TXN_EV_FAILED && !forever && entry->retries)
		return UMAD_TXN_NONE;
	ends(entry, UMAD_TXN_DONE);
	if (event == UMAD_TXN_EV_CANCEL)
		return UMAD_TXN_NONE;
	return response ? UMAD_TXN_DELIVER : UMAD_TXN_REPORT;
}

static void step(struct model *m, struct entry *entry,
		 enum umad_txn_event event)
{
	enum umad_txn_action want = expected(m, entry, event), action;

	action = umad_txn_step(&m->table, &entry->txn, event, m->now);
	MUST(action == want);
	if (action == UMAD_TXN_DELIVER || action == UMAD_TXN_REPORT)
		entry->ended++;
	check(m);
}

/* All whose time has come, in order, as the owner's work does it. */
static void expire(struct model *m)
{
	ktime_t last = 0;
	u32 n = 0;

	while (n++ < 4 * TXNS) {
		struct umad_timer *timer = umad_timers_first_due(&m->timers, m->now);
		struct entry *entry;

		if (!timer)
			break;
		entry = container_of(timer, struct entry, txn.timer);
		MUST(entry->used && entry->deadline <= m->now);
		MUST(entry->deadline == timer->node.expires);
		MUST(entry->deadline >= last ||
		     entry->txn.timeout != UMAD_TIMEOUT_INFINITE);
		last = entry->deadline;
		step(m, entry, UMAD_TXN_EV_DEADLINE);
	}
	if (n < 4 * TXNS)
		MUST(umad_timers_next(&m->timers) > m->now);
}

static void put_off(struct model *m, struct entry *entry, struct input *in)
{
	ktime_t wait = take_time(in);

	umad_txn_put_off(&m->table, &entry->txn, m->now, wait);
	/* It moves only when it is too early, or leads to an attempt. */
	if (entry->retries || entry->deadline == NEVER ||
	    entry->deadline < m->now + wait)
		entry->deadline = m->now + wait + wait / 8;
	entry->retries = 0;
}

/* A further attempt has left: its time begins. */
static void attempt_done(struct model *m, struct entry *entry)
{
	umad_txn_attempt_done(&m->table, &entry->txn, m->now);
	if (entry->state == UMAD_TXN_WAIT && entry->deadline == NEVER &&
	    !entry->txn.no_deadline && entry->txn.timeout != UMAD_TIMEOUT_INFINITE)
		entry->deadline = m->now + entry->txn.timeout;
}

static void wait_until(struct model *m, struct entry *entry, struct input *in)
{
	ktime_t at = take(in) % 4 ? m->now + take_time(in) : KTIME_MAX;

	umad_txn_wait_until(&m->table, &entry->txn, at);
	entry->retries = 0;
	entry->deadline = at;
}

static void one(struct model *m, struct entry *entry, struct input *in)
{
	u8 byte = take(in);

	if (!entry->used) {
		add(m, entry, in);
	} else if (entry->state == UMAD_TXN_DONE && byte & 0x80) {
		entry->used = false;
	} else if ((byte & 0xf0) == 0x70) {
		attempt_done(m, entry);
	} else if ((byte & 0xf0) == 0x60) {
		umad_timer_clear(&m->timers, &entry->txn.timer);
		entry->deadline = NEVER;
	} else if (entry->state == UMAD_TXN_WAIT && byte & 0x80) {
		if (byte & 1)
			put_off(m, entry, in);
		else
			wait_until(m, entry, in);
	} else if (byte % 8 <= UMAD_TXN_EV_UNDELIVERED &&
		   (byte % 8 != UMAD_TXN_EV_DEADLINE ||
		    entry->txn.timeout != UMAD_TIMEOUT_INFINITE)) {
		/* Who waits for ever has no deadline that could pass. */
		step(m, entry, byte % 8);
	}
}

void fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct model *m = &model;
	u32 i;

	fuzz_memory_reset();
	memset(m, 0, sizeof(*m));
	spin_lock_init(&m->lock);
	umad_timers_init(&m->timers, &m->lock);
	umad_txn_table_init(&m->table, &m->timers);
	check(m);
	while (in.left) {
		u8 byte = take(&in);

		if (byte < 5 * TXNS) {
			one(m, &m->entries[byte % TXNS], &in);
		} else if (byte < 150) {
			find(m, &in);
		} else if (byte < 165) {
			find_to(m, &in);
		} else if (byte < 180) {
			find_near(m, &in);
		} else if (byte < 220) {
			m->now += take_time(&in);
			expire(m);
		} else if (umad_timers_next(&m->timers) < S64_MAX / 2) {
			m->now = max(m->now,
				     umad_timers_next(&m->timers));
			expire(m);
		}
		check(m);
	}
	for (i = 0; i < TXNS; i++)
		if (m->entries[i].used)
			step(m, &m->entries[i], UMAD_TXN_EV_CANCEL);
	umad_txn_table_destroy(&m->table);
	umad_timers_destroy(&m->timers);
}
