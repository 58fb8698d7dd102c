// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "refuse.h"

#include <linux/err.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "trace.h"
#include "user.h"

static const enum umad_stat refusal_stats[UMAD_REFUSED_COUNT] = {
#define UMAD_REFUSAL(why, name, text) \
	[UMAD_REFUSED_##why] = UMAD_STAT_REGISTER_REFUSED_##why,
#include "refusals.h"
#undef UMAD_REFUSAL
};

/**
 * struct holder - the process whose agent has what another one asks for
 * @pid: its number, 0 if it is not known
 * @comm: its name
 */
struct holder {
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

static bool file_holds(struct umad_file *file, const struct ib_mad_reg_req *req)
{
	struct umad_agent *agent;
	bool holds = false;
	int id;

	spin_lock(&file->lock);
	for (id = 0; id < UMAD_MAX_AGENTS && !holds; id++) {
		agent = umad_file_agent(file, id);
		/* Without @core, it has a slot but nothing of ib_core yet. */
		holds = agent && READ_ONCE(agent->core) &&
			umad_reg_overlaps(&agent->req, req);
	}
	spin_unlock(&file->lock);
	return holds;
}

/* The agents of this port's files can be searched, others of ib_core cannot. */
static void find_holder(struct umad_port *port, const struct ib_mad_reg_req *req,
			struct holder *holder)
{
	struct umad_file *file;

	mutex_lock(&port->files_lock);
	list_for_each_entry(file, &port->files, port_node) {
		if (!file_holds(file, req))
			continue;
		holder->pid = pid_nr(file->user->pid);
		memcpy(holder->comm, file->comm, sizeof(holder->comm));
		break;
	}
	mutex_unlock(&port->files_lock);
}

/* Who has the methods; nothing for another reason. */
static void describe_holder(char *text, size_t len, enum umad_refusal why,
			    const struct holder *holder)
{
	*text = '\0';
	if (why != UMAD_REFUSED_TAKEN)
		return;
	if (holder->pid)
		snprintf(text, len, ", by %*pE (pid %d)",
			 (int)strnlen(holder->comm, sizeof(holder->comm)),
			 holder->comm, holder->pid);
	else
		snprintf(text, len,
			 ", by the kernel, another module, or an agent that is just ending");
}

/* A process may call itself what it likes: its name is escaped. */
static void print(struct umad_port *port, const struct umad_reg *reg,
		  enum umad_refusal why, int error, const struct holder *holder)
{
	const struct ib_mad_reg_req *req = &reg->req;
	char comm[TASK_COMM_LEN], by[96], device[IB_DEVICE_NAME_MAX];

	get_task_comm(comm, current);
	umad_port_get_name(port, device, sizeof(device));
	if (why == UMAD_REFUSED_GONE) {
		/* What it asked for has not been read. */
		dev_info(&port->dev, "%*pE (pid %d) cannot register on %s port %u: %s (%pe)\n",
			 (int)strnlen(comm, sizeof(comm)), comm,
			 task_tgid_nr(current), device, port->port_num,
			 umad_refusal_text(why), ERR_PTR(error));
		return;
	}
	describe_holder(by, sizeof(by), why, holder);
	dev_info(&port->dev, "%*pE (pid %d) cannot register class 0x%02x version %u methods [%*pbl] oui %3phN rmpp %u flags 0x%x QP%u on %s port %u: %s%s (%pe)\n",
		 (int)strnlen(comm, sizeof(comm)), comm, task_tgid_nr(current),
		 req->mgmt_class, req->mgmt_class_version, IB_MGMT_MAX_METHODS,
		 req->method_mask, req->oui, reg->rmpp_version, reg->flags, reg->qpn,
		 device, port->port_num, umad_refusal_text(why), by, ERR_PTR(error));
}

/**
 * umad_refuse() - a registration is refused: count it, trace it, and say why
 * @file: that it was for
 * @reg: what was asked for; of %UMAD_REFUSED_GONE it may be all 0
 * @why: the reason
 * @error: what the caller gets, negative
 *
 * Context: process; sleeps; hold no lock and no active reference.
 */
void umad_refuse(struct umad_file *file, const struct umad_reg *reg,
		 enum umad_refusal why, int error)
{
	struct umad_port *port = file->port;
	bool say = __ratelimit(&port->refusals);
	struct holder holder = {};

	umad_stat_inc(&port->stats, UMAD_STAT_REGISTER_REFUSED);
	umad_stat_inc(&port->stats, refusal_stats[why]);
	if (why == UMAD_REFUSED_TAKEN &&
	    (say || trace_ib_umad_register_refused_enabled()))
		find_holder(port, &reg->req, &holder);
	trace_ib_umad_register_refused(file, reg, umad_refusal_name(why), error,
				       holder.pid);
	if (say)
		print(port, reg, why, error, &holder);
}
