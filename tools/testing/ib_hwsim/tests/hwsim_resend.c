// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What is sent again, when, and how much of it a device that stands is given. */
#include "hwsim_peers.h"

/* That nobody acknowledges; UMAD_UNACKED says how many on a slow kernel. */
static int unacked(void)
{
	return env_long("UMAD_UNACKED", 2000);
}

#define RETRIES		0x7fffffff	/* as good as without end */
#define LINE_FIRST	200
#define LINE_MAX	8000

/* Requests that nobody answers, written by the program itself. */
static int retried_requests(FIXTURE_DATA(peers) *self, int n, uint32_t retries)
{
	struct umad_msg msg;
	int i;

	msg_init(&msg, &self->port, 0, CLASS_RMPP, METHOD_TABLE, 0);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = 1;
	msg.hdr.retries = retries;
	for (i = 0; i < n; i++) {
		msg.mad.tid = htobe64(1000 + self->asked++);
		if (msg_write(self->fd, &msg) != MSG_LEN)
			return -EIO;
	}
	return 0;
}

/* An attempt for each of them would be put into the queue of a device that stands. */
TEST_F(peers, attempts_do_not_pile_up_behind_a_slow_send_queue)
{
	int frames = 0;

	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	ASSERT_EQ(0, retried_requests(self, 50, RETRIES));
	while (see(self, WHILE) >= 0)
		frames++;
	TH_LOG("%d frames", frames);
	/* So many of the file's, as the next does not wait for the end of one. */
	EXPECT_LE(50 + 8, frames);
	EXPECT_GE(50 + 10, frames);
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	/* And on they go. */
	for (frames = 0; frames < 100; frames++)
		ASSERT_LE(0, see(self, SOON));
}

/* Waits for it to be sent, whatever else is; its TID on the wire, or 0. */
static uint64_t see_segment(FIXTURE_DATA(peers) *self, uint32_t tid, uint32_t seg)
{
	uint64_t start = now_ms();

	while (see(self, SOON) >= 0 && now_ms() - start < SOON) {
		if ((uint32_t)be64toh(frame_mad(&self->seen)->tid) == tid &&
		    self->pkt.seg == seg)
			return be64toh(frame_mad(&self->seen)->tid);
	}
	return 0;
}

/* As many requests as have all been sent again once after so many ms, or all but. */
static int line_of(FIXTURE_DATA(peers) *self, int ms)
{
	int i, n, seen = 0;
	uint64_t start;

	if (retried_requests(self, LINE_FIRST, RETRIES))
		return -EIO;
	start = now_ms();
	while (now_ms() - start < 200)
		seen += see(self, 1) >= 0;
	n = ms * seen / 200 - LINE_FIRST;
	for (i = 0; i < n && i < LINE_MAX; i += 100) {
		if (retried_requests(self, 100, RETRIES))
			return -EIO;
		while (see(self, 0) >= 0)
			;
	}
	return i;
}

/*
 * The last segment waits in line to be sent again, behind all requests and longer than
 * its receiver may be silent; meanwhile that repeats its ACK.
 */
TEST_F(peers, message_in_line_is_not_given_up)
{
	uint64_t start, tid, again = 0;
	int i, n, type;

	n = line_of(self, 800);
	ASSERT_LE(0, n);
	TH_LOG("%d requests more", n);
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE, 7, 2 * SEG, 7);
	rmpp_user_hdr(&self->msg)->grh_present = 0;
	rmpp_user_hdr(&self->msg)->timeout_ms = 200;
	rmpp_user_hdr(&self->msg)->retries = 1;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	tid = see_segment(self, 7, 1);
	ASSERT_NE(0, tid);
	ASSERT_EQ(0, peer_acks(self, tid, 1, 10));
	ASSERT_EQ(tid, see_segment(self, 7, 2));
	start = now_ms();
	for (i = 1; !again && now_ms() - start < 7000;) {
		/* A third one would tell of a loss. */
		if (i < 3 && now_ms() - start > i * 150) {
			ASSERT_EQ(0, peer_acks(self, tid, 1, 10));
			i++;
		}
		type = see(self, 1);
		if (type < 0 || frame_mad(&self->seen)->tid != htobe64(tid))
			continue;
		again = now_ms() - start;
		TH_LOG("type %d of %u, status %u, after %llu ms", type, self->pkt.seg,
		       self->pkt.status, (unsigned long long)again);
		EXPECT_EQ(RMPP_DATA, type);
	}
	/* Without a line it would be 100. */
	EXPECT_LT(400, again);
}

/* An answer of one segment to the n-th peer. */
static int answer(FIXTURE_DATA(peers) *self, uint16_t peer, uint32_t tid,
		  uint32_t retries)
{
	struct ib_user_mad_hdr *hdr;

	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE | METHOD_RESP, tid, SEG, tid);
	hdr = rmpp_user_hdr(&self->msg);
	hdr->lid = htobe16(PEER + peer);
	hdr->grh_present = 0;
	hdr->retries = retries;
	return rmpp_msg_write(self->fd, &self->msg) < 0 ? -EIO : 0;
}

/* ms until something goes to the n-th peer, whatever goes to others. */
static int ms_to_frame(FIXTURE_DATA(peers) *self, uint16_t peer)
{
	uint64_t start = now_ms();

	while (now_ms() - start < SOON) {
		if (see(self, SOON) >= 0 && self->seen.dlid == PEER + peer)
			return now_ms() - start;
	}
	return -ETIME;
}

/*
 * What one peer does not acknowledge is sent again for 8 s, and comes to more than
 * there are turns. Another one's answer is lost once.
 */
TEST_F(peers, who_acknowledges_nothing_delays_no_other)
{
	uint64_t start = now_ms();
	int i, ms;

	for (i = 0; i < unacked(); i++) {
		ASSERT_EQ(0, answer(self, 0, 1 + i, 3));
		while (see(self, 0) >= 0)
			;
	}
	/* Until the first time-outs of all have come. */
	while (now_ms() - start < 1500)
		see(self, 1);
	ASSERT_EQ(0, answer(self, 1, 1, 3));
	ASSERT_LE(0, ms_to_frame(self, 1));
	ms = ms_to_frame(self, 1);
	TH_LOG("sent again after %d ms", ms);
	EXPECT_LE(50, ms);
	EXPECT_GE(400, ms);
}

/*
 * Each rotation of the line takes them 4 s, which is no silence of the receiver; but
 * without an end the line would grow with each message that is not acknowledged. It is
 * 8 s in all, and three attempts take 6 s.
 */
TEST_F_TIMEOUT(peers, message_does_not_wait_in_line_for_ever, 120)
{
	struct test_port port;
	int i, n = 2 * unacked();
	uint64_t start, took;

	ASSERT_EQ(0, hwsim_umad(DEVICE, 1, "umad", port.node, sizeof(port.node)));
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, answer(self, 0, 1 + i, 2));
	start = now_ms();
	while (umad_counter(&port, "rmpp_tx_failed") < n &&
	       now_ms() - start < 60000)
		sleep_ms(100);
	took = now_ms() - start;
	TH_LOG("%ld after %llu ms", umad_counter(&port, "rmpp_tx_failed"),
	       (unsigned long long)took);
	EXPECT_EQ(n, umad_counter(&port, "rmpp_tx_failed"));
	EXPECT_GE(8000 + 6000 + 1000, took);
}

/* It may not even have left: that is no silence of the receiver. */
TEST_F(peers, segment_in_a_slow_send_queue_is_not_sent_again)
{
	const struct rmpp_pkt ack = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 1, 1 };

	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	ASSERT_EQ(0, answer(self, 0, 1, 0));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	EXPECT_EQ(-ETIME, see(self, 3000));
	/* Nor is it reported. */
	EXPECT_EQ(-ETIME, rmpp_msg_read(self->fd, &self->got, HDR_NEW, 0));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_EQ(0, inject(self, 0, METHOD_TABLE, be64toh(frame_mad(&self->seen)->tid),
			    &ack));
	EXPECT_EQ(-ETIME, see(self, 3000));
	EXPECT_EQ(-ETIME, rmpp_msg_read(self->fd, &self->got, HDR_NEW, 0));
}

/* What has left since, and what then leaves of what ib_core has behind the device. */
static long sent_in_all(FIXTURE_DATA(peers) *self, long before)
{
	hwsim_set(DEVICE, 1, "hold_completions", "0");
	while (see(self, WHILE) >= 0)
		;
	return hwsim_counter(DEVICE, 1, "tx_packets") - before;
}

/* Its receiver repeats an ACK; what was sent since is dropped. */
static int repeat_ack(FIXTURE_DATA(peers) *self, uint64_t tid, uint32_t seg, int ms)
{
	uint64_t start = now_ms();

	while (now_ms() - start < ms) {
		if (peer_acks(self, tid, seg, 10))
			return -EIO;
		while (see(self, 1) >= 0)
			;
	}
	return 0;
}

/* Each repeated ACK uses up what waits for the response, and tells of a loss. */
TEST_F(peers, last_segments_do_not_pile_up)
{
	long frames, before = hwsim_counter(DEVICE, 1, "tx_packets");
	uint64_t tid;

	ASSERT_EQ(0, request(self, 2 * SEG, 1000, &tid));
	ASSERT_EQ(0, peer_acks(self, tid, 1, 10));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	ASSERT_EQ(0, repeat_ack(self, tid, 1, 1000));
	frames = sent_in_all(self, before);
	TH_LOG("%ld segments", frames);
	/* 64 in the device at a time, and what follows when that goes on. */
	EXPECT_GE(80, frames);
}

TEST_F(peers, single_segments_do_not_pile_up)
{
	struct rmpp_msg *msg = &self->msg;
	long frames, before = hwsim_counter(DEVICE, 1, "tx_packets");
	uint64_t tid;

	rmpp_msg_init(msg, &self->port, HDR_NEW, 0, CLASS_RMPP, METHOD_TABLE, 7,
		      SEG, 7);
	rmpp_user_hdr(msg)->grh_present = 0;
	rmpp_user_hdr(msg)->timeout_ms = 1000;
	rmpp_user_hdr(msg)->retries = 3;
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	ASSERT_LT(0, rmpp_msg_write(self->fd, msg));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	tid = be64toh(frame_mad(&self->seen)->tid);
	ASSERT_EQ(0, repeat_ack(self, tid, 0, 1500));
	frames = sent_in_all(self, before);
	TH_LOG("%ld segments", frames);
	EXPECT_GE(80, frames);
}

/* Each uses up what waits for the response of a request that is sent again and again. */
TEST_F(peers, stray_packets_make_no_attempts_pile_up)
{
	const struct rmpp_pkt stray = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 0, 1 };
	long frames, before = hwsim_counter(DEVICE, 1, "tx_packets");
	uint64_t tid, start;

	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	ASSERT_EQ(0, retried_requests(self, 1, RETRIES));
	ASSERT_LE(0, see(self, SOON));
	tid = be64toh(frame_mad(&self->seen)->tid);
	start = now_ms();
	while (now_ms() - start < 1500) {
		ASSERT_EQ(0, inject(self, 1, METHOD_TABLE | METHOD_RESP, tid, &stray));
		while (see(self, 1) >= 0)
			;
	}
	frames = hwsim_counter(DEVICE, 1, "tx_packets") - before;
	TH_LOG("%ld attempts", frames);
	EXPECT_GE(4 + 8, frames);
	/* And on it goes. */
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	for (frames = 0; frames < 20; frames++)
		ASSERT_LE(0, see(self, SOON));
}

/*
 * Whether the copy that waits in place of another has left is not known: each takes 1 ms
 * of the port's time, however fast the device is.
 */
#define STRAYS	100

TEST_F(peers, copies_for_strays_keep_their_pace)
{
	const struct rmpp_pkt stray = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 0, 1 };
	uint64_t tids[STRAYS], start, ms;
	int i;

	/* One that is sent again tells how fast that is. */
	ASSERT_EQ(0, retried_requests(self, 1, 3));
	for (i = 0; i < 1 + 3; i++)
		ASSERT_LE(0, see(self, SOON));
	for (i = 0; i < STRAYS; i++, self->asked++)
		ASSERT_EQ(0, request(self, SEG / 2, 60000, &tids[i]));
	start = now_ms();
	for (i = 0; i < STRAYS; i++)
		ASSERT_EQ(0, inject(self, 1, METHOD_TABLE | METHOD_RESP, tids[i], &stray));
	for (i = 0; i < STRAYS; i++)
		ASSERT_LE(0, see(self, SOON));
	ms = now_ms() - start;
	TH_LOG("%d copies in %llu ms", STRAYS, (unsigned long long)ms);
	EXPECT_LE(STRAYS - 10, ms);
}

TEST_F(peers, answers_to_strays_do_not_pile_up)
{
	const struct rmpp_pkt bad = { 1, RMPP_DATA, RMPP_ACTIVE | RMPP_FIRST, 1, 1, 0 };
	long frames, before = hwsim_counter(DEVICE, 1, "tx_packets");
	int i;

	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	for (i = 0; i < 500; i++) {
		ASSERT_EQ(0, inject(self, 1, METHOD_TABLE, 5000 + i, &bad));
		while (see(self, i % 8 ? 0 : 1) >= 0)
			;
	}
	frames = sent_in_all(self, before);
	TH_LOG("%ld answers", frames);
	EXPECT_LE(1, frames);
	EXPECT_GE(16, frames);
	ASSERT_EQ(0, inject(self, 1, METHOD_TABLE, 4999, &bad));
	EXPECT_EQ(RMPP_ABORT, see(self, SOON));
}

/* A request of two segments that are acknowledged, and the first turn-around ACK. */
static int request_turned(FIXTURE_DATA(peers) *self, uint64_t *tid)
{
	if (request(self, 2 * SEG, -1, tid) || peer_acks(self, *tid, 1, 10) ||
	    see(self, SOON) != RMPP_DATA || peer_acks(self, *tid, 2, 10) ||
	    see(self, SOON) != RMPP_ACK)
		return -EIO;
	return 0;
}

/*
 * What it offers is no part of the port's budget until the answer has begun. One to a program that
 * has ended is sent as far as it was offered; and many at once fill the receive queue.
 */
TEST_F(peers, turn_around_ACK_offers_little)
{
	uint64_t tid;

	ASSERT_EQ(0, request_turned(self, &tid));
	TH_LOG("%u segments", self->pkt.len);
	EXPECT_LE(1, self->pkt.len);
	EXPECT_GE(16, self->pkt.len);
}

/* How many the peer is sent while it says that it has not seen them. */
static int turn_arounds(FIXTURE_DATA(peers) *self, uint64_t tid)
{
	int i, acks = 0;

	for (i = 0; i < 200; i++) {
		if (peer_acks(self, tid, 2, 10))
			return -EIO;
		while (see(self, 0) == RMPP_ACK)
			acks++;
	}
	while (see(self, WHILE) == RMPP_ACK)
		acks++;
	return acks;
}

/*
 * It uses up the last one each time, so that there are more of them than of what nobody
 * waits for.
 */
TEST_F(peers, turn_around_ACKs_do_not_pile_up)
{
	static const struct rmpp_pkt plain;
	uint64_t tid;
	int acks;

	ASSERT_EQ(0, request_turned(self, &tid));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	acks = turn_arounds(self, tid);
	TH_LOG("%d turn-around ACKs", acks);
	EXPECT_LE(1, acks);
	EXPECT_GE(64, acks);
	/* Then the next is sent, which catches the response. */
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	ASSERT_EQ(RMPP_ACK, see(self, SOON));
	ASSERT_EQ(0, inject(self, 0, METHOD_TABLE | METHOD_RESP, tid, &plain));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
}

/* With a GRH ib_core does not take it for the response of what was sent without. */
TEST_F(peers, turn_around_ACKs_that_nobody_has_used_up_do_not_pile_up)
{
	uint64_t tid;
	int acks;

	ASSERT_EQ(0, request_turned(self, &tid));
	ASSERT_EQ(0, use_gid(self, 1));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	acks = turn_arounds(self, tid);
	TH_LOG("%d turn-around ACKs", acks);
	EXPECT_LE(1, acks);
	EXPECT_GE(4, acks);
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
}

/* Answers of 20,000 bytes to a peer that acknowledges none, until there is no room. */
static int answers_that_fit(FIXTURE_DATA(peers) *self, uint16_t peer, bool grh)
{
	static uint32_t tid;
	int i, ret = 1;

	for (i = -1; ret > 0 && i < 100; i++) {
		tid++;
		rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
			      METHOD_TABLE | METHOD_RESP, tid, 20000, tid);
		rmpp_user_hdr(&self->msg)->lid = htobe16(PEER + peer);
		rmpp_user_hdr(&self->msg)->grh_present = grh;
		ret = rmpp_msg_write(self->fd, &self->msg);
	}
	return ret == -ENOMEM ? i : -EIO;
}

/* A server that some of its clients have asked for much has answers for the others. */
TEST_F(peers, no_peer_takes_all_that_may_be_sent)
{
	long bytes = rmpp_param_set("rmpp_send_bytes", 500000);
	int first, again, second, third;

	ASSERT_LT(0, bytes);
	memset(self->port.gid, 0xaa, 16);
	first = answers_that_fit(self, 0, false);
	again = answers_that_fit(self, 0, true);
	second = answers_that_fit(self, 1, false);
	third = answers_that_fit(self, 2, false);
	rmpp_param_set("rmpp_send_bytes", bytes);
	TH_LOG("%d, %d, %d, %d answers", first, again, second, third);
	EXPECT_EQ(12, first);
	/* The same node, whether it has asked with a GRH or not. */
	EXPECT_EQ(0, again);
	/* Each has half of what is left, so there is always more. */
	EXPECT_EQ(6, second);
	EXPECT_EQ(3, third);
}

/* Each is read as timed out while it waits to be sent. */
TEST_F(peers, sends_count_until_they_have_left)
{
	long max = rmpp_param_set("max_sends", 8);
	struct umad_msg msg, got;
	int i, ret = MSG_LEN;

	ASSERT_LT(0, max);
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	msg_init(&msg, &self->port, 0, CLASS_RMPP, METHOD_TABLE, 0);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = 1;
	for (i = 0; i < 50 && ret == MSG_LEN; i++) {
		msg.mad.tid = htobe64(i);
		ret = msg_write(self->fd, &msg);
		if (ret == MSG_LEN)
			EXPECT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &got, SOON));
	}
	rmpp_param_set("max_sends", max);
	TH_LOG("%d requests", i);
	EXPECT_EQ(-ENOBUFS, ret);
	EXPECT_LE(8, i);
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
}

TEST_HARNESS_MAIN
