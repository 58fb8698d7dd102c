/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Random faults: packets that no rule has decided about are lost, duplicated, delayed
 * or reordered at random. The same seed and settings make the same decision about the
 * n-th packet.
 */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <linux/prandom.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "sim_verdict.h"

struct seq_file;

/**
 * struct sim_random_settings - what happens, and how often
 * @drop: probability of loss, in millionths
 * @dup: probability of duplication
 * @reorder: probability of reordering
 * @behind: packets that overtake one that is reordered
 * @delay_us: delay of each packet
 * @jitter_us: maximum of the random additional delay
 * @seed: seed of the generator
 */
struct sim_random_settings {
	u32 drop;
	u32 dup;
	u32 reorder;
	u32 behind;
	u32 delay_us;
	u32 jitter_us;
	u32 seed;
};

/**
 * struct sim_random - random faults of one medium
 * @lock: a leaf, taken in any context; protects all that follows
 * @settings: the current settings
 * @on: a fault is possible
 * @state: the generator
 * @judged: packets that it has decided about
 * @dropped: those of them that were lost
 * @duplicated: those that were duplicated
 * @reordered: those that were reordered
 */
struct sim_random {
	spinlock_t lock;	/* all below */
	struct sim_random_settings settings;
	bool on;
	struct rnd_state state;
	u64 judged;
	u64 dropped;
	u64 duplicated;
	u64 reordered;
};

void sim_random_init(struct sim_random *random);
int sim_random_set(struct sim_random *random, const char *line);
void sim_random_reseed(struct sim_random *random, u32 seed);
u32 sim_random_seed(struct sim_random *random);
int sim_random_show(struct sim_random *random, struct seq_file *s);
bool sim_random_is_on(struct sim_random *random);
void sim_random_judge(struct sim_random *random, struct sim_verdict *verdict);

#endif
