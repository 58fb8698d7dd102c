// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A program with as many outstanding requests as it may have, in two files: its exit by
 * SIGKILL, and the removal of the device, take 2 s at the most. For a guest on the
 * instruction clock with 2 GiB.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#define DEVICE	33
#define FILES	2
#define MAX_SENDS	262144
#define BOUND	2000

FIXTURE(many) {
	pid_t pid;
	int ready;
};

/* The files together, by turns; how many are outstanding then. */
static int fill(void)
{
	struct test_port peer = { .lid = 0x30 };
	int fd[FILES], i, n, ret = 0;
	struct umad_msg msg;

	for (i = 0; i < FILES && ret >= 0; i++) {
		fd[i] = hwsim_open(DEVICE, 1, O_RDWR);
		ret = fd[i] < 0 ? fd[i] : umad_reg_client(fd[i]);
	}
	msg_init(&msg, &peer, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = -1;
	for (n = 0; n <= FILES * MAX_SENDS && ret >= 0; n++) {
		msg.mad.tid = htobe64(n);
		ret = msg_write(fd[n % FILES], &msg);
	}
	return ret == -ENOBUFS ? n - 1 : ret;
}

FIXTURE_SETUP(many)
{
	int ends[2], ret = 1;

	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20"));
	ASSERT_EQ(0, pipe(ends));
	self->pid = fork();
	if (!self->pid) {
		ret = fill();
		if (write(ends[1], &ret, sizeof(ret)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	ASSERT_EQ(sizeof(ret), read(ends[0], &ret, sizeof(ret)));
	ASSERT_EQ(MAX_SENDS, ret);
	sleep_ms(1000);
}

FIXTURE_TEARDOWN(many)
{
	if (self->pid) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
	hwsim_del(DEVICE);
}

TEST_F_TIMEOUT(many, exit_by_SIGKILL, 600)
{
	uint64_t start = now_ms();

	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	self->pid = 0;
	TH_LOG("SIGKILL: %llu ms", (unsigned long long)(now_ms() - start));
	EXPECT_GE(BOUND, now_ms() - start);
}

TEST_F_TIMEOUT(many, removal, 600)
{
	uint64_t start = now_ms();

	EXPECT_EQ(0, hwsim_del(DEVICE));
	TH_LOG("removal: %llu ms", (unsigned long long)(now_ms() - start));
	EXPECT_GE(BOUND, now_ms() - start);
}

/*
 * A device that has stopped, and a program that unregisters five agents there, with 33,000
 * requests each: together they have more hidden agents than works run at a time.
 */
#define STOPPED		34
#define OTHER		35
#define AGENTS		5
#define EACH		33000

static int stopped_fd;

static void *unregister(void *id)
{
	umad_unreg(stopped_fd, (long)id);
	return NULL;
}

static int ask_often(int fd, int id, int n)
{
	struct test_port peer = { .lid = 0x30 };
	struct umad_msg msg;
	int i;

	msg_init(&msg, &peer, id, CLASS_VENDOR1, METHOD_NOBODY, 0);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = -1;
	for (i = 0; i < n; i++) {
		msg.mad.tid = htobe64(id * EACH + i);
		if (msg_write(fd, &msg) != MSG_LEN)
			return -EIO;
	}
	return 0;
}

TEST(stopped_device_does_not_hold_another_up)
{
	static struct side_call call[AGENTS];
	uint64_t start;
	long i;
	int fd;

	ASSERT_EQ(0, hwsim_new(STOPPED, "lid=0x20"));
	ASSERT_EQ(0, hwsim_new(OTHER, "lid=0x21"));
	ASSERT_EQ(0, hwsim_set(STOPPED, 1, "hold_completions", "1"));
	stopped_fd = hwsim_open(STOPPED, 1, O_RDWR);
	for (i = 0; i < AGENTS; i++) {
		ASSERT_EQ(i, umad_reg_client(stopped_fd));
		ASSERT_EQ(0, ask_often(stopped_fd, i, EACH));
	}
	for (i = 0; i < AGENTS; i++)
		side_start(&call[i], unregister, (void *)i);
	sleep_ms(1500);
	EXPECT_FALSE(side_done(&call[0], 0));

	fd = hwsim_open(OTHER, 1, O_RDWR);
	ASSERT_EQ(0, umad_reg_client(fd));
	ASSERT_EQ(0, ask_often(fd, 0, 2000));
	start = now_ms();
	close(fd);
	TH_LOG("close: %llu ms", (unsigned long long)(now_ms() - start));
	EXPECT_GE(BOUND, now_ms() - start);

	EXPECT_EQ(0, hwsim_set(STOPPED, 1, "hold_completions", "0"));
	for (i = 0; i < AGENTS; i++)
		side_join(&call[i]);
	close(stopped_fd);
	EXPECT_EQ(0, hwsim_del(STOPPED));
	EXPECT_EQ(0, hwsim_del(OTHER));
}

TEST_HARNESS_MAIN
