/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of reserves, and the list where the shrinker finds those of a cgroup. */
#ifndef UMAD_RESERVE_H
#define UMAD_RESERVE_H

#include <linux/spinlock.h>

struct mem_cgroup;
struct shrinker;
struct umad_reserve;

/* Of a cgroup the one that it has, &umad_reserve.lru_node; it has its own locks. */
extern struct list_lru umad_reserves;

/*
 * Protects the tree of the reserves, and their files, which are not closed meanwhile. Who needs
 * memory takes it, outside &umad_file.lock.
 */
extern spinlock_t umad_reserves_lock;

int umad_reserves_init(struct shrinker *shrinker);
void umad_reserves_exit(void);
struct umad_reserve *umad_reserve_create(struct mem_cgroup *memcg);
void umad_reserve_drop(struct umad_reserve *reserve);
void umad_reserve_list(struct umad_reserve *reserve);
void umad_reserve_unlist(struct umad_reserve *reserve);

#endif /* UMAD_RESERVE_H */
