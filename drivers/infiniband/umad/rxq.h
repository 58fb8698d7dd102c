/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The queue of what a file's read() will hand out, with a bound in bytes.
 * Self-contained: knows neither ib_core nor files.
 */
#ifndef UMAD_RXQ_H
#define UMAD_RXQ_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_user_mad.h>

struct umad_pagebuf;

struct umad_rx_entry;
struct umad_rxq;

/**
 * struct umad_rx_view - what there is to be read of an entry
 * @data: the MAD, or the headers of a message of several segments
 * @len: bytes of @data
 * @body: the data of such a message, or NULL
 * @body_len: bytes of it
 * @first: bytes that its first segment had: a reader with room for them gets
 *	them, and hears how much room the whole needs
 */
struct umad_rx_view {
	const void *data;
	size_t len;
	struct umad_pagebuf *body;
	size_t body_len;
	size_t first;
};

/**
 * struct umad_rx_ops - what kinds of entries do differently
 * @view: fill in a view, which is zero; good as long as the entry
 * @release: give the entry back, which is not charged any more to the queue; may sleep.
 *	@here: all memory at once, or a work may do that if it is much. @q is NULL of what
 *	umad_rxq_shed() found
 * @unasked: nobody has asked for it: umad_rxq_shed() may have it
 */
struct umad_rx_ops {
	void (*view)(const struct umad_rx_entry *entry, struct umad_rx_view *view);
	void (*release)(struct umad_rxq *q, struct umad_rx_entry *entry, bool here);
	bool unasked;
};

/**
 * struct umad_rx_entry - one entry for read()
 * @node: in &umad_rxq.list, by &umad_rx_ops.unasked
 * @hdr: as read() copies it out; but its length, without a status, is its owner's, as it
 *	depends on the layout
 * @ops: what it is, constant once it is queued
 * @charge: bytes it is charged to the queue's budget
 * @seq: of two in the queue the older one has the smaller, modulo 2^32
 *
 * There may be very many, each with a MAD of 256 bytes.
 */
struct umad_rx_entry {
	struct list_head node;
	struct ib_user_mad_hdr hdr;
	const struct umad_rx_ops *ops;
	u32 charge;
	u32 seq;
};

/**
 * struct umad_rxq - a queue of entries
 * @lock: protects all members; taken in process context only, inside the
 *	file's lock or alone, and nothing is taken inside it
 * @list: entries, the oldest first: those that were asked for, and the others
 * @seq: of the next entry
 * @wait: pollers
 * @readers: who sleeps in read()
 * @budget: bytes that entries may be charged, constant
 * @charged: bytes charged now: queued, and being copied out by a reader
 * @queued: entries in @list
 * @shutdown: no entry goes in or out any more
 * @seen_empty: somebody has found no entry since one was queued last
 * @said_ready: poll(), or a read() that failed, has said that there is an entry, and none was
 *	taken since
 * @read_owed: and then it was shed: a reader is not to sleep for it
 * @wake_owed: somebody is about to wake the pollers
 * @to_wake: entries that nobody has been woken for; atomic, as umad_rxq_wake() has no lock
 */
struct umad_rxq {
	spinlock_t lock; /* protects all below */
	struct list_head list[2];
	u32 seq;
	wait_queue_head_t wait;
	wait_queue_head_t readers;
	size_t budget;
	size_t charged;
	unsigned int queued;
	bool shutdown;
	bool seen_empty;
	bool said_ready;
	bool read_owed;
	bool wake_owed;
	atomic_t to_wake;
};

void umad_rxq_init(struct umad_rxq *q, size_t budget);
bool __must_check umad_rxq_charge(struct umad_rxq *q, struct umad_rx_entry *entry,
				  size_t bytes);
void umad_rxq_charge_always(struct umad_rxq *q, struct umad_rx_entry *entry,
			    size_t bytes);
bool umad_rxq_has_room(struct umad_rxq *q);

/**
 * umad_rxq_charged() - what entries are charged now
 * @q: the queue
 *
 * Context: any.
 * Return: bytes; without the lock, so it may be another number by then.
 */
static inline size_t umad_rxq_charged(const struct umad_rxq *q)
{
	return READ_ONCE(q->charged);
}

bool __must_check umad_rxq_push(struct umad_rxq *q, struct umad_rx_entry *entry);
void umad_rxq_wake(struct umad_rxq *q);
struct umad_rx_entry *umad_rxq_pop(struct umad_rxq *q);
bool __must_check umad_rxq_put_back(struct umad_rxq *q, struct umad_rx_entry *entry);
void umad_rxq_wake_pollers(struct umad_rxq *q);
void umad_rxq_free(struct umad_rxq *q, struct umad_rx_entry *entry);
void umad_rxq_free_here(struct umad_rxq *q, struct umad_rx_entry *entry);
size_t umad_rxq_shed(struct umad_rxq *q, size_t bytes, struct list_head *gone,
		     unsigned int *n);
void umad_rxq_shutdown(struct umad_rxq *q);
bool umad_rxq_is_ready(struct umad_rxq *q);
bool umad_rxq_poll(struct umad_rxq *q);
bool umad_rxq_take_owed(struct umad_rxq *q);

#endif /* UMAD_RXQ_H */
