// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Responses of several segments that break off, that begin again, and two to one request,
 * from a peer whose packets are made here. A response is delivered whole, or not at all.
 */
#include "hwsim_peers.h"

/* The bytes of the first response, and of the second. */
#define ONE 0xa0
#define TWO 0xb0

/* A segment of a response, all its bytes @byte. */
static int answer(FIXTURE_DATA(peers) *self, uint64_t tid, uint32_t seg, uint32_t segs, int byte)
{
	const struct rmpp_pkt pkt = rmpp_data_pkt(seg, segs, segs * RMPP_PAYLOAD);
	struct ib_hwsim_frame *frame = &self->frame;

	frame_init(frame, CLASS_RMPP, METHOD_TABLE | METHOD_RESP, tid);
	frame->slid = PEER;
	frame->dlid = LID;
	rmpp_put(frame->mad, &pkt);
	mad_put_oui(frame->mad);
	memset(frame->mad + 40, byte, SEG);
	return raw_write(self->wire, frame);
}

static int answer_all(FIXTURE_DATA(peers) *self, uint64_t tid, uint32_t segs, int byte)
{
	uint32_t seg;
	int ret = 0;

	/* The window is 1: each waits for the ACK of the one before. */
	for (seg = 1; !ret && seg <= segs; seg++) {
		ret = answer(self, tid, seg, segs, byte);
		sleep_ms(2);
	}
	return ret;
}

/* Each request has a TID of its own. */
static int ask(FIXTURE_DATA(peers) *self, size_t len, uint32_t timeout_ms, uint32_t retries,
	       uint64_t *tid)
{
	self->asked++;
	return request_retried(self, len, timeout_ms, retries, tid);
}

/* Has the request been sent again? */
static bool asked_again(FIXTURE_DATA(peers) *self)
{
	bool again = false;

	while (see(self, 0) >= 0)
		again |= frame_mad(&self->seen)->method == METHOD_TABLE &&
			 !(self->pkt.flags & RMPP_ACTIVE);
	return again;
}

/* The same, once it is, or has not been for so long. */
static bool is_asked_again(FIXTURE_DATA(peers) *self, unsigned int wait_ms)
{
	uint64_t start = now_ms();

	while (!asked_again(self)) {
		if (now_ms() - start >= wait_ms)
			return false;
		sleep_ms(10);
	}
	return true;
}

/* What read() says: the byte that all of the response has, or minus the status. */
static int got(FIXTURE_DATA(peers) *self, int wait_ms)
{
	int ret = rmpp_msg_read(self->fd, &self->got, HDR_NEW, wait_ms);
	const uint8_t *mad = rmpp_mad_bytes(&self->got);
	int i;

	if (ret < 0)
		return ret;
	if (rmpp_user_hdr(&self->got)->status)
		return -(int)rmpp_user_hdr(&self->got)->status;
	for (i = 40; i + SEG <= self->got.mad_len; i += SEG)
		if (mad[i] != mad[40])
			return -EBADMSG;
	return mad[40];
}

/* A TID once more, and a late copy of what was answered to it first. */
TEST_F(peers, late_copy_of_an_earlier_response)
{
	uint64_t tid;

	ASSERT_EQ(0, ask(self, 100, 2000, 0, &tid));
	ASSERT_EQ(0, answer(self, tid, 1, 3, ONE));
	sleep_ms(50);
	ASSERT_EQ(0, answer_all(self, tid, 3, TWO));
	EXPECT_EQ(TWO, got(self, SOON));
}

/* Nor is it one of the response that follows at once: that is asked for again. */
TEST_F_TIMEOUT(peers, late_copy_just_before_the_response, 60)
{
	uint64_t tid;
	int i, ret;

	ASSERT_EQ(0, ask(self, 100, 500, 3, &tid));
	ASSERT_EQ(0, answer(self, tid, 1, 3, ONE));
	ASSERT_EQ(0, answer_all(self, tid, 3, TWO));
	for (i = 0; i < 200 && (ret = got(self, 10)) == -ETIME; i++)
		if (asked_again(self))
			ASSERT_EQ(0, answer_all(self, tid, 3, TWO));
	EXPECT_EQ(TWO, ret);
}

/* A late copy, and the response is of one segment, perhaps with the same bytes. */
TEST_F(peers, late_copy_before_one_segment)
{
	uint64_t tid;
	int byte;

	for (byte = ONE; byte <= TWO; byte += TWO - ONE) {
		ASSERT_EQ(0, ask(self, 100, 500, 0, &tid));
		ASSERT_EQ(0, answer(self, tid, 1, 3, ONE));
		ASSERT_EQ(0, answer(self, tid, 1, 1, byte));
		EXPECT_EQ(byte, got(self, SOON));
		while (see(self, 100) >= 0)
			;
	}
}

/* Two attempts are answered, not with the same; nothing is lost. */
static int two_answers(FIXTURE_DATA(peers) *self, const char *order)
{
	uint64_t tid;

	if (ask(self, 100, 3000, 0, &tid))
		return -EIO;
	for (; *order; order += 2) {
		if (answer(self, tid, order[1] - '0', 6, order[0] == 'A' ? ONE : TWO))
			return -EIO;
		sleep_ms(5);
		while (see(self, 0) >= 0)
			;
	}
	return got(self, 14000);
}

/* The first goes on, whenever the second begins. */
TEST_F_TIMEOUT(peers, second_response_beside_the_first, 60)
{
	EXPECT_EQ(ONE, two_answers(self, "A1A2A3B1A4A5A6B2B3B4B5B6"));
	EXPECT_EQ(ONE, two_answers(self, "A1A2A3A4A5B1A6B2B3B4B5B6"));
	EXPECT_EQ(ONE, two_answers(self, "A1A2B1B2A3B3A4B4A5B5A6B6"));
}

/* In-tree the first is delivered; but had it been a late copy, it would be a mixed one. */
TEST_F_TIMEOUT(peers, first_segments_of_two_at_once, 60)
{
	EXPECT_EQ(-ETIMEDOUT, two_answers(self, "A1B1A2A3A4A5A6B2B3B4B5B6"));
	EXPECT_EQ(-ETIMEDOUT, two_answers(self, "A1B1A2B2A3B3A4B4A5B5A6B6"));
}

/* A server begins, and its successor answers what it is asked. */
TEST_F_TIMEOUT(peers, server_is_started_again, 60)
{
	uint64_t tid, start;
	int ret, sent = 0;

	ASSERT_EQ(0, ask(self, 100, 500, 5, &tid));
	start = now_ms();
	ASSERT_EQ(0, answer(self, tid, 1, 6, ONE));
	ASSERT_EQ(0, answer(self, tid, 2, 6, ONE));
	while ((ret = got(self, 10)) == -ETIME && now_ms() - start < 25000)
		if (asked_again(self)) {
			sent++;
			ASSERT_EQ(0, answer_all(self, tid, 3, TWO));
		}
	EXPECT_EQ(TWO, ret);
	EXPECT_EQ(1, sent);
}

/* What it had begun goes on after all: it is only slow. */
TEST_F_TIMEOUT(peers, server_is_slow, 60)
{
	uint64_t tid;

	ASSERT_EQ(0, ask(self, 100, 500, 50, &tid));
	ASSERT_EQ(0, answer(self, tid, 1, 3, ONE));
	EXPECT_EQ(-ETIME, got(self, 14000));
	EXPECT_TRUE(asked_again(self));
	ASSERT_EQ(0, answer(self, tid, 2, 3, ONE));
	ASSERT_EQ(0, answer(self, tid, 3, 3, ONE));
	EXPECT_EQ(ONE, got(self, SOON));
}

/* A late copy has used the wait entry up, and ib_core drops a single MAD: it is sent again. */
TEST_F_TIMEOUT(peers, late_copy_before_a_single_MAD, 60)
{
	uint64_t tid, start;
	int ret;

	ASSERT_EQ(0, ask(self, 100, 500, 5, &tid));
	start = now_ms();
	ASSERT_EQ(0, answer(self, tid, 1, 3, ONE));
	ASSERT_EQ(0, answer_plainly(self, tid));
	while ((ret = got(self, 10)) == -ETIME && now_ms() - start < 25000)
		if (asked_again(self))
			ASSERT_EQ(0, answer_plainly(self, tid));
	EXPECT_LE(0, ret);
}

/* An early attempt's response was aborted; that of a late one is long in coming. */
TEST_F_TIMEOUT(peers, response_long_after_an_abort, 120)
{
	uint64_t tid, start;
	uint32_t seg = 0;
	int ret;

	ASSERT_EQ(0, ask(self, 100, 1000, 100, &tid));
	start = now_ms();
	ASSERT_EQ(0, answer(self, tid, 1, 3, ONE));
	sleep_ms(20);
	ASSERT_EQ(0, abort_answer(self, tid));
	while ((ret = got(self, 10)) == -ETIME && now_ms() - start < 60000)
		if (seg ? seg < 3 : asked_again(self) && now_ms() - start > 45000)
			ASSERT_EQ(0, answer(self, tid, ++seg, 3, TWO));
	EXPECT_EQ(TWO, ret);
}

/* Each attempt's response is aborted: as many attempts as without. */
TEST_F_TIMEOUT(peers, each_response_is_aborted, 100)
{
	uint64_t tid, start;
	int ret, sent = 0;

	ASSERT_EQ(0, ask(self, 100, 300, 5, &tid));
	start = now_ms();
	do {
		ASSERT_EQ(0, answer(self, tid, 1, 3, ONE + sent));
		sleep_ms(5);
		ASSERT_EQ(0, abort_answer(self, tid));
		while ((ret = got(self, 10)) == -ETIME && !asked_again(self) &&
		       now_ms() - start < 80000)
			;
		sent += ret == -ETIME;
	} while (ret == -ETIME && now_ms() - start < 80000);
	EXPECT_EQ(-ETIMEDOUT, ret);
	EXPECT_EQ(5, sent);
	EXPECT_GE(4000, now_ms() - start);
	EXPECT_TRUE(rmpp_quiet(self->fd, 1000));
}

/* Responses that begin and are aborted may take 40 s in all, however many attempts are left. */
TEST_F_TIMEOUT(peers, aborted_responses_end_the_attempts, 200)
{
	uint64_t tid, start;
	int ret;

	ASSERT_EQ(0, ask(self, 100, 300, 1000, &tid));
	start = now_ms();
	do {
		ASSERT_EQ(0, answer(self, tid, 1, 3, ONE));
		ret = got(self, 250);
		ASSERT_EQ(0, abort_answer(self, tid));
		if (ret == -ETIME)
			ret = got(self, 20);
		while (see(self, 0) >= 0)
			;
	} while (ret == -ETIME && now_ms() - start < 100000);
	TH_LOG("after %llu ms", (unsigned long long)(now_ms() - start));
	EXPECT_EQ(-ETIMEDOUT, ret);
	EXPECT_LE(35000, now_ms() - start);
	EXPECT_GE(60000, now_ms() - start);
}

/* A late copy of a response, while the request is being sent: that goes on. */
TEST_F_TIMEOUT(peers, late_copy_while_the_request_is_sent, 60)
{
	uint32_t most = 1;
	uint64_t tid;
	int i;

	ASSERT_EQ(0, ask(self, 5 * SEG, 3000, 3, &tid));
	ASSERT_EQ(0, answer(self, tid, 1, 3, ONE));
	sleep_ms(50);
	ASSERT_EQ(0, peer_acks(self, tid, 1, 64));
	for (i = 0; i < 300 && most < 5; i++)
		while (see(self, 10) >= 0)
			if (self->pkt.type == RMPP_DATA && self->pkt.seg > most)
				most = self->pkt.seg;
	EXPECT_EQ(5, most);
	ASSERT_EQ(0, peer_acks(self, tid, 5, 64));
	sleep_ms(20);
	ASSERT_EQ(0, answer_all(self, tid, 3, TWO));
	EXPECT_EQ(TWO, got(self, SOON));
}

/* Another begins in the place of the first, and there is no room: it is asked for again soon. */
TEST_F(peers, response_in_place_of_the_first_is_refused)
{
	uint64_t tid;
	long most;

	ASSERT_EQ(0, ask(self, 100, 500, 3, &tid));
	ASSERT_EQ(0, answer(self, tid, 1, 3, ONE));
	sleep_ms(50);
	most = rmpp_param_set("rmpp_file_transfers", 0);
	ASSERT_LT(0, most);
	ASSERT_EQ(0, answer(self, tid, 1, 3, TWO));
	sleep_ms(50);
	EXPECT_EQ(1, module_counter(self, "rmpp_refused"));
	rmpp_param_set("rmpp_file_transfers", most);
	EXPECT_TRUE(is_asked_again(self, 2000));
}

/* Segments that cannot begin a response. */
static const struct rmpp_pkt with_status = { 1, RMPP_DATA, RMPP_ACTIVE | RMPP_FIRST, 1, 1,
					     3 * RMPP_PAYLOAD };
static const struct rmpp_pkt without_first = { 1, RMPP_DATA, RMPP_ACTIVE, 0, 1,
					       3 * RMPP_PAYLOAD };

/* A response begins, and goes on behind what cannot; of that nothing is said. */
static void expect_goes_on(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			   uint32_t timeout_ms, const struct rmpp_pkt *bad, uint8_t dgid)
{
	uint64_t tid;

	ASSERT_EQ(0, use_gid(self, 1));
	ASSERT_EQ(0, ask(self, 100, timeout_ms, 0, &tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 3));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 1));
	sleep_ms(50);
	self->grh[39] += dgid;
	ASSERT_EQ(0, inject_other(self, tid, bad));
	self->grh[39] -= dgid;
	while (see(self, 100) >= 0)
		EXPECT_EQ(RMPP_ACK, self->pkt.type);
	EXPECT_EQ(!dgid, module_counter(self, "rmpp_unmatched"));
	expect_rest(_metadata, self, tid, 2);
}

TEST_F(peers, response_goes_on_behind_a_malformed_segment)
{
	expect_goes_on(_metadata, self, 3000, &with_status, 0);
}

TEST_F(peers, response_without_a_deadline_goes_on_behind_a_malformed_segment)
{
	expect_goes_on(_metadata, self, -1, &with_status, 0);
}

TEST_F(peers, response_goes_on_behind_a_segment_that_is_not_the_first)
{
	expect_goes_on(_metadata, self, 3000, &without_first, 0);
}

/* To a GID that the port does not have. */
TEST_F(peers, response_goes_on_behind_a_segment_that_is_dropped)
{
	const struct rmpp_pkt other = rmpp_data_pkt(1, 3, 3 * RMPP_PAYLOAD);

	expect_goes_on(_metadata, self, 3000, &other, 1);
	EXPECT_EQ(1, module_counter(self, "recv_dropped_gid"));
}

TEST_F(peers, response_without_a_deadline_goes_on_behind_a_segment_that_is_dropped)
{
	const struct rmpp_pkt other = rmpp_data_pkt(1, 3, 3 * RMPP_PAYLOAD);

	expect_goes_on(_metadata, self, -1, &other, 1);
	EXPECT_EQ(1, module_counter(self, "recv_dropped_gid"));
}

/* Its TID is used again. Nor does one that is complete, and answers what is repeated, give way. */
TEST_F(peers, complete_response_remains_behind_a_malformed_segment)
{
	uint64_t tid;

	ASSERT_EQ(0, ask(self, 100, 3000, 0, &tid));
	ASSERT_EQ(0, answer_all(self, tid, 3, ONE));
	ASSERT_EQ(ONE, got(self, SOON));
	ASSERT_EQ(0, request(self, 100, 3000, &tid));
	sleep_ms(50);
	ASSERT_EQ(0, inject_other(self, tid, &with_status));
	sleep_ms(50);
	while (see(self, 0) >= 0)
		;
	ASSERT_EQ(0, answer(self, tid, 3, 3, ONE));
	EXPECT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 3));
}

/*
 * A response breaks off, and the next attempt is answered by one MAD. What comes late of the
 * first, or is malformed, is not that: it has used up what ib_core waits with.
 */
static void expect_plain_one(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			     const struct rmpp_pkt *late)
{
	uint64_t tid;

	ASSERT_EQ(0, ask(self, 100, 2000, 1, &tid));
	ASSERT_EQ(0, answer(self, tid, 1, 6, ONE));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 1));
	ASSERT_EQ(0, answer(self, tid, 2, 6, ONE));
	ASSERT_TRUE(is_asked_again(self, 20000));
	ASSERT_EQ(0, inject_other(self, tid, late));
	sleep_ms(100);
	ASSERT_EQ(0, answer_plainly(self, tid));
	EXPECT_LE(0, got(self, SOON));
}

TEST_F_TIMEOUT(peers, late_copy_behind_the_next_attempt, 60)
{
	const struct rmpp_pkt second = rmpp_data_pkt(2, 6, 6 * RMPP_PAYLOAD);

	expect_plain_one(_metadata, self, &second);
}

TEST_F_TIMEOUT(peers, malformed_segment_behind_the_next_attempt, 60)
{
	expect_plain_one(_metadata, self, &with_status);
}

TEST_F_TIMEOUT(peers, segment_beyond_the_window_behind_the_next_attempt, 60)
{
	const struct rmpp_pkt beyond = rmpp_data_pkt(3000, 3001, 3001 * RMPP_PAYLOAD);

	expect_plain_one(_metadata, self, &beyond);
}

/*
 * Nor is a second response that, which begins behind the next attempt: its segments are no reason
 * to send the request again.
 */
TEST_F_TIMEOUT(peers, segments_of_a_second_response_are_no_waste, 60)
{
	uint64_t tid;
	uint32_t seg;
	int n = 0;

	ASSERT_EQ(0, ask(self, 100, 1000, 5, &tid));
	ASSERT_EQ(0, answer(self, tid, 1, 6, ONE));
	ASSERT_TRUE(is_asked_again(self, 20000));
	self->qpn = 5;
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 30));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 1));
	ASSERT_TRUE(is_asked_again(self, 2000));
	for (seg = 2; seg <= 20; seg++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, seg, 30));
		while (see(self, 20) >= 0)
			n += !(self->pkt.flags & RMPP_ACTIVE);
	}
	EXPECT_GE(2, n);
}

/* One that asks, and two nodes that are asked by single MADs. */
FIXTURE(nodes) {
	struct test_port port;
	int fd;
	int a, b;	/* LIDs 4 and 1 */
	struct umad_msg msg, at_a, at_b, got;
};

FIXTURE_SETUP(nodes)
{
	setenv("UMAD_IBDEV", "hwsim0", 1);
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = hwsim_client(0, 1);
	self->a = hwsim_client(1, 1);
	self->b = hwsim_client(0, 1);
	ASSERT_EQ(1, umad_reg_server(self->a, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(1, umad_reg_server(self->b, CLASS_VENDOR1, METHOD_TEST));
}

FIXTURE_TEARDOWN(nodes)
{
	close(self->fd);
	close(self->a);
	close(self->b);
}

/* A request with the TID of all. */
static int ask_node(FIXTURE_DATA(nodes) *self, uint16_t lid, int grh, uint32_t timeout_ms)
{
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 77);
	self->msg.hdr.lid = htobe16(lid);
	self->msg.hdr.grh_present = grh;
	self->msg.hdr.timeout_ms = timeout_ms;
	return msg_write(self->fd, &self->msg);
}

/* The reply of a node has its letter. */
static int single_reply(int fd, const struct umad_msg *req, char node)
{
	struct umad_msg msg;

	msg_reply(&msg, req, 0);
	msg.data[200] = node;
	return msg_write(fd, &msg);
}

/* A request times out, and another with its TID goes to another node: whose response is that? */
TEST_F(nodes, late_response_of_another)
{
	ASSERT_EQ(MSG_LEN, ask_node(self, 4, 0, 100));
	ASSERT_EQ(MSG_LEN, msg_read(self->a, &self->at_a, 2000));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 2000));
	ASSERT_EQ(MSG_LEN, ask_node(self, 1, 1, 5000));
	ASSERT_EQ(MSG_LEN, msg_read(self->b, &self->at_b, 2000));
	ASSERT_EQ(MSG_LEN, single_reply(self->a, &self->at_a, 'A'));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 200));
	ASSERT_EQ(MSG_LEN, single_reply(self->b, &self->at_b, 'B'));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 1000));
	EXPECT_EQ('B', self->got.data[200]);
	EXPECT_EQ(0, self->got.hdr.status);
}

/* A node that has died does not answer: the response of another to the same TID is good. */
TEST_F(nodes, response_of_another_after_a_timeout)
{
	ASSERT_EQ(MSG_LEN, ask_node(self, 0x30, 0, 100));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 2000));
	ASSERT_EQ(MSG_LEN, ask_node(self, 1, 0, 5000));
	ASSERT_EQ(MSG_LEN, msg_read(self->b, &self->at_b, 2000));
	ASSERT_EQ(MSG_LEN, single_reply(self->b, &self->at_b, 'B'));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 1000));
	EXPECT_EQ('B', self->got.data[200]);
}

/* The same request again: a late response to the first is one to the second. */
TEST_F(nodes, late_response_of_the_same)
{
	ASSERT_EQ(MSG_LEN, ask_node(self, 4, 0, 100));
	ASSERT_EQ(MSG_LEN, msg_read(self->a, &self->at_a, 2000));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 2000));
	ASSERT_EQ(MSG_LEN, ask_node(self, 4, 0, 5000));
	ASSERT_EQ(MSG_LEN, single_reply(self->a, &self->at_a, 'A'));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 1000));
	EXPECT_EQ('A', self->got.data[200]);
	EXPECT_EQ(0, self->got.hdr.status);
}

TEST_HARNESS_MAIN
