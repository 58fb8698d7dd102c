/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The wait entry of a request. ib_core drops a plain response that no MAD posted to it
 * waits for. So one MAD of each request is posted to wait there without an end, and is
 * taken back when the request ends: the first attempt, or of a message the last
 * segment, then the turn-around ACK. Nothing else writes &umad_send.waiting.
 */
#ifndef UMAD_WAIT_ENTRY_H
#define UMAD_WAIT_ENTRY_H

#include <linux/types.h>

struct ib_mad_send_buf;
struct umad_send;

bool umad_wait_entry_attach(struct umad_send *send, struct ib_mad_send_buf *buf);
void umad_wait_entry_posted(struct umad_send *send, struct ib_mad_send_buf *buf,
			    int err);
bool umad_wait_entry_detach(struct umad_send *send, struct ib_mad_send_buf *buf);
void umad_wait_entry_cancel(struct umad_send *send);

#endif /* UMAD_WAIT_ENTRY_H */
