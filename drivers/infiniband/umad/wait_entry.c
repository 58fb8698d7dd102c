// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "wait_entry.h"

#include <linux/lockdep.h>
#include <rdma/ib_mad.h>
#include "agent.h"
#include "file.h"
#include "post.h"
#include "send.h"

/**
 * umad_wait_entry_attach() - let a MAD wait for the response, if nothing does
 * @send: the request
 * @buf: the MAD, about to be posted; umad_wait_entry_posted() has to follow
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true if it waits now; false if no response is expected, or another does.
 */
bool umad_wait_entry_attach(struct umad_send *send, struct ib_mad_send_buf *buf)
{
	lockdep_assert_held(&send->file->lock);
	if (send->waiting || send->txn.state != UMAD_TXN_WAIT)
		return false;
	umad_post_wait_for_ever(buf);
	send->waiting = buf;
	return true;
}

/*
 * Even of a dying agent: a handler, whom only unregistering waits for, may have posted
 * it after that has flushed the others, and then waits for it, too.
 */
static void take_back(struct umad_send *send)
{
	/* -EINVAL: it is complete, and the handler is on its way. */
	if (send->waiting && !ib_modify_mad(send->waiting, 0))
		send->waiting = NULL;
}

/**
 * umad_wait_entry_posted() - ib_core has taken a MAD, or has not
 * @send: the request
 * @buf: the MAD, attached or not; if @err is 0 it may be gone
 * @err: what ib_post_send_mad() returned
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_wait_entry_posted(struct umad_send *send, struct ib_mad_send_buf *buf,
			    int err)
{
	lockdep_assert_held(&send->file->lock);
	if (err)
		umad_wait_entry_detach(send, buf);
	else if (send->txn.state == UMAD_TXN_DONE)
		/* It has ended before ib_core knew what to take back. */
		take_back(send);
}

/**
 * umad_wait_entry_detach() - ib_core completes a MAD, or does not know it
 * @send: the request
 * @buf: the MAD, whether it waits or not
 *
 * Context: any, &umad_file.lock held; does not sleep.
 * Return: true if it was the wait entry; there is none now.
 */
bool umad_wait_entry_detach(struct umad_send *send, struct ib_mad_send_buf *buf)
{
	lockdep_assert_held(&send->file->lock);
	if (send->waiting != buf)
		return false;
	send->waiting = NULL;
	return true;
}

/**
 * umad_wait_entry_cancel() - the request has ended
 * @send: the request
 *
 * Context: any, &umad_file.lock held; does not sleep.
 */
void umad_wait_entry_cancel(struct umad_send *send)
{
	lockdep_assert_held(&send->file->lock);
	/* ib_core flushes a dying agent's all at once, without a search for each. */
	if (!send->agent->dying)
		take_back(send);
}
