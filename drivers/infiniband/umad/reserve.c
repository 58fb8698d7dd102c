// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "reserve.h"

#include <linux/errno.h>
#include <linux/list.h>
#include <linux/slab.h>
#include "charge.h"
#include "umad_shrinker.h"

static struct kmem_cache *cache;

DEFINE_SPINLOCK(umad_reserves_lock);

#ifdef UMAD_HAVE_RECLAIM
struct list_lru umad_reserves;

static int list_init(struct shrinker *shrinker)
{
	return list_lru_init_memcg(&umad_reserves, shrinker);
}

static void list_exit(void)
{
	list_lru_destroy(&umad_reserves);
}

static struct umad_reserve *alloc_for_list(void)
{
	return kmem_cache_alloc_lru(cache, &umad_reserves, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
}

/**
 * umad_reserve_list() - its files may have something that the shrinker wants
 * @reserve: is not listed
 *
 * Context: process; does not sleep.
 */
void umad_reserve_list(struct umad_reserve *reserve)
{
	list_lru_add_obj(&umad_reserves, &reserve->lru_node);
}

/**
 * umad_reserve_unlist() - it has no files any more
 * @reserve: is listed, with its reference still
 *
 * Context: process; does not sleep.
 */
void umad_reserve_unlist(struct umad_reserve *reserve)
{
	list_lru_del_obj(&umad_reserves, &reserve->lru_node);
}
#else
static int list_init(struct shrinker *shrinker)
{
	return 0;
}

static void list_exit(void)
{
}

static struct umad_reserve *alloc_for_list(void)
{
	return kmem_cache_zalloc(cache, GFP_KERNEL_ACCOUNT);
}

void umad_reserve_list(struct umad_reserve *reserve)
{
}

void umad_reserve_unlist(struct umad_reserve *reserve)
{
}
#endif

/**
 * umad_reserves_init() - before the first file is opened
 * @shrinker: looks at the list; has its number
 *
 * Context: process; sleeps.
 * Return: 0 or -ENOMEM.
 */
int umad_reserves_init(struct shrinker *shrinker)
{
	int ret;

	cache = KMEM_CACHE(umad_reserve, 0);
	if (!cache)
		return -ENOMEM;
	ret = list_init(shrinker);
	if (ret)
		kmem_cache_destroy(cache);
	return ret;
}

/**
 * umad_reserves_exit() - no reserve is left
 *
 * Context: process; sleeps; the shrinker is gone.
 */
void umad_reserves_exit(void)
{
	list_exit();
	kmem_cache_destroy(cache);
}

/**
 * umad_reserve_create() - a cgroup's reserve
 * @memcg: the cgroup, which is charged and of which a reference is taken; or NULL
 *
 * Context: process; may sleep.
 * Return: it, with one reference, for umad_reserve_drop(); or NULL.
 */
struct umad_reserve *umad_reserve_create(struct mem_cgroup *memcg)
{
	struct umad_charge charge = umad_charge_begin(memcg);
	struct umad_reserve *reserve = alloc_for_list();

	umad_charge_end(&charge);
	if (!reserve)
		return NULL;
	refcount_set(&reserve->refs, 1);
#ifdef CONFIG_MEMCG
	if (memcg)
		css_get(&memcg->css);
#endif
	reserve->memcg = memcg;
	INIT_LIST_HEAD(&reserve->lru_node);
	INIT_LIST_HEAD(&reserve->file_list);
	INIT_LIST_HEAD(&reserve->below);
	INIT_LIST_HEAD(&reserve->beside);
	umad_askers_init(&reserve->askers);
	return reserve;
}

/**
 * umad_reserve_drop() - drop a reference that keeps the memory, and no more
 * @reserve: consumed
 *
 * Context: process; does not sleep.
 */
void umad_reserve_drop(struct umad_reserve *reserve)
{
	if (!refcount_dec_and_test(&reserve->refs))
		return;
	mem_cgroup_put(reserve->memcg);
	kmem_cache_free(cache, reserve);
}
