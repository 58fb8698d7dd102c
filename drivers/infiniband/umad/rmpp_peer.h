/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Who sends messages to a file, and what that takes. */
#ifndef UMAD_RMPP_PEER_H
#define UMAD_RMPP_PEER_H

#include <linux/rbtree.h>
#include <linux/types.h>

struct umad_file;
struct umad_rmpp_key;

/**
 * struct umad_rmpp_peer - a node that sends messages to a file
 * @node: in &umad_rmpp.peers
 * @messages: of its being joined; it is gone with the last
 * @gid: of the node, zero without a GRH
 * @lid: of the node
 * @grh: its packets have a GRH
 * @active: of its messages those that are active; protected by
 *	&umad_rmpp_window.lock
 * @granted: the sum of their &umad_rmpp_rx.granted; protected by
 *	&umad_rmpp_window.lock
 */
struct umad_rmpp_peer {
	struct rb_node node;
	unsigned int messages;
	u8 gid[16];
	__be16 lid;
	u8 grh;
	unsigned int active;
	u32 granted;
};

struct umad_rmpp_peer *umad_rmpp_peer_get(struct umad_file *file,
					  const struct umad_rmpp_key *key);
void umad_rmpp_peer_put(struct umad_file *file, struct umad_rmpp_peer *peer);

#endif /* UMAD_RMPP_PEER_H */
