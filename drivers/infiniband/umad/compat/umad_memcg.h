/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Charging another cgroup than that of the current process. */
#ifndef UMAD_MEMCG_H
#define UMAD_MEMCG_H

#include <linux/memcontrol.h>
#include <linux/sched/mm.h>

/*
 * Before 5.14 set_active_memcg() needs a variable that is not exported to modules: what
 * is received is charged to nobody there. Remove when these are dropped.
 */
#ifdef UMAD_LACKS_ACTIVE_MEMCG
static inline struct mem_cgroup *umad_set_active_memcg(struct mem_cgroup *memcg)
{
	return NULL;
}

#define set_active_memcg umad_set_active_memcg
#endif

#endif /* UMAD_MEMCG_H */
