// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Packets that are no DATA: ACK, STOP and ABORT. */
#include <linux/types.h>
#include "rmpp_control.h"

#include <linux/err.h>
#include <linux/slab.h>
#include "agent.h"
#include "ah.h"
#include "file.h"
#include "port.h"
#include "queues.h"
#include "recv_hdr.h"

static void control_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	umad_post_free(buf, umad_post_owner(buf));
}

/**
 * umad_rmpp_post_control() - send an ACK, a STOP or an ABORT
 * @core: the agent that sends it, kept by the caller
 * @ah: to whom
 * @hdr: its queue pair and P_Key index
 * @head: MAD and class header
 * @packet: RMPP header
 * @done: called when ib_core has done with it; NULL if nobody wants to know
 * @owner: for @done
 *
 * One that cannot be sent is as good as lost on the way.
 * Context: process; may sleep; hold no lock.
 * Return: 0 if it was posted, and @done will be called; else an errno.
 */
int umad_rmpp_post_control(struct ib_mad_agent *core, struct umad_ah *ah,
			   const struct ib_user_mad_hdr *hdr,
			   const struct ib_mad_hdr *head,
			   const struct rmpp_packet *packet, umad_done_fn done,
			   void *owner)
{
	size_t len = ib_get_mad_data_offset(head->mgmt_class);
	const struct umad_post post = {
		.core = core,
		.ah = ah,
		.qpn = be32_to_cpu(hdr->qpn),
		.pkey_index = hdr->pkey_index,
		.head = head,
		.head_len = len,
		.len = len,
		.gfp = UMAD_POST_NOWAIT,
		.done = done ?: control_done,
		.owner = done ? owner : ah,
	};
	struct ib_mad_send_buf *buf;
	int ret;

	buf = umad_post_build(&post);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	rmpp_format(buf->mad, packet);
	ret = ib_post_send_mad(buf, NULL);
	if (ret)
		umad_post_free(buf, ah);
	return ret;
}

/**
 * struct stray - an answer to a packet that belongs to no message, or begins none
 * @work: resolves the address, which ib_core's receive work must not wait for
 * @agent: caller must hold an active reference until it is posted
 * @ah: to whom
 * @hdr: whom it came from
 * @head: headers of the answer
 * @packet: RMPP header of the answer
 */
struct stray {
	struct work_struct work;
	struct umad_agent *agent;
	struct umad_ah *ah;
	struct ib_user_mad_hdr hdr;
	u8 head[UMAD_RMPP_HDR_MAX] __aligned(8);
	struct rmpp_packet packet;
};

/* Not sent yet, for one file and for all; more are not worth an answer. */
#define FILE_STRAYS	16
static atomic_t strays = ATOMIC_INIT(0);

static bool stray_enter(struct umad_rmpp *rmpp)
{
	if (!atomic_add_unless(&rmpp->strays, 1, FILE_STRAYS))
		return false;
	if (atomic_add_unless(&strays, 1, UMAD_RMPP_ADDR_STRAYS))
		return true;
	atomic_dec(&rmpp->strays);
	return false;
}

static void stray_free(struct stray *stray)
{
	atomic_dec(&stray->agent->file->rmpp.strays);
	kfree(stray);
}

/* ib_core has done with it: before the agent is unregistered, so the file is there. */
static void stray_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct stray *stray = umad_post_owner(buf);

	umad_post_free(buf, stray->ah);
	stray_free(stray);
}

static void stray_work(struct work_struct *work)
{
	struct stray *stray = container_of(work, struct stray, work);
	struct umad_agent *agent = stray->agent;
	struct umad_ah *ah = ERR_PTR(-ESHUTDOWN);
	int ret;

	/* Whoever takes the agent away waits for us: not for an address. */
	if (!umad_active_ref_is_dead(&agent->active_ref))
		ah = umad_ah_create(agent->core->qp->pd,
				    agent->file->port->port_num, &stray->hdr);
	ret = PTR_ERR_OR_ZERO(ah);
	if (!ret) {
		stray->ah = ah;
		ret = umad_rmpp_post_control(agent->core, ah, &stray->hdr,
					     (struct ib_mad_hdr *)stray->head,
					     &stray->packet, stray_done, stray);
		/* If it was posted, it has a reference of its own, and may be gone. */
		umad_ah_put(ah);
	}
	/* The bound of all is for works. The file may go with its last agent. */
	atomic_dec(&strays);
	if (ret)
		stray_free(stray);
	umad_agent_leave(agent);
}

/**
 * umad_rmpp_answer_stray() - tell a sender that its packet is refused
 * @agent: that received it
 * @rwc: the packet
 * @type: IB_MGMT_RMPP_TYPE_STOP or _ABORT
 * @status: RMPPStatus
 *
 * The answer is sent by a work, or not at all: without memory, to a GID that this
 * port has not, or with too many of them under way.
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 */
void umad_rmpp_answer_stray(struct umad_agent *agent,
			    const struct ib_mad_recv_wc *rwc, u8 type,
			    u8 status)
{
	const struct ib_mad_hdr *mad = &rwc->recv_buf.mad->mad_hdr;
	struct ib_mad_hdr *head;
	struct stray *stray;

	if (!stray_enter(&agent->file->rmpp))
		return;
	stray = kzalloc(sizeof(*stray), GFP_NOWAIT | __GFP_NOWARN);
	if (!stray)
		goto err_count;
	if (umad_recv_hdr(agent, rwc, &stray->hdr) ||
	    !umad_active_ref_tryget(&agent->active_ref))
		goto err_free;

	memcpy(stray->head, mad, ib_get_mad_data_offset(mad->mgmt_class));
	head = (struct ib_mad_hdr *)stray->head;
	head->method ^= IB_MGMT_METHOD_RESP;
	stray->packet.version = IB_MGMT_RMPP_VERSION;
	stray->packet.type = type;
	stray->packet.status = status;
	stray->agent = agent;
	INIT_WORK(&stray->work, stray_work);
	queue_work(umad_addr_wq, &stray->work);
	return;

err_free:
	kfree(stray);
err_count:
	atomic_dec(&strays);
	atomic_dec(&agent->file->rmpp.strays);
}
