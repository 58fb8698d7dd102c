/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The wait entry of a request. ib_core drops a plain response that no MAD posted to it
 * waits for. So one MAD of each request is posted to wait there without an end, and is
 * taken back when the request ends: the first attempt, or of a message the last
 * segment, then the turn-around ACK. Nothing else writes &umad_request.waiting.
 *
 * A packet with the request's TID uses it up, whoever has sent it and whatever it is;
 * then another MAD takes its place. Of a device that stands none comes back, and so
 * there is a bound to those that are there.
 *
 * Where ib_core lets few of an agent wait, a request has a place (flow.h) for its wait
 * entries, from the first attempt until it has none and none follows.
 */
#ifndef UMAD_WAIT_ENTRY_H
#define UMAD_WAIT_ENTRY_H

#include "post.h"

struct umad_agent;
struct umad_request;

bool umad_wait_entry_needs_place(const struct umad_request *req,
				 const struct ib_mad_send_buf *buf);
bool umad_wait_entry_attach(struct umad_request *req, struct ib_mad_send_buf *buf,
			    umad_done_fn done);
void umad_wait_entry_posted(struct umad_request *req, struct ib_mad_send_buf *buf,
			    bool attached, int err);
bool umad_wait_entry_detach(struct umad_request *req, struct ib_mad_send_buf *buf);
bool umad_wait_entry_done(struct umad_request *req, struct ib_mad_send_buf *buf);
bool umad_wait_entry_is_full(const struct umad_request *req);
void umad_wait_entry_cancel(struct umad_request *req);
void umad_wait_entry_leave_place(struct umad_request *req);
bool umad_wait_entry_may_kick(const struct umad_agent *agent);
void umad_wait_entry_kick_backlog(struct umad_agent *agent);

#endif /* UMAD_WAIT_ENTRY_H */
