// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * With ib_core's own RMPP as the peer, in both roles: an agent in this kernel
 * (ib_umad_peer.ko), or the in-tree ib_umad of another host. See rmpp_remote.h.
 */
#include "kselftest_harness.h"
#include "rmpp_remote.h"

#include <stdio.h>

#define SEG		216

FIXTURE(intree) {
	struct remote f;
};

FIXTURE_SETUP(intree)
{
	ASSERT_EQ(0, remote_open(&self->f)) {
		TH_LOG("is the peer there?");
	}
}

FIXTURE_TEARDOWN(intree)
{
	remote_close(&self->f);
}

static const uint32_t lens[] = {
	12, 216, 217, 432, 433, 63 * SEG, 64 * SEG, 64 * SEG + 1, 65 * SEG,
	65 * SEG + 1, 66 * SEG, 128 * SEG, 129 * SEG, 129 * SEG + 1,
	130 * SEG, 193 * SEG, 100000,
};

/* What did the in-tree receiver get? It gives up after 40 s, at any rate. */
static void to_intree(struct __test_metadata *_metadata, FIXTURE_DATA(intree) *self,
		      uint32_t len)
{
	uint32_t received = self->f.state.received, want;

	ASSERT_LT(0, remote_request(&self->f, OP_SINK, 0, 0, len, 0));
	want = remote_hash(rmpp_mad_bytes(&self->f.msg) + 40, len);
	ASSERT_EQ(0, remote_wait_received(&self->f, received, 60000));
	EXPECT_EQ(received + 1, self->f.state.received);
	EXPECT_EQ(len, self->f.state.len);
	EXPECT_EQ(want, self->f.state.hash);
}

TEST_F_TIMEOUT(intree, receives_from_us, 120)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		to_intree(_metadata, self, lens[i]);
	EXPECT_TRUE(rmpp_quiet(self->f.fd, 2500));
}

TEST_F_TIMEOUT(intree, receives_1_mib_from_us, 120)
{
	to_intree(_metadata, self, 1 << 20);
}

/* UMAD_MIB says how long, where there is little time. */
static uint32_t long_message(void)
{
	return env_long("UMAD_MIB", 16) << 20;
}

TEST_F_TIMEOUT(intree, receives_long_from_us, 120)
{
	if (!long_message())
		SKIP(return, "it would take too long here");
	to_intree(_metadata, self, long_message());
}

static void from_intree(struct __test_metadata *_metadata, FIXTURE_DATA(intree) *self,
			uint32_t len, unsigned int timeout_ms)
{
	ASSERT_LT(0, remote_request(&self->f, OP_GENERATE, len, len, 12, timeout_ms));
	ASSERT_LT(0, rmpp_msg_read(self->f.fd, &self->f.got, HDR_NEW, 300000));
	EXPECT_TRUE(rmpp_msg_has(&self->f.got, len, len)) {
		TH_LOG("%u bytes: status %u, reason %u %u, %zu bytes", len,
		       rmpp_user_hdr(&self->f.got)->status,
		       rmpp_user_hdr(&self->f.got)->reserved[0],
		       rmpp_user_hdr(&self->f.got)->reserved[1],
		       self->f.got.mad_len);
	}
	EXPECT_EQ(self->f.tid, rmpp_tid(&self->f.got));
}

TEST_F_TIMEOUT(intree, answers_us, 120)
{
	uint32_t sent = self->f.state.sent;
	int i;

	from_intree(_metadata, self, 0, 3000);
	from_intree(_metadata, self, 1, 3000);
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		from_intree(_metadata, self, lens[i], 3000);
	ASSERT_EQ(0, remote_ask_state(&self->f));
	EXPECT_EQ(sent + 2 + ARRAY_SIZE(lens), self->f.state.sent);
	EXPECT_EQ(0, self->f.state.status);
	EXPECT_TRUE(rmpp_quiet(self->f.fd, 500));
}

TEST_F_TIMEOUT(intree, answers_us_1_mib, 120)
{
	from_intree(_metadata, self, 1 << 20, 20000);
}

TEST_F_TIMEOUT(intree, answers_us_at_length, 120)
{
	if (!long_message())
		SKIP(return, "it would take too long here");
	from_intree(_metadata, self, long_message(), 30000);
}

TEST_F_TIMEOUT(intree, double_sided_transfer, 120)
{
	size_t sizes[] = { 12, 300, 64 * SEG, 65 * SEG + 1, 100000, 1 << 20 };
	uint8_t *sent;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		ASSERT_LT(0, remote_request(&self->f, OP_ECHO, 0, 0, sizes[i], 5000));
		ASSERT_LT(0, rmpp_msg_read(self->f.fd, &self->f.got, HDR_NEW,
					   100000));
		EXPECT_EQ(0, rmpp_user_hdr(&self->f.got)->status);
		ASSERT_EQ(40 + sizes[i], self->f.got.mad_len);
		sent = rmpp_mad_bytes(&self->f.msg);
		EXPECT_EQ(0, memcmp(sent + 40, rmpp_mad_bytes(&self->f.got) + 40,
				    sizes[i]));
	}
	EXPECT_TRUE(rmpp_quiet(self->f.fd, 500));
}

/* It sends on its own, and we receive. */
TEST_F_TIMEOUT(intree, pushes_to_us, 120)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		ASSERT_LT(0, remote_request(&self->f, OP_PUSH, lens[i], 5000 + i, 12, 0));
		ASSERT_LT(0, rmpp_msg_read(self->f.fd, &self->f.got, HDR_NEW, SOON));
		EXPECT_EQ(METHOD_TABLE, rmpp_mad(&self->f.got)->method);
		EXPECT_EQ(1, rmpp_user_hdr(&self->f.got)->id);
		EXPECT_EQ(5000 + i, rmpp_tid(&self->f.got));
		EXPECT_TRUE(rmpp_msg_has(&self->f.got, lens[i], 5000 + i));
	}
}

/* It asks, and we answer: double-sided the other way round. */
TEST_F_TIMEOUT(intree, asks_us, 120)
{
	int i, k;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		ASSERT_LT(0, remote_request(&self->f, OP_ASK, lens[i], 7000 + i, 12, 0));
		ASSERT_LT(0, rmpp_msg_read(self->f.fd, &self->f.got, HDR_NEW, SOON));
		EXPECT_TRUE(rmpp_msg_has(&self->f.got, lens[i], 7000 + i));
		rmpp_msg_reply(&self->f.reply, &self->f.got, 1, lens[i] / 2, 3);
		ASSERT_LT(0, rmpp_msg_write(self->f.fd, &self->f.reply));
		rmpp_fill(rmpp_mad_bytes(&self->f.got) + 40, 0, lens[i] / 2, 3);
		for (k = 0; k < 200; k++) {
			ASSERT_EQ(0, remote_ask_state(&self->f));
			if (self->f.state.response_len == lens[i] / 2)
				break;
			sleep_ms(20);
		}
		EXPECT_EQ(lens[i] / 2, self->f.state.response_len);
		EXPECT_EQ(remote_hash(rmpp_mad_bytes(&self->f.got) + 40, lens[i] / 2),
			  self->f.state.response_hash);
		EXPECT_EQ(0, self->f.state.status);
	}
	EXPECT_TRUE(rmpp_quiet(self->f.fd, 2500));
}

/* Its program gives the response up in the middle: ours times out. */
TEST_F_TIMEOUT(intree, cancels_its_answer, 120)
{
	if (remote_is_host())
		SKIP(return, "a program cannot do that, nor tell");
	ASSERT_LT(0, remote_request(&self->f, OP_CANCEL, 4 << 20, 300, 12, 5000));
	ASSERT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->f.fd, &self->f.got, HDR_NEW,
					       60000));
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->f.got)->status);
	EXPECT_EQ(self->f.tid, rmpp_tid(&self->f.got));
	from_intree(_metadata, self, 50000, 20000);
}

/* We go away in the middle of its answer: it is told by an ABORT. */
TEST_F_TIMEOUT(intree, learns_that_we_have_gone, 120)
{
	struct rmpp_agent agent = { .mgmt_class = CLASS_PEER, .rmpp_version = 1 };
	uint32_t sent = self->f.state.sent;
	uint64_t begin;

	if (remote_is_host())
		SKIP(return, "a program cannot do that, nor tell");
	/* Until it has made them, and has begun to send. */
	ASSERT_LT(0, remote_request(&self->f, OP_GENERATE, 4 << 20, 1, 12, 20000));
	ASSERT_EQ(0, remote_ask_state(&self->f));
	ASSERT_EQ(sent, self->f.state.sent);
	sleep_ms(100);
	ASSERT_EQ(0, umad_unreg(self->f.fd, 0));
	ASSERT_EQ(0, rmpp_register(self->f.fd, &agent));
	begin = now_ms();
	do {
		ASSERT_EQ(0, remote_ask_state(&self->f));
		sleep_ms(20);
	} while (self->f.state.sent == sent && now_ms() - begin < 20000);
	EXPECT_EQ(sent + 1, self->f.state.sent);
	/* IB_WC_REM_ABORT_ERR, and not a time-out, which takes it 8 s. */
	EXPECT_EQ(16, self->f.state.status);
	EXPECT_GT(6000, now_ms() - begin);
}

/* The same in the middle of our message to it. */
TEST_F_TIMEOUT(intree, forgets_what_we_break_off, 120)
{
	struct rmpp_agent agent = { .mgmt_class = CLASS_PEER, .rmpp_version = 1 };
	int i;

	for (i = 0; i < 10; i++) {
		ASSERT_LT(0, remote_request(&self->f, OP_SINK, 0, 0, 1 << 20, 0));
		sleep_ms(5 * i);
		ASSERT_EQ(0, umad_unreg(self->f.fd, 0));
		ASSERT_EQ(0, rmpp_register(self->f.fd, &agent));
	}
	ASSERT_EQ(0, remote_ask_state(&self->f));
	to_intree(_metadata, self, 100000);
}

TEST_F_TIMEOUT(intree, many_at_once, 120)
{
	enum { COUNT = 32 };
	uint32_t first = self->f.tid + 1, tid;
	bool seen[COUNT] = { 0 };
	int i;

	for (i = 0; i < COUNT; i++)
		ASSERT_LT(0, remote_request(&self->f, OP_GENERATE, 30000 + i, i, 12, 30000));
	for (i = 0; i < COUNT; i++) {
		ASSERT_LT(0, rmpp_msg_read(self->f.fd, &self->f.got, HDR_NEW,
					   60000)) {
			TH_LOG("%d of %d", i, COUNT);
		}
		tid = rmpp_tid(&self->f.got) - first;
		ASSERT_GT(COUNT, tid);
		EXPECT_FALSE(seen[tid]);
		seen[tid] = true;
		EXPECT_TRUE(rmpp_msg_has(&self->f.got, 30000 + tid, tid));
	}
}

TEST_HARNESS_MAIN
