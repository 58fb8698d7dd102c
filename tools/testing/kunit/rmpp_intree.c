// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rmpp_intree.h"

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>

/* An eighth of the receive queue. */
#define WINDOW		64
#define WAIT		(2000 * MS)
#define GIVE_UP		(40000 * MS)
#define LINGER		(10000 * MS)

void intree_tx_init(struct intree_tx *tx, u32 segs, u32 retries)
{
	memset(tx, 0, sizeof(*tx));
	tx->state = RMPP_TX_SENDING;
	tx->segs = segs;
	tx->window_last = 1;
	tx->retries = retries;
	tx->left = retries;
	tx->wait_until = U64_MAX;
}

static u32 last_to_send(const struct intree_tx *tx)
{
	u32 last = min(tx->window_last, tx->segs);

	return tx->most ? min(last, tx->acked + tx->most) : last;
}

/* One at a time: the next one when the one before is sent. */
u32 intree_tx_next(struct intree_tx *tx)
{
	if (tx->state != RMPP_TX_SENDING || tx->posted || tx->sent >= last_to_send(tx))
		return 0;
	tx->posted = true;
	tx->wait_until = U64_MAX;
	return ++tx->sent;
}

void intree_tx_sent(struct intree_tx *tx, u64 now)
{
	tx->posted = false;
	if (tx->sent == last_to_send(tx))
		tx->wait_until = now + WAIT;
}

void intree_tx_receive(struct intree_tx *tx, const struct rmpp_packet *packet)
{
	if (tx->state != RMPP_TX_SENDING)
		return;
	if (packet->type != IB_MGMT_RMPP_TYPE_ACK || packet->status ||
	    packet->len < packet->seg || packet->seg > tx->segs ||
	    packet->seg > tx->window_last) {
		tx->state = RMPP_TX_FAILED;
		return;
	}
	if (packet->len < tx->window_last || packet->seg < tx->acked)
		return;
	if (tx->rewind == REWIND_ANY ||
	    (tx->rewind == REWIND_NEW && packet->seg > tx->acked))
		tx->sent = packet->seg;
	if (packet->seg > tx->acked)
		tx->left = tx->retries;
	tx->acked = packet->seg;
	tx->window_last = packet->len;
	if (tx->acked == tx->segs)
		tx->state = RMPP_TX_ACKED;
}

/* Back to the last one acknowledged. */
void intree_tx_timer(struct intree_tx *tx, u64 now)
{
	if (tx->state != RMPP_TX_SENDING || now < tx->wait_until)
		return;
	tx->wait_until = U64_MAX;
	if (tx->left--)
		tx->sent = tx->acked;
	else
		tx->state = RMPP_TX_FAILED;
}

void intree_rx_init(struct intree_rx *rx)
{
	memset(rx, 0, sizeof(*rx));
	rx->state = RMPP_RX_REASSEMBLING;
	rx->window_last = 1;
	rx->until = U64_MAX;
}

/* Keeps what is out of order, and says nothing about the gap. */
enum rmpp_rx_verdict intree_rx_receive(struct intree_rx *rx,
				       const struct rmpp_packet *packet,
				       const u32 *stored)
{
	if (rx->state == RMPP_RX_CLOSED ||
	    packet->type != IB_MGMT_RMPP_TYPE_DATA ||
	    (!rx->started && packet->seg != 1) ||
	    packet->seg > rx->window_last)
		return RMPP_RX_DROP;
	if (packet->seg <= rx->acked || rx->state == RMPP_RX_DONE)
		return RMPP_RX_ACK;
	return stored[packet->seg] ? RMPP_RX_DROP : RMPP_RX_STORE;
}

enum rmpp_rx_verdict intree_rx_stored(struct intree_rx *rx,
				      const struct rmpp_packet *packet,
				      const u32 *stored, u64 now)
{
	if (!rx->started) {
		rx->started = true;
		rx->until = now + GIVE_UP;
	}
	if (packet->flags & IB_MGMT_RMPP_FLAG_LAST)
		rx->last = packet->seg;
	if (packet->seg != rx->have + 1)
		return RMPP_RX_DROP;
	while (rx->have < rx->window_last && stored[rx->have + 1])
		rx->have++;
	if (rx->have == rx->last) {
		rx->state = RMPP_RX_DONE;
		rx->until = now + LINGER;
		return RMPP_RX_ACK;
	}
	if (rx->have < rx->window_last)
		return RMPP_RX_DROP;
	rx->window_last += WINDOW;
	return RMPP_RX_ACK;
}

enum rmpp_rx_verdict intree_rx_timer(struct intree_rx *rx, u64 now)
{
	bool done = rx->state == RMPP_RX_DONE;

	if (rx->state == RMPP_RX_CLOSED || now < rx->until)
		return RMPP_RX_DROP;
	rx->state = RMPP_RX_CLOSED;
	rx->until = U64_MAX;
	return done ? RMPP_RX_CLOSE : RMPP_RX_ABORT;
}

struct rmpp_packet intree_rx_ack(struct intree_rx *rx)
{
	rx->acked = rx->have;
	return ack_packet(rx->have, rx->window_last);
}
