// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp_peer.h"

#include <linux/lockdep.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "file.h"
#include "rmpp_recv.h"

/* By GID with a GRH, else by LID: as messages are told apart. */
static int compare(const struct umad_rmpp_key *key,
		   const struct umad_rmpp_peer *peer)
{
	if (key->grh != peer->grh)
		return key->grh < peer->grh ? -1 : 1;
	if (key->grh)
		return memcmp(key->gid, peer->gid, sizeof(key->gid));
	return memcmp(&key->lid, &peer->lid, sizeof(key->lid));
}

static struct umad_rmpp_peer *peer_alloc(struct umad_file *file,
					 const struct umad_rmpp_key *key)
{
	struct mem_cgroup *old = set_active_memcg(file->memcg);
	struct umad_rmpp_peer *peer;

	peer = kzalloc(sizeof(*peer), GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN);
	set_active_memcg(old);
	if (!peer)
		return NULL;
	memcpy(peer->gid, key->gid, sizeof(peer->gid));
	peer->lid = key->lid;
	peer->grh = key->grh;
	return peer;
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
	struct rb_node **link = &file->rmpp.peers.rb_node, *parent = NULL;
	struct umad_rmpp_peer *peer;
	int order;

	lockdep_assert_held(&file->lock);
	while (*link) {
		parent = *link;
		peer = rb_entry(parent, struct umad_rmpp_peer, node);
		order = compare(key, peer);
		if (!order) {
			peer->messages++;
			return peer;
		}
		link = order < 0 ? &parent->rb_left : &parent->rb_right;
	}
	peer = peer_alloc(file, key);
	if (!peer)
		return NULL;
	peer->messages = 1;
	rb_link_node(&peer->node, parent, link);
	rb_insert_color(&peer->node, &file->rmpp.peers);
	return peer;
}

/**
 * umad_rmpp_peer_put() - a message of a peer's is no longer being joined
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
	rb_erase(&peer->node, &file->rmpp.peers);
	kfree(peer);
}
