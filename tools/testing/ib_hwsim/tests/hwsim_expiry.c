// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What timeouts may take: of memory, and of the time of others. For the instruction clock.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define CROWD	60
#define OTHER	61
#define PROCESSES 8
#define POLLS	200000
#define FILES	2

static long slab_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Slab: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

/* Requests of 1 ms without end, whose timeouts are read. */
static void expire_on_and_on(void)
{
	struct umad_msg got;
	uint64_t tid = 0;
	int fd, i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = hwsim_client(CROWD, 1);
	if (fd < 0)
		_exit(1);
	for (;;) {
		for (i = 0; i < 64; i++)
			hwsim_request(fd, CLASS_VENDOR1, tid++, 1);
		while (read(fd, &got, sizeof(got)) > 0)
			;
	}
}

FIXTURE(expiry) {
	pid_t pid[PROCESSES];
};

FIXTURE_SETUP(expiry)
{
	const struct rlimit limit = { 2 * POLLS, 2 * POLLS };

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(0, hwsim_new(CROWD, "lid=0x20"));
	ASSERT_EQ(0, hwsim_new(OTHER, "lid=0x21"));
}

FIXTURE_TEARDOWN(expiry)
{
	int i;

	for (i = 0; i < PROCESSES; i++)
		if (self->pid[i] > 0) {
			kill(self->pid[i], SIGKILL);
			waitpid(self->pid[i], NULL, 0);
		}
	EXPECT_EQ(0, hwsim_del(CROWD));
	EXPECT_EQ(0, hwsim_del(OTHER));
}

/* Those that have expired listen for a late response: max_sends does not count the few. */
TEST_F_TIMEOUT(expiry, expired_requests_are_few, 120)
{
	long before, most = 0;
	int i;

	if (kernel_from(6, 6) && !kernel_from(7, 0))
		SKIP(return, "who deals with timeouts has a ninth of the processor there");
	before = slab_kib();
	for (i = 0; i < PROCESSES; i++) {
		self->pid[i] = fork();
		if (!self->pid[i])
			expire_on_and_on();
	}
	for (i = 0; i < 16; i++) {
		sleep_ms(250);
		if (slab_kib() - before > most)
			most = slab_kib() - before;
	}
	TH_LOG("at most %ld KiB more in slabs", most);
	EXPECT_GE(8192, most);
}

/*
 * The timer of a request of 20 s would be up to 2 s late, and is for all of the file, although
 * that request ended long ago.
 */
TEST_F_TIMEOUT(expiry, timeouts_after_a_long_one, 120)
{
	int fd = hwsim_client(CROWD, 1), wire = raw_attach(CROWD, 1), i;
	struct ib_hwsim_frame frame;
	struct umad_msg got;
	int64_t late;

	ASSERT_LE(0, fd);
	ASSERT_LE(0, wire);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, hwsim_request(fd, CLASS_VENDOR1, 10 + i, 20000 + i * 500));
		ASSERT_LT(0, raw_read(wire, &frame, 5000));
		frame.dlid = frame.slid;
		frame.slid = 0x30;
		frame_mad(&frame)->method |= METHOD_RESP;
		ASSERT_EQ(0, raw_write(wire, &frame));
		ASSERT_EQ(MSG_LEN, msg_read(fd, &got, 5000));
		sleep_ms(20000 + i * 500 - 50);
		late = hwsim_late_by(fd, 100 + i, 100);
		TH_LOG("by %lld us", (long long)late);
		EXPECT_GE(20000, late);
		ASSERT_LT(0, raw_read(wire, &frame, 5000));
	}
	close(fd);
	close(wire);
}

struct polled {
	int fd;
	struct pollfd *entries;
};

static void *wait_for_nothing(void *arg)
{
	struct polled *polled = arg;
	int i;

	for (i = 0; i < POLLS; i++)
		polled->entries[i] = (struct pollfd){ .fd = polled->fd, .events = POLLPRI };
	poll(polled->entries, POLLS, -1);
	return NULL;
}

/* Timeouts of files each of which somebody waits for 200,000 times. */
static void expire_with_many_waiters(int ready)
{
	uint64_t due = now_ms() + 3000;
	struct polled polled[FILES];
	pthread_t thread;
	int i, left;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < FILES; i++) {
		polled[i].fd = hwsim_client(CROWD, 1);
		polled[i].entries = calloc(POLLS, sizeof(struct pollfd));
		if (polled[i].fd < 0 || !polled[i].entries ||
		    pthread_create(&thread, NULL, wait_for_nothing, &polled[i]))
			_exit(1);
	}
	for (i = 0; i < FILES * 200; i++)
		if (hwsim_request(polled[i % FILES].fd, CLASS_VENDOR1, i, due - now_ms()))
			_exit(1);
	left = due - now_ms();
	if (write(ready, &left, sizeof(left)) != sizeof(left))
		_exit(1);
	for (;;)
		pause();
}

TEST_F_TIMEOUT(expiry, timeouts_beside_many_waiters, 120)
{
	int fd = hwsim_client(OTHER, 1), ends[2], left, n;
	int64_t late, longest = 0;
	uint64_t end;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe(ends));
	self->pid[0] = fork();
	if (!self->pid[0])
		expire_with_many_waiters(ends[1]);
	close(ends[1]);
	ASSERT_EQ(sizeof(left), read(ends[0], &left, sizeof(left)));
	ASSERT_LT(300, left);
	sleep_ms(left - 200);
	end = now_ms() + 2000;
	for (n = 0; now_ms() < end; n++) {
		late = hwsim_late_by(fd, n, 20);
		if (late > longest)
			longest = late;
	}
	TH_LOG("%d timeouts, the latest by %lld us", n, (long long)longest);
	/* In-tree 50 ms: the waiters of one timeout are looked at in 26. */
	EXPECT_GE(60000, longest);
	close(fd);
}

TEST_HARNESS_MAIN
