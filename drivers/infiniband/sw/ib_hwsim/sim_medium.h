/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets that a port sends pass its medium: rules and random faults decide about each
 * packet, then it is captured, then delivered, now or later. Without rules and random
 * faults, packets are delivered at once and in order. A second medium is for packets
 * that a program writes to the port.
 */
#ifndef SIM_MEDIUM_H
#define SIM_MEDIUM_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "sim_capture.h"
#include "sim_packet.h"
#include "sim_random.h"
#include "sim_rules.h"

/* What a medium counts; names in sim_medium_debugfs.c. */
enum sim_medium_count {
	SIM_MEDIUM_SENT,
	SIM_MEDIUM_DELIVERED,
	SIM_MEDIUM_DROPPED,
	SIM_MEDIUM_DUPLICATED,
	SIM_MEDIUM_DELAYED,
	SIM_MEDIUM_REORDERED,
	SIM_MEDIUM_CORRUPTED,
	SIM_MEDIUM_MUTATED,
	SIM_MEDIUM_OVERFLOW,
	SIM_MEDIUM_NO_MEMORY,
	SIM_MEDIUM_COUNTS
};

/**
 * struct sim_medium - the path from a port to its far end, or back
 * @direction: seen from the port
 * @deliver: takes each packet that arrives; called by @work without any lock
 * @ctx: argument of @deliver
 * @rules: decide first
 * @random: decides about packets that no rule has decided about
 * @inside: packets that were sent, and not yet delivered or lost
 * @lock: a leaf, hard irqs off; protects @in and @dead
 * @in: packets that were sent and not judged yet
 * @dead: no packet is taken any more
 * @work: judges packets, and delivers those that are due; owns all below
 * @timer: queues @work when the next packet is due
 * @seq: number of the packet that was judged last
 * @lane_due: when the last packet of @lane is due
 * @lane: packets in order, each due no earlier than the one before
 * @late: packets that a rule delays, sorted by when they are due
 * @overtaken: packets that wait to be overtaken
 * @counts: see enum sim_medium_count
 */
struct sim_medium {
	enum sim_direction direction;
	void (*deliver)(void *ctx, struct sim_packet *packet);
	void *ctx;
	struct sim_rules *rules;
	struct sim_random random;
	atomic_t inside;
	spinlock_t lock;	/* @in, @dead */
	struct list_head in;
	bool dead;
	struct work_struct work;
	struct hrtimer timer;
	u64 seq;
	u64 lane_due;
	struct list_head lane;
	struct list_head late;
	struct list_head overtaken;
	atomic64_t counts[SIM_MEDIUM_COUNTS];
};

int sim_medium_init(struct sim_medium *medium, enum sim_direction direction,
		    void (*deliver)(void *ctx, struct sim_packet *packet),
		    void *ctx);
void sim_medium_exit(struct sim_medium *medium);
void sim_medium_send(struct sim_medium *medium, struct sim_packet *packet);
bool sim_medium_is_idle(struct sim_medium *medium);

#endif
