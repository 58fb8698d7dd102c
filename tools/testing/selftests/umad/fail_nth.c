// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fails the n-th allocation (or copy from or to user space) of each call, for
 * n = 1, 2, ... until none was left to fail. Each time the call must fail with
 * an honest errno or succeed, and the file must work afterwards. The harness
 * looks for leaks. Needs a kernel with fault injection: the debug one.
 */
#include "kselftest_harness.h"
#include "umad_util.h"

#include <stdio.h>

#define MAX_NTH 400

static int nth_fd = -1;

FIXTURE(nth) {
	struct test_port port;
	int fd;			/* agent 0 a client, unless the test differs */
	int peer;
	uint32_t tid;
	struct umad_msg msg;
};

static void quieten(const char *what)
{
	static const char *const knobs[][2] = {
		{ "verbose", "0" }, { "ignore-gfp-wait", "N" },
		{ "ignore-gfp-highmem", "N" }, { "min-order", "0" },
	};
	char path[128];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(knobs); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", what,
			 knobs[i][0]);
		umad_write_sysfs(path, knobs[i][1]);
	}
}

FIXTURE_SETUP(nth)
{
	quieten("failslab");
	quieten("fail_page_alloc");
	quieten("fail_usercopy");
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, nth_fd) {
		TH_LOG("a kernel without fault injection");
	}
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR);
	self->peer = umad_open(O_RDWR);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	ASSERT_EQ(0, umad_reg_server(self->peer, CLASS_VENDOR1, METHOD_TEST));
}

FIXTURE_TEARDOWN(nth)
{
	close(self->fd);
	close(self->peer);
	close(nth_fd);
}

static void nth_set(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	/* While a fault is pending, this very write may get it. */
	while (pwrite(nth_fd, text, len, 0) != len)
		;
}

/* Did the fault come? */
static bool nth_hit(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) < 0)
		return false;
	return atoi(text) == 0;
}

/* A request that is answered, on the file under test. */
static int round_trip(FIXTURE_DATA(nth) *self, int fd, int id)
{
	struct umad_msg msg, got, reply;
	int ret;

	msg_init(&msg, &self->port, id, CLASS_VENDOR1, METHOD_TEST,
		 ++self->tid);
	msg.hdr.timeout_ms = 20000;
	ret = msg_write(fd, &msg);
	if (ret != MSG_LEN)
		return ret;
	do {
		ret = msg_read(self->peer, &got, 10000);
	} while (ret == MSG_LEN && msg_tid(&got) != self->tid);
	if (ret != MSG_LEN)
		return ret;
	msg_reply(&reply, &got, 0);
	ret = msg_write(self->peer, &reply);
	if (ret != MSG_LEN)
		return ret;
	do {
		ret = msg_read(fd, &got, 10000);
	} while (ret == MSG_LEN && msg_tid(&got) != self->tid);
	return ret == MSG_LEN ? 0 : ret;
}

static bool honest(int ret)
{
	return ret >= 0 || ret == -ENOMEM || ret == -EFAULT;
}

/*
 * @call runs with the fault, @check after it (with the call's result) without.
 * Both may be run many times. A call that cannot meet @least faults is not
 * being tested.
 */
static void sweep(struct __test_metadata *_metadata, FIXTURE_DATA(nth) *self,
		  int (*call)(FIXTURE_DATA(nth) *self),
		  int (*check)(FIXTURE_DATA(nth) *self, int ret), int least)
{
	int n, ret, failed = 0;
	bool hit;

	for (n = 1; n < MAX_NTH; n++) {
		nth_set(n);
		ret = call(self);
		hit = nth_hit();
		nth_set(0);
		EXPECT_TRUE(honest(ret)) {
			TH_LOG("fault %d: errno %d", n, -ret);
		}
		failed += ret < 0;
		ret = check(self, ret);
		EXPECT_EQ(0, ret) {
			TH_LOG("fault %d: does not work afterwards", n);
		}
		if (!hit || !_metadata->passed)
			break;
	}
	EXPECT_GT(MAX_NTH, n);
	TH_LOG("%d faults, %d of them failed the call", n - 1, failed);
	EXPECT_LE(least, n - 1);
}

static int opened;

static int call_open(FIXTURE_DATA(nth) *self)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/infiniband/%s", self->port.node);
	opened = open(path, O_RDWR | O_CLOEXEC);
	return opened < 0 ? -errno : opened;
}

static int check_open(FIXTURE_DATA(nth) *self, int ret)
{
	int fd = ret >= 0 ? ret : umad_open(O_RDWR);

	if (fd < 0)
		return fd;
	ret = umad_reg_client(fd);
	if (!ret)
		ret = round_trip(self, fd, 0);
	close(fd);
	return ret;
}

TEST_F_TIMEOUT(nth, open, 120)
{
	sweep(_metadata, self, call_open, check_open, 3);
}

static int call_register2(FIXTURE_DATA(nth) *self)
{
	return umad_reg_server(self->fd, CLASS_VENDOR2, METHOD_TEST2);
}

static int call_register(FIXTURE_DATA(nth) *self)
{
	struct ib_user_mad_reg_req req = {
		.qpn = 1, .mgmt_class = CLASS_VENDOR1B, .mgmt_class_version = 1,
	};
	int ret;

	req.method_mask[0] = 1ul << METHOD_TEST;
	ret = umad_ioctl(self->fd, IB_USER_MAD_REGISTER_AGENT, &req);
	return ret ? ret : (int)req.id;
}

/* What failed left nothing: neither slot 1 nor the methods are taken. */
static int check_register(FIXTURE_DATA(nth) *self, int ret)
{
	int again;

	if (ret < 0) {
		again = umad_reg_server(self->fd, CLASS_VENDOR2, METHOD_TEST2);
		if (again != 1)
			return again < 0 ? again : -again;
		umad_unreg(self->fd, 1);
		again = call_register(self);
		if (again != 1)
			return again < 0 ? again : -again;
	}
	ret = round_trip(self, self->fd, 1);
	return ret ? ret : umad_unreg(self->fd, 1);
}

TEST_F_TIMEOUT(nth, register_agent2, 120)
{
	sweep(_metadata, self, call_register2, check_register, 3);
}

TEST_F_TIMEOUT(nth, register_agent, 120)
{
	sweep(_metadata, self, call_register, check_register, 3);
}

static int call_unregister(FIXTURE_DATA(nth) *self)
{
	return umad_unreg(self->fd, 0);
}

/* It may fail to read its argument, nothing else. */
static int check_unregister(FIXTURE_DATA(nth) *self, int ret)
{
	struct umad_msg msg;

	if (ret && ret != -EFAULT)
		return ret;
	if (!ret)
		ret = umad_reg_client(self->fd);
	else
		ret = 0;
	if (ret)
		return ret;
	/* One to be flushed the next time. */
	msg_init(&msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY,
		 ++self->tid);
	msg.hdr.timeout_ms = -1;
	ret = msg_write(self->fd, &msg);
	return ret == MSG_LEN ? round_trip(self, self->fd, 0) : ret;
}

TEST_F_TIMEOUT(nth, unregister, 120)
{
	sweep(_metadata, self, call_unregister, check_unregister, 0);
}

static int call_write(FIXTURE_DATA(nth) *self)
{
	return msg_write(self->fd, &self->msg);
}

/* If it failed, its TID is free; if it did not, the MAD was sent. */
static int check_write(FIXTURE_DATA(nth) *self, int ret)
{
	struct umad_msg got;

	if (ret < 0) {
		ret = msg_write(self->fd, &self->msg);
		if (ret != MSG_LEN)
			return ret;
	}
	ret = msg_read(self->peer, &got, 10000);
	if (ret != MSG_LEN)
		return ret;
	if (msg_tid(&got) != msg_tid(&self->msg))
		return -EBADMSG;
	if (self->msg.hdr.timeout_ms) {
		msg_reply(&got, &got, 0);
		ret = msg_write(self->peer, &got);
		if (ret == MSG_LEN)
			ret = msg_read(self->fd, &got, 10000);
		if (ret != MSG_LEN)
			return ret;
	}
	self->msg.mad.tid = htobe64(++self->tid);
	return round_trip(self, self->fd, 0);
}

TEST_F_TIMEOUT(nth, write_without_response, 240)
{
	self->tid = 1000;
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
	sweep(_metadata, self, call_write, check_write, 3);
}

TEST_F_TIMEOUT(nth, write_with_response, 240)
{
	self->tid = 1000;
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
	self->msg.hdr.timeout_ms = 30000;
	self->msg.hdr.retries = 1;
	sweep(_metadata, self, call_write, check_write, 3);
}

static int call_read(FIXTURE_DATA(nth) *self)
{
	struct umad_msg got;

	return msg_read(self->peer, &got, 10000);
}

/* A failed read() has kept the MAD. */
static int check_read(FIXTURE_DATA(nth) *self, int ret)
{
	struct umad_msg got;

	if (ret < 0)
		ret = msg_read(self->peer, &got, 1000);
	if (ret != MSG_LEN)
		return ret;
	self->msg.mad.tid = htobe64(++self->tid);
	ret = msg_write(self->fd, &self->msg);
	return ret == MSG_LEN ? 0 : ret;
}

TEST_F_TIMEOUT(nth, read, 120)
{
	/* The next is not to be taken for the first, which may not have completed. */
	self->tid = 1000;
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	sweep(_metadata, self, call_read, check_read, 1);
}

static int call_read_timeout(FIXTURE_DATA(nth) *self)
{
	struct umad_msg got;

	return msg_read(self->fd, &got, 10000);
}

static int check_read_timeout(FIXTURE_DATA(nth) *self, int ret)
{
	struct umad_msg got;

	if (ret < 0)
		ret = msg_read(self->fd, &got, 1000);
	if (ret != TIMED_OUT_LEN)
		return ret;
	self->msg.mad.tid = htobe64(++self->tid);
	ret = msg_write(self->fd, &self->msg);
	return ret == MSG_LEN ? 0 : ret;
}

TEST_F_TIMEOUT(nth, read_of_a_timeout, 120)
{
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
	self->msg.hdr.timeout_ms = 20;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	sweep(_metadata, self, call_read_timeout, check_read_timeout, 1);
}

/* close() cannot fail; it must not need memory to succeed. */
static int call_close(FIXTURE_DATA(nth) *self)
{
	(void)self;
	return close(opened) ? -errno : 0;
}

static int check_close(FIXTURE_DATA(nth) *self, int ret)
{
	struct umad_msg msg;
	int i;

	if (ret)
		return ret;
	opened = umad_open(O_RDWR);
	if (opened < 0)
		return opened;
	/* The methods of the one that was closed are free. */
	ret = umad_reg_server(opened, CLASS_VENDOR1B, METHOD_TEST);
	for (i = 0; !ret && i < 3; i++) {
		msg_init(&msg, &self->port, 0, CLASS_VENDOR1B,
			 i ? METHOD_NOBODY : METHOD_TEST, i);
		msg.hdr.timeout_ms = -1;
		ret = msg_write(opened, &msg) == MSG_LEN ? 0 : -EIO;
	}
	return ret ? ret : round_trip(self, self->fd, 0);
}

TEST_F_TIMEOUT(nth, close, 120)
{
	ASSERT_EQ(0, check_close(self, 0));
	sweep(_metadata, self, call_close, check_close, 0);
	close(opened);
}

TEST_HARNESS_MAIN
