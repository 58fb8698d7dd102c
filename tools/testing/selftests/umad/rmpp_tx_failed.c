// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages of several segments that nobody is there to receive.
 */
#include "kselftest_harness.h"
#include "rmpp_util.h"

#define SOON	20000	/* ms; for what has to happen */
#define WHILE	300	/* ms; for what must not */

/* They come back, also if no response was expected. */
FIXTURE(undelivered) {
	struct test_port port;
	int fd;
	struct rmpp_msg msg;
	struct rmpp_msg got;
	long sent;
	long undelivered;
};

FIXTURE_VARIANT(undelivered) {
	uint32_t timeout_ms;
	uint32_t retries;
	size_t len;
	unsigned int least, most;	/* ms */
};

FIXTURE_VARIANT_ADD(undelivered, no_timeout) {
	.len = 1000, .least = 1900, .most = 3500,
};

FIXTURE_VARIANT_ADD(undelivered, no_timeout_1_segment) {
	.len = 10, .least = 1900, .most = 3500,
};

FIXTURE_VARIANT_ADD(undelivered, no_timeout_1_retry) {
	.retries = 1, .len = 1000, .least = 3800, .most = 6000,
};

FIXTURE_VARIANT_ADD(undelivered, timeout_500_1_retry) {
	.timeout_ms = 500, .retries = 1, .len = 1000, .least = 950,
	.most = 2500,
};

FIXTURE_VARIANT_ADD(undelivered, timeout_5000) {
	.timeout_ms = 5000, .len = 100000, .least = 1900, .most = 6500,
};

FIXTURE_SETUP(undelivered)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
	};

	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, rmpp_register(self->fd, &agent));
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_NOBODY, 0x77777777, variant->len, 1);
	rmpp_user_hdr(&self->msg)->timeout_ms = variant->timeout_ms;
	rmpp_user_hdr(&self->msg)->retries = variant->retries;
	rmpp_user_hdr(&self->msg)->length = 4321;
	memset(rmpp_user_hdr(&self->msg)->reserved, 0xff, 6);
	self->sent = umad_counter(&self->port, "rmpp_sent");
	self->undelivered = umad_counter(&self->port, "rmpp_tx_failed");
}

FIXTURE_TEARDOWN(undelivered)
{
	close(self->fd);
	rmpp_msg_free(&self->msg);
	rmpp_msg_free(&self->got);
}

TEST_F(undelivered, comes_back)
{
	struct ib_user_mad_hdr *hdr;
	uint64_t begin = now_ms(), took;

	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	EXPECT_EQ(TIMED_OUT_LEN,
		  rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	took = now_ms() - begin;
	EXPECT_LE(variant->least, took);
	EXPECT_GE(variant->most, took);
	hdr = rmpp_user_hdr(&self->got);
	EXPECT_EQ(ETIMEDOUT, hdr->status);
	EXPECT_EQ(0, hdr->id);
	EXPECT_EQ(4321, hdr->length);
	EXPECT_EQ(variant->timeout_ms, hdr->timeout_ms);
	EXPECT_EQ(htobe32(1), hdr->qpn);
	EXPECT_EQ(0, memcmp(hdr->gid, self->port.gid, 16));
	EXPECT_EQ(0x77777777, rmpp_tid(&self->got));
	EXPECT_NE(0, be64toh(rmpp_mad(&self->got)->tid) >> 32);
	EXPECT_EQ(METHOD_NOBODY, rmpp_mad(&self->got)->method);
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
	/* Its TID is free again. */
	EXPECT_LT(0, rmpp_msg_write(self->fd, &self->msg));
}

/* write() says so, and nothing is left of it. */
TEST_F(undelivered, gid_index_without_gid_is_ENODATA)
{
	int used = self->port.gid_index;

	rmpp_user_hdr(&self->msg)->gid_index = 200;
	EXPECT_EQ(-ENODATA, rmpp_msg_write(self->fd, &self->msg));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
	/* Its TID is free. */
	rmpp_user_hdr(&self->msg)->gid_index = used;
	EXPECT_LT(0, rmpp_msg_write(self->fd, &self->msg));
}

/* In-tree says nothing but ETIMEDOUT. */
TEST_F(undelivered, reason_is_timeout)
{
	struct ib_user_mad_hdr *hdr;
	int i;

	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_EQ(TIMED_OUT_LEN,
		  rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	hdr = rmpp_user_hdr(&self->got);
	EXPECT_EQ(REASON_TIMEOUT, hdr->reserved[0]);
	EXPECT_EQ(RMPP_TMR, hdr->reserved[1]);
	for (i = 2; i < 6; i++)
		EXPECT_EQ(0, hdr->reserved[i]);
	EXPECT_EQ(self->undelivered + 1,
		  umad_counter(&self->port, "rmpp_tx_failed"));
	EXPECT_EQ(self->sent, umad_counter(&self->port, "rmpp_sent"));
}

TEST_HARNESS_MAIN
