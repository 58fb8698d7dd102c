// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RDMA device goes away under a call that sleeps in a page fault on its
 * own buffer, for as long as its process likes. In-tree the removal sleeps as
 * long; then the test lets the fault end. The call may be one on the port's file
 * in debugfs, too, if it has one.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "rmpp_util.h"
#include "uffd.h"
#include "umad_util.h"

#include <stdio.h>

#define PATIENCE 6000
#define COUNTERS_LEN 16		/* what is read of a port's counters */
#define MESSAGE_LEN 2000
/* ib_core frees a device by RCU, some seconds after its removal. */
#define FREED_MS 12000

FIXTURE(uffd) {
	struct test_port port;
	int fd;
	int counters;		/* the port's file in debugfs, or -1 */
	struct uffd_pages pages;
	struct rmpp_msg message;
	struct side_call stuck, del;
	int stuck_ret, del_ret;
};

enum what { WRITE, MESSAGE, REGISTER, UNREGISTER, READ, DEBUGFS };

FIXTURE_VARIANT(uffd) {
	enum what what;
	size_t there;
	int want;	/* what the call gets when its page comes at last */
};

FIXTURE_VARIANT_ADD(uffd, write_header) {
	.what = WRITE, .there = 8, .want = -EIO,
};

FIXTURE_VARIANT_ADD(uffd, write_body) {
	.what = WRITE, .there = HDR_NEW + 100, .want = -EIO,
};

FIXTURE_VARIANT_ADD(uffd, write_message) {
	.what = MESSAGE, .there = HDR_NEW + 400, .want = -EIO,
};

FIXTURE_VARIANT_ADD(uffd, register) {
	.what = REGISTER, .there = 8, .want = -EPIPE,
};

FIXTURE_VARIANT_ADD(uffd, unregister) {
	.what = UNREGISTER, .there = 0, .want = -EINVAL,
};

FIXTURE_VARIANT_ADD(uffd, read) {
	.what = READ, .there = HDR_NEW, .want = MSG_LEN,
};

FIXTURE_VARIANT_ADD(uffd, debugfs) {
	.what = DEBUGFS, .there = 0, .want = COUNTERS_LEN,
};

static struct {
	FIXTURE_DATA(uffd) *self;
	enum what what;
	char *arg;
} job;

static void *do_stuck(void *arg)
{
	int fd = job.self->fd, ret = 0;

	(void)arg;
	switch (job.what) {
	case WRITE:
		ret = msg_write(fd, (void *)job.arg);
		break;
	case MESSAGE:
		ret = msg_write_len(fd, (void *)job.arg,
				    HDR_NEW + job.self->message.mad_len);
		break;
	case REGISTER:
		ret = umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, job.arg);
		break;
	case UNREGISTER:
		ret = umad_ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, job.arg);
		break;
	case READ:
		ret = msg_read(fd, (void *)job.arg, 10000);
		break;
	case DEBUGFS:
		ret = read(job.self->counters, job.arg, COUNTERS_LEN);
		if (ret < 0)
			ret = -errno;
		break;
	}
	job.self->stuck_ret = ret;
	return NULL;
}

static void *do_del(void *arg)
{
	FIXTURE_DATA(uffd) *self = arg;

	self->del_ret = rdma_link_del(self->port.ibdev);
	return NULL;
}

static int open_counters(const char *node)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_umad/%s/counters",
		 node);
	return open(path, O_RDONLY | O_CLOEXEC);
}

FIXTURE_SETUP(uffd)
{
	const struct rmpp_agent client = { .mgmt_class = CLASS_RMPP, .rmpp_version = 1 };
	struct ib_user_mad_reg_req2 req;
	struct umad_msg msg;
	const void *from = &msg;

	if (umad_port_find(&self->port) == -ENODEV)
		rdma_link_add(umad_ibdev(), "dummy0");
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->counters = open_counters(self->port.node);
	if (variant->what == DEBUGFS && self->counters < 0)
		SKIP(exit(255), "%s has no counters", self->port.node);
	self->fd = umad_open(O_RDWR);
	ASSERT_EQ(0, umad_reg_server(self->fd, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(1, rmpp_register(self->fd, &client));
	rmpp_msg_init(&self->message, &self->port, HDR_NEW, 1, CLASS_RMPP, METHOD_TABLE, 7,
		      MESSAGE_LEN, 1);
	ASSERT_EQ(0, uffd_open(&self->pages));
	msg_init(&msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
	reg_init(&req, 0, 0);
	if (variant->what == READ)
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &msg));
	if (variant->what == REGISTER)
		from = &req;
	if (variant->what == MESSAGE)
		from = self->message.buf;
	job.self = self;
	job.what = variant->what;
	job.arg = self->pages.hole - variant->there;
	memcpy(job.arg, from, variant->there);
	side_start(&self->stuck, do_stuck, NULL);
	ASSERT_EQ(0, uffd_wait_fault(&self->pages, 10000));
}

FIXTURE_TEARDOWN(uffd)
{
	uffd_close(&self->pages);
	side_join(&self->stuck);
	side_join(&self->del);
	close(self->counters);
	close(self->fd);
	rmpp_msg_free(&self->message);
	EXPECT_EQ(0, rdma_link_add(self->port.ibdev, self->port.netdev));
	EXPECT_EQ(0, umad_port_find(&self->port));
}

TEST_F_TIMEOUT(uffd, removal_waits_for_no_page_fault, 60)
{
	struct ib_user_mad_reg_req2 req;
	struct umad_msg msg;
	struct pollfd pfd = { .fd = self->fd, .events = POLLIN };

	side_start(&self->del, do_del, self);
	ASSERT_TRUE(side_done(&self->del, PATIENCE)) {
		TH_LOG("removal waits for the page fault of a process");
	}
	EXPECT_EQ(0, self->del_ret);
	EXPECT_FALSE(side_done(&self->stuck, 0));
	/* Others that look at the file see that it is dead. */
	EXPECT_EQ(1, poll(&pfd, 1, 0));
	EXPECT_EQ(POLLERR, pfd.revents);
	/* Only the debug kernel notices who uses it then. */
	if (kernel_debugs())
		sleep_ms(FREED_MS);
	/* Now the page comes, with what belongs there. */
	reg_init(&req, 0, 0);
	msg_init(&msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
	if (variant->what == WRITE)
		uffd_fill(&self->pages, (char *)&msg + variant->there,
			  MSG_LEN - variant->there);
	else if (variant->what == MESSAGE)
		uffd_fill(&self->pages, self->message.buf + variant->there,
			  HDR_NEW + self->message.mad_len - variant->there);
	else if (variant->what == REGISTER)
		uffd_fill(&self->pages, (char *)&req + variant->there,
			  sizeof(req) - variant->there);
	else
		uffd_fill(&self->pages, NULL, 0);
	side_join(&self->stuck);
	EXPECT_EQ(variant->want, self->stuck_ret);
}

/* The file is closed by nobody but the exit of its process. */
TEST_F_TIMEOUT(uffd, process_dies_after_the_removal, 60)
{
	side_start(&self->del, do_del, self);
	ASSERT_TRUE(side_done(&self->del, PATIENCE));
	uffd_unmap(&self->pages);
	side_join(&self->stuck);
	EXPECT_GT(0, self->stuck_ret);
}

TEST_HARNESS_MAIN
