// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rmpp_pipe.h"

#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>

/* Both windows' worth of packets twice, and completions. */
#define EVENTS_MAX	8192
/* On the link, each packet. */
#define LINK_TIME	(30 * (u64)NSEC_PER_USEC)

int pipe_alloc(struct pipe *pipe)
{
	pipe->events = kvcalloc(EVENTS_MAX, sizeof(*pipe->events), GFP_KERNEL);
	return pipe->events ? 0 : -ENOMEM;
}

void pipe_free(struct pipe *pipe)
{
	kvfree(pipe->events);
	pipe->events = NULL;
}

/* A number from 0 on, below @below; by splitmix64. */
u32 pipe_random(struct pipe *pipe, u32 below)
{
	u64 z = (pipe->random += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return ((z >> 32) * below) >> 32;
}

void pipe_init(struct pipe *pipe, const struct pipe_fault *fault, u64 seed)
{
	struct pipe_event *events = pipe->events;

	memset(pipe, 0, sizeof(*pipe));
	pipe->events = events;
	pipe->fault = fault;
	pipe->random = seed;
	pipe->delay = pipe_random(pipe, fault->delay_ms * 1000 + 1) *
		      (u64)NSEC_PER_USEC;
	pipe->burst_at = fault->burst ? pipe_random(pipe, 100) * MS : 0;
	pipe->cut_at = fault->cut ? pipe_random(pipe, 20) * MS / 2 : U64_MAX;
}

static bool before(const struct pipe_event *a, const struct pipe_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct pipe *pipe, struct pipe_event event)
{
	u32 i = pipe->count, parent;

	if (i >= EVENTS_MAX) {
		pipe->overflow = true;
		return;
	}
	event.order = pipe->order++;
	pipe->count++;
	for (; i; i = parent) {
		parent = (i - 1) / 2;
		if (before(&pipe->events[parent], &event))
			break;
		pipe->events[i] = pipe->events[parent];
	}
	pipe->events[i] = event;
}

/* Of the next event; U64_MAX if there is none. */
u64 pipe_next_at(const struct pipe *pipe)
{
	return pipe->count ? pipe->events[0].at : U64_MAX;
}

/* Takes the next event out. */
struct pipe_event pipe_next(struct pipe *pipe)
{
	struct pipe_event next = pipe->events[0];
	struct pipe_event moved = pipe->events[--pipe->count];
	u32 i, child;

	for (i = 0; (child = 2 * i + 1) < pipe->count; i = child) {
		if (child + 1 < pipe->count &&
		    before(&pipe->events[child + 1], &pipe->events[child]))
			child++;
		if (before(&moved, &pipe->events[child]))
			break;
		pipe->events[i] = pipe->events[child];
	}
	pipe->events[i] = moved;
	return next;
}

static bool happens(struct pipe *pipe, u32 in_10000)
{
	return pipe_random(pipe, 10000) < in_10000;
}

static void carry(struct pipe *pipe, struct pipe_event event)
{
	const struct pipe_fault *fault = pipe->fault;

	if (event.at >= pipe->cut_at || happens(pipe, fault->lost)) {
		pipe->lost++;
		return;
	}
	event.at += pipe->delay;
	if (happens(pipe, fault->late)) {
		pipe->late++;
		event.at += pipe_random(pipe, fault->late_ms * 1000) *
			    (u64)NSEC_PER_USEC;
	}
	push(pipe, event);
}

static bool in_burst(const struct pipe *pipe, u64 at)
{
	return at >= pipe->burst_at &&
	       at - pipe->burst_at < pipe->fault->burst * LINK_TIME;
}

/* A packet for one of the two; DATA also comes back as PIPE_SENT. */
void pipe_send(struct pipe *pipe, enum pipe_kind kind,
	       const struct rmpp_packet *packet, u32 payload, u64 now)
{
	u64 *busy = &pipe->busy[kind];
	struct pipe_event event = {
		.kind = kind,
		.packet = *packet,
		.payload = payload,
	};
	bool data = kind == PIPE_TO_RX && packet->type == IB_MGMT_RMPP_TYPE_DATA;

	*busy = max(*busy, now) + LINK_TIME;
	event.at = *busy;
	if (data && in_burst(pipe, event.at))
		pipe->lost++;
	else
		carry(pipe, event);
	if (happens(pipe, pipe->fault->twice)) {
		pipe->twice++;
		carry(pipe, event);
	}
	if (data) {
		event.kind = PIPE_SENT;
		push(pipe, event);
	}
}
