/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which request, and which message, a packet is about. */
#ifndef UMAD_RMPP_MATCH_H
#define UMAD_RMPP_MATCH_H

#include <linux/build_bug.h>
#include <linux/types.h>

struct ib_mad_hdr;
struct ib_mad_recv_wc;
struct ib_user_mad_hdr;
struct umad_agent;
struct umad_request;
struct umad_txn_key;

/**
 * struct umad_rmpp_key - whose message a segment belongs to
 * @agent: that its packets are routed to, only compared
 * @tid: transaction ID
 * @qpn: of the sender
 * @lid: of the sender
 * @mgmt_class: of the MADs
 * @class_version: of the MADs
 * @gid: of the sender, zero without a GRH
 * @method: of the MADs, with the response bit
 * @grh: there is a GRH
 * @pad: zero, the key is hashed as bytes
 */
struct umad_rmpp_key {
	u64 agent;
	__be64 tid;
	__be32 qpn;
	__be16 lid;
	u8 mgmt_class;
	u8 class_version;
	u8 gid[16];
	u8 method;
	u8 grh;
	u8 pad[6];
};

static_assert(sizeof(struct umad_rmpp_key) == 48);

void umad_rmpp_key_of(struct umad_rmpp_key *key, struct umad_agent *agent,
		      const struct ib_mad_recv_wc *rwc);
struct umad_request *umad_rmpp_find_outstanding(struct umad_agent *agent,
						const struct umad_txn_key *key,
						const struct umad_rmpp_key *from);
struct umad_request *umad_rmpp_find_request(struct umad_agent *agent,
					    const struct umad_rmpp_key *from);
u32 umad_xfer_rx_reply_window(struct umad_agent *agent,
			      const struct ib_user_mad_hdr *hdr,
			      const struct ib_mad_hdr *response);

#endif /* UMAD_RMPP_MATCH_H */
