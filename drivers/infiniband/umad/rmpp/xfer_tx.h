/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages of several segments, being sent. */
#ifndef UMAD_RMPP_XFER_TX_H
#define UMAD_RMPP_XFER_TX_H

#include "rmpp/message.h"

struct ib_mad_hdr;
struct rmpp_packet;
struct umad_agent;
struct umad_rmpp;
struct umad_rmpp_key;

/* segment.c */
void umad_xfer_tx_begin(struct umad_request *req);
void umad_xfer_tx_want(struct umad_request *req);
void umad_xfer_tx_free_spares(struct umad_xfer_tx *tx);
void umad_xfer_tx_queues_init(struct umad_rmpp *rmpp);
void umad_xfer_tx_queues_destroy(struct umad_rmpp *rmpp);

int umad_rmpp_send(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		   struct umad_xfer_tx *tx);
struct umad_request *umad_xfer_tx_find(struct umad_agent *agent,
				       const struct ib_mad_hdr *mad,
				       const struct umad_rmpp_key *from);
void umad_xfer_tx_receive(struct umad_request *req, const struct rmpp_packet *packet)
	__releases(&req->file->lock);
bool umad_rmpp_wants_turn(const struct umad_request *req);
void umad_rmpp_await(struct umad_request *req);
void umad_rmpp_turn_around(struct umad_request *req);
void umad_xfer_tx_turn_again(struct umad_request *req);
void umad_xfer_tx_answered(struct umad_request *req);
bool umad_xfer_tx_may_go(const struct umad_xfer_tx *tx);
void umad_xfer_tx_evict(struct umad_request *req);
void umad_xfer_tx_stop_evicted(struct umad_request *req);

#endif /* UMAD_RMPP_XFER_TX_H */
