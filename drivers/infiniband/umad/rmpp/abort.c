// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Whoever has a message under way with an agent that goes away is told by an ABORT.
 * Who unregisters an agent waits until all that it has posted has left the device, and
 * there may be thousands, or a device that stands: so they are posted by an agent of
 * the port's own, that nobody waits for but the removal of the device.
 *
 * That agent is there only while one of them is under way, and keeps the module meanwhile. While
 * the module is unloaded, which takes as long as the slowest device, ib_core does not wait for it
 * before it destroys a device that is removed, with all that belongs to its agents.
 */
#include <linux/types.h>
#include "rmpp/abort.h"

#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "post.h"
#include "rmpp/control.h"
#include "user.h"

/* In ib_core; more of them are not sent, which is as good as lost on the way. */
#define ABORTS_MAX	256

static void abort_leave(struct umad_port *port)
{
	if (atomic_dec_and_test(&port->aborts.count))
		schedule_work(&port->aborts.work);
}

static void abort_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_port *port = buf->mad_agent->context;

	umad_post_free(buf, umad_post_owner(buf));
	abort_leave(port);
}

/* A response to a TID that happens to be the agent's: nothing expects one. */
static void response_drop(struct ib_mad_agent *core, struct ib_mad_send_buf *buf,
			  struct ib_mad_recv_wc *rwc)
{
	ib_free_recv_mad(rwc);
}

/* If ib_core has something against it, none are sent. */
static void agent_register(struct umad_port *port)
{
	struct ib_mad_agent *core;

	lockdep_assert_held(&port->aborts.lock);
	core = ib_register_mad_agent(port->ib_dev, port->port_num, IB_QPT_GSI,
				     NULL, 0, umad_send_handler, response_drop, port, 0);
	if (IS_ERR(core))
		return;
	/* The file that ends keeps it so far. */
	__module_get(THIS_MODULE);
	port->aborts.agent = core;
}

static void agent_unregister(struct umad_port *port)
{
	lockdep_assert_held(&port->aborts.lock);
	ib_unregister_mad_agent(port->aborts.agent);
	port->aborts.agent = NULL;
	module_put(THIS_MODULE);
}

/* All have left, or others have come meanwhile. umad_rmpp_abort_destroy() waits for it. */
static void abort_work(struct work_struct *work)
{
	struct umad_aborts *aborts = container_of(work, struct umad_aborts, work);
	struct umad_port *port = container_of(aborts, struct umad_port, aborts);

	mutex_lock(&aborts->lock);
	if (aborts->agent && !atomic_read(&aborts->count))
		agent_unregister(port);
	mutex_unlock(&aborts->lock);
}

/* NULL, or abort_leave() has to follow. */
static struct ib_mad_agent *abort_enter(struct umad_port *port)
{
	struct umad_aborts *aborts = &port->aborts;
	struct ib_mad_agent *core;

	mutex_lock(&aborts->lock);
	if (!aborts->agent)
		agent_register(port);
	core = aborts->agent;
	if (core && !atomic_add_unless(&aborts->count, 1, ABORTS_MAX))
		core = NULL;
	mutex_unlock(&aborts->lock);
	return core;
}

/**
 * umad_rmpp_abort_init() - none is under way
 * @port: new
 *
 * Context: any.
 */
void umad_rmpp_abort_init(struct umad_port *port)
{
	mutex_init(&port->aborts.lock);
	atomic_set(&port->aborts.count, 0);
	INIT_WORK(&port->aborts.work, abort_work);
}

/**
 * umad_rmpp_abort_destroy() - the RDMA device goes away
 * @port: without agents of files
 *
 * Context: process; sleeps until ib_core has done with what was posted.
 */
void umad_rmpp_abort_destroy(struct umad_port *port)
{
	mutex_lock(&port->aborts.lock);
	if (port->aborts.agent)
		agent_unregister(port);
	mutex_unlock(&port->aborts.lock);
	/* The last completion may have scheduled it. */
	flush_work(&port->aborts.work);
}

/**
 * umad_rmpp_post_abort() - tell somebody that a message ends with its agent
 * @agent: that ends, registered still, by the caller alone; one of QP 0 ends in silence
 * @to: to whom
 * @ah: the way there
 * @head: MAD and class header
 * @lone: nothing but segment 1 of it has come
 *
 * Context: process; sleeps; hold no lock. The caller has a reference to @ah, a file, and
 * keeps the RDMA device.
 */
void umad_rmpp_post_abort(struct umad_agent *agent, const struct umad_addr *to,
			  struct umad_ah *ah, const struct ib_mad_hdr *head, bool lone)
{
	const struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_ABORT,
		.status = IB_MGMT_RMPP_STATUS_UNSPEC,
	};
	struct umad_port *port = agent->file->port;
	struct ib_mad_agent *core;

	if (agent->core->qp->qp_type != IB_QPT_GSI ||
	    !umad_user_may_abort(agent->file->user, lone))
		return;
	core = abort_enter(port);
	if (core && umad_rmpp_post_control(core, to, ah, head, &packet, abort_done, ah))
		abort_leave(port);
}
