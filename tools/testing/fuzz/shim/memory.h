/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef UMAD_FUZZ_MEMORY_H
#define UMAD_FUZZ_MEMORY_H

#include <linux/types.h>

/**
 * struct fuzz_memory - what the driver's files have taken, and will not get
 * @calls: allocations so far
 * @fail_at: of them, those from this one on fail; U32_MAX: none
 * @pages: pages taken
 * @objects: other memory taken
 * @faults: copies to and from a program so far
 * @fault_at: of them, this one fails; 0 is the first
 */
struct fuzz_memory {
	u32 calls;
	u32 fail_at;
	u32 pages;
	u32 objects;
	u32 faults;
	u32 fault_at;
};

extern struct fuzz_memory fuzz_memory;

/* Before each input. What the last one has not given back is a failure. */
void fuzz_memory_reset(void);

#endif /* UMAD_FUZZ_MEMORY_H */
