// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A shrinker. What is charged to a cgroup for what its processes are sent would have one of
 * them killed when it needs memory. Of what nobody there has asked for, as much as is missing
 * is given back before that: when nothing else is left to be reclaimed.
 */
#include <linux/types.h>
#include "reclaim.h"

#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/swap.h>
#include "charge.h"
#include "file.h"
#include "reserve.h"
#include "room.h"
#include "umad_shrinker.h"

#ifdef UMAD_HAVE_RECLAIM
/* What is given back at once: of what a cgroup has one in so many parts, but such bytes. */
#define SHED_PART	8
#define SHED_LEAST	SZ_256K
#define SHED_MOST	SZ_4M
/* In vain so often; 17 times are tried. */
#define ASKED_OFTEN	12

static const struct umad_reclaim_ops *reclaim_ops;
static struct shrinker *shrinker;
static bool ready; /* the list is */

static enum lru_status is_one_full(UMAD_LRU_WALK_ARGS)
{
	bool *full = arg;

	*full |= umad_reserve_is_full(container_of(item, struct umad_reserve, lru_node), 0);
	return LRU_SKIP;
}

/*
 * One: the shrinker is asked in proportion to what is there, and for one only when nothing
 * else was found to be reclaimed, at priority 0.
 */
static unsigned long count_objects(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long all = ULONG_MAX;
	bool full = false;

	/* Pairs with that of shrinker_init(), which the shrinker does not wait for. */
	if (!smp_load_acquire(&ready))
		return 0;
	if (!list_lru_shrink_count(&umad_reserves, sc))
		return SHRINK_EMPTY;
	list_lru_walk_one(&umad_reserves, sc->nid, sc->memcg, is_one_full, &full, &all);
	return full;
}

static enum lru_status take_first(UMAD_LRU_WALK_ARGS)
{
	struct umad_reserve *reserve = container_of(item, struct umad_reserve, lru_node);
	struct umad_reserve **first = arg;

	/* In the list it has a reference. */
	refcount_inc(&reserve->refs);
	*first = reserve;
	return LRU_ROTATE;
}

/* The next in turn, with a reference: after cgroups have gone one has their reserves, too. */
static struct umad_reserve *next_reserve(struct shrink_control *sc)
{
	struct umad_reserve *reserve = NULL;
	unsigned long one = 1;

	list_lru_walk_one(&umad_reserves, sc->nid, sc->memcg, take_first, &reserve, &one);
	return reserve;
}

/* Of a cgroup, and those below it: memory.min may keep these from being asked themselves. */
static struct umad_reserve *next_below(struct umad_reserve *reserve, struct umad_reserve *top)
{
	if (!list_empty(&reserve->below))
		return list_first_entry(&reserve->below, struct umad_reserve, beside);
	for (; reserve != top; reserve = reserve->parent)
		if (!list_is_last(&reserve->beside, &reserve->parent->below))
			return list_next_entry(reserve, beside);
	return NULL;
}

static struct umad_file *largest_file(struct umad_reserve *top, enum umad_shed what)
{
	struct umad_file *file, *largest = NULL;
	struct umad_reserve *reserve;
	size_t size, most = 0;

	for (reserve = top; reserve; reserve = next_below(reserve, top))
		list_for_each_entry(file, &reserve->file_list, reserve_node) {
			size = reclaim_ops->size(file, what);
			if (size > most) {
				most = size;
				largest = file;
			}
		}
	return largest;
}

/* Of the one that has most, and then of others. */
static size_t shed_kind(struct umad_reserve *top, size_t bytes, enum umad_shed what,
			struct umad_gone *gone)
{
	struct umad_file *file = largest_file(top, what);
	size_t freed = file ? reclaim_ops->shed(file, bytes, what, gone) : 0;
	struct umad_reserve *reserve;

	/* Mostly that was all. */
	for (reserve = top; reserve && freed < bytes; reserve = next_below(reserve, top))
		list_for_each_entry(file, &reserve->file_list, reserve_node) {
			if (freed >= bytes)
				break;
			freed += reclaim_ops->shed(file, bytes - freed, what, gone);
		}
	return freed;
}

static size_t shed(struct umad_reserve *reserve, size_t bytes, enum umad_shed last)
{
	struct umad_gone gone = { .entries = LIST_HEAD_INIT(gone.entries) };
	enum umad_shed what;
	size_t freed = 0;

	spin_lock(&umad_reserves_lock);
	for (what = 0; what <= last && freed < bytes; what++)
		freed += shed_kind(reserve, bytes - freed, what, &gone);
	spin_unlock(&umad_reserves_lock);
	reclaim_ops->free(&gone);
	return freed;
}

/* Grows with each page fault of a task, and with each of its calls that reads or writes. */
static unsigned long progress(const struct task_struct *task)
{
	unsigned long n = task->min_flt + task->maj_flt;

#ifdef CONFIG_TASK_XACCT
	n += task->ioac.syscr + task->ioac.syscw;
#endif
	return n;
}

/* It has asked nearly as often as it does before it is killed. */
static bool is_asked_in_earnest(struct umad_reserve *reserve)
{
	return umad_askers_note(&reserve->askers, current, progress(current), jiffies) >=
	       ASKED_OFTEN;
}

static size_t shed_of(struct umad_reserve *reserve, gfp_t gfp)
{
	u64 part = umad_reserve_kept(reserve) / SHED_PART;
	enum umad_shed last = UMAD_SHED_KINDS - 1;

	if (!umad_reserve_is_full(reserve, 0) || !is_asked_in_earnest(reserve))
		return 0;
	/* Nobody is killed for that, as for what is written. */
	if (gfp & __GFP_RETRY_MAYFAIL)
		last = UMAD_SHED_UNREAD;
	return shed(reserve, clamp_t(u64, part, SHED_LEAST, SHED_MOST), last);
}

/* A huge page does not wake kswapd, but the memory of sockets does. */
static bool is_huge(gfp_t gfp)
{
	return (gfp & (__GFP_NOMEMALLOC | __GFP_KSWAPD_RECLAIM)) == __GFP_NOMEMALLOC;
}

/*
 * Is nobody to lose anything for the memory that is looked for? Not if there is another way
 * without it, as for what is read ahead, or for what else may be received (charge.c); for a huge
 * page, in place of which small ones do; nor for drop_caches, which asks all shrinkers for all that
 * they have, or kswapd, which does not know whose cgroup is short.
 */
static bool is_in_vain(gfp_t gfp)
{
	return (gfp & __GFP_NORETRY) || is_huge(gfp) ||
	       !(current->flags & PF_MEMALLOC) || current_is_kswapd();
}

static unsigned long scan_objects(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long tries = list_lru_shrink_count(&umad_reserves, sc);
	struct umad_reserve *reserve;
	size_t freed = 0;

	/*
	 * All that it is asked at priority 0: what is left is asked later, at another priority, and
	 * so is what SHRINK_STOP leaves.
	 */
	sc->nr_scanned = 2 * sc->nr_to_scan;
	if (is_in_vain(sc->gfp_mask))
		return 0;
	while (!freed && tries-- && (reserve = next_reserve(sc))) {
		freed = shed_of(reserve, sc->gfp_mask);
		umad_reserve_drop(reserve);
		cond_resched();
	}
	return DIV_ROUND_UP(freed, PAGE_SIZE);
}

static int shrinker_init(const struct umad_reclaim_ops *ops)
{
	const char *name = "ib_umad";
	int ret;

	reclaim_ops = ops;
	shrinker = shrinker_alloc(SHRINKER_NUMA_AWARE | SHRINKER_MEMCG_AWARE, name);
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = count_objects;
	shrinker->scan_objects = scan_objects;
	shrinker->seeks = DEFAULT_SEEKS;
	shrinker->batch = 1;
	ret = umad_shrinker_register(shrinker, name);
	if (ret)
		return ret;
	ret = umad_reserves_init(shrinker);
	if (ret)
		shrinker_free(shrinker);
	/* Pairs with that of count_objects(). */
	smp_store_release(&ready, !ret);
	return ret;
}

static void shrinker_exit(void)
{
	shrinker_free(shrinker);
}
#else
static int shrinker_init(const struct umad_reclaim_ops *ops)
{
	return umad_reserves_init(NULL);
}

static void shrinker_exit(void)
{
}
#endif

/**
 * umad_reclaim_init() - before the first file is opened
 * @ops: how files give memory back
 *
 * Context: process; sleeps.
 * Return: 0 or -ENOMEM.
 */
int umad_reclaim_init(const struct umad_reclaim_ops *ops)
{
	return shrinker_init(ops);
}

/**
 * umad_reclaim_exit() - no reserve is left
 *
 * Context: process; sleeps.
 */
void umad_reclaim_exit(void)
{
	shrinker_exit();
	umad_reserves_exit();
}

/**
 * umad_reclaim_add() - a file may have something to give back
 * @file: with its reserve
 *
 * Context: process; does not sleep.
 */
void umad_reclaim_add(struct umad_file *file)
{
	spin_lock(&umad_reserves_lock);
	list_add_tail(&file->reserve_node, &file->reserve->file_list);
	spin_unlock(&umad_reserves_lock);
}

/**
 * umad_reclaim_remove() - it has nothing any more
 * @file: as of umad_reclaim_add()
 *
 * Context: process; does not sleep.
 */
void umad_reclaim_remove(struct umad_file *file)
{
	spin_lock(&umad_reserves_lock);
	list_del(&file->reserve_node);
	spin_unlock(&umad_reserves_lock);
}
