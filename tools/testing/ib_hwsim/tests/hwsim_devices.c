// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two devices on wires of their own. ib_core finds the agent for a response by its
 * TID alone, whichever device it came by.
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
	int wire, other;
	int fd;			/* on OURS */
	int id;			/* a client */
	struct test_port port;
	struct ib_hwsim_frame frame, seen;
	struct umad_msg msg, got;
};

FIXTURE_SETUP(devices)
{
	ASSERT_EQ(0, hwsim_new(OURS, "lid=0x20"));
	ASSERT_EQ(0, hwsim_new(OTHER, "lid=0x20"));
	self->wire = raw_attach(OURS, 1);
	ASSERT_LE(0, self->wire);
	self->other = raw_attach(OTHER, 1);
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
TEST_F(devices, segment_by_another_device_is_not_delivered)
{
	long dropped = umad_counter(&self->port, "recv_dropped_device");

	ASSERT_EQ(0, ask(self, 0, 0));
	ASSERT_EQ(0, answer(self, self->other, 1, true));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
	EXPECT_EQ(dropped + 1, umad_counter(&self->port, "recv_dropped_device"));
	/* By its own it is. */
	ASSERT_EQ(0, answer(self, self->wire, 2, true));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(7, msg_tid(&self->got));
}

TEST_F(devices, answer_by_another_device_is_none)
{
	ASSERT_EQ(0, ask(self, WHILE, 0));
	ASSERT_EQ(0, answer(self, self->other, 0, false));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read_len(self->fd, &self->got, MSG_LEN, SOON));
	EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
	EXPECT_EQ(5, msg_tid(&self->got));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
}

TEST_F(devices, attempt_after_an_answer_by_another_device_is_answered)
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
TEST_F(devices, RMPP_by_another_device_is_not_joined)
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

TEST_HARNESS_MAIN
