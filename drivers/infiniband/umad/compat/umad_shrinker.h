/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shrinkers that are asked for a cgroup's memory, and the lists that they look at. */
#ifndef UMAD_SHRINKER_H
#define UMAD_SHRINKER_H

#include <linux/list_lru.h>
#include <linux/shrinker.h>
#include <linux/slab.h>

/* What is charged to nobody need not be given back: see umad_memcg.h. */
#if defined(CONFIG_MEMCG) && !defined(UMAD_LACKS_ACTIVE_MEMCG)
#define UMAD_HAVE_RECLAIM
#endif

#ifdef UMAD_HAVE_RECLAIM
/*
 * Before 5.18 each list has its parts for all cgroups, before 6.7 a module has its only shrinker
 * in a variable of its own, which before 6.0 has no name. Remove when these are dropped.
 */
#ifdef UMAD_LACKS_ALLOC_LRU
static inline void *kmem_cache_alloc_lru(struct kmem_cache *cache, struct list_lru *lru, gfp_t gfp)
{
	return kmem_cache_alloc(cache, gfp);
}
#endif

#ifdef UMAD_LACKS_SHRINKER_ALLOC
static inline struct shrinker *shrinker_alloc(unsigned int flags, const char *name)
{
	static struct shrinker shrinker;

	shrinker = (struct shrinker){ .flags = flags };
	return &shrinker;
}

static inline int umad_shrinker_register(struct shrinker *shrinker, const char *name)
{
#ifdef UMAD_HAVE_NAMED_SHRINKERS
	return register_shrinker(shrinker, "%s", name);
#else
	return register_shrinker(shrinker);
#endif
}

static inline void shrinker_free(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
}
#else
static inline int umad_shrinker_register(struct shrinker *shrinker, const char *name)
{
	shrinker_register(shrinker);
	return 0;
}
#endif

/* Before 6.8. */
#ifdef UMAD_LACKS_LRU_ADD_OBJ
static inline bool list_lru_add_obj(struct list_lru *lru, struct list_head *item)
{
	return list_lru_add(lru, item);
}

static inline bool list_lru_del_obj(struct list_lru *lru, struct list_head *item)
{
	return list_lru_del(lru, item);
}
#endif

/* Arguments of a &list_lru_walk_cb that has no use for the lock, which it has before 6.13. */
#ifdef UMAD_LRU_WALK_HAS_LOCK
#define UMAD_LRU_WALK_ARGS	\
	struct list_head *item, struct list_lru_one *list, spinlock_t *lock, void *arg
#else
#define UMAD_LRU_WALK_ARGS	struct list_head *item, struct list_lru_one *list, void *arg
#endif
#endif /* UMAD_HAVE_RECLAIM */

#endif /* UMAD_SHRINKER_H */
