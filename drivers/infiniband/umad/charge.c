// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "charge.h"

#include <kunit/visibility.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include "file.h"
#include "queues.h"

/*
 * A container may be at its limit all the time, with memory that it could give
 * back if it were asked: page cache, above all. What it is sent meanwhile is not
 * lost if it comes to no more than this, however many files it has.
 */
#define RESERVE_MAX	(256 * 1024)
/* What is made room for at a time. */
#define REFILL		(64 * 1024)
/* But not for each MAD of one that has nothing to give back, in ms. */
#define REFILL_EVERY	100

static DEFINE_HASHTABLE(reserves, 6);
static DEFINE_SPINLOCK(reserves_lock); /* protects @reserves, and umad_reserve.files */

static void put(struct umad_reserve *reserve)
{
	if (!refcount_dec_and_test(&reserve->refs))
		return;
	mem_cgroup_put(reserve->memcg);
	kfree(reserve);
}

static void refill_work(struct work_struct *work)
{
	struct umad_reserve *reserve = container_of(work, struct umad_reserve,
						    refill.work);
	struct umad_charge charge = umad_charge_begin(reserve->memcg);

	/* The charge reclaims; nobody is killed for want of it. */
	kfree(kmalloc(REFILL, GFP_KERNEL_ACCOUNT | __GFP_NORETRY |
		      __GFP_NOWARN));
	umad_charge_end(&charge);
	put(reserve);
}

/* The one there is, or @fresh; a file more has it. */
static struct umad_reserve *find_or_add(struct umad_reserve *fresh)
{
	unsigned long key = (unsigned long)fresh->memcg;
	struct umad_reserve *reserve;

	spin_lock(&reserves_lock);
	hash_for_each_possible(reserves, reserve, node, key)
		if (reserve->memcg == fresh->memcg)
			goto found;
	reserve = fresh;
	hash_add(reserves, &reserve->node, key);
found:
	reserve->files++;
	spin_unlock(&reserves_lock);
	return reserve;
}

/**
 * umad_reserve_get() - the reserve of the caller's cgroup
 *
 * Context: process, of a file's opener; may sleep.
 * Return: the reserve, or NULL without memory.
 */
struct umad_reserve *umad_reserve_get(void)
{
	struct umad_reserve *fresh, *reserve;

	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return NULL;
	refcount_set(&fresh->refs, 1);
	fresh->memcg = get_mem_cgroup_from_mm(current->mm);
	INIT_DELAYED_WORK(&fresh->refill, refill_work);
	reserve = find_or_add(fresh);
	if (reserve != fresh)
		put(fresh);
	return reserve;
}

/**
 * umad_reserve_put() - a file does not use it any more
 * @reserve: of a file without agents and entries; consumed
 *
 * Context: process; does not sleep.
 */
void umad_reserve_put(struct umad_reserve *reserve)
{
	bool last;

	spin_lock(&reserves_lock);
	last = !--reserve->files;
	if (last)
		hash_del(&reserve->node);
	spin_unlock(&reserves_lock);
	if (!last)
		return;
	WARN_ON_ONCE(atomic_read(&reserve->used));
	/*
	 * Its timer does not stay behind. But if it runs it may be reclaiming,
	 * for as long as that takes, and close() is not to wait for that: it
	 * has a reference. The end of the module waits for it.
	 */
	if (cancel_delayed_work(&reserve->refill))
		put(reserve);
	put(reserve);
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

	refcount_inc(&reserve->refs);
	if (!queue_delayed_work(umad_reserve_wq, &reserve->refill,
				msecs_to_jiffies(REFILL_EVERY)))
		put(reserve);
}

/*
 * Half of it is for who has had less than a part of that half: a file whose program
 * does not read would keep it from all others. False: umad_reserve_free() all the same.
 */
static bool reserve_take(struct umad_file *file, size_t size)
{
	struct umad_reserve *reserve = file->reserve;
	int of_file = atomic_add_return(size, &file->reserve_used);
	int used = atomic_add_return(size, &reserve->used);

	if (used <= RESERVE_MAX / 2)
		return true;
	return used <= RESERVE_MAX &&
	       of_file <= RESERVE_MAX / 2 / (int)READ_ONCE(reserve->files);
}

/**
 * umad_reserve_alloc() - memory for the file's opener, in a handler
 * @file: of one of whose agents the handler is
 * @size: bytes
 * @used: set; for umad_reserve_free()
 *
 * Context: process; does not sleep.
 * Return: the memory, for kfree(), or NULL.
 */
void *umad_reserve_alloc(struct umad_file *file, size_t size, size_t *used)
{
	struct umad_charge charge = umad_charge_begin(file->reserve->memcg);
	void *p = kmalloc(size, UMAD_GFP_HANDLER);

	umad_charge_end(&charge);
	*used = 0;
	if (p)
		return p;

	umad_reserve_refill(file);
	if (reserve_take(file, size))
		p = kmalloc(size, GFP_NOWAIT | __GFP_NOWARN);
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
	if (!used)
		return;
	atomic_sub(used, &file->reserve_used);
	atomic_sub(used, &file->reserve->used);
}
