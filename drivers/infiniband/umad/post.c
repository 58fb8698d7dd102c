// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "post.h"

#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_smi.h>
#include <rdma/opa_smi.h>
#include "addr.h"
#include "ah.h"
#include "tids.h"

/* ib_core gives 1 to 2^24 - 1. */
#define NOBODYS_HI_TID	((u64)U32_MAX)

/* What stands in ib_mad_send_buf.context. */
enum {
	CONTEXT_OWNER,
	CONTEXT_DONE,
};

/*
 * Does a directed route SMP never leave this host (IBA 14.2.2)? ib_core hands such
 * a one to the device, if that deals with any, and then to an agent by itself. It
 * does so with a short one, too: what is not written is 0 in its buffer.
 */
static bool stays_local(const struct umad_post *post, bool opa)
{
	u8 head[offsetof(struct opa_smp, route.dr.initial_path)] __aligned(8) = {};
	const struct opa_smp *opa_smp = (const struct opa_smp *)head;
	const struct ib_mad_hdr *mad = post->head;
	struct ib_smp *smp = (struct ib_smp *)head;
	bool back, permissive;

	if (!post->core->device->ops.process_mad ||
	    mad->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return false;
	memcpy(head, post->head, min(post->head_len, sizeof(head)));
	back = ib_get_smp_direction(smp);
	if (opa && mad->class_version == OPA_SM_CLASS_VERSION)
		permissive = (back ? opa_smp->route.dr.dr_dlid :
				     opa_smp->route.dr.dr_slid) ==
			     OPA_LID_PERMISSIVE;
	else
		permissive = (back ? smp->dr_dlid : smp->dr_slid) ==
			     IB_LID_PERMISSIVE;
	if (permissive)
		return back ? smp->hop_ptr <= 1 : smp->hop_ptr >= smp->hop_cnt;
	return back ? !smp->hop_ptr : smp->hop_ptr == smp->hop_cnt + 1;
}

/*
 * ib_core takes a response that stays on the host to the agent that its TID names,
 * together with the buffer of whoever has sent it. Ours know their own. One of the
 * kernel, such as the SA's client, takes it for a request of its own, and calls
 * what it finds there: so such a response is for nobody.
 */
static void keep_from_kernel_agents(struct ib_mad_hdr *mad)
{
	u64 tid = be64_to_cpu(mad->tid);

	if (ib_response_mad(mad) && !umad_tids_has(upper_32_bits(tid)))
		mad->tid = cpu_to_be64(NOBODYS_HI_TID << 32 | lower_32_bits(tid));
}

/**
 * umad_post_build() - make a MAD that ib_core can post
 * @post: what it is to be
 *
 * Context: process; may sleep if @post->gfp allows it.
 * Return: the MAD, that expects no response, or an ERR_PTR().
 */
struct ib_mad_send_buf *umad_post_build(const struct umad_post *post)
{
	const struct ib_mad_hdr *mad_hdr = post->head;
	int hdr_len = ib_get_mad_data_offset(mad_hdr->mgmt_class);
	bool opa = rdma_cap_opa_mad(post->core->device, post->core->port_num);
	u8 base_version = mad_hdr->base_version;
	bool local = stays_local(post, opa);
	struct ib_mad_send_buf *buf;

	/*
	 * It decides on the length of the buffer. ib_core of an OPA port copies as
	 * many bytes of what stays local as that port's MADs have, though an SMP of
	 * InfiniBand has 256.
	 */
	if (opa && local)
		base_version = OPA_MGMT_BASE_VERSION;
	buf = ib_create_send_mad(post->core, be32_to_cpu(post->to->qpn),
				 post->to->pkey_index, 0, hdr_len, post->len - hdr_len, post->gfp,
				 base_version);
	if (IS_ERR(buf))
		return buf;

	memcpy(buf->mad, post->head, post->head_len);
	if (local)
		keep_from_kernel_agents(buf->mad);
	umad_ah_get(post->ah);
	buf->ah = umad_ah_verbs(post->ah);
	buf->context[CONTEXT_OWNER] = post->owner;
	buf->context[CONTEXT_DONE] = post->done;
	return buf;
}

/**
 * umad_post_owner() - whose MAD is it?
 * @buf: made by umad_post_build()
 *
 * Context: any.
 * Return: the owner.
 */
void *umad_post_owner(const struct ib_mad_send_buf *buf)
{
	return buf->context[CONTEXT_OWNER];
}

/**
 * umad_post_set_wait() - let a MAD stay in ib_core and catch a response
 * @buf: not posted yet
 *
 * Context: any.
 */
void umad_post_set_wait(struct ib_mad_send_buf *buf)
{
	/* A negative int, to ib_core. */
	buf->timeout_ms = -1;
	buf->retries = 0;
}

/**
 * umad_post_set_done() - another function is called when ib_core has done with a MAD
 * @buf: not posted yet
 * @done: the function
 *
 * Context: any.
 */
void umad_post_set_done(struct ib_mad_send_buf *buf, umad_done_fn done)
{
	buf->context[CONTEXT_DONE] = done;
}

/* On RoCE an entry of the table keeps its place until nobody has it. */
static bool has_lost_gid(const struct ib_ah *ah)
{
	bool lost;

	if (!ah || !ah->sgid_attr || ah->type != RDMA_AH_ATTR_TYPE_ROCE)
		return false;
	rcu_read_lock();
	lost = IS_ERR(rdma_read_gid_attr_ndev_rcu(ah->sgid_attr));
	rcu_read_unlock();
	return lost;
}

/**
 * umad_post_send() - hand a MAD to ib_core
 * @buf: the MAD, consumed if there is no error: it may be gone then
 *
 * What is sent again has the handle of the first time, and its GID may have left the table:
 * the interface has another MAC or address, or another slave of a bond is in use. A device may
 * send by what is in that place now; soft-RoCE finds nothing, and its queue pair fails, for
 * everybody.
 * Context: process; may sleep; hold no lock.
 * Return: 0 or an errno; -ENODATA if the GID is gone.
 */
int umad_post_send(struct ib_mad_send_buf *buf)
{
	return has_lost_gid(buf->ah) ? -ENODATA : ib_post_send_mad(buf, NULL);
}

/**
 * umad_post_free() - undo umad_post_build()
 * @buf: consumed; ib_core has done with it, or has not taken it
 * @ah: that it was built with
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_post_free(struct ib_mad_send_buf *buf, struct umad_ah *ah)
{
	ib_free_send_mad(buf);
	umad_ah_put(ah);
}

/**
 * umad_send_handler() - ib_core has done with a MAD
 * @core: ib_core's agent
 * @wc: which one, and how it ended
 *
 * Context: process: the CQ's work, ib_core's work, or a thread that
 * unregisters the agent. Does not wait for user space.
 */
void umad_send_handler(struct ib_mad_agent *core, struct ib_mad_send_wc *wc)
{
	umad_done_fn done = wc->send_buf->context[CONTEXT_DONE];

	done(wc->send_buf, wc->status);
}
