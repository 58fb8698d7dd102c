/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Packets that are no DATA: ACK, STOP and ABORT. */
#ifndef UMAD_RMPP_CONTROL_H
#define UMAD_RMPP_CONTROL_H

#include "post.h"
#include "rmpp/rmpp.h"

struct ib_mad_agent;
struct ib_mad_recv_wc;
struct umad_addr;
struct umad_agent;
struct umad_ah;

int umad_rmpp_post_control(struct ib_mad_agent *core, const struct umad_addr *to,
			   struct umad_ah *ah, const struct ib_mad_hdr *head,
			   const struct rmpp_packet *packet, umad_done_fn done,
			   void *owner);
void umad_rmpp_reject(struct umad_agent *agent,
		      const struct ib_mad_recv_wc *rwc, u8 type,
		      u8 status);

#endif /* UMAD_RMPP_CONTROL_H */
