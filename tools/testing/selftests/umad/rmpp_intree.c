// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * With ib_core's own RMPP as the peer, in both roles: ib_umad_peer_kunit.ko
 * (tools/testing/kunit/peer_kunit.c) does what the data sent to it says.
 */
#include "kselftest_harness.h"
#include "rmpp_util.h"

#include <stdio.h>

#define CLASS_PEER	0x31
#define SOON		20000	/* ms; for what has to happen */
#define SEG		216

enum {
	OP_GENERATE,
	OP_ECHO,
	OP_SUM,
	OP_CANCEL,
	OP_PUSH,
	OP_ASK,
	OP_STATE,
	OP_SINK,
};

/* What the peer says of itself: struct peer_state. */
struct state {
	uint32_t received;
	uint32_t len;
	uint32_t hash;
	uint32_t sent;
	uint32_t status;
	uint32_t response_len;
	uint32_t response_hash;
};

FIXTURE(intree) {
	struct test_port port;
	int fd;			/* agent 0: client; agent 1: for pushes */
	struct rmpp_msg msg;
	struct rmpp_msg got;
	struct rmpp_msg reply;
	struct state state;
	uint32_t tid;
};

/* A request of @len bytes with the words of an operation in front. */
static int request(FIXTURE_DATA(intree) *self, uint32_t op, uint32_t len, uint32_t arg,
		   size_t req_len, unsigned int timeout_ms)
{
	const uint32_t words[] = { htobe32(op), htobe32(len), htobe32(arg) };

	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_PEER,
		      METHOD_TEST, ++self->tid, req_len < 12 ? 12 : req_len, 1);
	memcpy(rmpp_mad_bytes(&self->msg) + 40, words, sizeof(words));
	rmpp_user_hdr(&self->msg)->timeout_ms = timeout_ms;
	return rmpp_msg_write(self->fd, &self->msg);
}

static uint32_t hash(const uint8_t *data, size_t len)
{
	uint32_t hash = 2166136261u;

	while (len--)
		hash = (hash ^ *data++) * 16777619u;
	return hash;
}

/* The state, whatever else is waiting to be read. */
static int ask_state(FIXTURE_DATA(intree) *self)
{
	uint32_t *words = (uint32_t *)&self->state;
	int ret, i;

	ret = request(self, OP_STATE, 0, 0, 12, 20000);
	if (ret < 0)
		return ret;
	do {
		ret = rmpp_msg_read(self->fd, &self->reply, HDR_NEW, SOON);
		if (ret < 0)
			return ret;
	} while (rmpp_tid(&self->reply) != self->tid);
	if (rmpp_user_hdr(&self->reply)->status)
		return -rmpp_user_hdr(&self->reply)->status;
	if (self->reply.mad_len != 40 + sizeof(self->state))
		return -EPROTO;
	memcpy(words, rmpp_mad_bytes(&self->reply) + 40, sizeof(self->state));
	for (i = 0; i < sizeof(self->state) / 4; i++)
		words[i] = be32toh(words[i]);
	return 0;
}

FIXTURE_SETUP(intree)
{
	struct rmpp_agent agent = { .mgmt_class = CLASS_PEER, .rmpp_version = 1 };

	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, rmpp_register(self->fd, &agent));
	agent.method = METHOD_TABLE;
	ASSERT_EQ(1, rmpp_register(self->fd, &agent));
	ASSERT_EQ(0, ask_state(self)) {
		TH_LOG("is ib_umad_peer_kunit loaded?");
	}
}

FIXTURE_TEARDOWN(intree)
{
	close(self->fd);
	rmpp_msg_free(&self->msg);
	rmpp_msg_free(&self->got);
	rmpp_msg_free(&self->reply);
}

static const uint32_t lens[] = {
	12, 216, 217, 432, 433, 63 * SEG, 64 * SEG, 64 * SEG + 1, 65 * SEG,
	65 * SEG + 1, 66 * SEG, 128 * SEG, 129 * SEG, 129 * SEG + 1,
	130 * SEG, 193 * SEG, 100000,
};

/* What did the in-tree receiver get? */
static void to_intree(struct __test_metadata *_metadata, FIXTURE_DATA(intree) *self,
		      uint32_t len)
{
	uint32_t received = self->state.received, want;
	uint64_t end;

	ASSERT_LT(0, request(self, OP_SINK, 0, 0, len, 0));
	want = hash(rmpp_mad_bytes(&self->msg) + 40, len);
	/* An in-tree receiver gives up after 40 s, whatever has come. */
	end = now_ms() + 60000;
	do {
		sleep_ms(20);
		ASSERT_EQ(0, ask_state(self));
	} while (self->state.received == received && now_ms() < end);
	EXPECT_EQ(received + 1, self->state.received);
	EXPECT_EQ(len, self->state.len);
	EXPECT_EQ(want, self->state.hash);
}

TEST_F_TIMEOUT(intree, receives_from_us, 120)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		to_intree(_metadata, self, lens[i]);
	EXPECT_TRUE(rmpp_quiet(self->fd, 2500));
}

TEST_F_TIMEOUT(intree, receives_1_mib_from_us, 120)
{
	to_intree(_metadata, self, 1 << 20);
}

TEST_F_TIMEOUT(intree, receives_4_mib_from_us, 120)
{
	to_intree(_metadata, self, 4 << 20);
}

static void from_intree(struct __test_metadata *_metadata, FIXTURE_DATA(intree) *self,
			uint32_t len, unsigned int timeout_ms)
{
	ASSERT_LT(0, request(self, OP_GENERATE, len, len, 12, timeout_ms));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, 300000));
	EXPECT_TRUE(rmpp_msg_has(&self->got, len, len)) {
		TH_LOG("%u bytes: status %u, reason %u %u, %zu bytes", len,
		       rmpp_user_hdr(&self->got)->status,
		       rmpp_user_hdr(&self->got)->reserved[0],
		       rmpp_user_hdr(&self->got)->reserved[1],
		       self->got.mad_len);
	}
	EXPECT_EQ(self->tid, rmpp_tid(&self->got));
}

TEST_F_TIMEOUT(intree, answers_us, 120)
{
	uint32_t sent = self->state.sent;
	int i;

	from_intree(_metadata, self, 0, 3000);
	from_intree(_metadata, self, 1, 3000);
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		from_intree(_metadata, self, lens[i], 3000);
	ASSERT_EQ(0, ask_state(self));
	EXPECT_EQ(sent + 2 + ARRAY_SIZE(lens), self->state.sent);
	EXPECT_EQ(0, self->state.status);
	EXPECT_TRUE(rmpp_quiet(self->fd, 500));
}

TEST_F_TIMEOUT(intree, answers_us_1_mib, 120)
{
	from_intree(_metadata, self, 1 << 20, 20000);
}

TEST_F_TIMEOUT(intree, answers_us_4_mib, 120)
{
	from_intree(_metadata, self, 4 << 20, 20000);
}

TEST_F_TIMEOUT(intree, double_sided_transfer, 120)
{
	size_t sizes[] = { 12, 300, 64 * SEG, 65 * SEG + 1, 100000, 1 << 20 };
	uint8_t *sent;
	int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		ASSERT_LT(0, request(self, OP_ECHO, 0, 0, sizes[i], 5000));
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
					   100000));
		EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
		ASSERT_EQ(40 + sizes[i], self->got.mad_len);
		sent = rmpp_mad_bytes(&self->msg);
		EXPECT_EQ(0, memcmp(sent + 40, rmpp_mad_bytes(&self->got) + 40,
				    sizes[i]));
	}
	EXPECT_TRUE(rmpp_quiet(self->fd, 500));
}

/* It sends on its own, and we receive. */
TEST_F_TIMEOUT(intree, pushes_to_us, 120)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		ASSERT_LT(0, request(self, OP_PUSH, lens[i], 5000 + i, 12, 0));
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
		EXPECT_EQ(METHOD_TABLE, rmpp_mad(&self->got)->method);
		EXPECT_EQ(1, rmpp_user_hdr(&self->got)->id);
		EXPECT_EQ(5000 + i, rmpp_tid(&self->got));
		EXPECT_TRUE(rmpp_msg_has(&self->got, lens[i], 5000 + i));
	}
}

/* It asks, and we answer: double-sided the other way round. */
TEST_F_TIMEOUT(intree, asks_us, 120)
{
	int i, k;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		ASSERT_LT(0, request(self, OP_ASK, lens[i], 7000 + i, 12, 0));
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
		EXPECT_TRUE(rmpp_msg_has(&self->got, lens[i], 7000 + i));
		rmpp_msg_reply(&self->reply, &self->got, 1, lens[i] / 2, 3);
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->reply));
		rmpp_fill(rmpp_mad_bytes(&self->got) + 40, 0, lens[i] / 2, 3);
		for (k = 0; k < 200; k++) {
			ASSERT_EQ(0, ask_state(self));
			if (self->state.response_len == lens[i] / 2)
				break;
			sleep_ms(20);
		}
		EXPECT_EQ(lens[i] / 2, self->state.response_len);
		EXPECT_EQ(hash(rmpp_mad_bytes(&self->got) + 40, lens[i] / 2),
			  self->state.response_hash);
		EXPECT_EQ(0, self->state.status);
	}
	EXPECT_TRUE(rmpp_quiet(self->fd, 2500));
}

/* Its program gives the response up in the middle: ours times out. */
TEST_F_TIMEOUT(intree, cancels_its_answer, 120)
{
	ASSERT_LT(0, request(self, OP_CANCEL, 4 << 20, 300, 12, 5000));
	ASSERT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
					       60000));
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	EXPECT_EQ(self->tid, rmpp_tid(&self->got));
	from_intree(_metadata, self, 50000, 20000);
}

/* We go away in the middle of its answer: it is told by an ABORT. */
TEST_F_TIMEOUT(intree, learns_that_we_have_gone, 120)
{
	struct rmpp_agent agent = { .mgmt_class = CLASS_PEER, .rmpp_version = 1 };
	uint32_t sent = self->state.sent;
	uint64_t begin;

	/* Until it has made them, and has begun to send. */
	ASSERT_LT(0, request(self, OP_GENERATE, 4 << 20, 1, 12, 20000));
	ASSERT_EQ(0, ask_state(self));
	ASSERT_EQ(sent, self->state.sent);
	sleep_ms(100);
	ASSERT_EQ(0, umad_unreg(self->fd, 0));
	ASSERT_EQ(0, rmpp_register(self->fd, &agent));
	begin = now_ms();
	do {
		ASSERT_EQ(0, ask_state(self));
		sleep_ms(20);
	} while (self->state.sent == sent && now_ms() - begin < 20000);
	EXPECT_EQ(sent + 1, self->state.sent);
	/* IB_WC_REM_ABORT_ERR, and not a time-out, which takes it 8 s. */
	EXPECT_EQ(16, self->state.status);
	EXPECT_GT(6000, now_ms() - begin);
}

/* The same in the middle of our message to it. */
TEST_F_TIMEOUT(intree, forgets_what_we_break_off, 120)
{
	struct rmpp_agent agent = { .mgmt_class = CLASS_PEER, .rmpp_version = 1 };
	int i;

	for (i = 0; i < 10; i++) {
		ASSERT_LT(0, request(self, OP_SINK, 0, 0, 1 << 20, 0));
		sleep_ms(5 * i);
		ASSERT_EQ(0, umad_unreg(self->fd, 0));
		ASSERT_EQ(0, rmpp_register(self->fd, &agent));
	}
	ASSERT_EQ(0, ask_state(self));
	to_intree(_metadata, self, 100000);
}

TEST_F_TIMEOUT(intree, many_at_once, 120)
{
	enum { COUNT = 32 };
	uint32_t first = self->tid + 1, tid;
	bool seen[COUNT] = { 0 };
	int i;

	for (i = 0; i < COUNT; i++)
		ASSERT_LT(0, request(self, OP_GENERATE, 30000 + i, i, 12, 30000));
	for (i = 0; i < COUNT; i++) {
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
					   60000)) {
			TH_LOG("%d of %d", i, COUNT);
		}
		tid = rmpp_tid(&self->got) - first;
		ASSERT_GT(COUNT, tid);
		EXPECT_FALSE(seen[tid]);
		seen[tid] = true;
		EXPECT_TRUE(rmpp_msg_has(&self->got, 30000 + tid, tid));
	}
}

TEST_HARNESS_MAIN
