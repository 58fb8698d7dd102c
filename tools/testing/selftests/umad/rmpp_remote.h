/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A peer that does what the data sent to it says, so that one program tests
 * both directions. There are two: tools/testing/rmpp_peer (an agent of ib_core
 * with the kernel's own RMPP) and rmpp_server.c (a program on another host).
 * With UMAD_PEER it is on another device, with UMAD_PEER_GID on another host.
 */
#ifndef RMPP_REMOTE_H
#define RMPP_REMOTE_H

#include "rmpp_util.h"

#define CLASS_PEER	0x31
#define REMOTE_WORDS	12	/* bytes that say what is to be done */
#define SOON		20000	/* ms; for what has to happen */

/* The first word; the second is a length, the third a seed. */
enum remote_op {
	OP_GENERATE,	/* answer with so many bytes */
	OP_ECHO,	/* answer with the data that came */
	OP_SUM,		/* as STATE, and counts itself */
	OP_CANCEL,	/* as GENERATE, and cancel it after so many ms */
	OP_PUSH,	/* send so many bytes */
	OP_ASK,		/* send them as a request with a response */
	OP_STATE,	/* answer with struct remote_state */
	OP_SINK,	/* do nothing */
	OP_EXIT,	/* rmpp_server: come to an end */
};

/* What the peer says of itself; messages of STATE itself do not count. */
struct remote_state {
	uint32_t received;
	uint32_t len;
	uint32_t hash;
	uint32_t sent;
	uint32_t status;
	uint32_t response_len;
	uint32_t response_hash;
};

struct remote {
	struct test_port port;
	int fd;			/* agent 0: client; agent 1: for pushes */
	struct rmpp_msg msg;
	struct rmpp_msg got;
	struct rmpp_msg reply;
	struct remote_state state;
	uint32_t tid;
	uint32_t retries;	/* of each request */
};

int remote_open(struct remote *f);
void remote_close(struct remote *f);
int remote_request(struct remote *f, uint32_t op, uint32_t len, uint32_t arg,
		   size_t req_len, unsigned int timeout_ms);
int remote_ask_state(struct remote *f);
int remote_read(struct remote *f, int wait_ms);
int remote_wait_received(struct remote *f, uint32_t received, int wait_ms);
bool remote_is_host(void);
uint32_t remote_hash(const uint8_t *data, size_t len);

#endif /* RMPP_REMOTE_H */
