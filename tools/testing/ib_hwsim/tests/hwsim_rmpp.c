// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* RMPP with any peers: what they send, and what becomes of it. */
#include "hwsim_peers.h"

#define WINDOW_BUDGET	384	/* of a receive queue of 512 */

/*
 * n messages begin while none can be answered, and are then answered all at once;
 * *sum segments are granted. Return: how long it took in ms.
 */
static int grant(FIXTURE_DATA(peers) *self, uint64_t tid, uint32_t n,
		 uint32_t *sum)
{
	uint64_t begun;
	uint32_t i;

	if (set_fail("create_ah", "all"))
		return -EIO;
	begun = now_ms();
	for (i = 0; i < n; i++) {
		if (inject_data(self, i, METHOD_TABLE, tid + i, 1, 5000))
			return -EIO;
	}
	if (see(self, WHILE / 10) != -ETIME || set_fail("create_ah", "off"))
		return -EIO;
	for (i = 0; i < n; i++) {
		if (inject_data(self, i, METHOD_TABLE, tid + i, 1, 5000))
			return -EIO;
	}
	*sum = 0;
	for (i = 0; i < n; i++) {
		if (see(self, SOON) != RMPP_ACK || self->pkt.seg != 1)
			return -EPROTO;
		*sum += self->pkt.len - self->pkt.seg;
	}
	return now_ms() - begun;
}

/*
 * No more is granted than there is, whenever the ACKs go out. What was granted to
 * a sender that is silent for 250 ms may be granted again, so this has to be
 * quick: on a slow machine with another try, of fewer messages.
 */
TEST_F(peers, windows_are_chosen_when_the_ACK_is_sent)
{
	uint32_t n = 64, sum, try;
	int took;

	for (try = 0; try < 10; try++) {
		took = grant(self, try * 1000 + 1, n, &sum);
		ASSERT_LE(0, took);
		if (took < 240)
			break;
		TH_LOG("%u messages took %d ms", n, took);
		if (n > 8)
			n /= 2;
		/* Until none of them counts. */
		while (see(self, WHILE) >= 0)
			;
	}
	ASSERT_GT(10, try);
	EXPECT_GE(WINDOW_BUDGET + n, sum) {
		TH_LOG("%u segments for %u messages", sum, n);
	}
	EXPECT_LE(WINDOW_BUDGET / 4, sum);
}

/* However many ACKs are due, few are in ib_core, and the last one tells all. */
TEST_F(peers, acks_do_not_pile_up_behind_a_slow_send_queue)
{
	int i, acks = 0;

	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1, 1, 5000));
	ASSERT_EQ(RMPP_ACK, see(self, SOON));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	for (i = 0; i < 100; i++)
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1, 1, 5000));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1, 2, 5000));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1, 2, 5000));
	while (see(self, WHILE / 4) == RMPP_ACK)
		acks++;
	EXPECT_LE(1, acks);
	EXPECT_GE(8, acks);
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	/* What was due is sent now. */
	ASSERT_EQ(RMPP_ACK, see(self, SOON));
	EXPECT_EQ(2, self->pkt.seg);
}

/* Without it ib_core drops the response, and the request has no deadline. */
TEST_F(peers, turn_around_ACK_that_could_not_be_sent_is_sent_again)
{
	static const struct rmpp_pkt plain;
	uint64_t tid;

	ASSERT_EQ(0, request(self, 2 * SEG, -1, &tid));
	ASSERT_EQ(0, peer_acks(self, tid, 1, 10));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_EQ(2, self->pkt.seg);
	ASSERT_EQ(0, set_fail("post_send", "nth 1"));
	ASSERT_EQ(0, peer_acks(self, tid, 2, 10));
	ASSERT_EQ(RMPP_ACK, see(self, 1000));
	EXPECT_EQ(0, self->pkt.seg);
	ASSERT_EQ(0, inject(self, 0, METHOD_TABLE | METHOD_RESP, tid, &plain));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
	EXPECT_EQ(-ETIME, see(self, WHILE));
}

/* It is sent later. What is left of the attempt would keep close() waiting. */
TEST_F(peers, ACK_that_could_not_be_sent)
{
	ASSERT_EQ(0, set_fail("post_send", "nth 1"));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1, 1, 3));
	ASSERT_EQ(RMPP_ACK, see(self, SOON));
	EXPECT_EQ(1, self->pkt.seg);
}

/* OpenSM answers by the first GID of its port, whichever it was asked by. */
TEST_F(peers, response_by_another_GID_of_the_same_LID)
{
	uint64_t tid;

	memset(self->port.gid, 0xaa, 16);
	self->grh[0] = 0x60;
	self->grh[6] = 0x1b;
	self->grh[7] = 64;
	memset(self->grh + 8, 0xbb, 16);
	ASSERT_EQ(0, port_gid(0, self->grh + 24));
	ASSERT_EQ(0, request(self, SEG, 10000, &tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 2));
	ASSERT_EQ(RMPP_ACK, see(self, SOON));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 2, 2));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 2 * SEG, tid));
}

TEST_F(peers, response_by_another_LID_and_GID_is_not_taken)
{
	uint64_t tid;

	memset(self->port.gid, 0xaa, 16);
	self->grh[0] = 0x60;
	self->grh[6] = 0x1b;
	self->grh[7] = 64;
	memset(self->grh + 8, 0xbb, 16);
	ASSERT_EQ(0, port_gid(0, self->grh + 24));
	ASSERT_EQ(0, request(self, SEG, 10000, &tid));
	ASSERT_EQ(0, inject_data(self, 1, METHOD_TABLE | METHOD_RESP, tid, 1, 2));
	/* Nothing but the request again: ib_core has taken that for the answer. */
	EXPECT_EQ(0, see(self, SOON));
	EXPECT_EQ(METHOD_TABLE, frame_mad(&self->seen)->method);
	EXPECT_EQ(-ETIME, see(self, WHILE));
	/* The GID alone is enough, too: another LID of the node. */
	memset(self->grh + 8, 0xaa, 16);
	ASSERT_EQ(0, inject_data(self, 1, METHOD_TABLE | METHOD_RESP, tid, 1, 2));
	EXPECT_EQ(RMPP_ACK, see(self, SOON));
}

/*
 * ib_core takes the first packet with the TID for the answer, whoever has sent it. The
 * request is sent again, so that there is what ib_core takes the true one for.
 */
static void expect_answer_to_request(struct __test_metadata *_metadata,
				     FIXTURE_DATA(peers) *self, uint32_t timeout,
				     int peer, const struct rmpp_pkt *pkt)
{
	static const struct rmpp_pkt plain;
	struct umad_msg msg, got;
	struct ib_hwsim_frame first;
	uint64_t tid;
	int i;

	msg_init(&msg, &self->port, 0, CLASS_RMPP, METHOD_TABLE, 77);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = timeout;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &msg));
	ASSERT_LE(0, raw_read(self->wire, &self->seen, SOON));
	tid = be64toh(frame_mad(&self->seen)->tid);
	ASSERT_EQ(0, inject(self, peer, METHOD_TABLE | METHOD_RESP, tid, pkt));
	first = self->seen;
	memset(&self->seen, 0, sizeof(self->seen));
	/* An answer to what came may go before it. */
	for (i = 0; i < 2 && memcmp(first.mad, self->seen.mad, 256); i++)
		ASSERT_LE(0, raw_read(self->wire, &self->seen, SOON));
	EXPECT_EQ(0, memcmp(first.mad, self->seen.mad, 256));
	ASSERT_EQ(0, inject(self, 0, METHOD_TABLE | METHOD_RESP, tid, &plain));
	ASSERT_EQ(MSG_LEN, msg_read_len(self->fd, &got, MSG_LEN, SOON));
	EXPECT_EQ(0, got.hdr.status);
	EXPECT_EQ(77, msg_tid(&got));
}

static void expect_answer_after(struct __test_metadata *_metadata,
				FIXTURE_DATA(peers) *self, int peer,
				const struct rmpp_pkt *pkt)
{
	const struct rmpp_pkt plain = { };
	uint64_t tid;

	ASSERT_EQ(0, request(self, 2 * SEG, -1, &tid));
	ASSERT_EQ(0, peer_acks(self, tid, 1, 10));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_EQ(0, peer_acks(self, tid, 2, 10));
	ASSERT_EQ(RMPP_ACK, see(self, SOON));
	ASSERT_EQ(0, inject(self, peer, METHOD_TABLE | METHOD_RESP, tid, pkt));
	/* The turn-around ACK again, that waits for the answer. */
	ASSERT_EQ(RMPP_ACK, see(self, SOON));
	EXPECT_EQ(0, self->pkt.seg);
	ASSERT_EQ(0, inject(self, 0, METHOD_TABLE | METHOD_RESP, tid, &plain));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
}

static const struct rmpp_pkt stray_ack = {
	.version = 1, .type = RMPP_ACK, .flags = RMPP_ACTIVE, .len = 1,
};

/* Of a response before, to a request of the same TID, of which an ACK was lost. */
static const struct rmpp_pkt stray_data = {
	.version = 1, .type = RMPP_DATA, .flags = RMPP_ACTIVE, .seg = 2,
};

static const struct rmpp_pkt stray_abort = {
	.version = 1, .type = RMPP_ABORT, .flags = RMPP_ACTIVE, .status = 126,
};

static const struct rmpp_pkt stray_first = {
	.version = 1, .type = RMPP_DATA, .flags = RMPP_ACTIVE | RMPP_FIRST,
	.seg = 1, .len = 5000,
};

TEST_F(peers, stray_ACK_does_not_keep_the_answer_of_a_request)
{
	expect_answer_to_request(_metadata, self, 20000, 1, &stray_ack);
}

TEST_F(peers, stray_ABORT_does_not_keep_the_answer_of_a_request)
{
	expect_answer_to_request(_metadata, self, 20000, 1, &stray_abort);
}

TEST_F(peers, refused_message_does_not_keep_the_answer_of_a_request)
{
	expect_answer_to_request(_metadata, self, 20000, 1, &stray_first);
}

TEST_F(peers, stray_packet_does_not_keep_the_answer_of_a_request_for_ever)
{
	expect_answer_to_request(_metadata, self, -1, 1, &stray_ack);
}

TEST_F(peers, stray_packet_does_not_keep_the_answer_of_a_message)
{
	expect_answer_after(_metadata, self, 1, &stray_ack);
}

TEST_F(peers, data_that_begins_nothing_does_not_keep_the_answer_of_a_request)
{
	expect_answer_to_request(_metadata, self, -1, 0, &stray_data);
}

TEST_F(peers, data_that_begins_nothing_does_not_keep_the_answer_of_a_message)
{
	expect_answer_after(_metadata, self, 0, &stray_data);
}

/* The peer's answer to a message of two segments, one segment long. */
static int ask_and_answer(FIXTURE_DATA(peers) *self)
{
	uint64_t tid;

	self->asked++;
	if (request(self, 2 * SEG, 10000, &tid) ||
	    peer_acks(self, tid, 1, 10) || see_packet(self, tid, RMPP_DATA, 2) < 0 ||
	    peer_acks(self, tid, 2, 10) || see_packet(self, tid, RMPP_ACK, 0) < 0 ||
	    inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1) ||
	    see_packet(self, tid, RMPP_ACK, 1) < 0)
		return -EPROTO;
	return rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON) > 0 ?
	       0 : -ETIME;
}

static void *close_file(void *arg)
{
	return (void *)(long)close(*(int *)arg);
}

/* Of a message that is half sent, and the device stands. */
TEST_F(peers, close_does_not_wait_for_its_ABORT)
{
	struct side_call call;
	uint64_t tid;
	int i, type;

	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE, 7, 3 * SEG, 7);
	rmpp_user_hdr(&self->msg)->grh_present = 0;
	rmpp_user_hdr(&self->msg)->timeout_ms = 60000;
	rmpp_user_hdr(&self->msg)->retries = 3;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	/* Each time it waits twice as long for an ACK; then nothing is under way. */
	for (i = 0; i < 5; i++)
		ASSERT_EQ(RMPP_DATA, see(self, SOON));
	tid = frame_mad(&self->seen)->tid;
	sleep_ms(100);
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	side_start(&call, close_file, &self->fd);
	EXPECT_TRUE(side_done(&call, 2000));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	side_join(&call);
	self->fd = -1;
	do {
		type = see(self, SOON);
	} while (type >= 0 && type != RMPP_ABORT);
	EXPECT_EQ(RMPP_ABORT, type);
	EXPECT_EQ(tid, frame_mad(&self->seen)->tid);
}

/* The answer lingers, but what was asked is not kept as long. */
TEST_F(peers, message_that_was_answered_takes_no_memory)
{
	long bytes = rmpp_param_set("rmpp_send_bytes", 10000);
	int i;

	ASSERT_LT(0, bytes);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, ask_and_answer(self));
	rmpp_param_set("rmpp_send_bytes", bytes);
}

/* And leaves nothing: an address handle that is left is seen when the device goes. */
TEST_F(peers, segment_that_could_not_be_posted_is_sent_again)
{
	uint64_t tid;

	ASSERT_EQ(0, set_fail("post_send", "nth 1"));
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP, METHOD_TABLE, 7,
		      2 * SEG, 7);
	rmpp_user_hdr(&self->msg)->grh_present = 0;
	rmpp_user_hdr(&self->msg)->retries = 3;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	EXPECT_EQ(1, self->pkt.seg);
	tid = be64toh(frame_mad(&self->seen)->tid);
	ASSERT_EQ(0, peer_acks(self, tid, 1, 10));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_EQ(0, peer_acks(self, tid, 2, 10));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* Of so many that are complete each is kept, to answer its repeated packets. */
#define LINGERING	1024
#define LINGER_MS	10000	/* nor longer than this */

TEST_F_TIMEOUT(peers, older_message_is_not_delivered_again, 120)
{
	long handles = address_handles(LINGERING);
	uint64_t begun = now_ms();
	uint32_t i;

	ASSERT_LE(0, handles);
	for (i = 0; i <= LINGERING; i++) {
		ASSERT_EQ(0, inject_data(self, i % 64, METHOD_TABLE, i + 1, 1, 1));
		ASSERT_EQ(RMPP_ACK, see(self, SOON));
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	}
	begun = now_ms() - begun;
	if (begun > LINGER_MS - 1000)
		SKIP(return, "the machine is too slow");
	/* Each has one, of which a device may have few. */
	EXPECT_EQ(handles + LINGERING, address_handles(handles + LINGERING));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1, 1, 1));
	TH_LOG("%u messages in %u ms", LINGERING + 1, (unsigned int)begun);
	/* Its sender has lost the ACK. */
	EXPECT_EQ(RMPP_ACK, see(self, SOON));
	EXPECT_TRUE(rmpp_quiet(self->fd, 0));
}

/* By one TID, in as many methods, and from as many queue pairs, as it takes. */
TEST_F(peers, one_request_does_not_open_the_file_to_a_peer)
{
	uint64_t tid, tid2 = 0x1234;
	struct rmpp_pkt first = {
		.version = 1, .type = RMPP_DATA, .seg = 1, .len = 5000,
		.flags = RMPP_ACTIVE | RMPP_FIRST,
	};
	int i;

	ASSERT_EQ(0, request(self, SEG, 60000, &tid));
	for (i = 0; i < 127 * 10; i++) {
		self->qpn = 2 + i / 127;
		ASSERT_EQ(0, inject(self, 0, METHOD_RESP | (1 + i % 127), tid,
				    &first));
	}
	for (i = 0; see(self, WHILE) == RMPP_ACK; i++)
		;
	TH_LOG("%d are acknowledged", i);
	while (see(self, WHILE) >= 0)
		;
	self->qpn = 0;
	ASSERT_EQ(0, inject_data(self, 1, METHOD_TABLE, tid2, 1, 10));
	do {
		ASSERT_EQ(RMPP_ACK, see(self, SOON));
	} while (frame_mad(&self->seen)->tid != htobe64(tid2));
}

/*
 * A response stops half-way, its request times out and is written again, with the
 * same TID, as libibmad does: what comes now answers the second.
 */
TEST_F_TIMEOUT(peers, answer_to_a_request_that_is_written_again, 60)
{
	uint64_t tid, again;
	uint32_t seg;

	ASSERT_EQ(0, request(self, SEG, 200, &tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 5));
	ASSERT_EQ(RMPP_ACK, see(self, SOON));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 2, 5));
	ASSERT_EQ(RMPP_ACK, see(self, SOON));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, 20000));
	ASSERT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	while (see(self, 0) >= 0)
		;
	ASSERT_EQ(0, request(self, SEG, -1, &again));
	ASSERT_EQ(tid, again);
	for (seg = 1; seg <= 5; seg++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, seg, 5));
		ASSERT_EQ(RMPP_ACK, see(self, SOON));
		EXPECT_EQ(seg, self->pkt.seg);
	}
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
	EXPECT_TRUE(rmpp_msg_has(&self->got, 5 * SEG, tid));
}

/* The last ACK of a response is lost, and its TID is used again at once. */
TEST_F(peers, response_is_acknowledged_though_its_TID_is_used_again)
{
	uint64_t tid, again;
	uint32_t seg;

	ASSERT_EQ(0, request(self, SEG, 10000, &tid));
	for (seg = 1; seg <= 2; seg++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, seg, 2));
		ASSERT_EQ(RMPP_ACK, see(self, SOON));
	}
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	ASSERT_EQ(0, request(self, SEG, 10000, &again));
	ASSERT_EQ(tid, again);
	sleep_ms(50);
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 2, 2));
	ASSERT_EQ(RMPP_ACK, see(self, SOON));
	EXPECT_EQ(2, self->pkt.seg);
}

/* What the module sends for a message: the type, after what it sends for others. */
static int see_of(FIXTURE_DATA(peers) *self, uint64_t tid)
{
	int type;

	do {
		type = see(self, SOON);
	} while (type >= 0 && frame_mad(&self->seen)->tid != htobe64(tid));
	return type;
}

/*
 * Our ACKs have not left: their senders wait for them, and are not idle. Else each
 * message that begins would put a STOP and an ACK more into ib_core's send queue.
 */
TEST_F(peers, message_whose_ACK_waits_is_not_evicted)
{
	long of_peer = rmpp_param_set("rmpp_peer_transfers", 4);
	uint64_t tid;

	ASSERT_LT(0, of_peer);
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	for (tid = 1; tid <= 4; tid++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, tid, 1, 10));
		ASSERT_EQ(RMPP_ACK, see_of(self, tid));
	}
	sleep_ms(1200);
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 5, 1, 10));
	EXPECT_EQ(RMPP_STOP, see_of(self, 5));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	sleep_ms(WHILE);
	while (see(self, 0) >= 0)
		;
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 6, 1, 10));
	EXPECT_EQ(RMPP_STOP, see_of(self, 1));
	EXPECT_EQ(RMPP_ACK, see_of(self, 6));
	rmpp_param_set("rmpp_peer_transfers", of_peer);
}

/* A device that stands, and nodes that do not wait for their ACKs. */
TEST_F(peers, answers_in_ib_core_are_bounded)
{
	long answers = rmpp_param_set("rmpp_file_answers", 64);
	uint64_t tid;
	int i = 0;

	EXPECT_EQ(4096, answers);
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	for (tid = 1; tid <= 60; tid++) {
		ASSERT_EQ(0, inject_data(self, tid, METHOD_TABLE, tid, 1, 2));
		ASSERT_EQ(0, inject_data(self, tid, METHOD_TABLE, tid, 2, 2));
		i += see(self, 0) >= 0;
		i += see(self, 0) >= 0;
	}
	while (see(self, WHILE) >= 0)
		i++;
	EXPECT_EQ(64, i);
	while (rmpp_msg_read(self->fd, &self->got, HDR_NEW, 0) > 0)
		;
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, tid, 1, 2));
	EXPECT_EQ(RMPP_ACK, see_of(self, tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, tid, 2, 2));
	EXPECT_EQ(RMPP_ACK, see_of(self, tid));
	EXPECT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	rmpp_param_set("rmpp_file_answers", answers);
}

TEST_HARNESS_MAIN
