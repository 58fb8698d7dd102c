// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Nodes that were asked and answer slowly, and nodes that ask now and then: what they cost
 * others, and what keeps their messages from being sent. For a guest on the instruction clock.
 */
#include "hwsim_peers.h"

#include <signal.h>
#include <sys/wait.h>

static int packet(FIXTURE_DATA(peers) *self, uint16_t peer, uint8_t method, uint64_t tid,
		  uint32_t seg, uint32_t segs, uint32_t claim)
{
	const struct rmpp_pkt pkt = rmpp_data_pkt(seg, segs, claim);

	return inject(self, peer, method, tid, &pkt);
}

/* A plain request to a peer; its TID on the wire. */
static int ask(FIXTURE_DATA(peers) *self, uint16_t peer, uint32_t timeout_ms, uint64_t *tid)
{
	self->port.lid = PEER + peer;
	self->asked++;
	return request(self, 100, timeout_ms, tid);
}

static int answer_of(FIXTURE_DATA(peers) *self, uint64_t tid, int wait_ms)
{
	uint64_t start = now_ms();

	while (now_ms() - start < wait_ms) {
		int type = see(self, 10);

		if (type >= 0 && be64toh(frame_mad(&self->seen)->tid) == tid)
			return type;
	}
	return -ETIME;
}

/* Who was asked sends a segment of its response every 9 s, of a million. */
TEST_F_TIMEOUT(peers, slow_response_ends, 120)
{
	uint64_t tid, start;
	uint32_t seg = 1;
	int ret = 0;

	ASSERT_EQ(0, ask(self, 0, 100, &tid));
	start = now_ms();
	while (now_ms() - start < 62000) {
		ASSERT_EQ(0, packet(self, 0, METHOD_TABLE | METHOD_RESP, tid, seg++, 1000000, 0));
		ret = rmpp_msg_read(self->fd, &self->got, HDR_NEW, 9000);
		if (ret != -ETIME)
			break;
		while (see(self, 0) >= 0)
			;
	}
	TH_LOG("after %llu ms, %u packets: %d", (unsigned long long)(now_ms() - start),
	       seg - 1, ret);
	EXPECT_NE(-ETIME, ret);
}

/* Who was asked begins its response, ends it, and begins again, each 80 ms. */
TEST_F_TIMEOUT(peers, response_that_begins_again_ends, 120)
{
	uint64_t tid, start;
	int ret = 0;

	ASSERT_EQ(0, ask(self, 0, 100, &tid));
	start = now_ms();
	while (now_ms() - start < 62000) {
		ASSERT_EQ(0, packet(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000, 0));
		ret = rmpp_msg_read(self->fd, &self->got, HDR_NEW, 20);
		if (ret != -ETIME)
			break;
		ASSERT_EQ(0, abort_answer(self, tid));
		ret = rmpp_msg_read(self->fd, &self->got, HDR_NEW, 60);
		if (ret != -ETIME)
			break;
		while (see(self, 0) >= 0)
			;
	}
	TH_LOG("after %llu ms: %d", (unsigned long long)(now_ms() - start), ret);
	EXPECT_NE(-ETIME, ret);
	EXPECT_LE(30000, now_ms() - start);
}

/* A server that is started again has ended its response: the request is sent again. */
TEST_F_TIMEOUT(peers, request_goes_on_after_an_abort, 60)
{
	uint64_t tid, start;
	int sent = 0;

	ASSERT_EQ(0, request_retried(self, 100, 500, 5, &tid));
	ASSERT_EQ(0, packet(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000, 0));
	sleep_ms(50);
	ASSERT_EQ(0, abort_answer(self, tid));
	start = now_ms();
	while (rmpp_msg_read(self->fd, &self->got, HDR_NEW, 10) == -ETIME &&
	       now_ms() - start < 20000)
		while (see(self, 0) >= 0)
			sent += frame_mad(&self->seen)->method == METHOD_TABLE &&
				!(self->pkt.flags & RMPP_ACTIVE);
	TH_LOG("%d times, %llu ms", sent, (unsigned long long)(now_ms() - start));
	EXPECT_EQ(5, sent);
	/* Six timeouts of 500 ms, one of them longer by what had begun. */
	EXPECT_GE(5000, now_ms() - start);
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
}

/* What was acknowledged, though the response is to come. */
TEST_F(peers, message_that_has_arrived_takes_no_memory)
{
	long bytes = rmpp_param_set("rmpp_send_bytes", 10000);
	uint64_t tid;
	int i;

	ASSERT_LT(0, bytes);
	for (i = 0; i < 4; i++) {
		self->asked++;
		EXPECT_EQ(0, request(self, 2 * SEG, 10000, &tid));
		EXPECT_EQ(0, peer_acks(self, tid, 1, 10));
		EXPECT_LE(0, see_packet(self, tid, RMPP_DATA, 2));
		EXPECT_EQ(0, peer_acks(self, tid, 2, 10));
		EXPECT_LE(0, see_packet(self, tid, RMPP_ACK, 0));
	}
	rmpp_param_set("rmpp_send_bytes", bytes);
}

/* Whatever others hold, an answer of one segment has room. */
TEST_F(peers, one_segment_needs_no_room)
{
	long bytes = rmpp_param_set("rmpp_send_bytes", 10000);
	int i;

	ASSERT_LT(0, bytes);
	for (i = 0; i < 4; i++) {
		rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
			      METHOD_TABLE | METHOD_RESP, i, i ? 100 : 5000, i);
		rmpp_user_hdr(&self->msg)->lid = htobe16(PEER + i);
		EXPECT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	}
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE | METHOD_RESP, i, 1000, i);
	rmpp_user_hdr(&self->msg)->lid = htobe16(PEER + i);
	EXPECT_EQ(-ENOMEM, rmpp_msg_write(self->fd, &self->msg));
	rmpp_param_set("rmpp_send_bytes", bytes);
}

/* One that was asked answers with that many segments, of no end. */
static int half_answer(FIXTURE_DATA(peers) *self, uint16_t peer, uint64_t tid, uint32_t from,
		       uint32_t to)
{
	uint32_t seg;

	for (seg = from; seg <= to; seg++)
		if (packet(self, peer, METHOD_TABLE | METHOD_RESP, tid, seg, 1000000, 0) ||
		    (seg % 8 == 1 && answer_of(self, tid, 100) == RMPP_STOP))
			return -ENOSPC;
	return 0;
}

/* Nodes that send what nobody has asked for, in all the places that there are. */
TEST_F(peers, response_begins_beside_messages_in_all_places)
{
	long transfers = rmpp_param_set("rmpp_file_transfers", 8);
	uint64_t tid;
	int i;

	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, inject_data(self, 1 + i, METHOD_TABLE, 100 + i, 1, 3));
		ASSERT_EQ(RMPP_ACK, see_packet(self, 100 + i, RMPP_ACK, 1));
	}
	ASSERT_EQ(0, ask(self, 20, SOON, &tid));
	for (i = 1; i <= 3; i++)
		ASSERT_EQ(0, inject_data(self, 20, METHOD_TABLE | METHOD_RESP, tid, i, 3));
	EXPECT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
	if (transfers >= 0)
		rmpp_param_set("rmpp_file_transfers", transfers);
}

/* A response too many ends none of the messages that have places of their own. */
TEST_F(peers, response_too_many_ends_no_message)
{
	long transfers = rmpp_param_set("rmpp_port_transfers", 3);
	uint64_t tid;
	int i;

	if (transfers < 0)
		SKIP(return, "there are no bounds");
	ASSERT_EQ(0, inject_data(self, 1, METHOD_TABLE, 100, 1, 3));
	ASSERT_EQ(RMPP_ACK, see_packet(self, 100, RMPP_ACK, 1));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, ask(self, 20 + i, 2 * SOON, &tid));
		ASSERT_EQ(0, inject_data(self, 20 + i, METHOD_TABLE | METHOD_RESP, tid, 1, 3));
		ASSERT_EQ(RMPP_ACK, answer_of(self, tid, SOON));
	}
	sleep_ms(1200);
	ASSERT_EQ(0, ask(self, 20 + i, 2 * SOON, &tid));
	ASSERT_EQ(0, inject_data(self, 20 + i, METHOD_TABLE | METHOD_RESP, tid, 1, 3));
	EXPECT_EQ(RMPP_STOP, answer_of(self, tid, SOON));
	for (i = 2; i <= 3; i++)
		ASSERT_EQ(0, inject_data(self, 1, METHOD_TABLE, 100, i, 3));
	EXPECT_EQ(RMPP_ACK, see_packet(self, 100, RMPP_ACK, 3));
	rmpp_param_set("rmpp_port_transfers", transfers);
}

/* Two that were asked keep all bytes of the file: others are heard if they are short. */
TEST_F_TIMEOUT(peers, asked_nodes_keep_no_response_of_others_out, 120)
{
	long bytes = rmpp_param_set("rmpp_file_bytes", 65536);
	uint64_t tid[2], other;
	uint32_t segs = 145; /* eight pages, and there is room for six more */
	int i, round, ok = 0, type = 0;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, ask(self, i, 100, &tid[i]));
		EXPECT_EQ(0, half_answer(self, i, tid[i], 1, segs));
		while (see(self, 0) >= 0)
			;
	}
	for (round = 0; round < 4; round++) {
		/* They hold more than they may, too. */
		if (round == 2)
			rmpp_param_set("rmpp_file_bytes", 32768);
		ASSERT_EQ(0, ask(self, 2, 2000, &other));
		ASSERT_EQ(0, packet(self, 2, METHOD_TABLE | METHOD_RESP, other, 1, 1, 0));
		type = answer_of(self, other, 1000);
		while (rmpp_msg_read(self->fd, &self->got, HDR_NEW, 2500) > 0) {
			ok += rmpp_tid(&self->got) == (uint32_t)other &&
			      !rmpp_user_hdr(&self->got)->status;
			if (rmpp_tid(&self->got) == (uint32_t)other)
				break;
		}
		TH_LOG("round %d: answered by type %d status %u, %d responses", round, type,
		       self->pkt.status, ok);
		/* And one segment more each, of the page that is there. */
		segs++;
		for (i = 0; i < 2; i++)
			half_answer(self, i, tid[i], segs, segs);
	}
	if (bytes >= 0)
		rmpp_param_set("rmpp_file_bytes", bytes);
	EXPECT_EQ(4, ok);
}

#define LONG_SEGS	3000
#define SHORT_TID	0x5000000

static void serve_short(void)
{
	struct rmpp_msg got = {}, reply = {};
	int fd = open_server(METHOD_TABLE + 1);

	if (fd < 0)
		_exit(1);
	for (;;) {
		if (rmpp_msg_read(fd, &got, HDR_NEW, 1000) < 0)
			continue;
		rmpp_msg_reply(&reply, &got, 0, 3 * SEG, 1);
		rmpp_msg_write(fd, &reply);
	}
}

static uint64_t short_tid = SHORT_TID;

/* A node asks another process for an answer of 3 segments, or sends a single MAD. */
static void ask_shortly(FIXTURE_DATA(peers) *self, bool is_short)
{
	const uint8_t all = RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST;
	const struct rmpp_pkt whole = { 1, RMPP_DATA, all, 0, 1, SEG }, plain = {};

	if (is_short)
		inject(self, 5, METHOD_TABLE + 1, short_tid++, &whole);
	else
		inject(self, 5, METHOD_TABLE, short_tid++, &plain);
}

/* Segments that have come in order, each 16th of which the receiver acknowledges. */
static uint32_t take_segment(FIXTURE_DATA(peers) *self, uint32_t tid, uint32_t seg)
{
	uint64_t seen = be64toh(frame_mad(&self->seen)->tid);
	struct rmpp_pkt ack = { 1, RMPP_ACK, RMPP_ACTIVE, 0, self->pkt.seg, 64 };

	if (seen >= SHORT_TID)
		inject(self, 5, METHOD_TABLE + 1, seen, &ack);
	if (seen != tid || self->pkt.seg != seg + 1)
		return seg;
	seg++;
	ack.len = seg + 64;
	if (seg == 1 || seg == LONG_SEGS || !(seg % 16))
		inject(self, 0, METHOD_TABLE, tid, &ack);
	return seg;
}

/* us that a long answer takes, if one is asked each @every us; or an errno. */
static long send_long(FIXTURE_DATA(peers) *self, uint32_t tid, long every, bool is_short)
{
	uint64_t start = now_us(), next = start;
	uint32_t seg = 0;

	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE | METHOD_RESP, tid, LONG_SEGS * SEG, tid);
	rmpp_user_hdr(&self->msg)->lid = htobe16(PEER);
	rmpp_user_hdr(&self->msg)->grh_present = 0;
	if (rmpp_msg_write(self->fd, &self->msg) < 0)
		return -EIO;
	while (seg < LONG_SEGS) {
		if (every && now_us() >= next) {
			next += every;
			ask_shortly(self, is_short);
		}
		if (see(self, 1) == RMPP_DATA)
			seg = take_segment(self, tid, seg);
		else if (now_us() - start > 40000000)
			return -ETIME;
	}
	return now_us() - start;
}

/* Each turn begins with a thread that is woken up: see promise_neighbour. */
static int times_alone(void)
{
	return kernel_from(6, 6) ? 6 : 2;
}

static void long_beside(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			const long every[3], bool is_short)
{
	long alone, beside;
	int i;

	ASSERT_LT(0, send_long(self, 1, 0, false));
	alone = send_long(self, 2, 0, false);
	ASSERT_LT(0, alone);
	for (i = 0; i < 3; i++) {
		sleep_ms(1500);
		beside = send_long(self, 3 + i, every[i], is_short);
		TH_LOG("%ld us alone; with one each %ld us: %ld us", alone, every[i], beside);
		EXPECT_LT(0, beside);
		EXPECT_GE(times_alone() * alone, beside);
	}
}

TEST_F_TIMEOUT(peers, few_short_requests_do_not_slow_a_long_answer, 180)
{
	const long every[] = { 45000, 20000, 5000 };
	pid_t pid = fork();

	if (!pid)
		serve_short();
	sleep_ms(500);
	long_beside(_metadata, self, every, true);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Each turn of the long one waits twice as long as it takes. */
TEST_F_TIMEOUT(peers, few_single_packets_do_not_slow_a_long_answer, 180)
{
	const long every[] = { 500000, 2500, 1000 };

	long_beside(_metadata, self, every, false);
}

TEST_HARNESS_MAIN
