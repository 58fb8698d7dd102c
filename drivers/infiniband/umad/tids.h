/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The upper halves of TIDs that lead to an agent of this module. */
#ifndef UMAD_TIDS_H
#define UMAD_TIDS_H

#include <linux/types.h>

/**
 * struct umad_tid - that of one agent
 * @node: among all, protected by the lock in tids.c
 * @hi_tid: &ib_mad_agent.hi_tid
 */
struct umad_tid {
	struct hlist_node node;
	u32 hi_tid;
};

void umad_tids_add(struct umad_tid *tid, u32 hi_tid);
void umad_tids_del(struct umad_tid *tid);
bool umad_tids_has(u32 hi_tid);

#endif /* UMAD_TIDS_H */
