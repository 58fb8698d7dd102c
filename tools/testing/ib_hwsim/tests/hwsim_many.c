// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A program with as many outstanding requests as max_sends allows, in two files: its exit by
 * SIGKILL, and the removal of the device, take 2 s at the most. For a guest on the
 * instruction clock with 3 GiB; UMAD_SENDS says how many for each file.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#define DEVICE	33
#define FILES	2
#define BOUND	2000

FIXTURE(many) {
	pid_t pid;
	int ready;
};

static int fill(long n)
{
	struct test_port peer = { .lid = 0x30 };
	struct umad_msg msg;
	int i, fd, ret = 0;
	long k;

	for (i = 0; i < FILES && ret >= 0; i++) {
		fd = hwsim_open(DEVICE, 1, O_RDWR);
		ret = fd < 0 ? fd : umad_reg_client(fd);
		msg_init(&msg, &peer, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
		msg.hdr.grh_present = 0;
		msg.hdr.timeout_ms = -1;
		for (k = 0; k < n && ret >= 0; k++) {
			msg.mad.tid = htobe64(k);
			ret = msg_write(fd, &msg);
		}
	}
	return ret < 0 ? ret : 0;
}

FIXTURE_SETUP(many)
{
	const char *text = getenv("UMAD_SENDS");
	int ends[2], ret = 1;

	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20"));
	ASSERT_EQ(0, pipe(ends));
	self->pid = fork();
	if (!self->pid) {
		ret = fill(text ? atol(text) : 262144);
		if (write(ends[1], &ret, sizeof(ret)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	ASSERT_EQ(sizeof(ret), read(ends[0], &ret, sizeof(ret)));
	ASSERT_EQ(0, ret);
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
