/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* An agent's last address handle: see ah.c. */
#ifndef UMAD_KEPT_AH_H
#define UMAD_KEPT_AH_H

#include "addr.h"
#include "dmac_cache.h"

struct umad_ah;

/**
 * struct umad_kept_ah - that of the last MAD written, for others to the same place
 * @ah: with a reference, on RoCE as long as a request has it; or NULL
 * @addr: what it is for, but for the queue pair and the P_Key, which are 0
 * @dmac: what @addr was resolved to, on RoCE
 * @changes: how often neighbours had changed before that
 * @made_at: when, in jiffies
 */
struct umad_kept_ah {
	struct umad_ah *ah;
	struct umad_addr addr;
	struct umad_dmac dmac;
	unsigned int changes;
	unsigned long made_at;
};

#endif /* UMAD_KEPT_AH_H */
