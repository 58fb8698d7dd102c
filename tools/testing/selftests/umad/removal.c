// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RDMA device goes away under open files, and comes back. Each test
 * deletes the rxe link and leaves a new one behind.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "umad_util.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define PATIENCE 10000	/* ms until a removal must be over */

FIXTURE(removal) {
	struct test_port port;
	int fd;			/* blocking; agent 0 serves METHOD_TEST */
	int empty;		/* blocking; no agents */
	struct side_call del;
	int del_ret;
	struct umad_msg msg;
	struct umad_msg got;
};

static void *do_del(void *arg)
{
	FIXTURE_DATA(removal) *self = arg;

	self->del_ret = rdma_link_del(self->port.ibdev);
	return NULL;
}

FIXTURE_SETUP(removal)
{
	side_allow_kick();
	/* A failed test before may have left none. */
	if (umad_port_find(&self->port) == -ENODEV)
		rdma_link_add(umad_ibdev(), "dummy0");
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR);
	self->empty = umad_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->empty);
	ASSERT_EQ(0, umad_reg_server(self->fd, CLASS_VENDOR1, METHOD_TEST));
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
}

FIXTURE_TEARDOWN(removal)
{
	side_join(&self->del);
	close(self->fd);
	close(self->empty);
	if (rdma_link_index(self->port.ibdev) < 0)
		EXPECT_EQ(0, rdma_link_add(self->port.ibdev,
					   self->port.netdev));
	EXPECT_EQ(0, umad_port_find(&self->port));
}

/* Delete the device; that must come to its end without anybody's help. */
#define REMOVE(self) do {						\
	side_start(&(self)->del, do_del, self);				\
	ASSERT_TRUE(side_done(&(self)->del, PATIENCE)) {		\
		TH_LOG("removal waits for a user process");		\
	}								\
	side_join(&(self)->del);					\
	ASSERT_EQ(0, (self)->del_ret);					\
} while (0)

struct sleeper {
	struct side_call call;
	int fd, ret;
	pid_t tid;
	struct umad_msg msg;
};

static void *sleep_read(void *arg)
{
	struct sleeper *sleeper = arg;
	ssize_t n;

	__atomic_store_n(&sleeper->tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	n = read(sleeper->fd, &sleeper->msg, MSG_LEN);
	sleeper->ret = n < 0 ? -errno : (int)n;
	return NULL;
}

static void *sleep_poll(void *arg)
{
	struct sleeper *sleeper = arg;
	struct pollfd pfd = { .fd = sleeper->fd, .events = POLLIN };

	__atomic_store_n(&sleeper->tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	sleeper->ret = poll(&pfd, 1, -1) < 0 ? -errno : pfd.revents;
	return NULL;
}

static void *sleep_epoll(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct sleeper *sleeper = arg;
	int ep = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(ep, EPOLL_CTL_ADD, sleeper->fd, &event);
	__atomic_store_n(&sleeper->tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	sleeper->ret = epoll_wait(ep, &event, 1, -1) < 0 ? -errno :
		       (int)event.events;
	close(ep);
	return NULL;
}

static bool fall_asleep(struct sleeper *sleeper, int fd, void *(*fn)(void *))
{
	memset(sleeper, 0, sizeof(*sleeper));
	sleeper->fd = fd;
	side_start(&sleeper->call, fn, sleeper);
	while (!__atomic_load_n(&sleeper->tid, __ATOMIC_SEQ_CST))
		sleep_ms(1);
	return wait_asleep(sleeper->tid, 5000);
}

static int wake_up(struct __test_metadata *_metadata, struct sleeper *sleeper)
{
	EXPECT_TRUE(side_done(&sleeper->call, 4000)) {
		TH_LOG("sleeps on after the removal");
	}
	side_kick(&sleeper->call, 5000);
	side_join(&sleeper->call);
	return sleeper->ret;
}

TEST_F(removal, blocked_read_gets_EIO)
{
	struct sleeper sleeper;

	ASSERT_TRUE(fall_asleep(&sleeper, self->fd, sleep_read));
	REMOVE(self);
	EXPECT_EQ(-EIO, wake_up(_metadata, &sleeper));
}

TEST_F(removal, blocked_read_without_agents_gets_EIO)
{
	struct sleeper sleeper;

	ASSERT_TRUE(fall_asleep(&sleeper, self->empty, sleep_read));
	REMOVE(self);
	EXPECT_EQ(-EIO, wake_up(_metadata, &sleeper));
}

TEST_F(removal, all_blocked_reads_get_EIO)
{
	struct sleeper sleepers[4];
	int i;

	for (i = 0; i < 4; i++)
		ASSERT_TRUE(fall_asleep(&sleepers[i],
					i & 1 ? self->fd : self->empty,
					sleep_read));
	REMOVE(self);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(-EIO, wake_up(_metadata, &sleepers[i]));
}

TEST_F(removal, blocked_poll_gets_POLLERR)
{
	struct sleeper sleeper;

	ASSERT_TRUE(fall_asleep(&sleeper, self->fd, sleep_poll));
	REMOVE(self);
	EXPECT_EQ(POLLERR, wake_up(_metadata, &sleeper));
}

TEST_F(removal, blocked_epoll_gets_EPOLLERR)
{
	struct sleeper sleeper;

	ASSERT_TRUE(fall_asleep(&sleeper, self->fd, sleep_epoll));
	REMOVE(self);
	EXPECT_EQ(EPOLLERR, wake_up(_metadata, &sleeper));
}

TEST_F(removal, every_call_afterwards_has_its_errno)
{
	struct pollfd pfd = {
		.fd = self->fd, .events = POLLIN | POLLOUT | POLLPRI,
	};
	struct ib_user_mad_reg_req old = { .qpn = 1 };
	int ret;

	REMOVE(self);
	EXPECT_EQ(-1, read(self->fd, &self->got, MSG_LEN));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(-1, read(self->fd, &self->got, HDR_NEW - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(self->empty, &self->got, MSG_LEN));
	EXPECT_EQ(EIO, errno);
	EXPECT_EQ(-EIO, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EIO, msg_write(self->empty, &self->msg));
	EXPECT_EQ(-EPIPE, umad_reg_client(self->fd));
	EXPECT_EQ(-EPIPE, umad_reg_client(self->empty));
	EXPECT_EQ(-EPIPE, umad_ioctl(self->fd, IB_USER_MAD_REGISTER_AGENT,
				     &old));
	EXPECT_EQ(-EINVAL, umad_unreg(self->fd, 0));
	EXPECT_EQ(0, umad_ioctl(self->empty, IB_USER_MAD_ENABLE_PKEY, NULL));
	EXPECT_EQ(-EINVAL, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	EXPECT_EQ(-ENOTTY, umad_ioctl(self->fd, _IO(0x1b, 0x7f), NULL));
	EXPECT_EQ(1, poll(&pfd, 1, 0));
	EXPECT_EQ(POLLERR, pfd.revents);
	ret = umad_open_node(self->port.node, O_RDWR);
	EXPECT_TRUE(ret == -ENOENT || ret == -ENXIO) {
		TH_LOG("open gave %d", ret);
	}
	EXPECT_EQ(-ENODEV, umad_open(O_RDWR));
}

TEST_F(removal, queued_mads_are_lost)
{
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EINVAL, msg_read_len(self->fd, &self->got, HDR_NEW, 10000));
	REMOVE(self);
	EXPECT_EQ(-EIO, msg_read(self->fd, &self->got, 0));
}

TEST_F(removal, with_sends_outstanding)
{
	int i;

	for (i = 0; i < 100; i++) {
		msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1,
			 METHOD_NOBODY, i);
		self->msg.hdr.timeout_ms = i & 1 ? -1 : 20 * i;
		self->msg.hdr.retries = i % 7;
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	REMOVE(self);
	/* Nothing is reported of them; the file is dead. */
	EXPECT_EQ(-EIO, msg_read(self->fd, &self->got, 2000));
}

TEST_F(removal, with_32_agents_on_each_of_10_files)
{
	int fds[10], i, j;

	for (i = 0; i < 10; i++) {
		fds[i] = umad_open(O_RDWR);
		ASSERT_LE(0, fds[i]);
		for (j = 0; j < MAX_AGENTS; j++)
			ASSERT_EQ(j, umad_reg_client(fds[i]));
	}
	/* One is closed before the device goes, the others after. */
	close(fds[0]);
	REMOVE(self);
	for (i = 1; i < 10; i++)
		EXPECT_EQ(0, close(fds[i]));
}

TEST_F(removal, files_close_after_the_device_is_back)
{
	struct test_port again;
	int fd;

	REMOVE(self);
	ASSERT_EQ(0, rdma_link_add(self->port.ibdev, self->port.netdev));
	ASSERT_EQ(0, umad_port_find(&again));
	/* The old files stay dead, a new one works beside them. */
	fd = umad_open(O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST));
	EXPECT_EQ(-EPIPE, umad_reg_client(self->fd));
	EXPECT_EQ(-EIO, msg_write(self->fd, &self->msg));
	msg_init(&self->msg, &again, 0, CLASS_VENDOR1, METHOD_TEST, 5);
	EXPECT_EQ(MSG_LEN, msg_write(fd, &self->msg));
	EXPECT_EQ(MSG_LEN, msg_read(fd, &self->got, 10000));
	EXPECT_EQ(0, close(self->fd));
	self->fd = -1;
	self->msg.mad.tid = htobe64(6);
	EXPECT_EQ(MSG_LEN, msg_write(fd, &self->msg));
	EXPECT_EQ(MSG_LEN, msg_read(fd, &self->got, 10000));
	close(fd);
}

/* Old libibumad looks at umad0 to umad63 only. */
TEST_F(removal, device_comes_back_under_the_lowest_free_number)
{
	struct test_port again;
	struct stat old, new;
	char path[64];
	int round;

	ASSERT_EQ(0, fstat(self->fd, &old));
	for (round = 0; round < 3; round++) {
		REMOVE(self);
		ASSERT_EQ(0, rdma_link_add(self->port.ibdev,
					   self->port.netdev));
		ASSERT_EQ(0, umad_port_find(&again));
		EXPECT_STREQ(self->port.node, again.node);
		snprintf(path, sizeof(path), "/dev/infiniband/%s", again.node);
		ASSERT_EQ(0, stat(path, &new));
		EXPECT_EQ(old.st_rdev, new.st_rdev);
	}
}

TEST_F(removal, nodes_go_away)
{
	char path[128];

	REMOVE(self);
	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s",
		 self->port.node);
	EXPECT_EQ(-1, access(path, F_OK));
	snprintf(path, sizeof(path), "/dev/infiniband/%s", self->port.node);
	EXPECT_EQ(-1, access(path, F_OK));
	EXPECT_EQ(0, access("/sys/class/infiniband_mad/abi_version", R_OK));
}

/* What flows while the device goes must end in an errno, never in a hang. */
static int stop;

static void *do_flow(void *arg)
{
	FIXTURE_DATA(removal) *self = arg;
	struct umad_msg msg = self->msg, got;
	uint32_t tid = 0;
	int ret = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		msg.mad.tid = htobe64(tid++);
		ret = msg_write(self->fd, &msg);
		if (ret < 0)
			break;
		ret = msg_read(self->fd, &got, 1000);
		if (ret < 0 && ret != -ETIME)
			break;
	}
	return (void *)(long)ret;
}

TEST_F(removal, with_traffic)
{
	struct side_call flow;
	void *ret;

	side_start(&flow, do_flow, self);
	sleep_ms(300);
	REMOVE(self);
	EXPECT_TRUE(side_done(&flow, 5000));
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(flow.thread, &ret);
	EXPECT_EQ(-EIO, (long)ret);
}

TEST_HARNESS_MAIN
