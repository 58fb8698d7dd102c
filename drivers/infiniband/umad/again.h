/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The further attempts of a file's requests. All MADs of a port go through its send
 * queue in turn, and a program with many short time-outs would keep it full: so there
 * is one at a time, and after each a pause of twice the time that it took, which leaves
 * two thirds of the port to others.
 */
#ifndef UMAD_AGAIN_H
#define UMAD_AGAIN_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

/**
 * struct umad_again - the turn of a file's further attempts
 * @waiting: those whose time has come, in that order, &umad_send.again_node
 * @posted: one is in the send queue, or about to be
 * @since: when it was
 * @from: when the next may be posted
 * @timer: queues @work at @from
 * @work: posts the next one
 *
 * Protected by &umad_file.lock, but for the timer's own.
 */
struct umad_again {
	struct list_head waiting;
	bool posted;
	ktime_t since;
	ktime_t from;
	struct hrtimer timer;
	struct work_struct work;
};

void umad_again_init(struct umad_again *again, work_func_t post_next);
void umad_again_destroy(struct umad_again *again);
bool umad_again_may_begin(const struct umad_again *again, ktime_t now);
void umad_again_begin(struct umad_again *again, ktime_t now);
void umad_again_done(struct umad_again *again, ktime_t now);
void umad_again_arm(struct umad_again *again);

#endif /* UMAD_AGAIN_H */
