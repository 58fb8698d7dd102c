/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages of several segments, being sent. */
#ifndef UMAD_RMPP_SEND_H
#define UMAD_RMPP_SEND_H

#include "rmpp_write.h"

struct ib_mad_recv_wc;
struct rmpp_packet;
struct umad_agent;

void umad_xfer_tx_pump(struct umad_request *req);
int umad_rmpp_send(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		   struct umad_xfer_tx *tx);
bool umad_xfer_tx_receive(struct umad_agent *agent,
			  const struct ib_mad_recv_wc *rwc,
			  const struct rmpp_packet *packet);
bool umad_rmpp_wants_turn(const struct umad_request *req);
void umad_rmpp_turn_around(struct umad_request *req);
void umad_xfer_tx_turn_again(struct umad_request *req);
void umad_xfer_tx_answered(struct umad_request *req);

#endif /* UMAD_RMPP_SEND_H */
