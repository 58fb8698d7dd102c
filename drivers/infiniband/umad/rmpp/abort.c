// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Whoever has a message under way with an agent that goes away is told by an ABORT.
 * Who unregisters an agent waits until all that it has posted has left the device, and
 * there may be thousands, or a device that stands: so they are posted by an agent of
 * the port's own, that nobody waits for but the removal of the device.
 */
#include <linux/types.h>
#include "rmpp/abort.h"

#include <linux/err.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "post.h"
#include "rmpp/control.h"
#include "user.h"

/* In ib_core; more of them are not sent, which is as good as lost on the way. */
#define ABORTS_MAX	256

static void abort_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_port *port = buf->mad_agent->context;

	umad_post_free(buf, umad_post_owner(buf));
	atomic_dec(&port->aborts);
}

/* A response to a TID that happens to be the agent's: nothing expects one. */
static void response_drop(struct ib_mad_agent *core, struct ib_mad_send_buf *buf,
			  struct ib_mad_recv_wc *rwc)
{
	ib_free_recv_mad(rwc);
}

/**
 * umad_rmpp_abort_init() - ABORTs can be sent from now on
 * @port: new; without GSI nobody has RMPP messages
 *
 * If ib_core has something against it, none are sent.
 * Context: process; sleeps.
 */
void umad_rmpp_abort_init(struct umad_port *port)
{
	struct ib_mad_agent *core;

	if (!rdma_cap_ib_cm(port->ib_dev, port->port_num))
		return;
	core = ib_register_mad_agent(port->ib_dev, port->port_num, IB_QPT_GSI,
				     NULL, 0, umad_send_handler, response_drop, port, 0);
	if (!IS_ERR(core))
		port->abort_agent = core;
}

/**
 * umad_rmpp_abort_destroy() - the RDMA device goes away
 * @port: without agents of files
 *
 * Context: process; sleeps until ib_core has done with what was posted.
 */
void umad_rmpp_abort_destroy(struct umad_port *port)
{
	if (port->abort_agent)
		ib_unregister_mad_agent(port->abort_agent);
}

/**
 * umad_rmpp_post_abort() - tell somebody that a message ends with its agent
 * @agent: that ends, registered still, by the caller alone; one of QP 0 ends in silence
 * @to: to whom
 * @ah: the way there
 * @head: MAD and class header
 * @lone: nothing but segment 1 of it has come
 *
 * Context: process; does not sleep, as the caller has a reference to @ah, and keeps the
 * RDMA device.
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

	if (!port->abort_agent || agent->core->qp->qp_type != IB_QPT_GSI ||
	    !atomic_add_unless(&port->aborts, 1, ABORTS_MAX))
		return;
	if (!umad_user_may_abort(agent->file->user, lone) ||
	    umad_rmpp_post_control(port->abort_agent, to, ah, head, &packet,
				   abort_done, ah))
		atomic_dec(&port->aborts);
}
