// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rxe_peer.h"

#include <linux/delay.h>
#include <linux/err.h>
#include "rxe_env.h"

static void peer_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	rdma_destroy_ah(wc->send_buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(wc->send_buf);
}

static void peer_answer(struct ib_mad_agent *agent,
			const struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *buf;
	struct ib_vendor_mad *mad;
	struct ib_ah *ah;

	ah = ib_create_ah_from_wc(agent->qp->pd, wc->wc, wc->recv_buf.grh,
				  RXE_PORT);
	if (IS_ERR(ah))
		return;
	buf = ib_create_send_mad(agent, wc->wc->src_qp, wc->wc->pkey_index, 0,
				 IB_MGMT_VENDOR_HDR, IB_MGMT_VENDOR_DATA,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		goto err_ah;

	mad = buf->mad;
	memcpy(mad, wc->recv_buf.mad, sizeof(*mad));
	mad->mad_hdr.method |= IB_MGMT_METHOD_RESP;
	buf->ah = ah;
	if (ib_post_send_mad(buf, NULL))
		goto err_buf;
	return;

err_buf:
	ib_free_send_mad(buf);
err_ah:
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

static void peer_received(struct ib_mad_agent *agent,
			  struct ib_mad_send_buf *buf,
			  struct ib_mad_recv_wc *wc)
{
	struct rxe_peer *peer = agent->context;
	unsigned int first = peer->answer_from, number, i;

	number = atomic_inc_return(&peer->got);
	for (i = 0; first && number >= first && i < peer->copies; i++)
		peer_answer(agent, wc);
	ib_free_recv_mad(wc);
}

/**
 * rxe_peer_start() - let a peer receive
 * @test: stops it in its exit, and has one at the most
 * @answer_from: the first request that it answers, 0 for none
 *
 * Context: process; sleeps.
 * Return: the peer.
 */
struct rxe_peer *rxe_peer_start(struct kunit *test, unsigned int answer_from)
{
	struct rxe_env *env = test->priv;
	struct ib_mad_agent *agent;
	struct rxe_peer *peer;
	struct umad_reg reg;

	peer = kunit_kzalloc(test, sizeof(*peer), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, peer);
	peer->answer_from = answer_from;
	peer->copies = 1;
	rxe_reg(&reg, RXE_CLASS);
	__set_bit(RXE_GET, reg.req.method_mask);
	agent = ib_register_mad_agent(env->ib_dev, RXE_PORT, IB_QPT_GSI,
				      &reg.req, 0, peer_sent, peer_received,
				      peer, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, agent);
	peer->agent = agent;
	env->peer = peer;
	return peer;
}

/**
 * rxe_peer_stop() - let a peer receive no more
 * @peer: NULL, or may have been stopped before
 *
 * Context: process; sleeps.
 */
void rxe_peer_stop(struct rxe_peer *peer)
{
	if (!peer || !peer->agent)
		return;
	ib_unregister_mad_agent(peer->agent);
	peer->agent = NULL;
}

/**
 * rxe_peer_gets() - wait until a peer has received so many requests
 * @peer: the peer
 * @n: how many
 *
 * Context: process; sleeps.
 * Return: false if it has not within RXE_SOON, or has received more.
 */
bool rxe_peer_gets(struct rxe_peer *peer, unsigned int n)
{
	unsigned long end = jiffies + RXE_SOON;

	while (atomic_read(&peer->got) < n && time_before(jiffies, end))
		usleep_range(1000, 2000);
	return atomic_read(&peer->got) == n;
}
