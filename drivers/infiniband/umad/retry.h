/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Schedules retransmissions. All MADs of a port go through its send queue, and
 * processes with many short timeouts would keep it full, and the processor busy with
 * works that are accounted to nobody. So the further attempts of a port's requests,
 * and what timeouts make its RMPP senders send, have a pace: the next comes when
 * eight times as long has passed as one takes, which leaves seven eighths of the port to
 * others. Files have one in their turn (turns.h), and in a file those whom it sends to, or
 * one that never answers would delay the others' by all that it is sent.
 */
#ifndef UMAD_RETRY_H
#define UMAD_RETRY_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "turns.h"

struct umad_addr;

/**
 * struct umad_pace - how fast a port sends again
 * @lock: protects the rest; taken by a timer, and inside &umad_file.lock
 * @root: who waits for a turn
 * @next: when the next turn is
 * @took: ns from when an attempt was begun until it had left
 * @timer: gives the turn at @next, if there is who waits
 */
struct umad_pace {
	spinlock_t lock; /* protects the rest */
	struct umad_turn root;
	ktime_t next;
	s64 took;
	struct hrtimer timer;
};

void umad_pace_init(struct umad_pace *pace);
void umad_pace_destroy(struct umad_pace *pace);
void umad_pace_took(struct umad_pace *pace, s64 ns);
void umad_pace_unknown(struct umad_pace *pace, ktime_t now);

/**
 * struct umad_retry - something to be sent again; protected by &umad_file.lock
 * @dest: where to, constant
 * @apart: waits in &umad_retry_queue.apart; changes only while it does not wait
 * @node: of the first to its destination, in &umad_retry_lines.turns; of another one in
 *	@rest of the first; empty while it does not wait
 * @rest: of the first: those behind it
 * @first: of the first: in &umad_retry_lines.dests
 */
struct umad_retry {
	const struct umad_addr *dest;
	bool apart;
	struct list_head node;
	struct list_head rest;
	struct rb_node first;
};

/**
 * struct umad_retry_lines - a line for each destination; protected by &umad_file.lock
 * @dests: the first entry of each destination that something waits for, by the destination
 * @turns: the same, in the order of their turns
 */
struct umad_retry_lines {
	struct rb_root dests;
	struct list_head turns;
};

/**
 * struct umad_retry_queue - what a file has to send again
 * @pace: of its port, constant
 * @turn: among the files of its process
 * @all: what is not apart
 * @apart: what has each second turn
 * @in_flight: further attempts of requests that are in the send queue; protected by
 *	&umad_file.lock
 * @has_turn: @turn waits, or @work is queued; protected by &umad_file.lock
 * @apart_had: the last turn was one of @apart; protected by &umad_file.lock
 * @work: sends the first one
 */
struct umad_retry_queue {
	struct umad_pace *pace;
	struct umad_turn turn;
	struct umad_retry_lines all;
	struct umad_retry_lines apart;
	unsigned int in_flight;
	bool has_turn;
	bool apart_had;
	struct work_struct work;
};

void umad_retry_queue_init(struct umad_retry_queue *queue, struct umad_pace *pace,
			   struct umad_turn *process, work_func_t send_next);
void umad_retry_queue_destroy(struct umad_retry_queue *queue);
void umad_retry_queue_arm(struct umad_retry_queue *queue, ktime_t now);
void umad_retry_init(struct umad_retry *entry, const struct umad_addr *dest);
void umad_retry_queue_add(struct umad_retry_queue *queue, struct umad_retry *entry);
void umad_retry_queue_remove(struct umad_retry_queue *queue, struct umad_retry *entry);
struct umad_retry *umad_retry_queue_next(struct umad_retry_queue *queue);

/**
 * umad_retry_is_queued() - is it in line?
 * @entry: joined or not
 *
 * Context: process, &umad_file.lock held.
 * Return: true if so.
 */
static inline bool umad_retry_is_queued(const struct umad_retry *entry)
{
	return !list_empty(&entry->node);
}

#endif /* UMAD_RETRY_H */
