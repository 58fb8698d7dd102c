// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who has to go when a file has as many messages under way as it may have: peers may be as
 * many as they like, with few messages each, and those who use their places must keep them.
 */
#include <sched.h>
#include "hwsim_peers.h"

#define PLACES		64
#define ALL_PLACES	8192
#define BUSY		9	/* peers with two messages that go on */
#define SEGS		1000	/* of those */
#define HONEST		200	/* from here on */
#define MANY		3000	/* of each of two files */

static const char transfers[] = "rmpp_file_transfers";

/* What the module answers to this message: the type of the last packet, or -ETIME. */
static int answer(FIXTURE_DATA(peers) *self, uint64_t tid)
{
	int ret = -ETIME, type;

	while ((type = see(self, WHILE)) >= 0)
		if (be64toh(frame_mad(&self->seen)->tid) == tid)
			ret = type;
	return ret;
}

static int fill(FIXTURE_DATA(peers) *self, unsigned int n, uint32_t last, uint32_t segs)
{
	unsigned int i;
	uint32_t seg;

	for (i = 0; i < n; i++)
		for (seg = 1; seg <= last; seg++) {
			if (inject_data(self, i, METHOD_TABLE, 1000 + i, seg, segs))
				return -EIO;
			if (see_packet(self, 1000 + i, RMPP_ACK, seg) < 0)
				return -ETIME;
		}
	return 0;
}

/* A segment more of each: of the first so many another one. */
static int send_again(FIXTURE_DATA(peers) *self, int first, uint32_t of_first, int n, uint32_t seg)
{
	int i;

	for (i = 0; i < n; i++) {
		if (inject_data(self, i, METHOD_TABLE, 1000 + i, i < first ? of_first : seg, 100))
			return -EIO;
		while (see(self, 1) >= 0)
			;
	}
	return 0;
}

static bool has_one(FIXTURE_DATA(peers) *self, uint64_t tid, uint32_t segs)
{
	return rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON) > 0 &&
	       rmpp_tid(&self->got) == tid && rmpp_msg_has(&self->got, segs * SEG, tid);
}

/* A newcomer has a place, and gets its message through. */
static void newcomer_is_served(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self)
{
	uint32_t seg;

	ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, 1, 3));
	EXPECT_EQ(RMPP_ACK, answer(self, 1));
	for (seg = 2; seg <= 3; seg++)
		ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, seg, 3));
	EXPECT_TRUE(has_one(self, 1, 3));
}

/* Messages that stand behind their second segment; while others' go on. */
TEST_F_TIMEOUT(peers, half_messages_of_many_give_way_to_others, 60)
{
	unsigned int i, round;

	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	ASSERT_EQ(0, fill(self, PLACES - 2 * BUSY, 2, 3));
	for (round = 1; round <= 16; round++) {
		for (i = 0; i < 2 * BUSY; i++)
			ASSERT_EQ(0, inject_data(self, 100 + i / 2, METHOD_TABLE, i, round, SEGS));
		ASSERT_NE(RMPP_STOP, answer(self, 0));
		sleep_ms(100);
	}
	newcomer_is_served(_metadata, self);
	rmpp_param_set(transfers, ALL_PLACES);
}

/* Who has lost a segment repeats it after 2 s, and is not the one to go. */
TEST_F_TIMEOUT(peers, who_repeats_a_segment_stays_among_first_segments, 60)
{
	unsigned int i;

	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	for (i = 1; i <= 2; i++) {
		ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, i, 1, 3));
		ASSERT_LE(0, see_packet(self, i, RMPP_ACK, 1));
		ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, i, 2, 3));
		ASSERT_LE(0, see_packet(self, i, RMPP_ACK, 2));
	}
	ASSERT_EQ(0, fill(self, PLACES - 2, 1, 3));
	sleep_ms(1900);
	ASSERT_EQ(0, inject_data(self, HONEST + 1, METHOD_TABLE, 3, 1, 3));
	EXPECT_EQ(RMPP_ACK, answer(self, 3));
	for (i = 1; i <= 2; i++) {
		ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, i, 3, 3));
		EXPECT_TRUE(has_one(self, i, 3));
	}
	rmpp_param_set(transfers, ALL_PLACES);
}

/* One who has very many goes before that. */
TEST_F_TIMEOUT(peers, who_has_many_messages_goes_first, 60)
{
	unsigned int i;

	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	for (i = 0; i < PLACES / 2; i++) {
		ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, i, 1, 3));
		ASSERT_LE(0, see_packet(self, i, RMPP_ACK, 1));
		ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, i, 2, 3));
		ASSERT_LE(0, see_packet(self, i, RMPP_ACK, 2));
	}
	ASSERT_EQ(0, fill(self, PLACES / 2, 1, 3));
	sleep_ms(1100);
	ASSERT_EQ(0, inject_data(self, HONEST + 1, METHOD_TABLE, 3000, 1, 3));
	EXPECT_LE(0, see_packet(self, 3000, RMPP_ACK, 1));
	/* Those are there still. */
	for (i = 0; i < PLACES / 2; i++) {
		ASSERT_EQ(0, inject_data(self, i, METHOD_TABLE, 1000 + i, 2, 2));
		EXPECT_TRUE(has_one(self, 1000 + i, 2));
	}
	rmpp_param_set(transfers, ALL_PLACES);
}

/* Peers that have a share each, and do no more than they must to keep it. */
TEST_F_TIMEOUT(peers, who_only_keeps_places_gives_way, 60)
{
	unsigned int i, seg;

	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	for (seg = 1; seg <= 3; seg++) {
		for (i = 0; i < PLACES; i++) {
			ASSERT_EQ(0, inject_data(self, i / 2, METHOD_TABLE, 1000 + i, seg, SEGS));
			ASSERT_LE(0, see(self, SOON));
		}
		sleep_ms(seg == 2 ? 5000 : 0);
	}
	sleep_ms(1500);
	newcomer_is_served(_metadata, self);
	rmpp_param_set(transfers, ALL_PLACES);
}

/* Who has lost his second segment is not the one to go while others are dead. */
TEST_F_TIMEOUT(peers, dead_messages_give_way_before_first_segments, 60)
{
	unsigned int i, seg;

	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	ASSERT_EQ(0, fill(self, PLACES - 2, 1, 11));
	/* With more than one in a second. */
	for (i = 0; i < PLACES - 2; i++) {
		for (seg = 2; seg <= 10; seg++)
			ASSERT_EQ(0, inject_data(self, i, METHOD_TABLE, 1000 + i, seg, 11));
		while (see(self, 0) >= 0)
			;
	}
	answer(self, 0);
	sleep_ms(7000);
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, inject_data(self, HONEST + i, METHOD_TABLE, i, 1, 3));
		ASSERT_LE(0, see_packet(self, i, RMPP_ACK, 1));
	}
	sleep_ms(1200);
	for (i = 2; i < 4; i++) {
		ASSERT_EQ(0, inject_data(self, HONEST + i, METHOD_TABLE, i, 1, 3));
		EXPECT_EQ(RMPP_ACK, answer(self, i));
	}
	for (i = 0; i < 2; i++) {
		for (seg = 2; seg <= 3; seg++)
			ASSERT_EQ(0, inject_data(self, HONEST + i, METHOD_TABLE, i, seg, 3));
		EXPECT_TRUE(has_one(self, i, 3));
	}
	rmpp_param_set(transfers, ALL_PLACES);
}

/* Nor who sends slowly, while first segments are dead. */
TEST_F_TIMEOUT(peers, slow_sender_stays_among_dead_first_segments, 60)
{
	uint32_t seg;

	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	for (seg = 1; seg <= 7; seg++) {
		if (seg == 3)
			ASSERT_EQ(0, fill(self, PLACES - 1, 1, 3));
		ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, seg, 7));
		if (seg == 7)
			break;
		sleep_ms(seg == 6 ? 1050 : 1200);
		while (see(self, 0) >= 0)
			;
		if (seg < 6)
			continue;
		ASSERT_EQ(0, inject_data(self, HONEST + 1, METHOD_TABLE, 2, 1, 3));
		EXPECT_EQ(RMPP_ACK, answer(self, 2));
	}
	EXPECT_TRUE(has_one(self, 1, 7));
	rmpp_param_set(transfers, ALL_PLACES);
}

/* A newcomer has a place, and the slow sender's last segment completes its message. */
static void newcomer_leaves_slow_one(struct __test_metadata *_metadata,
				     FIXTURE_DATA(peers) *self)
{
	ASSERT_EQ(0, inject_data(self, HONEST + 1, METHOD_TABLE, 2, 1, 3));
	EXPECT_EQ(RMPP_ACK, answer(self, 2));
	ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, 7, 7));
	EXPECT_TRUE(has_one(self, 1, 7));
}

/* Nor if these are few, and most go on. */
TEST_F_TIMEOUT(peers, few_dead_first_segments_give_way_before_a_slow_sender, 60)
{
	const unsigned int dead = PLACES / 4, busy = PLACES - 1 - dead;
	uint32_t seg, i;

	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	for (seg = 1; seg <= 6; seg++) {
		/* Twice as many as seconds: those are not slow. */
		for (i = 0; i < 2 * busy; i++)
			ASSERT_EQ(0, inject_data(self, 50 + i / 2, METHOD_TABLE, 5000 + i / 2,
						 2 * seg - 1 + i % 2, SEGS));
		ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, seg, 7));
		if (seg == 3)
			ASSERT_EQ(0, fill(self, dead, 1, 3));
		sleep_ms(1200);
		while (see(self, 0) >= 0)
			;
	}
	newcomer_leaves_slow_one(_metadata, self);
	rmpp_param_set(transfers, ALL_PLACES);
}

/* A segment each 1.2 s; then first segments take all places that are left. */
static void slow_sender_stays(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			      unsigned int first_segments)
{
	uint32_t seg;

	for (seg = 1; seg <= 6; seg++) {
		ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, seg, 7));
		if (seg == 6)
			ASSERT_EQ(0, fill(self, first_segments, 1, 3));
		sleep_ms(1200);
		while (see(self, 0) >= 0)
			;
	}
	newcomer_leaves_slow_one(_metadata, self);
}

/* Nor in a flood of first segments that leaves none of them there for long. */
TEST_F_TIMEOUT(peers, slow_sender_stays_in_a_flood_of_first_segments, 60)
{
	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	slow_sender_stays(_metadata, self, PLACES - 1);
	rmpp_param_set(transfers, ALL_PLACES);
}

/* Responses never give way: the flood is half of what may. */
TEST_F_TIMEOUT(peers, slow_sender_stays_in_a_flood_beside_responses, 60)
{
	const unsigned int responses = PLACES * 5 / 8;
	uint64_t tid;
	unsigned int i;

	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	for (i = 0; i < responses; i++) {
		self->asked = 1000 + i;
		ASSERT_EQ(0, request(self, 100, 60000, &tid));
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000));
		ASSERT_LE(0, see_packet(self, tid, RMPP_ACK, 1));
	}
	slow_sender_stays(_metadata, self, PLACES - 1 - responses);
	rmpp_param_set(transfers, ALL_PLACES);
}

/* Where a 32nd of the places is less than one, nobody with one message has many. */
TEST_F_TIMEOUT(peers, one_message_is_not_many, 60)
{
	uint32_t seg;

	ASSERT_LT(0, rmpp_param_set(transfers, 31));
	for (seg = 1; seg <= 2; seg++) {
		ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, seg, 3));
		ASSERT_LE(0, see_packet(self, 1, RMPP_ACK, seg));
		if (seg == 2)
			break;
		ASSERT_EQ(0, fill(self, 30, 1, 3));
		sleep_ms(2000);
	}
	sleep_ms(1500);
	ASSERT_EQ(0, inject_data(self, HONEST + 1, METHOD_TABLE, 2, 1, 3));
	EXPECT_EQ(RMPP_ACK, answer(self, 2));
	ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, 3, 3));
	EXPECT_TRUE(has_one(self, 1, 3));
	rmpp_param_set(transfers, ALL_PLACES);
}

/* A few with many segments stand before those that have few. */
TEST_F_TIMEOUT(peers, slow_ones_behind_others_give_way, 60)
{
	unsigned int i, seg;

	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	ASSERT_EQ(0, fill(self, PLACES, 1, 100));
	for (i = 0; i < PLACES; i++)
		for (seg = 2; seg <= (i < 16 ? 14 : 2); seg++) {
			ASSERT_EQ(0, inject_data(self, i, METHOD_TABLE, 1000 + i, seg, 100));
			while (see(self, 1) >= 0)
				;
		}
	sleep_ms(5000);
	/* Again, so that none is idle for 6 s. */
	ASSERT_EQ(0, send_again(self, 16, 15, PLACES, 3));
	sleep_ms(1500);
	ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, 1, 3));
	EXPECT_EQ(RMPP_ACK, answer(self, 1));
	rmpp_param_set(transfers, ALL_PLACES);
}

/* Any number of others with many segments, which pause, do not hide those that have few. */
TEST_F_TIMEOUT(peers, slow_ones_behind_very_many_give_way, 90)
{
	unsigned int i, seg, pausing = 140, places = 160;

	ASSERT_LT(0, rmpp_param_set(transfers, places));
	for (seg = 1; seg <= 30; seg++)
		for (i = 0; i < places && (seg <= 2 || i < pausing); i++) {
			ASSERT_EQ(0, inject_data(self, i, METHOD_TABLE, 1000 + i, seg, 100));
			while (i % 16 == 15 && see(self, 1) >= 0)
				;
		}
	sleep_ms(4000);
	ASSERT_EQ(0, send_again(self, pausing, 31, places, 3));
	sleep_ms(2500);
	/* The first has all of those looked at that are not slow. */
	for (i = 1; i <= 3; i++) {
		ASSERT_EQ(0, inject_data(self, HONEST + i, METHOD_TABLE, i, 1, 3));
		EXPECT_TRUE(answer(self, i) == RMPP_ACK || i == 1);
	}
	for (seg = 32; seg <= 100; seg++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1000, seg, 100));
		while (see(self, 1) >= 0)
			;
	}
	EXPECT_TRUE(has_one(self, 1000, 100));
	rmpp_param_set(transfers, ALL_PLACES);
}

/* Who cannot go yet is found again when he can. */
TEST_F_TIMEOUT(peers, slow_ones_give_way_when_they_are_idle, 60)
{
	unsigned int i;

	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	ASSERT_EQ(0, fill(self, PLACES, 2, 100));
	sleep_ms(5500);
	ASSERT_EQ(0, send_again(self, 0, 0, PLACES, 3));
	sleep_ms(600);
	ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, 1, 3));
	EXPECT_EQ(RMPP_STOP, answer(self, 1));
	sleep_ms(1200);
	for (i = 2; i <= 3; i++) {
		ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, i, 1, 3));
		EXPECT_EQ(RMPP_ACK, answer(self, i));
	}
	rmpp_param_set(transfers, ALL_PLACES);
}

/* What is whole takes nothing of what others hold. */
TEST_F_TIMEOUT(peers, whole_message_needs_no_bytes_of_others, 60)
{
	long old;

	ASSERT_EQ(0, fill(self, 1, 1, 3));
	old = rmpp_param_set("rmpp_file_bytes", 1);
	ASSERT_LT(0, old);
	ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, 1, 1));
	EXPECT_EQ(RMPP_ACK, answer(self, 1));
	EXPECT_TRUE(has_one(self, 1, 1));
	rmpp_param_set("rmpp_file_bytes", old);
}

/* A file with more than its share of a port that is full: one goes, and one comes. */
TEST_F_TIMEOUT(peers, place_of_the_evicted_is_the_newcomers, 60)
{
	long old = rmpp_param_set("rmpp_port_transfers", PLACES);
	uint32_t seg;
	int other = open_server(METHOD_TABLE + 1);

	ASSERT_LT(0, old);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, fill(self, PLACES, 2, 3));
	for (seg = 1; seg <= 2; seg++) {
		ASSERT_EQ(0, inject_data(self, HONEST + 1, METHOD_TABLE + 1, 2, seg, 3));
		EXPECT_EQ(RMPP_ACK, answer(self, 2));
	}
	sleep_ms(7000);
	ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, 1, 3));
	EXPECT_EQ(RMPP_ACK, answer(self, 1));
	close(other);
	rmpp_param_set("rmpp_port_transfers", old);
}

/* The same, if it is the peer that has as many as it may. */
TEST_F_TIMEOUT(peers, place_of_the_evicted_of_a_peer_is_the_newcomers, 60)
{
	long port = rmpp_param_set("rmpp_port_transfers", PLACES), peer;
	int other = open_server(METHOD_TABLE + 1);
	uint32_t seg;

	ASSERT_LT(0, port);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, fill(self, PLACES, 2, 3));
	for (seg = 1; seg <= 2; seg++) {
		ASSERT_EQ(0, inject_data(self, HONEST + 1, METHOD_TABLE + 1, 2, seg, 3));
		EXPECT_EQ(RMPP_ACK, answer(self, 2));
	}
	peer = rmpp_param_set("rmpp_peer_transfers", 1);
	ASSERT_LT(0, peer);
	sleep_ms(1500);
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1, 1, 3));
	EXPECT_EQ(RMPP_ACK, answer(self, 1));
	close(other);
	rmpp_param_set("rmpp_peer_transfers", peer);
	rmpp_param_set("rmpp_port_transfers", port);
}

/* Each newcomer takes a dead one away, but has no place before there are fewer than the bound. */
static void expect_hold(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			const char *bound)
{
	long old = rmpp_param_set(bound, PLACES);
	unsigned int i;

	ASSERT_LT(0, old);
	ASSERT_EQ(0, fill(self, PLACES, 2, 3));
	sleep_ms(7000);
	ASSERT_EQ(PLACES, rmpp_param_set(bound, PLACES - 4));
	for (i = 0; i <= 4; i++) {
		ASSERT_EQ(0, inject_data(self, HONEST + i, METHOD_TABLE, i, 1, 3));
		EXPECT_EQ(i < 4 ? RMPP_STOP : RMPP_ACK, answer(self, i));
	}
	rmpp_param_set(bound, old);
}

TEST_F_TIMEOUT(peers, bound_that_is_lowered_takes_hold, 60)
{
	expect_hold(_metadata, self, transfers);
}

TEST_F_TIMEOUT(peers, bound_of_the_port_that_is_lowered_takes_hold, 60)
{
	expect_hold(_metadata, self, "rmpp_port_transfers");
}

TEST_F_TIMEOUT(peers, bound_of_a_peer_that_is_lowered_takes_hold, 60)
{
	long old = rmpp_param_set("rmpp_peer_transfers", 8);
	unsigned int i;

	ASSERT_LT(0, old);
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 100 + i, 1, 3));
	sleep_ms(1200);
	while (see(self, 0) >= 0)
		;
	ASSERT_EQ(8, rmpp_param_set("rmpp_peer_transfers", 4));
	for (i = 0; i <= 4; i++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, i, 1, 3));
		EXPECT_EQ(i < 4 ? RMPP_STOP : RMPP_ACK, answer(self, i));
	}
	rmpp_param_set("rmpp_peer_transfers", old);
}

/* Their ACKs wait in the send queue, so they stay; but others are idle. */
TEST_F_TIMEOUT(peers, copies_of_the_oldest_do_not_keep_the_others, 60)
{
	struct sched_param first = { .sched_priority = 50 }, usual = { 0 };
	unsigned int i;

	ASSERT_LT(0, rmpp_param_set(transfers, PLACES));
	ASSERT_EQ(0, fill(self, PLACES, 1, 3));
	sleep_ms(1500);
	/* No ACK leaves before the newcomer is here. */
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &first));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(0, inject_data(self, i, METHOD_TABLE, 1000 + i, 1, 3));
	EXPECT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, 1, 3));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &usual));
	EXPECT_EQ(RMPP_ACK, answer(self, 1));
	rmpp_param_set(transfers, ALL_PLACES);
}

static int send_part(FIXTURE_DATA(peers) *self, uint64_t tid, uint32_t from, uint32_t to,
		     uint32_t segs)
{
	uint32_t seg;

	for (seg = from; seg <= to; seg++) {
		if (inject_data(self, HONEST, METHOD_TABLE, tid, seg, segs))
			return -EIO;
		while (see(self, 3) >= 0)
			if (self->pkt.type == RMPP_STOP)
				return -ECONNABORTED;
	}
	return 0;
}

/* It has been idle longest itself, and needs a page: another of the same peer gives way. */
TEST_F_TIMEOUT(peers, longest_idle_message_goes_on, 60)
{
	long old = rmpp_param_set("rmpp_peer_bytes", 64 << 10);

	ASSERT_LT(0, old);
	/* 18 segments of 216 bytes fill a page but for 208 bytes. */
	ASSERT_EQ(0, send_part(self, 1, 1, 18, 60));
	ASSERT_EQ(0, send_part(self, 2, 1, 280, 400));
	sleep_ms(1900);
	/* There may be a STOP of the other. */
	send_part(self, 1, 19, 60, 60);
	EXPECT_EQ(0, send_part(self, 1, 20, 60, 60));
	EXPECT_TRUE(has_one(self, 1, 60));
	rmpp_param_set("rmpp_peer_bytes", old);
}

/* First segments of many, to who serves @method. */
static int begin_many(FIXTURE_DATA(peers) *self, unsigned int n, uint8_t method)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (inject_data(self, i / 50, method, 1000 + i, 1, 3))
			return -EIO;
		if (i % 50 == 49)
			while (see(self, 0) >= 0)
				;
	}
	return 0;
}

/* Each is acknowledged once, and not again and again, as if few had lost their ACK. */
TEST_F_TIMEOUT(peers, flood_of_first_segments_is_not_answered_twice, 60)
{
	long acks = hwsim_counter(DEVICE, 1, "tx_packets");

	ASSERT_EQ(0, begin_many(self, MANY, METHOD_TABLE));
	sleep_ms(1000);
	acks = hwsim_counter(DEVICE, 1, "tx_packets") - acks;
	TH_LOG("%ld", acks);
	EXPECT_LE(MANY, acks);
	EXPECT_GE(MANY + 100, acks);
}

/* However many files it has, one after another: each takes time. But who has sent more is told. */
TEST_F_TIMEOUT(peers, process_that_ends_tells_so_many_only, 60)
{
	int fd = open_server(METHOD_TABLE + 1), last = open_server(METHOD_TABLE + 2);
	long aborts, told = 0;

	ASSERT_TRUE(fd >= 0 && last >= 0);
	ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE + 2, 1, 1, 100) ?:
		     inject_data(self, HONEST, METHOD_TABLE + 2, 1, 2, 100));
	ASSERT_EQ(0, begin_many(self, MANY, METHOD_TABLE) ?:
		     begin_many(self, MANY, METHOD_TABLE + 1));
	while (see(self, WHILE) >= 0)
		;
	aborts = hwsim_counter(DEVICE, 1, "tx_packets");
	close(fd);
	sleep_ms(WHILE);
	close(self->fd);
	self->fd = -1;
	sleep_ms(WHILE);
	aborts = hwsim_counter(DEVICE, 1, "tx_packets") - aborts;
	EXPECT_LE(200, aborts);
	if (kernel_debugs())
		SKIP(return, "it takes seconds");
	EXPECT_GE(300, aborts);
	close(last);
	while (see(self, WHILE) >= 0)
		told |= self->pkt.type == RMPP_ABORT &&
			be64toh(frame_mad(&self->seen)->tid) == 1;
	EXPECT_TRUE(told);
}

TEST_HARNESS_MAIN
