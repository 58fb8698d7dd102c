/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Who sends messages to a file, and what that takes. */
#ifndef UMAD_RMPP_PEER_H
#define UMAD_RMPP_PEER_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include "addr.h"
#include "rmpp/window.h"

struct umad_file;
struct umad_rmpp_key;
struct umad_xfer_rx;

/**
 * struct umad_rmpp_peer - a node that sends messages to a file
 * @node: in &umad_rmpp.peers
 * @by_transfers: in &umad_rmpp.by_transfers
 * @by_bytes: in &umad_rmpp.by_bytes
 * @messages: of its being reassembled, or waiting for its address; it is gone with the
 *	last
 * @transfers: of them the unsolicited ones
 * @bytes: memory that those take
 * @idle: those, the one idle for longest first, &umad_xfer_rx.peer_node
 * @unresolved: messages that wait for its address, &umad_xfer_rx.addr_node
 * @turn_node: in &umad_rmpp.unresolved, if there are such
 * @addr: of the node, one of its queue pairs
 * @share: of the windows, among the peers of the file
 */
struct umad_rmpp_peer {
	struct rb_node node;
	struct rb_node by_transfers;
	struct rb_node by_bytes;
	unsigned int messages;
	unsigned int transfers;
	u64 bytes;
	struct list_head idle;
	struct list_head unresolved;
	struct list_head turn_node;
	struct umad_addr addr;
	struct umad_share share;
};

struct umad_rmpp_peer *umad_rmpp_peer_find(struct umad_file *file,
					   const struct umad_rmpp_key *key);
struct umad_rmpp_peer *umad_rmpp_peer_get(struct umad_file *file,
					  const struct umad_rmpp_key *key);
void umad_rmpp_peer_put(struct umad_file *file, struct umad_rmpp_peer *peer);
void umad_rmpp_peer_add(struct umad_file *file, struct umad_xfer_rx *rx);
void umad_rmpp_peer_charge(struct umad_file *file, struct umad_rmpp_peer *peer,
			   s64 bytes);
void umad_rmpp_peer_seen(struct umad_xfer_rx *rx);
void umad_rmpp_peer_remove(struct umad_file *file, struct umad_xfer_rx *rx);

#endif /* UMAD_RMPP_PEER_H */
