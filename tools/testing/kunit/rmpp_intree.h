/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How the RMPP engine of Linux behaves as a peer, seen from the wire. */
#ifndef UMAD_KUNIT_RMPP_INTREE_H
#define UMAD_KUNIT_RMPP_INTREE_H

#include "rmpp/rx.h"
#include "rmpp/tx.h"
#include "rmpp_packets.h"

/**
 * enum rewind - when a sender goes back to the segment behind the acknowledged one
 * @REWIND_TIMEOUT: by its timeout only, as in-tree
 * @REWIND_NEW: by each ACK of something new: Figure 178 to the letter, illumos
 * @REWIND_ANY: by each ACK: the IBAL of Windows
 */
enum rewind {
	REWIND_TIMEOUT,
	REWIND_NEW,
	REWIND_ANY,
};

/**
 * struct intree_tx - its sender
 * @state: where it stands
 * @segs: segments of the message
 * @sent: last one sent
 * @acked: last one acknowledged
 * @window_last: last one that may be sent
 * @retries: that it makes
 * @left: of them, renewed when something is acknowledged
 * @posted: a segment is in the send queue; there is only ever one
 * @wait_until: for an ACK; U64_MAX if it does not wait
 * @rewind: of others than the in-tree one
 * @most: it has no more segments than that outstanding; 0: what it may
 */
struct intree_tx {
	enum rmpp_tx_state state;
	u32 segs;
	u32 sent;
	u32 acked;
	u32 window_last;
	u32 retries;
	u32 left;
	bool posted;
	u64 wait_until;
	enum rewind rewind;
	u32 most;
};

/**
 * struct intree_rx - its receiver
 * @state: where it stands
 * @started: segment 1 has come
 * @last: number of the last segment
 * @have: last one up to which none is missing
 * @acked: last one acknowledged
 * @window_last: last one that may come
 * @until: give up, or forget what is complete
 */
struct intree_rx {
	enum rmpp_rx_state state;
	bool started;
	u32 last;
	u32 have;
	u32 acked;
	u32 window_last;
	u64 until;
};

void intree_tx_init(struct intree_tx *tx, u32 segs, u32 retries);
u32 intree_tx_next(struct intree_tx *tx);
void intree_tx_sent(struct intree_tx *tx, u64 now);
void intree_tx_receive(struct intree_tx *tx, const struct rmpp_packet *packet);
void intree_tx_timer(struct intree_tx *tx, u64 now);

void intree_rx_init(struct intree_rx *rx);
enum rmpp_rx_verdict intree_rx_receive(struct intree_rx *rx,
				       const struct rmpp_packet *packet,
				       const u32 *stored);
enum rmpp_rx_verdict intree_rx_stored(struct intree_rx *rx,
				      const struct rmpp_packet *packet,
				      const u32 *stored, u64 now);
enum rmpp_rx_verdict intree_rx_timer(struct intree_rx *rx, u64 now);
struct rmpp_packet intree_rx_ack(struct intree_rx *rx);

#endif /* UMAD_KUNIT_RMPP_INTREE_H */
