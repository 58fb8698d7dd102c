// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The receive queue beside a model of it: order, the sum of what is charged,
 * each record given back exactly once, and whoever sleeps is woken. What nobody has asked for
 * gives way, the newest first, and who has polled before does not sleep for it.
 */
#include "fuzz.h"
#include "rxq.h"
#include "shim/sched.h"

#define RECORDS	16

/* The oldest that nobody has asked for stays if it has no more bytes than this. */
#define SMALL	1024

enum place { NOWHERE, MADE, QUEUED, READING };

/**
 * struct record - one record, and where it is
 * @msg: as the queue knows it
 * @place: where
 * @released: how often it was given back
 */
struct record {
	struct umad_rx_entry msg;
	enum place place;
	u32 released;
};

/**
 * struct model - the queue, and what it must be like
 * @q: the queue
 * @order: records in it, the oldest first
 * @queued: how many
 * @charged: bytes
 * @dead: it has been killed
 * @looked: somebody has found it empty since one was queued last
 * @owed: the pollers are to be woken
 * @polled: poll() has seen one since the last was taken, or it was put back
 * @read_owed: what it has seen has given way
 * @records: all of them
 */
struct model {
	struct umad_rxq q;
	struct record *order[RECORDS];
	u32 queued;
	u64 charged;
	bool dead;
	bool looked;
	bool owed;
	bool polled;
	bool read_owed;
	struct record records[RECORDS];
};

static void check(struct model *m)
{
	MUST(m->q.queued == m->queued);
	MUST(m->q.charged == m->charged);
	MUST(m->q.shutdown == m->dead);
	/* It is noted if it is empty. */
	MUST(!(m->dead || m->queued) || umad_rxq_is_ready(&m->q));
	MUST(umad_rxq_has_room(&m->q) ==
	     (!m->dead && m->charged < m->q.budget));
}

static void release(struct umad_rxq *q, struct umad_rx_entry *msg, bool here)
{
	struct record *record = container_of(msg, struct record, msg);

	record->released++;
}

static const struct umad_rx_ops asked = { .release = release };
static const struct umad_rx_ops unasked = { .release = release, .unasked = true };

static void given_back(struct model *m, struct record *record)
{
	MUST(record->released == 1);
	m->charged -= record->msg.charge;
	memset(record, 0, sizeof(*record));
}

static void make(struct model *m, struct record *record, struct input *in)
{
	u8 kind = take(in);
	size_t bytes = kind % 4 ? take16(in) : take64(in);
	bool fits = bytes <= m->q.budget && bytes <= U32_MAX &&
		    m->charged <= m->q.budget - bytes;

	memset(record, 0, sizeof(*record));
	record->msg.ops = kind & 0x80 ? &unasked : &asked;
	record->place = MADE;
	switch (take(in) % 4) {
	case 0:
		/* A caller's own time-out is not charged. */
		break;
	case 1:
		umad_rxq_charge_always(&m->q, &record->msg, bytes & 0xfffff);
		m->charged += bytes & 0xfffff;
		break;
	default:
		MUST(umad_rxq_charge(&m->q, &record->msg, bytes) == fits);
		if (fits)
			m->charged += bytes;
		break;
	}
}

static void push(struct model *m, struct record *record)
{
	u32 woken = fuzz_wakes;

	MUST(umad_rxq_push(&m->q, &record->msg) == !m->dead);
	umad_rxq_wake(&m->q);
	MUST(m->dead || fuzz_wakes > woken);
	if (m->dead)
		return;
	record->place = QUEUED;
	m->looked = false;
	m->read_owed = false;
	m->order[m->queued++] = record;
}

static void pop(struct model *m)
{
	struct umad_rx_entry *msg = umad_rxq_pop(&m->q);

	if (m->dead || !m->queued) {
		MUST(!msg);
		m->looked |= !m->dead;
		return;
	}
	MUST(msg == &m->order[0]->msg);
	m->order[0]->place = READING;
	m->polled = false;
	m->read_owed = false;
	m->queued--;
	memmove(m->order, m->order + 1, m->queued * sizeof(m->order[0]));
}

static void look(struct model *m)
{
	bool ready = m->dead || m->queued;

	MUST(umad_rxq_is_ready(&m->q) == ready);
	m->looked |= !ready;
}

static void poll(struct model *m)
{
	bool ready = m->dead || m->queued;

	MUST(umad_rxq_poll(&m->q) == ready);
	m->looked |= !ready;
	m->polled |= m->queued > 0;
}

static void take_owed(struct model *m)
{
	MUST(umad_rxq_take_owed(&m->q) == m->read_owed);
	m->read_owed = false;
}

/* The newest that nobody has asked for; -1 if none may go. */
static int next_shed(struct model *m)
{
	int i, newest = -1, n = 0;

	for (i = 0; i < m->queued; i++) {
		if (m->order[i]->msg.ops != &unasked)
			continue;
		newest = i;
		n++;
	}
	return n == 1 && m->order[newest]->msg.charge <= SMALL ? -1 : newest;
}

static void shed(struct model *m, struct input *in)
{
	size_t said, bytes = take16(in), freed = 0;
	unsigned int n, left = m->queued;
	struct umad_rx_entry *msg, *next;
	LIST_HEAD(gone);
	int i;

	said = umad_rxq_shed(&m->q, bytes, &gone, &n);
	list_for_each_entry_safe_reverse(msg, next, &gone, node) {
		struct record *record = container_of(msg, struct record, msg);

		i = next_shed(m);
		MUST(freed < bytes && i >= 0 && m->order[i] == record);
		freed += msg->charge;
		m->queued--;
		memmove(m->order + i, m->order + i + 1, (m->queued - i) * sizeof(m->order[0]));
		list_del(&msg->node);
		msg->ops->release(NULL, msg, false);
		given_back(m, record);
	}
	MUST(n == left - m->queued && said == freed);
	MUST(freed >= bytes || next_shed(m) < 0);
	if (m->polled && !m->queued) {
		m->polled = false;
		m->read_owed = true;
	}
}

static void put_back(struct model *m, struct record *record)
{
	u32 woken = fuzz_wakes;
	bool owed = umad_rxq_put_back(&m->q, &record->msg);

	/* A reader is, in any case. */
	MUST(m->dead || fuzz_wakes > woken);
	if (m->dead) {
		MUST(!owed);
		given_back(m, record);
		return;
	}
	MUST(owed == (m->looked && !m->owed));
	m->owed |= owed;
	m->looked = false;
	m->polled = true;
	m->read_owed = false;
	memmove(m->order + 1, m->order, m->queued * sizeof(m->order[0]));
	m->order[0] = record;
	m->queued++;
	record->place = QUEUED;
}

static void wake_pollers(struct model *m)
{
	u32 woken = fuzz_wakes;

	if (!m->owed)
		return;
	umad_rxq_wake_pollers(&m->q);
	MUST(fuzz_wakes > woken);
	m->owed = false;
}

static void kill(struct model *m)
{
	u32 i, woken = fuzz_wakes;

	umad_rxq_shutdown(&m->q);
	MUST(fuzz_wakes > woken);
	m->dead = true;
	m->queued = 0;
	for (i = 0; i < RECORDS; i++)
		if (m->records[i].place == QUEUED)
			given_back(m, &m->records[i]);
}

/* What concerns no record. */
static void step_of_queue(struct model *m, struct input *in)
{
	u8 byte = take(in);

	if (byte == 0xff) {
		kill(m);
		return;
	}
	switch (byte % 8) {
	case 0:
	case 2:
	case 6:
		look(m);
		break;
	case 4:
		take_owed(m);
		break;
	case 5:
		poll(m);
		break;
	case 7:
		shed(m, in);
		break;
	default:
		wake_pollers(m);
		break;
	}
}

static void step(struct model *m, struct input *in)
{
	u8 byte = take(in);
	struct record *record = &m->records[byte % RECORDS];

	switch (byte / RECORDS) {
	case 0:
		pop(m);
		break;
	case 1:
		step_of_queue(m, in);
		break;
	default:
		if (record->place == NOWHERE) {
			make(m, record, in);
		} else if (record->place == MADE && byte & 0x80) {
			push(m, record);
		} else if (record->place == READING && byte & 0x80) {
			put_back(m, record);
		} else if (record->place != QUEUED) {
			umad_rxq_free(&m->q, &record->msg);
			given_back(m, record);
		}
		break;
	}
	check(m);
}

void fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct model model = {}, *m = &model;
	u32 i;

	umad_rxq_init(&m->q, take(&in) % 4 ? take16(&in) : take64(&in));
	check(m);
	while (in.left)
		step(m, &in);

	kill(m);
	for (i = 0; i < RECORDS; i++) {
		struct record *record = &m->records[i];

		if (record->place == NOWHERE)
			continue;
		MUST(!record->released);
		umad_rxq_free(&m->q, &record->msg);
		given_back(m, record);
	}
	check(m);
	MUST(!m->q.charged);
}
