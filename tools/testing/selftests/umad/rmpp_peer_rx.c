// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A sender made by hand against the kernel's RMPP receiver: it keeps the rules,
 * while segments are lost, repeated, reordered or late, and nobody may ask.
 */
#include "rmpp_rx_fixture.h"

TEST_F(rx, keeps_the_rules)
{
	struct mad_hdr *mad = &self->raw.got.mad;
	uint32_t window;

	EXPECT_ASKED(1);
	ASSERT_EQ(0, rx_send(self, 1, 1, 5));
	ASSERT_EQ(0, raw_recv(&self->raw, &self->pkt, SOON));
	EXPECT_EQ(1, self->pkt.version);
	EXPECT_EQ(RMPP_ACK, self->pkt.type);
	EXPECT_EQ(RMPP_ACTIVE, self->pkt.flags);
	EXPECT_EQ(0, self->pkt.status);
	EXPECT_EQ(1, self->pkt.seg);
	EXPECT_LT(1, self->pkt.len);
	window = self->pkt.len;
	/* It goes the other way, and is else the DATA's. */
	EXPECT_EQ(METHOD_TABLE | (variant->response ? 0 : METHOD_RESP),
		  mad->method);
	EXPECT_EQ(1, msg_tid(&self->raw.got));
	EXPECT_EQ(CLASS_RMPP, mad->mgmt_class);
	EXPECT_EQ(1, mad->class_version);
	EXPECT_EQ(1, mad->base_version);
	EXPECT_EQ(htobe16(0x35), mad->attr_id);
	EXPECT_EQ(0, memcmp(self->raw.got.hdr.gid, self->port.gid, 16));
	ASSERT_EQ(0, rx_send(self, 2, 5, 5));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 5, &self->pkt, SOON));
	EXPECT_LE(window, self->pkt.len);
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 5 * SEG, 1));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

TEST_F(rx, window_moves_on)
{
	uint32_t seg = 1, window, segs = 300;

	EXPECT_ASKED(1);
	rx_first(_metadata, self, segs);
	for (;;) {
		window = self->pkt.len < segs ? self->pkt.len : segs;
		ASSERT_LT(seg, window);
		ASSERT_EQ(0, rx_send(self, seg + 1, window, segs));
		seg = window;
		ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, seg, &self->pkt,
					  SOON));
		if (seg == segs)
			break;
	}
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, segs * SEG, 1));
}

/* What is promised to one sender must not overrun what ib_core has posted. */
TEST_F(rx, window_fits_the_receive_queue)
{
	char text[32];

	ASSERT_EQ(0, umad_read_sysfs("/sys/module/ib_core/parameters/recv_queue_size",
				     text, sizeof(text)));
	EXPECT_ASKED(1);
	rx_first(_metadata, self, 3000);
	EXPECT_GT(atoi(text), self->pkt.len);
}

TEST_F(rx, beyond_the_window_is_dropped)
{
	uint32_t window;

	EXPECT_ASKED(1);
	rx_first(_metadata, self, 3000);
	window = self->pkt.len;
	ASSERT_GT(2000, window);
	ASSERT_EQ(0, rx_send(self, window + 1, window + 1, 3000));
	ASSERT_EQ(0, rx_send(self, 0x7fffffff, 0x7fffffff, 3000));
	EXPECT_TRUE(raw_never(&self->raw, TYPE(STOP) | TYPE(ABORT), WHILE));
	ASSERT_EQ(0, rx_send(self, 2, window, window + 1));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, window, &self->pkt,
				  SOON));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
	ASSERT_EQ(0, rx_send(self, window + 1, window + 1, window + 1));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, window + 1, &self->pkt,
				  SOON));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, (window + 1) * SEG, 1));
}

TEST_F(rx, reordered_segments)
{
	static const uint32_t order[] = { 5, 3, 8, 2, 7, 4, 6 };
	int i;

	EXPECT_ASKED(1);
	rx_first(_metadata, self, 8);
	for (i = 0; i < ARRAY_SIZE(order); i++)
		ASSERT_EQ(0, rx_send(self, order[i], order[i], 8));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 8, &self->pkt, SOON));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 8 * SEG, 1));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

TEST_F(rx, repeated_segments)
{
	uint32_t seg;
	int i;

	EXPECT_ASKED(1);
	for (seg = 1; seg <= 6; seg++) {
		for (i = 0; i < 3; i++)
			ASSERT_EQ(0, rx_send(self, seg, seg, 6));
		if (seg == 1)
			ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 1,
						  &self->pkt, SOON));
		if (seg > 2)
			ASSERT_EQ(0, rx_send(self, seg - 1, seg - 1, 6));
	}
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 6, &self->pkt, SOON));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 6 * SEG, 1));
	/* Once. */
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* Our answer to the last one may have been lost. */
TEST_F(rx, complete_message_answers_what_is_repeated)
{
	uint32_t seg;

	EXPECT_ASKED(1);
	rx_whole(_metadata, self, 3);
	for (seg = 3; seg; seg--) {
		while (!raw_recv(&self->raw, &self->pkt, 50))
			;
		ASSERT_EQ(0, rx_send(self, seg, seg, 3));
		ASSERT_EQ(0, raw_recv(&self->raw, &self->pkt, SOON)) {
			TH_LOG("segment %u", seg);
		}
		EXPECT_EQ(RMPP_ACK, self->pkt.type);
		EXPECT_EQ(3, self->pkt.seg);
	}
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* In-tree stays silent, and the sender has to wait 2 s. */
TEST_F(rx, gap_is_told_at_once)
{
	uint64_t begin;

	EXPECT_ASKED(1);
	rx_first(_metadata, self, 4);
	begin = now_ms();
	ASSERT_EQ(0, rx_send(self, 3, 3, 4));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 1, &self->pkt, SOON));
	EXPECT_GT(90, now_ms() - begin);
	ASSERT_EQ(0, rx_send(self, 2, 2, 4));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 3, &self->pkt, SOON));
	ASSERT_EQ(0, rx_send(self, 4, 4, 4));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 4 * SEG, 1));
}

TEST_F(rx, ack_to_a_receiver_is_dropped)
{
	EXPECT_ASKED(1);
	rx_first(_metadata, self, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));
	ASSERT_EQ(0, raw_ack(&self->raw, 0, 64));
	ASSERT_EQ(0, raw_ack(&self->raw, 7, 1));
	EXPECT_TRUE(raw_never(&self->raw, TYPE(STOP) | TYPE(ABORT), WHILE));
	ASSERT_EQ(0, rx_send(self, 2, 3, 3));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 3 * SEG, 1));
}

/* IBA 13.6.3.2: 40 s; a response has what its request waits, or 10 s. */
TEST_F_TIMEOUT(rx, silent_sender_is_given_up, 70)
{
	unsigned int least = 38000, most = 50000;
	uint64_t begin;

	if (variant->response) {
		least = 9000;
		most = 18000;
	}
	rx_expect(_metadata, self, variant->response, 1, 1000);
	rx_first(_metadata, self, 4);
	ASSERT_EQ(0, rx_send(self, 2, 2, 4));
	begin = now_ms();
	ASSERT_EQ(0, raw_wait(&self->raw, RMPP_ABORT, &self->pkt, 60000));
	EXPECT_EQ(RMPP_T2L, self->pkt.status);
	EXPECT_LE(least, now_ms() - begin);
	EXPECT_GE(most, now_ms() - begin);
	if (variant->response) {
		ASSERT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->fd, &self->got,
						       HDR_NEW, SOON));
		EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	}
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* The request of a response that was broken off comes back. */
TEST_F_TIMEOUT(rx, broken_response_times_out, 60)
{
	static const struct rmpp_pkt abort = PKT(1, RMPP_ABORT, 0,
						 RMPP_UNSPEC, 0, 0);

	if (!variant->response)
		SKIP(return, "there is no request");
	rx_expect(_metadata, self, true, 1, 1000);
	rx_first(_metadata, self, 4);
	ASSERT_EQ(0, raw_send(&self->raw, &abort));
	ASSERT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
					       20000));
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	EXPECT_EQ(1, rmpp_tid(&self->got));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* A slow response is not cut off by the time-out of its request. */
TEST_F_TIMEOUT(rx, slow_response_that_makes_progress, 60)
{
	uint32_t seg;

	if (!variant->response)
		SKIP(return, "there is no request");
	rx_expect(_metadata, self, true, 1, 1000);
	rx_first(_metadata, self, 8);
	for (seg = 2; seg <= 8; seg++) {
		sleep_ms(700);
		ASSERT_EQ(0, rx_send(self, seg, seg, 8));
	}
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 8 * SEG, 1));
	EXPECT_TRUE(rmpp_quiet(self->fd, 1500));
}

/* Nobody asked: nothing is begun, and nothing said. */
TEST_F(rx, response_that_nobody_asked_for)
{
	uint64_t tid;

	if (!variant->response)
		SKIP(return, "there is no request");
	rx_expect(_metadata, self, true, 1, PATIENT);
	tid = self->raw.tid;
	self->raw.tid = tid + 1;
	ASSERT_EQ(0, rx_send(self, 1, 4, 4));
	EXPECT_TRUE(raw_never(&self->raw, TYPE(ACK) | TYPE(STOP) | TYPE(ABORT),
			      WHILE));
	EXPECT_TRUE(rmpp_quiet(self->fd, 0));
	if (self->unmatched >= 0)
		EXPECT_LT(self->unmatched,
			  umad_counter(&self->port, "recv_unmatched"));
	/* The one that was asked for is not disturbed. */
	self->raw.tid = tid;
	rx_whole(_metadata, self, 4);
}

TEST_F(rx, response_after_the_time_out)
{
	if (!variant->response)
		SKIP(return, "there is no request");
	rx_expect(_metadata, self, true, 1, 300);
	ASSERT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
					       SOON));
	ASSERT_EQ(0, rx_send(self, 1, 4, 4));
	EXPECT_TRUE(raw_never(&self->raw, TYPE(ACK) | TYPE(STOP) | TYPE(ABORT),
			      WHILE));
	EXPECT_TRUE(rmpp_quiet(self->fd, 0));
}

/* A request that was answered is answered once. */
TEST_F(rx, second_response)
{
	if (!variant->response)
		SKIP(return, "there is no request");
	EXPECT_ASKED(1);
	rx_whole(_metadata, self, 4);
	ASSERT_EQ(0, rx_send(self, 1, 4, 4));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
	EXPECT_ASKED(2);
	rx_whole(_metadata, self, 2);
}

/* The program uses a TID again while the response to the first one lingers. */
TEST_F(rx, response_to_a_new_request_with_the_same_TID)
{
	if (!variant->response)
		SKIP(return, "there is no request");
	EXPECT_ASKED(1);
	rx_whole(_metadata, self, 4);
	EXPECT_ASKED(1);
	self->raw.seed = 99;
	rx_whole(_metadata, self, 3);
	/* And what is repeated of the second is not a third. */
	ASSERT_EQ(0, rx_send(self, 1, 3, 3));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* Two messages with one TID, one after the other, both pushed. */
TEST_F(rx, several_messages_at_once)
{
	uint64_t tid[5];
	int i, seg;
	bool seen[5] = { false };
	uint32_t got;

	for (i = 0; i < 5; i++) {
		EXPECT_ASKED(i);
		tid[i] = self->raw.tid;
	}
	for (seg = 1; seg <= 4; seg++) {
		for (i = 0; i < 5; i++) {
			self->raw.tid = tid[i];
			self->raw.seed = i;
			ASSERT_EQ(0, rx_send(self, seg, seg, 4));
		}
		if (seg == 1)
			sleep_ms(300);	/* the windows open */
	}
	for (i = 0; i < 5; i++) {
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
		got = rmpp_tid(&self->got);
		ASSERT_GT(5, got);
		EXPECT_FALSE(seen[got]);
		seen[got] = true;
		EXPECT_TRUE(rmpp_msg_has(&self->got, 4 * SEG, got));
	}
}

/* The turn-around ACK says how much of the answer may come at once. */
TEST_F(rx, turn_around_opens_the_window_of_the_answer)
{
	uint32_t seg;

	if (variant->response)
		SKIP(return, "a response is not answered");
	EXPECT_ASKED(1);
	rx_whole(_metadata, self, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 0, 5));
	sleep_ms(200);
	rmpp_msg_reply(&self->msg, &self->got, 0, 10 * SEG, 9);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	for (seg = 1; seg <= 5; seg++) {
		ASSERT_EQ(0, raw_wait(&self->raw, RMPP_DATA, &self->pkt, SOON));
		EXPECT_EQ(seg, self->pkt.seg);
	}
	EXPECT_NE(0, raw_wait_seg(&self->raw, RMPP_DATA, 6, &self->pkt, WHILE));
	ASSERT_EQ(0, raw_ack(&self->raw, 5, 10));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_DATA, 10, &self->pkt, SOON));
	EXPECT_EQ(RMPP_ACTIVE | RMPP_LAST, self->pkt.flags);
	ASSERT_EQ(0, raw_ack(&self->raw, 10, 10));
	EXPECT_TRUE(rmpp_quiet(self->fd, 2500));
}

TEST_F(rx, without_turn_around_the_window_is_1)
{
	if (variant->response)
		SKIP(return, "a response is not answered");
	EXPECT_ASKED(1);
	rx_whole(_metadata, self, 3);
	while (!raw_recv(&self->raw, &self->pkt, 50))
		;
	rmpp_msg_reply(&self->msg, &self->got, 0, 10 * SEG, 9);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_DATA, 1, &self->pkt, SOON));
	EXPECT_NE(0, raw_wait_seg(&self->raw, RMPP_DATA, 2, &self->pkt, WHILE));
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 3));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_DATA, 3, &self->pkt, SOON));
}

/* The receiver goes away: its sender is told. */
TEST_F(rx, closing_tells_the_sender)
{
	EXPECT_ASKED(1);
	rx_first(_metadata, self, 4);
	ASSERT_EQ(0, rx_send(self, 2, 2, 4));
	close(self->fd);
	self->fd = -1;
	ASSERT_EQ(0, raw_wait(&self->raw, RMPP_ABORT, &self->pkt, SOON));
	EXPECT_EQ(RMPP_UNSPEC, self->pkt.status);
}

TEST_F(rx, unregistering_tells_the_sender)
{
	EXPECT_ASKED(1);
	rx_first(_metadata, self, 4);
	ASSERT_EQ(0, umad_unreg(self->fd, 0));
	ASSERT_EQ(0, raw_wait(&self->raw, RMPP_ABORT, &self->pkt, SOON));
	EXPECT_EQ(RMPP_UNSPEC, self->pkt.status);
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* Raw agents on both sides: every byte as it was sent, and no answer. */
TEST_F(rx, segments_between_raw_agents_are_untouched)
{
	struct rmpp_agent raw = {
		.mgmt_class = CLASS_RMPP, .method = METHOD_TEST,
		.rmpp_version = 1, .flags = IB_USER_MAD_USER_RMPP,
	};
	struct umad_msg msg, got;
	int id, i;

	id = rmpp_register(self->fd, &raw);
	ASSERT_EQ(1, id);
	for (i = 0; i < 6; i++) {
		const struct rmpp_pkt pkt = {
			.version = i == 1 ? 7 : 1, .type = i, .flags = 7,
			.status = i == 2 ? 99 : 0, .seg = i * 1000, .len = ~i,
		};

		msg_init(&msg, &self->port, self->raw.id, CLASS_RMPP,
			 METHOD_TEST, 5);
		rmpp_put(msg.data, &pkt);
		msg.data[26] = 0xff;
		rmpp_fill(msg.data + 40, 0, SEG, i);
		ASSERT_EQ(MSG_LEN, msg_write(self->raw.fd, &msg));
		ASSERT_EQ(MSG_LEN, msg_read(self->fd, &got, SOON));
		EXPECT_EQ(1, got.hdr.id);
		EXPECT_EQ(0, memcmp(msg.data + 16, got.data + 16,
				    MAD_LEN - 16));
		EXPECT_EQ(5, msg_tid(&got));
	}
	EXPECT_TRUE(rmpp_quiet(self->raw.fd, WHILE));
	EXPECT_TRUE(rmpp_quiet(self->fd, 0));
}

/* Refused, its sender gives up: a request without a deadline hears of it. */
TEST_F(rx, request_for_ever_hears_of_a_refusal)
{
	long old;

	if (!variant->response)
		SKIP(return, "there is no request");
	old = rmpp_param_set("rmpp_file_transfers", 1);
	if (old < 0)
		SKIP(return, "there are no bounds");
	rx_expect(_metadata, self, true, 1, -1);
	rx_first(_metadata, self, 3);
	rx_expect(_metadata, self, true, 2, -1);
	EXPECT_EQ(0, rx_send(self, 1, 1, 3));
	EXPECT_EQ(0, raw_wait(&self->raw, RMPP_STOP, &self->pkt, SOON));
	EXPECT_EQ(RMPP_RESX, self->pkt.status);
	EXPECT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
					       SOON));
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	EXPECT_EQ(2, rmpp_tid(&self->got));
	rmpp_param_set("rmpp_file_transfers", old);
}

TEST_HARNESS_MAIN
