// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a file has of RMPP. */
#include <linux/types.h>
#include "rmpp/rmpp.h"

#include <linux/bug.h>
#include <linux/limits.h>
#include "file.h"
#include "rmpp/memo.h"

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
 * umad_rmpp_init() - what a file needs for RMPP
 * @rmpp: of a file
 * @process: that has opened it
 */
void umad_rmpp_init(struct umad_rmpp *rmpp, struct umad_share *process)
{
	umad_share_init(&rmpp->share, process);
	rmpp->receivers = RB_ROOT;
	rmpp->peers = RB_ROOT;
	rmpp->by_transfers = RB_ROOT_CACHED;
	rmpp->by_bytes = RB_ROOT_CACHED;
	rmpp->dests = RB_ROOT;
	INIT_LIST_HEAD(&rmpp->unresolved);
	INIT_LIST_HEAD(&rmpp->lingering);
	umad_rmpp_memo_init(&rmpp->memos);
}

/**
 * umad_rmpp_destroy() - check that a file has given back all that it had for RMPP
 * @rmpp: of a file without agents
 */
void umad_rmpp_destroy(struct umad_rmpp *rmpp)
{
	WARN_ON_ONCE(rmpp->reassembling || !RB_EMPTY_ROOT(&rmpp->peers) ||
		     !RB_EMPTY_ROOT(&rmpp->receivers) ||
		     rmpp->lingering_count || rmpp->memos.count || rmpp->resolving ||
		     atomic_read(&rmpp->rejects) ||
		     rmpp->sending_bytes || !RB_EMPTY_ROOT(&rmpp->dests));
}
