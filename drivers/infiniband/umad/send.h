/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Sends: a transaction (txn.h), its MADs in ib_core, its address, and the
 * record that read() returns when nobody answers.
 *
 * ib_core drops a plain response that no send of its own waits for. So the
 * first attempt is posted to wait there for ever, as the request's
 * placeholder, and is taken back when the transaction ends; further attempts
 * are posted to wait for nothing. All deadlines are ours.
 */
#ifndef UMAD_SEND_H
#define UMAD_SEND_H

#include <linux/refcount.h>
#include <rdma/ib_mad.h>
#include "rxq.h"
#include "txn.h"

struct umad_agent;
struct umad_ah;
struct umad_file;
struct work_struct;

/**
 * struct umad_send - one MAD that a program has written
 * @txn: its transaction; protected by &umad_file.lock
 * @refs: one while not DONE, one for each MAD in ib_core, one for a writer,
 *	one for @msg in the receive queue
 * @file: constant
 * @agent: valid while not DONE, and in ib_core's handlers
 * @agent_node: in &umad_agent.sends; protected by &umad_file.lock
 * @late_node: in &umad_agent.late; protected by &umad_file.lock
 * @ah: has a reference while not DONE, and for each MAD in ib_core
 * @waiting: the placeholder in ib_core, NULL when there is none; protected by
 *	&umad_file.lock, under which it is not freed
 * @mad: the whole MAD, kept only if it may be sent again
 * @mad_len: bytes of @mad
 * @mad_hdr: its common header, as sent
 * @msg: what read() returns if nobody answers
 */
struct umad_send {
	struct umad_txn txn;
	refcount_t refs;
	struct umad_file *file;
	struct umad_agent *agent;
	struct list_head agent_node;
	struct list_head late_node;
	struct umad_ah *ah;
	struct ib_mad_send_buf *waiting;
	void *mad;
	size_t mad_len;
	struct ib_mad_hdr mad_hdr;
	struct umad_msg msg;
};

int umad_send_init(void);
void umad_send_exit(void);
int umad_send_mad(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		  void *mad, size_t len);
void umad_send_handler(struct ib_mad_agent *core,
		       struct ib_mad_send_wc *wc);
void umad_send_deadline_work(struct work_struct *work);
void umad_send_cancel_all(struct umad_agent *agent);
bool umad_send_answered(struct umad_agent *agent,
			struct ib_mad_send_buf *buf,
			const struct ib_mad_hdr *response);

#endif /* UMAD_SEND_H */
