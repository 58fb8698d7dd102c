/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shrinkers that are asked for a cgroup's memory, and the lists that they look at. */
#ifndef UMAD_SHRINKER_H
#define UMAD_SHRINKER_H

#include <linux/list_lru.h>
#include <linux/shrinker.h>
#include <linux/slab.h>

/*
 * Before 5.18 a cgroup's lists are not made as an object is allocated for them, and before
 * 6.0 a shrinker has no name: there, what is received is not given back. Remove when these
 * are dropped, as what follows with those before 6.7, 6.8 and 6.13.
 */
#if defined(CONFIG_MEMCG) && !defined(UMAD_LACKS_NAMED_SHRINKERS)
#define UMAD_HAVE_RECLAIM
#endif

#ifdef UMAD_HAVE_RECLAIM
#ifdef UMAD_LACKS_SHRINKER_ALLOC
/* A module has its only one in a variable of its own. */
static inline struct shrinker *shrinker_alloc(unsigned int flags, const char *name)
{
	static struct shrinker shrinker;

	shrinker = (struct shrinker){ .flags = flags };
	return &shrinker;
}

static inline int umad_shrinker_register(struct shrinker *shrinker, const char *name)
{
	return register_shrinker(shrinker, "%s", name);
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

/* Arguments of a &list_lru_walk_cb that has no use for the lock. */
#ifdef UMAD_LRU_WALK_HAS_LOCK
#define UMAD_LRU_WALK_ARGS	\
	struct list_head *item, struct list_lru_one *list, spinlock_t *lock, void *arg
#else
#define UMAD_LRU_WALK_ARGS	struct list_head *item, struct list_lru_one *list, void *arg
#endif
#endif /* UMAD_HAVE_RECLAIM */

#endif /* UMAD_SHRINKER_H */
