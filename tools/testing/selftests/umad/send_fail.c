// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A solicited send that fails in this machine, not on the wire: a retry for
 * which the route is gone. In-tree it vanishes. A failed send leaves rxe's
 * QP1 deaf, and several at once leave sends on it that never complete, so each
 * test lets one send fail, and makes a new rxe link.
 */
#include <arpa/inet.h>
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "umad_util.h"

#define FAR "fd99::2"

FIXTURE(fail) {
	struct test_port port;
	int fd;
	struct umad_msg msg;
	struct umad_msg got;
};

FIXTURE_SETUP(fail)
{
	if (umad_port_find(&self->port) == -ENODEV)
		rdma_link_add(umad_ibdev(), "dummy0");
	ASSERT_EQ(0, umad_port_find(&self->port));
	ASSERT_EQ(0, route6(true, "fd99::", 64, self->port.netdev));
	ASSERT_EQ(0, neigh6(true, FAR, self->port.netdev));
	self->fd = umad_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 42);
	ASSERT_EQ(1, inet_pton(AF_INET6, FAR, self->msg.hdr.gid));
}

FIXTURE_TEARDOWN(fail)
{
	close(self->fd);
	neigh6(false, FAR, self->port.netdev);
	route6(false, "fd99::", 64, self->port.netdev);
	EXPECT_EQ(0, rdma_link_del(self->port.ibdev));
	EXPECT_EQ(0, rdma_link_add(self->port.ibdev, self->port.netdev));
	EXPECT_EQ(0, umad_port_find(&self->port));
}

TEST_F(fail, send_to_a_silent_neighbour_times_out)
{
	self->msg.hdr.timeout_ms = 300;
	self->msg.hdr.retries = 2;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 10000));
	EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
}

TEST_F(fail, local_failure_of_a_retry_is_reported_as_ETIMEDOUT)
{
	long failed = umad_counter(&self->port, "send_failed");
	uint32_t tid;

	self->msg.hdr.timeout_ms = 700;
	self->msg.hdr.retries = 3;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	sleep_ms(100);
	ASSERT_EQ(0, route6(false, "fd99::", 64, self->port.netdev));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 10000)) {
		TH_LOG("the failed send vanished");
	}
	EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
	tid = msg_tid(&self->got);
	EXPECT_EQ(42, tid);
	EXPECT_EQ(0, self->got.hdr.id);
	/* Exactly once. */
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 3000));
	EXPECT_LT(failed, umad_counter(&self->port, "send_failed"));
}

TEST_HARNESS_MAIN
