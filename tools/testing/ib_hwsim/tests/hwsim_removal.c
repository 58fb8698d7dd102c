// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What only a device that obeys can bring about: completions that come late,
 * and removal while they are missing; a far end that sleeps while the device
 * goes away; devices that come and go under traffic; addresses that take long
 * to be resolved on all ports of the device that goes.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"
#include "rmpp_util.h"

#include <stdio.h>
#include <sys/syscall.h>

#define DEVICE		40
#define PEER		41
#define PATIENCE	10000
#define ROUNDS		3
#define SLOW_PORTS	4
#define AH_MS		"/sys/kernel/debug/ib_hwsim/hwsim40/ah_ms"
#define FAIL_WC		"/sys/kernel/debug/ib_hwsim/hwsim40/fail/send_wc"

FIXTURE(hold) {
	int fd;			/* agent 0: a client */
	int raw;
	bool gone;
	struct side_call del;
	int del_ret;
	struct umad_msg msg, got;
	struct ib_hwsim_frame frame;
};

static void *do_del(void *arg)
{
	FIXTURE_DATA(hold) *self = arg;

	self->del_ret = hwsim_del(DEVICE);
	return NULL;
}

FIXTURE_SETUP(hold)
{
	side_allow_kick();
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=1"));
	self->raw = raw_attach(DEVICE, 1);
	ASSERT_LE(0, self->raw);
	self->fd = hwsim_open(DEVICE, 1, O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	self->msg.hdr.qpn = htobe32(1);
	self->msg.hdr.qkey = htobe32(GSI_QKEY);
	self->msg.hdr.lid = htobe16(5);
	self->msg.mad.base_version = 1;
	self->msg.mad.mgmt_class = CLASS_VENDOR1;
	self->msg.mad.class_version = 1;
	self->msg.mad.method = METHOD_TEST;
}

FIXTURE_TEARDOWN(hold)
{
	side_join(&self->del);
	close(self->fd);
	close(self->raw);
	if (!self->gone)
		EXPECT_EQ(0, hwsim_del(DEVICE));
}

static void send_held(struct __test_metadata *_metadata,
		      FIXTURE_DATA(hold) *self, unsigned int how_many,
		      unsigned int timeout_ms)
{
	unsigned int i;

	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	self->msg.hdr.timeout_ms = timeout_ms;
	for (i = 1; i <= how_many; i++) {
		self->msg.mad.tid = htobe64(i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		ASSERT_LE(0, raw_read(self->raw, &self->frame, PATIENCE));
	}
}

static long held(void)
{
	char text[32];

	if (hwsim_get(DEVICE, 1, "release", text, sizeof(text)))
		return -1;
	return strtol(text, NULL, 0);
}

/* Answers what was sent last. */
static void answer(struct __test_metadata *_metadata, FIXTURE_DATA(hold) *self)
{
	self->frame.slid = self->frame.dlid;
	self->frame.dlid = 1;
	frame_mad(&self->frame)->method |= METHOD_RESP;
	ASSERT_EQ(0, raw_write(self->raw, &self->frame));
}

TEST_F(hold, held_completions_are_counted_and_released)
{
	send_held(_metadata, self, 10, 0);
	EXPECT_EQ(10, held());
	EXPECT_EQ(0, hwsim_set(DEVICE, 1, "release", "3"));
	EXPECT_EQ(7, held());
	EXPECT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	EXPECT_EQ(0, held());
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 100));
}

TEST_F(hold, response_before_the_completion_of_its_request)
{
	send_held(_metadata, self, 1, PATIENCE);
	answer(_metadata, self);
	/* Now or once the completion has come, but once. */
	sleep_ms(300);
	EXPECT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, PATIENCE));
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(1, msg_tid(&self->got));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 300));
}

/* The time-out of a request begins with its completion, or before: it ends. */
TEST_F(hold, request_times_out_once_completed)
{
	send_held(_metadata, self, 1, 200);
	sleep_ms(600);
	EXPECT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, PATIENCE));
	EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 300));
}

static uint32_t frame_tid(struct ib_hwsim_frame *frame)
{
	return be64toh(frame_mad(frame)->tid);
}

/*
 * The first attempt fails when its deadline has passed, and the second and last one
 * still waits for its turn, behind those of many others: it is sent.
 */
TEST_F(hold, late_failure_of_an_attempt_is_not_that_of_the_next)
{
	int i;

	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	ASSERT_EQ(0, umad_write_sysfs(FAIL_WC, "nth 1"));
	self->msg.hdr.retries = 1;
	self->msg.hdr.timeout_ms = 300;
	self->msg.mad.tid = htobe64(1000);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	self->msg.hdr.timeout_ms = 280;
	for (i = 1; i <= 500; i++) {
		self->msg.mad.tid = htobe64(i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	sleep_ms(500);
	EXPECT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	/* The first attempt does not come, and the second does. */
	do {
		ASSERT_LE(0, raw_read(self->raw, &self->frame, PATIENCE));
	} while (frame_tid(&self->frame) != 1000);
}

TEST_F(hold, agent_and_file_close_with_sends_in_flight)
{
	struct side_call call;
	int copy = dup(self->fd);

	send_held(_metadata, self, 20, PATIENCE);
	close(self->fd);
	side_start(&call, (void *(*)(void *))(void *)close,
		   (void *)(intptr_t)copy);
	side_done(&call, 500);
	EXPECT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	EXPECT_TRUE(side_done(&call, PATIENCE));
	side_join(&call);
	self->fd = -1;
}

static long module_refs(void)
{
	char text[32];

	if (umad_read_sysfs("/sys/module/ib_umad/refcnt", text, sizeof(text)))
		return -1;
	return strtol(text, NULL, 0);
}

/* Its sender is told that a message has ended with its file. */
static void leave_half_received(struct __test_metadata *_metadata, FIXTURE_DATA(hold) *self)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TABLE,
	};
	const struct rmpp_pkt pkt = rmpp_data_pkt(1, 5, 5 * RMPP_PAYLOAD);
	int fd = hwsim_open(DEVICE, 1, O_RDWR);

	ASSERT_LE(0, rmpp_register(fd, &agent));
	frame_init(&self->frame, CLASS_RMPP, METHOD_TABLE, 77);
	self->frame.slid = 5;
	self->frame.dlid = 1;
	rmpp_put(self->frame.mad, &pkt);
	mad_put_oui(self->frame.mad);
	ASSERT_EQ(0, raw_write(self->raw, &self->frame));
	/* The ACK. */
	ASSERT_LE(0, raw_read(self->raw, &self->frame, PATIENCE));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	close(fd);
	ASSERT_LE(0, raw_read(self->raw, &self->frame, PATIENCE));
	EXPECT_EQ(1, held());
}

/* Or a device that is removed meanwhile would take what unloading waits for with it. */
TEST_F(hold, module_is_not_unloaded_while_an_ABORT_is_under_way)
{
	unsigned int i;

	leave_half_received(_metadata, self);
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(-1, syscall(SYS_delete_module, "ib_umad", O_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(1, module_refs());
	EXPECT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	for (i = 0; i < 100 && module_refs(); i++)
		sleep_ms(10);
	EXPECT_EQ(0, module_refs());
}

/* As hardware that hangs: removal cannot end before the completions come. */
TEST_F(hold, removal_with_sends_in_flight)
{
	send_held(_metadata, self, 20, PATIENCE);
	side_start(&self->del, do_del, self);
	EXPECT_FALSE(side_done(&self->del, 1000));
	EXPECT_EQ(20, held());
	EXPECT_EQ(-ENODEV, raw_read(self->raw, &self->frame, PATIENCE));
	EXPECT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "0"));
	ASSERT_TRUE(side_done(&self->del, PATIENCE));
	EXPECT_EQ(0, self->del_ret);
	self->gone = true;
	EXPECT_EQ(-EIO, msg_read(self->fd, &self->got, PATIENCE));
}

/* Nor does it wait for ever: they are flushed. */
static void remove_and_flush(struct __test_metadata *_metadata, FIXTURE_DATA(hold) *self)
{
	side_start(&self->del, do_del, self);
	EXPECT_TRUE(side_done(&self->del, 2500));
	/* In-tree it would never end. */
	hwsim_set(DEVICE, 1, "hold_completions", "0");
	ASSERT_TRUE(side_done(&self->del, PATIENCE));
	EXPECT_EQ(0, self->del_ret);
	self->gone = true;
}

TEST_F(hold, removal_with_sends_that_never_complete)
{
	send_held(_metadata, self, 20, PATIENCE);
	remove_and_flush(_metadata, self);
	EXPECT_EQ(-EIO, msg_read(self->fd, &self->got, PATIENCE));
}

/* Nor for that of a file that is closed; without any, the port's device is gone meanwhile. */
TEST_F(hold, removal_with_an_ABORT_that_never_completes)
{
	leave_half_received(_metadata, self);
	close(self->fd);
	self->fd = -1;
	remove_and_flush(_metadata, self);
}

struct sleeper {
	struct side_call call;
	int fd;
	pid_t tid;
	int ret;
	struct ib_hwsim_frame frame;
};

static void *sleep_read(void *arg)
{
	struct sleeper *sleeper = arg;
	ssize_t n;

	__atomic_store_n(&sleeper->tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	n = read(sleeper->fd, &sleeper->frame, sizeof(sleeper->frame));
	sleeper->ret = n < 0 ? -errno : (int)n;
	return NULL;
}

TEST_F(hold, far_end_wakes_up_when_the_device_goes)
{
	struct pollfd pfd = { .fd = self->raw, .events = POLLIN };
	struct sleeper sleeper = { .fd = self->raw };

	side_start(&sleeper.call, sleep_read, &sleeper);
	while (!__atomic_load_n(&sleeper.tid, __ATOMIC_SEQ_CST))
		sleep_ms(1);
	ASSERT_TRUE(wait_asleep(sleeper.tid, 5000));
	ASSERT_EQ(0, hwsim_del(DEVICE));
	self->gone = true;
	EXPECT_TRUE(side_done(&sleeper.call, PATIENCE));
	side_kick(&sleeper.call, 5000);
	side_join(&sleeper.call);
	EXPECT_EQ(-ENODEV, sleeper.ret);
	EXPECT_EQ(1, poll(&pfd, 1, 0));
	EXPECT_EQ(POLLHUP, pfd.revents & POLLHUP);
	frame_init(&self->frame, CLASS_VENDOR1, METHOD_TEST, 1);
	EXPECT_EQ(-ENODEV, raw_write(self->raw, &self->frame));
}

/* Writes frames until told to stop. */
struct writer {
	struct side_call call;
	int fd;
	int stop;
	long done;
};

static void *keep_writing(void *arg)
{
	struct ib_hwsim_frame frame;
	struct writer *writer = arg;

	frame_init(&frame, CLASS_VENDOR1, METHOD_TEST, 1);
	frame.dlid = 1;
	while (!__atomic_load_n(&writer->stop, __ATOMIC_ACQUIRE)) {
		frame_mad(&frame)->tid = htobe64(++writer->done);
		raw_write(writer->fd, &frame);
	}
	return NULL;
}

static void *keep_sending(void *arg)
{
	struct writer *writer = arg;
	struct umad_msg msg = { 0 };

	msg.hdr.qpn = htobe32(1);
	msg.hdr.qkey = htobe32(GSI_QKEY);
	msg.hdr.lid = htobe16(1);
	msg.mad.base_version = 1;
	msg.mad.mgmt_class = CLASS_VENDOR1;
	msg.mad.class_version = 1;
	msg.mad.method = METHOD_SEND;
	do {
		msg.mad.tid = htobe64(++writer->done);
	} while (msg_write(writer->fd, &msg) != -EIO &&
		 !__atomic_load_n(&writer->stop, __ATOMIC_ACQUIRE));
	return NULL;
}

/* All ports' addresses are being resolved, and waited for at the same time. */
TEST(removal_waits_once_for_the_addresses_of_all_ports)
{
	struct writer sender[SLOW_PORTS] = { 0 };
	uint64_t begin, took;
	unsigned int i;

	ASSERT_EQ(0, hwsim_new(DEVICE, "ports=4 lid=1"));
	for (i = 0; i < SLOW_PORTS; i++) {
		sender[i].fd = hwsim_open(DEVICE, i + 1, O_RDWR);
		ASSERT_LE(0, sender[i].fd);
		ASSERT_EQ(0, umad_reg_client(sender[i].fd));
	}
	ASSERT_EQ(0, umad_write_sysfs(AH_MS, "1000"));
	for (i = 0; i < SLOW_PORTS; i++)
		side_start(&sender[i].call, keep_sending, &sender[i]);
	sleep_ms(200);
	begin = now_ms();
	EXPECT_EQ(0, hwsim_del(DEVICE));
	took = now_ms() - begin;
	EXPECT_GT(2000, took);
	/* They were under way indeed. */
	EXPECT_LT(400, took);
	for (i = 0; i < SLOW_PORTS; i++) {
		side_join(&sender[i].call);
		close(sender[i].fd);
	}
}

FIXTURE(churn) {
};

FIXTURE_SETUP(churn)
{
}

FIXTURE_TEARDOWN(churn)
{
}

/* Traffic from the far end and from the neighbour in the fabric. */
TEST_F_TIMEOUT(churn, devices_come_and_go_under_traffic, 180)
{
	struct writer writer = { 0 }, sender = { 0 };
	int round, fd;

	ASSERT_EQ(0, hwsim_new(PEER, "fabric=churn lid=2"));
	sender.fd = hwsim_open(PEER, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, sender.fd);
	ASSERT_EQ(0, umad_reg_client(sender.fd));
	side_start(&sender.call, keep_sending, &sender);
	for (round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, hwsim_new(DEVICE, "fabric=churn lid=1"));
		writer.fd = raw_attach(DEVICE, 1);
		ASSERT_LE(0, writer.fd);
		writer.stop = 0;
		side_start(&writer.call, keep_writing, &writer);
		fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
		ASSERT_LE(0, fd);
		EXPECT_EQ(0, umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST));
		EXPECT_EQ(1, umad_reg_server(fd, CLASS_VENDOR1, METHOD_SEND));
		sleep_ms(50);
		ASSERT_EQ(0, hwsim_del(DEVICE));
		close(fd);
		__atomic_store_n(&writer.stop, 1, __ATOMIC_RELEASE);
		side_join(&writer.call);
		close(writer.fd);
	}
	__atomic_store_n(&sender.stop, 1, __ATOMIC_RELEASE);
	side_join(&sender.call);
	close(sender.fd);
	EXPECT_EQ(0, hwsim_del(PEER));
}

TEST_HARNESS_MAIN
