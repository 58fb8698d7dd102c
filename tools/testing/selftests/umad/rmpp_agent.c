// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Agents for which the kernel does RMPP: messages of several segments out and
 * in, and the rules of read() and write() for them. Small and quick: the long
 * runs, and the protocol itself, have files of their own (rmpp_*.c).
 */
#include "kselftest_harness.h"
#include "umad_util.h"

#define RMPP_ACTIVE	1
#define SA_HEADER	56	/* MAD, RMPP and SA headers */
#define SA_PAYLOAD	200	/* of each segment */

FIXTURE(rmpp) {
	struct test_port port;
	int fd;			/* agent 0: SA with RMPP, no methods */
	int peer;		/* agent 0: SA with RMPP, serves METHOD_TEST */
	int raw;		/* agent 0: SA without, serves METHOD_TEST2 */
	struct umad_msg *msg;
	struct umad_msg *got;
};

#define BUF_LEN 200000

static int reg_rmpp(int fd, unsigned int method, uint8_t rmpp_version)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, CLASS_SA, 2);
	if (method)
		mask_set((uint64_t *)req.method_mask, method);
	req.rmpp_version = rmpp_version;
	return umad_reg2(fd, &req);
}

FIXTURE_SETUP(rmpp)
{
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	self->peer = umad_open(O_RDWR | O_NONBLOCK);
	self->raw = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, reg_rmpp(self->fd, 0, 1));
	ASSERT_EQ(0, reg_rmpp(self->peer, METHOD_TEST, 1));
	ASSERT_EQ(0, reg_rmpp(self->raw, METHOD_TEST2, 0));
	self->msg = calloc(1, BUF_LEN);
	self->got = calloc(1, BUF_LEN);
	msg_init(self->msg, &self->port, 0, CLASS_SA, METHOD_TEST, 1);
	self->msg->data[24] = 1;
	self->msg->data[26] = RMPP_ACTIVE;
}

FIXTURE_TEARDOWN(rmpp)
{
	close(self->fd);
	close(self->peer);
	close(self->raw);
	free(self->msg);
	free(self->got);
}

static char *payload(struct umad_msg *msg)
{
	return (char *)msg + HDR_NEW + SA_HEADER;
}

static void fill(struct umad_msg *msg, int len)
{
	int i;

	for (i = 0; i < len; i++)
		payload(msg)[i] = i * 7 + i / 251;
}

static const int lengths[] = { 1, 199, 200, 201, 400, 1000, 12800, 13001, 65536 };

TEST_F(rmpp, messages_of_all_lengths_arrive_whole)
{
	unsigned int i;
	int len, total;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		len = lengths[i];
		total = HDR_NEW + SA_HEADER + len;
		self->msg->mad.tid = htobe64(i);
		fill(self->msg, len);
		ASSERT_EQ(total, msg_write_len(self->fd, self->msg, total));
		memset(self->got, 0xee, BUF_LEN);
		ASSERT_EQ(total, msg_read_len(self->peer, self->got, BUF_LEN,
					      20000)) {
			TH_LOG("length %d", len);
		}
		EXPECT_EQ(total, self->got->hdr.length);
		EXPECT_EQ(0, self->got->hdr.status);
		EXPECT_EQ(0, memcmp(payload(self->got), payload(self->msg),
				    len));
		EXPECT_EQ((char)0xee, payload(self->got)[len]);
	}
}

TEST_F(rmpp, short_buffer_gets_the_first_segment_and_ENOSPC)
{
	int total = HDR_NEW + SA_HEADER + 1000;

	fill(self->msg, 1000);
	ASSERT_EQ(total, msg_write_len(self->fd, self->msg, total));
	memset(self->got, 0xee, BUF_LEN);
	EXPECT_EQ(-EINVAL, msg_read_len(self->peer, self->got, MSG_LEN - 1,
					20000));
	EXPECT_EQ(0xeeeeeeee, self->got->hdr.length);
	EXPECT_EQ(-ENOSPC, msg_read_len(self->peer, self->got, MSG_LEN, 0));
	EXPECT_EQ(total, self->got->hdr.length);
	EXPECT_EQ(0, memcmp(payload(self->got), payload(self->msg),
			    SA_PAYLOAD));
	EXPECT_EQ((char)0xee, payload(self->got)[SA_PAYLOAD]);
	/* It stays first in the queue. */
	EXPECT_EQ(-ENOSPC, msg_read_len(self->peer, self->got, total - 1, 0));
	EXPECT_EQ(total, msg_read_len(self->peer, self->got, total, 0));
	EXPECT_EQ(0, memcmp(payload(self->got), payload(self->msg), 1000));
}

TEST_F(rmpp, short_message_needs_header_plus_its_length)
{
	int total = HDR_NEW + SA_HEADER + 10;

	fill(self->msg, 10);
	ASSERT_EQ(total, msg_write_len(self->fd, self->msg, total));
	EXPECT_EQ(-EINVAL, msg_read_len(self->peer, self->got, total - 1,
					20000));
	EXPECT_EQ(total, msg_read_len(self->peer, self->got, total, 0));
	EXPECT_EQ(total, self->got->hdr.length);
}

TEST_F(rmpp, inactive_mad_arrives_with_its_rmpp_header_zeroed)
{
	static const uint8_t zero[12];

	memset(self->msg->data + 24, 0x5a, 12);
	self->msg->data[26] = 0xf0;
	fill(self->msg, SA_PAYLOAD);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, self->got, 10000));
	EXPECT_EQ(0, memcmp(self->got->data + 24, zero, 12));
	EXPECT_EQ(0, memcmp(payload(self->got), payload(self->msg),
			    SA_PAYLOAD));
	/* And is one MAD, not more. */
	EXPECT_EQ(-EINVAL, msg_write_len(self->fd, self->msg, MSG_LEN + 1));
}

TEST_F(rmpp, class_without_rmpp_from_such_an_agent_is_EINVAL)
{
	msg_init(self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
	EXPECT_EQ(-EINVAL, msg_write(self->fd, self->msg));
}

TEST_F(rmpp, long_answer_completes_the_request)
{
	int total = HDR_NEW + SA_HEADER + 5000;

	msg_init(self->msg, &self->port, 0, CLASS_SA, METHOD_TEST, 5);
	self->msg->hdr.timeout_ms = 20000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, self->got, 10000));
	memcpy(self->msg, self->got, MSG_LEN);
	self->msg->hdr.id = 0;
	self->msg->mad.method |= METHOD_RESP;
	self->msg->data[24] = 1;
	self->msg->data[26] = RMPP_ACTIVE;
	fill(self->msg, 5000);
	ASSERT_EQ(total, msg_write_len(self->peer, self->msg, total));
	ASSERT_EQ(total, msg_read_len(self->fd, self->got, BUF_LEN, 20000));
	EXPECT_EQ(0, self->got->hdr.status);
	EXPECT_EQ(0, memcmp(payload(self->got), payload(self->msg), 5000));
	EXPECT_EQ(-ETIME, msg_read(self->fd, self->got, 500));
}

TEST_F(rmpp, raw_agent_sees_the_segments)
{
	int total = HDR_NEW + SA_HEADER + 1000;

	self->msg->mad.method = METHOD_TEST2;
	ASSERT_EQ(total, msg_write_len(self->fd, self->msg, total));
	ASSERT_EQ(MSG_LEN, msg_read(self->raw, self->got, 10000));
	EXPECT_EQ(1, self->got->data[24]);			/* version */
	EXPECT_EQ(1, self->got->data[25]);			/* DATA */
	EXPECT_EQ(RMPP_ACTIVE | 2, self->got->data[26] & 7);	/* First */
	EXPECT_EQ(1, be32toh(*(uint32_t *)(self->got->data + 28)));
	/* Nobody acknowledges it: back it comes, after at most 2 s. */
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, self->got, 20000));
	EXPECT_EQ(ETIMEDOUT, self->got->hdr.status);
	EXPECT_EQ(1, msg_tid(self->got));
}

TEST_F(rmpp, message_nobody_acknowledges_times_out_after_its_retries)
{
	uint64_t start = now_ms();

	self->msg->mad.method = METHOD_NOBODY;
	self->msg->hdr.timeout_ms = 300;
	self->msg->hdr.retries = 2;
	ASSERT_EQ(HDR_NEW + SA_HEADER + 1000,
		  msg_write_len(self->fd, self->msg,
				HDR_NEW + SA_HEADER + 1000));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, self->got, 20000));
	EXPECT_LE(start + 890, now_ms());
	EXPECT_EQ(ETIMEDOUT, self->got->hdr.status);
	EXPECT_EQ(-ETIME, msg_read(self->fd, self->got, 1000));
}

TEST_F(rmpp, unregister_in_the_middle_of_a_transfer)
{
	int total = HDR_NEW + SA_HEADER + 65536, i;

	for (i = 0; i < 5; i++) {
		self->msg->mad.tid = htobe64(i);
		self->msg->mad.method = i & 1 ? METHOD_NOBODY : METHOD_TEST;
		ASSERT_EQ(total, msg_write_len(self->fd, self->msg, total));
	}
	EXPECT_EQ(0, umad_unreg(self->fd, 0));
	EXPECT_EQ(-ETIME, msg_read(self->fd, self->got, 3000));
	EXPECT_EQ(0, umad_unreg(self->peer, 0));
	EXPECT_EQ(0, reg_rmpp(self->peer, METHOD_TEST, 1));
}

TEST_HARNESS_MAIN
