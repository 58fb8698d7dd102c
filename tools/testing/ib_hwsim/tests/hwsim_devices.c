// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two devices on wires of their own, the one with two ports. ib_core finds the agent
 * for a response by its TID alone, whichever port it came by, or if it came at all.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"
#include "rmpp_util.h"

#define OURS	33
#define OTHER	34
#define LID	0x20	/* of both */
#define PEER	7
#define SOON	3000	/* ms; for what has to happen */
#define WHILE	300	/* ms; for what must not */

FIXTURE(devices) {
	int wire;		/* of the port */
	int other;		/* of the port that is not to be heard */
	int fd;			/* on OURS */
	int id;			/* a client */
	struct test_port port;
	struct ib_hwsim_frame frame, seen;
	struct umad_msg msg, got;
};

FIXTURE_VARIANT(devices) {
	unsigned int other, port;
};

FIXTURE_VARIANT_ADD(devices, device) {
	.other = OTHER, .port = 1,
};

FIXTURE_VARIANT_ADD(devices, port) {
	.other = OURS, .port = 2,
};

FIXTURE_SETUP(devices)
{
	ASSERT_EQ(0, hwsim_new(OURS, "lid=0x20 ports=2"));
	ASSERT_EQ(0, hwsim_new(OTHER, "lid=0x20"));
	self->wire = raw_attach(OURS, 1);
	ASSERT_LE(0, self->wire);
	self->other = raw_attach(variant->other, variant->port);
	ASSERT_LE(0, self->other);
	self->fd = hwsim_open(OURS, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->id = umad_reg_client(self->fd);
	ASSERT_LE(0, self->id);
	self->port.lid = PEER;
	ASSERT_EQ(0, hwsim_umad(OURS, 1, "umad", self->port.node,
				sizeof(self->port.node)));
}

FIXTURE_TEARDOWN(devices)
{
	close(self->fd);
	close(self->wire);
	close(self->other);
	EXPECT_EQ(0, hwsim_del(OURS));
	EXPECT_EQ(0, hwsim_del(OTHER));
}

/* A request goes out; self->seen is it. */
static int ask(FIXTURE_DATA(devices) *self, uint32_t timeout_ms, uint32_t retries)
{
	int ret;

	msg_init(&self->msg, &self->port, self->id, CLASS_RMPP, METHOD_TEST, 5);
	self->msg.hdr.grh_present = 0;
	self->msg.hdr.timeout_ms = timeout_ms;
	self->msg.hdr.retries = retries;
	ret = msg_write(self->fd, &self->msg);
	if (ret != MSG_LEN)
		return ret;
	ret = raw_read(self->wire, &self->seen, SOON);
	return ret < 0 ? ret : 0;
}

/* Its answer by one of the wires, with another TID if that is to be. */
static int answer(FIXTURE_DATA(devices) *self, int wire, uint32_t add, bool rmpp)
{
	const struct rmpp_pkt pkt = {
		.version = 1, .type = RMPP_DATA, .seg = 1, .len = RMPP_PAYLOAD,
		.flags = RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST,
	};
	struct mad_hdr *mad = frame_mad(&self->frame);

	self->frame = self->seen;
	self->frame.flags = 0;
	self->frame.slid = PEER;
	self->frame.dlid = LID;
	mad->method |= METHOD_RESP;
	mad->tid = htobe64(be64toh(mad->tid) + add);
	if (rmpp)
		rmpp_put(self->frame.mad, &pkt);
	return raw_write(wire, &self->frame);
}

/* As a program with RMPP of its own sees a segment that it has not asked for. */
TEST_F(devices, segment_by_another_port_is_not_delivered)
{
	long dropped = umad_counter(&self->port, "recv_dropped_foreign");

	ASSERT_EQ(0, ask(self, 0, 0));
	ASSERT_EQ(0, answer(self, self->other, 1, true));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
	EXPECT_EQ(dropped + 1, umad_counter(&self->port, "recv_dropped_foreign"));
	/* By its own it is. */
	ASSERT_EQ(0, answer(self, self->wire, 2, true));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(7, msg_tid(&self->got));
}

TEST_F(devices, answer_by_another_port_is_none)
{
	ASSERT_EQ(0, ask(self, WHILE, 0));
	ASSERT_EQ(0, answer(self, self->other, 0, false));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read_len(self->fd, &self->got, MSG_LEN, SOON));
	EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
	EXPECT_EQ(5, msg_tid(&self->got));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
}

/* It has used up what waits for the answer, in ib_core. */
TEST_F(devices, answer_by_another_port_keeps_that_of_the_peer_from_nobody)
{
	ASSERT_EQ(0, ask(self, 4 * SOON, 0));
	ASSERT_EQ(0, answer(self, self->other, 0, false));
	ASSERT_LE(0, raw_read(self->wire, &self->frame, SOON));
	EXPECT_EQ(0, memcmp(self->frame.mad, self->seen.mad, sizeof(self->seen.mad)));
	ASSERT_EQ(0, answer(self, self->wire, 0, false));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(5, msg_tid(&self->got));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
}

TEST_F(devices, attempt_after_an_answer_by_another_port_is_answered)
{
	ASSERT_EQ(0, ask(self, WHILE, 1));
	ASSERT_EQ(0, answer(self, self->other, 0, false));
	ASSERT_LE(0, raw_read(self->wire, &self->seen, SOON));
	ASSERT_EQ(0, answer(self, self->wire, 0, false));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(5, msg_tid(&self->got));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
}

/* The same where the module does RMPP. */
TEST_F(devices, RMPP_by_another_port_is_not_reassembled)
{
	const struct rmpp_agent agent = { .mgmt_class = CLASS_RMPP, .rmpp_version = 1 };

	self->id = rmpp_register(self->fd, &agent);
	ASSERT_LE(0, self->id);
	ASSERT_EQ(0, ask(self, WHILE, 1));
	ASSERT_EQ(0, answer(self, self->other, 0, true));
	EXPECT_EQ(-ETIME, raw_read(self->other, &self->frame, WHILE / 10));
	ASSERT_LE(0, raw_read(self->wire, &self->seen, SOON));
	/* The next attempt, and no ACK. */
	EXPECT_EQ(METHOD_TEST, frame_mad(&self->seen)->method);
	EXPECT_EQ(0, self->seen.mad[26] & RMPP_ACTIVE);
	ASSERT_EQ(0, answer(self, self->wire, 0, true));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(5, msg_tid(&self->got));
}

/* A directed route SMP to the node itself. */
static void dr_init(struct mad_hdr *mad, uint8_t method, uint64_t tid)
{
	mad->base_version = 1;
	mad->mgmt_class = CLASS_SMI_DR;
	mad->class_version = 1;
	mad->method = method;
	mad->status = method & METHOD_RESP ? htobe16(0x8000) : 0;
	mad->tid = htobe64(tid);
	mad->attr_id = htobe16(ATTR_NODE_INFO);
	memset((uint8_t *)mad + 32, 0xff, 8);
}

/* ib_core answers at the other port, and hands the answer to whom the TID names. */
TEST_F(devices, answer_of_the_node_to_a_peer_is_not_delivered)
{
	uint64_t hi;

	ASSERT_EQ(0, ask(self, 0, 0));
	hi = be64toh(frame_mad(&self->seen)->tid) >> 32;
	frame_smp(&self->frame, METHOD_GET, ATTR_NODE_INFO, 0);
	self->frame.flags = 0;
	self->frame.dlid = LID;
	dr_init(frame_mad(&self->frame), METHOD_GET, hi << 32 | 9);
	ASSERT_EQ(0, raw_write(self->other, &self->frame));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
	/* Nor by its own port: it has not asked. */
	ASSERT_EQ(0, raw_write(self->wire, &self->frame));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
}

/* A program there writes it. */
TEST_F(devices, answer_by_a_program_of_another_port_is_not_delivered)
{
	struct ib_user_mad_reg_req2 req;
	uint64_t hi;
	int fd;

	ASSERT_EQ(0, ask(self, 0, 0));
	hi = be64toh(frame_mad(&self->seen)->tid) >> 32;
	fd = hwsim_open(variant->other, variant->port, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, fd);
	reg_init(&req, 0, 0);
	req.qpn = 0;
	ASSERT_EQ(0, umad_reg2(fd, &req));
	memset(&self->msg, 0, sizeof(self->msg));
	self->msg.hdr.lid = htobe16(PERMISSIVE);
	dr_init(&self->msg.mad, METHOD_GET_RESP, hi << 32 | 9);
	ASSERT_EQ(MSG_LEN, msg_write(fd, &self->msg));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
	close(fd);
}

TEST_HARNESS_MAIN
