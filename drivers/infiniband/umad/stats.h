/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What happened on a port, counted. */
#ifndef UMAD_STATS_H
#define UMAD_STATS_H

#include <linux/atomic.h>

/* One for each line of counters.h, which says what they count. */
enum umad_stat {
#define UMAD_COUNTER(stat, name, unit, meaning) UMAD_STAT_##stat,
#include "counters.h"
#undef UMAD_COUNTER
	UMAD_STAT_COUNT,
};

/**
 * struct umad_stats - the counters of one port
 * @value: by &enum umad_stat; they only rise
 */
struct umad_stats {
	atomic64_t value[UMAD_STAT_COUNT];
};

/**
 * umad_stat_inc() - count one
 * @stats: of the port
 * @stat: which
 *
 * Context: any.
 */
static inline void umad_stat_inc(struct umad_stats *stats, enum umad_stat stat)
{
	atomic64_inc(&stats->value[stat]);
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
	if (n)
		atomic64_add(n, &stats->value[stat]);
}

#endif /* UMAD_STATS_H */
