/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How much of a port's receive queue is promised to whom: the windows of all
 * messages that the port is receiving. Cgroups share it, a cgroup's share those
 * below it and its processes, a process's its files, a file's the peers that send to
 * it, and a peer's its messages.
 */
#ifndef UMAD_RMPP_WINDOW_H
#define UMAD_RMPP_WINDOW_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct rmpp_packet;
struct umad_file;
struct umad_xfer_rx;

/**
 * struct umad_share - what a port has granted to messages of a cgroup, of a process,
 *	of a file or of a peer, or to all; protected by &umad_rmpp_window.lock
 * @parent: shares what it has been granted among its children, constant; NULL for the
 *	port
 * @active: children that have active messages; of a peer, such messages
 * @granted: the sum of &umad_xfer_rx.granted of those messages
 */
struct umad_share {
	struct umad_share *parent;
	unsigned int active;
	u32 granted;
};

/**
 * umad_share_init() - nothing is granted
 * @share: of who may have messages
 * @parent: whom it is below, kept as long; NULL for the port
 *
 * Context: any.
 */
static inline void umad_share_init(struct umad_share *share, struct umad_share *parent)
{
	share->parent = parent;
	share->active = 0;
	share->granted = 0;
}

/**
 * struct umad_rmpp_turn - of a message that may have to take turns with others;
 *	protected by &umad_rmpp_window.lock
 * @until: when its wait for this turn ends, in nanoseconds; 0 if it has not to wait
 * @began_at: when a sample of what comes began, in nanoseconds
 * @port_segs: &umad_rmpp_window.segs then
 * @seg: of the message, the last one before it
 * @opened_at: when it had no longer to wait in that sample, in nanoseconds
 * @opened_segs: &umad_rmpp_window.segs then
 * @each: of the last sample, how long the port took for a segment, in nanoseconds
 * @crowded: of the last sample, there were many, and others' more than its own
 * @waits: how often it has waited since its last turn
 */
struct umad_rmpp_turn {
	u64 until;
	u64 began_at;
	u64 port_segs;
	u64 opened_at;
	u64 opened_segs;
	u64 each;
	u32 seg;
	bool crowded;
	u8 waits;
};

/**
 * struct umad_rmpp_window - what a port has granted
 * @lock: protects all below; taken in process context only, inside
 *	&umad_file.lock or alone, and nothing is taken inside it
 * @active: messages of which a segment has come lately, the one whose last came
 *	first foremost, &umad_xfer_rx.window_node
 * @messages: how many these are
 * @all: of those who have such messages
 * @segs: segments that have been stored, of all messages
 * @turns_until: when the port will have done with all turns so far, in nanoseconds
 */
struct umad_rmpp_window {
	spinlock_t lock; /* protects all below */
	struct list_head active;
	unsigned int messages;
	struct umad_share all;
	u64 segs;
	u64 turns_until;
};

void umad_rmpp_window_init(struct umad_rmpp_window *window);
void umad_rmpp_window_seen(struct umad_xfer_rx *rx, u64 now);
void umad_rmpp_window_leave(struct umad_xfer_rx *rx);
void umad_rmpp_window_ack(struct umad_xfer_rx *rx, struct rmpp_packet *ack,
			  u64 now);
u32 umad_rmpp_window_offer(struct umad_file *file, u64 now);

#endif /* UMAD_RMPP_WINDOW_H */
