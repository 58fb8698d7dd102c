/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* ABORT for those whose messages end with an agent of ours. */
#ifndef UMAD_RMPP_ABORT_H
#define UMAD_RMPP_ABORT_H

struct ib_mad_hdr;
struct umad_addr;
struct umad_agent;
struct umad_ah;
struct umad_port;

void umad_rmpp_abort_init(struct umad_port *port);
void umad_rmpp_abort_destroy(struct umad_port *port);
void umad_rmpp_post_abort(struct umad_agent *agent, const struct umad_addr *to,
			  struct umad_ah *ah, const struct ib_mad_hdr *head, bool lone);

#endif /* UMAD_RMPP_ABORT_H */
