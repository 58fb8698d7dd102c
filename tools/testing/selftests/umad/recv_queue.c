// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What lies between arrival and read(): order, poll, select, epoll, several
 * threads on one file, the receive budget.
 */
#include "pair_fixture.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>

#define BUDGET_PARAM "/sys/module/ib_umad/parameters/recv_budget"

FIXTURE(queue) {
	PAIR_MEMBERS;
	char budget[32];
};

FIXTURE_SETUP(queue)
{
	PAIR_OPEN(O_RDWR | O_NONBLOCK);
}

FIXTURE_TEARDOWN(queue)
{
	if (self->budget[0])
		umad_write_sysfs(BUDGET_PARAM, self->budget);
	close(self->fd);
	close(self->peer);
}

static short revents(int fd, int wait_ms)
{
	struct pollfd pfd = {
		.fd = fd,
		.events = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM | POLLPRI,
	};

	/* POLLOUT is always there: wait for POLLIN alone first. */
	if (wait_ms) {
		pfd.events = POLLIN;
		poll(&pfd, 1, wait_ms);
		pfd.events = POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM |
			     POLLPRI;
	}
	poll(&pfd, 1, 0);
	return pfd.revents;
}

TEST_F(queue, poll_out_always_in_when_readable)
{
	EXPECT_EQ(POLLOUT | POLLWRNORM, revents(self->peer, 0));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(POLLOUT | POLLWRNORM | POLLIN | POLLRDNORM,
		  revents(self->peer, 10000));
	/* Level triggered: a failed read changes nothing. */
	EXPECT_EQ(-EINVAL, msg_read_len(self->peer, &self->got, HDR_NEW, 0));
	EXPECT_EQ(POLLOUT | POLLWRNORM | POLLIN | POLLRDNORM,
		  revents(self->peer, 0));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 0));
	EXPECT_EQ(POLLOUT | POLLWRNORM, revents(self->peer, 0));
	/* A file without agents polls all the same. */
	close(self->peer);
	self->peer = umad_open(O_RDWR);
	EXPECT_EQ(POLLOUT | POLLWRNORM, revents(self->peer, 0));
}

TEST_F(queue, poll_tells_of_timeouts)
{
	self->msg.mad.method = METHOD_NOBODY;
	self->msg.hdr.timeout_ms = 300;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(POLLOUT | POLLWRNORM, revents(self->fd, 0));
	EXPECT_EQ(POLLOUT | POLLWRNORM | POLLIN | POLLRDNORM,
		  revents(self->fd, 10000));
}

TEST_F(queue, select_works)
{
	struct timeval tv = { .tv_sec = 10 };
	fd_set in, out;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(self->peer, &in);
	FD_SET(self->peer, &out);
	EXPECT_EQ(1, select(self->peer + 1, &in, &out, NULL, &tv));
	EXPECT_TRUE(FD_ISSET(self->peer, &out));
	EXPECT_FALSE(FD_ISSET(self->peer, &in));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	FD_SET(self->peer, &in);
	EXPECT_EQ(1, select(self->peer + 1, &in, NULL, NULL, &tv));
	EXPECT_TRUE(FD_ISSET(self->peer, &in));
}

TEST_F(queue, epoll_level_and_edge_triggered)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ep = epoll_create1(EPOLL_CLOEXEC);
	int round, edge;

	ASSERT_LE(0, ep);
	for (edge = 0; edge < 2; edge++) {
		event.events = EPOLLIN | (edge ? EPOLLET : 0);
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->peer, &event));
		EXPECT_EQ(0, epoll_wait(ep, &event, 1, 0));
		for (round = 0; round < 3; round++) {
			self->msg.mad.tid = htobe64(round + 10 * edge);
			ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
			EXPECT_EQ(1, epoll_wait(ep, &event, 1, 10000));
			EXPECT_EQ(EPOLLIN, event.events);
			EXPECT_EQ(!edge, epoll_wait(ep, &event, 1, 0));
			ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 0));
			EXPECT_EQ(0, epoll_wait(ep, &event, 1, 0));
		}
		ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_DEL, self->peer, NULL));
	}
	close(ep);
}

/* Or a program that waits 200,000 times would have the processor with each of them. */
TEST_F(queue, reads_that_fail_wake_nobody)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(0), i;

	ASSERT_LE(0, ep);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_TRUE(revents(self->peer, 2000) & POLLIN);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->peer, &event));
	EXPECT_EQ(1, epoll_wait(ep, &event, 1, 0));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-1, read(self->peer, &self->got, MSG_LEN - 1));
		EXPECT_EQ(EINVAL, errno);
		/* Somebody had found nothing before the MAD came. */
		if (!i)
			epoll_wait(ep, &event, 1, 0);
		else
			EXPECT_EQ(0, epoll_wait(ep, &event, 1, 0));
	}
	close(ep);
	EXPECT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 0));
}

TEST_F(queue, mads_are_read_in_order_of_arrival)
{
	int i;

	for (i = 0; i < 300; i++) {
		self->msg.mad.tid = htobe64(i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		if (i % 50 == 49)	/* not more than the receive queue */
			EXPECT_LT(0, revents(self->peer, 10000));
	}
	for (i = 0; i < 300; i++) {
		ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
		EXPECT_EQ(i, msg_tid(&self->got));
	}
}

#define THREADS 4
#define PER_THREAD 50

struct many {
	struct test_port *port;
	int fd, peer;
	int next;
	int errors;
	uint8_t seen[THREADS * PER_THREAD];
};

static void *many_write(void *arg)
{
	struct many *many = arg;
	struct umad_msg msg;
	int i, first = __atomic_fetch_add(&many->next, 1, __ATOMIC_SEQ_CST);

	for (i = 0; i < PER_THREAD; i++) {
		msg_init(&msg, many->port, 0, CLASS_VENDOR1, METHOD_TEST,
			 first * PER_THREAD + i);
		msg.hdr.timeout_ms = 60000;
		if (msg_write(many->fd, &msg) != MSG_LEN)
			__atomic_fetch_add(&many->errors, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* Readers of the server's file; they answer what they got. */
static void *many_serve(void *arg)
{
	struct many *many = arg;
	struct umad_msg msg, reply;
	int ret;

	for (;;) {
		ret = msg_read(many->peer, &msg, 3000);
		if (ret == -EAGAIN)
			continue;
		if (ret == -ETIME)
			return NULL;
		if (ret != MSG_LEN) {
			__atomic_fetch_add(&many->errors, 1, __ATOMIC_SEQ_CST);
			return NULL;
		}
		msg_reply(&reply, &msg, 0);
		if (msg_write(many->peer, &reply) != MSG_LEN)
			__atomic_fetch_add(&many->errors, 1, __ATOMIC_SEQ_CST);
	}
}

static void *many_read(void *arg)
{
	struct many *many = arg;
	struct umad_msg msg;
	uint32_t tid;
	int ret;

	for (;;) {
		ret = msg_read(many->fd, &msg, 4000);
		if (ret == -EAGAIN)
			continue;
		if (ret == -ETIME)
			return NULL;
		tid = msg_tid(&msg);
		if (ret != MSG_LEN || msg.hdr.status ||
		    tid >= THREADS * PER_THREAD ||
		    __atomic_fetch_add(&many->seen[tid], 1, __ATOMIC_SEQ_CST))
			__atomic_fetch_add(&many->errors, 1, __ATOMIC_SEQ_CST);
	}
}

TEST_F(queue, many_threads_share_two_files)
{
	struct side_call calls[3 * THREADS];
	struct many many = {
		.port = &self->port, .fd = self->fd, .peer = self->peer,
	};
	int i;

	for (i = 0; i < THREADS; i++) {
		side_start(&calls[3 * i], many_read, &many);
		side_start(&calls[3 * i + 1], many_serve, &many);
		side_start(&calls[3 * i + 2], many_write, &many);
	}
	for (i = 0; i < 3 * THREADS; i++)
		side_join(&calls[i]);
	EXPECT_EQ(0, many.errors);
	for (i = 0; i < THREADS * PER_THREAD; i++)
		EXPECT_EQ(1, many.seen[i]);
}

static int set_budget(struct __test_metadata *_metadata, char *old, size_t len,
		      int bytes)
{
	char text[32];

	ASSERT_EQ(0, umad_read_sysfs(BUDGET_PARAM, old, len));
	snprintf(text, sizeof(text), "%d", bytes);
	ASSERT_EQ(0, umad_write_sysfs(BUDGET_PARAM, text));
	return 0;
}

/* In-tree counts MADs, 200,000 of them, and has no parameter. */
TEST_F(queue, budget_drops_and_counts_what_exceeds_it)
{
	long dropped, delivered, now;
	int i, got = 0;

	set_budget(_metadata, self->budget, sizeof(self->budget), 32768);
	close(self->peer);
	self->peer = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, umad_reg_server(self->peer, CLASS_VENDOR1, METHOD_TEST));
	dropped = umad_counter(&self->port, "recv_dropped_budget");
	delivered = umad_counter(&self->port, "recv_delivered");
	ASSERT_LE(0, dropped);
	for (i = 0; i < 300; i++) {
		self->msg.mad.tid = htobe64(i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	for (i = 0; i < 100; i++) {
		now = umad_counter(&self->port, "recv_dropped_budget") +
		      umad_counter(&self->port, "recv_delivered");
		if (now >= dropped + delivered + 300)
			break;
		sleep_ms(50);
	}
	EXPECT_EQ(dropped + delivered + 300, now);
	while (msg_read(self->peer, &self->got, 100) == MSG_LEN)
		EXPECT_EQ(got++, msg_tid(&self->got));
	/* The oldest stay; a MAD costs at least its 256 bytes. */
	EXPECT_LT(10, got);
	EXPECT_GE(32768 / 256, got);
	EXPECT_EQ(dropped + 300 - got,
		  umad_counter(&self->port, "recv_dropped_budget"));
	/* Reading made room. */
	self->msg.mad.tid = htobe64(1000);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	EXPECT_EQ(1000, msg_tid(&self->got));
}

TEST_F(queue, budget_applies_to_files_opened_afterwards)
{
	int i, got = 0;

	set_budget(_metadata, self->budget, sizeof(self->budget), 8192);
	for (i = 0; i < 200; i++) {
		self->msg.mad.tid = htobe64(i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		sleep_ms(1);
	}
	while (msg_read(self->peer, &self->got, 1000) == MSG_LEN)
		got++;
	EXPECT_EQ(200, got);
}

TEST_F(queue, budget_never_drops_timeouts)
{
	int i, timeouts = 0, mads = 0, ret;

	set_budget(_metadata, self->budget, sizeof(self->budget), 4096);
	close(self->peer);
	self->peer = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, umad_reg_server(self->peer, CLASS_VENDOR1, METHOD_TEST));
	/* 50 sends that will time out, while the queue fills with MADs. */
	for (i = 0; i < 50; i++) {
		msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1,
			 METHOD_NOBODY, i);
		self->msg.hdr.timeout_ms = 2000;
		ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->msg));
	}
	for (i = 0; i < 100; i++) {
		msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1,
			 METHOD_TEST, i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	sleep_ms(4000);
	while ((ret = msg_read(self->peer, &self->got, 500)) > 0) {
		timeouts += ret == TIMED_OUT_LEN;
		mads += ret == MSG_LEN;
	}
	EXPECT_EQ(50, timeouts);
	EXPECT_LT(0, mads);
	EXPECT_GE(4096 / 256, mads);
}

TEST_HARNESS_MAIN
