// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sleeping readers: signals, wake-ups, and a MAD that a failed read() puts
 * back while others sleep.
 */
#include "pair_fixture.h"
#include "uffd.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define CROWD	30000

FIXTURE(wait) {
	PAIR_MEMBERS;		/* the peer blocks */
	struct uffd_pages pages;
};

FIXTURE_SETUP(wait)
{
	side_allow_kick();
	PAIR_OPEN(O_RDWR);
}

FIXTURE_TEARDOWN(wait)
{
	uffd_close(&self->pages);
	close(self->fd);
	close(self->peer);
}

/* One thread asleep in read(), poll() or epoll_wait() on the file. */
struct sleeper {
	struct side_call call;
	int fd;
	void *buf;
	size_t len;
	struct umad_msg msg;
	pid_t tid;
	int ret;
};

static void *sleep_read(void *arg)
{
	struct sleeper *sleeper = arg;
	ssize_t n;

	__atomic_store_n(&sleeper->tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	n = read(sleeper->fd, sleeper->buf, sleeper->len);
	sleeper->ret = n < 0 ? -errno : (int)n;
	return NULL;
}

static void *sleep_poll(void *arg)
{
	struct pollfd pfd = { .fd = 0, .events = POLLIN };
	struct sleeper *sleeper = arg;

	__atomic_store_n(&sleeper->tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	pfd.fd = sleeper->fd;
	sleeper->ret = poll(&pfd, 1, -1) < 0 ? -errno : pfd.revents;
	return NULL;
}

/* The epoll file stays. */
static int wait_in_epoll(struct sleeper *sleeper, uint32_t how)
{
	struct epoll_event event = { .events = EPOLLIN | how };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(ep, EPOLL_CTL_ADD, sleeper->fd, &event);
	__atomic_store_n(&sleeper->tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	sleeper->ret = epoll_wait(ep, &event, 1, -1) < 0 ? -errno :
		       (int)event.events;
	return ep;
}

static void *sleep_epoll(void *arg)
{
	close(wait_in_epoll(arg, 0));
	return NULL;
}

static bool fall_asleep(struct sleeper *sleeper, int fd, void *(*fn)(void *))
{
	memset(sleeper, 0, sizeof(*sleeper));
	sleeper->fd = fd;
	sleeper->buf = &sleeper->msg;
	sleeper->len = MSG_LEN;
	side_start(&sleeper->call, fn, sleeper);
	while (!__atomic_load_n(&sleeper->tid, __ATOMIC_SEQ_CST))
		sleep_ms(1);
	return wait_asleep(sleeper->tid, 5000);
}

TEST_F(wait, blocked_read_is_woken_by_a_mad)
{
	struct sleeper sleeper;

	ASSERT_TRUE(fall_asleep(&sleeper, self->peer, sleep_read));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_TRUE(side_done(&sleeper.call, 10000));
	side_kick(&sleeper.call, 5000);
	side_join(&sleeper.call);
	EXPECT_EQ(MSG_LEN, sleeper.ret);
	EXPECT_EQ(1, msg_tid(&sleeper.msg));
}

/* The layout is that of the moment of the copy, as in-tree. */
TEST_F(wait, blocked_read_gets_the_header_asked_for_meanwhile)
{
	struct umad_msg msg;
	struct sleeper sleeper;
	int fd = umad_open(O_RDWR);

	ASSERT_LE(0, fd);
	ASSERT_TRUE(fall_asleep(&sleeper, fd, sleep_read));
	ASSERT_EQ(0, umad_ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	ASSERT_EQ(0, umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST2));
	msg_init(&msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST2, 1);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &msg));
	EXPECT_TRUE(side_done(&sleeper.call, 10000));
	side_kick(&sleeper.call, 5000);
	side_join(&sleeper.call);
	close(fd);
	ASSERT_EQ(MSG_LEN, sleeper.ret);
	EXPECT_EQ(MSG_LEN, sleeper.msg.hdr.length);
	EXPECT_EQ(METHOD_TEST2, sleeper.msg.mad.method);
}

TEST_F(wait, blocked_read_is_woken_by_a_timeout)
{
	struct sleeper sleeper;

	self->msg.mad.method = METHOD_NOBODY;
	self->msg.hdr.timeout_ms = 1000;
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->msg));
	ASSERT_TRUE(fall_asleep(&sleeper, self->peer, sleep_read));
	EXPECT_TRUE(side_done(&sleeper.call, 10000));
	side_kick(&sleeper.call, 5000);
	side_join(&sleeper.call);
	EXPECT_EQ(TIMED_OUT_LEN, sleeper.ret);
}

TEST_F(wait, signal_ends_a_blocked_read_with_EINTR)
{
	struct sleeper sleeper;

	ASSERT_TRUE(fall_asleep(&sleeper, self->peer, sleep_read));
	EXPECT_TRUE(side_kick(&sleeper.call, 5000));
	side_join(&sleeper.call);
	EXPECT_EQ(-EINTR, sleeper.ret);
}

static int handled;

static void count_signal(int sig)
{
	(void)sig;
	__atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

TEST_F(wait, blocked_read_restarts_under_SA_RESTART)
{
	struct sigaction action = {
		.sa_handler = count_signal, .sa_flags = SA_RESTART,
	};
	struct sleeper sleeper;
	int i;

	sigaction(SIGUSR2, &action, NULL);
	ASSERT_TRUE(fall_asleep(&sleeper, self->peer, sleep_read));
	for (i = 1; i <= 3; i++) {
		pthread_kill(sleeper.call.thread, SIGUSR2);
		while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) < i)
			sleep_ms(5);
	}
	EXPECT_FALSE(side_done(&sleeper.call, 300));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_TRUE(side_done(&sleeper.call, 10000));
	side_kick(&sleeper.call, 5000);
	side_join(&sleeper.call);
	EXPECT_EQ(MSG_LEN, sleeper.ret);
}

TEST_F(wait, one_mad_ends_one_of_several_blocked_reads)
{
	struct sleeper sleepers[4];
	int i, done = 0;

	for (i = 0; i < 4; i++)
		ASSERT_TRUE(fall_asleep(&sleepers[i], self->peer, sleep_read));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	sleep_ms(1500);
	for (i = 0; i < 4; i++)
		done += side_done(&sleepers[i].call, 0);
	EXPECT_EQ(1, done);
	/* Three more for the other three. */
	for (i = 0; i < 3; i++) {
		self->msg.mad.tid = htobe64(10 + i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	for (i = 0; i < 4; i++) {
		EXPECT_TRUE(side_done(&sleepers[i].call, 10000));
		side_kick(&sleepers[i].call, 5000);
		side_join(&sleepers[i].call);
		EXPECT_EQ(MSG_LEN, sleepers[i].ret);
	}
}

/* How often a thread has gone to sleep. */
static long sleeps(pid_t tid)
{
	char path[64], text[4096], *line;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	if (umad_read_file(path, text, sizeof(text)))
		return -1;
	line = strstr(text, "\nvoluntary_ctxt_switches:");
	return line ? atol(strchr(line, ':') + 1) : -1;
}

/* The one that was first may be kept from the processor, by its cgroup for seconds. */
TEST_F(wait, one_mad_wakes_all_blocked_reads)
{
	struct sleeper sleepers[2];
	long before[2];
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(fall_asleep(&sleepers[i], self->peer, sleep_read));
		before[i] = sleeps(sleepers[i].tid);
		ASSERT_LE(0, before[i]);
	}
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	while (!side_done(&sleepers[0].call, 10) && !side_done(&sleepers[1].call, 10))
		;
	i = side_done(&sleepers[0].call, 0);
	ASSERT_TRUE(wait_asleep(sleepers[i].tid, 5000));
	sleep_ms(100);
	EXPECT_LT(before[i], sleeps(sleepers[i].tid));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	for (i = 0; i < 2; i++) {
		EXPECT_TRUE(side_done(&sleepers[i].call, 10000));
		side_kick(&sleepers[i].call, 5000);
		side_join(&sleepers[i].call);
	}
}

/*
 * Reader A takes the MAD and sleeps in a page fault over it; B goes to sleep
 * on what is now an empty queue; then A's buffer goes away and A fails. The
 * MAD is back, and B must learn of it. In-tree B sleeps on.
 */
static int put_back_ret(struct __test_metadata *_metadata,
			FIXTURE_DATA(wait) *self, void *(*fn)(void *))
{
	struct sleeper a, b;

	ASSERT_EQ(0, uffd_open(&self->pages));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	/* Only A's start is slow here, so it cannot miss the MAD. */
	memset(&a, 0, sizeof(a));
	a.fd = self->peer;
	a.buf = self->pages.hole - HDR_NEW;
	a.len = MSG_LEN;
	side_start(&a.call, sleep_read, &a);
	ASSERT_EQ(0, uffd_wait_fault(&self->pages, 10000));
	fall_asleep(&b, self->peer, fn);
	uffd_unmap(&self->pages);
	side_join(&a.call);
	EXPECT_EQ(-EFAULT, a.ret);
	EXPECT_TRUE(side_done(&b.call, 4000)) {
		TH_LOG("the other sleeper was not woken");
	}
	side_kick(&b.call, 5000);
	side_join(&b.call);
	return b.ret;
}

TEST_F(wait, mad_put_back_wakes_another_read)
{
	EXPECT_EQ(MSG_LEN, put_back_ret(_metadata, self, sleep_read));
}

TEST_F(wait, mad_put_back_wakes_poll)
{
	EXPECT_EQ(POLLIN, put_back_ret(_metadata, self, sleep_poll));
}

TEST_F(wait, mad_put_back_wakes_epoll)
{
	EXPECT_EQ(EPOLLIN, put_back_ret(_metadata, self, sleep_epoll));
}

TEST_F(wait, reader_in_a_page_fault_delays_nobody)
{
	struct umad_msg got;
	struct sleeper a;

	ASSERT_EQ(0, uffd_open(&self->pages));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	memset(&a, 0, sizeof(a));
	a.fd = self->peer;
	a.buf = self->pages.hole - HDR_NEW;
	a.len = MSG_LEN;
	side_start(&a.call, sleep_read, &a);
	ASSERT_EQ(0, uffd_wait_fault(&self->pages, 10000));
	self->msg.mad.tid = htobe64(2);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(MSG_LEN, msg_read(self->peer, &got, 10000));
	EXPECT_EQ(2, msg_tid(&got));
	EXPECT_FALSE(side_done(&a.call, 0));
	uffd_fill(&self->pages, NULL, 0);
	side_join(&a.call);
	EXPECT_EQ(MSG_LEN, a.ret);
}

/* Whom each wake-up has to look at, and for nothing. */
static void *poll_for_many(void *arg)
{
	struct pollfd *fds = calloc(CROWD, sizeof(*fds));
	struct sleeper *crowd = arg;
	int i;

	for (i = 0; i < CROWD; i++) {
		fds[i].fd = crowd->fd;
		fds[i].events = POLLPRI;
	}
	while (!__atomic_load_n(&crowd->ret, __ATOMIC_SEQ_CST))
		poll(fds, CROWD, 100);
	free(fds);
	return NULL;
}

/* As libibumad reads: until there is no more, and again if the buffer was too short. */
TEST_F(wait, failing_read_waits_for_nobody)
{
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rlimit limit = { CROWD + 100, CROWD + 100 };
	struct pollfd pfd = { .fd = self->peer, .events = POLLIN };
	struct sleeper crowd = { .fd = self->peer };
	uint64_t start, longest = 0;
	struct umad_msg got;
	int i;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(0, fcntl(self->peer, F_SETFL, O_RDWR | O_NONBLOCK));
	side_start(&crowd.call, poll_for_many, &crowd);
	sleep_ms(300);
	for (i = 0; i < 20; i++) {
		self->msg.mad.tid = htobe64(i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		ASSERT_EQ(1, poll(&pfd, 1, 10000));
		start = now_ms();
		ASSERT_EQ(-1, read(self->peer, nowhere, MSG_LEN));
		ASSERT_EQ(EFAULT, errno);
		if (now_ms() - start > longest)
			longest = now_ms() - start;
		ASSERT_EQ(MSG_LEN, msg_read(self->peer, &got, 10000));
		ASSERT_EQ(i, msg_tid(&got));
		ASSERT_EQ(-1, read(self->peer, &got, MSG_LEN));
		ASSERT_EQ(EAGAIN, errno);
	}
	__atomic_store_n(&crowd.ret, 1, __ATOMIC_SEQ_CST);
	side_join(&crowd.call);
	EXPECT_LT(longest, 400);
}

/* The MAD that was put back comes first again. */
TEST_F(wait, mad_put_back_keeps_its_place)
{
	struct umad_msg got;

	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EINVAL, msg_read_len(self->peer, &got, HDR_NEW, 10000));
	self->msg.mad.tid = htobe64(2);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	sleep_ms(500);
	EXPECT_EQ(-EINVAL, msg_read_len(self->peer, &got, HDR_NEW, 0));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &got, 0));
	EXPECT_EQ(1, msg_tid(&got));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &got, 10000));
	EXPECT_EQ(2, msg_tid(&got));
}

/* Waits with EPOLLEXCLUSIVE, and does not read. */
static void *sleep_epoll_exclusive(void *arg)
{
	/* As of a thread that has something else to do. */
	wait_in_epoll(arg, EPOLLEXCLUSIVE);
	return NULL;
}

/* In-tree a reader does not share its wake-up with others. */
TEST_F(wait, reader_is_woken_beside_an_exclusive_poller)
{
	struct sleeper poller, reader;

	ASSERT_TRUE(fall_asleep(&poller, self->peer, sleep_epoll_exclusive));
	ASSERT_TRUE(fall_asleep(&reader, self->peer, sleep_read));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_TRUE(side_done(&reader.call, 5000));
	side_kick(&reader.call, 5000);
	side_kick(&poller.call, 5000);
	side_join(&reader.call);
	side_join(&poller.call);
	EXPECT_EQ(MSG_LEN, reader.ret);
}

TEST_HARNESS_MAIN
