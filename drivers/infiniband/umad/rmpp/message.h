/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A message of several segments that a process has written. */
#ifndef UMAD_RMPP_MESSAGE_H
#define UMAD_RMPP_MESSAGE_H

#include "rmpp/rmpp.h"
#include "rmpp/sched.h"
#include "rmpp/tx.h"
#include "timer.h"

struct iov_iter;
struct umad_rmpp_dedup;
struct umad_rmpp_dest;
struct umad_pagebuf;
struct umad_request;

/**
 * struct umad_xfer_tx - a message being sent
 * @engine: protected by &umad_file.lock
 * @timer: protected by &umad_file.lock
 * @req: whose message it is, constant once posted
 * @layout: how it is cut, constant once posted
 * @head: what stands before the data of each segment, constant once posted
 * @file: that is charged for it, constant
 * @dest: where to, likewise; constant, NULL before it is charged
 * @dedup: its data is that of others, too, or may be; constant once posted, then NULL
 * @dedup_node: in &umad_rmpp_dedup.users; protected by &umad_file.lock
 * @charged: bytes, constant
 * @sent_node: in &umad_rmpp.answers_sent, if it answers a request and has @data; protected by
 *	&umad_file.lock
 * @shared: of these, what another message of @dedup is charged for; protected by
 *	&umad_file.lock
 * @data: its data, constant once posted, and NULL when it has arrived
 * @data_len: bytes of @data
 * @mad_size: bytes of one MAD, constant once posted
 * @posting: a thread hands segments to ib_core; protected by &umad_file.lock
 * @ready: in a &umad_sched_queue while it waits for a turn to send; protected by
 *	&umad_file.lock
 * @spare: MADs of segments that have left, for the next ones, by &ib_mad_send_buf.next;
 *	none unless it is ready or @posting; protected by &umad_file.lock
 * @ready_since: since when, in ns; protected by &umad_file.lock
 * @short_segs: that count in &umad_user.short_segs; protected by &umad_file.lock
 * @unscheduled: segments in ib_core that had no turn; protected by &umad_file.lock
 * @finished: the end of @engine was seen to; protected by &umad_file.lock
 * @taken: ib_core has taken a segment; set once, by who is @posting
 * @turns: turn-around ACKs in ib_core; protected by &umad_file.lock
 * @refusals: packets of its receiver that are no ACK of a segment, since that has acknowledged
 *	all last; protected by &umad_file.lock
 * @turn_blocked: one could not be posted since @turn_at was set: it is due when another of them
 *	has left; protected by &umad_file.lock
 * @turn_at: when to look whether the turn-around ACK is to be sent again, or
 *	U64_MAX; protected by &umad_file.lock
 * @response_window: segments of the response that may come unacknowledged;
 *	protected by &umad_file.lock
 */
struct umad_xfer_tx {
	struct rmpp_tx engine;
	struct umad_timer timer;
	struct umad_request *req;
	struct rmpp_layout layout;
	u8 head[UMAD_RMPP_HDR_MAX] __aligned(8);
	struct umad_file *file;
	struct umad_rmpp_dest *dest;
	struct umad_rmpp_dedup *dedup;
	struct list_head dedup_node;
	size_t charged;
	struct list_head sent_node;
	size_t shared;
	struct umad_pagebuf *data;
	size_t data_len;
	u32 mad_size;
	struct umad_sched_entry ready;
	struct ib_mad_send_buf *spare;
	u64 ready_since;
	u32 short_segs;
	unsigned int unscheduled;
	bool posting;
	bool finished;
	bool taken;
	bool turn_blocked;
	unsigned int turns;
	unsigned int refusals;
	u64 turn_at;
	u32 response_window;
};

/**
 * umad_xfer_tx_is_ready() - does it wait for a turn to send?
 * @tx: of an inserted request
 *
 * Context: process, &umad_file.lock held.
 * Return: true if so.
 */
static inline bool umad_xfer_tx_is_ready(const struct umad_xfer_tx *tx)
{
	return umad_sched_entry_is_ready(&tx->ready);
}

struct umad_xfer_tx *umad_xfer_tx_create(struct umad_file *file,
					 const struct ib_user_mad_hdr *hdr,
					 const void *head, struct iov_iter *from,
					 size_t len);
void umad_xfer_tx_count(struct umad_xfer_tx *tx, u32 segs);
void umad_xfer_tx_free(struct umad_xfer_tx *tx);
void umad_xfer_tx_give_back(struct umad_xfer_tx *tx);
struct umad_pagebuf *umad_xfer_tx_take_data(struct umad_xfer_tx *tx);
struct ib_mad_hdr *umad_xfer_tx_mad(struct umad_xfer_tx *tx);
void umad_xfer_tx_arm(struct umad_request *req);
bool umad_xfer_tx_is_active(const struct umad_request *req);

/**
 * umad_xfer_tx_is_sent() - has each segment been sent, at least once?
 * @tx: the message
 *
 * Context: process, &umad_file.lock held.
 * Return: true if so.
 */
static inline bool umad_xfer_tx_is_sent(const struct umad_xfer_tx *tx)
{
	return tx->engine.next > tx->engine.segs;
}

#endif /* UMAD_RMPP_MESSAGE_H */
