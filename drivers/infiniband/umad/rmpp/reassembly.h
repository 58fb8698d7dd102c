/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A message of several segments that is being received. */
#ifndef UMAD_RMPP_REASSEMBLY_H
#define UMAD_RMPP_REASSEMBLY_H

#include <linux/refcount.h>
#include "rmpp/match.h"
#include "rmpp/rmpp.h"
#include "rmpp/rx.h"
#include "rxq.h"
#include "timer.h"

struct umad_rmpp_peer;
struct umad_request;

/**
 * struct umad_rmpp_rx_entry - a message for read()
 * @rx_entry: entry of the receive queue
 * @view: what is to be read: @head, and pages for the rest; set before it is queued
 * @head: headers of the first segment
 */
struct umad_rmpp_rx_entry {
	struct umad_rx_entry rx_entry;
	struct umad_rx_view view;
	u8 head[UMAD_RMPP_HDR_MAX];
};

/**
 * struct umad_xfer_rx - a message being received
 * @engine: protected by &umad_file.lock
 * @timer: protected by &umad_file.lock
 * @key: constant
 * @node: in &umad_rmpp.receivers
 * @refs: one of the table's, one for each user
 * @agent: that it is for; good with an active reference and in ib_core's handlers
 * @agent_node: in &umad_agent.receivers
 * @linger_node: in &umad_rmpp.lingering when complete
 * @req: the request that it answers, with a reference, until it is complete; or
 *	NULL. Protected by &umad_file.lock
 * @solicited: by that request, which no other message answers meanwhile: the bounds
 *	of a peer are not for it; protected by &umad_file.lock
 * @was_asked: it has answered a request; protected by &umad_file.lock
 * @ah: to the sender; NULL until @work has made it, and on RoCE when a complete message
 *	has been acknowledged; protected by &umad_file.lock
 * @addr_node: in &umad_rmpp_peer.unresolved; protected by &umad_file.lock
 * @waits_for: the peer whose turn to have its address resolved it waits for, or
 *	NULL; protected by &umad_file.lock
 * @work: makes @ah and sends what is due
 * @work_queued: and holds a reference, and an active one to the agent; protected by
 *	&umad_file.lock
 * @listed: in the table and the lists; protected by &umad_file.lock
 * @acks_posted: ACKs in ib_core, each has a reference; protected by
 *	&umad_file.lock
 * @ack_due: another is to be sent when one of those is done; protected by
 *	&umad_file.lock
 * @silent: nothing is answered any more: the sender has ended it, or it was evicted
 *	before its address was known; protected by &umad_file.lock
 * @is_lone: in &umad_rmpp.lone; protected by &umad_file.lock
 * @from: the header of the first segment, for the process; constant
 * @to: where our answers go, constant
 * @head: headers of our answers, constant
 * @entry: what read() will return; NULL when it was handed on
 * @copying: segments that are being copied into it without the lock; protected by
 *	&umad_file.lock
 * @charged: bytes of it that count as being reassembled; protected by &umad_file.lock
 * @peer: who sends it, while it is in the table and not complete; else NULL;
 *	protected by &umad_file.lock
 * @peer_node: in &umad_rmpp_peer.idle, if unsolicited; protected by
 *	&umad_file.lock
 * @file_node: in &umad_rmpp.lone or &umad_rmpp.begun, if unsolicited, else in
 *	&umad_rmpp.answers_begun; protected by &umad_file.lock
 * @slow_node: in &umad_rmpp.slow, if it is in &umad_rmpp.begun; protected by &umad_file.lock
 * @window_node: in &umad_rmpp_window.active; protected by &umad_rmpp_window.lock,
 *	as those below
 * @seen_at: when it last counted as active, in nanoseconds
 * @seen_segs: segments that were stored since
 * @granted: segments that its sender may send, from the first missing one to the
 *	end of the window, but for one
 * @turn: when, and behind what, its window was last opened
 */
struct umad_xfer_rx {
	struct rmpp_rx engine;
	struct umad_timer timer;
	struct umad_rmpp_key key;
	struct rb_node node;
	refcount_t refs;
	struct umad_agent *agent;
	struct list_head agent_node;
	struct list_head linger_node;
	struct umad_request *req;
	bool solicited;
	bool was_asked;
	struct umad_ah *ah;
	struct list_head addr_node;
	struct umad_rmpp_peer *waits_for;
	struct work_struct work;
	bool work_queued;
	bool listed;
	unsigned int acks_posted;
	bool ack_due;
	bool silent;
	bool is_lone;
	struct ib_user_mad_hdr from;
	struct umad_addr to;
	u8 head[UMAD_RMPP_HDR_MAX] __aligned(8);
	struct umad_rmpp_rx_entry *entry;
	unsigned int copying;
	size_t charged;
	struct umad_rmpp_peer *peer;
	struct list_head peer_node;
	struct list_head file_node;
	struct timerqueue_node slow_node;
	struct list_head window_node;
	u64 seen_at;
	u32 seen_segs;
	u32 granted;
	struct umad_rmpp_turn turn;
};

/* What one takes without its pages. */
#define UMAD_RX_BYTES	(sizeof(struct umad_xfer_rx) + sizeof(struct umad_rmpp_rx_entry))

extern const struct umad_rx_ops umad_rmpp_rx_ops;
extern const struct umad_rx_ops umad_rmpp_answer_ops;

void umad_rmpp_rx_entry_free(struct umad_rmpp_rx_entry *entry);
void umad_xfer_rx_get(struct umad_xfer_rx *rx);
void umad_xfer_rx_free(struct umad_xfer_rx *rx);
void umad_xfer_rx_put(struct umad_xfer_rx *rx);

#endif /* UMAD_RMPP_REASSEMBLY_H */
