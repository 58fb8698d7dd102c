/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The fabric and its hostile nodes; see attack.c. */
#ifndef ATTACK_H
#define ATTACK_H

#include "rmpp_util.h"
#include "wire.h"

#define CONVS	96
#define RECENT	256
#define LATER	64

/* What a program of the port may serve. */
struct service {
	uint8_t mgmt_class;
	uint8_t version;
	uint8_t method;
	bool rmpp;
};

extern const struct service services[];
extern const unsigned int services_n;

/* A transfer, in the eyes of the peer at its other end. */
struct conv {
	bool used;
	bool sending;		/* the peer sends DATA */
	unsigned int evil;	/* percent of its packets that are wrong */
	int peer;
	bool grh;
	uint32_t qpn;
	struct service service;
	uint64_t tid;
	uint32_t seed;
	uint32_t segs, last_len;	/* of what it sends */
	uint32_t next, acked, window;
	uint8_t head[64];	/* of what it receives: headers of segment 1 */
};

struct counts {
	uint32_t captured, forwarded, syncs, max_sync_ms, convs, finished;
	uint32_t restarts;
};

struct attack {
	struct wire *wire;
	struct shared *shared;
	struct rng rng;
	uint64_t limit, sent;
	uint32_t kinds;		/* bits: which kinds of attack */
	struct conv conv[CONVS];
	struct ib_hwsim_frame recent[RECENT];
	unsigned int recent_n;
	struct ib_hwsim_frame later[LATER];
	bool is_later[LATER];
	int sync_fd;
	uint64_t sync_tid;
	uint64_t per_kind[16];
	struct counts counts;
	const char *failed;
};

struct attack_kind {
	const char *name;
	unsigned int weight;
	void (*run)(struct attack *attack);
};

/* conv.c */
void conv_step(struct attack *attack);
void conv_begin(struct attack *attack);
void conv_flood(struct attack *attack);
void conv_packet(struct attack *attack, const struct ib_hwsim_frame *frame,
		 int peer);

/* mutate.c */
void mutate(struct attack *attack, struct ib_hwsim_frame *frame);
void send_gmp(struct attack *attack);
void send_smp(struct attack *attack);
void send_guess(struct attack *attack);
void send_control(struct attack *attack);
void send_replay(struct attack *attack);
void send_mutant(struct attack *attack);
void frame_init(struct attack *attack, struct ib_hwsim_frame *frame,
		const struct service *service, uint64_t tid);
const struct ib_hwsim_frame *any_recent(struct attack *attack);

/* attack.c */
void attack_send(struct attack *attack, struct ib_hwsim_frame *frame);
void attack_later(struct attack *attack, const struct ib_hwsim_frame *frame);
int attack_choose(struct attack *attack, const char *names);
void attack_burst(struct attack *attack);
void attack_listen(struct attack *attack);
bool attack_sync(struct attack *attack);
int attack_open(struct attack *attack);

#endif /* ATTACK_H */
