// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What one node does by having many addresses, or another's, or by being quick. */
#include "hwsim_peers.h"

/*
 * Those that the module does not keep yet, or that take long, run by name only:
 * UMAD_TEST=part_of_the_name, or UMAD_TEST= for all. Then the others do not.
 */
#define CHOOSE(kept)							\
	do {								\
		if (!is_chosen(_metadata->name, kept))			\
			SKIP(return, "see UMAD_TEST");			\
	} while (0)

static bool is_chosen(const char *name, bool kept)
{
	const char *part = getenv("UMAD_TEST");

	return part ? !!strstr(name, part) : kept;
}

#define ROUNDS	12
#define ROUND	250	/* ms */

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
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 77, seg, segs));
		ASSERT_EQ(RMPP_ACK, answer_to(self, 77, SOON));
	}
	sleep_ms(WHILE);
	drain(self);
	ASSERT_EQ(1, delivered(self, 77));
	start = now_ms();
	for (i = 0; i < 1100; i++) {
		ASSERT_EQ(0, inject_data(self, 1, METHOD_TABLE, 1000 + i, 1, 1));
		ASSERT_EQ(RMPP_ACK, see(self, SOON));
		if (i % 16 == 15)
			delivered(self, 77);
	}
	TH_LOG("others took %llu ms", (unsigned long long)(now_ms() - start));
	delivered(self, 77);
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 77, segs, segs));
	EXPECT_EQ(RMPP_ACK, answer_to(self, 77, 1000));
	sleep_ms(WHILE);
	EXPECT_EQ(0, delivered(self, 77));
}

TEST_F(peers, others_messages_do_not_make_one_be_delivered_twice)
{
	CHOOSE(true);
	repeat_after_others(_metadata, self, 1);
}

TEST_F(peers, others_messages_do_not_make_the_last_segment_be_ignored)
{
	CHOOSE(true);
	repeat_after_others(_metadata, self, 2);
}

/* Another node sends a message; is each of its segments acknowledged? */
static int try_message(FIXTURE_DATA(peers) *self, uint16_t peer, uint64_t tid,
		       uint32_t segs)
{
	uint32_t seg;

	drain(self);
	for (seg = 1; seg <= segs; seg++)
		if (inject_data(self, peer, METHOD_TABLE, tid, seg, segs) ||
		    answer_to(self, tid, 200) != RMPP_ACK)
			return 0;
	return 1;
}

/*
 * One LID with four GIDs, a segment of each of its messages every 250 ms: with the
 * defaults 1,024 messages, and 4,096 packets a second; 1 s may pass between two, too.
 */
static void four_gids(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
		      int of_gid)
{
	long transfers = rmpp_param_set("rmpp_file_transfers", 4 * of_gid);
	long of_peer = rmpp_param_set("rmpp_peer_transfers", of_gid);
	int i, round, ok = 0;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 4 * of_gid; i++) {
			if (i % of_gid == 0)
				ASSERT_EQ(0, use_gid(self, 1 + i / of_gid));
			ASSERT_EQ(0, inject_data(self, 9, METHOD_TABLE, 1000 + i, 1 + round, 1000));
			if (i % 8 == 7)
				see(self, 1);
			if (i % 8 == 7)
				drain(self);
		}
		self->grh[0] = 0;
		ok += try_message(self, 0, 77 + round, 2);
		sleep_ms(ROUND);
		drain(self);
	}
	if (transfers >= 0)
		rmpp_param_set("rmpp_file_transfers", transfers);
	if (of_peer >= 0)
		rmpp_param_set("rmpp_peer_transfers", of_peer);
	TH_LOG("%d of %d messages of another node", ok, ROUNDS);
	EXPECT_EQ(ROUNDS, ok);
}

TEST_F(peers, node_with_four_GIDs_does_not_take_all_transfers)
{
	CHOOSE(true);
	four_gids(_metadata, self, 16);
}

/* What each peer may have in any case. */
TEST_F_TIMEOUT(peers, node_with_four_GIDs_does_not_take_all_1024_transfers, 60)
{
	CHOOSE(false);
	four_gids(_metadata, self, 256);
}

/* Within 1 s, or those that do nothing give way. */
TEST_F_TIMEOUT(peers, node_with_many_messages_leaves_as_many, 60)
{
	long transfers = rmpp_param_set("rmpp_file_transfers", 2048);

	if (transfers < 0)
		SKIP(return, "not this module");
	EXPECT_EQ(1024, acked_of_so_many(self, 1, 1000, 1200));
	EXPECT_EQ(512, acked_of_so_many(self, 2, 1000, 700));
	EXPECT_EQ(1, try_message(self, 0, 77, 2));
	/* It has more than is free. What gives way then does so for one that begins. */
	sleep_ms(1200);
	EXPECT_EQ(300, acked_of_so_many(self, 1, 5000, 300));
	rmpp_param_set("rmpp_file_transfers", transfers);
}

/* First segments alone, of which nobody knows whether their sender receives the ACKs. */
static void first_segments(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			   uint32_t segs)
{
	long transfers, of_peer;
	int i, round, ok = 0;

	transfers = rmpp_param_set("rmpp_file_transfers", 64);
	of_peer = rmpp_param_set("rmpp_peer_transfers", 16);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 64; i++) {
			ASSERT_EQ(0, inject_data(self, 9 + i / 4, METHOD_TABLE,
						 1000 + 64 * round + i, 1, 1000));
			if (i % 8 == 7)
				see(self, 1);
		}
		ok += try_message(self, 0, 77 + round, segs);
		sleep_ms(ROUND);
		drain(self);
	}
	if (transfers >= 0)
		rmpp_param_set("rmpp_file_transfers", transfers);
	if (of_peer >= 0)
		rmpp_param_set("rmpp_peer_transfers", of_peer);
	TH_LOG("%d of %d messages of another node", ok, ROUNDS);
	EXPECT_EQ(ROUNDS, ok);
}

/* Most requests are messages of one segment. */
TEST_F(peers, first_segments_alone_keep_out_no_message_of_one_segment)
{
	CHOOSE(true);
	first_segments(_metadata, self, 1);
}

/* Known: Documentation/user/promises.rst. */
TEST_F(peers, first_segments_alone_keep_out_no_message)
{
	CHOOSE(false);
	first_segments(_metadata, self, 2);
}

/* On another LID with the GID of the one who is to be kept out; on RoCE any can. */
TEST_F(peers, node_that_forges_anothers_GID_does_not_keep_it_out)
{
	int i, ok;

	CHOOSE(true);
	ASSERT_EQ(0, use_gid(self, 1));
	for (i = 0; i < 256; i++) {
		ASSERT_EQ(0, inject_data(self, 9, METHOD_TABLE, 1000 + i, 1, 1000));
		if (i % 8 == 7)
			see(self, 1);
	}
	ok = try_message(self, 0, 77, 2);
	TH_LOG("seen %d", ok);
	EXPECT_EQ(1, ok);
}

#define MANY	400

/* A window is shared by the nodes that send; who has many addresses is many. */
TEST_F(peers, many_GIDs_do_not_take_the_windows_of_others)
{
	uint64_t start = now_ms();
	int i;

	CHOOSE(true);
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, use_gid(self, i));
		self->grh[22] = i >> 8;
		ASSERT_EQ(0, inject_data(self, 9, METHOD_TABLE, 1000 + i, 1, 1000));
		if (i % 16 == 15)
			see(self, 1);
	}
	self->grh[0] = 0;
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 77, 1, 1000));
	ASSERT_EQ(RMPP_ACK, answer_to(self, 77, SOON));
	TH_LOG("window %u, after %llu ms", self->pkt.len - self->pkt.seg,
	       (unsigned long long)(now_ms() - start));
	EXPECT_LE(16, self->pkt.len - self->pkt.seg);
}

/* Who was granted much has to use it: not by one segment now and then. */
TEST_F(peers, slow_senders_do_not_keep_windows)
{
	const uint32_t segs = 100000;
	uint32_t seg;
	uint16_t peer;
	int round;

	CHOOSE(true);
	for (round = 0, seg = 1; round < 6; round++, seg += 1 + (seg == 1)) {
		for (peer = 1; peer <= 2; peer++) {
			ASSERT_EQ(0, inject_data(self, peer, METHOD_TABLE, peer, seg, segs));
			ASSERT_EQ(RMPP_ACK, answer_to(self, peer, SOON));
			if (seg == 1)
				TH_LOG("has %u", self->pkt.len - self->pkt.seg);
		}
		sleep_ms(200);
	}
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 77, 1, 1000));
	ASSERT_EQ(RMPP_ACK, answer_to(self, 77, SOON));
	TH_LOG("window %u", self->pkt.len - self->pkt.seg);
	EXPECT_LE(16, self->pkt.len - self->pkt.seg);
}

/* It has been received and not read yet, for its reader is busy; another one's MAD comes. */
TEST_F(peers, long_message_of_one_does_not_drop_a_MAD_of_another)
{
	static const struct rmpp_pkt plain;
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.method = METHOD_TABLE,
	};
	uint32_t seg;
	long budget;
	int n;

	CHOOSE(false);
	budget = rmpp_param_set("recv_budget", 65536);
	close(self->fd);
	self->fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, rmpp_register(self->fd, &agent));
	if (budget >= 0)
		rmpp_param_set("recv_budget", budget);
	for (seg = 1; seg <= 400; seg++) {
		ASSERT_EQ(0, inject_data(self, 9, METHOD_TABLE, 76, seg, 400));
		if (seg == 1 || seg % 16 == 0)
			answer_to(self, 76, 100);
	}
	ASSERT_EQ(0, inject(self, 0, METHOD_TABLE, 77, &plain));
	sleep_ms(WHILE);
	n = delivered(self, 77);
	TH_LOG("%d delivered", n);
	EXPECT_EQ(1, n);
}

/* An answer of one segment to a peer, on its n-th GID if @n is not 0. */
static int answer(FIXTURE_DATA(peers) *self, uint16_t peer, uint32_t tid, uint32_t n,
		  uint32_t retries)
{
	struct ib_user_mad_hdr *hdr;

	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE | METHOD_RESP, tid, SEG, tid);
	hdr = rmpp_user_hdr(&self->msg);
	hdr->lid = htobe16(PEER + peer);
	hdr->grh_present = !!n;
	hdr->gid_index = 0;
	memset(hdr->gid, 0xbb, 16);
	memcpy(hdr->gid + 12, &n, 4);
	hdr->retries = retries;
	return rmpp_msg_write(self->fd, &self->msg) < 0 ? -EIO : 0;
}

static int ms_to_frame(FIXTURE_DATA(peers) *self, uint16_t peer, int wait_ms)
{
	uint64_t start = now_ms();

	while (now_ms() - start < wait_ms) {
		if (see(self, 100) >= 0 && self->seen.dlid == PEER + peer)
			return now_ms() - start;
	}
	return -ETIME;
}

static int unacked(int dflt)
{
	return env_long("UMAD_UNACKED", dflt);
}

/*
 * A node of one LID asks with many GIDs, and acknowledges nothing of what it is
 * answered. Another one's answer is lost once.
 */
static void others_are_sent_again(struct __test_metadata *_metadata,
				  FIXTURE_DATA(peers) *self, bool gids, int n)
{
	uint64_t start;
	int i, ms;

	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, answer(self, 0, 1 + i, gids ? i + 1 : 0, 3));
		drain(self);
	}
	for (i = 0; i < 40; i++) {
		sleep_ms(5);
		drain(self);
	}
	start = now_ms();
	ASSERT_EQ(0, answer(self, 1, 1, 0, 3));
	ms = ms_to_frame(self, 1, SOON);
	TH_LOG("first after %d ms, raw_overflow %ld", ms,
	       hwsim_counter(DEVICE, 1, "raw_overflow"));
	ASSERT_LE(0, ms);
	ms = ms_to_frame(self, 1, 15000);
	TH_LOG("%d answers, %s: sent again after %d ms, type %u status %u", n,
	       gids ? "as many GIDs" : "no GID", ms, self->pkt.type, self->pkt.status);
	/* The write may return long after it was sent, and then what is above is less. */
	EXPECT_LE(20, now_ms() - start);
	EXPECT_GE(400, ms);
	EXPECT_EQ(RMPP_DATA, self->pkt.type);
}

TEST_F_TIMEOUT(peers, who_acknowledges_nothing_by_one_address, 60)
{
	CHOOSE(false);
	others_are_sent_again(_metadata, self, false, unacked(3000));
}

TEST_F_TIMEOUT(peers, who_acknowledges_nothing_by_many_GIDs, 60)
{
	CHOOSE(true);
	others_are_sent_again(_metadata, self, true, unacked(3000));
}

TEST_F_TIMEOUT(peers, who_acknowledges_nothing_by_very_many_GIDs, 120)
{
	CHOOSE(false);
	others_are_sent_again(_metadata, self, true, 2 * unacked(3000));
}

#define REPEATED	5000	/* ms */

/* From an address that may be another's: whoever has that gets the answers. */
TEST_F(peers, two_packets_are_not_answered_by_many)
{
	uint64_t start = now_ms();
	int n = 0;

	CHOOSE(true);
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 77, 1, 1000));
	sleep_ms(20);
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 77, 2, 1000));
	while (now_ms() - start < REPEATED)
		n += see(self, 500) >= 0;
	TH_LOG("%d answers", n);
	/* After 40 s one more, ABORT. */
	EXPECT_GE(3, n);
}

#define BURST	100

static long unreclaimable_kib(void)
{
	char line[128];
	FILE *file = fopen("/proc/meminfo", "re");
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "SUnreclaim: %ld", &kib);
	if (file)
		fclose(file);
	return kib;
}

/*
 * A server has BURST answers of 70 segments for a node, which acknowledges the first
 * segments of all at once. What the server then sends to others waits for how many?
 */
TEST_F_TIMEOUT(peers, burst_of_ACKs_does_not_fill_the_send_queue, 60)
{
	struct ib_user_mad_hdr *hdr;
	long before, frames, kib;
	struct umad_msg msg;
	uint32_t i;

	CHOOSE(false);
	for (i = 0; i < BURST; i++) {
		rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
			      METHOD_TABLE | METHOD_RESP, 1 + i, 70 * SEG, i);
		hdr = rmpp_user_hdr(&self->msg);
		hdr->grh_present = 0;
		hdr->retries = 100;
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		ASSERT_EQ(RMPP_DATA, see(self, SOON));
	}
	drain(self);
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	before = hwsim_counter(DEVICE, 1, "tx_packets");
	kib = unreclaimable_kib();
	for (i = 0; i < BURST; i++) {
		const struct rmpp_pkt ack = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 1, 70 };

		ASSERT_EQ(0, inject(self, 0, METHOD_TABLE, 1 + i, &ack));
		drain(self);
	}
	sleep_ms(WHILE);
	TH_LOG("%ld KiB of slabs more", unreclaimable_kib() - kib);
	msg_init(&msg, &self->port, 0, CLASS_RMPP, METHOD_TABLE | METHOD_RESP, 9999);
	msg.hdr.grh_present = 0;
	msg.hdr.lid = htobe16(PEER + 1);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &msg));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	ASSERT_LE(0, ms_to_frame(self, 1, SOON));
	frames = hwsim_counter(DEVICE, 1, "tx_packets") - before;
	TH_LOG("%ld frames before it, at the most", frames);
	/* In-tree it is one of each. */
	EXPECT_GE(10 * BURST, frames);
	while (see(self, WHILE) >= 0)
		;
}

/*
 * A send fails in the device: the request has arrived and been acknowledged, and will be
 * answered. In-tree the same ACK may fail without harm.
 */
static void turn_around_fails(struct __test_metadata *_metadata,
			      FIXTURE_DATA(peers) *self, uint32_t timeout, bool plain)
{
	const struct rmpp_pkt none = {};
	const struct rmpp_pkt whole = {
		1, RMPP_DATA, RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST, 0, 1, RMPP_PAYLOAD
	};
	uint64_t tid;
	int ret;

	ASSERT_EQ(0, request(self, 2 * SEG, timeout, &tid));
	ASSERT_EQ(0, peer_acks(self, tid, 1, 10));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_EQ(2, self->pkt.seg);
	ASSERT_EQ(0, set_fail("send_wc", "nth 1"));
	ASSERT_EQ(0, peer_acks(self, tid, 2, 10));
	ret = see(self, 1000);
	TH_LOG("seen %d seg %u", ret, self->pkt.seg);
	ASSERT_EQ(0, inject(self, 0, METHOD_TABLE | METHOD_RESP, tid,
			    plain ? &none : &whole));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
}

TEST_F(peers, turn_around_ACK_that_fails_does_not_lose_a_plain_answer)
{
	CHOOSE(true);
	turn_around_fails(_metadata, self, 10000, true);
}

TEST_F(peers, turn_around_ACK_that_fails_does_not_lose_an_answer)
{
	CHOOSE(true);
	turn_around_fails(_metadata, self, 10000, false);
}

TEST_F(peers, turn_around_ACK_that_fails_does_not_lose_an_answer_forever)
{
	CHOOSE(true);
	turn_around_fails(_metadata, self, -1, false);
}

/*
 * The request has left, and a stray packet has used up what ib_core waits with. The copy
 * that is to take its place fails in the device: the answer is on its way all the same.
 */
TEST_F(peers, copy_that_fails_does_not_end_the_request)
{
	const struct rmpp_pkt stray = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 0, 1 };
	static const struct rmpp_pkt plain;
	struct umad_msg msg, got;
	uint64_t tid, start;
	int ret;

	CHOOSE(true);
	msg_init(&msg, &self->port, 0, CLASS_RMPP, METHOD_TABLE, 77);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = 10000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &msg));
	ASSERT_LE(0, see(self, SOON));
	tid = be64toh(frame_mad(&self->seen)->tid);
	ASSERT_EQ(0, set_fail("send_wc", "nth 1"));
	start = now_ms();
	ASSERT_EQ(0, inject(self, 1, METHOD_TABLE | METHOD_RESP, tid, &stray));
	ret = see(self, 1000);
	TH_LOG("sent again: %d", ret);
	ASSERT_EQ(0, inject(self, 0, METHOD_TABLE | METHOD_RESP, tid, &plain));
	ret = msg_read_len(self->fd, &got, MSG_LEN, SOON);
	TH_LOG("read %d, status %u, after %llu ms", ret, got.hdr.status,
	       (unsigned long long)(now_ms() - start));
	EXPECT_EQ(MSG_LEN, ret);
	EXPECT_EQ(0, got.hdr.status);
}

/* How often an address was asked for since set_fail(). */
static long addresses_asked(void)
{
	const char *calls;
	char text[64];

	if (umad_read_sysfs("/sys/kernel/debug/ib_hwsim/hwsim32/fail/create_ah", text,
			    sizeof(text)))
		return -EIO;
	calls = strstr(text, "calls=");
	return calls ? atol(calls + strlen("calls=")) : -EPROTO;
}

/* That an address does not resolve is found out once for all that wait for it. */
TEST_F(peers, address_that_fails_is_not_asked_for_by_each_message)
{
	uint32_t i;

	CHOOSE(true);
	ASSERT_EQ(0, umad_write_sysfs("/sys/kernel/debug/ib_hwsim/hwsim32/ah_ms", "1000"));
	ASSERT_EQ(0, set_fail("create_ah", "all EHOSTUNREACH"));
	for (i = 0; i < 300; i++)
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, i + 1, 1, 10));
	sleep_ms(4000);
	TH_LOG("%ld times", addresses_asked());
	/* Of a file, half of what is free is under way at a time. */
	EXPECT_LE(1, addresses_asked());
	EXPECT_GE(200, addresses_asked());
	ASSERT_EQ(0, set_fail("create_ah", "off"));
}

TEST_HARNESS_MAIN
