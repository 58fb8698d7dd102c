// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Threads that write to neighbours that do not answer, on RoCE: the process can be stopped, and
 * frozen with the host, however many they are; and their writes go on then.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "umad_util.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define THREADS		200
#define STACK		(64 << 10)
#define ONE_RESOLUTION	2500	/* ms that it takes at most, with the threads' own time */
#define FREEZE_TIMEOUT	"/sys/power/pm_freeze_timeout"	/* ms */
#define TEST_DELAY	"/sys/module/suspend/parameters/pm_test_delay"	/* s */

struct counts {
	unsigned int written, interrupted;
};

FIXTURE(stopped) {
	struct test_port port;
	struct counts *counts;
	pid_t pid;
};

static FIXTURE_DATA(stopped) *shared;

/* Each to a file of its own: in-tree those of one file wait for each other. */
static void *keep_writing(void *arg)
{
	int fd = umad_open(O_RDWR);
	struct umad_msg msg;
	unsigned int i;

	if (umad_reg_client(fd))
		_exit(1);
	for (i = 0;; i++) {
		msg_init_silent(&msg, &shared->port, (long)arg, i);
		if (msg_write(fd, &msg) == -EINTR)
			__atomic_fetch_add(&shared->counts->interrupted, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&shared->counts->written, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void start_threads(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	long i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (i = 1; i <= THREADS; i++)
		if (pthread_create(&thread, &attr, keep_writing, (void *)i))
			_exit(1);
	for (;;)
		pause();
}

FIXTURE_SETUP(stopped)
{
	ASSERT_EQ(0, umad_port_find(&self->port));
	ASSERT_EQ(0, netdev_arp(self->port.netdev, true));
	self->counts = mmap(NULL, sizeof(*self->counts), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->counts);
	shared = self;
	self->pid = fork();
	if (!self->pid)
		start_threads();
	/* All are in write(). */
	sleep_ms(2000);
}

FIXTURE_TEARDOWN(stopped)
{
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	EXPECT_EQ(0, netdev_arp(self->port.netdev, false));
}

static void expect_to_go_on(struct __test_metadata *_metadata, FIXTURE_DATA(stopped) *self)
{
	unsigned int before = self->counts->written;

	sleep_ms(2500);
	EXPECT_LT(before, self->counts->written);
	EXPECT_EQ(0, self->counts->interrupted);
}

TEST_F_TIMEOUT(stopped, process_stops, 100)
{
	uint64_t start = now_ms();
	int status;

	ASSERT_EQ(0, kill(self->pid, SIGSTOP));
	ASSERT_EQ(self->pid, waitpid(self->pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	TH_LOG("stopped after %llu ms", (unsigned long long)(now_ms() - start));
	EXPECT_GT(ONE_RESOLUTION, now_ms() - start);
	ASSERT_EQ(0, kill(self->pid, SIGCONT));
	expect_to_go_on(_metadata, self);
}

TEST_F_TIMEOUT(stopped, host_is_suspended, 100)
{
	uint64_t start = now_ms();

	if (umad_write_sysfs("/sys/power/pm_test", "freezer") < 0)
		SKIP(return, "no test of the freezer");
	/* As a rule it is 20 s, for so many more threads. */
	ASSERT_LE(0, umad_write_sysfs(FREEZE_TIMEOUT, "2500"));
	ASSERT_LE(0, umad_write_sysfs(TEST_DELAY, "0"));
	EXPECT_LE(0, umad_write_sysfs("/sys/power/state", "freeze"));
	TH_LOG("and back after %llu ms", (unsigned long long)(now_ms() - start));
	umad_write_sysfs("/sys/power/pm_test", "none");
	umad_write_sysfs(FREEZE_TIMEOUT, "20000");
	expect_to_go_on(_metadata, self);
}

TEST_HARNESS_MAIN
