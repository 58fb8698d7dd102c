/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Equal messages that a file is sending have their data once: a subnet administrator that
 * a thousand clients have asked for the same table answers each with a message of its own.
 */
#ifndef UMAD_RMPP_DEDUP_H
#define UMAD_RMPP_DEDUP_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct umad_pagebuf;
struct umad_xfer_tx;

/**
 * struct umad_rmpp_dedup - data that messages share
 * @node: in &umad_rmpp.dedups while there are @users; protected by &umad_file.lock
 * @users: struct umad_xfer_tx, of which one is charged for all of it; protected by
 *	&umad_file.lock
 * @data: constant
 * @len: bytes of it, constant
 * @hash: of its first page, constant
 * @refs: of the users, and of who compares it
 */
struct umad_rmpp_dedup {
	struct list_head node;
	struct list_head users;
	struct umad_pagebuf *data;
	size_t len;
	u32 hash;
	refcount_t refs;
};

void umad_rmpp_dedup_enter(struct umad_xfer_tx *tx);
void umad_rmpp_dedup_leave(struct umad_xfer_tx *tx);
struct umad_pagebuf *umad_rmpp_dedup_put(struct umad_rmpp_dedup *dedup);

#endif /* UMAD_RMPP_DEDUP_H */
