// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a program has outstanding when it closes, unregisters or loses its device:
 * however much and of whatever kind, that is over soon. And what it holds of the
 * kernel's memory meanwhile is bounded by what it has written.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "rmpp_util.h"

#include <stdio.h>

#define SOON		2000	/* ms; the promise */
#define SLOW		5	/* a debug kernel's factor */
#define RETRIES		300	/* requests with a time-out of 1 ms */
#define SAME_TID	10000
#define WRITERS		32

FIXTURE(close) {
	struct test_port port;
	int fd;
	struct umad_msg msg, got;
};

FIXTURE_SETUP(close)
{
	/* A failed test before may have left none. */
	if (umad_port_find(&self->port) == -ENODEV)
		rdma_link_add(umad_ibdev(), "dummy0");
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	ASSERT_EQ(1, umad_reg_client(self->fd));
}

FIXTURE_TEARDOWN(close)
{
	if (self->fd >= 0)
		close(self->fd);
	if (rdma_link_index(self->port.ibdev) < 0)
		EXPECT_EQ(0, rdma_link_add(self->port.ibdev,
					   self->port.netdev));
}

static void *do_close(void *arg)
{
	return (void *)(long)close(*(int *)arg);
}

static void *do_unreg(void *arg)
{
	return (void *)(long)umad_unreg(*(int *)arg, 0);
}

static unsigned int soon_ms(void)
{
	return kernel_debugs() ? SLOW * SOON : SOON;
}

/* The call returns soon; says how long it took. */
static bool returns_soon(void *(*fn)(void *arg), void *arg, const char *what)
{
	uint64_t begin = now_ms();
	struct side_call call;
	bool soon;

	side_start(&call, fn, arg);
	soon = side_done(&call, soon_ms());
	if (soon)
		side_join(&call);
	printf("# %s: %llu ms%s\n", what,
	       (unsigned long long)(now_ms() - begin), soon ? "" : " and more");
	return soon;
}

/* Unreclaimable slab memory of the host, in KiB. */
static long slab_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	long kib = -1;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "SUnreclaim: %ld kB", &kib);
	if (file)
		fclose(file);
	return kib;
}

static int write_retries(FIXTURE_DATA(close) *self)
{
	int i, ret;

	for (i = 0; i < RETRIES; i++) {
		msg_init(&self->msg, &self->port, 1, CLASS_VENDOR1,
			 METHOD_NOBODY, i);
		self->msg.hdr.timeout_ms = 1;
		self->msg.hdr.retries = 0x7fffffff;
		ret = msg_write(self->fd, &self->msg);
		if (ret != MSG_LEN)
			return ret < 0 ? ret : -EIO;
	}
	return 0;
}

TEST_F_TIMEOUT(close, retries_of_1_ms_delay_no_close, 60)
{
	ASSERT_EQ(0, write_retries(self));
	sleep_ms(500);
	ASSERT_TRUE(returns_soon(do_close, &self->fd, "close"));
	self->fd = -1;
}

TEST_F_TIMEOUT(close, retries_of_1_ms_delay_no_other_agent, 60)
{
	ASSERT_EQ(0, write_retries(self));
	sleep_ms(500);
	ASSERT_TRUE(returns_soon(do_unreg, &self->fd, "unregister"));
	ASSERT_TRUE(returns_soon(do_close, &self->fd, "close"));
	self->fd = -1;
}

TEST_F_TIMEOUT(close, retries_of_1_ms_take_no_more_memory, 60)
{
	long before, after;

	ASSERT_EQ(0, write_retries(self));
	sleep_ms(1000);
	before = slab_kib();
	sleep_ms(4000);
	after = slab_kib();
	printf("# unreclaimable slab: %ld KiB, 4 s later %ld\n", before, after);
	EXPECT_GT(4096, after - before);
}

TEST_F_TIMEOUT(close, many_sends_of_one_TID, 120)
{
	struct umad_msg *msg = &self->msg;
	struct ib_user_mad_reg_req2 req;
	int i;

	reg_init(&req, 0, 0);
	req.rmpp_version = 0;
	ASSERT_EQ(2, umad_reg2(self->fd, &req));
	for (i = 0; i < (soon_ms() > SOON ? SAME_TID / SLOW : SAME_TID); i++) {
		msg_init(msg, &self->port, 2, CLASS_VENDOR2, METHOD_NOBODY, 7);
		/* An Active segment: the program's own RMPP. */
		msg->data[24] = 1;
		msg->data[25] = RMPP_DATA;
		msg->data[26] = RMPP_ACTIVE;
		msg->hdr.timeout_ms = 60000;
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, msg));
	}
	ASSERT_TRUE(returns_soon(do_close, &self->fd, "close"));
	self->fd = -1;
}

struct writer {
	int fd;
	struct umad_msg msg;
	bool stop;
	int ret;
};

/* To neighbours that do not answer: each write is inside for about a second. */
static void *write_on(void *arg)
{
	struct writer *writer = arg;
	int n = 0;

	do {
		writer->msg.hdr.gid[14] = n++;
		writer->ret = msg_write(writer->fd, &writer->msg);
	} while (!__atomic_load_n(&writer->stop, __ATOMIC_RELAXED) &&
		 writer->ret != -EIO);
	return NULL;
}

static void *do_del(void *arg)
{
	return (void *)(long)rdma_link_del(arg);
}

TEST_F_TIMEOUT(close, removal_waits_for_one_address_not_for_each, 120)
{
	struct side_call calls[WRITERS], del;
	struct writer writers[WRITERS];
	uint64_t begin;
	bool soon;
	int i;

	ASSERT_EQ(0, netdev_arp(self->port.netdev, true));
	for (i = 2; i < WRITERS; i++)
		ASSERT_EQ(i, umad_reg_client(self->fd));
	for (i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ .fd = self->fd };
		msg_init(&writers[i].msg, &self->port, i, CLASS_VENDOR1,
			 METHOD_NOBODY, i);
		writers[i].msg.hdr.gid[15] = 0x40 + i;
		side_start(&calls[i], write_on, &writers[i]);
	}
	sleep_ms(300);
	begin = now_ms();
	side_start(&del, do_del, self->port.ibdev);
	/* An address of its own that the last one may have begun. */
	soon = side_done(&del, 1000 + soon_ms());
	printf("# removal: %llu ms\n", (unsigned long long)(now_ms() - begin));
	EXPECT_TRUE(soon);
	for (i = 0; i < WRITERS; i++)
		__atomic_store_n(&writers[i].stop, true, __ATOMIC_RELAXED);
	side_join(&del);
	for (i = 0; i < WRITERS; i++) {
		side_join(&calls[i]);
		EXPECT_EQ(-EIO, writers[i].ret);
	}
	netdev_arp(self->port.netdev, false);
}

/* Unread time-outs count too, so that memory does not grow by not reading. */
TEST_F_TIMEOUT(close, sends_of_a_file_are_bounded, 60)
{
	long old = rmpp_param_set("max_sends", 8);
	long refused;
	int i;

	ASSERT_LT(0, old);
	refused = umad_counter(&self->port, "send_over_limit");
	for (i = 0; i < 10; i++) {
		msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1,
			 METHOD_NOBODY, i);
		self->msg.hdr.timeout_ms = 1000;
		EXPECT_EQ(i < 8 ? MSG_LEN : -ENOBUFS,
			  msg_write(self->fd, &self->msg));
	}
	EXPECT_EQ(refused + 2, umad_counter(&self->port, "send_over_limit"));
	sleep_ms(2000);
	EXPECT_EQ(-ENOBUFS, msg_write(self->fd, &self->msg));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 1000));
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	rmpp_param_set("max_sends", old);
}

/*
 * Of many messages that are given up at once, some have ended while the timers of
 * their senders' engines come.
 */
TEST_F_TIMEOUT(close, as_segments_are_to_be_sent_again, 120)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
	};
	struct rmpp_msg msg = { 0 };
	int round, i, fd, id;

	for (round = 0; round < 8; round++) {
		fd = umad_open(O_RDWR | O_NONBLOCK);
		id = rmpp_register(fd, &agent);
		ASSERT_LE(0, id);
		for (i = 0; i < 128; i++) {
			rmpp_msg_init(&msg, &self->port, HDR_NEW, id, CLASS_RMPP,
				      METHOD_NOBODY, i, 400, i);
			rmpp_user_hdr(&msg)->timeout_ms = 20;
			rmpp_user_hdr(&msg)->retries = 1000;
			ASSERT_LT(0, rmpp_msg_write(fd, &msg));
		}
		sleep_ms(20 + round * 5);
		close(fd);
	}
	rmpp_msg_free(&msg);
}

TEST_HARNESS_MAIN
