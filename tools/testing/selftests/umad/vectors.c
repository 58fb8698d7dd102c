// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Several MADs in one call, in and out: readv() and writev() take each buffer as a read()
 * or a write() of its own. And the same file by io_uring.
 */
#include <liburing.h>
#include <sys/uio.h>
#include "kselftest_harness.h"
#include "umad_util.h"

/* Soft-RoCE of 5.10 has 100 address handles; a request takes one, its response another. */
#define MADS	48
#define WAIT_MS	2000
/* IORING_OP_WRITEV_FIXED of newer kernels. */
#define OP_WRITEV_FIXED	61
/* IORING_OP_READ_MULTISHOT of 6.7 and later. */
#define OP_READ_MULTISHOT	49
#define SHOTS	3

FIXTURE(vectors) {
	struct test_port port;
	int fd, srv;		/* both O_NONBLOCK */
	struct umad_msg msg[MADS];
	struct umad_msg got[MADS];
	struct iovec out[MADS], in[MADS];
};

/*
 * The kernel takes a ring down after its process has ended, and the file of a read that waits
 * in it with it: what the test before has registered may go a little later.
 */
static int reg_server(int fd)
{
	uint64_t end = now_ms() + WAIT_MS;
	int ret;

	while ((ret = umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST)) == -EINVAL && now_ms() < end)
		sleep_ms(10);
	return ret;
}

FIXTURE_SETUP(vectors)
{
	int i;

	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	self->srv = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	ASSERT_EQ(0, reg_server(self->srv));
	for (i = 0; i < MADS; i++) {
		msg_init(&self->msg[i], &self->port, 0, CLASS_VENDOR1, METHOD_TEST, i);
		self->msg[i].hdr.timeout_ms = WAIT_MS;
		self->out[i] = (struct iovec){ &self->msg[i], MSG_LEN };
		self->in[i] = (struct iovec){ &self->got[i], MSG_LEN };
	}
}

FIXTURE_TEARDOWN(vectors)
{
	close(self->fd);
	close(self->srv);
}

/* How many MADs came by readv(), each call as many as there are. */
static int readv_all(FIXTURE_DATA(vectors) *self, int fd, int wanted, int *calls)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int n = 0;
	ssize_t ret;

	*calls = 0;
	/* On a busy host they come one by one. */
	sleep_ms(200);
	while (n < wanted && poll(&pfd, 1, WAIT_MS) == 1) {
		ret = readv(fd, self->in + n, wanted - n);
		if (ret <= 0 || ret % MSG_LEN)
			return -1;
		n += ret / MSG_LEN;
		++*calls;
	}
	return n;
}

static bool all_came_once(FIXTURE_DATA(vectors) *self, int n)
{
	bool seen[MADS] = {};
	int i;

	for (i = 0; i < n; i++) {
		if (msg_tid(&self->got[i]) >= MADS || seen[msg_tid(&self->got[i])])
			return false;
		seen[msg_tid(&self->got[i])] = true;
	}
	return true;
}

TEST_F(vectors, requests_are_answered_by_four_kinds_of_calls)
{
	int i, calls, turns = 0;

	ASSERT_EQ(MADS * MSG_LEN, writev(self->fd, self->out, MADS));
	ASSERT_EQ(MADS, readv_all(self, self->srv, MADS, &calls));
	EXPECT_TRUE(all_came_once(self, MADS));
	turns += calls;
	for (i = 0; i < MADS; i++)
		msg_reply(&self->msg[i], &self->got[i], 0);
	ASSERT_EQ(MADS * MSG_LEN, writev(self->srv, self->out, MADS));
	ASSERT_EQ(MADS, readv_all(self, self->fd, MADS, &calls));
	EXPECT_TRUE(all_came_once(self, MADS));
	turns += calls;
	/* One at a time each end would take two for each MAD. */
	TH_LOG("%d calls of readv() for %d MADs", turns, 2 * MADS);
	EXPECT_GE(MADS, turns);
}

TEST_F(vectors, writev_ends_before_what_is_refused)
{
	int calls;

	self->msg[3].hdr.id = 17;	/* no such agent */
	EXPECT_EQ(3 * MSG_LEN, writev(self->fd, self->out, 5));
	EXPECT_EQ(3, readv_all(self, self->srv, MADS, &calls));
	EXPECT_EQ(-1, writev(self->fd, self->out + 3, 2));
	EXPECT_EQ(EIO, errno);
}

TEST_F(vectors, readv_of_nothing)
{
	EXPECT_EQ(-1, readv(self->fd, self->in, MADS));
	EXPECT_EQ(EAGAIN, errno);
}

/* What is shorter than its buffer, as a timeout is, ends the call. */
TEST_F(vectors, readv_ends_behind_a_timeout)
{
	struct pollfd pfd = { .fd = self->fd, .events = POLLIN };
	int i;

	for (i = 0; i < 2; i++) {
		self->msg[i].mad.method = METHOD_NOBODY;
		self->msg[i].hdr.timeout_ms = 1;
	}
	ASSERT_EQ(2 * MSG_LEN, writev(self->fd, self->out, 2));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(1, poll(&pfd, 1, WAIT_MS));
		EXPECT_EQ(TIMED_OUT_LEN, readv(self->fd, self->in, MADS));
		EXPECT_EQ(ETIMEDOUT, self->got[0].hdr.status);
	}
}

/* A header and its MAD in two buffers are two writes, of which the first is too short. */
TEST_F(vectors, buffers_are_not_joined)
{
	struct iovec parts[] = {
		{ &self->msg[0].hdr, HDR_NEW },
		{ &self->msg[0].mad, MAD_LEN },
	};

	EXPECT_EQ(-1, writev(self->fd, parts, 2));
	EXPECT_EQ(EINVAL, errno);
}

TEST_F(vectors, empty_buffers_are_skipped)
{
	struct iovec out[] = { self->out[0], {}, {}, self->out[1], {}, self->out[2] };
	struct iovec in[] = { self->in[0], {}, {}, self->in[1], {}, self->in[2] };

	ASSERT_EQ(3 * MSG_LEN, writev(self->fd, out, 6));
	sleep_ms(200);
	EXPECT_EQ(3 * MSG_LEN, readv(self->srv, in, 6));
	EXPECT_TRUE(all_came_once(self, 3));
	/* The first is a read() or write() of nothing. */
	EXPECT_EQ(-1, writev(self->fd, out + 1, 3));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, readv(self->srv, in + 1, 3));
	EXPECT_EQ(EINVAL, errno);
}

FIXTURE(uring) {
	struct test_port port;
	struct io_uring ring;
	int fd, srv;
	struct umad_msg msg, got;
};

FIXTURE_SETUP(uring)
{
	ASSERT_EQ(0, io_uring_queue_init(8, &self->ring, 0));
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR);
	self->srv = umad_open(O_RDWR);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	ASSERT_EQ(0, reg_server(self->srv));
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
	self->msg.hdr.timeout_ms = WAIT_MS;
}

FIXTURE_TEARDOWN(uring)
{
	io_uring_queue_exit(&self->ring);
	close(self->fd);
	close(self->srv);
}

static int submit(FIXTURE_DATA(uring) *self, struct io_uring_sqe *sqe, uint64_t mark)
{
	sqe->user_data = mark;
	return io_uring_submit(&self->ring);
}

/* The result of the next completion, or -ETIME. */
static int complete(FIXTURE_DATA(uring) *self, uint64_t *mark)
{
	struct __kernel_timespec wait = { .tv_sec = 5 };
	struct io_uring_cqe *cqe;
	int ret = io_uring_wait_cqe_timeout(&self->ring, &cqe, &wait);

	if (ret)
		return ret;
	ret = cqe->res;
	*mark = cqe->user_data;
	io_uring_cqe_seen(&self->ring, cqe);
	return ret;
}

static void submit_read(struct __test_metadata *_metadata, FIXTURE_DATA(uring) *self, int fd)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring);

	io_uring_prep_read(sqe, fd, &self->got, MSG_LEN, 0);
	ASSERT_EQ(1, submit(self, sqe, 1));
}

TEST_F(uring, read_waits_for_what_is_written)
{
	struct io_uring_sqe *sqe;
	uint64_t mark = 0;

	submit_read(_metadata, self, self->srv);
	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_write(sqe, self->fd, &self->msg, MSG_LEN, 0);
	ASSERT_EQ(1, submit(self, sqe, 2));
	ASSERT_EQ(MSG_LEN, complete(self, &mark));
	ASSERT_EQ(MSG_LEN, complete(self, &mark));
	EXPECT_EQ(1, msg_tid(&self->got));
}

TEST_F(uring, poll_then_read)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring);
	uint64_t mark = 0;

	io_uring_prep_poll_add(sqe, self->srv, POLLIN);
	ASSERT_EQ(1, submit(self, sqe, 1));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_TRUE(complete(self, &mark) & POLLIN);
	ASSERT_EQ(MSG_LEN, read(self->srv, &self->got, MSG_LEN));
}

/* Has it ended before io_uring_enter() returned, with no thread of io_uring's? */
static int completed_at_once(FIXTURE_DATA(uring) *self)
{
	struct io_uring_cqe *cqe;
	int ret;

	if (io_uring_peek_cqe(&self->ring, &cqe))
		return -EAGAIN;
	ret = cqe->res;
	io_uring_cqe_seen(&self->ring, cqe);
	return ret;
}

TEST_F(uring, read_of_what_is_there_needs_no_thread)
{
	struct pollfd pfd = { .fd = self->srv, .events = POLLIN };

	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(1, poll(&pfd, 1, WAIT_MS));
	submit_read(_metadata, self, self->srv);
	EXPECT_EQ(MSG_LEN, completed_at_once(self));
}

/* On RoCE it may have to wait for an address. */
TEST_F(uring, write_needs_no_thread)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring);

	if (self->port.netdev[0])
		SKIP(return, "not on RoCE");
	io_uring_prep_write(sqe, self->fd, &self->msg, MSG_LEN, 0);
	ASSERT_EQ(1, submit(self, sqe, 1));
	EXPECT_EQ(MSG_LEN, completed_at_once(self));
	EXPECT_EQ(MSG_LEN, msg_read(self->srv, &self->got, WAIT_MS));
}

/* The first that comes ends the read, although no one reads by a call of his own. */
TEST_F(uring, read_is_called_again_when_there_is_something)
{
	uint64_t mark = 0;

	submit_read(_metadata, self, self->srv);
	EXPECT_EQ(-EAGAIN, completed_at_once(self));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(MSG_LEN, complete(self, &mark));
	EXPECT_EQ(1, msg_tid(&self->got));
}

/* Both files wait otherwise. */
TEST_F(uring, calls_that_must_not_wait)
{
	struct iovec out = { &self->msg, MSG_LEN }, in = { &self->got, MSG_LEN };
	struct pollfd pfd = { .fd = self->srv, .events = POLLIN };

	EXPECT_EQ(-1, preadv2(self->srv, &in, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(EAGAIN, errno);
	if (self->port.netdev[0]) {
		EXPECT_EQ(-1, pwritev2(self->fd, &out, 1, -1, RWF_NOWAIT));
		EXPECT_EQ(EAGAIN, errno);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	} else {
		ASSERT_EQ(MSG_LEN, pwritev2(self->fd, &out, 1, -1, RWF_NOWAIT));
	}
	ASSERT_EQ(1, poll(&pfd, 1, WAIT_MS));
	EXPECT_EQ(MSG_LEN, preadv2(self->srv, &in, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(1, msg_tid(&self->got));
}

/* Memory that is registered with the ring is no iovec. */
TEST_F(uring, registered_buffers)
{
	struct iovec vec[] = { { &self->msg, MSG_LEN }, { &self->got, MSG_LEN } };
	struct io_uring_sqe *sqe;
	uint64_t mark = 0;

	ASSERT_EQ(0, io_uring_register_buffers(&self->ring, vec, 2));
	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_write_fixed(sqe, self->fd, &self->msg, MSG_LEN, 0, 0);
	ASSERT_EQ(1, submit(self, sqe, 1));
	ASSERT_EQ(MSG_LEN, complete(self, &mark));
	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_read_fixed(sqe, self->srv, &self->got, MSG_LEN, 0, 1);
	ASSERT_EQ(1, submit(self, sqe, 2));
	ASSERT_EQ(MSG_LEN, complete(self, &mark));
	EXPECT_EQ(1, msg_tid(&self->got));
}

/* Two messages are no message of twice the length, wherever they stand in registered memory. */
TEST_F(uring, registered_vector_is_refused)
{
	struct iovec all = { &self->msg, sizeof(self->msg) };
	struct iovec parts[] = {
		{ &self->msg.hdr, HDR_NEW },
		{ &self->msg.mad, MAD_LEN },
	};
	struct io_uring_sqe *sqe;
	uint64_t mark = 0;

	ASSERT_EQ(0, io_uring_register_buffers(&self->ring, &all, 1));
	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_rw(OP_WRITEV_FIXED, sqe, self->fd, parts, 2, 0);
	ASSERT_EQ(1, submit(self, sqe, 1));
	/* The same where io_uring does not know it. */
	EXPECT_EQ(-EINVAL, complete(self, &mark));
	EXPECT_EQ(-ETIME, msg_read(self->srv, &self->got, 300));
}

/* ABI: unlike read() and write(). */
TEST_F(uring, calls_of_no_bytes)
{
	struct pollfd pfd = { .fd = self->srv, .events = POLLIN };
	struct io_uring_sqe *sqe;
	uint64_t mark = 0;

	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_write(sqe, self->fd, &self->msg, 0, 0);
	ASSERT_EQ(1, submit(self, sqe, 1));
	EXPECT_EQ(0, complete(self, &mark));
	/* In-tree, io_uring of 6.12 waits for something to read all the same. */
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(1, poll(&pfd, 1, WAIT_MS));
	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_read(sqe, self->srv, &self->got, 0, 0);
	ASSERT_EQ(1, submit(self, sqe, 2));
	EXPECT_EQ(0, complete(self, &mark));
}

TEST_F(uring, read_is_cancelled)
{
	struct io_uring_sqe *sqe;
	uint64_t mark = 0;
	int i, ret;

	submit_read(_metadata, self, self->srv);
	sleep_ms(20);
	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_cancel64(sqe, 1, 0);
	ASSERT_EQ(1, submit(self, sqe, 2));
	for (i = 0; i < 2; i++) {
		ret = complete(self, &mark);
		if (mark == 1)
			EXPECT_TRUE(ret == -ECANCELED || ret == -EINTR) TH_LOG("%d", ret);
	}
	/* The file goes on. */
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(MSG_LEN, msg_read(self->srv, &self->got, WAIT_MS));
}

/* One call that reads each MAD as it comes, into the next of some buffers. */
TEST_F(uring, one_read_takes_all_that_come)
{
	static struct umad_msg buf[SHOTS + 1];
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring);
	struct __kernel_timespec wait = { .tv_sec = 5 };
	struct io_uring_cqe *cqe;
	uint64_t mark = 0;
	int i, id;

	io_uring_prep_provide_buffers(sqe, buf, sizeof(buf[0]), ARRAY_SIZE(buf), 7, 0);
	ASSERT_EQ(1, submit(self, sqe, 1));
	ASSERT_EQ(0, complete(self, &mark));
	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_rw(OP_READ_MULTISHOT, sqe, self->srv, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = 7;
	ASSERT_EQ(1, submit(self, sqe, 2));
	sleep_ms(20);
	if (!io_uring_peek_cqe(&self->ring, &cqe) && cqe->res == -EINVAL)
		SKIP(return, "not before 6.7");
	for (i = 1; i <= SHOTS; i++) {
		msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, i);
		self->msg.hdr.timeout_ms = WAIT_MS;
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		ASSERT_EQ(0, io_uring_wait_cqe_timeout(&self->ring, &cqe, &wait));
		EXPECT_EQ(MSG_LEN, cqe->res);
		EXPECT_TRUE(cqe->flags & IORING_CQE_F_MORE);
		id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
		ASSERT_GT(ARRAY_SIZE(buf), id);
		EXPECT_EQ(i, msg_tid(&buf[id]));
		io_uring_cqe_seen(&self->ring, cqe);
	}
	/* A ring that is left with it would keep the file for a while. */
	sqe = io_uring_get_sqe(&self->ring);
	io_uring_prep_cancel64(sqe, 2, 0);
	ASSERT_EQ(1, submit(self, sqe, 3));
	EXPECT_LE(-ECANCELED, complete(self, &mark));
	EXPECT_LE(-ECANCELED, complete(self, &mark));
}

TEST_F(uring, close_under_a_read)
{
	submit_read(_metadata, self, self->srv);
	sleep_ms(20);
	/* The ring's read keeps the file, and ends with the ring. */
	EXPECT_EQ(0, close(self->srv));
	self->srv = -1;
}

TEST_HARNESS_MAIN
