/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The hostile peer: what all of its parts share. One process plays the fabric,
 * and all nodes behind it (attack.c); others are programs of the port: a pair
 * that behaves and keeps a ledger (good.c), and some that do everything that a
 * program may (work.c). All chance comes from one seed.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stdint.h>

#include "umad_util.h"

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

#define WORKERS		3
#define THREADS		2	/* of each, on one file */
#define PEERS		48	/* nodes that are not there */
#define SILENT_PEERS	4	/* of them, the last: RoCE cannot resolve them */

/* Of the pair alone; OUI where the class has one. */
#define GOOD_CLASS	0x30
#define GOOD_METHOD	0x10
#define GOOD_PLAIN	0x0a	/* a class without RMPP */

/* splitmix64 */
struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline uint32_t rnd(struct rng *rng, uint32_t below)
{
	return (rng_next(rng) >> 32) * below >> 32;
}

static inline bool chance(struct rng *rng, unsigned int percent)
{
	return rnd(rng, 100) < percent;
}

/* Counts in MADs or messages; @wrong and what follows must stay 0. */
struct ledger {
	uint32_t asked, answered, timed_out, refused;
	uint32_t stolen;	/* answered by a node that was not asked */
	uint32_t served, replies, undelivered, foreign, again, nobodys;
	uint32_t wrong;		/* other bytes, another length */
	uint32_t unasked;	/* an end of what was not outstanding */
	uint32_t twice;		/* a message delivered twice */
	uint32_t lost;		/* without an end */
	uint32_t max_ms;	/* from a request to its answer */
};

/* What a worker is doing, for the watchdog. */
struct beat {
	uint64_t ms;		/* of the call's beginning, 0: none */
	char what[16];
	uint32_t calls;
};

/* Memory that all processes share. */
struct shared {
	int stop;
	int calls;		/* that the workers may make, all together */
	int requests;		/* that the pair may begin */
	struct ledger good;
	struct beat beat[WORKERS * THREADS];
	uint32_t hi_tid[16];	/* of agents that have sent lately */
	uint32_t hi_tid_n;
};

static inline bool stopping(const struct shared *shared)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_RELAXED);
}

/*
 * All keep step with the attack: else most of the packets would be others'.
 * False: not now.
 */
static inline bool may_go(int *tokens)
{
	if (__atomic_sub_fetch(tokens, 1, __ATOMIC_RELAXED) >= 0)
		return true;
	__atomic_add_fetch(tokens, 1, __ATOMIC_RELAXED);
	return false;
}

struct wire;

/* An address on the fabric as a program writes it. */
void peer_address(const struct wire *wire, int peer, bool grh,
		  struct ib_user_mad_hdr *hdr);

void good_main(struct shared *shared, const struct wire *wire, uint64_t seed);
void work_main(struct shared *shared, const struct wire *wire, int index,
	       uint64_t seed);

#endif /* FUZZ_H */
