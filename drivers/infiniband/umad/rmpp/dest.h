/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What messages being sent may take, in all and to one destination. */
#ifndef UMAD_RMPP_DEST_H
#define UMAD_RMPP_DEST_H

#include <linux/rbtree.h>
#include <linux/types.h>
#include "addr.h"

struct umad_file;

/**
 * struct umad_rmpp_dest - messages of one file to one destination
 * @node: in &umad_rmpp.dests
 * @to: constant
 * @bytes: that they take, never 0; protected by &umad_file.lock
 */
struct umad_rmpp_dest {
	struct rb_node node;
	struct umad_addr to;
	u64 bytes;
};

struct umad_rmpp_dest *umad_rmpp_dest_charge(struct umad_file *file,
					     const struct umad_addr *to,
					     u64 bytes, bool whole);
void umad_rmpp_dest_uncharge(struct umad_file *file,
			     struct umad_rmpp_dest *dest, u64 bytes, u64 shared);

#endif /* UMAD_RMPP_DEST_H */
