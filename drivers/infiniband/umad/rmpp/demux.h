/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* RMPP packets, from ib_core's receive handler to the transfer they are for. */
#ifndef UMAD_RMPP_DEMUX_H
#define UMAD_RMPP_DEMUX_H

struct ib_mad_recv_wc;
struct ib_mad_send_buf;
struct umad_agent;

void umad_rmpp_waste(struct ib_mad_send_buf *buf);
void umad_rmpp_receive(struct umad_agent *agent, struct ib_mad_send_buf *buf,
		       const struct ib_mad_recv_wc *rwc);

#endif /* UMAD_RMPP_DEMUX_H */
