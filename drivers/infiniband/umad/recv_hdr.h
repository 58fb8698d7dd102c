/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef UMAD_RECV_HDR_H
#define UMAD_RECV_HDR_H

struct ib_mad_recv_wc;
struct ib_user_mad_hdr;
struct umad_agent;
union ib_gid;

int umad_recv_hdr(struct umad_agent *agent, const struct ib_mad_recv_wc *rwc,
		  struct ib_user_mad_hdr *hdr);
int umad_recv_sgid(struct umad_agent *agent, const struct ib_mad_recv_wc *rwc,
		   union ib_gid *sgid);

#endif /* UMAD_RECV_HDR_H */
