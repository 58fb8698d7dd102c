/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages of several segments, being received: how they begin, go on, and end. */
#ifndef UMAD_RMPP_XFER_RX_H
#define UMAD_RMPP_XFER_RX_H

#include "rmpp/reassembly.h"

struct umad_xfer_rx *umad_xfer_rx_begin(struct umad_agent *agent,
					const struct ib_mad_recv_wc *rwc,
					const struct rmpp_packet *packet,
					const struct umad_rmpp_key *key,
					const struct umad_timer_ops *ops);
void umad_xfer_rx_recall(struct umad_agent *agent, const struct ib_mad_recv_wc *rwc,
			 const struct umad_rmpp_key *key, const struct umad_timer_ops *ops);
void umad_xfer_rx_answer_work(struct work_struct *work);
void umad_xfer_rx_uncharge_all(struct umad_xfer_rx *rx);
bool umad_xfer_rx_remove(struct umad_xfer_rx *rx);
struct umad_xfer_rx *umad_xfer_rx_linger(struct umad_xfer_rx *rx);
void umad_xfer_rx_put_lingering(struct umad_xfer_rx *rx);
void umad_xfer_rx_failed(struct umad_xfer_rx *rx, bool refused);
void umad_xfer_rx_give_way(struct umad_xfer_rx *rx);
void umad_xfer_rx_tell_request(struct umad_request *req, u8 status);
bool umad_xfer_rx_evict(struct umad_xfer_rx *rx);
void umad_xfer_rx_stop_evicted(struct umad_xfer_rx *rx);
bool umad_xfer_rx_prepare(struct umad_xfer_rx *rx, struct rmpp_packet *packet);
void umad_xfer_rx_post(struct umad_xfer_rx *rx, const struct rmpp_packet *packet);
struct umad_xfer_rx *umad_xfer_rx_find(struct umad_agent *agent,
				       const struct ib_mad_recv_wc *rwc,
				       const struct umad_rmpp_key *key, bool recall)
	__acquires(&agent->file->lock);
void umad_xfer_rx_data(struct umad_agent *agent,
		       const struct ib_mad_recv_wc *rwc,
		       const struct rmpp_packet *packet,
		       const struct umad_rmpp_key *key);
void umad_xfer_rx_receive(struct umad_xfer_rx *rx, const struct ib_mad_recv_wc *rwc,
			  const struct rmpp_packet *packet)
	__releases(&rx->agent->file->lock);
void umad_xfer_rx_cancel_all(struct umad_agent *agent);

#endif /* UMAD_RMPP_XFER_RX_H */
