// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What one node does by having many addresses, or another's, or by being quick. */
#include "hwsim_peers.h"

static int data(FIXTURE_DATA(peers) *self, uint16_t peer, uint64_t tid, uint32_t seg,
		uint32_t segs)
{
	const struct rmpp_pkt pkt = {
		.version = 1,
		.type = RMPP_DATA,
		.flags = RMPP_ACTIVE | (seg == 1 ? RMPP_FIRST : 0) |
			 (seg == segs ? RMPP_LAST : 0),
		.seg = seg,
		.len = seg == segs ? RMPP_PAYLOAD :
		       seg == 1 ? segs * RMPP_PAYLOAD : 0,
	};

	return inject(self, peer, METHOD_TABLE, tid, &pkt);
}

/* The next answer to that message, whatever else is sent: its type. */
static int answer_to(FIXTURE_DATA(peers) *self, uint64_t tid, int wait_ms)
{
	uint64_t start = now_ms();
	int type;

	while (now_ms() - start < wait_ms) {
		type = see(self, 10);
		if (type >= 0 && frame_mad(&self->seen)->tid == htobe64(tid))
			return type;
	}
	return -ETIME;
}

static void drain(FIXTURE_DATA(peers) *self)
{
	while (see(self, 0) >= 0)
		;
}

/* Messages that can be read, of which those with @tid are returned. */
static int delivered(FIXTURE_DATA(peers) *self, uint32_t tid)
{
	int n = 0;

	while (rmpp_msg_read(self->fd, &self->got, HDR_NEW, 0) > 0)
		n += rmpp_tid(&self->got) == tid;
	return n;
}

/*
 * A message has come, its ACK was lost, and its sender repeats what in-tree takes 2 s to
 * miss. Meanwhile another node has sent complete messages: not even twice the number
 * that are remembered.
 */
static void repeat_after_others(struct __test_metadata *_metadata,
				FIXTURE_DATA(peers) *self, uint32_t segs)
{
	uint64_t start;
	uint32_t seg;
	int i;

	for (seg = 1; seg <= segs; seg++) {
		ASSERT_EQ(0, data(self, 0, 77, seg, segs));
		ASSERT_EQ(RMPP_ACK, answer_to(self, 77, SOON));
	}
	sleep_ms(WHILE);
	drain(self);
	ASSERT_EQ(1, delivered(self, 77));
	start = now_ms();
	for (i = 0; i < 1100; i++) {
		ASSERT_EQ(0, data(self, 1, 1000 + i, 1, 1));
		ASSERT_EQ(RMPP_ACK, see(self, SOON));
		if (i % 16 == 15)
			delivered(self, 77);
	}
	TH_LOG("others took %llu ms", (unsigned long long)(now_ms() - start));
	delivered(self, 77);
	ASSERT_EQ(0, data(self, 0, 77, segs, segs));
	EXPECT_EQ(RMPP_ACK, answer_to(self, 77, 1000));
	sleep_ms(WHILE);
	EXPECT_EQ(0, delivered(self, 77));
}

TEST_F(peers, others_messages_do_not_make_one_be_delivered_twice)
{
	repeat_after_others(_metadata, self, 1);
}

TEST_F(peers, others_messages_do_not_make_the_last_segment_be_ignored)
{
	repeat_after_others(_metadata, self, 2);
}

TEST_HARNESS_MAIN
