// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Long messages to and from another host, over whatever the wire has been made
 * to be: all of their bytes, and in how long. The time is in the test's log;
 * UMAD_THERE_MS is how long one to there may take, UMAD_THERE_MAX and
 * UMAD_BACK_MAX the bytes that the sender of that side can be trusted with.
 */
#include "kselftest_harness.h"
#include "rmpp_remote.h"

#include <stdio.h>

#define LIMIT	60000	/* ms */

FIXTURE(wire) {
	struct remote f;
	int there_ms;
	uint32_t there_max;
	uint32_t back_max;
};

FIXTURE_SETUP(wire)
{
	self->there_ms = env_long("UMAD_THERE_MS", LIMIT);
	self->there_max = env_long("UMAD_THERE_MAX", 1 << 30);
	self->back_max = env_long("UMAD_BACK_MAX", 1 << 30);
	ASSERT_EQ(0, remote_open(&self->f));
	self->f.retries = 3;
}

FIXTURE_TEARDOWN(wire)
{
	remote_close(&self->f);
}

FIXTURE_VARIANT(wire) {
	uint32_t len;
};

FIXTURE_VARIANT_ADD(wire, one_segment) { .len = 100 };
FIXTURE_VARIANT_ADD(wire, two_segments) { .len = 400 };
FIXTURE_VARIANT_ADD(wire, k100) { .len = 100 << 10 };
FIXTURE_VARIANT_ADD(wire, m1) { .len = 1 << 20 };

/* A message to it; none comes back as undelivered. */
TEST_F_TIMEOUT(wire, there, 120)
{
	uint32_t received = self->f.state.received;
	uint64_t begin = now_ms();

	if (variant->len > self->there_max)
		SKIP(return, "too much for its sender");
	ASSERT_LT(0, remote_request(&self->f, OP_SINK, 0, 0, variant->len, 0));
	ASSERT_EQ(0, remote_wait_received(&self->f, received, self->there_ms));
	TH_LOG("%u bytes in %llu ms", variant->len,
	       (unsigned long long)(now_ms() - begin));
	EXPECT_EQ(variant->len, self->f.state.len);
	rmpp_msg_init(&self->f.msg, &self->f.port, HDR_NEW, 0, CLASS_PEER,
		      METHOD_TEST, 0, variant->len, 1);
	memset(rmpp_mad_bytes(&self->f.msg) + 40, 0, REMOTE_WORDS);
	rmpp_mad_bytes(&self->f.msg)[43] = OP_SINK;
	EXPECT_EQ(remote_hash(rmpp_mad_bytes(&self->f.msg) + 40, variant->len),
		  self->f.state.hash);
	EXPECT_TRUE(rmpp_quiet(self->f.fd, 100));
}

/* A message from it. */
TEST_F_TIMEOUT(wire, back, 120)
{
	uint64_t begin = now_ms();

	if (variant->len > self->back_max)
		SKIP(return, "too much for its sender");
	ASSERT_LT(0, remote_request(&self->f, OP_GENERATE, variant->len, 7,
				    REMOTE_WORDS, LIMIT));
	ASSERT_LT(0, remote_read(&self->f, LIMIT));
	TH_LOG("%u bytes in %llu ms", variant->len,
	       (unsigned long long)(now_ms() - begin));
	EXPECT_TRUE(rmpp_msg_has(&self->f.got, variant->len, 7));
}

/* There and back, as one transaction. */
TEST_F_TIMEOUT(wire, both_ways, 120)
{
	uint64_t begin = now_ms();

	if (variant->len > self->there_max || variant->len > self->back_max)
		SKIP(return, "too much for its sender");
	ASSERT_LT(0, remote_request(&self->f, OP_ECHO, 0, 0, variant->len,
				    LIMIT));
	ASSERT_LT(0, remote_read(&self->f, 2 * LIMIT));
	TH_LOG("%u bytes in %llu ms", variant->len,
	       (unsigned long long)(now_ms() - begin));
	EXPECT_EQ(0, rmpp_user_hdr(&self->f.got)->status);
	ASSERT_EQ(40 + variant->len, self->f.got.mad_len);
	EXPECT_EQ(0, memcmp(rmpp_mad_bytes(&self->f.msg) + 40,
			    rmpp_mad_bytes(&self->f.got) + 40, variant->len));
}

TEST_HARNESS_MAIN
