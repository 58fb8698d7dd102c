// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * As many solicited sends outstanding as rxe has address handles for (32,767,
 * less some): all expire together, all come back, each once, and the kernel
 * does not choke on it. For a guest on the instruction clock, where waiting
 * costs nothing. UMAD_SENDS in the environment sets another number.
 */
#include "kselftest_harness.h"
#include "umad_util.h"

#define EXPIRY 90000	/* ms after the start, when all of them expire */

FIXTURE(many) {
	struct test_port port;
	int fd;
	int n;
	struct umad_msg msg;
	struct umad_msg got;
	uint8_t *seen;
};

FIXTURE_SETUP(many)
{
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->n = env_long("UMAD_SENDS", 30000);
	self->seen = calloc(self->n, 1);
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
}

FIXTURE_TEARDOWN(many)
{
	close(self->fd);
	free(self->seen);
}

/* Write all; those with a time-out expire at @start + EXPIRY. */
static void fill(struct __test_metadata *_metadata, FIXTURE_DATA(many) *self,
		 bool for_ever)
{
	uint64_t start = now_ms();
	int i;

	for (i = 0; i < self->n; i++) {
		self->msg.mad.tid = htobe64(i);
		self->msg.hdr.timeout_ms = for_ever ? -1 :
					   start + EXPIRY - now_ms();
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg)) {
			TH_LOG("write %d", i);
		}
	}
	ASSERT_GT(start + EXPIRY - 1000, now_ms()) {
		TH_LOG("too slow: the first has expired before the last write");
	}
}

TEST_F_TIMEOUT(many, sends_expire_together_and_all_come_back_once, 600)
{
	struct umad_msg msg;
	uint64_t start;
	int i, fd;

	fill(_metadata, self, false);
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 0));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 2 * EXPIRY));
	start = now_ms();
	self->seen[msg_tid(&self->got)]++;
	/* While they expire, others get their MADs. */
	fd = umad_open(O_RDWR);
	ASSERT_EQ(0, umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST));
	msg_init(&msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
	EXPECT_EQ(MSG_LEN, msg_write(fd, &msg));
	EXPECT_EQ(MSG_LEN, msg_read(fd, &msg, 20000));
	close(fd);
	for (i = 1; i < self->n; i++) {
		ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 20000));
		ASSERT_EQ(ETIMEDOUT, self->got.hdr.status);
		ASSERT_GT(self->n, msg_tid(&self->got));
		self->seen[msg_tid(&self->got)]++;
	}
	TH_LOG("%d time-outs read in %d ms", self->n, (int)(now_ms() - start));
	for (i = 0; i < self->n; i++)
		ASSERT_EQ(1, self->seen[i]);
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 2000));
	/* All address handles are back. */
	fill(_metadata, self, true);
}

TEST_F_TIMEOUT(many, unregister_flushes_them_all, 600)
{
	uint64_t start;

	fill(_metadata, self, true);
	start = now_ms();
	EXPECT_EQ(0, umad_unreg(self->fd, 0));
	TH_LOG("%d sends flushed in %d ms", self->n, (int)(now_ms() - start));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 500));
	EXPECT_EQ(0, umad_reg_client(self->fd));
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
}

TEST_F_TIMEOUT(many, close_flushes_them_all, 600)
{
	uint64_t start;

	fill(_metadata, self, true);
	start = now_ms();
	EXPECT_EQ(0, close(self->fd));
	TH_LOG("%d sends flushed in %d ms", self->n, (int)(now_ms() - start));
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	EXPECT_EQ(0, umad_reg_client(self->fd));
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
}

/* Those to one place share them. In-tree each has one of its own, of 32,767. */
TEST_F_TIMEOUT(many, more_sends_than_address_handles, 600)
{
	if (access("/sys/module/ib_umad/version", F_OK))
		SKIP(return, "not this module");
	self->n = 33000;
	fill(_metadata, self, true);
}

TEST_HARNESS_MAIN
