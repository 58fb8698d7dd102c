/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Whose turn it is to have the address of a sender of messages resolved. */
#ifndef UMAD_RMPP_RESOLVE_H
#define UMAD_RMPP_RESOLVE_H

struct umad_xfer_rx;

void umad_rmpp_addr_ask(struct umad_xfer_rx *rx);
void umad_rmpp_addr_forget(struct umad_xfer_rx *rx);
void umad_rmpp_addr_done(struct umad_xfer_rx *rx, int err);

#endif /* UMAD_RMPP_RESOLVE_H */
