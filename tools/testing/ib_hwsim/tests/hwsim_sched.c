// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The schedule of a port's segments, as its peers see it: how many are in the send queue,
 * and whose come next.
 */
#include "hwsim_peers.h"

#include <stdbool.h>

#define POSTED_MAX	64	/* segments of a port in ib_core */
#define TURN_MAX	16	/* of one turn */
#define ANSWERS		30
#define ANSWER_SEGS	70

static int hold(bool held)
{
	return hwsim_set(DEVICE, 1, "hold_completions", held ? "1" : "0");
}

/* By its method an ACK comes to the file that has sent the answer. */
static uint8_t method_of(FIXTURE_DATA(peers) *self, int fd)
{
	return METHOD_TABLE + (fd != self->fd);
}

static int answer_to(FIXTURE_DATA(peers) *self, int fd, uint16_t peer, uint32_t tid,
		     uint32_t segs, uint32_t timeout_ms)
{
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      method_of(self, fd) | METHOD_RESP, tid, segs * SEG, tid);
	rmpp_user_hdr(&self->msg)->lid = htobe16(PEER + peer);
	rmpp_user_hdr(&self->msg)->grh_present = 0;
	rmpp_user_hdr(&self->msg)->timeout_ms = timeout_ms;
	return rmpp_msg_write(fd, &self->msg);
}

/* Of the first segment. */
static int ack(FIXTURE_DATA(peers) *self, int fd, uint16_t peer, uint32_t tid, uint32_t last)
{
	const struct rmpp_pkt pkt = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 1, last };

	return inject(self, peer, method_of(self, fd), tid, &pkt);
}

static uint32_t seen_tid(FIXTURE_DATA(peers) *self)
{
	return be64toh(frame_mad(&self->seen)->tid);
}

/* How many come until none has for a while. */
static int frames(FIXTURE_DATA(peers) *self)
{
	int n = 0;

	while (see(self, WHILE) >= 0)
		n++;
	return n;
}

/* A client may ask for much, and acknowledge the first segment of all at once. */
TEST_F(peers, many_ACKs_at_once_do_not_fill_the_send_queue)
{
	int i, n;

	for (i = 1; i <= ANSWERS; i++) {
		ASSERT_LT(0, answer_to(self, self->fd, 0, i, ANSWER_SEGS, 0));
		ASSERT_EQ(RMPP_DATA, see(self, SOON));
	}
	ASSERT_EQ(0, hold(true));
	for (i = 1; i <= ANSWERS; i++)
		ASSERT_EQ(0, ack(self, self->fd, 0, i, ANSWER_SEGS));
	n = frames(self);
	TH_LOG("%d segments in the send queue", n);
	EXPECT_LE(POSTED_MAX / 2, n);
	EXPECT_GE(POSTED_MAX, n);
	ASSERT_EQ(0, hold(false));
	/* All the same they are sent. */
	EXPECT_LE(ANSWERS * (ANSWER_SEGS - 1), n + frames(self));
}

/* Of two files, however much the one that was first has to send. */
TEST_F(peers, files_take_turns)
{
	int fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TABLE + 1,
	};
	uint32_t beside = 0, second = 0;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rmpp_register(fd, &agent));
	ASSERT_LT(0, answer_to(self, self->fd, 0, 1, 1000, 0));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_LT(0, answer_to(self, fd, 1, 2, 200, 0));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_EQ(0, hold(true));
	ASSERT_EQ(0, ack(self, self->fd, 0, 1, 1000));
	ASSERT_EQ(0, ack(self, fd, 1, 2, 200));
	sleep_ms(WHILE);
	ASSERT_EQ(0, hold(false));
	while (second < 199 && see(self, SOON) == RMPP_DATA) {
		if (seen_tid(self) == 2)
			second++;
		else
			beside++;
	}
	TH_LOG("%u segments of the other", beside);
	EXPECT_EQ(199, second);
	/* Not all 999, but what a thread takes to run, too. */
	EXPECT_GE(2 * 199 + POSTED_MAX, beside);
	close(fd);
}

/* A turn beside single MADs is the only one in the send queue. */
TEST_F(peers, single_MADs_wait_for_few_segments)
{
	struct umad_msg msg;
	int n;

	ASSERT_LT(0, answer_to(self, self->fd, 0, 1, 1000, 0));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	msg_init(&msg, &self->port, 0, CLASS_RMPP, METHOD_TABLE, 5);
	msg.hdr.grh_present = 0;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &msg));
	ASSERT_LE(0, see(self, SOON));
	ASSERT_EQ(0, hold(true));
	ASSERT_EQ(0, ack(self, self->fd, 0, 1, 1000));
	n = frames(self);
	TH_LOG("%d segments in the send queue", n);
	EXPECT_LE(1, n);
	EXPECT_GE(TURN_MAX, n);
	ASSERT_EQ(0, hold(false));
}

/* It fails when its receiver is silent for so long, which it is not. */
TEST_F(peers, waiting_for_a_turn_is_no_silence)
{
	ASSERT_LT(0, answer_to(self, self->fd, 0, 1, 1000, 0));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_LT(0, answer_to(self, self->fd, 1, 2, 100, 1000));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_EQ(0, hold(true));
	ASSERT_EQ(0, ack(self, self->fd, 0, 1, 1000));
	EXPECT_EQ(POSTED_MAX, frames(self));
	ASSERT_EQ(0, ack(self, self->fd, 1, 2, 100));
	sleep_ms(3000);
	EXPECT_EQ(-ETIME, rmpp_msg_read(self->fd, &self->got, HDR_NEW, 0));
	ASSERT_EQ(0, hold(false));
	while (see(self, SOON) == RMPP_DATA && seen_tid(self) != 2)
		;
	EXPECT_EQ(RMPP_DATA, self->pkt.type);
	EXPECT_EQ(2, self->pkt.seg);
}

TEST_HARNESS_MAIN
