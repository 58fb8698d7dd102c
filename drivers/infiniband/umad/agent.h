/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Agents: what a process registers, each one agent of ib_core. */
#ifndef UMAD_AGENT_H
#define UMAD_AGENT_H

#include <linux/list.h>
#include <linux/timerqueue.h>
#include <linux/types.h>
#include <rdma/ib_mad.h>
#include "active_ref.h"
#include "flow.h"
#include "hidden.h"
#include "tids.h"

struct seq_file;
struct umad_file;
struct umad_kept_ah;

/**
 * struct umad_agent - one registered agent
 * @file: that registered it, constant
 * @core: ib_core's agent, constant once the slot is published
 * @tid: what brings responses to it, while @core is registered
 * @id: its slot in &umad_file.agent, constant
 * @req: what it was registered for; a mgmt_class of 0 if it only sends; constant
 * @qpn: 0 or 1, constant
 * @rmpp: registered with an RMPP version, constant
 * @kernel_rmpp: and wants it done here, constant
 * @active_ref: @core stays registered with one
 * @hidden: what its requests wait with
 * @published: the caller knows its id; protected by &umad_file.lock, as all
 *	below
 * @shutdown: no more sends, no more receives
 * @requests: all its requests that are not DONE, &umad_request.agent_node
 * @expired: of them those that are EXPIRED, the one posted first foremost,
 *	&umad_request.expired_node
 * @posted: how many were posted so far
 * @expired_count: how many are in @expired
 * @flow: its requests in ib_core, if those are limited, and those that wait for a place
 * @kept_ah: the address handle of the last MAD written; NULL before one was kept
 * @receivers: messages being reassembled, or just complete, &umad_xfer_rx.agent_node
 */
struct umad_agent {
	struct umad_file *file;
	struct ib_mad_agent *core;
	struct umad_tid tid;
	u32 id;
	struct ib_mad_reg_req req;
	u8 qpn;
	bool rmpp;
	bool kernel_rmpp;
	struct umad_active_ref active_ref;
	struct umad_hidden hidden;

	bool published;
	bool shutdown;
	struct list_head requests;
	struct timerqueue_head expired;
	u64 posted;
	unsigned int expired_count;
	struct umad_flow flow;
	struct umad_kept_ah *kept_ah;
	struct list_head receivers;
};

/**
 * enum umad_agent_kind - what an id stands for
 * @UMAD_AGENT_NONE: nothing
 * @UMAD_AGENT_PLAIN: an agent whose MADs pass as they are
 * @UMAD_AGENT_RMPP: an agent for which RMPP is done here
 */
enum umad_agent_kind {
	UMAD_AGENT_NONE,
	UMAD_AGENT_PLAIN,
	UMAD_AGENT_RMPP,
};

enum umad_agent_kind umad_agent_kind(struct umad_file *file, u32 id);
bool umad_agent_is_there(struct umad_file *file, u32 id);
struct umad_agent *umad_agent_enter(struct umad_file *file, u32 id);
void umad_agent_leave(struct umad_agent *agent);
void umad_agent_shut(struct umad_agent *agent);

#endif /* UMAD_AGENT_H */
