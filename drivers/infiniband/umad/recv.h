/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef UMAD_RECV_H
#define UMAD_RECV_H

struct ib_mad_agent;
struct ib_mad_recv_wc;
struct ib_mad_send_buf;

int umad_recv_init(void);
void umad_recv_exit(void);
void umad_recv_handler(struct ib_mad_agent *core, struct ib_mad_send_buf *buf,
		       struct ib_mad_recv_wc *wc);
void umad_recv_hidden_handler(struct ib_mad_agent *core, struct ib_mad_send_buf *buf,
			      struct ib_mad_recv_wc *wc);

#endif /* UMAD_RECV_H */
