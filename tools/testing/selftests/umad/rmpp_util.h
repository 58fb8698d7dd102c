/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the RMPP tests share: messages of any length with bytes that can be
 * checked, and a peer that speaks RMPP by hand.
 */
#ifndef RMPP_UTIL_H
#define RMPP_UTIL_H

#include "umad_util.h"

#define CLASS_RMPP	0x30	/* vendor range 2, of these tests alone */
#define METHOD_TABLE	0x12	/* GetTable of the SA; served by the tests */
#define RMPP_HDR	36	/* MAD and RMPP header */
#define RMPP_PAYLOAD	220	/* of a full segment, with its class header */

#define RMPP_DATA	1
#define RMPP_ACK	2
#define RMPP_STOP	3
#define RMPP_ABORT	4

#define RMPP_ACTIVE	1
#define RMPP_FIRST	2
#define RMPP_LAST	4

#define RMPP_RESX	1
#define RMPP_T2L	118
#define RMPP_BAD_LEN	119
#define RMPP_BAD_SEG	120
#define RMPP_BADT	121
#define RMPP_W2S	122
#define RMPP_S2B	123
#define RMPP_BAD_STATUS	124
#define RMPP_UNV	125
#define RMPP_TMR	126
#define RMPP_UNSPEC	127

/* ib_user_mad_hdr.reserved[0] of a message that was not delivered. */
#define REASON_NONE		0
#define REASON_TIMEOUT		1
#define REASON_STOPPED		2
#define REASON_ABORTED		3
#define REASON_PROTOCOL_ERROR	4

/* The RMPP header of one packet, in host order. */
struct rmpp_pkt {
	uint8_t version;
	uint8_t type;
	uint8_t flags;
	uint8_t status;
	uint32_t seg;
	uint32_t len;
};

/* DATA, a segment full of data; the first says that there are @claim bytes. */
static inline struct rmpp_pkt rmpp_data_pkt(uint32_t seg, uint32_t segs, uint32_t claim)
{
	return (struct rmpp_pkt){
		.version = 1,
		.type = RMPP_DATA,
		.flags = RMPP_ACTIVE | (seg == 1 ? RMPP_FIRST : 0) |
			 (seg == segs ? RMPP_LAST : 0),
		.seg = seg,
		.len = seg == segs ? RMPP_PAYLOAD : seg == 1 ? claim : 0,
	};
}

/* One message, as a program writes or reads it. */
struct rmpp_msg {
	uint8_t *buf;
	size_t size;		/* allocated */
	size_t hdr_len;		/* HDR_OLD or HDR_NEW */
	size_t mad_len;		/* headers and data */
};

/* An agent to be registered: rmpp_version 1 unless said otherwise. */
struct rmpp_agent {
	uint8_t mgmt_class;
	uint8_t method;		/* that it serves, 0 for a client */
	bool old;		/* by IB_USER_MAD_REGISTER_AGENT, 56 bytes */
	uint8_t rmpp_version;
	uint32_t flags;
};

/* A peer that sends and receives single packets. */
struct rmpp_raw {
	int fd;
	uint32_t id;
	const struct test_port *port;
	uint8_t mgmt_class;
	uint8_t method;		/* of the packets it sends */
	uint64_t tid;
	uint32_t seed;		/* of the data it sends */
	struct umad_msg got;	/* what it received last */
};

size_t rmpp_offset(uint8_t mgmt_class);
size_t rmpp_seg_data(uint8_t mgmt_class);
uint32_t rmpp_segs(uint8_t mgmt_class, size_t data_len);
void rmpp_put(uint8_t *mad, const struct rmpp_pkt *pkt);
void rmpp_get(const uint8_t *mad, struct rmpp_pkt *pkt);

void rmpp_fill(uint8_t *data, size_t first, size_t len, uint32_t seed);
bool rmpp_same(const uint8_t *data, size_t first, size_t len, uint32_t seed);

int rmpp_register(int fd, const struct rmpp_agent *agent);

struct ib_user_mad_hdr *rmpp_user_hdr(const struct rmpp_msg *msg);
struct mad_hdr *rmpp_mad(const struct rmpp_msg *msg);
uint8_t *rmpp_mad_bytes(const struct rmpp_msg *msg);
uint32_t rmpp_tid(const struct rmpp_msg *msg);
void rmpp_msg_init(struct rmpp_msg *msg, const struct test_port *port,
		   size_t hdr_len, uint32_t id, uint8_t mgmt_class,
		   uint8_t method, uint64_t tid, size_t data_len,
		   uint32_t seed);
void rmpp_msg_reply(struct rmpp_msg *reply, const struct rmpp_msg *req,
		    uint32_t id, size_t data_len, uint32_t seed);
void rmpp_msg_free(struct rmpp_msg *msg);
int rmpp_msg_write(int fd, const struct rmpp_msg *msg);
int rmpp_msg_read(int fd, struct rmpp_msg *msg, size_t hdr_len, int wait_ms);
bool rmpp_msg_has(const struct rmpp_msg *msg, size_t data_len, uint32_t seed);
bool rmpp_quiet(int fd, int ms);

int raw_send(struct rmpp_raw *raw, const struct rmpp_pkt *pkt);
int raw_data(struct rmpp_raw *raw, uint32_t seg, uint8_t flags, uint32_t len);
int raw_ack(struct rmpp_raw *raw, uint32_t seg, uint32_t last);
int raw_plain(struct rmpp_raw *raw);
int raw_recv(struct rmpp_raw *raw, struct rmpp_pkt *pkt, int wait_ms);
int raw_wait(struct rmpp_raw *raw, uint8_t type, struct rmpp_pkt *pkt,
	     int wait_ms);
int raw_wait_seg(struct rmpp_raw *raw, uint8_t type, uint32_t seg,
		 struct rmpp_pkt *pkt, int wait_ms);
bool raw_never(struct rmpp_raw *raw, unsigned int types, int ms);

int rmpp_peer_port(struct test_port *peer);
int rmpp_path_find(struct test_port *port, struct test_port *peer,
		   struct test_port *path);
long rmpp_param_set(const char *name, long value);

#endif /* RMPP_UTIL_H */
