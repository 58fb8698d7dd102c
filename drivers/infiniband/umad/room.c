// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "room.h"

#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/sizes.h>
#include <linux/swap.h>
#include "charge.h"
#include "umad_memcg.h"

/*
 * Bytes that a cgroup lacks no more than when it reclaims for its limit, and would kill for it:
 * twice what is charged at a time. Nobody is killed for want of more pages in a row.
 */
#define FULL_MARGIN	((u64)SZ_512K)

/* Swapping is what has swapped out more than one page of so many that it has. */
#define SWAPPED_FEW	16

/*
 * Cgroups beside one whose page cache is seen, each of which takes time, and that are looked at.
 * One that has less than one in so many pages is none of them: there may be hundreds that have
 * gone, and are kept by a page.
 */
#define SEEN_BESIDE	32
#define LOOK_BESIDE	512
#define MUCH_BESIDE	256

/* What a cgroup has of a kind. */
static atomic64_t *bytes_of(struct umad_reserve *reserve, enum umad_kept what)
{
	switch (what) {
	case UMAD_ANSWER:
		return &reserve->answers;
	case UMAD_UNREAD:
		return &reserve->unread;
	case UMAD_SENT:
		return &reserve->sent;
	case UMAD_ASKED:
		return &reserve->asked;
	default:
		return &reserve->unasked;
	}
}

/**
 * umad_reserve_add() - what is received, or sent, takes more memory
 * @reserve: of the file, or NULL
 * @what: it is; messages that begin and that go on are counted together
 * @bytes: more; less than 0: it does not any more
 *
 * Context: any.
 */
void umad_reserve_add(struct umad_reserve *reserve, enum umad_kept what, s64 bytes)
{
	for (; reserve; reserve = reserve->parent)
		atomic64_add(bytes, bytes_of(reserve, what));
}

#ifdef CONFIG_MEMCG
static u64 limit_in_bytes(unsigned long pages)
{
	return pages == PAGE_COUNTER_MAX ? U64_MAX : (u64)pages << PAGE_SHIFT;
}

/*
 * Bytes that a cgroup may have, and has. Above memory.high its processes are made to sleep, for
 * seconds if nothing can be reclaimed.
 */
static u64 memcg_max(struct mem_cgroup *memcg)
{
	unsigned long max = PAGE_COUNTER_MAX;

	/* What is charged to one that is gone is so to the cgroup above it. */
	if (mem_cgroup_online(memcg))
		max = min(READ_ONCE(memcg->memory.max), READ_ONCE(memcg->memory.high));
	return limit_in_bytes(max);
}

static u64 cgroup_max(const struct umad_reserve *reserve)
{
	return reserve->memcg ? memcg_max(reserve->memcg) : U64_MAX;
}

static u64 memcg_usage(struct mem_cgroup *memcg)
{
	return (u64)page_counter_read(&memcg->memory) << PAGE_SHIFT;
}

/* Of version 1, with what is swapped out. */
static u64 memsw_max(struct mem_cgroup *memcg)
{
	unsigned long max = PAGE_COUNTER_MAX;

	if (!cgroup_subsys_on_dfl(memory_cgrp_subsys) && mem_cgroup_online(memcg))
		max = READ_ONCE(memcg->memsw.max);
	return limit_in_bytes(max);
}

static u64 memsw_usage(struct mem_cgroup *memcg)
{
	return (u64)page_counter_read(&memcg->memsw) << PAGE_SHIFT;
}

#ifdef CONFIG_LRU_GEN
/* The lists with generations have counts of their own, which may be less than 0 for a moment. */
static s64 pages_in_generations(const struct lruvec *lruvec, int type, unsigned int zone)
{
	unsigned int gen;
	s64 pages = 0;

	for (gen = 0; gen < MAX_NR_GENS; gen++)
		pages += READ_ONCE(lruvec->lrugen.nr_pages[gen][type][zone]);
	return pages;
}
#else
static s64 pages_in_generations(const struct lruvec *lruvec, int type, unsigned int zone)
{
	return 0;
}
#endif

/* Page cache, and what counts as such, or anonymous memory. */
static s64 lru_pages(struct lruvec *lruvec, bool file, unsigned int zone)
{
	enum lru_list lru = file ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;

	return mem_cgroup_get_zone_lru_size(lruvec, lru, zone) +
	       mem_cgroup_get_zone_lru_size(lruvec, lru + LRU_ACTIVE, zone) +
	       pages_in_generations(lruvec, file, zone);
}

static s64 memcg_pages(struct mem_cgroup *memcg, bool file)
{
	struct lruvec *lruvec;
	unsigned int zone;
	s64 pages = 0;
	int node;

	for_each_node_state(node, N_MEMORY) {
		lruvec = &memcg->nodeinfo[node]->lruvec;
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			pages += lru_pages(lruvec, file, zone);
	}
	return max(pages, 0LL);
}

/*
 * Pages that it may still swap out: as many as it has swapped out already, as with a vm.swappiness
 * of 0 it does not, and the rest may be another's by then; few of them it may not have swapped by
 * itself. Of version 1, which has one for each cgroup and another counter, none are counted.
 */
static s64 swap_left(struct mem_cgroup *memcg)
{
	s64 left = get_nr_swap_pages(), swap_max, few;

	if (!cgroup_subsys_on_dfl(memory_cgrp_subsys))
		return 0;
	few = page_counter_read(&memcg->memory) / SWAPPED_FEW;
	left = min_t(s64, left, page_counter_read(&memcg->swap) - few);
	for (; left > 0 && memcg; memcg = parent_mem_cgroup(memcg)) {
		swap_max = READ_ONCE(memcg->swap.max);
		left = min_t(s64, left, swap_max - page_counter_read(&memcg->swap));
	}
	return max(left, 0LL);
}

/* Of that what can be reclaimed; not what cgroups below have. */
static u64 memcg_reclaimable(struct mem_cgroup *memcg)
{
	s64 swap = swap_left(memcg), pages = memcg_pages(memcg, true);

	if (swap)
		pages += min(swap, memcg_pages(memcg, false));
	return (u64)pages << PAGE_SHIFT;
}

/*
 * What is reclaimed of that for the limit of a cgroup above, @top: nothing below its memory.min, or
 * that of one between, which is for those below it, too (memory_recursiveprot).
 */
static u64 unprotected(struct mem_cgroup *memcg, struct mem_cgroup *top, u64 bytes)
{
	u64 usage, kept;

	for (; memcg != top; memcg = parent_mem_cgroup(memcg)) {
		usage = memcg_usage(memcg);
		kept = (u64)READ_ONCE(memcg->memory.min) << PAGE_SHIFT;
		bytes = min(bytes, usage - min(usage, kept));
	}
	return bytes;
}

/*
 * Is one between the two protected? What that leaves of each below it is not known. Nor is anything
 * of one that is not charged to @top, as in version 1 before 5.11 without memory.use_hierarchy.
 */
static bool is_protected(struct mem_cgroup *memcg, struct mem_cgroup *top)
{
	do {
		memcg = parent_mem_cgroup(memcg);
		if (!memcg)
			return true;
		if (memcg == top)
			return false;
	} while (!READ_ONCE(memcg->memory.min));
	return true;
}

/* Page cache of some cgroups below @top, beside @own. Swap is counted for @own. */
static u64 reclaimable_beside(struct mem_cgroup *own, struct mem_cgroup *top)
{
	unsigned int seen = 0, looked_at = 0;
	u64 bytes = 0, much = memcg_usage(top) / MUCH_BESIDE;
	struct cgroup_subsys_state *css;
	struct mem_cgroup *memcg;

	rcu_read_lock();
	css_for_each_descendant_pre(css, &top->css) {
		memcg = mem_cgroup_from_css(css);
		if (looked_at++ == LOOK_BESIDE || seen == SEEN_BESIDE)
			break;
		if (memcg_usage(memcg) < much || mem_cgroup_is_descendant(own, memcg))
			continue;
		seen++;
		if (is_protected(memcg, top))
			continue;
		bytes += unprotected(memcg, top, (u64)memcg_pages(memcg, true) << PAGE_SHIFT);
	}
	rcu_read_unlock();
	return bytes;
}

/* That of @own, of @top, and of those between. */
static u64 reclaimable_upwards(struct mem_cgroup *own, struct mem_cgroup *top)
{
	u64 bytes = memcg_reclaimable(top);

	for (; own != top; own = parent_mem_cgroup(own))
		bytes += unprotected(own, top, memcg_reclaimable(own));
	return bytes;
}

/* What can be reclaimed for the limit of @top, which is @own or one above it. */
static u64 reclaimable_for(struct mem_cgroup *own, struct mem_cgroup *top)
{
	return reclaimable_upwards(own, top) + reclaimable_beside(own, top);
}
#else
static u64 memcg_max(struct mem_cgroup *memcg)
{
	return U64_MAX;
}

static u64 cgroup_max(const struct umad_reserve *reserve)
{
	return U64_MAX;
}

static u64 memcg_usage(struct mem_cgroup *memcg)
{
	return 0;
}

static u64 memsw_max(struct mem_cgroup *memcg)
{
	return U64_MAX;
}

static u64 memsw_usage(struct mem_cgroup *memcg)
{
	return 0;
}

static u64 reclaimable_for(struct mem_cgroup *own, struct mem_cgroup *top)
{
	return 0;
}
#endif

/**
 * umad_reserve_max() - what may be charged to a cgroup
 * @reserve: the cgroup's, or NULL
 *
 * Context: any.
 * Return: bytes, the least that it or one above it may have; U64_MAX: any number.
 */
u64 umad_reserve_max(const struct umad_reserve *reserve)
{
	u64 max = U64_MAX;

	for (; reserve; reserve = reserve->parent)
		max = min(max, cgroup_max(reserve));
	return max;
}

/**
 * umad_reserve_part() - how many objects are a part of what a cgroup may have
 * @reserve: the cgroup's, or NULL
 * @part: one in so many
 * @bytes: of an object
 *
 * Whatever others have: what is shared among few is of no use, and these can be reclaimed.
 * Context: any.
 * Return: how many, by its limit and those above it.
 */
u64 umad_reserve_part(const struct umad_reserve *reserve, unsigned int part, size_t bytes)
{
	return div_u64(umad_reserve_max(reserve), part * bytes);
}

/* The files of a cgroup, times the cgroups beside it, and so on. */
static u64 more_parts(u64 parts, const struct umad_reserve *reserve)
{
	return min_t(u64, parts * max(READ_ONCE(reserve->files), 1U), U32_MAX);
}

/* Bytes that wait to be read. Who counts it may be late, and another has given it back. */
static u64 unread_of(const struct umad_reserve *reserve)
{
	return max_t(s64, atomic64_read(&reserve->unread), 0);
}

/* What is left of @max if @less were given back. */
static u64 beyond(u64 max, u64 usage, u64 less)
{
	return max - min(max, usage - min(usage, less));
}

/* The same of a cgroup whose limit that is, with swap of version 1. */
static u64 left_with(struct mem_cgroup *memcg, u64 max, u64 less)
{
	return min(beyond(max, memcg_usage(memcg), less),
		   beyond(memsw_max(memcg), memsw_usage(memcg), less));
}

/*
 * What is left below the limit @max of the cgroup @top for one below it, @own, if @kept were given
 * back. If that is less than @enough, what can be reclaimed is counted.
 */
static u64 left_for(struct mem_cgroup *own, struct mem_cgroup *top, u64 max, u64 kept, u64 enough)
{
	u64 left = left_with(top, max, kept);

	return left >= enough ? left : left_with(top, max, kept + reclaimable_for(own, top));
}

/* The same, but what is not seen of that must not leave nothing. */
static u64 room_for(struct mem_cgroup *own, struct mem_cgroup *top, u64 max, u64 kept, u64 enough)
{
	return max(left_for(own, top, max, kept, enough), max / 16);
}

/**
 * umad_cgroup_left() - what the cgroup of the caller may still be charged
 * @enough: bytes; if that is less, what can be reclaimed is counted, too, which takes longer
 *
 * Context: process; does not sleep.
 * Return: bytes, the least of it and those above it, but a 16th of their limits at least;
 * U64_MAX: any number.
 */
u64 umad_cgroup_left(u64 enough)
{
	struct mem_cgroup *own = get_mem_cgroup_from_mm(current->mm), *memcg;
	u64 left = U64_MAX, max;

	for (memcg = own; memcg; memcg = parent_mem_cgroup(memcg)) {
		max = memcg_max(memcg);
		if (max != U64_MAX)
			left = min(left, room_for(own, memcg, max, 0, enough));
	}
	mem_cgroup_put(own);
	return left;
}

/* Somewhat less than that: who is asked decides how long an answer is. */
static u64 room_for_answers(const struct umad_reserve *of_file,
			    const struct umad_reserve *reserve, u64 max)
{
	u64 kept = atomic64_read(&reserve->answers) + unread_of(reserve);
	u64 enough = (kept + atomic64_read(&reserve->unasked)) / 7 * 8 + SZ_8K;

	return room_for(of_file->memcg, reserve->memcg, max, kept, enough) / 8 * 7;
}

/*
 * What may have come together before more of it is refused, and has. What has begun may have
 * twice as much as what begins; and all that has begun, or is whole and not read, comes to
 * half of the limit, with answers to a 16th more than these may have.
 */
static bool has_too_much(const struct umad_reserve *reserve, enum umad_kept what, u64 quarter,
			 u64 for_answers)
{
	u64 unasked = atomic64_read(&reserve->unasked);
	u64 answers = atomic64_read(&reserve->answers);
	u64 unread = unread_of(reserve);

	switch (what) {
	case UMAD_UNASKED_BEGINS:
		return unasked > quarter;
	case UMAD_UNREAD:
		return unread > quarter;
	case UMAD_UNASKED_GOES_ON:
		return unasked + answers + unread > 2 * quarter;
	default:
		return answers + unread > for_answers ||
		       unasked + answers + unread > for_answers + for_answers / 16;
	}
}

/**
 * umad_reserve_allows() - may what is received take more?
 * @reserve: of the file that receives it, or NULL
 * @own: bytes of the file, with what it has not read if it goes on
 * @what: it is
 *
 * What a cgroup is charged for it is given back only when nothing else is left to be reclaimed,
 * and is lost then; answers that wait to be read are not. If those fill the cgroup, the next
 * page fault of a process there has it killed; and any node of the fabric could have the rest be
 * lost. So what begins, and what is not read, have a quarter of its limit each. A file has its
 * share of an eighth, whatever others have: as many files as are in its cgroup, times the cgroups
 * beside that, and so on, have as much. But no file has more of answers than there is room for.
 * Context: any.
 * Return: false if they have too much, of a cgroup or of one above it.
 */
bool umad_reserve_allows(const struct umad_reserve *reserve, u64 own, enum umad_kept what)
{
	unsigned int twice = what == UMAD_UNASKED_GOES_ON || what == UMAD_ANSWER;
	const struct umad_reserve *of_file = reserve;
	u64 max, parts = 1, for_answers = U64_MAX;

	for (; reserve; reserve = reserve->parent) {
		parts = more_parts(parts, reserve);
		max = cgroup_max(reserve);
		if (max == U64_MAX)
			continue;
		if (what == UMAD_ANSWER) {
			for_answers = room_for_answers(of_file, reserve, max);
			if (own > for_answers)
				return false;
		}
		if (own >> twice > div_u64(max / 8, parts) &&
		    has_too_much(reserve, what, max / 4, for_answers))
			return false;
	}
	return true;
}

/* Is the caller in the file's cgroup, so that this is charged? */
static bool is_callers(const struct umad_reserve *reserve)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(current->mm);

	mem_cgroup_put(memcg);
	return memcg == reserve->memcg;
}

/**
 * umad_reserve_leaves() - is there as much left as is kept, or a part of it?
 * @reserve: of the file, or NULL
 * @what: kept, and counted; of a sixteenth of a limit nothing need be left
 * @part: one in so many bytes
 *
 * Context: process, that of the write.
 * Return: false if there is not, of its cgroup or of one above it.
 */
bool umad_reserve_leaves(struct umad_reserve *reserve, enum umad_kept what, unsigned int part)
{
	const struct umad_reserve *of_file = reserve;
	u64 has, max;

	for (; reserve; reserve = reserve->parent) {
		max = cgroup_max(reserve);
		has = max_t(s64, atomic64_read(bytes_of(reserve, what)), 0);
		if (max == U64_MAX || has <= max / 16)
			continue;
		has = div_u64(has, part);
		if (left_for(of_file->memcg, reserve->memcg, max, 0, has) < has)
			return !is_callers(of_file);
	}
	return true;
}

/**
 * umad_reserve_kept() - what a cgroup has of what was received
 * @reserve: the cgroup's
 *
 * Context: any.
 * Return: bytes, with those of cgroups below.
 */
u64 umad_reserve_kept(const struct umad_reserve *reserve)
{
	return atomic64_read(&reserve->answers) + unread_of(reserve) +
	       atomic64_read(&reserve->unasked);
}

static bool is_full(u64 max, u64 usage)
{
	return max != U64_MAX && usage > max - min(max / 8, FULL_MARGIN);
}

/**
 * umad_reserve_is_full() - has a cgroup, or one above it, all that it may have, or nearly so?
 * @reserve: the cgroup's
 * @beside: bytes that it is to have besides
 *
 * Of those above it all count, however many there are.
 * Context: any.
 * Return: true if so.
 */
bool umad_reserve_is_full(const struct umad_reserve *reserve, u64 beside)
{
	struct mem_cgroup *memcg;

	for (memcg = reserve->memcg; memcg; memcg = parent_mem_cgroup(memcg))
		if (is_full(memcg_max(memcg), memcg_usage(memcg) + beside) ||
		    is_full(memsw_max(memcg), memsw_usage(memcg) + beside))
			return true;
	return false;
}
