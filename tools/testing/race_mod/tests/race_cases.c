// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Races with a name: found once, and forced here by stops. See race.h. */
#include "kselftest_harness.h"
#include "race.h"

#include <stdio.h>

#define PATIENCE	5000

FIXTURE(cases) {
	int fd;		/* agent 0: a client */
	int raw;
	bool gone;	/* the device */
	struct test_port port;
	struct side_call call;
	long ret;	/* of what @call has done */
	struct umad_msg msg, got;
	struct ib_hwsim_frame frame;
};

FIXTURE_SETUP(cases)
{
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=32"));
	ASSERT_EQ(0, hwsim_umad(DEVICE, 1, "umad", self->port.node,
				sizeof(self->port.node)));
	self->port.lid = FAR_LID;
	self->raw = raw_attach(DEVICE, 1);
	ASSERT_LE(0, self->raw);
	self->fd = hwsim_client(DEVICE, 1);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(cases)
{
	unsigned int i;

	for (i = 0; i <= SIDES; i++)
		stop_release(i);
	side_join(&self->call);
	close(self->fd);
	close(self->raw);
	if (!self->gone)
		EXPECT_EQ(0, hwsim_del(DEVICE));
}

static int send_request(FIXTURE_DATA(cases) *self, uint32_t tid,
			unsigned int timeout_ms, unsigned int retries)
{
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, tid);
	self->msg.hdr.grh_present = 0;
	self->msg.hdr.timeout_ms = timeout_ms;
	self->msg.hdr.retries = retries;
	return msg_write(self->fd, &self->msg);
}

/* As a line of ib_hwsim's "fail" says. */
static int fail_posts(const char *line)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_hwsim/hwsim%u/fail/post_send",
		 DEVICE);
	return umad_write_sysfs(path, line);
}

/* It comes back as the response. */
static int respond(FIXTURE_DATA(cases) *self, struct ib_hwsim_frame *frame)
{
	uint16_t lid = frame->slid;

	frame->slid = frame->dlid;
	frame->dlid = lid;
	frame_mad(frame)->method |= METHOD_RESP;
	return raw_write(self->raw, frame);
}

/* The next frame with this TID answers. */
static int answer(FIXTURE_DATA(cases) *self, uint32_t tid)
{
	struct ib_hwsim_frame *frame = &self->frame;
	int ret;

	do {
		ret = raw_read(self->raw, frame, PATIENCE);
		if (ret <= 0)
			return ret ? ret : -ETIME;
	} while ((uint32_t)be64toh(frame_mad(frame)->tid) != tid);
	return respond(self, frame);
}

/*
 * Two requests are due again, and one attempt of a file may be in the send queue.
 * It is answered when the work that has posted it looks for turns no more. The
 * other has its turn then, not at the next deadline: an hour later.
 */
TEST_F_TIMEOUT(cases, turn_is_not_put_off_to_a_far_deadline, 60)
{
	ASSERT_EQ(MSG_LEN, send_request(self, 1, 3600 * 1000, 3));
	ASSERT_EQ(0, stop_arm(0, "ib_umad:deadline_turn entry", "ms=500"));
	ASSERT_EQ(0, stop_arm(1, "ib_umad:deadline_run entry", "ms=5000"));
	ASSERT_EQ(MSG_LEN, send_request(self, 2, 200, 3));
	ASSERT_EQ(MSG_LEN, send_request(self, 3, 200, 3));
	ASSERT_TRUE(stop_wait(1, "parked", PATIENCE));
	ASSERT_EQ(0, answer(self, 2));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, PATIENCE));
	ASSERT_EQ(2, msg_tid(&self->got));
	sleep_ms(50);
	ASSERT_TRUE(stop_is(1, "parked"));
	stop_release(1);
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 2 * PATIENCE));
	ASSERT_EQ(3, msg_tid(&self->got));
	ASSERT_EQ(ETIMEDOUT, self->got.hdr.status);
}

/* The task that queues what is read is stopped before it does anything else. */
TEST_F(cases, what_has_been_read_is_counted)
{
	long timed_out = umad_counter(&self->port, "send_timed_out");
	long delivered = umad_counter(&self->port, "recv_delivered");

	ASSERT_LE(0, timed_out);
	ASSERT_EQ(0, stop_arm(0, "ib_umad:umad_rxq_wake return", NULL));
	ASSERT_EQ(MSG_LEN, send_request(self, 1, 50, 0));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, PATIENCE));
	EXPECT_EQ(timed_out + 1, umad_counter(&self->port, "send_timed_out"));
	ASSERT_TRUE(stop_wait(0, "over", PATIENCE));

	ASSERT_EQ(0, stop_arm(0, "ib_umad:umad_rxq_wake return", NULL));
	ASSERT_EQ(MSG_LEN, send_request(self, 2, PATIENCE, 0));
	ASSERT_EQ(0, answer(self, 2));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, PATIENCE));
	EXPECT_EQ(delivered + 1, umad_counter(&self->port, "recv_delivered"));
	ASSERT_TRUE(stop_wait(0, "over", PATIENCE));
}

/* The post fails when the deadline has come already. */
TEST_F(cases, what_read_has_reported_write_does_not)
{
	ASSERT_EQ(0, stop_arm(0, "ib_core:ib_post_send_mad entry", "ms=500"));
	ASSERT_EQ(0, fail_posts("nth 1"));
	EXPECT_EQ(MSG_LEN, send_request(self, 1, 100, 0));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, PATIENCE));
	EXPECT_EQ(1, msg_tid(&self->got));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 300));
	ASSERT_TRUE(stop_wait(0, "over", PATIENCE));
}

static void *do_close(void *arg)
{
	FIXTURE_DATA(cases) *self = arg;

	self->ret = close(self->fd);
	self->fd = -1;
	return NULL;
}

#define FLOW_CONTROL	"/sys/module/ib_umad/parameters/flow_control"

static void *do_unreg(void *arg)
{
	FIXTURE_DATA(cases) *self = arg;

	self->ret = umad_unreg(self->fd, self->msg.hdr.id);
	return NULL;
}

/* With flow_control=8 two of these three have a place, the third waits for one. */
static void fill_places(struct __test_metadata *_metadata, FIXTURE_DATA(cases) *self,
			int id, uint32_t timeout_ms)
{
	uint32_t tid;

	msg_init(&self->msg, &self->port, id, CLASS_SA, METHOD_TEST, 0);
	self->msg.hdr.grh_present = 0;
	self->msg.hdr.timeout_ms = timeout_ms;
	for (tid = 1; tid <= 3; tid++) {
		self->msg.mad.tid = htobe64(tid);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
}

/* Three requests of an agent with two places; the third has one, and is stopped there. */
static void end_in_backlog(struct __test_metadata *_metadata, FIXTURE_DATA(cases) *self,
			   const char *point)
{
	int id = umad_reg_client(self->fd);

	ASSERT_LE(0, id);
	ASSERT_EQ(0, stop_arm(0, point, "ms=5000"));
	fill_places(_metadata, self, id, 200);
	ASSERT_TRUE(stop_wait(0, "parked", PATIENCE));
	side_start(&self->call, do_unreg, self);
	EXPECT_FALSE(side_done(&self->call, 200));
	stop_release(0);
	EXPECT_TRUE(side_done(&self->call, PATIENCE));
	side_join(&self->call);
	EXPECT_EQ(0, self->ret);
	while (msg_read(self->fd, &self->got, 0) > 0)
		EXPECT_NE(3, msg_tid(&self->got));
}

/* Unregistering waits for the work that posts what has waited for a place. */
TEST_F_TIMEOUT(cases, agent_ends_while_its_backlog_is_posted, 60)
{
	char old[16];

	ASSERT_EQ(0, umad_read_sysfs(FLOW_CONTROL, old, sizeof(old)));
	ASSERT_EQ(0, umad_write_sysfs(FLOW_CONTROL, "8"));
	end_in_backlog(_metadata, self, "post_backlogged lock1");
	end_in_backlog(_metadata, self, "post_backlogged post1");
	EXPECT_EQ(0, umad_write_sysfs(FLOW_CONTROL, old));
}

static void *do_remove(void *arg)
{
	FIXTURE_DATA(cases) *self = arg;

	self->ret = hwsim_del(DEVICE);
	self->gone = true;
	return NULL;
}

/*
 * An expired request gives way to one that waits for a place, but has none itself: it is
 * of a class that needs none. Its address handle goes before the device does.
 */
TEST_F_TIMEOUT(cases, removal_waits_for_expired_requests_that_give_way, 60)
{
	char old[16];
	int id;

	ASSERT_EQ(0, umad_read_sysfs(FLOW_CONTROL, old, sizeof(old)));
	ASSERT_EQ(0, umad_write_sysfs(FLOW_CONTROL, "8"));
	id = umad_reg_client(self->fd);
	EXPECT_EQ(0, umad_write_sysfs(FLOW_CONTROL, old));
	ASSERT_LE(0, id);
	ASSERT_EQ(0, stop_arm(0, "ib_umad:umad_request_backlog_work entry", "ms=5000"));
	fill_places(_metadata, self, id, -1);
	msg_init(&self->msg, &self->port, id, CLASS_VENDOR1, METHOD_TEST, 4);
	self->msg.hdr.grh_present = 0;
	self->msg.hdr.timeout_ms = 50;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_TRUE(stop_wait(0, "parked", PATIENCE));
	ASSERT_LT(0, msg_read(self->fd, &self->got, PATIENCE));
	sleep_ms(100);
	/* What is taken back from ib_core goes last otherwise. */
	ASSERT_EQ(0, stop_arm(1, "attempt_ended lock1", "ms=5000"));
	ASSERT_EQ(0, stop_arm(2, "umad_request_unlock unlock1", "ms=5000"));
	stop_release(0);
	ASSERT_TRUE(stop_wait(1, "parked", PATIENCE));
	ASSERT_TRUE(stop_wait(2, "parked", PATIENCE));
	stop_release(1);
	side_start(&self->call, do_remove, self);
	EXPECT_FALSE(side_done(&self->call, 500));
	stop_release(2);
	EXPECT_TRUE(side_done(&self->call, PATIENCE));
	side_join(&self->call);
	EXPECT_EQ(0, self->ret);
}

/*
 * What came could not be charged, and a work reclaims for the cgroup: that may take
 * long, and the file can be closed meanwhile.
 */
TEST_F(cases, close_waits_for_no_reclaim)
{
	ASSERT_EQ(0, stop_arm(0, "umad_reserve_alloc alloc1", "fail=0"));
	ASSERT_EQ(0, stop_arm(1, "refill_work alloc1", "ms=20000"));
	ASSERT_EQ(MSG_LEN, send_request(self, 1, PATIENCE, 0));
	ASSERT_EQ(0, answer(self, 1));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, PATIENCE));
	ASSERT_TRUE(stop_wait(1, "parked", PATIENCE));
	side_start(&self->call, do_close, self);
	EXPECT_TRUE(side_done(&self->call, PATIENCE));
	EXPECT_TRUE(stop_is(1, "parked"));
	stop_release(1);
	side_join(&self->call);
	EXPECT_EQ(0, self->ret);
}

/* The same, but the work has not begun: it need not, and is not left behind. */
TEST_F(cases, close_cancels_what_would_reclaim)
{
	uint64_t begin = now_ms();

	ASSERT_EQ(0, stop_arm(0, "umad_reserve_alloc alloc1", "fail=0"));
	ASSERT_EQ(0, stop_arm(1, "refill_work alloc1", "ms=500"));
	ASSERT_EQ(MSG_LEN, send_request(self, 1, PATIENCE, 0));
	ASSERT_EQ(0, answer(self, 1));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, PATIENCE));
	do_close(self);
	/* It begins after 100 ms, so a guest that was held up shows nothing. */
	if (now_ms() - begin < 90)
		EXPECT_FALSE(stop_wait(1, "parked", 500));
}

static void *do_open(void *arg)
{
	FIXTURE_DATA(cases) *self = arg;

	self->ret = umad_open_node(self->port.node, O_RDWR);
	return NULL;
}

static void *do_register(void *arg)
{
	FIXTURE_DATA(cases) *self = arg;

	self->ret = umad_reg_client(self->fd);
	return NULL;
}

/* What @call allocates is charged, which may take long: removal does not wait. */
static void removal_beside(struct __test_metadata *_metadata,
			   FIXTURE_DATA(cases) *self,
			   void *(*call)(void *arg), const char *point)
{
	uint64_t begin;

	ASSERT_EQ(0, stop_arm(0, point, "ms=5000"));
	side_start(&self->call, call, self);
	ASSERT_TRUE(stop_wait(0, "parked", PATIENCE));
	begin = now_ms();
	EXPECT_EQ(0, hwsim_del(DEVICE));
	self->gone = true;
	EXPECT_GT(3000, now_ms() - begin);
	EXPECT_TRUE(stop_is(0, "parked"));
	stop_release(0);
	side_join(&self->call);
}

TEST_F(cases, removal_waits_for_no_memory_of_open)
{
	removal_beside(_metadata, self, do_open, "umad_file_create alloc1");
	EXPECT_EQ(-ENXIO, self->ret);
}

TEST_F(cases, removal_waits_for_no_memory_of_register)
{
	removal_beside(_metadata, self, do_register,
		       "umad_agent_create alloc1");
	EXPECT_EQ(-EPIPE, self->ret);
}

/* Where hidden.c remembers that a TID has timed out, and what it tells those of a place by. */
static uint32_t early_place(uint32_t tid, uint8_t *tag)
{
	uint32_t hash = tid * 0x61c88647u >> 9;

	*tag = hash | 1;
	return hash >> 8 & 1023;
}

/* Another TID of the same place. */
static uint32_t beside(uint32_t tid)
{
	uint32_t other = tid, place;
	uint8_t tag, of_other;

	place = early_place(tid, &tag);
	do {
		other++;
	} while (early_place(other, &of_other) != place || of_other == tag);
	return other;
}

#define AGENT_MAX	512	/* requests, before others wait with a hidden agent */

/*
 * The response to a request that has timed out is one to the next of its TID, which waits with
 * a hidden agent, as the other's place is forgotten. Unregistering ends that agent while the
 * handler of the agent itself still has the request.
 */
TEST_F_TIMEOUT(cases, agent_ends_while_it_handles_what_a_hidden_one_has_sent, 60)
{
	struct ib_hwsim_frame late = {};
	uint32_t tid;

	ASSERT_EQ(MSG_LEN, send_request(self, beside(1), 600, 0));
	ASSERT_EQ(MSG_LEN, send_request(self, 1, 100, 0));
	while ((uint32_t)be64toh(frame_mad(&late)->tid) != 1)
		ASSERT_LT(0, raw_read(self->raw, &late, PATIENCE));
	for (tid = 0; tid < 2; tid++)
		ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, PATIENCE));
	for (tid = 0; tid < AGENT_MAX; tid++)
		ASSERT_EQ(MSG_LEN, send_request(self, 1000000 + tid, -1, 0));
	ASSERT_EQ(MSG_LEN, send_request(self, 1, -1, 0));
	ASSERT_EQ(0, stop_arm(0, "ib_umad:umad_rxq_wake entry", "ms=5000"));
	ASSERT_EQ(0, respond(self, &late));
	ASSERT_TRUE(stop_wait(0, "parked", PATIENCE));
	self->msg.hdr.id = 0;
	side_start(&self->call, do_unreg, self);
	EXPECT_FALSE(side_done(&self->call, 500));
	stop_release(0);
	EXPECT_TRUE(side_done(&self->call, PATIENCE));
	side_join(&self->call);
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 0));
	EXPECT_EQ(1, msg_tid(&self->got));
	EXPECT_EQ(0, self->got.hdr.status);
}

TEST_HARNESS_MAIN
