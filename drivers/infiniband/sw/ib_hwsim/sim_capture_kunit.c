// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Capture: the records in the ring, and the frames of packets. The suite uses the ring
 * of the module, so no other packet may be sent while it runs.
 */
#include "sim_capture.h"

#include <kunit/test.h>
#include <linux/string.h>
#include "sim_compat.h"
#include "sim_kunit.h"
#include "sim_pcap.h"

/* CRCs of the packets below, computed by another program. */
#define ICRC_PLAIN	0x5e851095
#define VCRC_PLAIN	0xd0d2
#define ICRC_GRH	0xcab291ef
#define VCRC_GRH	0xff01

/**
 * struct capture_env - state of a test
 * @packet: a packet
 * @record: buffer for a record
 * @frame: buffer for a frame
 */
struct capture_env {
	struct sim_packet *packet;
	struct sim_record *record;
	u8 *frame;
};

static int capture_env_init(struct kunit *test)
{
	struct capture_env *env;

	env = kunit_kzalloc(test, sizeof(*env), GFP_KERNEL);
	if (!env)
		return -ENOMEM;
	test->priv = env;
	env->packet = sim_kunit_test_packet(test);
	env->record = kunit_kzalloc(test, SIM_RECORD_MAX, GFP_KERNEL);
	/* Bytes behind the record must not be written. */
	env->frame = kunit_kzalloc(test, SIM_FRAME_MAX + 64, GFP_KERNEL);
	if (!env->packet || !env->record || !env->frame)
		return -ENOMEM;
	sim_capture_clear();
	return 0;
}

static bool read_one(struct capture_env *env, u64 *pos)
{
	u64 gone;

	if (!sim_capture_read(pos, sim_capture_end(&gone), env->record))
		return false;
	*pos += env->record->size;
	return true;
}

static bool same_packet(const struct sim_packet *a, const struct sim_packet *b)
{
	return a->len == b->len && a->slid == b->slid && a->sl == b->sl &&
	       !memcmp(a->mad, b->mad, a->len);
}

static void capture_records(struct kunit *test)
{
	static const struct sim_verdict verdict = {
		.action = SIM_DELAY, .rule = 3, .delay_us = 1000,
	};
	static const char lost[] = "no_buffer";
	struct capture_env *env = test->priv;
	struct sim_record *record = env->record;
	u64 pos = 0, gone;

	KUNIT_EXPECT_FALSE(test, read_one(env, &pos));
	sim_capture(env->packet, SIM_OUT, &verdict);
	env->packet->mad[200] = 1;
	env->packet->len = 255;
	sim_capture_in(env->packet, 9, 2, lost);
	sim_capture_in(env->packet, 10, 3, NULL);

	pos = 0;
	KUNIT_ASSERT_TRUE(test, read_one(env, &pos));
	KUNIT_EXPECT_EQ(test, record->direction, SIM_OUT);
	KUNIT_EXPECT_EQ(test, record->device, 5U);
	KUNIT_EXPECT_EQ(test, record->port, 1U);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&record->verdict, &verdict, sizeof(verdict)));
	KUNIT_EXPECT_EQ(test, record->packet.len, 256U);
	KUNIT_EXPECT_EQ(test, record->packet.mad[200], 200);

	KUNIT_ASSERT_TRUE(test, read_one(env, &pos));
	KUNIT_EXPECT_EQ(test, record->direction, SIM_IN);
	KUNIT_EXPECT_EQ(test, record->device, 9U);
	KUNIT_EXPECT_EQ(test, record->port, 2U);
	KUNIT_EXPECT_PTR_EQ(test, record->lost, (const char *)lost);
	KUNIT_EXPECT_TRUE(test, same_packet(&record->packet, env->packet));

	KUNIT_ASSERT_TRUE(test, read_one(env, &pos));
	KUNIT_EXPECT_NULL(test, record->lost);
	KUNIT_EXPECT_FALSE(test, read_one(env, &pos));
	sim_capture_end(&gone);
	KUNIT_EXPECT_EQ(test, gone, 0ULL);
}

/* More packets than fit, of all lengths: the newest remain, in order. */
static void capture_bounded(struct kunit *test)
{
	struct capture_env *env = test->priv;
	u32 next = 0, last = 0, count = 0, i;
	u64 pos = 0, gone = 0;

	for (i = 0; !gone || i < 20000; i++) {
		env->packet->len = 8 + i % 249;
		put_unaligned_be32(i, env->packet->mad);
		sim_capture_in(env->packet, i, 1, NULL);
		sim_capture_end(&gone);
		KUNIT_ASSERT_LT(test, i, 10000000U);
	}
	last = i - 1;
	while (read_one(env, &pos)) {
		u32 id = get_unaligned_be32(env->record->packet.mad);

		if (count++)
			KUNIT_ASSERT_EQ(test, id, next);
		KUNIT_ASSERT_EQ(test, id, env->record->device);
		KUNIT_ASSERT_EQ(test, env->record->packet.len, 8 + id % 249);
		next = id + 1;
	}
	KUNIT_EXPECT_EQ(test, next, last + 1);
	KUNIT_EXPECT_EQ(test, gone + count, (u64)i);

	/* A reader that falls behind goes on with the oldest record. */
	pos = 1;
	KUNIT_EXPECT_TRUE(test, read_one(env, &pos));
	KUNIT_EXPECT_EQ(test, env->record->device, (u32)gone);
	sim_capture_clear();
	pos = 0;
	KUNIT_EXPECT_FALSE(test, read_one(env, &pos));
	sim_capture_end(&gone);
	KUNIT_EXPECT_EQ(test, gone, 0ULL);
}

/* The headers in front of the MAD; nothing is written behind the frame. */
static void check_frame(struct kunit *test, u32 len, const u8 *head,
			u32 head_len)
{
	struct capture_env *env = test->priv;
	u32 i;

	memset(env->frame, 0xa5, SIM_FRAME_MAX + 64);
	KUNIT_EXPECT_EQ(test, len, sim_frame(env->packet, env->frame));
	for (i = 0; i < head_len; i++)
		KUNIT_EXPECT_EQ_MSG(test, head[i], env->frame[i], "byte %u", i);
	KUNIT_EXPECT_EQ(test, 0, memcmp(env->frame + head_len, env->packet->mad, env->packet->len));
	for (i = len; i < SIM_FRAME_MAX + 64; i++)
		KUNIT_ASSERT_EQ(test, 0xa5, env->frame[i]);
}

static void capture_frame(struct kunit *test)
{
	struct capture_env *env = test->priv;
	static const u8 head[] = {
		/* LRH: VL 0, SL 3, BTH next, DLID, 72 words, SLID */
		0x00, 0x32, 0x00, 0x20, 0x00, 0x48, 0x00, 0x10,
		/* BTH: UD send only, P_Key, to QP1 */
		0x64, 0x40, 0x80, 0x01, 0x00, 0x00, 0x00, 0x01, 0, 0, 0, 0,
		/* DETH: Q_Key, from QP1 */
		0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	};

	check_frame(test, 290, head, sizeof(head));
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(env->frame + 284), ICRC_PLAIN);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(env->frame + 288), VCRC_PLAIN);
}

static void capture_frame_smp(struct kunit *test)
{
	struct capture_env *env = test->priv;
	static const u8 head[] = {
		/* VL 15 */
		0xf0, 0x02, 0xff, 0xff, 0x00, 0x48, 0xff, 0xff,
		0x64, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0, 0, 0, 0,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	};

	env->packet->slid = 0xffff;
	env->packet->dlid = 0xffff;
	env->packet->src_qp = 0;
	env->packet->dest_qp = 0;
	env->packet->qkey = 0;
	env->packet->pkey = 0xffff;
	env->packet->sl = 0;
	check_frame(test, 290, head, sizeof(head));
}

static void capture_frame_grh(struct kunit *test)
{
	struct capture_env *env = test->priv;
	u8 head[68] = {
		/* GRH next, 82 words */
		0x00, 0x33, 0x00, 0x20, 0x00, 0x52, 0x00, 0x10,
		/* traffic class 0x12, flow label 0x34567, PayLen 280 */
		0x61, 0x23, 0x45, 0x67, 0x01, 0x18, 0x1b, 0x40,
	};
	static const u8 tail[] = {
		0x64, 0x40, 0x80, 0x01, 0x00, 0x00, 0x00, 0x01, 0, 0, 0, 0,
		0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	};
	u32 i;

	env->packet->flags |= IB_HWSIM_GRH;
	memcpy(env->packet->grh, head + 8, 4);
	env->packet->grh[7] = 0x40;
	for (i = 8; i < 40; i++) {
		env->packet->grh[i] = i;
		head[8 + i] = i;
	}
	memcpy(head + 48, tail, sizeof(tail));
	check_frame(test, 330, head, sizeof(head));
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(env->frame + 324), ICRC_GRH);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(env->frame + 328), VCRC_GRH);
	/* The ICRC does not cover what a router may change. */
	env->packet->grh[7] = 0x3f;
	env->packet->slid = 1;
	sim_frame(env->packet, env->frame);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(env->frame + 324), ICRC_GRH);
	KUNIT_EXPECT_NE(test, get_unaligned_be16(env->frame + 328), VCRC_GRH);
}

/* MADs of OPA: the longest, and one that needs padding. */
static void capture_frame_opa(struct kunit *test)
{
	struct capture_env *env = test->priv;
	struct sim_packet *opa = sim_kunit_packet(IB_HWSIM_MAX_MAD);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, opa);
	KUNIT_EXPECT_EQ(test, sim_frame(opa, env->frame),
			8U + 12 + 8 + 2048 + 4 + 2);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(env->frame + 4), 520);
	opa->len = 301;
	KUNIT_EXPECT_EQ(test, sim_frame(opa, env->frame),
			8U + 12 + 8 + 304 + 4 + 2);
	KUNIT_EXPECT_EQ(test, env->frame[9], 0x40 | 3 << 4);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(env->frame + 4), 84);
	KUNIT_EXPECT_EQ(test, env->frame[28 + 301], 0);
	sim_packet_free(opa);
}

static struct kunit_case capture_cases[] = {
	KUNIT_CASE(capture_records),
	KUNIT_CASE(capture_bounded),
	KUNIT_CASE(capture_frame),
	KUNIT_CASE(capture_frame_smp),
	KUNIT_CASE(capture_frame_grh),
	KUNIT_CASE(capture_frame_opa),
	{}
};

static struct kunit_suite capture_suite = {
	.name = "sim_capture",
	.init = capture_env_init,
	.test_cases = capture_cases,
};

kunit_test_suite(capture_suite);
