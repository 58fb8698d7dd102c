/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RMPP with peers that are frames written to the far end of a simulated port:
 * any LID and GID, at any time, and what the module sends is seen as it left.
 */
#ifndef HWSIM_PEERS_H
#define HWSIM_PEERS_H

#include "kselftest_harness.h"
#include "hwsim_util.h"
#include "rmpp_util.h"

#include <stdio.h>

#define DEVICE	32
#define LID	0x20
#define PEER	0x100	/* LID of the first peer */
#define SOON	5000	/* ms; for what has to happen */
#define WHILE	300	/* ms; for what must not */
#define SEG	216

FIXTURE(peers) {
	int wire;
	int fd;			/* agent 0 serves METHOD_TABLE */
	struct test_port port;	/* the first peer */
	uint8_t grh[40];	/* of what the peers send, if not 0 */
	uint32_t qpn;		/* likewise */
	uint16_t dlid;		/* where they send to */
	unsigned int asked;	/* messages before the next */
	struct ib_hwsim_frame frame, seen;
	struct rmpp_pkt pkt;
	struct rmpp_msg msg, got;
};

/* A GID that the port has, as 16 bytes. */
static inline int port_gid(int index, uint8_t *gid)
{
	char text[64], file[32];
	unsigned int part;
	int i;

	snprintf(file, sizeof(file), "gids/%d", index);
	if (hwsim_sysfs(DEVICE, 1, file, text, sizeof(text)))
		return -ENOENT;
	for (i = 0; i < 8; i++) {
		if (sscanf(text + 5 * i, "%4x", &part) != 1)
			return -EINVAL;
		gid[2 * i] = part >> 8;
		gid[2 * i + 1] = part;
	}
	return 0;
}

static inline int set_fail(const char *verb, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path),
		 "/sys/kernel/debug/ib_hwsim/hwsim%u/fail/%s", DEVICE, verb);
	return umad_write_sysfs(path, text);
}

/* How many address handles the device has; if more than so many, after a while. */
static inline long address_handles(long max)
{
	char text[32];
	int i;

	for (i = 0; i < 100; i++) {
		if (umad_read_sysfs("/sys/kernel/debug/ib_hwsim/hwsim32/ahs", text,
				    sizeof(text)))
			return -EIO;
		if (atol(text) <= max)
			break;
		sleep_ms(10);
	}
	return atol(text);
}

/* A file whose agent 0 serves @method, or a negative number. */
static inline int open_server(uint8_t method)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = method,
	};
	int fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	int ret = fd < 0 ? fd : rmpp_register(fd, &agent);

	if (!ret)
		return fd;
	close(fd);
	return ret < 0 ? ret : -EIO;
}

FIXTURE_SETUP(peers)
{
	self->port.lid = PEER;
	self->dlid = LID;
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20"));
	self->wire = raw_attach(DEVICE, 1);
	ASSERT_LE(0, self->wire);
	self->fd = open_server(METHOD_TABLE);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(peers)
{
	close(self->fd);
	close(self->wire);
	EXPECT_EQ(0, hwsim_del(DEVICE));
	rmpp_msg_free(&self->msg);
	rmpp_msg_free(&self->got);
}

/* One packet from a peer, in the frame; DATA has the data that belongs there. */
static inline void make_packet(FIXTURE_DATA(peers) *self, uint16_t peer, uint8_t method,
			       uint64_t tid, const struct rmpp_pkt *pkt)
{
	struct ib_hwsim_frame *frame = &self->frame;

	frame_init(frame, CLASS_RMPP, method, tid);
	frame->slid = PEER + peer;
	frame->dlid = self->dlid;
	if (self->qpn)
		frame->src_qp = self->qpn;
	if (self->grh[0]) {
		frame->flags = IB_HWSIM_GRH;
		memcpy(frame->grh, self->grh, sizeof(frame->grh));
	}
	frame_mad(frame)->attr_id = htobe16(0x35);
	rmpp_put(frame->mad, pkt);
	frame->mad[36] = 0;
	mad_put_oui(frame->mad);
	if (pkt->type == RMPP_DATA && pkt->seg)
		rmpp_fill(frame->mad + 40, (pkt->seg - 1) * SEG, SEG, tid);
}

static inline int inject(FIXTURE_DATA(peers) *self, uint16_t peer,
			 uint8_t method, uint64_t tid,
			 const struct rmpp_pkt *pkt)
{
	make_packet(self, peer, method, tid, pkt);
	return raw_write(self->wire, &self->frame);
}

/* A segment of a message of so many, which tells its length. */
static inline int inject_data(FIXTURE_DATA(peers) *self, uint16_t peer, uint8_t method,
			      uint64_t tid, uint32_t seg, uint32_t segs)
{
	const struct rmpp_pkt pkt = rmpp_data_pkt(seg, segs, segs * RMPP_PAYLOAD);

	return inject(self, peer, method, tid, &pkt);
}

/* A segment of a response that has other bytes than those which inject_data() sends. */
static inline int inject_other(FIXTURE_DATA(peers) *self, uint64_t tid,
			       const struct rmpp_pkt *pkt)
{
	make_packet(self, 0, METHOD_TABLE | METHOD_RESP, tid, pkt);
	self->frame.mad[60] ^= 0x55;
	return raw_write(self->wire, &self->frame);
}

/* From now on the peers send with a GRH, from that GID. */
static inline int use_gid(FIXTURE_DATA(peers) *self, uint8_t last)
{
	self->grh[0] = 0x60;
	self->grh[6] = 0x1b;
	self->grh[7] = 64;
	memset(self->grh + 8, 0xbb, 16);
	self->grh[23] = last;
	return port_gid(0, self->grh + 24);
}

/* The next packet that the module sends, of any message; its type. */
static inline int see(FIXTURE_DATA(peers) *self, int wait_ms)
{
	int ret = raw_read(self->wire, &self->seen, wait_ms);

	if (ret < 0)
		return ret;
	rmpp_get(self->seen.mad, &self->pkt);
	return self->pkt.type;
}

/* First segments of so many messages of a node, from that TID on: how many are acknowledged? */
static inline int acked_of_so_many(FIXTURE_DATA(peers) *self, uint16_t peer, uint64_t first,
				   unsigned int n)
{
	unsigned int i, acks = 0;

	for (i = 0; i < n; i++) {
		if (inject_data(self, peer, METHOD_TABLE, first + i, 1, 1000))
			return -EIO;
		while (i % 32 == 31 && see(self, 1) >= 0)
			acks += self->pkt.type == RMPP_ACK;
	}
	while (see(self, 50) >= 0)
		acks += self->pkt.type == RMPP_ACK;
	return acks;
}

/* A request, plain or of @len bytes, to the first peer; its TID on the wire. */
static inline int request_retried(FIXTURE_DATA(peers) *self, size_t len, uint32_t timeout_ms,
				  uint32_t retries, uint64_t *tid)
{
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE, 7 + self->asked, len, 7);
	rmpp_user_hdr(&self->msg)->grh_present = !!self->grh[0];
	rmpp_user_hdr(&self->msg)->timeout_ms = timeout_ms;
	rmpp_user_hdr(&self->msg)->retries = retries;
	if (len <= SEG)
		rmpp_mad_bytes(&self->msg)[26] = 0;
	if (rmpp_msg_write(self->fd, &self->msg) < 0)
		return -EIO;
	/* Of an earlier one something may be sent again. */
	do {
		if (see(self, SOON) < 0)
			return -ETIME;
		*tid = be64toh(frame_mad(&self->seen)->tid);
	} while ((uint32_t)*tid != 7 + self->asked);
	return 0;
}

static inline int request(FIXTURE_DATA(peers) *self, size_t len, uint32_t timeout_ms,
			  uint64_t *tid)
{
	return request_retried(self, len, timeout_ms, 0, tid);
}

static inline int peer_acks(FIXTURE_DATA(peers) *self, uint64_t tid,
			    uint32_t seg, uint32_t last)
{
	const struct rmpp_pkt pkt = { 1, RMPP_ACK, RMPP_ACTIVE, 0, seg, last };

	return inject(self, 0, METHOD_TABLE | METHOD_RESP, tid, &pkt);
}

/* It responds in one MAD, without RMPP. */
static inline int answer_plainly(FIXTURE_DATA(peers) *self, uint64_t tid)
{
	static const struct rmpp_pkt pkt;

	return inject(self, 0, METHOD_TABLE | METHOD_RESP, tid, &pkt);
}

/* The peer's response ends. */
static inline int abort_answer(FIXTURE_DATA(peers) *self, uint64_t tid)
{
	const struct rmpp_pkt pkt = { 1, RMPP_ABORT, RMPP_ACTIVE, 119, 0, 0 };

	return inject(self, 0, METHOD_TABLE | METHOD_RESP, tid, &pkt);
}

/* Such a packet of that message; before it, on a slow machine, what is sent again. */
static inline int see_packet(FIXTURE_DATA(peers) *self, uint64_t tid, int type, uint32_t seg)
{
	int ret;

	do {
		ret = see(self, SOON);
	} while (ret >= 0 && (ret != type || self->pkt.seg != seg ||
			      be64toh(frame_mad(&self->seen)->tid) != tid));
	return ret;
}

/* A response of three segments goes on with this one, and is read. */
static inline void expect_rest(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			       uint64_t tid, uint32_t seg)
{
	for (; seg <= 3; seg++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, seg, 3));
		EXPECT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, seg));
	}
	ASSERT_LE(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
}

/* A request whose turn-around ACK is due when its last segment is acknowledged. */
static inline int message_sent(FIXTURE_DATA(peers) *self, uint32_t timeout_ms, uint64_t *tid)
{
	self->asked++;
	if (request_retried(self, 2 * SEG, timeout_ms, 30, tid) || peer_acks(self, *tid, 1, 10) ||
	    see_packet(self, *tid, RMPP_DATA, 2) != RMPP_DATA)
		return -EIO;
	return 0;
}

/* Behind what was sent again before. */
static inline int see_turn(FIXTURE_DATA(peers) *self, int ms)
{
	int ret;

	do {
		ret = see(self, ms);
	} while (ret == RMPP_DATA);
	return ret == RMPP_ACK && !self->pkt.seg ? 0 : -EIO;
}

/* And was: the turn-around ACK waits for its response. */
static inline int message_arrived(FIXTURE_DATA(peers) *self, uint32_t timeout_ms, uint64_t *tid)
{
	return message_sent(self, timeout_ms, tid) ?: peer_acks(self, *tid, 2, 10) ?:
	       see_turn(self, SOON);
}

/* Requests of an agent that are sent again as fast as may be: what is queued behind them stays. */
static inline int write_crowd(FIXTURE_DATA(peers) *self, uint32_t id, int n)
{
	struct umad_msg msg;
	int i;

	msg_init(&msg, &self->port, id, CLASS_RMPP, METHOD_TABLE, 0);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = 1;
	msg.hdr.retries = 1000000;
	for (i = 0; i < n; i++) {
		msg.mad.tid = htobe64(1000 + i);
		if (msg_write(self->fd, &msg) != MSG_LEN)
			return -EIO;
	}
	return 0;
}

/* For side_start(): agent 0 ends. */
static inline void *unregister(void *arg)
{
	FIXTURE_DATA(peers) *self = arg;

	return (void *)(long)umad_unreg(self->fd, 0);
}

/* An ACK of nothing: from another node than was asked, it uses a wait entry up. */
static const struct rmpp_pkt unmatched_ack = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 0, 1 };

/* Of the port that the peers send to; or an errno. */
static inline long module_counter(FIXTURE_DATA(peers) *self, const char *name)
{
	int ret = hwsim_umad(DEVICE, 1, "umad", self->port.node, sizeof(self->port.node));

	return ret ?: umad_counter(&self->port, name);
}

#endif /* HWSIM_PEERS_H */
