// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A sender made by hand against the kernel's RMPP receiver: it breaks the
 * rules, and looks at what it is answered and what is delivered.
 */
#include "rmpp_rx_fixture.h"

/* A packet that breaks a rule, and the status of the ABORT for it; 0: none. */
struct rx_case {
	struct rmpp_pkt pkt;
	uint8_t want;
};

static void rx_refuses(struct __test_metadata *_metadata, FIXTURE_DATA(rx) *self,
		       const struct rx_case *c)
{
	ASSERT_EQ(0, raw_send(&self->raw, &c->pkt));
	if (!c->want) {
		EXPECT_TRUE(raw_never(&self->raw, TYPE(STOP) | TYPE(ABORT) |
				      TYPE(DATA), WHILE));
		return;
	}
	ASSERT_EQ(0, raw_wait(&self->raw, RMPP_ABORT, &self->pkt, SOON));
	EXPECT_EQ(c->want, self->pkt.status);
	EXPECT_EQ(1, self->pkt.version);
	EXPECT_EQ(RMPP_ACTIVE, self->pkt.flags);
	EXPECT_EQ(0, self->pkt.seg);
	EXPECT_EQ(0, self->pkt.len);
	EXPECT_EQ(msg_tid64(&self->raw.got), self->raw.tid |
		  (msg_tid64(&self->raw.got) & ~0xffffffffull));
	/* Once. */
	EXPECT_TRUE(raw_never(&self->raw, TYPE(STOP) | TYPE(ABORT), WHILE));
}

/* As the first packet of all. */
#define START(name, wanted, ...)					\
static const struct rx_case start_##name = {				\
	.pkt = PKT(__VA_ARGS__), .want = wanted,			\
};									\
TEST_F(rx, start_##name)						\
{									\
	EXPECT_ASKED(1);						\
	rx_refuses(_metadata, self, &start_##name);			\
	EXPECT_TRUE(rmpp_quiet(self->fd, 0));				\
	/* The same TID is as good as new. */				\
	rx_whole(_metadata, self, 3);					\
}

START(first_segment_without_flag, RMPP_BAD_SEG, 1, RMPP_DATA, 0, 0, 1, 660)
START(first_flag_on_segment_2, RMPP_BAD_SEG, 1, RMPP_DATA, RMPP_FIRST, 0, 2, 660)
START(segment_0, RMPP_BAD_SEG, 1, RMPP_DATA, 0, 0, 0, 0)
START(segment_0_first, RMPP_BAD_SEG, 1, RMPP_DATA, RMPP_FIRST, 0, 0, 660)
START(status, RMPP_BAD_STATUS, 1, RMPP_DATA, RMPP_FIRST, 5, 1, 660)
START(version_2, RMPP_UNV, 2, RMPP_DATA, RMPP_FIRST, 0, 1, 660)
START(version_0, RMPP_UNV, 0, RMPP_DATA, RMPP_FIRST, 0, 1, 660)
START(type_0, RMPP_BADT, 1, 0, RMPP_FIRST, 0, 1, 660)
START(type_5, RMPP_BADT, 1, 5, RMPP_FIRST, 0, 1, 660)
START(type_255, RMPP_BADT, 1, 255, 0, 0, 7, 7)
START(segment_2, 0, 1, RMPP_DATA, 0, 0, 2, 0)
START(last_segment, 0, 1, RMPP_DATA, RMPP_LAST, 0, 0xffffffff, 220)
START(ack_for_nothing, 0, 1, RMPP_ACK, 0, 0, 3, 70)
START(ack_0_for_nothing, 0, 1, RMPP_ACK, 0, 0, 0, 1)
START(ack_status_for_nothing, 0, 1, RMPP_ACK, 0, 3, 3, 70)
START(ack_small_window_for_nothing, 0, 1, RMPP_ACK, 0, 0, 3, 1)
START(stop_for_nothing, 0, 1, RMPP_STOP, 0, RMPP_RESX, 0, 0)
START(stop_status_for_nothing, 0, 1, RMPP_STOP, 0, 77, 0, 0)
START(abort_for_nothing, 0, 1, RMPP_ABORT, 0, RMPP_UNSPEC, 0, 0)
START(abort_status_for_nothing, 0, 1, RMPP_ABORT, 0, 5, 0, 0)
START(abort_version_for_nothing, 0, 3, RMPP_ABORT, 0, 0, 0, 0)

/* The rest of a message that is over. */
static void rx_is_over(struct __test_metadata *_metadata, FIXTURE_DATA(rx) *self,
		       uint32_t segs)
{
	ASSERT_EQ(0, rx_send(self, 2, segs, segs));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE)) {
		TH_LOG("delivered all the same");
	}
}

/* In mid-transfer: the message ends, and the next with its TID is apart. */
#define MID(name, wanted, ...)						\
static const struct rx_case mid_##name = {				\
	.pkt = PKT(__VA_ARGS__), .want = wanted,			\
};									\
TEST_F(rx, mid_##name##_is_answered)					\
{									\
	EXPECT_ASKED(1);						\
	rx_first(_metadata, self, 4);					\
	rx_refuses(_metadata, self, &mid_##name);			\
}									\
TEST_F(rx, mid_##name##_ends_it)					\
{									\
	EXPECT_ASKED(1);						\
	rx_first(_metadata, self, 4);					\
	ASSERT_EQ(0, raw_send(&self->raw, &mid_##name.pkt));		\
	sleep_ms(50);							\
	rx_is_over(_metadata, self, 4);					\
}									\
TEST_F(rx, mid_##name##_then_a_new_one)					\
{									\
	EXPECT_ASKED(1);						\
	rx_first(_metadata, self, 4);					\
	ASSERT_EQ(0, raw_send(&self->raw, &mid_##name.pkt));		\
	sleep_ms(50);							\
	while (!raw_recv(&self->raw, &self->pkt, 0))			\
		;							\
	self->raw.seed = 2;						\
	rx_whole(_metadata, self, 3);					\
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));			\
}

MID(first_segment_without_flag, RMPP_BAD_SEG, 1, RMPP_DATA, 0, 0, 1, 660)
MID(first_flag_on_segment_2, RMPP_BAD_SEG, 1, RMPP_DATA, RMPP_FIRST, 0, 2, 660)
MID(segment_0, RMPP_BAD_SEG, 1, RMPP_DATA, 0, 0, 0, 0)
MID(status, RMPP_BAD_STATUS, 1, RMPP_DATA, 0, 1, 2, 0)
MID(version, RMPP_UNV, 2, RMPP_DATA, 0, 0, 2, 0)
MID(type_0, RMPP_BADT, 1, 0, 0, 0, 2, 0)
MID(type_9, RMPP_BADT, 1, 9, 0, 0, 2, 0)
/* These are never answered, not even bad ones. */
MID(abort, 0, 1, RMPP_ABORT, 0, RMPP_UNSPEC, 0, 0)
MID(abort_status_0, 0, 1, RMPP_ABORT, 0, 0, 0, 0)
MID(abort_status_9, 0, 1, RMPP_ABORT, 0, 9, 0, 0)
MID(abort_version, 0, 2, RMPP_ABORT, 0, RMPP_UNSPEC, 0, 0)
MID(stop, 0, 1, RMPP_STOP, 0, RMPP_RESX, 0, 0)
MID(stop_status_9, 0, 1, RMPP_STOP, 0, 9, 0, 0)

/* Two ends, or an end before what has come already. */
TEST_F(rx, segment_behind_the_last)
{
	EXPECT_ASKED(1);
	/* Its claim opens the window so far. */
	rx_first(_metadata, self, 6);
	ASSERT_EQ(0, rx_send(self, 4, 4, 4));
	ASSERT_EQ(0, raw_data(&self->raw, 5, 0, 0));
	ASSERT_EQ(0, raw_wait(&self->raw, RMPP_ABORT, &self->pkt, SOON));
	EXPECT_EQ(RMPP_BAD_LEN, self->pkt.status);
	rx_is_over(_metadata, self, 4);
}

TEST_F(rx, last_segment_before_another)
{
	EXPECT_ASKED(1);
	rx_first(_metadata, self, 6);
	ASSERT_EQ(0, raw_data(&self->raw, 5, 0, 0));
	ASSERT_EQ(0, raw_data(&self->raw, 3, RMPP_LAST, 220));
	ASSERT_EQ(0, raw_wait(&self->raw, RMPP_ABORT, &self->pkt, SOON));
	EXPECT_EQ(RMPP_BAD_LEN, self->pkt.status);
	rx_is_over(_metadata, self, 6);
}

/*
 * Lengths that cannot be mean a full segment: some subnet managers send 0 or
 * that of the whole table.
 */
static const struct {
	uint32_t len;
	size_t data;
} lens[] = {
	{ 4, 0 }, { 5, 1 }, { 100, 96 }, { 219, 215 }, { 220, 216 },
	{ 0, 216 }, { 1, 216 }, { 3, 216 }, { 221, 216 }, { 100000, 216 },
	{ 0x7fffffff, 216 }, { 0x80000000, 216 }, { 0xffffffff, 216 },
};

TEST_F(rx, payload_length_of_a_single_segment)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		EXPECT_ASKED(i);
		ASSERT_EQ(0, raw_data(&self->raw, 1, RMPP_LAST, lens[i].len));
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
		EXPECT_TRUE(rmpp_msg_has(&self->got, lens[i].data, i)) {
			TH_LOG("PayloadLength %u: %zu bytes, not %zu",
			       lens[i].len, self->got.mad_len - 40,
			       lens[i].data);
		}
	}
}

TEST_F(rx, payload_length_of_the_last_segment)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		EXPECT_ASKED(i);
		rx_first(_metadata, self, 3);
		ASSERT_EQ(0, raw_data(&self->raw, 2, 0, 77));
		ASSERT_EQ(0, raw_data(&self->raw, 3, RMPP_LAST, lens[i].len));
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
		EXPECT_TRUE(rmpp_msg_has(&self->got, 2 * SEG + lens[i].data,
					 i)) {
			TH_LOG("PayloadLength %u: %zu bytes, not %zu",
			       lens[i].len, self->got.mad_len - 40,
			       2 * SEG + lens[i].data);
		}
	}
}

/* The end is where Last is, whatever the first segment promised. */
TEST_F(rx, payload_length_of_the_first_segment)
{
	static const uint32_t first[] = { 0, 3, 220, 221, 440, 660, 5000, 1 << 20 };
	int i;

	for (i = 0; i < ARRAY_SIZE(first); i++) {
		EXPECT_ASKED(i);
		ASSERT_EQ(0, raw_data(&self->raw, 1, 0, first[i]));
		ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 1, &self->pkt,
					  SOON)) {
			TH_LOG("PayloadLength %u", first[i]);
		}
		ASSERT_EQ(0, rx_send(self, 2, 3, 3));
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
		EXPECT_TRUE(rmpp_msg_has(&self->got, 3 * SEG, i));
	}
}

TEST_F(rx, message_that_is_too_long_is_stopped)
{
	static const uint32_t first[] = { 0x7fffffff, 0x80000000, 0xffffffff };
	int i;

	for (i = 0; i < ARRAY_SIZE(first); i++) {
		EXPECT_ASKED(i);
		ASSERT_EQ(0, raw_data(&self->raw, 1, 0, first[i]));
		ASSERT_EQ(0, raw_wait(&self->raw, RMPP_STOP, &self->pkt, SOON));
		EXPECT_EQ(RMPP_RESX, self->pkt.status);
		rx_is_over(_metadata, self, 3);
	}
	EXPECT_ASKED(10);
	rx_whole(_metadata, self, 3);
}

TEST_HARNESS_MAIN
