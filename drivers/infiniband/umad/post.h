/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * MADs handed to ib_core: how one is made, and who hears that ib_core has
 * done with it.
 */
#ifndef UMAD_POST_H
#define UMAD_POST_H

#include <rdma/ib_mad.h>

struct umad_addr;
struct umad_ah;

/**
 * typedef umad_done_fn - ib_core has done with a MAD
 * @buf: the MAD; to be freed
 * @status: how it ended
 *
 * Context: process; does not wait for user space.
 */
typedef void (*umad_done_fn)(struct ib_mad_send_buf *buf,
			     enum ib_wc_status status);

/**
 * struct umad_post - a MAD to be made
 * @core: ib_core's agent, that stays registered meanwhile
 * @to: where it goes: the queue pair and the P_Key index
 * @ah: the way there; the MAD has a reference until umad_post_free()
 * @head: its first bytes
 * @head_len: of them; what follows is zero, and the caller may fill it in
 * @len: bytes of the MAD, at least what the class puts before its data
 * @gfp: for its memory; UMAD_POST_NOWAIT in a handler of ib_core, where memory
 *	must not be waited for
 * @done: called when ib_core has done with it
 * @owner: for @done
 */
struct umad_post {
	struct ib_mad_agent *core;
	const struct umad_addr *to;
	struct umad_ah *ah;
	const void *head;
	size_t head_len;
	size_t len;
	gfp_t gfp;
	umad_done_fn done;
	void *owner;
};

#define UMAD_POST_NOWAIT	(GFP_NOWAIT | __GFP_NOWARN)

/**
 * umad_tid_with() - a TID whose response comes to an agent of ib_core
 * @core: the agent
 * @tid: of which the lower half is taken, network byte order
 *
 * Context: any.
 * Return: the TID, network byte order.
 */
static inline __be64 umad_tid_with(const struct ib_mad_agent *core, __be64 tid)
{
	return cpu_to_be64((u64)core->hi_tid << 32 | lower_32_bits(be64_to_cpu(tid)));
}

struct ib_mad_send_buf *umad_post_build(const struct umad_post *post);
void *umad_post_owner(const struct ib_mad_send_buf *buf);
void umad_post_set_wait(struct ib_mad_send_buf *buf);
void umad_post_set_done(struct ib_mad_send_buf *buf, umad_done_fn done);
int umad_post_send(struct ib_mad_send_buf *buf);
void umad_post_free(struct ib_mad_send_buf *buf, struct umad_ah *ah);
void umad_send_handler(struct ib_mad_agent *core, struct ib_mad_send_wc *wc);

#endif /* UMAD_POST_H */
