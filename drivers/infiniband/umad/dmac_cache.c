// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "dmac_cache.h"

#include <linux/build_bug.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include "umad_export.h"

/* In ms. A change of a neighbour or a route is heard of at once, but not of a VRF, say. */
#define AGE_MAX		1000

/**
 * struct dmac_entry - one resolution
 * @key: zero in an unused one
 * @dmac: what it has found
 * @changes: umad_neigh_changes() before it
 * @expires: not used from then on
 */
struct dmac_entry {
	struct umad_dmac_key key;
	struct umad_dmac dmac;
	unsigned int changes;
	ktime_t expires;
};

/**
 * struct umad_dmac_cache - the resolutions of one port
 * @lock: protects @entry; process context only, and nothing is taken inside it
 * @seed: of the hash, so that nobody can choose whose place another takes; constant
 * @entry: by a hash of the key; a later one takes the place of an earlier one
 */
struct umad_dmac_cache {
	spinlock_t lock; /* protects the entries */
	u32 seed;
	struct dmac_entry entry[UMAD_DMACS];
};

/* Without padding, which memcmp() would compare. */
static_assert(sizeof(struct umad_dmac_key) == 48);

/**
 * umad_dmac_cache_create() - an empty cache
 *
 * Context: process; may sleep.
 * Return: the cache, or NULL without memory.
 */
struct umad_dmac_cache *umad_dmac_cache_create(void)
{
	struct umad_dmac_cache *cache = kvzalloc(sizeof(*cache), GFP_KERNEL);

	if (!cache)
		return NULL;
	spin_lock_init(&cache->lock);
	cache->seed = get_random_u32();
	return cache;
}
EXPORT_SYMBOL_IF_KUNIT(umad_dmac_cache_create);

/**
 * umad_dmac_cache_free() - undo umad_dmac_cache_create()
 * @cache: consumed, may be NULL
 *
 * Context: process; may sleep.
 */
void umad_dmac_cache_free(struct umad_dmac_cache *cache)
{
	kvfree(cache);
}
EXPORT_SYMBOL_IF_KUNIT(umad_dmac_cache_free);

static struct dmac_entry *entry_of(struct umad_dmac_cache *cache,
				   const struct umad_dmac_key *key)
{
	u32 hash = jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), cache->seed);

	return &cache->entry[reciprocal_scale(hash, UMAD_DMACS)];
}

/**
 * umad_dmac_find() - has this been resolved lately?
 * @cache: of the port
 * @key: what is to be resolved
 * @changes: umad_neigh_changes() so far
 * @now: the time
 * @dmac: set if so
 *
 * Context: process; does not sleep.
 * Return: true if so, and nothing that leads to it has changed since.
 */
bool umad_dmac_find(struct umad_dmac_cache *cache, const struct umad_dmac_key *key,
		    unsigned int changes, ktime_t now, struct umad_dmac *dmac)
{
	struct dmac_entry *entry = entry_of(cache, key);
	bool found;

	spin_lock(&cache->lock);
	found = entry->changes == changes && ktime_before(now, entry->expires) &&
		!memcmp(&entry->key, key, sizeof(*key));
	if (found)
		*dmac = entry->dmac;
	spin_unlock(&cache->lock);
	return found;
}
EXPORT_SYMBOL_IF_KUNIT(umad_dmac_find);

/**
 * umad_dmac_store() - remember a resolution
 * @cache: of the port
 * @key: what was resolved
 * @changes: umad_neigh_changes() before it was begun
 * @now: when that was
 * @dmac: what it has found
 *
 * Context: process; does not sleep.
 */
void umad_dmac_store(struct umad_dmac_cache *cache, const struct umad_dmac_key *key,
		     unsigned int changes, ktime_t now, const struct umad_dmac *dmac)
{
	struct dmac_entry *entry = entry_of(cache, key);

	spin_lock(&cache->lock);
	entry->key = *key;
	entry->dmac = *dmac;
	entry->changes = changes;
	entry->expires = ktime_add_ms(now, AGE_MAX);
	spin_unlock(&cache->lock);
}
EXPORT_SYMBOL_IF_KUNIT(umad_dmac_store);
