// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "send_limits.h"

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/moduleparam.h>
#include <linux/sizes.h>
#include "file.h"
#include "port.h"
#include "room.h"
#include "user.h"

/* Single MADs of a kind that a process may have in any case, and bytes that each takes. */
#define SINGLE_FEW	256
#define SINGLE_SIZE	SZ_2K

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
 * answers. So there is as much again left for what the process needs besides: others decide how
 * much it has to answer. Beside what it asks itself an eighth of that is left.
 */
static bool has_room(struct umad_user *user, enum umad_send_kind kind)
{
	u64 n, part = kind == UMAD_SEND_TIMED ? SINGLE_SIZE / 8 : SINGLE_SIZE;

	if (kind == UMAD_SEND_MESSAGE)
		return true;
	n = atomic_read(&user->sends[kind]);
	return n < SINGLE_FEW || n * part <= umad_cgroup_left(n * part);
}

/**
 * umad_send_limits_take() - something is to be sent
 * @file: that a process has written to
 * @kind: what it is
 *
 * Context: process, that of the write; does not sleep.
 * Return: 0, and umad_send_limits_give() has to follow when ib_core has done with it; -ENOBUFS
 * when the process has max_sends already; -ENOMEM when what its single MADs take is too much
 * beside what is left of its cgroup.
 */
int umad_send_limits_take(struct umad_file *file, enum umad_send_kind kind)
{
	int ret = has_room(file->user, kind) ? 0 : -ENOMEM;

	if (!ret && !hold(file->user))
		ret = -ENOBUFS;
	if (ret)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_OVER_LIMIT);
	else
		atomic_inc(&file->user->sends[kind]);
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
	atomic_dec(&file->user->sends[kind]);
	atomic_dec(&file->user->held_requests);
}
