// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The first ACK of a message waits for the sender's address, and on RoCE that of a
 * node that does not answer takes a second to fail. Any node may send any number
 * of messages from addresses of its choice. So a file has a share of the addresses
 * resolved at a time, its senders take turns, and what is known of one of them is
 * true of all that it has sent. What waits for its turn is in the table, and so under
 * its bounds; a port's queue never has more works than it runs at a time, so that who
 * waits for a work, as the closer of an agent does, waits for one address at most.
 */
#include <linux/types.h>
#include "rmpp/resolve.h"

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "rmpp/peer.h"
#include "rmpp/xfer_rx.h"

/* Each file may have so many; of what is free, half. */
#define FILE_WORKS	8

/* One more for a file: the first in any case, or others could keep it out. */
static bool work_reserve(struct umad_file *file)
{
	atomic_t *works = &file->port->addr_works;
	const struct umad_rmpp *rmpp = file->rmpp;
	int left = UMAD_RMPP_ADDR_WORKS - atomic_read(works);

	if (!rmpp->resolving)
		left += UMAD_RMPP_ADDR_FIRST;
	else if (rmpp->resolving >= max(FILE_WORKS, left / 2))
		return false;
	if (left <= 0)
		return false;
	atomic_inc(works);
	return true;
}

/* It has a turn; what it counts as in &umad_port.addr_works is the caller's. */
static bool work_queue(struct umad_xfer_rx *rx)
{
	if (!umad_active_ref_tryget(&rx->agent->active_ref))
		return false;
	rx->work_queued = true;
	rx->agent->file->rmpp->resolving++;
	umad_xfer_rx_get(rx);
	queue_work(rx->agent->file->port->addr_wq, &rx->work);
	return true;
}

/**
 * umad_rmpp_addr_forget() - a message needs no turn any more
 * @rx: the message, whether it waits for one or not
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_addr_forget(struct umad_xfer_rx *rx)
{
	struct umad_file *file = rx->agent->file;
	struct umad_rmpp_peer *peer = rx->waits_for;

	lockdep_assert_held(&file->lock);
	if (!peer)
		return;
	rx->waits_for = NULL;
	list_del(&rx->addr_node);
	if (list_empty(&peer->unresolved))
		list_del_init(&peer->turn_node);
	umad_rmpp_peer_put(file, peer);
}

/* The next senders' first messages take the turns that there are. */
static void start_next(struct umad_file *file)
{
	struct umad_rmpp *rmpp = file->rmpp;
	struct umad_rmpp_peer *peer;
	struct umad_xfer_rx *rx;

	while (!list_empty(&rmpp->unresolved) && work_reserve(file)) {
		peer = list_first_entry(&rmpp->unresolved, struct umad_rmpp_peer,
					turn_node);
		list_move_tail(&peer->turn_node, &rmpp->unresolved);
		rx = list_first_entry(&peer->unresolved, struct umad_xfer_rx,
				      addr_node);
		umad_rmpp_addr_forget(rx);
		if (!work_queue(rx))
			atomic_dec(&file->port->addr_works);
	}
}

/**
 * umad_rmpp_addr_ask() - have the address of a message's sender resolved
 * @rx: has no address handle yet
 *
 * Now, or when its turn comes. Without memory, with too many under way, or if it is
 * out of the table, not at all: its ACK is as good as lost, and who repeats the
 * segment asks again.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_addr_ask(struct umad_xfer_rx *rx)
{
	struct umad_file *file = rx->agent->file;
	struct umad_rmpp *rmpp = file->rmpp;
	struct umad_rmpp_peer *peer;

	lockdep_assert_held(&file->lock);
	/* The file's last turn may have ended when others had taken all. */
	if (rx->waits_for && !rmpp->resolving)
		start_next(file);
	if (!rx->listed || rx->work_queued || rx->waits_for)
		return;
	if (work_reserve(file)) {
		if (!work_queue(rx))
			atomic_dec(&file->port->addr_works);
		return;
	}
	/* Turns come from those who have one. */
	if (!rmpp->resolving)
		return;
	peer = umad_rmpp_peer_get(file, &rx->key);
	if (!peer)
		return;
	rx->waits_for = peer;
	list_add_tail(&rx->addr_node, &peer->unresolved);
	if (list_empty(&peer->turn_node))
		list_add_tail(&peer->turn_node, &rmpp->unresolved);
}

/*
 * The others of the same sender would come to the same end, each a second later; if
 * they came the same way.
 */
static void forget_peer(struct umad_xfer_rx *rx)
{
	struct umad_xfer_rx *other, *next;
	struct umad_rmpp_peer *peer;
	bool more;

	peer = umad_rmpp_peer_find(rx->agent->file, &rx->key);
	if (!peer || list_empty(&peer->unresolved))
		return;
	list_for_each_entry_safe(other, next, &peer->unresolved, addr_node) {
		/* The peer may go with the last. */
		more = !list_is_last(&other->addr_node, &peer->unresolved);
		if (other->from.gid_index == rx->from.gid_index)
			umad_rmpp_addr_forget(other);
		if (!more)
			break;
	}
}

/**
 * umad_rmpp_addr_done() - the work of a message has done with the address
 * @rx: whose work it is
 * @err: 0, or why there is no address handle
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_addr_done(struct umad_xfer_rx *rx, int err)
{
	struct umad_file *file = rx->agent->file;

	lockdep_assert_held(&file->lock);
	rx->work_queued = false;
	file->rmpp->resolving--;
	/* These two say nothing of the address. */
	if (err && err != -ESHUTDOWN && err != -ENOMEM)
		forget_peer(rx);
	atomic_dec(&file->port->addr_works);
	start_next(file);
}
