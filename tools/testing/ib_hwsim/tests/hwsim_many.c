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

TEST_HARNESS_MAIN
