/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory that a receive handler allocates for a process, charged to the cgroup
 * of the file's opener. The handler runs in a work that serves all MAD clients of
 * the port: it must not reclaim for a cgroup that is at its limit, nor sleep for
 * one that is above its memory.high.
 */
#ifndef UMAD_CHARGE_H
#define UMAD_CHARGE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
#include "askers.h"
#include "umad_memcg.h"

#define UMAD_GFP_HANDLER	(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN)
/* What write() needs: it fails when a process would be killed for it. */
#define UMAD_GFP_WRITE		(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * struct umad_charge - what umad_charge_end() puts back
 * @memcg: that was charged before
 * @over_high: pages for which the work was to be throttled before
 */
struct umad_charge {
	struct mem_cgroup *memcg;
	unsigned int over_high;
};

/* Below the root; of those that lie deeper, the highest and the one of the file. */
#define UMAD_CGROUP_LEVELS	8

/**
 * struct umad_reserve - how the files of a cgroup get by while that is at its limit
 * @node: in a table by @memcg, as long as there are @files
 * @parent: of the cgroup above it, constant; NULL of the root, and right below that
 * @files: that have it, and cgroups right below; protected by umad_reserves_lock
 * @refs: one of the files, and one for @refill, queued or running
 * @memcg: the cgroup, a reference is held
 * @refill: reclaims for the cgroup, where that delays nobody: it may outlive the files
 * @rest: before it runs again, in ms
 * @used: bytes that are charged to nobody, for the time being; of those below it, too
 * @unasked: bytes of messages being received that nobody here has asked for; likewise
 * @answers: bytes of messages being received that answer requests; likewise
 * @unread: bytes that wait to be read, in steps, without what each file may have anyhow;
 *	likewise
 * @sent: bytes of single MADs being sent that expect no response; likewise
 * @asked: bytes of requests of a single MAD; likewise
 * @lru_node: for the shrinker (reclaim.c), by @memcg
 * @file_list: its files, &umad_file.reserve_node, not those of cgroups below; protected by
 *	umad_reserves_lock, as those below
 * @below: reserves of cgroups right below
 * @beside: in that of @parent
 * @askers: who has looked for memory of the cgroup
 */
struct umad_reserve {
	struct hlist_node node;
	struct umad_reserve *parent;
	unsigned int files;
	refcount_t refs;
	struct mem_cgroup *memcg;
	struct delayed_work refill;
	unsigned int rest;
	atomic_t used;
	atomic64_t unasked;
	atomic64_t answers;
	atomic64_t unread;
	atomic64_t sent;
	atomic64_t asked;
	struct list_head lru_node;
	struct list_head file_list;
	struct list_head below;
	struct list_head beside;
	struct umad_askers askers;
};

/**
 * umad_charge_begin() - charge another cgroup from now on
 * @memcg: of the file's opener, kept by the caller
 *
 * Context: process; does not sleep.
 * Return: for umad_charge_end().
 */
static inline struct umad_charge umad_charge_begin(struct mem_cgroup *memcg)
{
	struct umad_charge charge = {};

#ifdef CONFIG_MEMCG
	charge.over_high = current->memcg_nr_pages_over_high;
#endif
	charge.memcg = set_active_memcg(memcg);
	return charge;
}

/**
 * umad_charge_end() - charge as before
 * @charge: of umad_charge_begin()
 *
 * Charges above memory.high are remembered by the thread, which would sleep for
 * them at its next one that may: but it is not this work that has to slow down.
 * Context: process; does not sleep.
 */
static inline void umad_charge_end(const struct umad_charge *charge)
{
	set_active_memcg(charge->memcg);
#ifdef CONFIG_MEMCG
	current->memcg_nr_pages_over_high = charge->over_high;
#endif
}

/**
 * umad_throttle_defer() - do not sleep for memory.high from now on
 *
 * Context: process, on behalf of user space.
 * Return: for umad_throttle_resume().
 */
static inline unsigned int umad_throttle_defer(void)
{
	unsigned int over_high = 0;

	/*
	 * A charge above memory.high may sleep for up to 2 s, at once or on the
	 * way back to user space. With an active reference it has to be the latter: removal
	 * of the device would wait.
	 */
#ifdef CONFIG_MEMCG
	over_high = current->memcg_nr_pages_over_high;
	current->memcg_nr_pages_over_high = 0;
#endif
	return over_high;
}

/**
 * umad_throttle_resume() - without an active reference: what was put off is due again
 * @over_high: of umad_throttle_defer()
 *
 * Context: process, on behalf of user space.
 */
static inline void umad_throttle_resume(unsigned int over_high)
{
#ifdef CONFIG_MEMCG
	current->memcg_nr_pages_over_high += over_high;
#endif
}

struct kmem_cache;
struct umad_file;

struct umad_reserve *umad_reserve_get(void);
void umad_reserve_put(struct umad_reserve *reserve);
void umad_reserve_refill(struct umad_file *file);
void *umad_reserve_alloc(struct umad_file *file, struct kmem_cache *cache, size_t *used);
void umad_reserve_free(struct umad_file *file, size_t used);

#endif /* UMAD_CHARGE_H */
