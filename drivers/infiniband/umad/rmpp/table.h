/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The messages that a file is receiving, by key. A tree: peers decide on the keys
 * and on how many there are, and a hash that grows would allocate under the lock
 * and refuse some of them meanwhile.
 */
#ifndef UMAD_RMPP_TABLE_H
#define UMAD_RMPP_TABLE_H

struct umad_rmpp;
struct umad_rmpp_key;
struct umad_xfer_rx;

struct umad_xfer_rx *umad_rmpp_table_find(struct umad_rmpp *rmpp,
					  const struct umad_rmpp_key *key);
void umad_rmpp_table_insert(struct umad_rmpp *rmpp, struct umad_xfer_rx *rx);
void umad_rmpp_table_remove(struct umad_rmpp *rmpp, struct umad_xfer_rx *rx);

#endif /* UMAD_RMPP_TABLE_H */
