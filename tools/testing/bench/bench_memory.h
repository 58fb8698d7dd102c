/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How much memory of the guest is free. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

/**
 * struct memory - bytes
 * @free: in the lists of each CPU too
 * @slab: in slabs
 */
struct memory {
	long free, slab;
};

void memory_settle(struct memory *m, int limit_s);

#endif /* BENCH_MEMORY_H */
