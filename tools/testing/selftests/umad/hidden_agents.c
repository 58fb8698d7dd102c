// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Of an agent with many outstanding requests some wait in hidden agents of ib_core. On the
 * fabric these have another upper half of the TID; the process sees that of its own agent,
 * and each response ends the request that it answers.
 */
#include "kselftest_harness.h"
#include "rmpp_util.h"
#include "umad_util.h"

#define REQUESTS	1500	/* more than two agents of ib_core have */
#define AGAIN		3000	/* to be written a second time */
#define FOREVER		((uint32_t)-1)

FIXTURE(hidden) {
	struct test_port port;
	int fd, srv;
	struct umad_msg msg;
	struct umad_msg seen[REQUESTS];	/* by the server */
};

FIXTURE_SETUP(hidden)
{
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR);
	self->srv = umad_open(O_RDWR);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	ASSERT_EQ(0, umad_reg_server(self->srv, CLASS_VENDOR1, METHOD_TEST));
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 0);
	self->msg.hdr.timeout_ms = FOREVER;
}

FIXTURE_TEARDOWN(hidden)
{
	close(self->fd);
	close(self->srv);
}

static void write_all(struct __test_metadata *_metadata, FIXTURE_DATA(hidden) *self)
{
	int i;

	for (i = 0; i < REQUESTS; i++) {
		self->msg.mad.tid = htobe64(i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		ASSERT_EQ(MSG_LEN, msg_read(self->srv, &self->seen[i], 1000));
		ASSERT_EQ(i, msg_tid(&self->seen[i]));
	}
}

static uint32_t upper(const struct umad_msg *msg)
{
	return msg_tid64(msg) >> 32;
}

static int agents_seen(FIXTURE_DATA(hidden) *self)
{
	int i, n = 1;

	for (i = 1; i < REQUESTS; i++)
		n += upper(&self->seen[i]) != upper(&self->seen[i - 1]);
	return n;
}

/* In no order: 7 and REQUESTS have no common factor. */
TEST_F_TIMEOUT(hidden, responses_have_the_TID_of_the_agent, 120)
{
	struct umad_msg got, reply;
	uint32_t agent;
	int i;

	write_all(_metadata, self);
	agent = upper(&self->seen[0]);
	EXPECT_EQ(3, agents_seen(self));
	for (i = 0; i < REQUESTS; i++) {
		msg_reply(&reply, &self->seen[i * 7 % REQUESTS], 0);
		ASSERT_EQ(MSG_LEN, msg_write(self->srv, &reply));
		ASSERT_EQ(MSG_LEN, msg_read(self->fd, &got, 1000));
		EXPECT_EQ(0, got.hdr.status);
		EXPECT_EQ(i * 7 % REQUESTS, msg_tid(&got));
		EXPECT_EQ(agent, upper(&got));
	}
	/* They have ended: there is no second one. */
	ASSERT_EQ(MSG_LEN, msg_write(self->srv, &reply));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &got, 100));
	/* And each may have its TID once more, wherever it waits. */
	write_all(_metadata, self);
	msg_reply(&reply, &self->seen[0], 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->srv, &reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &got, 1000));
	EXPECT_EQ(0, msg_tid(&got));
	EXPECT_EQ(agent, upper(&got));
}

TEST_F_TIMEOUT(hidden, further_attempts_have_the_TID_of_the_first, 120)
{
	struct umad_msg again;
	int i;

	self->msg.hdr.timeout_ms = 20000;
	self->msg.hdr.retries = 1;
	write_all(_metadata, self);
	for (i = 0; i < REQUESTS; i++) {
		ASSERT_EQ(MSG_LEN, msg_read(self->srv, &again, 30000));
		EXPECT_EQ(msg_tid64(&self->seen[msg_tid(&again)]), msg_tid64(&again));
	}
}

TEST_F_TIMEOUT(hidden, what_times_out_has_the_TID_of_the_agent, 120)
{
	struct umad_msg got;
	int i;

	self->msg.hdr.timeout_ms = 20000;
	write_all(_metadata, self);
	for (i = 0; i < REQUESTS; i++) {
		ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &got, 30000));
		EXPECT_EQ(ETIMEDOUT, got.hdr.status);
		EXPECT_EQ(upper(&self->seen[0]), upper(&got));
	}
}

/* What has been answered is no more: one after another they all have room in the agent. */
TEST_F_TIMEOUT(hidden, answered_requests_make_room, 120)
{
	struct umad_msg seen, got;
	uint32_t agent = 0;
	int i;

	for (i = 0; i < REQUESTS; i++) {
		self->msg.mad.tid = htobe64(i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		ASSERT_EQ(MSG_LEN, msg_read(self->srv, &seen, 1000));
		if (!i)
			agent = upper(&seen);
		ASSERT_EQ(agent, upper(&seen));
		msg_reply(&seen, &seen, 0);
		ASSERT_EQ(MSG_LEN, msg_write(self->srv, &seen));
		ASSERT_EQ(MSG_LEN, msg_read(self->fd, &got, 1000));
	}
}

TEST_F_TIMEOUT(hidden, agents_end_with_theirs, 120)
{
	uint64_t start;

	write_all(_metadata, self);
	start = now_ms();
	EXPECT_EQ(0, umad_unreg(self->fd, 0));
	EXPECT_GE(2000, now_ms() - start);
	EXPECT_EQ(0, umad_reg_client(self->fd));
	write_all(_metadata, self);
}

/* ACKs have the agent's TID, whatever answers. */
TEST_F_TIMEOUT(hidden, RMPP_agents_have_none, 120)
{
	const struct rmpp_agent client = { .mgmt_class = CLASS_DEVMGMT, .rmpp_version = 1 };
	int id = rmpp_register(self->fd, &client);

	ASSERT_LE(0, id);
	self->msg.hdr.id = id;
	/* Of a class with RMPP; the MAD has none. */
	self->msg.mad.mgmt_class = CLASS_DEVMGMT;
	ASSERT_EQ(1, umad_reg_server(self->srv, CLASS_DEVMGMT, METHOD_TEST));
	write_all(_metadata, self);
	EXPECT_EQ(1, agents_seen(self));
}

/* Nor of a process that does RMPP itself: its ACKs have the agent's TID. */
TEST_F_TIMEOUT(hidden, classes_with_RMPP_have_none, 120)
{
	msg_init(&self->msg, &self->port, 0, CLASS_RMPP, METHOD_TEST, 0);
	self->msg.hdr.timeout_ms = FOREVER;
	ASSERT_EQ(1, umad_reg_server(self->srv, CLASS_RMPP, METHOD_TEST));
	write_all(_metadata, self);
	EXPECT_EQ(1, agents_seen(self));
}

/* A request of TID 5000 that has timed out is written again: the response may be to the first. */
TEST_F_TIMEOUT(hidden, TID_written_again_is_the_same_on_the_wire, 120)
{
	struct umad_msg got, reply, first, second;

	write_all(_metadata, self);
	self->msg.mad.tid = htobe64(5000);
	self->msg.hdr.timeout_ms = 300;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->srv, &first, 1000));
	EXPECT_NE(upper(&self->seen[0]), upper(&first));
	/* Now there is room in the agent itself. */
	msg_reply(&reply, &self->seen[0], 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->srv, &reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &got, 1000));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &got, 2000));
	EXPECT_EQ(5000, msg_tid(&got));
	self->msg.hdr.timeout_ms = 4000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->srv, &second, 1000));
	EXPECT_EQ(msg_tid64(&first), msg_tid64(&second));
	msg_reply(&reply, &first, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->srv, &reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &got, 1000));
	EXPECT_EQ(5000, msg_tid(&got));
}

#define FEW	40	/* that time out in the agent itself */

/* Those have timed out, and now others have filled the agent. Late responses are theirs. */
TEST_F_TIMEOUT(hidden, TIDs_of_the_agent_itself_written_again, 120)
{
	static struct umad_msg first[FEW];
	struct umad_msg got, reply;
	int i;

	self->msg.hdr.timeout_ms = 300;
	for (i = 0; i < FEW; i++) {
		self->msg.mad.tid = htobe64(5000 + i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		ASSERT_EQ(MSG_LEN, msg_read(self->srv, &first[i], 1000));
	}
	for (i = 0; i < FEW; i++)
		ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &got, 5000));
	self->msg.hdr.timeout_ms = FOREVER;
	write_all(_metadata, self);
	self->msg.hdr.timeout_ms = 20000;
	for (i = 0; i < FEW; i++) {
		self->msg.mad.tid = htobe64(5000 + i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		ASSERT_EQ(MSG_LEN, msg_read(self->srv, &got, 1000));
		EXPECT_EQ(msg_tid64(&first[i]), msg_tid64(&got));
		msg_reply(&reply, &first[i], 0);
		ASSERT_EQ(MSG_LEN, msg_write(self->srv, &reply));
		ASSERT_EQ(MSG_LEN, msg_read(self->fd, &got, 1000));
		EXPECT_EQ(0, got.hdr.status);
		EXPECT_EQ(5000 + i, msg_tid(&got));
	}
}

/* The TIDs of a process that counts them, or makes them by chance. */
static uint32_t tid_of(int i, bool scattered)
{
	uint32_t x = i;

	if (!scattered)
		return 0x10000 + i;
	/* One to one. */
	x = (x ^ x >> 16) * 0x7feb352d;
	x = (x ^ x >> 15) * 0x846ca68b;
	return x ^ x >> 16;
}

/* Writes all, each @step-th next; how many left with another TID than @wires has, which it sets. */
static int write_in_steps(struct __test_metadata *_metadata, FIXTURE_DATA(hidden) *self,
			  bool scattered, int step, uint64_t *wires)
{
	struct umad_msg seen;
	int i, n, moved = 0;

	for (i = 0; i < AGAIN; i++) {
		n = i * step % AGAIN;
		self->msg.mad.tid = htobe64(tid_of(n, scattered));
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg)) return -1;
		ASSERT_EQ(MSG_LEN, msg_read(self->srv, &seen, 1000)) return -1;
		moved += wires[n] != msg_tid64(&seen);
		wires[n] = msg_tid64(&seen);
	}
	return moved;
}

/* In another order, so that others have room than for the first. */
TEST_F_TIMEOUT(hidden, TIDs_written_again_are_the_same_on_the_wire, 120)
{
	static uint64_t wires[AGAIN];
	struct umad_msg got;
	int scattered, moved, i;

	self->msg.hdr.timeout_ms = 5000;
	for (scattered = 0; scattered < 2; scattered++) {
		write_in_steps(_metadata, self, scattered, 1, wires);
		for (i = 0; i < AGAIN; i++)
			ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &got, 60000));
		moved = write_in_steps(_metadata, self, scattered, 7, wires);
		/* By chance three may have the two places of one. */
		TH_LOG("%d of %d moved", moved, AGAIN);
		EXPECT_GE(scattered ? 50 : 0, moved);
		for (i = 0; i < AGAIN; i++)
			ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &got, 60000));
	}
}

TEST_HARNESS_MAIN
