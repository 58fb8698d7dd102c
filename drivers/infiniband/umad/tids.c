// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "tids.h"

#include <linux/hashtable.h>
#include <linux/spinlock.h>

/* Of all ports' agents, which may be thousands. */
static DEFINE_HASHTABLE(tids, 10);
/* Protects the above; process context only, and nothing is taken inside it. */
static DEFINE_SPINLOCK(tids_lock);

/**
 * umad_tids_add() - an agent has been registered
 * @tid: the agent's
 * @hi_tid: that ib_core has given it
 *
 * Context: process; does not sleep.
 */
void umad_tids_add(struct umad_tid *tid, u32 hi_tid)
{
	tid->hi_tid = hi_tid;
	spin_lock(&tids_lock);
	hash_add(tids, &tid->node, hi_tid);
	spin_unlock(&tids_lock);
}

/**
 * umad_tids_del() - an agent is about to be unregistered
 * @tid: the agent's
 *
 * Context: process; does not sleep.
 */
void umad_tids_del(struct umad_tid *tid)
{
	spin_lock(&tids_lock);
	hash_del(&tid->node);
	spin_unlock(&tids_lock);
}

/**
 * umad_tids_has() - is it an agent of this module that responses with it go to?
 * @hi_tid: the upper 32 bits of a TID
 *
 * The agent may go at once. That does no harm, as ib_core gives its number to
 * another only after 2^24 others.
 * Context: process; does not sleep.
 * Return: true if it is.
 */
bool umad_tids_has(u32 hi_tid)
{
	struct umad_tid *tid;
	bool found = false;

	spin_lock(&tids_lock);
	hash_for_each_possible(tids, tid, node, hi_tid) {
		found = tid->hi_tid == hi_tid;
		if (found)
			break;
	}
	spin_unlock(&tids_lock);
	return found;
}
