/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which request, and which message, a packet is about. */
#ifndef UMAD_RMPP_MATCH_H
#define UMAD_RMPP_MATCH_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include "addr.h"

struct ib_mad_hdr;
struct ib_mad_recv_wc;
struct umad_agent;
struct umad_request;
struct umad_txn_key;

/**
 * struct umad_rmpp_key - whose message a segment belongs to
 * @agent: that its packets are routed to, only compared
 * @tid: transaction ID
 * @from: of the sender, umad_addr_identity()
 * @mgmt_class: of the MADs
 * @class_version: of the MADs
 * @method: of the MADs, with the response bit
 * @pad: zero, the key is compared as bytes
 */
struct umad_rmpp_key {
	u64 agent;
	__be64 tid;
	struct umad_addr from;
	u8 mgmt_class;
	u8 class_version;
	u8 method;
	u8 pad;
};

static_assert(sizeof(struct umad_rmpp_key) == 56);

void umad_rmpp_key_of(struct umad_rmpp_key *key, struct umad_agent *agent,
		      const struct ib_mad_recv_wc *rwc);
struct umad_request *umad_rmpp_find_outstanding(struct umad_agent *agent,
						const struct umad_txn_key *key,
						const struct umad_rmpp_key *from);
struct umad_request *umad_rmpp_find_request(struct umad_agent *agent,
					    const struct umad_rmpp_key *from);
u32 umad_xfer_rx_reply_window(struct umad_agent *agent,
			      const struct umad_addr *to,
			      const struct ib_mad_hdr *response);

#endif /* UMAD_RMPP_MATCH_H */
