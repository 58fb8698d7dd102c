// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/sched.h>
#include "file.h"

#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/seq_file.h>
#include "agent.h"
#include "port.h"
#include "user.h"

/**
 * umad_file_arm() - have a turn at the first deadline, unless there is one before
 * @file: whose deadlines have changed
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_file_arm(struct umad_file *file)
{
	ktime_t next = umad_timers_next(&file->timers);

	if (next >= file->armed)
		return;
	file->armed = next;
	umad_deadlines_set(&file->deadlines, ktime_sub(next, ktime_get()));
}

/**
 * umad_file_queue() - queue an entry for read(), and count it
 * @file: the file
 * @entry: charged to @file's queue; consumed when it is queued
 * @stat: what it counts as
 *
 * It is counted first: whoever has read it finds it counted.
 * Context: process, &umad_file.lock held, until umad_request_unlock(); does not sleep.
 * Return: false when nobody will read from @file any more.
 */
bool umad_file_queue(struct umad_file *file, struct umad_rx_entry *entry,
		     enum umad_stat stat)
{
	lockdep_assert_held(&file->lock);
	/* The queue is shut down after the file, so not while the lock is held. */
	if (file->shutdown)
		return false;
	umad_stat_inc(&file->port->stats, stat);
	return umad_rxq_push(&file->rxq, entry);
}

/**
 * umad_file_hdr_size() - the size of the header this file speaks
 * @file: the file
 *
 * Context: process; does not sleep.
 * Return: bytes.
 */
size_t umad_file_hdr_size(struct umad_file *file)
{
	return READ_ONCE(file->pkey_hdr) ? UMAD_HDR_SIZE : UMAD_HDR_OLD_SIZE;
}

/**
 * umad_file_set_agent() - fill or empty a slot
 * @file: that has it
 * @id: of the slot; of &umad_file.agent, or below &umad_file.slots, or there are @more_agents
 * @agent: or NULL
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_file_set_agent(struct umad_file *file, u32 id, struct umad_agent *agent)
{
	lockdep_assert_held(&file->lock);
	if (id < UMAD_FILE_AGENTS)
		WRITE_ONCE(file->agent[id], agent);
	else
		WRITE_ONCE(file->more_agents[id - UMAD_FILE_AGENTS], agent);
}

/* What ib_core has of the agent of a slot; false if there is none. */
static bool get_agent(struct umad_file *file, int id, struct umad_reg *reg)
{
	struct umad_agent *agent;

	spin_lock(&file->lock);
	agent = umad_file_agent(file, id);
	if (agent) {
		reg->qpn = agent->qpn;
		reg->rmpp_version = agent->rmpp;
		reg->flags = agent->rmpp && !agent->kernel_rmpp ?
			     IB_USER_MAD_USER_RMPP : 0;
		reg->req = agent->req;
	}
	spin_unlock(&file->lock);
	return agent;
}

static void show_agents(struct umad_file *file, struct seq_file *s)
{
	const struct ib_mad_reg_req *req;
	struct umad_reg reg;
	int id;

	for (id = 0; id < UMAD_MAX_AGENTS; id++) {
		if (!get_agent(file, id, &reg))
			continue;
		req = &reg.req;
		seq_printf(s, " agent %d QP%u class 0x%02x version %u methods [%*pbl] oui %3phN rmpp %s\n",
			   id, reg.qpn, req->mgmt_class, req->mgmt_class_version,
			   IB_MGMT_MAX_METHODS, req->method_mask, req->oui,
			   !reg.rmpp_version ? "no" : reg.flags ? "user" : "kernel");
	}
}

/**
 * umad_file_show() - one line for debugfs, and one for each agent
 * @file: kept by the caller
 * @s: to be written to
 *
 * Context: process.
 */
void umad_file_show(struct umad_file *file, struct seq_file *s)
{
	unsigned int agents = 0, backlog = 0, outstanding, queued;
	struct umad_agent *agent;
	size_t charged, budget;
	int id;

	spin_lock(&file->lock);
	for (id = 0; id < UMAD_MAX_AGENTS; id++) {
		agent = umad_file_agent(file, id);
		agents += !!agent;
		backlog += agent ? agent->flow.waiting : 0;
	}
	outstanding = file->txns.count;
	spin_unlock(&file->lock);

	spin_lock(&file->rxq.lock);
	queued = file->rxq.queued;
	charged = file->rxq.charged;
	budget = file->rxq.budget;
	spin_unlock(&file->rxq.lock);

	seq_printf(s, "pid %d comm %*pE hdr %zu agents %u outstanding %u unread %u unread_bytes %zu budget %zu backlog %u\n",
		   pid_nr(file->user->pid), (int)strnlen(file->comm, sizeof(file->comm)),
		   file->comm, umad_file_hdr_size(file), agents, outstanding,
		   queued, charged, budget, backlog);
	show_agents(file, s);
}
