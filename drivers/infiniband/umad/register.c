// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Agents come and go. */
#include <linux/types.h>
#include "register.h"

#include <linux/err.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include "agent.h"
#include "ah.h"
#include "file.h"
#include "flush.h"
#include "hdr.h"
#include "port.h"
#include "post.h"
#include "recv.h"
#include "refuse.h"
#include "request.h"
#include "rmpp/rmpp.h"
#include "rmpp/xfer_rx.h"
#include "rmpp/xfer_tx.h"
#include "umad_compat.h"
#include "umad_export.h"

/* ib_core's recv_queue_size, if nobody tells. */
#define RECV_QUEUE_DEFAULT	512U

static struct kmem_cache *agent_cache;

/**
 * umad_register_init() - before the first registration
 *
 * Context: process; sleeps.
 * Return: 0 or -ENOMEM.
 */
int umad_register_init(void)
{
	agent_cache = KMEM_CACHE(umad_agent, 0);
	return agent_cache ? 0 : -ENOMEM;
}

/**
 * umad_register_exit() - no agent is left
 *
 * Context: process; sleeps.
 */
void umad_register_exit(void)
{
	kmem_cache_destroy(agent_cache);
}

/* What ib_core checks of RMPP, as it is told of that for some agents only. */
static enum umad_refusal check_reg(struct umad_port *port,
				   const struct umad_reg *reg)
{
	bool user_rmpp = reg->flags & IB_USER_MAD_USER_RMPP;

	if (reg->qpn ? !rdma_cap_ib_cm(port->ib_dev, port->port_num) :
		       !rdma_cap_ib_smi(port->ib_dev, port->port_num))
		return UMAD_REFUSED_NO_QP;
	if (reg->rmpp_version && reg->rmpp_version != IB_MGMT_RMPP_VERSION)
		return UMAD_REFUSED_RMPP_VERSION;
	if (!reg->req.mgmt_class)
		return user_rmpp ? UMAD_REFUSED_USER_RMPP : UMAD_REFUSED_NOT;
	if (reg->rmpp_version && !ib_is_mad_class_rmpp(reg->req.mgmt_class))
		return UMAD_REFUSED_RMPP_CLASS;
	return UMAD_REFUSED_NOT;
}

/* Before its first agent that has RMPP done here. Charged, so not with an active reference. */
static bool add_rmpp(struct umad_file *file)
{
	struct umad_rmpp *rmpp;
	bool lost;

	if (READ_ONCE(file->rmpp))
		return true;
	rmpp = umad_rmpp_alloc(file);
	if (!rmpp)
		return false;
	umad_xfer_tx_queues_init(rmpp);
	spin_lock(&file->lock);
	lost = file->rmpp;
	if (!lost)
		WRITE_ONCE(file->rmpp, rmpp);
	spin_unlock(&file->lock);
	/* Another thread was first. */
	if (lost)
		umad_rmpp_free(rmpp);
	return true;
}

/* Slots behind the first ones. */
static bool add_slots(struct umad_file *file)
{
	struct umad_agent **more = kcalloc(UMAD_MAX_AGENTS - UMAD_FILE_AGENTS, sizeof(*more),
					   GFP_KERNEL_ACCOUNT);

	if (!more)
		return false;
	spin_lock(&file->lock);
	if (!file->more_agents) {
		/* Its zeroes first, for umad_file_agent() without the lock. */
		smp_store_release(&file->more_agents, more);
		more = NULL;
	}
	spin_unlock(&file->lock);
	/* Or another thread was first. */
	kfree(more);
	return true;
}

/* The lowest free one; -EAGAIN: it needs those of add_slots(). */
static int take_slot(struct umad_file *file, struct umad_agent *agent)
{
	int ret = -EPIPE;
	u32 id;

	spin_lock(&file->lock);
	if (file->shutdown)
		goto out;
	for (id = 0; id < file->slots && umad_file_agent(file, id); id++)
		;
	ret = -ENOMEM;
	if (id == UMAD_MAX_AGENTS)
		goto out;
	ret = -EAGAIN;
	if (id >= UMAD_FILE_AGENTS && !file->more_agents)
		goto out;
	agent->id = id;
	umad_file_set_agent(file, id, agent);
	file->slots = max(file->slots, id + 1);
	ret = 0;
out:
	spin_unlock(&file->lock);
	return ret;
}

static void leave_slot(struct umad_file *file)
{
	umad_active_ref_put(&file->port->active_ref);
	mutex_unlock(&file->user->register_lock);
}

/*
 * A slot, an active reference to the port, and the lock: nobody is refused an id for what
 * ib_core will refuse. But none of these while memory is allocated, which is charged: the
 * cgroup may have to reclaim.
 */
static int enter_slot(struct umad_file *file, struct umad_agent *agent, enum umad_refusal *why)
{
	int ret;

	*why = UMAD_REFUSED_GONE;
	do {
		/* Many that go on behind the end do not queue up before it. */
		if (READ_ONCE(file->shutdown))
			return -EPIPE;
		mutex_lock(&file->user->register_lock);
		if (!umad_active_ref_tryget(&file->port->active_ref)) {
			mutex_unlock(&file->user->register_lock);
			return -EPIPE;
		}
		ret = take_slot(file, agent);
		if (!ret)
			return 0;
		leave_slot(file);
	} while (ret == -EAGAIN && add_slots(file));
	if (ret == -EPIPE)
		return ret;
	*why = ret == -EAGAIN ? UMAD_REFUSED_NOMEM : UMAD_REFUSED_IDS;
	return -ENOMEM;
}

static void free_slot(struct umad_file *file, struct umad_agent *agent)
{
	spin_lock(&file->lock);
	umad_file_set_agent(file, agent->id, NULL);
	spin_unlock(&file->lock);
}

static struct umad_agent *agent_alloc(struct umad_file *file,
				      const struct umad_reg *reg)
{
	bool kernel_rmpp = reg->rmpp_version && !(reg->flags & IB_USER_MAD_USER_RMPP);
	struct umad_agent *agent;

	if (kernel_rmpp && !add_rmpp(file))
		return NULL;
	agent = kmem_cache_zalloc(agent_cache, GFP_KERNEL_ACCOUNT);
	if (!agent)
		return NULL;
	agent->file = file;
	agent->req = reg->req;
	agent->qpn = reg->qpn;
	agent->rmpp = reg->rmpp_version;
	agent->kernel_rmpp = kernel_rmpp;
	umad_active_ref_init(&agent->active_ref);
	INIT_LIST_HEAD(&agent->requests);
	timerqueue_init_head(&agent->expired);
	umad_flow_init(&agent->flow, &file->lock, 0);
	INIT_LIST_HEAD(&agent->receivers);
	return agent;
}

/*
 * Who tells the depth of the receive queue is the queue pair itself, and some (rxe) tell
 * the ring they made of it: one less than a power of two, the next after the depth.
 */
static u32 recv_queue_depth(struct ib_qp *qp)
{
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr attr = {};
	u32 depth;

	if (ib_query_qp(qp, &attr, IB_QP_CAP, &init) || !attr.cap.max_recv_wr)
		attr.cap.max_recv_wr = RECV_QUEUE_DEFAULT;
	depth = attr.cap.max_recv_wr;
	if (is_power_of_2(depth + 1))
		depth = (depth + 1) / 2;
	return depth;
}

static unsigned int flow_control = UMAD_CORE_FLOW_CONTROL;
module_param(flow_control, uint, 0644);
MODULE_PARM_DESC(flow_control,
		 "Of agents registered from now on, how many requests to SMAs, SA and CM may wait in ib_core: 0 no limit, 1 what ib_core of 6.17 has for its receive queue, more: for a queue of this size (default: 1 from 6.17 on, 0 before)");

/* As get_sol_fc_max_outstanding() of ib_core has it. */
static unsigned int flow_limit(const struct umad_agent *agent, u8 mgmt_class)
{
	unsigned int depth = READ_ONCE(flow_control);

	if (!depth)
		return 0;
	if (depth == 1)
		depth = recv_queue_depth(agent->core->qp);
	/* Of the shortest queue there is one place: 0 would be no limit. */
	depth = max(depth, 4U);
	switch (mgmt_class) {
	case 0:
		/* Here the wait entries of messages take places, too: some are for them. */
		return agent->kernel_rmpp ? depth / 4 - depth / 16 : depth / 4;
	case IB_MGMT_CLASS_CM:
		return depth / 4;
	case IB_MGMT_CLASS_SUBN_ADM:
		return max(depth / 32, 1U);
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
		return min(depth, RECV_QUEUE_DEFAULT) / 4;
	default:
		return 0;
	}
}

/*
 * For ib_core an agent with RMPP is one whose RMPP is done in user space: each segment
 * is handed up as it came and sent as it is. From 6.17 on it holds MADs of the SA's class
 * back, but no segments of such an agent. An agent without a class cannot be one.
 */
static bool is_rmpp_to_core(const struct umad_reg *reg)
{
	return reg->rmpp_version && reg->req.mgmt_class;
}

/* On error @why is the reason. */
static int agent_register(struct umad_agent *agent,
			  const struct umad_reg *reg, enum umad_refusal *why)
{
	struct umad_port *port = agent->file->port;
	bool rmpp = is_rmpp_to_core(reg);
	struct ib_mad_reg_req req = reg->req;
	struct ib_mad_agent *core;

	*why = check_reg(port, reg);
	if (*why)
		return *why == UMAD_REFUSED_NO_QP ? -EPROTONOSUPPORT : -EINVAL;

	core = ib_register_mad_agent(port->ib_dev, port->port_num,
				     reg->qpn ? IB_QPT_GSI : IB_QPT_SMI,
				     req.mgmt_class ? &req : NULL,
				     rmpp ? IB_MGMT_RMPP_VERSION : 0,
				     umad_send_handler, umad_recv_handler,
				     agent, rmpp ? IB_MAD_USER_RMPP : 0);
	if (IS_ERR(core)) {
		*why = umad_refusal_by_core(reg, PTR_ERR(core));
		return PTR_ERR(core);
	}
	umad_tids_add(&agent->tid, core->hi_tid);
	agent->hidden.own.core = core;
	agent->hidden.receive = umad_recv_hidden_handler;
	WRITE_ONCE(agent->core, core);
	umad_flush_qp(port, core->qp);
	/* Nothing is sent yet that would need a place. */
	agent->flow.limit = flow_limit(agent, req.mgmt_class);
	/* Three quarters of the receive queue may be promised to RMPP senders. */
	if (!READ_ONCE(port->rx_window_budget))
		WRITE_ONCE(port->rx_window_budget,
			   max(recv_queue_depth(core->qp) / 4 * 3, 1U));
	return 0;
}

/**
 * umad_agent_create() - register an agent whose id nobody knows yet
 * @file: that is to have it
 * @reg: what the caller asks for, @qpn and @flags checked
 * @id: set on success
 *
 * It receives from now on. Hand its id to the caller, then publish it, or
 * unregister it.
 * Context: process; sleeps; hold no lock.
 * Return: the agent; @id and the pointer are good for umad_agent_publish()
 * and umad_agent_unregister() only, the agent itself may be gone when the RDMA
 * device is. Or -EPIPE when the device is gone, -ENOMEM when all ids are taken,
 * or what is against it, here or in ib_core: -EINVAL, -EPROTONOSUPPORT, -ENOMEM.
 */
struct umad_agent *umad_agent_create(struct umad_file *file,
				     const struct umad_reg *reg, u32 *id)
{
	enum umad_refusal why = UMAD_REFUSED_NOMEM;
	struct umad_agent *agent;
	int ret = -ENOMEM;

	/* Without an active reference: it is charged, and the cgroup may have to reclaim. */
	agent = agent_alloc(file, reg);
	if (!agent)
		goto err;
	ret = enter_slot(file, agent, &why);
	if (ret)
		goto err_free;
	ret = agent_register(agent, reg, &why);
	if (ret)
		goto err_slot;
	*id = agent->id;
	leave_slot(file);
	return agent;

err_slot:
	free_slot(file, agent);
	leave_slot(file);
err_free:
	kmem_cache_free(agent_cache, agent);
err:
	umad_refuse(file, reg, why, ret);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_IF_KUNIT(umad_agent_create);

/**
 * umad_agent_publish() - the caller knows the agent's id, let it be used
 * @file: that has it
 * @id: of the agent
 * @agent: as umad_agent_create() returned it; compared, not followed
 * @pkey_hdr: if this is the file's first agent, it fixes the header to the
 *	layout with the P_Key index
 *
 * Context: process; takes &umad_file.lock; does not sleep.
 * Return: 0, or -EPIPE when the device has gone and taken it.
 */
int umad_agent_publish(struct umad_file *file, u32 id,
		       struct umad_agent *agent, bool pkey_hdr)
{
	int ret = -EPIPE;

	spin_lock(&file->lock);
	if (umad_file_agent(file, id) == agent) {
		agent->published = true;
		if (!file->used && pkey_hdr)
			WRITE_ONCE(file->pkey_hdr, true);
		file->used = true;
		ret = 0;
	}
	spin_unlock(&file->lock);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(umad_agent_publish);

/**
 * umad_agent_unregister() - take an agent from its file
 * @file: that has it
 * @id: of the agent, any number
 * @unpublished: NULL for an agent that the caller knows; or the one that
 *	umad_agent_create() returned and nobody came to know
 *
 * Its outstanding requests end in silence; what it has received stays readable.
 * Context: process; sleeps, but never for user space; hold no lock.
 * Return: 0, or -EINVAL when there is no such agent.
 */
int umad_agent_unregister(struct umad_file *file, u32 id,
			  struct umad_agent *unpublished)
{
	struct umad_agent *agent;

	if (id >= UMAD_MAX_AGENTS || !umad_active_ref_tryget(&file->port->active_ref))
		return -EINVAL;

	spin_lock(&file->lock);
	agent = umad_file_agent(file, id);
	if (agent && (unpublished ? agent == unpublished : agent->published))
		umad_file_set_agent(file, id, NULL);
	else
		agent = NULL;
	spin_unlock(&file->lock);

	if (agent)
		umad_agent_destroy(agent);
	umad_active_ref_put(&file->port->active_ref);
	return agent ? 0 : -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(umad_agent_unregister);

/**
 * umad_agent_destroy() - unregister an agent that is in no slot any more
 * @agent: consumed; the RDMA device is kept by the caller
 *
 * Context: process; sleeps, but never for user space; hold no spinlock.
 */
void umad_agent_destroy(struct umad_agent *agent)
{
	spin_lock(&agent->file->lock);
	umad_agent_shut(agent);
	spin_unlock(&agent->file->lock);

	/*
	 * Writers inside finish their post, and so do the works of deadlines:
	 * these enter for each request that they deal with.
	 */
	umad_active_ref_drain(&agent->active_ref);
	umad_request_cancel_all(agent);
	umad_xfer_rx_cancel_all(agent);
	/* Waits for the handlers; a request of ours left in ib_core is flushed. */
	umad_hidden_end(agent);
	umad_ah_forget_kept(agent);
	umad_tids_del(&agent->tid);
	ib_unregister_mad_agent(agent->core);
	umad_hidden_free(agent);
	WARN_ON_ONCE(!list_empty(&agent->requests));
	umad_flow_destroy(&agent->flow);
	kmem_cache_free(agent_cache, agent);
}
