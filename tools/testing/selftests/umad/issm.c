// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The issm node: opening it sets IsSM of the port, one holder at a time. Runs
 * where there is such a node: in-tree 6.1 makes one on RoCE, this module with
 * issm_all=1. The device's removal under a blocked open: issm_removal.c.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "umad_util.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#define IS_SM 2	/* in the capability mask */

FIXTURE(issm) {
	char node[32];
	char cap_mask[128];
	struct side_call call;
	pid_t tid;
	int ret;
};

FIXTURE_SETUP(issm)
{
	char umad[32], path[128];

	side_allow_kick();
	ASSERT_EQ(0, umad_node_of(umad_ibdev(), umad, sizeof(umad)));
	snprintf(self->node, sizeof(self->node), "issm%.20s", umad + 4);
	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s",
		 self->node);
	if (access(path, F_OK))
		SKIP(exit(255), "no %s on this port", self->node);
	snprintf(self->cap_mask, sizeof(self->cap_mask),
		 "/sys/class/infiniband/%.64s/ports/1/cap_mask", umad_ibdev());
}

FIXTURE_TEARDOWN(issm)
{
}

static bool is_sm(const char *path)
{
	char text[32];

	if (umad_read_sysfs(path, text, sizeof(text)))
		abort();
	return strtoul(text, NULL, 0) & IS_SM;
}

static void *do_open(void *arg)
{
	FIXTURE_DATA(issm) *self = arg;

	__atomic_store_n(&self->tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	self->ret = umad_open_node(self->node, O_RDWR);
	return NULL;
}

static bool open_blocks(FIXTURE_DATA(issm) *self)
{
	side_start(&self->call, do_open, self);
	while (!__atomic_load_n(&self->tid, __ATOMIC_SEQ_CST))
		sleep_ms(1);
	return wait_asleep(self->tid, 5000) && !side_done(&self->call, 300);
}

TEST_F(issm, open_sets_the_bit_and_close_clears_it)
{
	int fd, round;

	for (round = 0; round < 3; round++) {
		EXPECT_FALSE(is_sm(self->cap_mask));
		fd = umad_open_node(self->node, round ? O_RDONLY : O_RDWR);
		ASSERT_LE(0, fd);
		EXPECT_TRUE(is_sm(self->cap_mask));
		EXPECT_EQ(0, close(fd));
		EXPECT_FALSE(is_sm(self->cap_mask));
	}
}

/* As OpenSM opens it. */
TEST_F(issm, second_open_is_EAGAIN_with_O_NONBLOCK)
{
	int fd = umad_open_node(self->node, O_RDONLY | O_NONBLOCK);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EAGAIN, umad_open_node(self->node, O_RDONLY | O_NONBLOCK));
	EXPECT_EQ(-EAGAIN, umad_open_node(self->node, O_RDWR | O_NONBLOCK));
	EXPECT_TRUE(is_sm(self->cap_mask));
	close(fd);
	fd = umad_open_node(self->node, O_RDONLY | O_NONBLOCK);
	EXPECT_LE(0, fd);
	close(fd);
}

TEST_F(issm, second_open_waits_for_close)
{
	int fd = umad_open_node(self->node, O_RDWR);

	ASSERT_LE(0, fd);
	EXPECT_TRUE(open_blocks(self));
	close(fd);
	EXPECT_TRUE(side_done(&self->call, 5000));
	side_kick(&self->call, 5000);
	side_join(&self->call);
	EXPECT_LE(0, self->ret);
	EXPECT_TRUE(is_sm(self->cap_mask));
	close(self->ret);
	EXPECT_FALSE(is_sm(self->cap_mask));
}

TEST_F(issm, signal_ends_a_waiting_open_with_EINTR)
{
	int fd = umad_open_node(self->node, O_RDWR);

	ASSERT_LE(0, fd);
	EXPECT_TRUE(open_blocks(self));
	EXPECT_TRUE(side_kick(&self->call, 5000));
	side_join(&self->call);
	EXPECT_EQ(-EINTR, self->ret);
	EXPECT_TRUE(is_sm(self->cap_mask));
	close(fd);
	/* The waiter that gave up took nothing with it. */
	fd = umad_open_node(self->node, O_RDWR | O_NONBLOCK);
	EXPECT_LE(0, fd);
	close(fd);
	EXPECT_FALSE(is_sm(self->cap_mask));
}

TEST_F(issm, read_and_write_are_EINVAL_ioctl_ENOTTY)
{
	int fd = umad_open_node(self->node, O_RDWR);
	char buf[512] = { 0 };

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, read(fd, buf, sizeof(buf)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(fd, buf, sizeof(buf)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, lseek(fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-ENOTTY, umad_reg_client(fd));
	EXPECT_EQ(-ENOTTY, umad_ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	close(fd);
}

TEST_F(issm, killed_holder_clears_the_bit)
{
	int pipefd[2], status, i;
	pid_t pid;
	char c;

	ASSERT_EQ(0, pipe(pipefd));
	pid = fork();
	if (!pid) {
		c = umad_open_node(self->node, O_RDWR) < 0;
		if (write(pipefd[1], &c, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	ASSERT_EQ(1, read(pipefd[0], &c, 1));
	EXPECT_EQ(0, c);
	EXPECT_TRUE(is_sm(self->cap_mask));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	for (i = 0; i < 100 && is_sm(self->cap_mask); i++)
		sleep_ms(20);
	EXPECT_FALSE(is_sm(self->cap_mask));
}

TEST_F(issm, duplicated_descriptor_holds_until_the_last_close)
{
	int fd = umad_open_node(self->node, O_RDWR);
	int second = dup(fd);

	ASSERT_LE(0, second);
	close(fd);
	EXPECT_TRUE(is_sm(self->cap_mask));
	EXPECT_EQ(-EAGAIN, umad_open_node(self->node, O_RDWR | O_NONBLOCK));
	close(second);
	EXPECT_FALSE(is_sm(self->cap_mask));
}

TEST_F(issm, node_is_the_pair_of_the_umad_node)
{
	char path[128], text[64];
	struct stat st, umad;

	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s/ibdev",
		 self->node);
	EXPECT_EQ(0, umad_read_sysfs(path, text, sizeof(text)));
	EXPECT_STREQ(umad_ibdev(), text);
	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s/port",
		 self->node);
	EXPECT_EQ(0, umad_read_sysfs(path, text, sizeof(text)));
	EXPECT_STREQ("1", text);
	snprintf(path, sizeof(path), "/dev/infiniband/%s", self->node);
	ASSERT_EQ(0, stat(path, &st));
	snprintf(path, sizeof(path), "/dev/infiniband/umad%s", self->node + 4);
	ASSERT_EQ(0, stat(path, &umad));
	EXPECT_EQ(231, major(st.st_rdev));
	EXPECT_EQ(64 + minor(umad.st_rdev), minor(st.st_rdev));
	EXPECT_EQ(0600, st.st_mode & 07777);
	EXPECT_TRUE(S_ISCHR(st.st_mode));
}

TEST_F(issm, nldev_finds_the_node)
{
	struct rdma_chardev cdev = { 0 };
	char path[128];
	struct stat st;

	ASSERT_EQ(0, rdma_get_chardev(umad_ibdev(), 1, "issm", &cdev));
	EXPECT_STREQ(self->node, cdev.name);
	EXPECT_EQ(5, cdev.abi);
	snprintf(path, sizeof(path), "/dev/infiniband/%s", self->node);
	ASSERT_EQ(0, stat(path, &st));
	EXPECT_EQ((cdev.dev >> 8 & 0xfff), major(st.st_rdev));
	EXPECT_EQ(-EINVAL, rdma_get_chardev(umad_ibdev(), 0, "issm", &cdev));
}

TEST_F(issm, nldev_is_to_say_the_port)
{
	struct rdma_chardev cdev;

	EXPECT_EQ(-EINVAL, rdma_get_chardev(umad_ibdev(), 0, "umad", &cdev));
}

/* Who waits gets it from who closes, though somebody else comes at once. */
TEST_F(issm, nobody_overtakes_who_waits)
{
	int round, fd, newcomer, overtaken = 0;

	for (round = 0; round < 50; round++) {
		fd = umad_open_node(self->node, O_RDWR);
		ASSERT_LE(0, fd);
		self->tid = 0;
		side_start(&self->call, do_open, self);
		while (!__atomic_load_n(&self->tid, __ATOMIC_SEQ_CST))
			sleep_ms(1);
		ASSERT_TRUE(wait_asleep(self->tid, 5000));
		close(fd);
		newcomer = umad_open_node(self->node, O_RDWR | O_NONBLOCK);
		if (newcomer >= 0) {
			overtaken++;
			close(newcomer);
		} else {
			EXPECT_EQ(-EAGAIN, newcomer);
		}
		EXPECT_TRUE(side_done(&self->call, 5000));
		side_kick(&self->call, 5000);
		side_join(&self->call);
		ASSERT_LE(0, self->ret);
		close(self->ret);
	}
	EXPECT_EQ(0, overtaken);
	EXPECT_FALSE(is_sm(self->cap_mask));
}

TEST_F(issm, many_waiters_get_it_in_the_order_they_came)
{
	FIXTURE_DATA(issm) others[5];
	int fd = umad_open_node(self->node, O_RDWR);
	int i;

	ASSERT_LE(0, fd);
	for (i = 0; i < 5; i++) {
		others[i] = *self;
		others[i].tid = 0;
		EXPECT_TRUE(open_blocks(&others[i]));
	}
	for (i = 0; i < 5; i++) {
		close(fd);
		ASSERT_TRUE(side_done(&others[i].call, 5000));
		side_join(&others[i].call);
		fd = others[i].ret;
		ASSERT_LE(0, fd);
		EXPECT_TRUE(is_sm(self->cap_mask));
	}
	close(fd);
	EXPECT_FALSE(is_sm(self->cap_mask));
}

TEST_HARNESS_MAIN
