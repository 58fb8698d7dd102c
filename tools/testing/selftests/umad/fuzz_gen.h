/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a hostile caller hands to the module: numbers, MADs, and memory that is
 * not there, not ready, or changes while it is read. All is drawn from a
 * generator that is seeded anew for each call, so that the n-th call of a thread
 * asks for the same in each run.
 */
#ifndef UMAD_FUZZ_GEN_H
#define UMAD_FUZZ_GEN_H

#include "umad_util.h"

/* Of the well-behaved pair beside; nothing here sends it or registers for it. */
#define CLASS_LEDGER	0x4b

#define FUZZ_MAX_LEN	(64 << 10)

struct fuzz_rng {
	uint64_t state;
};

/* What one thread may hand over. */
struct fuzz_mem {
	char *plain;		/* FUZZ_MAX_LEN bytes, then a page of no access */
	char *readonly;		/* a page, then one of no access */
	char *hole;		/* a missing page, with a present one before it */
	uint8_t mad[FUZZ_MAX_LEN];
};

void fuzz_seed(struct fuzz_rng *rng, uint64_t seed, uint64_t thread,
	       uint64_t call);
uint64_t fuzz_u64(struct fuzz_rng *rng);
uint32_t fuzz_below(struct fuzz_rng *rng, uint32_t n);
bool fuzz_one_in(struct fuzz_rng *rng, uint32_t n);

int fuzz_mem_init(struct fuzz_mem *mem);
void fuzz_mem_free(struct fuzz_mem *mem);
void *fuzz_place(struct fuzz_rng *rng, struct fuzz_mem *mem, const void *data,
		 size_t len);
size_t fuzz_len(struct fuzz_rng *rng);

size_t fuzz_mad(struct fuzz_rng *rng, struct fuzz_mem *mem,
		const struct test_port *port);
void fuzz_saw_tid(uint64_t tid);
void fuzz_reg(struct fuzz_rng *rng, struct ib_user_mad_reg_req2 *req);

/* The two threads that make memory change, and pages come late. */
struct fuzz_helpers {
	struct side_call scribbler, pager;
	int stop;
	int uffd;
};

int fuzz_helpers_start(struct fuzz_helpers *helpers, uint64_t seed);
int fuzz_helpers_hole(struct fuzz_helpers *helpers, struct fuzz_mem *mem);
void fuzz_helpers_stop(struct fuzz_helpers *helpers);

#endif /* UMAD_FUZZ_GEN_H */
