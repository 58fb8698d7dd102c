/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A client of ibsim: its sockets and messages. Self-contained: it does not depend on
 * ib_hwsim.
 */
#ifndef HWSIM_IBSIM_H
#define HWSIM_IBSIM_H

#include <assert.h>
#include <stddef.h>
#include <linux/types.h>

#define IBSIM_NODE_LEN	32
#define IBSIM_DATA_LEN	64
#define IBSIM_MAD_LEN	256

/* status of a request that could not be delivered: it is sent back */
#define IBSIM_UNREACHABLE	110

enum ibsim_type {
	IBSIM_ERROR,
	IBSIM_CONNECT,
	IBSIM_DISCONNECT,
	IBSIM_GET_NODEINFO = 7,
	IBSIM_GET_PORTINFO,
	IBSIM_SET_ISSM,
	IBSIM_GET_PKEYS,
};

/**
 * struct ibsim_ctl - a question about the node, and its answer
 * @magic: IBSIM_MAGIC
 * @client: number of the client
 * @type: enum ibsim_type; IBSIM_ERROR in an answer: ibsim refused
 * @len: bytes of @data that count
 * @data: attributes as on the wire, all else in host order
 */
struct ibsim_ctl {
	__u32 magic;
	__u32 client;
	__u32 type;
	__u32 len;
	__u8 data[IBSIM_DATA_LEN];
};

#define IBSIM_MAGIC	0xdeadbeef

static_assert(sizeof(struct ibsim_ctl) == 80, "ibsim reads 80 bytes");

/**
 * struct ibsim_request - one MAD
 * @dlid: destination LID: 16 bits in network order, as a number
 * @slid: source LID, the same way
 * @dqp: destination QP
 * @sqp: source QP
 * @status: 0 or IBSIM_UNREACHABLE
 * @tag: padding in ibsim's own structure, which ibsim passes along
 * @length: bytes of @mad
 * @mad: the MAD
 */
struct ibsim_request {
	__u32 dlid;
	__u32 slid;
	__be32 dqp;
	__be32 sqp;
	__be32 status;
	__u8 tag[4];
	__be64 length;
	__u8 mad[IBSIM_MAD_LEN];
};

static_assert(sizeof(struct ibsim_request) == 288, "ibsim reads 288 bytes");
static_assert(offsetof(struct ibsim_request, length) == 24, "as in ibsim");

/**
 * struct ibsim - one client
 * @ctl: socket of questions and answers
 * @mads: socket of MADs
 * @conn: number in the names of these sockets
 * @slot: ibsim's number of the client
 * @base: first part of all names of sockets
 * @node: id of the node it is at
 */
struct ibsim {
	int ctl;
	int mads;
	__u32 conn;
	__u32 slot;
	const char *base;
	char node[IBSIM_NODE_LEN];
};

int ibsim_open(struct ibsim *sim, const char *base, const char *node,
	       __u32 conn);
int ibsim_connect(struct ibsim *sim, int seconds);
int ibsim_attach(struct ibsim *sim, const struct ibsim_ctl *answer);
int ibsim_ask(struct ibsim *sim, enum ibsim_type type, const void *data,
	      size_t len);
int ibsim_answer(struct ibsim *sim, struct ibsim_ctl *answer);
int ibsim_wait(struct ibsim *sim, struct ibsim_ctl *answer);
int ibsim_call(struct ibsim *sim, enum ibsim_type type, const void *data,
	       size_t len, struct ibsim_ctl *answer);

#endif
