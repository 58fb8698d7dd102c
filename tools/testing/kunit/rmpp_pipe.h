/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A pipe between an RMPP sender and a receiver, in virtual time: it drops,
 * repeats, delays and reorders by a seed, the same on each run.
 */
#ifndef UMAD_KUNIT_RMPP_PIPE_H
#define UMAD_KUNIT_RMPP_PIPE_H

#include "rmpp_packets.h"

/**
 * enum pipe_kind - what comes out of a pipe
 * @PIPE_TO_RX: a packet for the receiver
 * @PIPE_TO_TX: a packet for the sender
 * @PIPE_SENT: the sender's send queue is done with a segment
 */
enum pipe_kind {
	PIPE_TO_RX,
	PIPE_TO_TX,
	PIPE_SENT,
};

/**
 * struct pipe_event - something that comes out of a pipe
 * @at: when
 * @order: of events of the same time
 * @kind: what it is
 * @packet: if it is one
 * @payload: of the segment, if it is DATA
 */
struct pipe_event {
	u64 at;
	u64 order;
	enum pipe_kind kind;
	struct rmpp_packet packet;
	u32 payload;
};

/**
 * struct pipe_fault - what a pipe does to packets, in 1 of 10,000
 * @lost: they never come
 * @twice: they come twice
 * @late: they come up to @late_ms later, behind others
 * @late_ms: how late
 * @burst: the sender's link loses all for as long as it sends so many, once
 * @delay_ms: on the way, all of them; up to so long, by the seed
 * @cut: the whole pipe breaks in the middle of the transfer, for good
 */
struct pipe_fault {
	u32 lost;
	u32 twice;
	u32 late;
	u32 late_ms;
	u32 burst;
	u32 delay_ms;
	bool cut;
};

/**
 * struct pipe - a pipe
 * @fault: what it does
 * @random: state of the generator
 * @delay: of all packets
 * @cut_at: when it breaks
 * @burst_at: when the burst begins
 * @busy: the sender's link is, the receiver's link is, until then
 * @events: a heap, first in time first
 * @count: of them
 * @order: of the next
 * @overflow: there were too many
 * @lost: packets that never come
 * @twice: packets that came twice
 * @late: packets that came late
 */
struct pipe {
	const struct pipe_fault *fault;
	u64 random;
	u64 delay;
	u64 cut_at;
	u64 burst_at;
	u64 busy[2];
	struct pipe_event *events;
	u32 count;
	u64 order;
	bool overflow;
	u32 lost;
	u32 twice;
	u32 late;
};

int pipe_alloc(struct pipe *pipe);
void pipe_free(struct pipe *pipe);
void pipe_init(struct pipe *pipe, const struct pipe_fault *fault, u64 seed);
u32 pipe_random(struct pipe *pipe, u32 below);
void pipe_send(struct pipe *pipe, enum pipe_kind kind,
	       const struct rmpp_packet *packet, u32 payload, u64 now);
u64 pipe_next_at(const struct pipe *pipe);
struct pipe_event pipe_next(struct pipe *pipe);

#endif /* UMAD_KUNIT_RMPP_PIPE_H */
