// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What messages being received take, of the file, of the port, and of each peer. */
#include <linux/types.h>
#include "rmpp/account.h"

#include <linux/lockdep.h>
#include <linux/moduleparam.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "request.h"
#include "rmpp/peer.h"
#include "rmpp/reassembly.h"
#include "room.h"
#include "user.h"

static unsigned int rmpp_file_answers = 4096;
module_param(rmpp_file_answers, uint, 0644);
MODULE_PARM_DESC(rmpp_file_answers,
		 "ACKs, STOPs and ABORTs of received messages that ib_core has to send for one file (default: 4096)");

/* The lock is held, but others look without it. */
static unsigned int count_active(unsigned int *active, int more)
{
	WRITE_ONCE(*active, *active + more);
	return *active;
}

/* It has messages being reassembled now, so those above it have. */
static void file_activate(struct umad_file *file)
{
	struct umad_user *user = file->user;
	struct umad_port *port = file->port;

	spin_lock(&port->users_lock);
	while (user && count_active(&user->active, 1) == 1)
		user = user->parent;
	if (!user)
		count_active(&port->active_users, 1);
	spin_unlock(&port->users_lock);
}

static void file_deactivate(struct umad_file *file)
{
	struct umad_user *user = file->user;
	struct umad_port *port = file->port;

	spin_lock(&port->users_lock);
	while (user && !count_active(&user->active, -1))
		user = user->parent;
	if (!user)
		count_active(&port->active_users, -1);
	spin_unlock(&port->users_lock);
}

/**
 * umad_rmpp_count() - a message begins
 * @rx: with its peer
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_count(struct umad_xfer_rx *rx)
{
	struct umad_file *file = rx->agent->file;

	lockdep_assert_held(&file->lock);
	if (!file->rmpp->reassembling++)
		file_activate(file);
	atomic_inc(&file->user->reassembling);
	atomic_inc(&file->port->rmpp_reassembling);
	if (rx->solicited) {
		rx->req->answer_comes = true;
		list_add_tail(&rx->file_node, &file->rmpp->answers_begun);
	} else {
		umad_rmpp_peer_add(file, rx);
		umad_reserve_add(file->reserve, UMAD_UNASKED_BEGINS, UMAD_RX_BYTES);
	}
}

/**
 * umad_rmpp_charge() - a message has taken pages
 * @rx: the message, in the table
 * @bytes: of them
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_charge(struct umad_xfer_rx *rx, size_t bytes)
{
	struct umad_file *file = rx->agent->file;

	lockdep_assert_held(&file->lock);
	if (!bytes)
		return;
	rx->charged += bytes;
	file->rmpp->reassembly_bytes += bytes;
	atomic64_add(bytes, &file->user->reassembly_bytes);
	atomic64_add(bytes, &file->port->rmpp_reassembly_bytes);
	if (!rx->solicited) {
		file->rmpp->unasked_bytes += bytes;
		umad_rmpp_peer_charge(file, rx->peer, bytes);
		umad_reserve_add(file->reserve, UMAD_UNASKED_GOES_ON, bytes);
	} else {
		umad_reserve_add(file->reserve, UMAD_ANSWER, bytes);
	}
}

/**
 * umad_rmpp_uncount() - a message is not being reassembled any more
 * @rx: its peer is let go
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_uncount(struct umad_xfer_rx *rx)
{
	struct umad_file *file = rx->agent->file;

	lockdep_assert_held(&file->lock);
	if (!--file->rmpp->reassembling)
		file_deactivate(file);
	atomic_dec(&file->user->reassembling);
	atomic_dec(&file->port->rmpp_reassembling);
	file->rmpp->reassembly_bytes -= rx->charged;
	atomic64_sub(rx->charged, &file->user->reassembly_bytes);
	atomic64_sub(rx->charged, &file->port->rmpp_reassembly_bytes);
	if (rx->solicited) {
		rx->req->answer_comes = false;
		list_del_init(&rx->file_node);
		umad_reserve_add(file->reserve, UMAD_ANSWER, -(s64)rx->charged);
	} else {
		file->rmpp->unasked_bytes -= rx->charged;
		umad_rmpp_peer_remove(file, rx);
		umad_reserve_add(file->reserve, UMAD_UNASKED_GOES_ON,
				 -(s64)(UMAD_RX_BYTES + rx->charged));
	}
	rx->charged = 0;
	umad_rmpp_peer_put(file, rx->peer);
	rx->peer = NULL;
}

/**
 * umad_rmpp_answer_enter() - a received message is to be answered
 * @file: whose message it is
 *
 * A device that sends slower than it receives would have ib_core keep any number of
 * answers. One that is not sent is as good as lost on the way.
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true: umad_rmpp_answer_leave() has to follow, when ib_core has done with it;
 * false: there are too many already.
 */
bool umad_rmpp_answer_enter(struct umad_file *file)
{
	lockdep_assert_held(&file->lock);
	if (file->rmpp->answers >= READ_ONCE(rmpp_file_answers)) {
		umad_stat_inc(&file->port->stats, UMAD_STAT_RMPP_ANSWERS_DROPPED);
		return false;
	}
	file->rmpp->answers++;
	return true;
}

/**
 * umad_rmpp_answer_leave() - ib_core has done with an answer, or has not taken it
 * @file: whose message it was
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_answer_leave(struct umad_file *file)
{
	lockdep_assert_held(&file->lock);
	file->rmpp->answers--;
}
