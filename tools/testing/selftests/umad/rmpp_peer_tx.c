// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A receiver made by hand against the kernel's RMPP sender: it keeps the rules,
 * while acknowledgments are lost, repeated, late, and turned round.
 */
#include "rmpp_tx_fixture.h"

#define REFUSALS	66	/* 64, and one that was on its way */

static const struct rmpp_pkt bad_type = { 1, RMPP_ABORT, RMPP_ACTIVE, RMPP_BADT, 0, 0 };

/* The message has been delivered, as far as its sender is to know. */
static void tx_delivered(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
			 const FIXTURE_VARIANT(tx) *variant)
{
	if (variant->kind == ASK) {
		ASSERT_EQ(0, raw_plain(&self->raw));
		ASSERT_EQ(MSG_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
						 SOON));
		EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
	}
	EXPECT_TRUE(rmpp_quiet(self->fd, 2300)) {
		rmpp_msg_read(self->fd, &self->got, HDR_NEW, 0);
		TH_LOG("status %u, reason %u %u",
		       rmpp_user_hdr(&self->got)->status,
		       rmpp_user_hdr(&self->got)->reserved[0],
		       rmpp_user_hdr(&self->got)->reserved[1]);
	}
	EXPECT_EQ(self->undelivered,
		  umad_counter(&self->port, "rmpp_tx_failed"));
}

TEST_F(tx, keeps_the_rules)
{
	uint32_t i;

	BEGIN(1, 20);
	EXPECT_EQ(RMPP_ACTIVE | RMPP_FIRST, self->pkt.flags);
	EXPECT_EQ(20 * RMPP_PAYLOAD, self->pkt.len);
	EXPECT_EQ(METHOD_TABLE | (variant->kind == ANSWER ? METHOD_RESP : 0),
		  self->raw.got.mad.method);
	EXPECT_TRUE(rmpp_same(self->raw.got.data + 40, 0, SEG, 1));
	/* The window is 1. */
	EXPECT_NE(0, raw_wait_seg(&self->raw, RMPP_DATA, 2, &self->pkt, WHILE));
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 3));
	tx_take(_metadata, self, 2, 3, 20);
	EXPECT_NE(0, raw_wait_seg(&self->raw, RMPP_DATA, 4, &self->pkt, WHILE));
	ASSERT_EQ(0, raw_ack(&self->raw, 3, 10));
	tx_take(_metadata, self, 4, 10, 20);
	EXPECT_NE(0, raw_wait_seg(&self->raw, RMPP_DATA, 11, &self->pkt, WHILE));
	/* The window may reach beyond the end. */
	ASSERT_EQ(0, raw_ack(&self->raw, 10, 0x7fffffff));
	tx_take(_metadata, self, 11, 20, 20);
	EXPECT_EQ(RMPP_PAYLOAD, self->pkt.len);
	/* Each segment has the headers. */
	for (i = 36; i < 40; i++)
		EXPECT_EQ(rmpp_mad_bytes(&self->msg)[i], self->raw.got.data[i]);
	ASSERT_EQ(0, raw_ack(&self->raw, 20, 20));
	tx_delivered(_metadata, self, variant);
}

/* It is an unsigned number. */
TEST_F(tx, widest_window)
{
	BEGIN(1, 5);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 0xffffffff));
	tx_take(_metadata, self, 2, 5, 5);
	ASSERT_EQ(0, raw_ack(&self->raw, 5, 0xffffffff));
	tx_delivered(_metadata, self, variant);
}

TEST_F(tx, last_segment_is_short)
{
	tx_begin(_metadata, self, variant, 1, 2 * SEG + 7);
	EXPECT_EQ(2 * SEG + 7 + 3 * 4, self->pkt.len);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_DATA, 3, &self->pkt, SOON));
	EXPECT_EQ(RMPP_ACTIVE | RMPP_LAST, self->pkt.flags);
	EXPECT_EQ(7 + 4, self->pkt.len);
	EXPECT_TRUE(rmpp_same(self->raw.got.data + 40, 2 * SEG, 7, 1));
	ASSERT_EQ(0, raw_ack(&self->raw, 3, 64));
	tx_delivered(_metadata, self, variant);
}

TEST_F(tx, first_segment_is_lost)
{
	BEGIN(1, 3);
	/* Not acknowledged: it comes again. */
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_DATA, 1, &self->pkt, SOON));
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));
	tx_take(_metadata, self, 2, 3, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 3, 64));
	tx_delivered(_metadata, self, variant);
}

TEST_F(tx, ack_of_a_window_is_lost)
{
	BEGIN(1, 20);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 9));
	tx_take(_metadata, self, 2, 9, 20);
	/* It is not known to have arrived. */
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_DATA, 2, &self->pkt, SOON));
	ASSERT_EQ(0, raw_ack(&self->raw, 9, 64));
	tx_take(_metadata, self, 10, 20, 20);
	ASSERT_EQ(0, raw_ack(&self->raw, 20, 64));
	tx_delivered(_metadata, self, variant);
}

TEST_F(tx, last_ack_is_lost)
{
	BEGIN(1, 5);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));
	tx_take(_metadata, self, 2, 5, 5);
	ASSERT_EQ(0, raw_wait(&self->raw, RMPP_DATA, &self->pkt, SOON));
	ASSERT_EQ(0, raw_ack(&self->raw, 5, 64));
	tx_delivered(_metadata, self, variant);
}

/* In-tree waits for 2 s. */
TEST_F(tx, repeated_acks_are_a_loss)
{
	int i;

	BEGIN(1, 20);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 40));
	tx_take(_metadata, self, 2, 20, 20);
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, raw_ack(&self->raw, 7, 40));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_DATA, 8, &self->pkt, 1000));
	ASSERT_EQ(0, raw_ack(&self->raw, 20, 40));
	tx_delivered(_metadata, self, variant);
}

TEST_F(tx, old_acks_do_no_harm)
{
	BEGIN(1, 20);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 9));
	tx_take(_metadata, self, 2, 9, 20);
	ASSERT_EQ(0, raw_ack(&self->raw, 8, 15));
	ASSERT_EQ(0, raw_ack(&self->raw, 4, 9));
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 2));
	ASSERT_EQ(0, raw_ack(&self->raw, 0, 1));
	/* The window does not shrink. */
	tx_take(_metadata, self, 10, 15, 20);
	ASSERT_EQ(0, raw_ack(&self->raw, 15, 64));
	tx_take(_metadata, self, 16, 20, 20);
	ASSERT_EQ(0, raw_ack(&self->raw, 20, 64));
	tx_delivered(_metadata, self, variant);
}

TEST_F_TIMEOUT(tx, slow_receiver_that_makes_progress, 60)
{
	uint32_t seg;

	self->timeout_ms = variant->kind == ASK ? 1500 : 0;
	self->retries = 0;
	BEGIN(1, 8);
	for (seg = 1; seg < 8; seg++) {
		sleep_ms(900);
		ASSERT_EQ(0, raw_ack(&self->raw, seg, seg + 1));
		tx_take(_metadata, self, seg + 1, seg + 1, 8);
	}
	ASSERT_EQ(0, raw_ack(&self->raw, 8, 64));
	tx_delivered(_metadata, self, variant);
}

TEST_F(tx, data_to_a_sender_is_dropped)
{
	long unmatched;

	if (variant->kind != PUSH)
		SKIP(return, "it would be a request, or the response");
	unmatched = umad_counter(&self->port, "recv_unmatched");
	BEGIN(1, 10);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 5));
	tx_take(_metadata, self, 2, 5, 10);
	ASSERT_EQ(0, raw_data(&self->raw, 1, 0, 660));
	ASSERT_EQ(0, raw_data(&self->raw, 2, 0, 0));
	EXPECT_TRUE(raw_never(&self->raw, TYPE(ACK) | TYPE(STOP) | TYPE(ABORT),
			      WHILE));
	/* It has not begun, and been given up again. In-tree there are no counters. */
	if (unmatched >= 0)
		EXPECT_EQ(unmatched + 1, umad_counter(&self->port, "recv_unmatched"));
	ASSERT_EQ(0, raw_ack(&self->raw, 5, 64));
	tx_take(_metadata, self, 6, 10, 10);
	ASSERT_EQ(0, raw_ack(&self->raw, 10, 64));
	tx_delivered(_metadata, self, variant);
}

/* A long request that has been acknowledged turns round. */
static void tx_turn(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
		    const FIXTURE_VARIANT(tx) *variant)
{
	BEGIN(1, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));
	tx_take(_metadata, self, 2, 3, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 3, 64));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 0, &self->pkt, SOON));
	EXPECT_EQ(METHOD_TABLE, self->raw.got.mad.method);
	EXPECT_EQ(RMPP_ACTIVE, self->pkt.flags);
	EXPECT_EQ(0, self->pkt.status);
	EXPECT_LE(1, self->pkt.len);
}

TEST_F(tx, last_ack_is_turned_round)
{
	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	tx_turn(_metadata, self, variant);
	/* They have not seen it: again. */
	ASSERT_EQ(0, raw_ack(&self->raw, 3, 64));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 0, &self->pkt, SOON));
	ASSERT_EQ(0, raw_ack(&self->raw, 3, 64));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 0, &self->pkt, SOON));
	tx_delivered(_metadata, self, variant);
}

TEST_F(tx, no_turn_round_without_a_response)
{
	if (variant->kind == ASK)
		SKIP(return, "a response is expected");
	BEGIN(1, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));
	tx_take(_metadata, self, 2, 3, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 3, 64));
	EXPECT_TRUE(raw_never(&self->raw, TYPE(ACK) | TYPE(STOP) | TYPE(ABORT),
			      WHILE));
	/* Nor on another one. */
	ASSERT_EQ(0, raw_ack(&self->raw, 3, 64));
	EXPECT_TRUE(raw_never(&self->raw, TYPE(ACK) | TYPE(STOP) | TYPE(ABORT),
			      WHILE));
}

static void tx_response(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
			uint32_t segs)
{
	uint32_t seg;

	self->raw.seed = 9;
	ASSERT_EQ(0, raw_data(&self->raw, 1, 0, segs * RMPP_PAYLOAD));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 1, &self->pkt, SOON));
	for (seg = 2; seg <= segs; seg++)
		ASSERT_EQ(0, raw_data(&self->raw, seg,
				      seg == segs ? RMPP_LAST : 0,
				      seg == segs ? RMPP_PAYLOAD : 0));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, segs, &self->pkt, SOON));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, segs * SEG, 9));
	EXPECT_TRUE(rmpp_quiet(self->fd, 2500));
}

TEST_F(tx, double_sided_transfer)
{
	uint32_t window;

	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	tx_turn(_metadata, self, variant);
	window = self->pkt.len;
	tx_response(_metadata, self, 5);
	EXPECT_LE(window, self->pkt.len);
}

/* What the turn-around ACK allows may come at once. */
TEST_F(tx, double_sided_transfer_with_its_window)
{
	uint32_t seg, segs;

	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	tx_turn(_metadata, self, variant);
	segs = self->pkt.len < 10 ? self->pkt.len : 10;
	self->raw.seed = 9;
	for (seg = 1; seg <= segs; seg++)
		ASSERT_EQ(0, raw_data(&self->raw, seg,
				      seg == segs ? RMPP_LAST : 0,
				      RMPP_PAYLOAD * (seg == 1 ? segs : 1)));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, segs * SEG, 9));
}

/* They have it, but their last ACK was lost: the response says so too. */
TEST_F(tx, response_before_the_last_ack)
{
	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	BEGIN(1, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));
	tx_take(_metadata, self, 2, 3, 3);
	tx_response(_metadata, self, 4);
	EXPECT_TRUE(raw_never(&self->raw, TYPE(DATA) | TYPE(ABORT), WHILE));
}

TEST_F(tx, response_of_one_mad_behind_the_last_ack)
{
	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	BEGIN(1, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));
	tx_take(_metadata, self, 2, 3, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 3, 64));
	ASSERT_EQ(0, raw_plain(&self->raw));
	ASSERT_EQ(MSG_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* Their last ACK was lost, or was overtaken: the response stands for it. */
TEST_F(tx, response_of_one_mad_before_the_last_ack)
{
	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	BEGIN(1, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));
	tx_take(_metadata, self, 2, 3, 3);
	ASSERT_EQ(0, raw_plain(&self->raw));
	ASSERT_EQ(MSG_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* As it is in a switch of directions: nobody is to lose its response. */
TEST_F(tx, response_of_one_mad_after_repeated_acks)
{
	int i;

	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	tx_turn(_metadata, self, variant);
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, raw_ack(&self->raw, 3, 64));
	ASSERT_EQ(0, raw_plain(&self->raw));
	ASSERT_EQ(MSG_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/*
 * Who has acknowledged all may refuse the turn-around ACK, or repeat what has ended another
 * response: the request goes on, with its deadline.
 */
static void refuse_and_answer(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
			      const FIXTURE_VARIANT(tx) *variant, const struct rmpp_pkt *refusal)
{
	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	tx_turn(_metadata, self, variant);
	ASSERT_EQ(0, raw_send(&self->raw, refusal));
	ASSERT_EQ(0, raw_send(&self->raw, refusal));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
	ASSERT_EQ(0, raw_plain(&self->raw));
	ASSERT_EQ(MSG_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

TEST_F(tx, abort_before_a_response)
{
	refuse_and_answer(_metadata, self, variant, &bad_type);
}

TEST_F(tx, stop_before_a_response)
{
	static const struct rmpp_pkt stop = { 1, RMPP_STOP, RMPP_ACTIVE, RMPP_RESX, 0, 0 };

	refuse_and_answer(_metadata, self, variant, &stop);
}

/* Two nodes must not go on so at the speed of the wire. In-tree repeats none. */
TEST_F(tx, turn_around_ACK_is_refused_again_and_again)
{
	uint64_t end = now_ms() + 2000;
	int n = 0;

	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	self->timeout_ms = 4000;
	tx_turn(_metadata, self, variant);
	while (now_ms() < end && n < 1000) {
		ASSERT_EQ(0, raw_send(&self->raw, &bad_type));
		n += !raw_wait_seg(&self->raw, RMPP_ACK, 0, &self->pkt, WHILE);
	}
	TH_LOG("%d turn-around ACKs", n);
	EXPECT_GT(REFUSALS, n);
	if (umad_counter(&self->port, "send_failed") >= 0)
		EXPECT_LE(REFUSALS - 2, n);
}

/* What refuses each that it is sent answers by one MAD in the end. In-tree repeats none. */
TEST_F(tx, response_after_refusals)
{
	uint64_t end = now_ms() + 15000;
	int n = 0;

	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	self->timeout_ms = 30000;
	tx_turn(_metadata, self, variant);
	do {
		ASSERT_EQ(0, raw_send(&self->raw, &bad_type));
	} while (now_ms() < end && n++ < 2 * REFUSALS &&
		 !raw_wait_seg(&self->raw, RMPP_ACK, 0, &self->pkt, 5 * WHILE));
	TH_LOG("%d refusals", n);
	if (umad_counter(&self->port, "send_failed") >= 0)
		EXPECT_LE(REFUSALS - 2, n);
	ASSERT_EQ(0, raw_plain(&self->raw));
	ASSERT_EQ(MSG_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
}

/* Refused or not: who acknowledges the last segment again has not seen it. */
TEST_F(tx, turn_around_ACK_after_refusals)
{
	int i;

	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	self->timeout_ms = 4000;
	tx_turn(_metadata, self, variant);
	for (i = 0; i < 2 * REFUSALS; i++)
		ASSERT_EQ(0, raw_send(&self->raw, &bad_type));
	while (!raw_wait_seg(&self->raw, RMPP_ACK, 0, &self->pkt, WHILE))
		;
	ASSERT_EQ(0, raw_ack(&self->raw, 3, 64));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 0, &self->pkt, SOON));
}

TEST_F(tx, response_broken_off)
{
	static const struct rmpp_pkt abort = {
		1, RMPP_ABORT, RMPP_ACTIVE, RMPP_UNSPEC, 0, 0
	};

	if (variant->kind != ASK)
		SKIP(return, "no response is expected");
	self->timeout_ms = 1500;
	tx_turn(_metadata, self, variant);
	ASSERT_EQ(0, raw_data(&self->raw, 1, 0, 660));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 1, &self->pkt, SOON));
	ASSERT_EQ(0, raw_send(&self->raw, &abort));
	ASSERT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
					       12000));
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* The sender goes away: its receiver is told. */
TEST_F(tx, closing_tells_the_receiver)
{
	BEGIN(1, 10);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 5));
	tx_take(_metadata, self, 2, 5, 10);
	close(self->fd);
	self->fd = -1;
	ASSERT_EQ(0, raw_wait(&self->raw, RMPP_ABORT, &self->pkt, SOON));
	EXPECT_EQ(RMPP_UNSPEC, self->pkt.status);
	EXPECT_TRUE(raw_never(&self->raw, TYPE(DATA) | TYPE(ABORT), 2500));
}

TEST_F(tx, unregistering_tells_the_receiver)
{
	BEGIN(1, 10);
	ASSERT_EQ(0, umad_unreg(self->fd, 0));
	ASSERT_EQ(0, raw_wait(&self->raw, RMPP_ABORT, &self->pkt, SOON));
	EXPECT_EQ(RMPP_UNSPEC, self->pkt.status);
	EXPECT_TRUE(raw_never(&self->raw, TYPE(DATA) | TYPE(ABORT), 2500));
	EXPECT_TRUE(rmpp_quiet(self->fd, 0));
}

TEST_HARNESS_MAIN
