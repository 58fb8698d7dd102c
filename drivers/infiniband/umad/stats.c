// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "stats.h"

#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include "umad_export.h"

/**
 * umad_stats_init() - nothing has happened yet
 * @stats: of a new port
 *
 * Context: process; may sleep.
 * Return: 0 or -ENOMEM.
 */
int umad_stats_init(struct umad_stats *stats)
{
	stats->value = __alloc_percpu(UMAD_STAT_COUNT * sizeof(*stats->value),
				      sizeof(*stats->value));
	return stats->value ? 0 : -ENOMEM;
}

/**
 * umad_stats_destroy() - nobody counts any more
 * @stats: of a port
 *
 * Context: process; may sleep.
 */
void umad_stats_destroy(struct umad_stats *stats)
{
	free_percpu(stats->value);
}

/**
 * umad_stat_read() - how often it has happened
 * @stats: of the port
 * @stat: which
 *
 * What other processors count meanwhile may be in it or not.
 * Context: any.
 * Return: the number, on a host of 32 bits modulo 2^32.
 */
unsigned long umad_stat_read(const struct umad_stats *stats, enum umad_stat stat)
{
	unsigned long sum = 0;
	int cpu;

	/* One that has been taken off keeps what it has counted. */
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats->value, cpu)[stat]);
	return sum;
}
EXPORT_SYMBOL_IF_KUNIT(umad_stat_read);
