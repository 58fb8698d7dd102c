/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Who asks a cgroup's shrinker. One that is asked once says little: when all pages were in
 * use a short time ago, none is found, and in a cgroup that swaps that is so again and again.
 * A task whose charge fails asks 17 times before it is killed.
 */
#ifndef UMAD_ASKERS_H
#define UMAD_ASKERS_H

#include <linux/spinlock.h>
#include <linux/types.h>

#define UMAD_ASKERS	32

/**
 * struct umad_asker - a task that asks
 * @task: compared, not followed; NULL: none
 * @progress: of it, when it asked
 * @at: when it last asked, in jiffies
 * @times: that it has asked, or more
 */
struct umad_asker {
	const void *task;
	unsigned long progress;
	unsigned long at;
	unsigned int times;
};

/**
 * struct umad_askers - those of late
 * @lock: protects @of; nothing is taken inside
 * @of: in no order
 */
struct umad_askers {
	spinlock_t lock; /* innermost */
	struct umad_asker of[UMAD_ASKERS];
};

void umad_askers_init(struct umad_askers *askers);
unsigned int umad_askers_note(struct umad_askers *askers, const void *task,
			      unsigned long progress, unsigned long now);

#endif /* UMAD_ASKERS_H */
