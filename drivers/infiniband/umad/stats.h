/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What happened on a port, counted. */
#ifndef UMAD_STATS_H
#define UMAD_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

/* One for each line of counters.h, which says what they count. */
enum umad_stat {
#define UMAD_COUNTER(stat, name, unit, meaning) UMAD_STAT_##stat,
#include "counters.h"
#undef UMAD_COUNTER
	UMAD_STAT_COUNT,
};

/**
 * struct umad_stats - the counters of one port
 * @value: by &enum umad_stat, of each processor, which alone adds to them; they only rise,
 *	on a host of 32 bits modulo 2^32. NULL: not there yet
 */
struct umad_stats {
	unsigned long __percpu *value;
};

int umad_stats_init(struct umad_stats *stats);
void umad_stats_destroy(struct umad_stats *stats);
unsigned long umad_stat_read(const struct umad_stats *stats, enum umad_stat stat);

/**
 * umad_stat_inc() - count one
 * @stats: of the port
 * @stat: which
 *
 * Context: any.
 */
static inline void umad_stat_inc(struct umad_stats *stats, enum umad_stat stat)
{
	this_cpu_inc(stats->value[stat]);
}

/**
 * umad_stat_add() - count several
 * @stats: of the port
 * @stat: which
 * @n: how many
 *
 * Context: any.
 */
static inline void umad_stat_add(struct umad_stats *stats, enum umad_stat stat,
				 u32 n)
{
	this_cpu_add(stats->value[stat], n);
}

#endif /* UMAD_STATS_H */
