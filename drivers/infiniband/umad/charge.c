// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "charge.h"

#include <linux/hashtable.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include "file.h"
#include "queues.h"
#include "reserve.h"

/*
 * A container may be at its limit all the time, with memory that it could give
 * back if it were asked: page cache, above all. What it is sent meanwhile is not
 * lost if it comes to no more than this, however many files it has, or cgroups
 * below it.
 */
#define RESERVE_MAX	(256 * 1024)
/* What is made room for at a time. */
#define REFILL		(64 * 1024)
/*
 * But not for each MAD, and less often for one that has nothing to give back, in ms. Pages that
 * are pinned are looked at again and again: that is a 20th of the time.
 */
#define REFILL_EVERY	10
#define REFILL_IN_VAIN	100LL
#define REFILL_REST	19

static DEFINE_HASHTABLE(reserves, 6); /* protected by umad_reserves_lock */

static void refill_work(struct work_struct *work)
{
	struct umad_reserve *reserve = container_of(work, struct umad_reserve,
						    refill.work);
	struct umad_charge charge = umad_charge_begin(reserve->memcg);
	ktime_t start = ktime_get();
	s64 took;
	/* The charge reclaims; nobody is killed for want of it, or loses anything (reclaim.c). */
	void *p = kmalloc(REFILL, GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN);

	umad_charge_end(&charge);
	took = ktime_ms_delta(ktime_get(), start);
	WRITE_ONCE(reserve->rest, p ? REFILL_EVERY : max(REFILL_IN_VAIN, REFILL_REST * took));
	kfree(p);
	umad_reserve_drop(reserve);
}

/* The one there is, or @fresh; a file more has it. */
static struct umad_reserve *find_or_add(struct umad_reserve *fresh)
{
	unsigned long key = (unsigned long)fresh->memcg;
	struct umad_reserve *reserve;

	spin_lock(&umad_reserves_lock);
	hash_for_each_possible(reserves, reserve, node, key)
		if (reserve->memcg == fresh->memcg)
			goto found;
	reserve = fresh;
	hash_add(reserves, &reserve->node, key);
	if (reserve->parent)
		list_add_tail(&reserve->beside, &reserve->parent->below);
found:
	WRITE_ONCE(reserve->files, reserve->files + 1);
	spin_unlock(&umad_reserves_lock);
	return reserve;
}

/* For @parent, which it keeps, the one of @memcg below it; or neither, without memory. */
static struct umad_reserve *get_below(struct umad_reserve *parent,
				      struct mem_cgroup *memcg)
{
	struct umad_reserve *fresh, *reserve = NULL;

	fresh = umad_reserve_create(memcg);
	if (!fresh)
		goto out;
	fresh->parent = parent;
	INIT_DELAYED_WORK(&fresh->refill, refill_work);
	fresh->rest = REFILL_EVERY;
	reserve = find_or_add(fresh);
	if (reserve == fresh) {
		umad_reserve_list(reserve);
		return reserve;
	}
	umad_reserve_drop(fresh);
out:
	umad_reserve_put(parent);
	return reserve;
}

/* The cgroups from @memcg up to the root, but for it; of many the highest and @memcg. */
static unsigned int way_up(struct mem_cgroup *memcg,
			   struct mem_cgroup *way[UMAD_CGROUP_LEVELS])
{
	struct mem_cgroup *above, *next;
	unsigned int n = 1, skip = 0;

	way[0] = memcg;
	/* None without the controller. */
	above = memcg ? parent_mem_cgroup(memcg) : NULL;
	for (next = above; next; next = parent_mem_cgroup(next))
		skip++;
	/* With the root, and @memcg. */
	skip -= min_t(unsigned int, skip, UMAD_CGROUP_LEVELS);
	for (; above && (next = parent_mem_cgroup(above)); above = next) {
		if (skip)
			skip--;
		else
			way[n++] = above;
	}
	return n;
}

/**
 * umad_reserve_get() - the reserve of the caller's cgroup
 *
 * Context: process, of a file's opener; may sleep.
 * Return: the reserve, or NULL without memory.
 */
struct umad_reserve *umad_reserve_get(void)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(current->mm);
	struct mem_cgroup *way[UMAD_CGROUP_LEVELS];
	unsigned int n = way_up(memcg, way);
	struct umad_reserve *reserve = NULL;

	while (n--) {
		reserve = get_below(reserve, way[n]);
		if (!reserve)
			break;
	}
	mem_cgroup_put(memcg);
	return reserve;
}

/* True: it was the last. */
static bool put_file(struct umad_reserve *reserve)
{
	bool last;

	spin_lock(&umad_reserves_lock);
	WRITE_ONCE(reserve->files, reserve->files - 1);
	last = !reserve->files;
	if (last) {
		hash_del(&reserve->node);
		list_del(&reserve->beside);
	}
	spin_unlock(&umad_reserves_lock);
	return last;
}

static bool is_in_use(struct umad_reserve *reserve)
{
	return atomic_read(&reserve->used) || atomic64_read(&reserve->unasked) ||
	       atomic64_read(&reserve->answers) || atomic64_read(&reserve->unread) ||
	       atomic64_read(&reserve->sent) || atomic64_read(&reserve->asked);
}

/**
 * umad_reserve_put() - a file, or a cgroup below it, does not use it any more
 * @reserve: without agents and entries; consumed, may be NULL
 *
 * Context: process; does not sleep.
 */
void umad_reserve_put(struct umad_reserve *reserve)
{
	struct umad_reserve *parent;

	for (; reserve && put_file(reserve); reserve = parent) {
		parent = reserve->parent;
		WARN_ON_ONCE(is_in_use(reserve));
		umad_reserve_unlist(reserve);
		/*
		 * Its timer does not stay behind. But if it runs it may be
		 * reclaiming, for as long as that takes, and close() is not to wait
		 * for that: it has a reference. The end of the module waits for it.
		 */
		if (cancel_delayed_work(&reserve->refill))
			umad_reserve_drop(reserve);
		umad_reserve_drop(reserve);
	}
}

/**
 * umad_reserve_refill() - a handler could not charge the file's cgroup
 * @file: in a handler of one of its agents
 *
 * Context: process; does not sleep.
 */
void umad_reserve_refill(struct umad_file *file)
{
	struct umad_reserve *reserve = file->reserve;
	unsigned int rest = READ_ONCE(reserve->rest);

	refcount_inc(&reserve->refs);
	if (!queue_delayed_work(umad_reserve_wq, &reserve->refill, msecs_to_jiffies(rest)))
		umad_reserve_drop(reserve);
}

/*
 * Half of it is for who has had less than a part of that half: a file whose process
 * does not read would keep it from all others. So it is with each cgroup above, and
 * those right below it. False: umad_reserve_free() all the same.
 */
static bool reserve_take(struct umad_file *file, size_t size)
{
	int below = atomic_add_return(size, &file->reserve_used), used;
	struct umad_reserve *reserve;
	bool may = true;

	for (reserve = file->reserve; reserve; reserve = reserve->parent) {
		used = atomic_add_return(size, &reserve->used);
		if (used > RESERVE_MAX / 2 &&
		    (used > RESERVE_MAX ||
		     below > RESERVE_MAX / 2 / (int)READ_ONCE(reserve->files)))
			may = false;
		below = used;
	}
	return may;
}

/**
 * umad_reserve_alloc() - memory for the file's opener, in a handler
 * @file: of one of whose agents the handler is
 * @cache: to allocate from
 * @used: set; for umad_reserve_free()
 *
 * Context: process; does not sleep.
 * Return: the memory, for kmem_cache_free(), or NULL.
 */
void *umad_reserve_alloc(struct umad_file *file, struct kmem_cache *cache, size_t *used)
{
	struct umad_charge charge = umad_charge_begin(file->reserve->memcg);
	void *p = kmem_cache_alloc(cache, UMAD_GFP_HANDLER);
	size_t size = kmem_cache_size(cache);

	umad_charge_end(&charge);
	*used = 0;
	if (p)
		return p;

	umad_reserve_refill(file);
	if (reserve_take(file, size))
		p = kmem_cache_alloc(cache, GFP_NOWAIT | __GFP_NOWARN);
	if (p)
		*used = size;
	else
		umad_reserve_free(file, size);
	return p;
}

/**
 * umad_reserve_free() - memory has been given back
 * @file: that it was for
 * @used: as umad_reserve_alloc() set it
 *
 * Context: any.
 */
void umad_reserve_free(struct umad_file *file, size_t used)
{
	struct umad_reserve *reserve;

	if (!used)
		return;
	atomic_sub(used, &file->reserve_used);
	for (reserve = file->reserve; reserve; reserve = reserve->parent)
		atomic_sub(used, &reserve->used);
}
