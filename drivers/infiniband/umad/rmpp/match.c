// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which request, and which message, a packet is about. */
#include <linux/types.h>
#include "rmpp/match.h"

#include <linux/lockdep.h>
#include <linux/string.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "recv_hdr.h"
#include "request.h"
#include "rmpp/memo.h"
#include "rmpp/reassembly.h"
#include "rmpp/table.h"

/**
 * umad_rmpp_key_of() - whose message a packet belongs to
 * @key: filled in
 * @agent: that it was routed to
 * @rwc: the packet
 *
 * Agents of one file may differ in the OUI of a vendor's class alone: segments
 * for two of them are never of one message, nor may one agent's handler hold a
 * message of another's, which does not wait for it.
 *
 * By GID when there is a GRH: on RoCE all LIDs are 0, and behind a router
 * many nodes share one.
 * Context: any.
 */
void umad_rmpp_key_of(struct umad_rmpp_key *key, struct umad_agent *agent,
		      const struct ib_mad_recv_wc *rwc)
{
	const struct ib_mad_hdr *mad = &rwc->recv_buf.mad->mad_hdr;
	union ib_gid sgid;

	memset(key, 0, sizeof(*key));
	key->agent = (uintptr_t)agent;
	key->tid = mad->tid;
	key->from.qpn = cpu_to_be32(rwc->wc->src_qp);
	key->from.lid = cpu_to_be16(rwc->wc->slid & 0xffff);
	key->from.lid_high = cpu_to_be16(rwc->wc->slid >> 16);
	key->from.grh = !!(rwc->wc->wc_flags & IB_WC_GRH);
	key->mgmt_class = mad->mgmt_class;
	key->class_version = mad->class_version;
	key->method = mad->method;
	if (key->from.grh && !umad_recv_sgid(agent, rwc, &sgid))
		memcpy(key->from.gid, sgid.raw, sizeof(key->from.gid));
}

/**
 * umad_rmpp_find_outstanding() - the request that packets of a peer are about
 * @agent: that they were routed to
 * @key: of the MAD that was sent
 * @from: of the packets
 *
 * OpenSM answers by the first GID of its port, whichever it was asked by, and
 * its port may be asked for by a well-known GUID: so on InfiniBand the LID or the
 * GID is enough. RoCE has no LIDs.
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: the request, or NULL; no reference is taken.
 */
struct umad_request *umad_rmpp_find_outstanding(struct umad_agent *agent,
						const struct umad_txn_key *key,
						const struct umad_rmpp_key *from)
{
	struct umad_port *port = agent->file->port;
	struct umad_request *req;
	struct umad_txn *txn;

	lockdep_assert_held(&agent->file->lock);
	if (port->roce)
		txn = umad_txn_find_to(&agent->file->txns, key, &from->from);
	else
		txn = umad_txn_find_near(&agent->file->txns, key, &from->from);
	if (!txn)
		return NULL;
	req = container_of(txn, struct umad_request, txn);
	return req->agent == agent ? req : NULL;
}

/**
 * umad_rmpp_find_request() - whose request does a message answer?
 * @agent: that it was routed to
 * @from: the message's
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: the request, no reference is taken; NULL: nobody's, and an
 * unsolicited message is not begun.
 */
struct umad_request *umad_rmpp_find_request(struct umad_agent *agent,
					    const struct umad_rmpp_key *from)
{
	const struct umad_txn_key key = {
		.tid = from->tid,
		.mgmt_class = from->mgmt_class,
	};
	struct umad_request *req = umad_rmpp_find_outstanding(agent, &key, from);

	/* Nobody can have answered what waits for a place. */
	if (req && umad_flow_waits(&req->flow))
		return NULL;
	return req && req->txn.state == UMAD_TXN_WAIT ? req : NULL;
}

/**
 * umad_xfer_rx_reply_window() - the window for the answer to a message
 * @agent: that received the message
 * @to: where the answer goes
 * @response: MAD header of the answer
 *
 * Context: process; takes &umad_file.lock; does not sleep.
 * Return: segments: what the message's turn-around ACK said, else 1.
 */
u32 umad_xfer_rx_reply_window(struct umad_agent *agent,
			      const struct umad_addr *to,
			      const struct ib_mad_hdr *response)
{
	struct umad_file *file = agent->file;
	struct umad_rmpp_key key = {
		.agent = (uintptr_t)agent,
		.tid = response->tid,
		.mgmt_class = response->mgmt_class,
		.class_version = response->class_version,
		.method = response->method & ~IB_MGMT_METHOD_RESP,
	};
	struct umad_rmpp_memo *memo;
	struct umad_xfer_rx *rx;
	u32 window = 1;

	umad_addr_identity(&key.from, to);
	spin_lock(&file->lock);
	rx = umad_rmpp_table_find(file->rmpp, &key);
	memo = rx ? NULL : umad_rmpp_memo_find(file, &key, ktime_get_ns());
	if (rx)
		window = rx->engine.repwin;
	else if (memo)
		window = memo->repwin;
	spin_unlock(&file->lock);
	return window;
}
