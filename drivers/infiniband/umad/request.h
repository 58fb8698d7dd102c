/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests: a transaction (txn.h), its MADs in ib_core, its address, and the entry of
 * the receive queue that read() returns when nobody answers.
 *
 * Further attempts are posted to wait for nothing: see wait_entry.h. All deadlines are
 * ours.
 */
#ifndef UMAD_REQUEST_H
#define UMAD_REQUEST_H

#include <linux/refcount.h>
#include <rdma/ib_mad.h>
#include "flow.h"
#include "post.h"
#include "retry.h"
#include "rxq.h"
#include "txn.h"

struct umad_agent;
struct umad_ah;
struct umad_file;
struct umad_outlet;
struct umad_xfer_tx;
struct umad_request;
struct work_struct;

/**
 * struct umad_request_ops - what single MADs and messages do differently
 * @wants_turn: is it still to be sent again? &umad_file.lock held
 * @take_turn: its turn has come, @retransmit follows; &umad_file.lock held
 * @retransmit: send again what is due; with an active reference to the agent, no lock held
 * @post: it waited for a place and has one: post its first attempt, which is consumed;
 *	with a reference, and an active one to the agent, no lock held; NULL: it never waits
 * @describe: in &ib_user_mad_hdr.reserved, why it was not delivered; NULL: it is left
 *	as it was written; &umad_file.lock held
 * @stop: it is DONE; may be NULL; &umad_file.lock held
 * @cancel: DONE by the end of its agent, which is registered still; may be NULL; no
 *	lock held
 * @release: the last reference is gone; may be NULL; no lock held
 * @waits_max: wait entries that may be in ib_core, with those that have been used up
 */
struct umad_request_ops {
	bool (*wants_turn)(const struct umad_request *req);
	void (*take_turn)(struct umad_request *req, ktime_t now);
	void (*retransmit)(struct umad_request *req);
	void (*post)(struct umad_request *req, struct ib_mad_send_buf *buf);
	void (*describe)(const struct umad_request *req, u8 *reserved);
	void (*stop)(struct umad_request *req);
	void (*cancel)(struct umad_request *req);
	void (*release)(struct umad_request *req);
	unsigned int waits_max;
};

/**
 * struct umad_timeout_entry - what read() returns when nobody answers
 * @rx_entry: entry of the receive queue; it counts in &umad_user.held_requests of the
 *	file's process. Not a part of the request: of these a process may leave many unread
 * @mad: the common header of the MAD, as it was sent
 */
struct umad_timeout_entry {
	struct umad_rx_entry rx_entry;
	struct ib_mad_hdr mad;
};

/**
 * struct umad_request - a MAD, or an RMPP message, that an application has written
 * @ops: what it is, constant
 * @txn: its transaction; protected by &umad_file.lock
 * @refs: one while not DONE, one for each MAD in ib_core, one for each thread
 *	that is busy with it, one for each &struct umad_xfer_rx that answers it.
 *	None outlives @agent
 * @file: constant
 * @agent: constant
 * @agent_node: in &umad_agent.requests, then in &umad_file.done; protected by
 *	&umad_file.lock
 * @expired_node: in &umad_agent.expired, by the order of posting; protected by
 *	&umad_file.lock
 * @outlet: what it waits with, if that may be a hidden agent; constant
 * @ah: constant, has a reference; NULL in a request whose address has failed
 * @waiting: the wait entry in ib_core, NULL when there is none; protected by
 *	&umad_file.lock, under which it is not freed; see wait_entry.h
 * @waits_posted: MADs in ib_core that are the wait entry, or were; protected by
 *	&umad_file.lock; see wait_entry.h
 * @flow: its place in ib_core, if the agent's are limited; protected by &umad_file.lock
 * @held_buf: its first attempt, while that waits for a place, or has ended so; later the
 *	MAD that further ones are copied from, if there was no memory for @mad;
 *	protected by &umad_file.lock
 * @rearm: what was not the response has used up the wait entry, and a copy is to take
 *	its place; protected by &umad_file.lock
 * @rearms: how often that was so; protected by &umad_file.lock
 * @postponed: a further attempt waits for one of @waits_posted; protected by
 *	&umad_file.lock
 * @retry_buf: an attempt after the first that is in the send queue, or NULL; compared,
 *	not followed; protected by &umad_file.lock
 * @retry_since: when it was begun, or began to wait for its turn; protected by
 *	&umad_file.lock
 * @retry: to be sent again; protected by &umad_file.lock
 * @has_turn: a further attempt is about to be posted; protected by &umad_file.lock
 * @hdr: the process's header, constant
 * @timeout_entry: allocated beforehand, NULL when it was handed to the receive queue, or
 *	of what read() never returns; protected by &umad_file.lock
 * @mad: the whole MAD, of a directed route SMP; else set when the wait entry, which it is
 *	copied from, is used up; set once, protected by &umad_file.lock
 * @mad_len: bytes of @mad
 * @answer_lost: its response came and could not be kept; protected by
 *	&umad_file.lock
 * @answer_comes: a message that answers it is being reassembled; protected by
 *	&umad_file.lock
 * @answer_silent: such a message has begun, and then nothing has come until the deadline;
 *	protected by &umad_file.lock
 * @answer_begun: when such a message began that comes still, or 0; protected by
 *	&umad_file.lock
 * @answer_until: the deadline that was put off then; protected by &umad_file.lock
 * @answer_took: how long those have taken that have failed; protected by &umad_file.lock
 * @retries_kept: attempts that were left at @answer_begun; protected by &umad_file.lock
 * @rmpp: the message it is, if it is one, or NULL; constant once posted
 */
struct umad_request {
	const struct umad_request_ops *ops;
	struct umad_txn txn;
	refcount_t refs;
	unsigned int waits_posted;
	struct umad_file *file;
	struct umad_agent *agent;
	struct list_head agent_node;
	struct timerqueue_node expired_node;
	struct umad_outlet *outlet;
	struct umad_ah *ah;
	struct ib_mad_send_buf *waiting;
	struct umad_flow_entry flow;
	struct ib_mad_send_buf *held_buf;
	unsigned int rearms;
	bool rearm;
	bool postponed;
	bool has_turn;
	bool answer_lost;
	struct ib_mad_send_buf *retry_buf;
	ktime_t retry_since;
	struct umad_retry retry;
	struct ib_user_mad_hdr hdr;
	struct umad_timeout_entry *timeout_entry;
	void *mad;
	u32 mad_len;
	u32 retries_kept;
	bool answer_comes;
	bool answer_silent;
	ktime_t answer_begun;
	ktime_t answer_until;
	ktime_t answer_took;
	struct umad_xfer_tx *rmpp;
};

/**
 * umad_request_has_ended() - is there no need any more of what has just been posted?
 * @req: caller has a reference, and has posted a MAD that may be its wait entry
 *
 * Whoever ends a request takes its wait entry back under ib_core's lock of the agent,
 * under which it was posted: it was found there, or the end is seen here.
 * Context: any; no lock.
 * Return: true: umad_wait_entry_posted() has to look, with the lock.
 */
static inline bool umad_request_has_ended(const struct umad_request *req)
{
	return READ_ONCE(req->txn.state) == UMAD_TXN_DONE;
}

/**
 * umad_request_has_lost_answer() - has its response come, and could not be kept?
 * @req: a MAD of it that waits for a response has been completed by one
 *
 * Context: process, &umad_file.lock held.
 * Return: true: it is lost; but while another is being reassembled, that one is awaited.
 */
static inline bool umad_request_has_lost_answer(const struct umad_request *req)
{
	return req->answer_lost && !req->answer_comes;
}

/* request.c */
int umad_request_init(void);
void umad_request_exit(void);
struct umad_request *umad_request_create(struct umad_agent *agent,
					 const struct umad_request_ops *ops,
					 const struct ib_user_mad_hdr *hdr,
					 struct ib_mad_hdr *mad);
int umad_request_insert(struct umad_request *req, struct ib_mad_send_buf *buf,
			umad_done_fn waiting_done, bool refuse_duplicate);
struct ib_mad_send_buf *umad_request_build_mad(struct umad_request *req, const void *head,
					       size_t head_len, size_t len, gfp_t gfp,
					       umad_done_fn done);
struct ib_mad_send_buf *umad_request_build_silent(struct umad_request *req, const void *head,
						  size_t len, gfp_t gfp, umad_done_fn done);
void umad_request_free_mad(struct umad_request *req, struct ib_mad_send_buf *buf);
void umad_request_hold_mad(struct umad_request *req);
void umad_request_release_mad(struct umad_request *req);
void umad_request_get(struct umad_request *req);
void umad_request_put(struct umad_request *req);
void umad_request_put_done(struct umad_request *req);
enum umad_txn_action umad_request_step(struct umad_request *req,
				       enum umad_txn_event event, int wc_status,
				       ktime_t now);
void umad_request_wait_ended(struct umad_request *req, enum ib_wc_status status);
void umad_request_count_failure(struct umad_request *req, enum ib_wc_status status);
void umad_request_unlock(struct umad_file *file) __releases(&file->lock);
void umad_request_retry(struct umad_request *req, ktime_t now);

/* request_events.c */
void umad_request_retry_work(struct work_struct *work);
void umad_request_backlog_work(struct work_struct *work);
void umad_request_cancel_all(struct umad_agent *agent);
void umad_request_answer_lost(struct umad_agent *agent, struct ib_mad_send_buf *buf,
			      const struct ib_mad_hdr *response,
			      const struct ib_user_mad_hdr *hdr);
void umad_request_fail_infinite(struct umad_request *req, u8 status);
bool umad_request_answered(struct umad_agent *agent,
			   struct ib_mad_send_buf *buf,
			   const struct ib_mad_hdr *response,
			   const struct ib_user_mad_hdr *hdr);

/* deadline.c */
extern const struct umad_deadlines_ops umad_file_deadlines_ops;

/* answer.c */
void umad_answer_goes_on(struct umad_request *req, u32 segs, ktime_t now);
void umad_answer_failed(struct umad_request *req);
void umad_answer_gives_out(struct umad_request *req, ktime_t now);

#endif /* UMAD_REQUEST_H */
