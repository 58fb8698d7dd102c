/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the resolution of addresses on RoCE has found lately. Self-contained: is told the
 * time, and how often neighbours have changed.
 */
#ifndef UMAD_DMAC_CACHE_H
#define UMAD_DMAC_CACHE_H

#include <linux/if_ether.h>
#include <linux/ktime.h>
#include <linux/types.h>

/* So many destinations of a port are remembered at a time. */
#define UMAD_DMACS	113

/**
 * struct umad_dmac_key - what a resolution depends on
 * @sgid: the port's own GID, not its index, which may be another's soon
 * @dgid: of the destination
 * @net: network namespace of @sgid's interface; compared, not followed
 * @ifindex: that interface, in @net
 * @gid_type: of @sgid
 *
 * Compared as bytes.
 */
struct umad_dmac_key {
	u8 sgid[16];
	u8 dgid[16];
	u64 net;
	u32 ifindex;
	u32 gid_type;
};

/**
 * struct umad_dmac - what a resolution finds
 * @mac: of the destination, or of the router to it
 * @hop_limit: of the route
 */
struct umad_dmac {
	u8 mac[ETH_ALEN];
	u8 hop_limit;
};

struct umad_dmac_cache;

struct umad_dmac_cache *umad_dmac_cache_create(void);
void umad_dmac_cache_free(struct umad_dmac_cache *cache);
bool umad_dmac_find(struct umad_dmac_cache *cache, const struct umad_dmac_key *key,
		    unsigned int changes, ktime_t now, struct umad_dmac *dmac);
void umad_dmac_store(struct umad_dmac_cache *cache, const struct umad_dmac_key *key,
		     unsigned int changes, ktime_t now, const struct umad_dmac *dmac);

#endif /* UMAD_DMAC_CACHE_H */
