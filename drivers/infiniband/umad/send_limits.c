// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "send_limits.h"

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/moduleparam.h>
#include "file.h"
#include "port.h"
#include "room.h"
#include "user.h"

/* Single MADs that a process may have in any case: others of its cgroup may have all. */
#define SINGLE_FEW	64
/* Of requests one in so many bytes is left besides. */
#define ASKED_PART	8

static unsigned int max_sends = 262144;
module_param(max_sends, uint, 0644);
MODULE_PARM_DESC(max_sends,
		 "Sends a process may have outstanding on a port, with unread timeouts; write() then fails with ENOBUFS (default: 262144)");

/*
 * What a process holds of requests and of unread timeouts is bounded, or its exit takes
 * as long as all its files have requests. A request counts until ib_core has done with
 * all its MADs: a process whose requests time out before they leave a slow device's send
 * queue would fill that without end.
 */
static bool hold(struct umad_user *user)
{
	if (atomic_inc_return(&user->held_requests) <= READ_ONCE(max_sends))
		return true;
	atomic_dec(&user->held_requests);
	return false;
}

/*
 * A single MAD cannot be given back, as a message can, while the device does not send, or nobody
 * answers. So there is as much again left for what the processes of a cgroup need besides: others
 * decide how much they have to answer. Beside what they ask themselves an eighth of that is left.
 */
static bool has_room(struct umad_file *file, enum umad_send_kind kind)
{
	if (atomic_read(&file->user->held_requests) < SINGLE_FEW)
		return true;
	switch (kind) {
	case UMAD_SEND_UNTIMED:
		return umad_reserve_leaves(file->reserve, UMAD_SENT, 1);
	case UMAD_SEND_TIMED:
		return umad_reserve_leaves(file->reserve, UMAD_ASKED, ASKED_PART);
	default:
		return true;
	}
}

/* Messages count by their destination (rmpp/dest.c). */
static void count(struct umad_file *file, enum umad_send_kind kind, s64 n)
{
	if (kind != UMAD_SEND_MESSAGE)
		umad_reserve_add(file->reserve,
				 kind == UMAD_SEND_TIMED ? UMAD_ASKED : UMAD_SENT,
				 n * file->port->single_bytes);
}

/**
 * umad_send_limits_take() - something is to be sent
 * @file: that a process has written to
 * @kind: what it is
 *
 * Context: process, that of the write; does not sleep.
 * Return: 0, and umad_send_limits_give() has to follow when ib_core has done with it; -ENOBUFS
 * when the process has max_sends already; -ENOMEM when what the single MADs of its cgroup take is
 * too much beside what is left of that.
 */
int umad_send_limits_take(struct umad_file *file, enum umad_send_kind kind)
{
	int ret = has_room(file, kind) ? 0 : -ENOMEM;

	if (!ret && !hold(file->user))
		ret = -ENOBUFS;
	if (ret)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_OVER_LIMIT);
	else
		count(file, kind, 1);
	return ret;
}

/**
 * umad_send_limits_give() - that was sent, or is not any more
 * @file: as of umad_send_limits_take()
 * @kind: likewise
 *
 * Context: any.
 */
void umad_send_limits_give(struct umad_file *file, enum umad_send_kind kind)
{
	count(file, kind, -1);
	atomic_dec(&file->user->held_requests);
}
