// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A shrinker. What is charged to a cgroup for what its processes are sent would have one of
 * them killed when it needs memory. Of what nobody there has asked for, as much as is missing
 * is given back before that: when nothing else is left to be reclaimed.
 */
#include <linux/types.h>
#include "reclaim.h"

#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sizes.h>
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

static const struct umad_reclaim_ops *reclaim_ops;
static struct shrinker *shrinker;
static bool ready; /* the list is */

/* One that has something, and how much. */
struct found {
	struct umad_reserve *reserve;
	u64 bytes;
};

static enum lru_status find(UMAD_LRU_WALK_ARGS)
{
	struct umad_reserve *reserve = container_of(item, struct umad_reserve, lru_node);
	u64 bytes = umad_reserve_kept(reserve);
	struct found *found = arg;

	/* Its own files have it, not those of cgroups below. */
	if (found->reserve || !bytes || list_empty_careful(&reserve->file_list) ||
	    !umad_reserve_is_full(reserve))
		return LRU_SKIP;
	/* In the list it has a reference. */
	refcount_inc(&reserve->refs);
	found->reserve = reserve;
	found->bytes = bytes;
	/* After a cgroup has gone there may be more than one. */
	return LRU_ROTATE;
}

/* With a reference. */
static struct found find_reserve(struct shrink_control *sc)
{
	unsigned long all = ULONG_MAX;
	struct found found = {};

	list_lru_walk_one(&umad_reserves, sc->nid, sc->memcg, find, &found, &all);
	return found;
}

/*
 * One: the shrinker is asked in proportion to what is there, and for one only when nothing
 * else was found to be reclaimed, at priority 0.
 */
static unsigned long count_objects(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct found found;

	/* Pairs with that of shrinker_init(), which the shrinker does not wait for. */
	if (!smp_load_acquire(&ready))
		return 0;
	if (!list_lru_shrink_count(&umad_reserves, sc))
		return SHRINK_EMPTY;
	found = find_reserve(sc);
	if (!found.reserve)
		return 0;
	umad_reserve_drop(found.reserve);
	return 1;
}

/* The one that has most goes first from now on. */
static void put_largest_first(struct umad_reserve *reserve, enum umad_shed what)
{
	struct umad_file *file, *largest = NULL;
	size_t size, most = 0;

	list_for_each_entry(file, &reserve->file_list, reserve_node) {
		size = reclaim_ops->size(file, what);
		if (size > most) {
			most = size;
			largest = file;
		}
	}
	if (largest)
		list_move(&largest->reserve_node, &reserve->file_list);
}

/* Of the one that has most, and then of others. */
static size_t shed_kind(struct umad_reserve *reserve, size_t bytes, enum umad_shed what,
			struct list_head *gone)
{
	struct umad_file *file;
	size_t freed = 0;

	put_largest_first(reserve, what);
	list_for_each_entry(file, &reserve->file_list, reserve_node) {
		if (freed >= bytes)
			break;
		freed += reclaim_ops->shed(file, bytes - freed, what, gone);
	}
	return freed;
}

static size_t shed(struct umad_reserve *reserve, size_t bytes)
{
	enum umad_shed what;
	size_t freed = 0;
	LIST_HEAD(gone);

	spin_lock(&reserve->file_lock);
	for (what = 0; what < UMAD_SHED_KINDS && freed < bytes; what++)
		freed += shed_kind(reserve, bytes - freed, what, &gone);
	spin_unlock(&reserve->file_lock);
	reclaim_ops->free(&gone);
	return freed;
}

static unsigned long scan_objects(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct found found;
	size_t freed;

	/* Not for what else may be received. */
	if (umad_reserve_is_refilling())
		return SHRINK_STOP;
	found = find_reserve(sc);
	if (!found.reserve)
		return SHRINK_STOP;
	freed = shed(found.reserve, clamp_t(u64, found.bytes / SHED_PART, SHED_LEAST, SHED_MOST));
	umad_reserve_drop(found.reserve);
	return freed ? DIV_ROUND_UP(freed, PAGE_SIZE) : SHRINK_STOP;
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
	struct umad_reserve *reserve = file->reserve;

	spin_lock(&reserve->file_lock);
	list_add_tail(&file->reserve_node, &reserve->file_list);
	spin_unlock(&reserve->file_lock);
}

/**
 * umad_reclaim_remove() - it has nothing any more
 * @file: as of umad_reclaim_add()
 *
 * Context: process; does not sleep.
 */
void umad_reclaim_remove(struct umad_file *file)
{
	struct umad_reserve *reserve = file->reserve;

	spin_lock(&reserve->file_lock);
	list_del(&file->reserve_node);
	spin_unlock(&reserve->file_lock);
}
