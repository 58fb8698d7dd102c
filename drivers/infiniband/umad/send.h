/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Sends: a transaction (txn.h), its MADs in ib_core, its address, and the
 * record that read() returns when nobody answers.
 *
 * ib_core drops a plain response that no send of its own waits for. So the
 * first attempt is posted to wait there for ever, as the request's
 * placeholder, and is taken back when the transaction ends; further attempts
 * are posted to wait for nothing. Of a message it is the last segment, then the
 * turn-around ACK. All deadlines are ours.
 */
#ifndef UMAD_SEND_H
#define UMAD_SEND_H

#include <linux/refcount.h>
#include <rdma/ib_mad.h>
#include "again.h"
#include "rxq.h"
#include "txn.h"

struct umad_agent;
struct umad_ah;
struct umad_file;
struct umad_rmpp_tx;
struct work_struct;

/**
 * struct umad_report - what read() returns when nobody answers
 * @msg: record of the receive queue
 * @file: in whose &umad_file.held_sends it counts
 * @mad: the common header of the MAD, as it was sent
 */
struct umad_report {
	struct umad_msg msg;
	struct umad_file *file;
	struct ib_mad_hdr mad;
};

/**
 * struct umad_send - one MAD, or message of several, that a program has written
 * @txn: its transaction; protected by &umad_file.lock
 * @refs: one while not DONE, one for each MAD in ib_core, one for each thread
 *	that is busy with it, one for each &struct umad_rmpp_rx that answers it.
 *	None outlives @agent
 * @file: constant
 * @agent: constant
 * @agent_node: in &umad_agent.sends; protected by &umad_file.lock
 * @late_node: in &umad_agent.late, by the order of posting; protected by
 *	&umad_file.lock
 * @ah: constant, has a reference; NULL in a send whose address has failed
 * @waiting: the placeholder in ib_core, NULL when there is none; protected by
 *	&umad_file.lock, under which it is not freed
 * @again: an attempt after the first that is in the send queue, or NULL; compared,
 *	not followed; protected by &umad_file.lock
 * @again_since: when it was begun, or began to wait for its turn; protected by
 *	&umad_file.lock
 * @in_line: to be sent again; protected by &umad_file.lock
 * @has_turn: a further attempt is about to be posted; protected by &umad_file.lock
 * @hdr: the program's header, constant
 * @report: allocated beforehand, NULL when it was handed to the receive queue;
 *	protected by &umad_file.lock
 * @mad: the whole MAD, kept only if it may be sent again
 * @mad_len: bytes of @mad
 * @answer_lost: its response came and could not be kept; protected by
 *	&umad_file.lock
 * @answer_comes: a message that answers it is being joined; protected by
 *	&umad_file.lock
 * @rmpp: the message it is, if it is one, or NULL; constant once posted
 */
struct umad_send {
	struct umad_txn txn;
	refcount_t refs;
	struct umad_file *file;
	struct umad_agent *agent;
	struct list_head agent_node;
	struct timerqueue_node late_node;
	struct umad_ah *ah;
	struct ib_mad_send_buf *waiting;
	struct ib_mad_send_buf *again;
	ktime_t again_since;
	struct umad_again_entry in_line;
	bool has_turn;
	struct ib_user_mad_hdr hdr;
	struct umad_report *report;
	void *mad;
	size_t mad_len;
	bool answer_lost;
	bool answer_comes;
	struct umad_rmpp_tx *rmpp;
};

int umad_send_mad(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		  void *mad, size_t len);
int umad_send_message(struct umad_file *file,
		      const struct ib_user_mad_hdr *hdr,
		      struct umad_rmpp_tx *tx);
void umad_send_get(struct umad_send *send);
void umad_send_put(struct umad_send *send);
void umad_send_release_report(struct umad_msg *msg);
enum umad_txn_action umad_send_step(struct umad_send *send,
				    enum umad_txn_event event, int wc_status,
				    ktime_t now, bool *finish);
void umad_send_finish(struct umad_send *send);
void umad_send_stop_waiting(struct umad_send *send);
void umad_send_take_back(struct umad_send *send);
int umad_send_post(struct umad_send *send, const void *mad, size_t len,
		   bool again);
void umad_send_arm(struct umad_file *file, ktime_t now);
void umad_send_deadline_work(struct work_struct *work);
void umad_send_again(struct umad_send *send, ktime_t now);
void umad_send_again_work(struct work_struct *work);
void umad_send_cancel_all(struct umad_agent *agent);
void umad_send_answer_lost(struct ib_mad_send_buf *buf,
			   const struct ib_mad_hdr *response);
bool umad_send_answered(struct umad_agent *agent,
			struct ib_mad_send_buf *buf,
			const struct ib_mad_hdr *response);

#endif /* UMAD_SEND_H */
