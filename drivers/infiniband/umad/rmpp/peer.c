// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp/peer.h"

#include <linux/lockdep.h>
#include <linux/slab.h>
#include "agent.h"
#include "charge.h"
#include "file.h"
#include "rmpp/reassembly.h"
#include "umad_rbtree.h"

static int peer_compare(const void *message, const struct rb_node *node)
{
	const struct umad_rmpp_key *key = message;

	return umad_addr_compare_node(&key->from, &rb_entry(node, struct umad_rmpp_peer,
							    node)->addr);
}

static bool has_more_transfers(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct umad_rmpp_peer, by_transfers)->transfers >
	       rb_entry(b, struct umad_rmpp_peer, by_transfers)->transfers;
}

static bool has_more_bytes(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct umad_rmpp_peer, by_bytes)->bytes >
	       rb_entry(b, struct umad_rmpp_peer, by_bytes)->bytes;
}

static void set_transfers(struct umad_rmpp *rmpp, struct umad_rmpp_peer *peer,
			  unsigned int transfers)
{
	rb_erase_cached(&peer->by_transfers, &rmpp->by_transfers);
	peer->transfers = transfers;
	rb_add_cached(&peer->by_transfers, &rmpp->by_transfers,
		      has_more_transfers);
}

static struct umad_rmpp_peer *peer_alloc(struct umad_file *file,
					 const struct umad_rmpp_key *key)
{
	struct umad_charge charge = umad_charge_begin(file->reserve->memcg);
	struct umad_rmpp_peer *peer;

	peer = kzalloc(sizeof(*peer), UMAD_GFP_HANDLER);
	umad_charge_end(&charge);
	if (!peer)
		return NULL;
	peer->addr = key->from;
	umad_share_init(&peer->share, &file->rmpp->share);
	INIT_LIST_HEAD(&peer->idle);
	INIT_LIST_HEAD(&peer->unresolved);
	INIT_LIST_HEAD(&peer->turn_node);
	return peer;
}

/**
 * umad_rmpp_peer_find() - is anything known of who sends this message?
 * @file: that it is for
 * @key: the message's
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: the peer, or NULL.
 */
struct umad_rmpp_peer *umad_rmpp_peer_find(struct umad_file *file,
					   const struct umad_rmpp_key *key)
{
	struct rb_node *node;

	lockdep_assert_held(&file->lock);
	node = rb_find(key, &file->rmpp->peers, peer_compare);
	return node ? rb_entry(node, struct umad_rmpp_peer, node) : NULL;
}

/**
 * umad_rmpp_peer_get() - who sends this message?
 * @file: that it is for
 * @key: the message's
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: the peer, which has one message more; NULL without memory.
 */
struct umad_rmpp_peer *umad_rmpp_peer_get(struct umad_file *file,
					  const struct umad_rmpp_key *key)
{
	struct rb_node **link = &file->rmpp->peers.rb_node, *parent = NULL;
	struct umad_rmpp_peer *peer = umad_rmpp_peer_find(file, key);

	if (peer) {
		peer->messages++;
		return peer;
	}
	peer = peer_alloc(file, key);
	if (!peer)
		return NULL;
	while (*link) {
		parent = *link;
		link = peer_compare(key, parent) < 0 ? &parent->rb_left :
						  &parent->rb_right;
	}
	peer->messages = 1;
	rb_link_node(&peer->node, parent, link);
	rb_insert_color(&peer->node, &file->rmpp->peers);
	rb_add_cached(&peer->by_transfers, &file->rmpp->by_transfers,
		      has_more_transfers);
	rb_add_cached(&peer->by_bytes, &file->rmpp->by_bytes, has_more_bytes);
	return peer;
}

/**
 * umad_rmpp_peer_put() - a message of a peer's is no longer being reassembled, or waits
 * for its address no longer
 * @file: that it was for
 * @peer: gone with its last one
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_peer_put(struct umad_file *file, struct umad_rmpp_peer *peer)
{
	lockdep_assert_held(&file->lock);
	if (--peer->messages)
		return;
	rb_erase(&peer->node, &file->rmpp->peers);
	rb_erase_cached(&peer->by_transfers, &file->rmpp->by_transfers);
	rb_erase_cached(&peer->by_bytes, &file->rmpp->by_bytes);
	kfree(peer);
}

/* Of its kind it is the one that stands still for the shortest time. */
static void put_last(struct umad_rmpp *rmpp, struct umad_xfer_rx *rx)
{
	bool is_lone = rx->engine.highest <= 1;

	rmpp->lone_count += is_lone - rx->is_lone;
	rx->is_lone = is_lone;
	list_move_tail(&rx->file_node, is_lone ? &rmpp->lone : &rmpp->begun);
	if (is_lone || !RB_EMPTY_NODE(&rx->slow_node.node))
		return;
	rx->slow_node.expires = rmpp_rx_slow_at(&rx->engine);
	timerqueue_add(&rmpp->slow, &rx->slow_node);
}

/**
 * umad_rmpp_peer_add() - an unsolicited message begins
 * @file: that it is for
 * @rx: with its peer
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_peer_add(struct umad_file *file, struct umad_xfer_rx *rx)
{
	lockdep_assert_held(&file->lock);
	set_transfers(file->rmpp, rx->peer, rx->peer->transfers + 1);
	list_add_tail(&rx->peer_node, &rx->peer->idle);
	file->rmpp->unsolicited++;
	put_last(file->rmpp, rx);
}

/**
 * umad_rmpp_peer_charge() - what such messages of a peer's take
 * @file: that they are for
 * @peer: who sends them
 * @bytes: more, or less
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_peer_charge(struct umad_file *file, struct umad_rmpp_peer *peer,
			   s64 bytes)
{
	lockdep_assert_held(&file->lock);
	rb_erase_cached(&peer->by_bytes, &file->rmpp->by_bytes);
	peer->bytes += bytes;
	rb_add_cached(&peer->by_bytes, &file->rmpp->by_bytes, has_more_bytes);
}

/**
 * umad_rmpp_peer_seen() - a segment was stored: the message is not idle
 * @rx: being reassembled
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_peer_seen(struct umad_xfer_rx *rx)
{
	struct umad_rmpp *rmpp = rx->agent->file->rmpp;

	lockdep_assert_held(&rx->agent->file->lock);
	if (list_empty(&rx->peer_node))
		return;
	list_move_tail(&rx->peer_node, &rx->peer->idle);
	put_last(rmpp, rx);
}

/**
 * umad_rmpp_peer_remove() - undo umad_rmpp_peer_add(), and what it was charged
 * @file: that it was for
 * @rx: with its peer
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_peer_remove(struct umad_file *file, struct umad_xfer_rx *rx)
{
	lockdep_assert_held(&file->lock);
	umad_rmpp_peer_charge(file, rx->peer, -(s64)rx->charged);
	set_transfers(file->rmpp, rx->peer, rx->peer->transfers - 1);
	list_del_init(&rx->peer_node);
	list_del_init(&rx->file_node);
	if (!RB_EMPTY_NODE(&rx->slow_node.node))
		timerqueue_del(&file->rmpp->slow, &rx->slow_node);
	file->rmpp->unsolicited--;
	file->rmpp->lone_count -= rx->is_lone;
	rx->is_lone = false;
}
