/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Peers that send messages to the module, each as far as its window allows.
 */
#ifndef HWSIM_SENDERS_H
#define HWSIM_SENDERS_H

#include "hwsim_peers.h"

struct sender {
	uint16_t peer;
	uint8_t method;
	uint64_t tid;
	uint32_t segs;		/* of its message */
	uint32_t next;		/* segment to be sent */
	uint32_t allowed;	/* the last that may be */
	uint32_t acked;		/* that, and all before it, have arrived */
	uint64_t since;		/* ms, when it sent that; 0: it has not yet */
};

/* What the module has said to them. */
struct heard {
	unsigned int acks, stops;
	unsigned int complete;	/* ACKs of a last segment */
	uint64_t longest;	/* ms that one waited for a window */
};

static inline struct sender new_sender(uint16_t peer, uint8_t method, uint64_t tid, uint32_t segs)
{
	return (struct sender){
		.peer = peer, .method = method, .tid = tid, .segs = segs, .next = 1, .allowed = 1,
	};
}

static inline void hear_ack(struct sender *sender, uint32_t seg, uint32_t last,
			    struct heard *heard)
{
	uint64_t now = now_ms();

	sender->acked = seg;
	if (seg == sender->segs)
		heard->complete++;
	if (last <= sender->allowed)
		return;
	sender->allowed = last;
	if (sender->since && now - sender->since > heard->longest)
		heard->longest = now - sender->since;
	sender->since = 0;
}

/* What the module says, if it says something within so many ms. */
static inline void hear(FIXTURE_DATA(peers) *self, struct sender *senders, unsigned int n,
			struct heard *heard, int wait_ms)
{
	unsigned int i;
	uint64_t tid;
	int type;

	for (; (type = see(self, wait_ms)) >= 0; wait_ms = 0) {
		heard->stops += type == RMPP_STOP;
		heard->acks += type == RMPP_ACK;
		tid = be64toh(frame_mad(&self->seen)->tid);
		for (i = 0; type == RMPP_ACK && i < n; i++)
			if (senders[i].tid == tid)
				hear_ack(&senders[i], self->pkt.seg, self->pkt.len, heard);
	}
}

/* All that it may send now, up to that segment; how many these are. */
static inline int send_allowed(FIXTURE_DATA(peers) *self, struct sender *sender, uint32_t last)
{
	int sent = 0, ret;

	while (sender->next <= sender->allowed && sender->next <= last) {
		ret = inject_data(self, sender->peer, sender->method, sender->tid,
				  sender->next++, sender->segs);
		if (ret)
			return ret;
		sender->since = now_ms();
		sent++;
	}
	return sent;
}

/* All of them up to that segment, until one is stopped or none hears anything for a second. */
static inline int send_up_to(FIXTURE_DATA(peers) *self, struct sender *senders, unsigned int n,
			     uint32_t last, struct heard *heard)
{
	unsigned int stops = heard->stops, quiet = 0, left = 1, i;
	int ret;

	while (left && heard->stops == stops && quiet++ < 200) {
		for (i = left = 0; i < n; i++) {
			ret = send_allowed(self, &senders[i], last);
			if (ret < 0)
				return ret;
			if (ret)
				quiet = 0;
			left += senders[i].next <= last;
		}
		hear(self, senders, n, heard, left ? 1 : 0);
	}
	return 0;
}

#endif /* HWSIM_SENDERS_H */
