/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The turn of what is sent again. All MADs of a port go through its send queue, and
 * programs with many short time-outs would keep it full, and the processor busy with
 * works that are accounted to nobody. So the further attempts of a port's requests,
 * and what time-outs make its RMPP senders send, have a pace: the next comes when
 * five times as long has passed as one takes, which leaves four fifths of the port to
 * others. Files take turns, each of which sends one.
 */
#ifndef UMAD_AGAIN_H
#define UMAD_AGAIN_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/**
 * struct umad_pace - how fast a port sends again
 * @lock: protects the rest; taken by a timer, and inside &umad_file.lock
 * @files: that wait for a turn, in that order, &umad_again.node
 * @next: when the next turn is
 * @took: ns from when an attempt was begun until it had left
 * @timer: gives the turn at @next, if there is who waits
 */
struct umad_pace {
	spinlock_t lock; /* protects the rest */
	struct list_head files;
	ktime_t next;
	s64 took;
	struct hrtimer timer;
};

void umad_pace_init(struct umad_pace *pace);
void umad_pace_destroy(struct umad_pace *pace);
void umad_pace_took(struct umad_pace *pace, s64 ns);
void umad_pace_unknown(struct umad_pace *pace, ktime_t now);

/**
 * struct umad_again - what a file has to send again
 * @pace: of its port, constant
 * @waiting: for the turns of the file, in that order, &umad_send.again_node;
 *	protected by &umad_file.lock
 * @in_flight: further attempts of requests that are in the send queue; protected by
 *	&umad_file.lock
 * @has_turn: in &umad_pace.files, or @work is queued; protected by &umad_file.lock
 * @node: in &umad_pace.files; protected by &umad_pace.lock
 * @work: sends the first one
 */
struct umad_again {
	struct umad_pace *pace;
	struct list_head waiting;
	unsigned int in_flight;
	bool has_turn;
	struct list_head node;
	struct work_struct work;
};

void umad_again_init(struct umad_again *again, struct umad_pace *pace,
		     work_func_t send_next);
void umad_again_destroy(struct umad_again *again);
void umad_again_arm(struct umad_again *again, ktime_t now);

#endif /* UMAD_AGAIN_H */
