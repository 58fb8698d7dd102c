// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A receiver made by hand against the kernel's RMPP sender: it breaks the rules
 * or falls silent, and looks at what is sent and what the program is told.
 */
#include "rmpp_tx_fixture.h"

/* What the receiver says, and what is made of it. */
struct tx_case {
	bool acked;		/* 5 of 10 segments were before */
	struct rmpp_pkt pkt;
	uint8_t reason;
	uint8_t status;
};

static void tx_case(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
		    const FIXTURE_VARIANT(tx) *variant,
		    const struct tx_case *c)
{
	BEGIN(1, 10);
	if (c->acked) {
		ASSERT_EQ(0, raw_ack(&self->raw, 1, 5));
		tx_take(_metadata, self, 2, 5, 10);
	}
	ASSERT_EQ(0, raw_send(&self->raw, &c->pkt));
}

static void tx_answer(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
		      const struct tx_case *c)
{
	if (c->reason == REASON_PROTOCOL_ERROR) {
		ASSERT_EQ(0, raw_wait(&self->raw, RMPP_ABORT, &self->pkt, SOON));
		EXPECT_EQ(c->status, self->pkt.status);
		EXPECT_EQ(1, self->pkt.version);
		EXPECT_EQ(RMPP_ACTIVE, self->pkt.flags);
		EXPECT_EQ(0, self->pkt.seg);
		EXPECT_EQ(0, self->pkt.len);
		EXPECT_EQ(self->raw.tid, msg_tid64(&self->raw.got));
	}
	/* That is all, and no more segments come. */
	EXPECT_TRUE(raw_never(&self->raw, TYPE(STOP) | TYPE(ABORT), WHILE));
	EXPECT_TRUE(raw_never(&self->raw, TYPE(DATA), 600));
}

#define ENDS(name, _acked, _reason, _status, _version, _type, ...)	\
static const struct tx_case ends_##name = {				\
	.acked = _acked,						\
	.pkt = { _version, _type, RMPP_ACTIVE, __VA_ARGS__ },		\
	.reason = REASON_##_reason,					\
	.status = _status,						\
};									\
TEST_F(tx, name##_is_answered)						\
{									\
	tx_case(_metadata, self, variant, &ends_##name);		\
	tx_answer(_metadata, self, &ends_##name);			\
}									\
TEST_F(tx, name##_is_reported)						\
{									\
	tx_case(_metadata, self, variant, &ends_##name);		\
	tx_told(_metadata, self, ends_##name.reason, ends_##name.status); \
	if (self->undelivered >= 0)					\
		EXPECT_EQ(self->undelivered + 1,			\
			  umad_counter(&self->port, "rmpp_tx_failed")); \
	/* The TID is free again. */					\
	BEGIN(1, 3);							\
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));			\
	tx_take(_metadata, self, 2, 3, 3);				\
}

/* ... version, type, status, segment, length */
ENDS(ack_with_a_status, 0, PROTOCOL_ERROR, RMPP_BAD_STATUS, 1, RMPP_ACK, 1, 1, 64)
ENDS(ack_with_a_status_later, 1, PROTOCOL_ERROR, RMPP_BAD_STATUS, 1, RMPP_ACK, 126, 5, 64)
ENDS(window_below_the_segment, 0, PROTOCOL_ERROR, RMPP_W2S, 1, RMPP_ACK, 0, 1, 0)
ENDS(window_below_the_segment_later, 1, PROTOCOL_ERROR, RMPP_W2S, 1, RMPP_ACK, 0, 5, 4)
ENDS(ack_of_a_segment_not_sent, 0, PROTOCOL_ERROR, RMPP_S2B, 1, RMPP_ACK, 0, 2, 64)
ENDS(ack_of_a_segment_not_sent_later, 1, PROTOCOL_ERROR, RMPP_S2B, 1, RMPP_ACK, 0, 6, 64)
ENDS(ack_beyond_the_message, 1, PROTOCOL_ERROR, RMPP_S2B, 1, RMPP_ACK, 0, 11, 64)
ENDS(ack_far_beyond_the_message, 1, PROTOCOL_ERROR, RMPP_S2B, 1, RMPP_ACK, 0, ~0U, ~0U)
ENDS(version_2, 0, PROTOCOL_ERROR, RMPP_UNV, 2, RMPP_ACK, 0, 1, 64)
ENDS(version_0_later, 1, PROTOCOL_ERROR, RMPP_UNV, 0, RMPP_ACK, 0, 5, 64)
ENDS(type_0, 1, PROTOCOL_ERROR, RMPP_BADT, 1, 0, 0, 5, 64)
ENDS(type_5, 1, PROTOCOL_ERROR, RMPP_BADT, 1, 5, 0, 5, 64)
ENDS(stop, 0, STOPPED, RMPP_RESX, 1, RMPP_STOP, RMPP_RESX, 0, 0)
ENDS(stop_later, 1, STOPPED, RMPP_RESX, 1, RMPP_STOP, RMPP_RESX, 0, 0)
ENDS(stop_with_status_0, 1, STOPPED, 0, 1, RMPP_STOP, 0, 0, 0)
ENDS(stop_with_status_50, 1, STOPPED, 50, 1, RMPP_STOP, 50, 0, 0)
ENDS(abort, 0, ABORTED, RMPP_UNSPEC, 1, RMPP_ABORT, RMPP_UNSPEC, 0, 0)
ENDS(abort_later, 1, ABORTED, RMPP_T2L, 1, RMPP_ABORT, RMPP_T2L, 0, 0)
ENDS(abort_with_status_0, 1, ABORTED, 0, 1, RMPP_ABORT, 0, 0, 0)
ENDS(abort_with_status_9, 1, ABORTED, 9, 1, RMPP_ABORT, 9, 0, 0)
ENDS(abort_of_version_2, 1, ABORTED, RMPP_UNSPEC, 2, RMPP_ABORT, RMPP_UNSPEC, 0, 0)

/* Silence, and when the program hears of it. */
static void tx_silence(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
		       uint64_t begin, unsigned int least, unsigned int most)
{
	ASSERT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
					       most + 1000));
	EXPECT_LE(least, now_ms() - begin);
	EXPECT_GE(most, now_ms() - begin);
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	EXPECT_EQ(self->raw.tid, be64toh(rmpp_mad(&self->got)->tid));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

static void tx_gives_up(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self)
{
	EXPECT_EQ(REASON_TIMEOUT, rmpp_user_hdr(&self->got)->reserved[0]);
	EXPECT_EQ(RMPP_TMR, rmpp_user_hdr(&self->got)->reserved[1]);
	ASSERT_EQ(0, raw_wait(&self->raw, RMPP_ABORT, &self->pkt, SOON));
	EXPECT_EQ(RMPP_TMR, self->pkt.status);
}

/* How far it got before. */
struct tx_silence {
	uint32_t segs, acked, window;
};

/* Up to 2 s in-tree, and a caller's shorter time-out. */
static void tx_silent(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
		      const FIXTURE_VARIANT(tx) *variant,
		      const struct tx_silence *c)
{
	unsigned int wait = variant->kind == ASK ? 1000 : 2000;
	uint64_t begin;

	self->timeout_ms = variant->kind == ASK ? 1000 : 0;
	self->retries = 0;
	BEGIN(1, c->segs);
	begin = now_ms();
	if (c->acked) {
		ASSERT_EQ(0, raw_ack(&self->raw, 1, c->window));
		tx_take(_metadata, self, 2, c->window, c->segs);
	}
	if (c->acked > 1) {
		ASSERT_EQ(0, raw_ack(&self->raw, c->acked, c->window));
		begin = now_ms();
	}
	tx_silence(_metadata, self, begin, wait - 100, wait + 1200);
}

#define TIMEOUT(name, ...)						\
static const struct tx_silence silence_##name = { __VA_ARGS__ };	\
TEST_F(tx, silence_##name##_times_out)					\
{									\
	tx_silent(_metadata, self, variant, &silence_##name);		\
}									\
TEST_F(tx, silence_##name##_is_told_to_the_peer)			\
{									\
	tx_silent(_metadata, self, variant, &silence_##name);		\
	tx_gives_up(_metadata, self);					\
}

/* segments, acknowledged, window */
TIMEOUT(from_the_start, 10, 0, 0)
TIMEOUT(after_the_first_ack, 10, 1, 5)
TIMEOUT(in_the_middle, 10, 4, 6)
TIMEOUT(before_the_last_ack, 5, 4, 5)
TIMEOUT(after_one_segment, 1, 0, 0)

/* A receiver that answers all it is sent with the first packet it can. */
TEST_F_TIMEOUT(tx, stray_packets_of_all_kinds, 60)
{
	uint32_t seed = 1;
	int i;

	BEGIN(1, 30);
	for (i = 0; i < 400; i++) {
		const struct rmpp_pkt pkt = {
			.version = seed >> 8 & 3,
			.type = seed >> 11 & 7,
			.flags = seed >> 13 & 7,
			.status = seed >> 17 & 1 ? seed >> 20 & 0xff : 0,
			.seg = seed >> 4 & 15,
			.len = seed >> 9 & 31,
		};

		seed = seed * 1664525 + 1013904223;
		/* A packet that is not Active might be the response. */
		if (!(pkt.flags & RMPP_ACTIVE) || (seed >> 30) == 0)
			self->raw.tid ^= 2;
		ASSERT_EQ(0, pkt.flags & RMPP_ACTIVE ?
			  raw_send(&self->raw, &pkt) : raw_plain(&self->raw));
		if (i % 20 == 0)
			sleep_ms(5);
	}
	/* Nothing hangs, and the agents are good. */
	sleep_ms(3000);
	while (rmpp_msg_read(self->fd, &self->got, HDR_NEW, 0) > 0 ||
	       !raw_recv(&self->raw, &self->pkt, 0))
		;
	BEGIN(0x777, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));
	tx_take(_metadata, self, 2, 3, 3);
	ASSERT_EQ(0, raw_ack(&self->raw, 3, 64));
}

TEST_HARNESS_MAIN
