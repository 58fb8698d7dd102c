// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "charge.h"

#include <linux/hashtable.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include "file.h"
#include "queues.h"

/*
 * A container may be at its limit all the time, with memory that it could give
 * back if it were asked: page cache, above all. What it is sent meanwhile is not
 * lost if it comes to no more than this, however many files it has, or cgroups
 * below it.
 */
#define RESERVE_MAX	(256 * 1024)
/* What is made room for at a time. */
#define REFILL		(64 * 1024)
/* But not for each MAD of one that has nothing to give back, in ms. */
#define REFILL_EVERY	100

static DEFINE_HASHTABLE(reserves, 6);
static DEFINE_SPINLOCK(reserves_lock); /* protects @reserves, and umad_reserve.files */

static void reserve_put(struct umad_reserve *reserve)
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
	reserve_put(reserve);
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

/* For @parent, which it keeps, the one of @memcg below it; or neither, without memory. */
static struct umad_reserve *get_below(struct umad_reserve *parent,
				      struct mem_cgroup *memcg)
{
	struct umad_reserve *fresh, *reserve = NULL;

	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		goto out;
	refcount_set(&fresh->refs, 1);
#ifdef CONFIG_MEMCG
	if (memcg)
		css_get(&memcg->css);
#endif
	fresh->memcg = memcg;
	fresh->parent = parent;
	INIT_DELAYED_WORK(&fresh->refill, refill_work);
	reserve = find_or_add(fresh);
	if (reserve == fresh)
		return reserve;
	reserve_put(fresh);
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

	spin_lock(&reserves_lock);
	last = !--reserve->files;
	if (last)
		hash_del(&reserve->node);
	spin_unlock(&reserves_lock);
	return last;
}

static bool is_in_use(struct umad_reserve *reserve)
{
	return atomic_read(&reserve->used) || atomic64_read(&reserve->unasked) ||
	       atomic64_read(&reserve->answers) || atomic64_read(&reserve->unread);
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
		/*
		 * Its timer does not stay behind. But if it runs it may be
		 * reclaiming, for as long as that takes, and close() is not to wait
		 * for that: it has a reference. The end of the module waits for it.
		 */
		if (cancel_delayed_work(&reserve->refill))
			reserve_put(reserve);
		reserve_put(reserve);
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

	refcount_inc(&reserve->refs);
	if (!queue_delayed_work(umad_reserve_wq, &reserve->refill,
				msecs_to_jiffies(REFILL_EVERY)))
		reserve_put(reserve);
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

/* What a cgroup has of a kind. */
static atomic64_t *bytes_of(struct umad_reserve *reserve, enum umad_kept what)
{
	switch (what) {
	case UMAD_ANSWER:
		return &reserve->answers;
	case UMAD_UNREAD:
		return &reserve->unread;
	default:
		return &reserve->unasked;
	}
}

/**
 * umad_reserve_add() - what is received takes more memory
 * @reserve: of the file that receives it, or NULL
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
/*
 * Bytes that a cgroup may have, and has. Above memory.high its processes are made to sleep, for
 * seconds if nothing can be reclaimed.
 */
static u64 cgroup_max(const struct umad_reserve *reserve)
{
	unsigned long max = PAGE_COUNTER_MAX;

	/* What is charged to one that is gone is so to the cgroup above it. */
	if (reserve->memcg && mem_cgroup_online(reserve->memcg))
		max = min(READ_ONCE(reserve->memcg->memory.max),
			  READ_ONCE(reserve->memcg->memory.high));
	return max == PAGE_COUNTER_MAX ? U64_MAX : (u64)max << PAGE_SHIFT;
}

static u64 cgroup_usage(const struct umad_reserve *reserve)
{
	return (u64)page_counter_read(&reserve->memcg->memory) << PAGE_SHIFT;
}

#ifdef CONFIG_LRU_GEN
/* The lists with generations have counts of their own, which may be less than 0 for a moment. */
static s64 pages_in_generations(const struct lruvec *lruvec, unsigned int zone)
{
	unsigned int gen;
	s64 pages = 0;

	for (gen = 0; gen < MAX_NR_GENS; gen++)
		pages += READ_ONCE(lruvec->lrugen.nr_pages[gen][LRU_GEN_FILE][zone]);
	return pages;
}
#else
static s64 pages_in_generations(const struct lruvec *lruvec, unsigned int zone)
{
	return 0;
}
#endif

static s64 file_pages(struct lruvec *lruvec, unsigned int zone)
{
	return mem_cgroup_get_zone_lru_size(lruvec, LRU_INACTIVE_FILE, zone) +
	       mem_cgroup_get_zone_lru_size(lruvec, LRU_ACTIVE_FILE, zone) +
	       pages_in_generations(lruvec, zone);
}

/* Of that page cache, and what counts as such; not that of cgroups below. */
static u64 cgroup_cache(const struct umad_reserve *reserve)
{
	struct lruvec *lruvec;
	unsigned int zone;
	s64 pages = 0;
	int node;

	for_each_node_state(node, N_MEMORY) {
		lruvec = &reserve->memcg->nodeinfo[node]->lruvec;
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			pages += file_pages(lruvec, zone);
	}
	return (u64)max(pages, 0LL) << PAGE_SHIFT;
}

/* What is reclaimed of that for the limit of a cgroup above: nothing below memory.min. */
static u64 cgroup_cache_unprotected(const struct umad_reserve *reserve)
{
	u64 usage = cgroup_usage(reserve);
	u64 kept = (u64)READ_ONCE(reserve->memcg->memory.min) << PAGE_SHIFT;

	return min(cgroup_cache(reserve), usage - min(usage, kept));
}
#else
static u64 cgroup_max(const struct umad_reserve *reserve)
{
	return U64_MAX;
}

static u64 cgroup_usage(const struct umad_reserve *reserve)
{
	return 0;
}

static u64 cgroup_cache(const struct umad_reserve *reserve)
{
	return 0;
}

static u64 cgroup_cache_unprotected(const struct umad_reserve *reserve)
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

/*
 * What is left to a cgroup, with @kept of what it has received, and what can be reclaimed. Of the
 * page cache of cgroups below, only that of the file's is seen, and of those between: what is
 * not must not leave nothing.
 */
static u64 room_for(const struct umad_reserve *of_file, const struct umad_reserve *reserve,
		    u64 max, u64 kept)
{
	u64 usage = cgroup_usage(reserve);

	for (; of_file != reserve; of_file = of_file->parent)
		kept += cgroup_cache_unprotected(of_file);
	kept += cgroup_cache(reserve);
	usage -= min(usage, kept);
	return max(max - min(max, usage), max / 16);
}

/* Then what is left counts. */
static bool is_nearly_full(const struct umad_reserve *reserve, u64 max)
{
	return cgroup_usage(reserve) > max - max / 8;
}

/**
 * umad_reserve_share() - what each file of a cgroup may have for what is whole and was read
 * @reserve: of the file, or NULL
 * @parts: of all that the cgroup may have, the files have one in so many together; if it is
 *	nearly full, two in so many of what is left, which is less by what they have already
 *
 * Context: any.
 * Return: bytes, the least by its limit and those above it.
 */
u64 umad_reserve_share(const struct umad_reserve *reserve, unsigned int parts)
{
	const struct umad_reserve *of_file = reserve;
	u64 share = U64_MAX, of_all = parts, max;

	for (; reserve; reserve = reserve->parent) {
		of_all = more_parts(of_all, reserve);
		max = cgroup_max(reserve);
		if (max != U64_MAX && is_nearly_full(reserve, max))
			max = min(max, 2 * room_for(of_file, reserve, max, 0));
		share = min(share, div_u64(max, of_all));
	}
	return share;
}

/*
 * Somewhat less than half of that: who reads an answer needs as much again, and who is asked
 * decides how long it is.
 */
static u64 room_for_answers(const struct umad_reserve *of_file,
			    const struct umad_reserve *reserve, u64 max)
{
	u64 kept = atomic64_read(&reserve->answers) + unread_of(reserve);

	return room_for(of_file, reserve, max, kept) / 16 * 7;
}

/* A quarter of the limit; and of what is left, when that is little. */
static u64 quarter_of(const struct umad_reserve *of_file, const struct umad_reserve *reserve,
		      u64 max)
{
	u64 kept;

	if (!is_nearly_full(reserve, max))
		return max / 4;
	kept = atomic64_read(&reserve->answers) + unread_of(reserve) +
	       atomic64_read(&reserve->unasked);
	return min(max / 16, room_for(of_file, reserve, max, kept) / 4);
}

/*
 * What may have come together before more of it is refused, and has. What has begun may have
 * twice as much as what begins; and all that has begun, or is whole and not read, comes to
 * half of the limit, with answers to half as much again as these may have.
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
		       unasked + answers + unread > for_answers + for_answers / 2;
	}
}

/**
 * umad_reserve_allows() - may what is received take more?
 * @reserve: of the file that receives it, or NULL
 * @own: bytes of the file, with what it has not read if it goes on
 * @what: it is
 *
 * What a cgroup is charged for it cannot be reclaimed. If it fills the cgroup, the next
 * page fault of a process there has it killed, and any node of the fabric could do that. So
 * what begins, and what is not read, have a quarter of its limit each; if less than an eighth of
 * it is left, which may be page cache, a sixteenth, or a quarter of what is left with that. A file
 * has its share of an eighth, then of as much, whatever others have: as many files as are in its
 * cgroup, times the cgroups beside that, and so on, have as much. But no file has more of answers
 * than there is room for.
 * Context: any.
 * Return: false if they have too much, of a cgroup or of one above it.
 */
bool umad_reserve_allows(const struct umad_reserve *reserve, u64 own, enum umad_kept what)
{
	unsigned int twice = what == UMAD_UNASKED_GOES_ON || what == UMAD_ANSWER;
	const struct umad_reserve *of_file = reserve;
	u64 max, quarter, parts = 1, for_answers = U64_MAX;

	for (; reserve; reserve = reserve->parent) {
		parts = more_parts(parts, reserve);
		max = cgroup_max(reserve);
		if (max == U64_MAX)
			continue;
		if (what == UMAD_ANSWER)
			for_answers = room_for_answers(of_file, reserve, max);
		if (what == UMAD_ANSWER && own > for_answers)
			return false;
		quarter = quarter_of(of_file, reserve, max);
		if (own >> twice > div_u64(min(max / 8, quarter), parts) &&
		    has_too_much(reserve, what, quarter, for_answers))
			return false;
	}
	return true;
}
