// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a file has of RMPP. */
#include <linux/types.h>
#include "rmpp/rmpp.h"

#include <linux/bug.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include "file.h"
#include "rmpp/memo.h"
#include "user.h"

/**
 * umad_rmpp_set_timer() - when an engine wants to be called
 * @file: that has it
 * @timer: the engine's
 * @deadline: in nanoseconds, or U64_MAX for never; it may be called too early
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_set_timer(struct umad_file *file, struct umad_timer *timer,
			 u64 deadline)
{
	umad_timer_put_off(&file->timers, timer,
			   deadline == U64_MAX ? KTIME_MAX : ns_to_ktime(deadline));
	umad_file_arm(file);
}

/**
 * umad_rmpp_alloc() - make what a file needs for RMPP, but for the queues of segments
 * @file: it belongs to
 *
 * Context: process; may sleep.
 * Return: it, or NULL without memory.
 */
struct umad_rmpp *umad_rmpp_alloc(struct umad_file *file)
{
	struct umad_rmpp *rmpp = kzalloc(sizeof(*rmpp), GFP_KERNEL_ACCOUNT);

	if (!rmpp)
		return NULL;
	rmpp->file = file;
	umad_share_init(&rmpp->share, &file->user->share);
	rmpp->receivers = RB_ROOT;
	rmpp->peers = RB_ROOT;
	rmpp->by_transfers = RB_ROOT_CACHED;
	rmpp->by_bytes = RB_ROOT_CACHED;
	rmpp->dests = RB_ROOT;
	INIT_LIST_HEAD(&rmpp->dedups);
	INIT_LIST_HEAD(&rmpp->answers_sent);
	INIT_LIST_HEAD(&rmpp->lone);
	INIT_LIST_HEAD(&rmpp->begun);
	INIT_LIST_HEAD(&rmpp->answers_begun);
	timerqueue_init_head(&rmpp->slow);
	INIT_LIST_HEAD(&rmpp->unresolved);
	INIT_LIST_HEAD(&rmpp->lingering);
	umad_rmpp_memo_init(&rmpp->memos);
	return rmpp;
}

/**
 * umad_rmpp_free() - a file has given back all that it had for RMPP
 * @rmpp: of a file without agents, consumed; may be NULL
 *
 * Context: process.
 */
void umad_rmpp_free(struct umad_rmpp *rmpp)
{
	if (!rmpp)
		return;
	WARN_ON_ONCE(rmpp->reassembling || !RB_EMPTY_ROOT(&rmpp->peers) ||
		     !RB_EMPTY_ROOT(&rmpp->receivers) ||
		     rmpp->lingering_count || rmpp->memos.count || rmpp->resolving ||
		     atomic_read(&rmpp->rejects) ||
		     rmpp->sending_bytes || !RB_EMPTY_ROOT(&rmpp->dests) ||
		     !list_empty(&rmpp->dedups) || !list_empty(&rmpp->answers_sent));
	kfree(rmpp);
}
