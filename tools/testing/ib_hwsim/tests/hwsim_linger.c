// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A complete message is delivered once, whatever comes of it afterwards: the ABORT of a
 * sender that has given up, in front of copies of what it had sent; or all that it sends
 * in vain, when a wire that has stood still for longer than a message lingers moves again.
 * But it is delivered, too, when the wire has lost all behind its first ACK; and another one
 * with its transaction ID is not kept out for ever, nor mixed with what of this has come.
 */
#include "hwsim_peers.h"

#define TID		77
#define STOOD_MS	10500	/* a complete message lingers for 10 s */
#define HELD_MAX	64
#define OUTAGE_MS	7000
#define AGAIN_MS	3000	/* so often another message comes */
#define LONE		40	/* first segments that nothing follows */
#define LONE_MS		9000	/* in which they go when others need the places */
#define OTHERS		1100	/* messages that are complete; behind 1,024 one is remembered */

static int send_data(FIXTURE_DATA(peers) *self, uint32_t seg, uint32_t segs)
{
	return inject_data(self, 0, METHOD_TABLE, TID, seg, segs);
}

static int send_end(FIXTURE_DATA(peers) *self, uint8_t type, uint8_t status)
{
	const struct rmpp_pkt end = {
		.version = 1, .type = type, .flags = RMPP_ACTIVE, .status = status,
	};

	return inject(self, 0, METHOD_TABLE, TID, &end);
}

/* How many messages the server gets within a time. */
static unsigned int delivered(FIXTURE_DATA(peers) *self, int wait_ms)
{
	unsigned int n = 0;

	while (rmpp_msg_read(self->fd, &self->got, HDR_NEW, wait_ms) > 0)
		n += !rmpp_user_hdr(&self->got)->status;
	return n;
}

/* Each when its window has been granted, or will not be. */
static void send_all(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
		     uint32_t segs)
{
	uint32_t seg;

	for (seg = 1; seg <= segs; seg++) {
		ASSERT_EQ(0, send_data(self, seg, segs));
		see(self, WHILE);
	}
}

static void end_and_copies(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			   uint8_t type, uint8_t status, uint32_t segs)
{
	send_all(_metadata, self, segs);
	EXPECT_EQ(1, delivered(self, WHILE));
	ASSERT_EQ(0, send_end(self, type, status));
	send_all(_metadata, self, segs);
	EXPECT_EQ(0, delivered(self, WHILE));
}

TEST_F(peers, copies_behind_an_abort)
{
	end_and_copies(_metadata, self, RMPP_ABORT, RMPP_TMR, 2);
}

TEST_F(peers, copies_behind_an_abort_of_one_segment)
{
	end_and_copies(_metadata, self, RMPP_ABORT, RMPP_TMR, 1);
}

TEST_F(peers, copies_behind_a_stop)
{
	end_and_copies(_metadata, self, RMPP_STOP, RMPP_RESX, 3);
}

/* The last that was seen goes on to where it was sent to: this host. */
static int let_go(FIXTURE_DATA(peers) *self, struct ib_hwsim_frame *frame)
{
	frame->flags &= IB_HWSIM_GRH;
	return raw_write(self->wire, frame);
}

/* Returns a client that has sent the message; it goes on until this ACK, which is kept. */
static int ask_itself(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
		      uint32_t segs, int retries, uint32_t ack, struct ib_hwsim_frame *last_ack)
{
	const struct rmpp_agent agent = { .mgmt_class = CLASS_RMPP, .rmpp_version = 1 };
	struct test_port own = { .lid = LID };
	int client = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	uint64_t end = now_ms() + SOON;

	EXPECT_EQ(0, rmpp_register(client, &agent));
	rmpp_msg_init(&self->msg, &own, HDR_NEW, 0, CLASS_RMPP, METHOD_TABLE, TID,
		      segs * SEG, TID);
	rmpp_user_hdr(&self->msg)->grh_present = 0;
	rmpp_user_hdr(&self->msg)->timeout_ms = 2000;
	rmpp_user_hdr(&self->msg)->retries = retries;
	EXPECT_LT(0, rmpp_msg_write(client, &self->msg));
	while (now_ms() < end) {
		if (see(self, 5) < 0)
			continue;
		*last_ack = self->seen;
		if (self->pkt.type == RMPP_ACK && self->pkt.seg == ack)
			return client;
		EXPECT_EQ(0, let_go(self, &self->seen));
	}
	EXPECT_TRUE(false);
	return client;
}

/* The wire is whole; how many messages are delivered meanwhile. */
static unsigned int moves_again(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
				int wait_ms)
{
	uint64_t end = now_ms() + wait_ms;
	unsigned int n;

	for (n = 0; now_ms() < end; n += delivered(self, 0))
		if (see(self, 5) >= 0)
			EXPECT_EQ(0, let_go(self, &self->seen));
	return n;
}

static void stands_still(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			 uint32_t segs)
{
	static struct ib_hwsim_frame held[HELD_MAX];
	unsigned int n = 1, i;
	uint64_t end;
	int client;

	client = ask_itself(_metadata, self, segs, 3, segs, &held[0]);
	EXPECT_EQ(1, delivered(self, 0));
	for (end = now_ms() + STOOD_MS; now_ms() < end; )
		if (see(self, 5) >= 0 && n < HELD_MAX)
			held[n++] = self->seen;
	/* The ACK has been lost; what was sent for want of it comes at last. */
	for (i = 1; i < n; i++)
		EXPECT_EQ(0, let_go(self, &held[i]));
	EXPECT_EQ(0, moves_again(_metadata, self, 1000));
	close(client);
}

TEST_F_TIMEOUT(peers, wire_stands_still_behind_two_segments, 60)
{
	stands_still(_metadata, self, 2);
}

TEST_F_TIMEOUT(peers, wire_stands_still_behind_ten_segments, 60)
{
	stands_still(_metadata, self, 10);
}

static void goes_on_after_outage(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
				 uint32_t segs)
{
	struct ib_hwsim_frame first_ack;
	uint64_t end;
	int client;

	client = ask_itself(_metadata, self, segs, 9, 1, &first_ack);
	EXPECT_EQ(0, let_go(self, &first_ack));
	for (end = now_ms() + OUTAGE_MS; now_ms() < end; )
		see(self, 5);
	EXPECT_EQ(0, delivered(self, 0));
	EXPECT_EQ(1, moves_again(_metadata, self, SOON));
	close(client);
}

TEST_F_TIMEOUT(peers, outage_behind_the_first_of_two_segments, 60)
{
	goes_on_after_outage(_metadata, self, 2);
}

TEST_F_TIMEOUT(peers, outage_behind_the_first_of_ten_segments, 60)
{
	goes_on_after_outage(_metadata, self, 10);
}

/* After how many ms another message with the same transaction ID is delivered, or -1. */
static int other_is_delivered(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			      int wait_ms)
{
	uint64_t start = now_ms();

	while (now_ms() - start < wait_ms) {
		if (delivered(self, AGAIN_MS))
			return now_ms() - start;
		send_all(_metadata, self, 1);
	}
	return -1;
}

TEST_F_TIMEOUT(peers, transaction_ID_again_behind_an_abort, 60)
{
	send_all(_metadata, self, 2);
	EXPECT_EQ(1, delivered(self, WHILE));
	ASSERT_EQ(0, send_end(self, RMPP_ABORT, RMPP_TMR));
	EXPECT_LE(0, other_is_delivered(_metadata, self, 20000));
}

/* The ABORT of its answer is one of both. */
TEST_F_TIMEOUT(peers, transaction_ID_again_behind_the_end_of_its_answer, 60)
{
	const struct test_port peer = { .lid = PEER };
	struct rmpp_msg answer = {};

	send_all(_metadata, self, 2);
	EXPECT_EQ(1, delivered(self, WHILE));
	rmpp_msg_init(&answer, &peer, HDR_NEW, 0, CLASS_RMPP, METHOD_TABLE | METHOD_RESP, TID,
		      2 * SEG, 7);
	rmpp_user_hdr(&answer)->grh_present = 0;
	rmpp_user_hdr(&answer)->timeout_ms = 10000;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &answer));
	rmpp_msg_free(&answer);
	EXPECT_LE(0, see_packet(self, TID, RMPP_DATA, 1));
	ASSERT_EQ(0, send_end(self, RMPP_ABORT, RMPP_TMR));
	EXPECT_LE(0, other_is_delivered(_metadata, self, 20000));
}

/* The same of one that others have made a mere memory. */
TEST_F_TIMEOUT(peers, transaction_ID_again_behind_an_abort_and_others, 60)
{
	unsigned int i;

	send_all(_metadata, self, 1);
	EXPECT_EQ(1, delivered(self, WHILE));
	for (i = 0; i < OTHERS; i++) {
		ASSERT_EQ(0, inject_data(self, 1 + i % 50, METHOD_TABLE, 1000 + i, 1, 1));
		EXPECT_LE(0, see(self, SOON));
	}
	EXPECT_EQ(OTHERS, delivered(self, WHILE));
	ASSERT_EQ(0, send_end(self, RMPP_ABORT, RMPP_TMR));
	EXPECT_LE(0, other_is_delivered(_metadata, self, 20000));
}

/* A segment with the bytes of another message. That is sent, too: it is a neighbour's. */
static int send_of_other(FIXTURE_DATA(peers) *self, uint32_t seg, uint32_t segs)
{
	int ret = inject_data(self, 0, METHOD_TABLE, TID + 1, seg, segs);

	frame_mad(&self->frame)->tid = htobe64(TID);
	return ret ?: raw_write(self->wire, &self->frame);
}

/* Its sender has begun again, and with that it got no further than the first segment. */
static void first_of_another(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			     uint32_t segs)
{
	ASSERT_EQ(0, send_of_other(self, 1, 3));
	EXPECT_LE(0, see_packet(self, TID, RMPP_ACK, 1));
	sleep_ms(AGAIN_MS);
	send_all(_metadata, self, segs);
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, segs * SEG, TID));
}

TEST_F_TIMEOUT(peers, first_segment_of_another_message, 60)
{
	first_of_another(_metadata, self, 3);
}

TEST_F_TIMEOUT(peers, single_segment_of_another_message, 60)
{
	first_of_another(_metadata, self, 1);
}

/* A copy of what the sender has given up overtakes the second segment. */
static void late_copy(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
		      uint32_t segs, int later_ms)
{
	uint32_t seg;

	ASSERT_EQ(0, send_data(self, 1, 3));
	EXPECT_LE(0, see_packet(self, TID, RMPP_ACK, 1));
	sleep_ms(later_ms);
	ASSERT_EQ(0, send_of_other(self, 1, segs));
	sleep_ms(later_ms);
	for (seg = 2; seg <= 3; seg++)
		ASSERT_EQ(0, send_data(self, seg, 3));
	while (rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON) > 0 &&
	       rmpp_tid(&self->got) != TID)
		;
	EXPECT_EQ(TID, rmpp_tid(&self->got));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 3 * SEG, TID));
}

TEST_F_TIMEOUT(peers, late_copy_of_another_first_segment, 60)
{
	late_copy(_metadata, self, 3, 50);
}

TEST_F_TIMEOUT(peers, late_copy_of_another_single_segment, 60)
{
	late_copy(_metadata, self, 1, 50);
}

/* As its second segment has got lost, and is repeated after 2 s. */
TEST_F_TIMEOUT(peers, late_copy_before_a_repeated_segment, 60)
{
	late_copy(_metadata, self, 3, 1050);
}

/* Another with the same transaction ID, soon: no ACK of the first may be taken for its own. */
TEST_F_TIMEOUT(peers, another_message_soon, 60)
{
	unsigned int acks = 0;
	uint64_t end;

	ASSERT_EQ(0, send_of_other(self, 1, 3));
	EXPECT_LE(0, see_packet(self, TID, RMPP_ACK, 1));
	sleep_ms(50);
	ASSERT_EQ(0, send_data(self, 1, 1));
	for (end = now_ms() + 2000; now_ms() < end; )
		if (see(self, 100) >= 0)
			acks += be64toh(frame_mad(&self->seen)->tid) == TID;
	EXPECT_EQ(0, acks);
	EXPECT_EQ(0, delivered(self, 0));
	ASSERT_EQ(0, send_data(self, 1, 1));
	sleep_ms(2000);
	ASSERT_EQ(0, send_data(self, 1, 1));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, SEG, TID));
}

/* As much as that, and it goes on only if the other has been given up for sure. */
TEST_F_TIMEOUT(peers, another_message_behind_two_segments, 60)
{
	uint32_t seg;
	bool acked;
	int i;

	for (seg = 1; seg <= 2; seg++) {
		ASSERT_EQ(0, send_of_other(self, seg, 4));
		EXPECT_LE(0, see_packet(self, TID, RMPP_ACK, seg));
	}
	/* As its sender repeats it: the third time after more than 6 s. */
	for (i = 0; i < 3; i++) {
		acked = false;
		sleep_ms(2100);
		ASSERT_EQ(0, send_data(self, 1, 4));
		while (see(self, WHILE) >= 0)
			acked |= self->pkt.seg == 1;
		EXPECT_EQ(i == 2, acked);
	}
	for (seg = 2; seg <= 4; seg++)
		ASSERT_EQ(0, send_data(self, seg, 4));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 4 * SEG, TID));
}

/* It differs in nothing but what it asks for. */
TEST_F_TIMEOUT(peers, another_message_with_the_same_data, 60)
{
	uint32_t seg;

	ASSERT_EQ(0, send_data(self, 1, 2));
	EXPECT_LE(0, see_packet(self, TID, RMPP_ACK, 1));
	sleep_ms(AGAIN_MS);
	for (seg = 1; seg <= 3; seg++) {
		const struct rmpp_pkt pkt = rmpp_data_pkt(seg, 3, 3 * RMPP_PAYLOAD);

		rmpp_put(self->frame.mad, &pkt);
		rmpp_fill(self->frame.mad + 40, (seg - 1) * SEG, SEG, TID);
		frame_mad(&self->frame)->attr_mod = htobe32(2);
		ASSERT_EQ(0, raw_write(self->wire, &self->frame));
		see(self, WHILE);
	}
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(htobe32(2), rmpp_mad(&self->got)->attr_mod);
	EXPECT_TRUE(rmpp_msg_has(&self->got, 3 * SEG, TID));
}

/* Without a limit, one peer may have many that are remembered, too. */
TEST_F_TIMEOUT(peers, very_many_are_remembered, 60)
{
	long old = rmpp_param_set("rmpp_file_memos", UINT32_MAX);
	unsigned int i;

	ASSERT_LT(0, old);
	for (i = 0; i < OTHERS; i++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1000 + i, 1, 1));
		EXPECT_LE(0, see(self, SOON));
	}
	EXPECT_EQ(OTHERS, delivered(self, WHILE));
	for (i = 0; i < 70; i++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1000 + i, 1, 1));
		EXPECT_LE(0, see(self, SOON));
	}
	EXPECT_EQ(0, delivered(self, WHILE));
	rmpp_param_set("rmpp_file_memos", old);
}

TEST_F_TIMEOUT(peers, transaction_ID_again_and_again, 120)
{
	send_all(_metadata, self, 1);
	EXPECT_EQ(1, delivered(self, WHILE));
	EXPECT_LE(0, other_is_delivered(_metadata, self, 60000));
}

/* First segments of so many messages, each of another node; how many fail without a word. */
static long failed_of(FIXTURE_DATA(peers) *self, unsigned int n, int wait_ms)
{
	long before = module_counter(self, "rmpp_rx_failed");
	unsigned int i;

	for (i = 0; i < n; i++)
		if (inject_data(self, i, METHOD_TABLE, 1 + i, 1, 3))
			return -EIO;
	sleep_ms(wait_ms);
	return module_counter(self, "rmpp_rx_failed") - before;
}

/* If nothing follows them, until no more than half of the places are taken. */
TEST_F_TIMEOUT(peers, first_segments_alone_go_when_there_are_many, 60)
{
	long old = rmpp_param_set("rmpp_file_transfers", LONE * 2);

	if (old < 0)
		SKIP(return, "no such bound");
	EXPECT_EQ(0, failed_of(self, LONE, LONE_MS));
	ASSERT_EQ(LONE * 2, rmpp_param_set("rmpp_file_transfers", LONE));
	EXPECT_EQ(LONE / 2, failed_of(self, 0, LONE_MS));
	rmpp_param_set("rmpp_file_transfers", old);
}

TEST_HARNESS_MAIN
