/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How much of a port's receive queue is promised to whom: the windows of all
 * messages that the port is receiving.
 */
#ifndef UMAD_RMPP_WINDOW_H
#define UMAD_RMPP_WINDOW_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct rmpp_packet;
struct umad_port;
struct umad_xfer_rx;

/**
 * struct umad_rmpp_window - what a port has granted
 * @lock: protects all below; taken in process context only, inside
 *	&umad_file.lock or alone, and nothing is taken inside it
 * @active: messages of which a segment has come lately, the one whose last came
 *	first foremost, &umad_xfer_rx.window_node
 * @peers: senders of those; one that sends to two files is two
 * @granted: the sum of &umad_xfer_rx.granted of @active
 */
struct umad_rmpp_window {
	spinlock_t lock; /* protects all below */
	struct list_head active;
	unsigned int peers;
	u32 granted;
};

void umad_rmpp_window_init(struct umad_rmpp_window *window);
void umad_rmpp_window_seen(struct umad_xfer_rx *rx, u64 now);
void umad_rmpp_window_leave(struct umad_xfer_rx *rx);
void umad_rmpp_window_ack(struct umad_xfer_rx *rx, struct rmpp_packet *ack,
			  u64 now);
u32 umad_rmpp_window_offer(struct umad_port *port, u64 now);

#endif /* UMAD_RMPP_WINDOW_H */
