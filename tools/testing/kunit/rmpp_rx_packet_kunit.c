// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The RMPP receiver alone: each packet in each state, and lengths. */
#include <linux/limits.h>
#include <linux/string.h>
#include "rmpp_rx_env.h"

/**
 * struct violation - a packet and what it does to a receiver that has three
 *	segments, of 100 that the bound allows
 * @name: of the case
 * @packet: that comes
 * @verdict: of it
 * @status: then, of a receiver that it kills
 */
struct violation {
	const char *name;
	struct rmpp_packet packet;
	enum rmpp_rx_verdict verdict;
	u8 status;
};

#define P(_version, _type, _flags, _status, _seg, _len) \
	{ .version = _version, .type = _type, \
	  .flags = IB_MGMT_RMPP_FLAG_ACTIVE | (_flags), .status = _status, \
	  .seg = _seg, .len = _len }
#define DATA	IB_MGMT_RMPP_TYPE_DATA
#define ACK	IB_MGMT_RMPP_TYPE_ACK
#define STOP	IB_MGMT_RMPP_TYPE_STOP
#define ABORT	IB_MGMT_RMPP_TYPE_ABORT
#define FIRST	IB_MGMT_RMPP_FLAG_FIRST
#define LAST	IB_MGMT_RMPP_FLAG_LAST

static const struct violation violations[] = {
	{ "the next one", P(1, DATA, 0, 0, 4, 0), RMPP_RX_DROP },
	{ "PayloadLength in the middle", P(1, DATA, 0, 0, 4, 77), RMPP_RX_DROP },
	{ "the last in the window", P(1, DATA, 0, 0, 65, 0), RMPP_RX_ACK },
	{ "behind the window", P(1, DATA, 0, 0, 66, 0), RMPP_RX_DROP },
	{ "far behind the window", P(1, DATA, 0, 0, U32_MAX, 0), RMPP_RX_DROP },
	{ "again", P(1, DATA, 0, 0, 2, 0), RMPP_RX_ACK },
	{ "First again", P(1, DATA, FIRST, 0, 1, 0), RMPP_RX_ACK },
	{ "status", P(1, DATA, 0, 1, 4, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BAD_STATUS },
	{ "segment 0", P(1, DATA, 0, 0, 0, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ "segment 0, First", P(1, DATA, FIRST, 0, 0, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ "segment 1, not First", P(1, DATA, 0, 0, 1, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ "segment 4, First", P(1, DATA, FIRST, 0, 4, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ "version", P(2, DATA, 0, 0, 4, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_UNV },
	{ "no type", P(1, 0, 0, 0, 4, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BADT },
	{ "type 5", P(1, 5, 0, 0, 4, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BADT },
	{ "ACK", P(1, ACK, 0, 0, 3, 64), RMPP_RX_DROP },
	{ "ACK of the turn-around", P(1, ACK, 0, 0, 0, 64), RMPP_RX_DROP },
	{ "STOP", P(1, STOP, 0, 1, 0, 0), RMPP_RX_CLOSE, 1 },
	{ "STOP, version", P(7, STOP, 0, 1, 0, 0), RMPP_RX_CLOSE, 1 },
	{ "ABORT", P(1, ABORT, 0, 127, 0, 0), RMPP_RX_CLOSE, 127 },
	{ "ABORT, odd status", P(1, ABORT, 0, 3, 0, 0), RMPP_RX_CLOSE, 3 },
};

static void violation_name(const struct violation *violation, char *name)
{
	strscpy(name, violation->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(violation, violations, violation_name);

static void packet_while_reassembling(struct kunit *test)
{
	const struct violation *violation = test->param_value;
	struct rx_env *env = test->priv;

	give_up_to(env, 3);
	EXPECT_VERDICT(test, give(env, violation->packet), violation->verdict);
	if (violation->verdict == RMPP_RX_DROP ||
	    violation->verdict == RMPP_RX_ACK)
		KUNIT_EXPECT_EQ(test, (int)env->rx.state, (int)RMPP_RX_REASSEMBLING);
	else
		expect_dead(test, violation->status);
}

static void packet_when_dead(struct kunit *test)
{
	const struct violation *violation = test->param_value;
	struct rx_env *env = test->priv;

	give_up_to(env, 3);
	EXPECT_VERDICT(test, rmpp_rx_cancel(&env->rx, 127), RMPP_RX_ABORT);
	EXPECT_VERDICT(test, give(env, violation->packet), RMPP_RX_DROP);
	expect_dead(test, 127);
}

/*
 * It has been delivered: nothing is answered but by the same ACK. Nor does a STOP or an ABORT
 * make it forgotten: copies may come behind that.
 */
static void packet_when_done(struct kunit *test)
{
	const struct violation *violation = test->param_value;
	struct rx_env *env = test->priv;

	EXPECT_ACK(test, give(env, data_packet(1, 1, 220)), 1, WINDOW + 1);
	KUNIT_ASSERT_EQ(test, (int)env->rx.state, (int)RMPP_RX_DONE);
	if (violation->packet.type == DATA)
		EXPECT_ACK(test, give(env, violation->packet), 1, WINDOW + 1);
	else
		EXPECT_VERDICT(test, give(env, violation->packet), RMPP_RX_DROP);
	KUNIT_EXPECT_EQ(test, (int)env->rx.state, (int)RMPP_RX_DONE);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data_len(&env->rx), 200ULL);
}

/**
 * struct start - a packet that belongs to no message yet
 * @name: of the case
 * @packet: that comes
 * @verdict: of rmpp_rx_check_start()
 * @status: then, for an ABORT
 */
struct start {
	const char *name;
	struct rmpp_packet packet;
	enum rmpp_rx_verdict verdict;
	u8 status;
};

static const struct start starts[] = {
	{ "first", P(1, DATA, FIRST, 0, 1, 0), RMPP_RX_STORE },
	{ "single", P(1, DATA, FIRST | LAST, 0, 1, 20), RMPP_RX_STORE },
	{ "of an old message", P(1, DATA, 0, 0, 2, 0), RMPP_RX_DROP },
	{ "first, not First", P(1, DATA, 0, 0, 1, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ "First, not first", P(1, DATA, FIRST, 0, 2, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ "segment 0", P(1, DATA, 0, 0, 0, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BAD_SEG },
	{ "status", P(1, DATA, FIRST, 5, 1, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BAD_STATUS },
	{ "version", P(0, DATA, FIRST, 0, 1, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_UNV },
	{ "no type", P(1, 0, FIRST, 0, 1, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BADT },
	{ "type 5", P(1, 5, FIRST, 0, 1, 0), RMPP_RX_ABORT,
	  IB_MGMT_RMPP_STATUS_BADT },
	{ "ACK", P(1, ACK, 0, 0, 1, 64), RMPP_RX_DROP },
	{ "STOP", P(1, STOP, 0, 1, 0, 0), RMPP_RX_DROP },
	{ "ABORT", P(1, ABORT, 0, 118, 0, 0), RMPP_RX_DROP },
	{ "ABORT, version", P(3, ABORT, 0, 118, 0, 0), RMPP_RX_DROP },
};

static void start_name(const struct start *start, char *name)
{
	strscpy(name, start->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(start, starts, start_name);

static void check_start(struct kunit *test)
{
	const struct start *start = test->param_value;
	u8 status = 0;

	EXPECT_VERDICT(test, rmpp_rx_check_start(&start->packet, &status),
		       start->verdict);
	if (start->verdict == RMPP_RX_ABORT)
		KUNIT_EXPECT_EQ(test, (int)status, (int)start->status);
}

/**
 * struct length - a last segment and how long the message is
 * @class: management class
 * @mad_size: bytes of a MAD
 * @hdr: bytes before the data
 * @segs: segments of the message
 * @last_len: PayloadLength of the last one
 * @expect: bytes of data
 */
struct length {
	u8 class;
	u32 mad_size;
	u32 hdr;
	u32 segs;
	u32 last_len;
	u64 expect;
};

#define SA		IB_MGMT_CLASS_SUBN_ADM
#define DEV_MGMT	IB_MGMT_CLASS_DEVICE_MGMT
#define VENDOR		IB_MGMT_CLASS_VENDOR_RANGE2_START

static const struct length lengths[] = {
	{ SA, 256, 56, 1, 220, 200 }, { SA, 256, 56, 1, 21, 1 },
	{ SA, 256, 56, 1, 20, 0 },
	/* Impossible ones, that are taken for a full segment. */
	{ SA, 256, 56, 1, 19, 200 }, { SA, 256, 56, 1, 3, 200 },
	{ SA, 256, 56, 1, 0, 200 }, { SA, 256, 56, 1, 221, 200 },
	{ SA, 256, 56, 1, U32_MAX, 200 },
	{ SA, 256, 56, 3, 120, 500 }, { SA, 256, 56, 3, 0, 600 },
	/* The total, where the last segment's should be. */
	{ SA, 256, 56, 3, 660, 600 },
	{ DEV_MGMT, 256, 64, 1, 220, 192 }, { DEV_MGMT, 256, 64, 2, 29, 193 },
	{ DEV_MGMT, 256, 64, 2, 27, 384 },
	{ VENDOR, 256, 40, 1, 220, 216 }, { VENDOR, 256, 40, 4, 5, 649 },
	{ VENDOR, 256, 40, 4, 3, 864 },
	{ SA, 2048, 56, 1, 2012, 1992 }, { SA, 2048, 56, 2, 21, 1993 },
	{ SA, 2048, 56, 2, 2013, 3984 },
	{ VENDOR, 2048, 40, 2, 1000, 3004 },
};

static void length_name(const struct length *length, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "class 0x%x, %u bytes, %u x, %u",
		 length->class, length->mad_size, length->segs,
		 length->last_len);
}

KUNIT_ARRAY_PARAM(length, lengths, length_name);

static void data_length(struct kunit *test)
{
	const struct length *length = test->param_value;
	struct rmpp_layout layout = rmpp_layout_of(length->class,
						   length->mad_size);
	struct rx_env *env = test->priv;
	u32 seg;

	KUNIT_EXPECT_EQ(test, layout.hdr, length->hdr);
	KUNIT_EXPECT_EQ(test, layout.data, length->mad_size - length->hdr);
	KUNIT_EXPECT_EQ(test, rmpp_payload_max(&layout),
			length->mad_size - 36);
	rmpp_rx_init(&env->rx, &layout, MAX_BYTES, 1, env->now);
	for (seg = 1; seg <= length->segs; seg++)
		give(env, data_packet(seg, length->segs, length->last_len));
	KUNIT_ASSERT_EQ(test, (int)env->rx.state, (int)RMPP_RX_DONE);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data_len(&env->rx), length->expect);
	KUNIT_EXPECT_LE(test, rmpp_segments(&layout, length->expect),
			length->segs);
}

static struct kunit_case rmpp_rx_packet_cases[] = {
	KUNIT_CASE_PARAM(packet_while_reassembling, violation_gen_params),
	KUNIT_CASE_PARAM(packet_when_dead, violation_gen_params),
	KUNIT_CASE_PARAM(packet_when_done, violation_gen_params),
	KUNIT_CASE_PARAM(check_start, start_gen_params),
	KUNIT_CASE_PARAM(data_length, length_gen_params),
	{}
};

static struct kunit_suite rmpp_rx_packet_suite = {
	.name = "rmpp_rx_packet",
	.init = rx_env_init,
	.test_cases = rmpp_rx_packet_cases,
};

kunit_test_suite(rmpp_rx_packet_suite);
