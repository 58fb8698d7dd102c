// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Solicited sends: how often they go out, when and how they come back, what a
 * response does, and which of them are duplicates.
 */
#include "pair_fixture.h"

#include <limits.h>

FIXTURE(send) {
	PAIR_MEMBERS;
	struct umad_msg reply;
};

FIXTURE_SETUP(send)
{
	PAIR_OPEN(O_RDWR | O_NONBLOCK);
}

FIXTURE_TEARDOWN(send)
{
	close(self->fd);
	close(self->peer);
}

/* Everything the peer has received and not read yet. */
static int drain(int fd)
{
	struct umad_msg msg;
	int n = 0;

	while (msg_read(fd, &msg, n ? 50 : 0) == MSG_LEN)
		n++;
	return n;
}

/* Send with this time-out, wait for it, count what the peer got of it. */
static void check_retries(struct __test_metadata *_metadata, int fd, int peer,
			  struct umad_msg *msg, uint32_t timeout_ms,
			  uint32_t retries)
{
	struct umad_msg got;
	uint64_t start, took;

	msg->hdr.timeout_ms = timeout_ms;
	msg->hdr.retries = retries;
	start = now_ms();
	ASSERT_EQ(MSG_LEN, msg_write(fd, msg));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(fd, &got, 25000));
	took = now_ms() - start;
	EXPECT_EQ(ETIMEDOUT, got.hdr.status);
	/* Jiffies may round one step down. */
	EXPECT_LE((uint64_t)timeout_ms * (retries + 1), took + 10);
	sleep_ms(2 * timeout_ms);
	EXPECT_EQ(retries + 1, drain(peer));
	EXPECT_EQ(-ETIME, msg_read(fd, &got, 0));
}

TEST_F(send, without_retries_goes_out_once)
{
	check_retries(_metadata, self->fd, self->peer, &self->msg, 400, 0);
}

TEST_F(send, one_retry_goes_out_twice)
{
	check_retries(_metadata, self->fd, self->peer, &self->msg, 400, 1);
}

TEST_F(send, five_retries_go_out_six_times)
{
	check_retries(_metadata, self->fd, self->peer, &self->msg, 300, 5);
}

TEST_F(send, retries_are_timeout_ms_apart)
{
	uint64_t last = 0, now;
	int i;

	self->msg.hdr.timeout_ms = 700;
	self->msg.hdr.retries = 3;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
		now = now_ms();
		/* The reader may have been late for the one before. */
		if (i)
			EXPECT_LE(last + 350, now);
		last = now;
	}
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 10000));
	EXPECT_LE(last + 350, now_ms());
}

TEST_F(send, retries_carry_the_same_mad)
{
	struct umad_msg first;
	int i;

	memset(self->msg.data + MAD_HDR_LEN, 0x3c, MAD_LEN - MAD_HDR_LEN);
	self->msg.hdr.timeout_ms = 200;
	self->msg.hdr.retries = 3;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &first, 10000));
	EXPECT_EQ(0x3c, first.data[MAD_LEN - 1]);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
		EXPECT_EQ(0, memcmp(&first, &self->got, MSG_LEN));
	}
}

TEST_F(send, timeout_returns_the_written_header_and_24_bytes)
{
	struct umad_msg sent;
	struct umad_msg want;

	self->msg.hdr.timeout_ms = 200;
	self->msg.hdr.retries = 1;
	self->msg.hdr.length = 4321;
	self->msg.hdr.status = 99;
	self->msg.hdr.qkey = htobe32(0x1234);
	self->msg.hdr.flow_label = htobe32(0x777);
	self->msg.hdr.reserved[3] = 0x5d;
	self->msg.mad.tid = htobe64(0xcafecafe00c0ffeeull);
	self->msg.mad.attr_id = htobe16(0xbeef);
	self->msg.mad.attr_mod = htobe32(0x01020304);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &sent, 10000));
	memset(&self->got, 0xee, sizeof(self->got));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 10000));
	want = self->msg;
	want.hdr.status = ETIMEDOUT;
	want.mad.tid = sent.mad.tid;
	EXPECT_EQ(0, memcmp(&want.hdr, &self->got.hdr, sizeof(want.hdr)));
	EXPECT_EQ(0, memcmp(&want.mad, &self->got.mad, MAD_HDR_LEN));
	EXPECT_EQ(0x00c0ffee, msg_tid(&self->got));
	EXPECT_NE(0, msg_tid64(&self->got) >> 32);
	EXPECT_EQ(0xee, self->got.data[MAD_HDR_LEN]);
}

TEST_F(send, timeout_needs_header_plus_24_to_be_read)
{
	self->msg.hdr.timeout_ms = 100;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EINVAL, msg_read_len(self->fd, &self->got,
					TIMED_OUT_LEN - 1, 10000));
	EXPECT_EQ(TIMED_OUT_LEN, msg_read_len(self->fd, &self->got,
					      TIMED_OUT_LEN, 0));
}

TEST_F(send, timeout_0_never_reports)
{
	self->msg.hdr.retries = 3;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 1500));
	EXPECT_EQ(1, drain(self->peer));
}

TEST_F(send, negative_timeout_waits_for_ever)
{
	static const uint32_t timeouts[] = { 0xffffffff, 0x80000000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(timeouts); i++) {
		self->msg.hdr.timeout_ms = timeouts[i];
		self->msg.mad.tid = htobe64(i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 4000));
	EXPECT_EQ(2, drain(self->peer));
	/* Still outstanding: the TID is taken. Closing the file frees them. */
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
}

TEST_F(send, negative_timeout_is_still_answered)
{
	self->msg.hdr.timeout_ms = -1;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	sleep_ms(500);
	msg_reply(&self->reply, &self->got, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 10000));
	EXPECT_EQ(0, self->got.hdr.status);
}

TEST_F(send, longest_positive_timeout_does_not_expire_at_once)
{
	self->msg.hdr.timeout_ms = INT_MAX;
	self->msg.hdr.retries = UINT_MAX;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 1500));
	EXPECT_EQ(1, drain(self->peer));
}

TEST_F(send, response_completes_at_once_and_exactly_once)
{
	uint64_t start = now_ms();

	self->msg.hdr.timeout_ms = 3000;
	self->msg.hdr.retries = 2;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&self->reply, &self->got, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 10000));
	EXPECT_GT(start + 2900, now_ms());
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(0, self->got.hdr.id);
	EXPECT_EQ(METHOD_TEST | METHOD_RESP, self->got.mad.method);
	/* No retry, no time-out, nothing more. */
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 4000));
	EXPECT_EQ(0, drain(self->peer));
}

TEST_F(send, response_to_a_retry_completes_it)
{
	self->msg.hdr.timeout_ms = 500;
	self->msg.hdr.retries = 30;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&self->reply, &self->got, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 10000));
	EXPECT_EQ(0, self->got.hdr.status);
	drain(self->peer);
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 1500));
	EXPECT_EQ(0, drain(self->peer));
}

TEST_F(send, second_response_is_dropped)
{
	self->msg.hdr.timeout_ms = 1000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&self->reply, &self->got, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 10000));
	/* Until the first is sent, the second would be a duplicate. */
	sleep_ms(300);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 1500));
}

TEST_F(send, late_response_is_dropped)
{
	self->msg.hdr.timeout_ms = 200;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&self->reply, &self->got, 0);
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 10000));
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 1000));
}

TEST_F(send, unasked_response_is_dropped)
{
	/* Learn the agent's upper half, without expecting a response. */
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&self->reply, &self->got, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 500));
	/* Nor does a wrong TID or class answer a request. */
	self->msg.mad.tid = htobe64(2);
	self->msg.hdr.timeout_ms = 2000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	self->reply.mad.tid ^= htobe64(4);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	self->reply.mad.tid ^= htobe64(4) ^ htobe64(3);
	self->reply.mad.mgmt_class = CLASS_VENDOR1B;
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	EXPECT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 10000));
}

TEST_F(send, counters_tell_what_happened)
{
	long posted = umad_counter(&self->port, "send_posted");
	long retried = umad_counter(&self->port, "send_retried");
	long timed_out = umad_counter(&self->port, "send_timed_out");
	long completed = umad_counter(&self->port, "send_completed");
	long unmatched = umad_counter(&self->port, "recv_unmatched");
	long canceled = umad_counter(&self->port, "send_canceled");

	ASSERT_LE(0, posted);
	/* Two retries, then a time-out, then a late response. */
	self->msg.hdr.timeout_ms = 200;
	self->msg.hdr.retries = 2;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&self->reply, &self->got, 0);
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 10000));
	EXPECT_EQ(retried + 2, umad_counter(&self->port, "send_retried"));
	EXPECT_EQ(timed_out + 1, umad_counter(&self->port, "send_timed_out"));
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 500));
	/* On RoCE nothing listens for it any more. */
	EXPECT_EQ(unmatched + !self->port.netdev[0],
		  umad_counter(&self->port, "recv_unmatched"));
	drain(self->peer);
	/* One request that is answered. */
	self->msg.hdr.timeout_ms = 20000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&self->reply, &self->got, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 10000));
	sleep_ms(300);
	EXPECT_LT(completed, umad_counter(&self->port, "send_completed"));
	/* One that the caller cancels. */
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(0, umad_unreg(self->fd, 0));
	EXPECT_EQ(canceled + 1, umad_counter(&self->port, "send_canceled"));
	EXPECT_LE(posted + 5, umad_counter(&self->port, "send_posted"));
}

TEST_F(send, duplicate_request_is_EINVAL_until_it_completes)
{
	self->msg.hdr.timeout_ms = 400;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
	/* Whatever the destination, the method and the upper half. */
	self->msg.mad.method = METHOD_NOBODY;
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
	self->msg.mad.tid |= htobe64(0xabcdull << 32);
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
	self->msg.hdr.timeout_ms = 0;
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
	/* Another class or TID is another matter. */
	self->msg.mad.mgmt_class = CLASS_VENDOR1B;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	self->msg.mad.mgmt_class = CLASS_VENDOR1;
	self->msg.mad.tid = htobe64(2);
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 10000));
	self->msg.mad.tid = htobe64(1);
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
}

TEST_F(send, duplicate_is_free_again_after_the_response)
{
	self->msg.hdr.timeout_ms = 20000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&self->reply, &self->got, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 10000));
	/* libibmad's own retry counts on it. */
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
}

TEST_F(send, same_tid_of_another_agent_is_no_duplicate)
{
	ASSERT_EQ(1, umad_reg_client(self->fd));
	self->msg.hdr.timeout_ms = 20000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	self->msg.hdr.id = 1;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
}

TEST_F(send, active_raw_segments_never_are_duplicates)
{
	int i;

	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR2, METHOD_NOBODY, 1);
	self->msg.hdr.timeout_ms = 5000;
	self->msg.data[24] = 1;
	self->msg.data[25] = 1;
	self->msg.data[26] = 1;
	for (i = 0; i < 3; i++)
		EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	/* The same without Active is one. */
	self->msg.data[26] = 0;
	self->msg.mad.tid = htobe64(2);
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
	/* In a class without RMPP the flag means nothing. */
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
	self->msg.hdr.timeout_ms = 5000;
	self->msg.data[26] = 1;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
}

TEST_F(send, response_and_request_of_one_tid_are_no_duplicates)
{
	self->msg.hdr.timeout_ms = 20000;
	self->msg.mad.method = METHOD_NOBODY;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	self->msg.mad.method |= METHOD_RESP;
	self->msg.hdr.timeout_ms = 0;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
}

/* A response that waits for something is outstanding, per destination. */
TEST_F(send, duplicate_responses_are_told_apart_by_destination)
{
	self->msg.hdr.timeout_ms = 5000;
	self->msg.mad.tid = htobe64(0x0012345600000001ull);
	self->msg.mad.method = METHOD_TEST | METHOD_RESP;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
	self->msg.hdr.gid[15] ^= 0x40;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
}

TEST_F(send, expiry_order_is_by_deadline)
{
	static const uint32_t timeouts[] = { 2000, 500, 1250 };
	static const uint32_t order[] = { 1, 2, 0 };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		self->msg.mad.tid = htobe64(i);
		self->msg.hdr.timeout_ms = timeouts[i];
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 10000));
		EXPECT_EQ(order[i], msg_tid(&self->got));
	}
}

TEST_F(send, hundred_requests_end_exactly_once_each)
{
	uint8_t seen[100] = { 0 };
	int i, n;

	for (i = 0; i < 100; i++) {
		self->msg.mad.tid = htobe64(i);
		self->msg.hdr.timeout_ms = 500 + 37 * i % 500;
		self->msg.hdr.retries = i % 3;
		self->msg.mad.method = i % 4 ? METHOD_NOBODY : METHOD_TEST;
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	/* Every fourth is answered, maybe more than once. */
	while (msg_read(self->peer, &self->got, 300) == MSG_LEN) {
		msg_reply(&self->reply, &self->got, 0);
		msg_write(self->peer, &self->reply);
	}
	for (i = 0; i < 100; i++) {
		n = msg_read(self->fd, &self->got, 10000);
		ASSERT_LT(0, n);
		ASSERT_GT(100, msg_tid(&self->got));
		EXPECT_EQ(0, seen[msg_tid(&self->got)]++);
		if (msg_tid(&self->got) % 4)
			EXPECT_EQ(TIMED_OUT_LEN, n);
	}
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 2500));
}

TEST_HARNESS_MAIN
