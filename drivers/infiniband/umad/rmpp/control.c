// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Packets that are no DATA: ACK, STOP and ABORT. */
#include <linux/types.h>
#include "rmpp/control.h"

#include <linux/err.h>
#include <linux/slab.h>
#include "agent.h"
#include "ah.h"
#include "file.h"
#include "port.h"
#include "recv_hdr.h"

static void control_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	umad_post_free(buf, umad_post_owner(buf));
}

/**
 * umad_rmpp_post_control() - send an ACK, a STOP or an ABORT
 * @core: the agent that sends it, kept by the caller
 * @to: to whom
 * @ah: the way there
 * @head: MAD and class header
 * @packet: RMPP header
 * @done: called when ib_core has done with it; NULL if nobody wants to know
 * @owner: for @done
 *
 * One that cannot be sent is as good as lost on the way.
 * Context: process; may sleep; hold no lock.
 * Return: 0 if it was posted, and @done will be called; else an errno.
 */
int umad_rmpp_post_control(struct ib_mad_agent *core, const struct umad_addr *to,
			   struct umad_ah *ah, const struct ib_mad_hdr *head,
			   const struct rmpp_packet *packet, umad_done_fn done,
			   void *owner)
{
	size_t len = ib_get_mad_data_offset(head->mgmt_class);
	const struct umad_post post = {
		.core = core,
		.to = to,
		.ah = ah,
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
	ret = umad_post_send(buf);
	if (ret)
		umad_post_free(buf, ah);
	return ret;
}

/**
 * struct rmpp_reject - an answer to a packet that belongs to no message, or begins none
 * @work: resolves the address, which ib_core's receive work must not wait for
 * @agent: caller must hold an active reference until it is posted
 * @to: to whom
 * @ah: the way there
 * @head: headers of the answer
 * @packet: RMPP header of the answer
 */
struct rmpp_reject {
	struct work_struct work;
	struct umad_agent *agent;
	struct umad_addr to;
	struct umad_ah *ah;
	u8 head[UMAD_RMPP_HDR_MAX] __aligned(8);
	struct rmpp_packet packet;
};

/* Not sent yet, of one file; more are not worth an answer. The port has a bound for all. */
#define FILE_REJECTS	16

static bool reject_enter(struct umad_file *file)
{
	if (!atomic_add_unless(&file->rmpp->rejects, 1, FILE_REJECTS))
		return false;
	if (atomic_add_unless(&file->port->addr_rejects, 1, UMAD_RMPP_ADDR_REJECTS))
		return true;
	atomic_dec(&file->rmpp->rejects);
	return false;
}

static void reject_free(struct rmpp_reject *reject)
{
	atomic_dec(&reject->agent->file->rmpp->rejects);
	kfree(reject);
}

/* ib_core has done with it: before the agent is unregistered, so the file is there. */
static void reject_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct rmpp_reject *reject = umad_post_owner(buf);

	umad_post_free(buf, reject->ah);
	reject_free(reject);
}

static void reject_work(struct work_struct *work)
{
	struct rmpp_reject *reject = container_of(work, struct rmpp_reject, work);
	struct umad_agent *agent = reject->agent;
	struct umad_ah *ah = ERR_PTR(-ESHUTDOWN);
	int ret;

	/* Whoever takes the agent away waits for us: not for an address. */
	if (!umad_active_ref_is_dead(&agent->active_ref))
		ah = umad_ah_create(agent, &reject->to, false);
	ret = PTR_ERR_OR_ZERO(ah);
	if (!ret) {
		reject->ah = ah;
		ret = umad_rmpp_post_control(agent->core, &reject->to, ah,
					     (struct ib_mad_hdr *)reject->head,
					     &reject->packet, reject_done, reject);
		/* If it was posted, it has a reference of its own, and may be gone. */
		umad_ah_put(ah);
	}
	/* The bound of all is for works. The file may go with its last agent. */
	atomic_dec(&agent->file->port->addr_rejects);
	if (ret)
		reject_free(reject);
	umad_agent_leave(agent);
}

/**
 * umad_rmpp_reject() - tell a sender that its packet is refused
 * @agent: that received it
 * @rwc: the packet
 * @type: IB_MGMT_RMPP_TYPE_STOP or _ABORT
 * @status: RMPPStatus
 *
 * The answer is sent by a work, or not at all: without memory, to a GID that this
 * port has not, or with too many of them under way.
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 */
void umad_rmpp_reject(struct umad_agent *agent,
		      const struct ib_mad_recv_wc *rwc, u8 type,
		      u8 status)
{
	const struct ib_mad_hdr *mad = &rwc->recv_buf.mad->mad_hdr;
	struct rmpp_reject *reject;
	struct ib_user_mad_hdr hdr;
	struct ib_mad_hdr *head;

	if (!reject_enter(agent->file))
		return;
	reject = kzalloc(sizeof(*reject), GFP_NOWAIT | __GFP_NOWARN);
	if (!reject)
		goto err_count;
	if (umad_recv_hdr(agent, rwc, &hdr) ||
	    !umad_active_ref_tryget(&agent->active_ref))
		goto err_free;
	umad_addr_from_hdr(&reject->to, &hdr);

	memcpy(reject->head, mad, ib_get_mad_data_offset(mad->mgmt_class));
	head = (struct ib_mad_hdr *)reject->head;
	head->method ^= IB_MGMT_METHOD_RESP;
	reject->packet.version = IB_MGMT_RMPP_VERSION;
	reject->packet.type = type;
	reject->packet.status = status;
	reject->agent = agent;
	INIT_WORK(&reject->work, reject_work);
	queue_work(agent->file->port->addr_wq, &reject->work);
	return;

err_free:
	kfree(reject);
err_count:
	atomic_dec(&agent->file->port->addr_rejects);
	atomic_dec(&agent->file->rmpp->rejects);
}
