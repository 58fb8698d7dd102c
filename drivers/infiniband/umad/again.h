/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The turn of what is sent again. All MADs of a port go through its send queue, and
 * programs with many short time-outs would keep it full, and the processor busy with
 * works that are accounted to nobody. So the further attempts of a port's requests,
 * and what time-outs make its RMPP senders send, have a pace: the next comes when
 * three times as long has passed as one takes, which leaves two thirds of the port to
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
 * @lock: protects the rest; taken inside &umad_file.lock
 * @next: when the next turn is that nobody has
 * @took: ns from when an attempt was begun until it had left
 */
struct umad_pace {
	spinlock_t lock;
	ktime_t next;
	s64 took;
};

void umad_pace_init(struct umad_pace *pace);
ktime_t umad_pace_turn(struct umad_pace *pace, ktime_t now);
void umad_pace_took(struct umad_pace *pace, s64 ns);
void umad_pace_unknown(struct umad_pace *pace, ktime_t now);

/**
 * struct umad_again - what a file has to send again
 * @pace: of its port, constant
 * @waiting: for their turn, in that order, &umad_send.again_node
 * @has_turn: @work is queued, or @timer will do that
 * @timer: queues @work when the turn has come
 * @work: sends the first one
 *
 * Protected by &umad_file.lock.
 */
struct umad_again {
	struct umad_pace *pace;
	struct list_head waiting;
	bool has_turn;
	struct hrtimer timer;
	struct work_struct work;
};

void umad_again_init(struct umad_again *again, struct umad_pace *pace,
		     work_func_t send_next);
void umad_again_destroy(struct umad_again *again);
void umad_again_arm(struct umad_again *again, ktime_t now);

#endif /* UMAD_AGAIN_H */
