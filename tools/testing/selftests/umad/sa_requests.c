// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many requests to an SA that is slow, silent, or loses some. From 6.17 on ib_core has
 * few requests of an agent out at once, and keeps the rest: each has to be sent and to
 * have its time all the same, and to be silent after it was reported. Where that flow
 * control is not, all go out at once.
 */
#include "kselftest_harness.h"
#include "rmpp_util.h"

#define MANY	1000
#define SOON	20000	/* ms: a guest under load, on the debug kernel */
/* ib_core's limit of an agent of this class: a 32nd of its receive queue. */
#define LIMIT	16

/* The SA: a file, and a thread that serves it. */
struct sa {
	int fd;
	pthread_t thread;
	bool stop;
	bool silent;
	unsigned int delay_ms;	/* for each answer, one after another */
	unsigned int lose;	/* of each so many the first copy */
	unsigned int arrived[2 * MANY];
	unsigned int total;
	unsigned int highest;
	unsigned int overtaken;
};

FIXTURE(sa) {
	struct test_port port;
	int fd;			/* agent 0: of class SA, with RMPP */
	struct sa sa;
	struct umad_msg msg;
	struct umad_msg got;
	unsigned int answered;
	unsigned int timed_out;
	unsigned int unsent;	/* not at the SA when they were reported */
	unsigned int at_report;	/* copies that were there then */
	uint64_t start;
};

/* Has the kernel or the module told ib_core's limit to be kept? */
static bool has_flow_control(void)
{
	char value[16];

	if (!umad_read_file("/sys/module/ib_umad/parameters/flow_control", value,
			    sizeof(value)))
		return atoi(value);
	return kernel_from(6, 17);
}

static unsigned int get(const unsigned int *value)
{
	return __atomic_load_n(value, __ATOMIC_ACQUIRE);
}

/* What has arrived: count it; true: it is to be answered. */
static bool sa_take(struct sa *sa, const struct umad_msg *msg)
{
	unsigned int tid = msg_tid(msg), copies;

	if (tid >= 2 * MANY)
		return false;
	copies = __atomic_add_fetch(&sa->arrived[tid], 1, __ATOMIC_ACQ_REL);
	__atomic_add_fetch(&sa->total, 1, __ATOMIC_ACQ_REL);
	if (copies == 1 && tid < sa->highest)
		sa->overtaken++;
	if (tid > sa->highest)
		sa->highest = tid;
	return !sa->silent && !(sa->lose && copies == 1 && tid % sa->lose == 0);
}

static void *sa_serve(void *arg)
{
	struct umad_msg msg, reply;
	struct sa *sa = arg;

	while (!__atomic_load_n(&sa->stop, __ATOMIC_ACQUIRE)) {
		if (msg_read(sa->fd, &msg, 20) != MSG_LEN || !sa_take(sa, &msg))
			continue;
		if (sa->delay_ms)
			sleep_ms(sa->delay_ms);
		msg_reply(&reply, &msg, 0);
		msg_write(sa->fd, &reply);
	}
	return NULL;
}

static void sa_start(struct __test_metadata *_metadata, struct sa *sa)
{
	ASSERT_EQ(0, pthread_create(&sa->thread, NULL, sa_serve, sa));
}

static void sa_stop(struct sa *sa)
{
	__atomic_store_n(&sa->stop, true, __ATOMIC_RELEASE);
	if (sa->thread)
		pthread_join(sa->thread, NULL);
	sa->thread = 0;
}

/* Has it so many MADs by @end? */
static bool sa_has(const struct sa *sa, unsigned int total, uint64_t end)
{
	while (get(&sa->total) < total && now_ms() < end)
		sleep_ms(5);
	return get(&sa->total) >= total;
}

FIXTURE_SETUP(sa)
{
	const struct rmpp_agent client = { .mgmt_class = CLASS_SA, .rmpp_version = 1 };

	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, rmpp_register(self->fd, &client));
	self->sa.fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->sa.fd);
	ASSERT_EQ(0, umad_reg_server(self->sa.fd, CLASS_SA, METHOD_TEST));
	msg_init(&self->msg, &self->port, 0, CLASS_SA, METHOD_TEST, 1);
}

FIXTURE_TEARDOWN(sa)
{
	sa_stop(&self->sa);
	close(self->fd);
	close(self->sa.fd);
}

/* So many requests at once, with TIDs from @first on. */
static void ask(struct __test_metadata *_metadata, FIXTURE_DATA(sa) *self,
		unsigned int first, unsigned int n, unsigned int timeout_ms,
		unsigned int retries)
{
	unsigned int i;

	self->start = now_ms();
	self->msg.hdr.timeout_ms = timeout_ms;
	self->msg.hdr.retries = retries;
	for (i = 0; i < n; i++) {
		self->msg.mad.tid = htobe64(first + i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg)) {
			TH_LOG("write %u", i);
		}
	}
}

/* Each of them ends once. */
static void collect(struct __test_metadata *_metadata, FIXTURE_DATA(sa) *self,
		    unsigned int n)
{
	static uint8_t ended[2 * MANY];
	unsigned int i, tid, copies;

	memset(ended, 0, sizeof(ended));
	for (i = 0; i < n; i++) {
		ASSERT_LT(0, msg_read(self->fd, &self->got, SOON)) {
			TH_LOG("only %u of %u ended", i, n);
		}
		tid = msg_tid(&self->got);
		ASSERT_GT(2 * MANY, tid);
		EXPECT_EQ(1, ++ended[tid]);
		if (!self->got.hdr.status) {
			self->answered++;
			continue;
		}
		EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
		copies = get(&self->sa.arrived[tid]);
		self->timed_out++;
		self->unsent += !copies;
		self->at_report += copies;
	}
	TH_LOG("%u answered, %u timed out, %u of them before they were sent; last after %u ms",
	       self->answered, self->timed_out, self->unsent,
	       (unsigned int)(now_ms() - self->start));
}

/* Nothing else ends, and nothing else is sent. */
static void expect_silence(struct __test_metadata *_metadata, FIXTURE_DATA(sa) *self)
{
	sleep_ms(1500);
	EXPECT_EQ(self->at_report, get(&self->sa.total)) {
		TH_LOG("%u left after they were reported",
		       get(&self->sa.total) - self->at_report);
	}
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 0));
}

/* 16 wait for 320 ms, 100 for two seconds. */
TEST_F_TIMEOUT(sa, slow_one_is_given_time_for_each_of_100, 120)
{
	self->sa.delay_ms = 20;
	ask(_metadata, self, 0, 100, 1000, 0);
	sa_start(_metadata, &self->sa);
	collect(_metadata, self, 100);
	if (has_flow_control())
		EXPECT_EQ(100, self->answered);
	EXPECT_LT(20, self->answered);
}

TEST_F_TIMEOUT(sa, slow_one_is_given_time_for_each_of_1000, 120)
{
	self->sa.delay_ms = 3;
	sa_start(_metadata, &self->sa);
	ask(_metadata, self, 0, MANY, 400, 0);
	collect(_metadata, self, MANY);
	if (has_flow_control())
		EXPECT_EQ(MANY, self->answered);
	EXPECT_LT(LIMIT, self->answered);
}

TEST_F_TIMEOUT(sa, silent_one_gets_each_of_100_before_it_is_reported, 120)
{
	self->sa.silent = true;
	sa_start(_metadata, &self->sa);
	ask(_metadata, self, 0, 100, 500, 0);
	collect(_metadata, self, 100);
	EXPECT_EQ(100, self->timed_out);
	EXPECT_EQ(0, self->unsent);
	EXPECT_EQ(0, self->sa.overtaken);
	expect_silence(_metadata, self);
	EXPECT_EQ(100, self->sa.total);
}

/* Without flow control the receive queue may be too short for so many. */
TEST_F_TIMEOUT(sa, silent_one_gets_each_of_1000_before_it_is_reported, 240)
{
	self->sa.silent = true;
	sa_start(_metadata, &self->sa);
	ask(_metadata, self, 0, MANY, 200, 0);
	collect(_metadata, self, MANY);
	EXPECT_EQ(MANY, self->timed_out);
	expect_silence(_metadata, self);
	if (!has_flow_control())
		return;
	EXPECT_EQ(0, self->unsent);
	EXPECT_EQ(0, self->sa.overtaken);
	EXPECT_EQ(MANY, self->sa.total);
}

TEST_F_TIMEOUT(sa, silent_one_gets_each_copy_of_100, 120)
{
	unsigned int took;

	self->sa.silent = true;
	sa_start(_metadata, &self->sa);
	ask(_metadata, self, 0, 100, 300, 2);
	collect(_metadata, self, 100);
	took = now_ms() - self->start;
	EXPECT_EQ(100, self->timed_out);
	EXPECT_EQ(300, self->at_report);
	expect_silence(_metadata, self);
	/* Seven times 16 of them, one after another. */
	EXPECT_GT(has_flow_control() ? 9500 : 2500, took);
}

TEST_F_TIMEOUT(sa, losing_one_answers_all_of_1000_in_the_end, 120)
{
	self->sa.lose = 3;
	sa_start(_metadata, &self->sa);
	ask(_metadata, self, 0, MANY, 400, 3);
	collect(_metadata, self, MANY);
	if (has_flow_control())
		EXPECT_EQ(MANY, self->answered);
	EXPECT_LT(MANY / 2, self->answered);
	sleep_ms(1000);
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 0));
}

/* What was given up is listened for, but in no other's place. */
TEST_F_TIMEOUT(sa, given_up_ones_are_in_the_way_of_no_others, 120)
{
	self->sa.silent = true;
	sa_start(_metadata, &self->sa);
	ask(_metadata, self, 0, LIMIT, 300, 0);
	collect(_metadata, self, LIMIT);
	EXPECT_EQ(LIMIT, self->timed_out);
	ask(_metadata, self, LIMIT, LIMIT, 3000, 0);
	EXPECT_TRUE(sa_has(&self->sa, 2 * LIMIT, self->start + 900)) {
		TH_LOG("%u of %u were sent", get(&self->sa.total) - LIMIT, LIMIT);
	}
}

/* Nor when more are given up than there are places. */
TEST_F_TIMEOUT(sa, given_up_ones_are_in_the_way_of_none_that_wait, 120)
{
	self->sa.silent = true;
	sa_start(_metadata, &self->sa);
	ask(_metadata, self, 0, 4 * LIMIT, 300, 0);
	/* Four times 300 ms, an eighth late each, for a place each. */
	EXPECT_TRUE(sa_has(&self->sa, 4 * LIMIT, self->start + 1700)) {
		TH_LOG("%u were sent", get(&self->sa.total));
	}
	collect(_metadata, self, 4 * LIMIT);
}

/* A message of five segments to @peer, which serves METHOD_TABLE, and its answer. */
static void exchange(struct __test_metadata *_metadata, FIXTURE_DATA(sa) *self,
		     int peer, unsigned int *there, unsigned int *back)
{
	struct rmpp_msg msg = {}, got = {};
	struct umad_msg req, reply;
	uint64_t start = now_ms();

	rmpp_msg_init(&msg, &self->port, HDR_NEW, 0, CLASS_SA, METHOD_TABLE, 2 * MANY,
		      5 * 200, 1);
	rmpp_user_hdr(&msg)->timeout_ms = 5000;
	rmpp_user_hdr(&msg)->retries = 3;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &msg));
	ASSERT_LT(0, rmpp_msg_read(peer, &got, HDR_NEW, SOON));
	*there = now_ms() - start;
	EXPECT_TRUE(rmpp_msg_has(&got, 5 * 200, 1));

	memcpy(&req, got.buf, MSG_LEN);
	req.data[26] = 0;
	msg_reply(&reply, &req, 0);
	start = now_ms();
	ASSERT_EQ(MSG_LEN, msg_write(peer, &reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	*back = now_ms() - start;
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(2 * MANY, msg_tid(&self->got));
	rmpp_msg_free(&msg);
	rmpp_msg_free(&got);
}

TEST_F_TIMEOUT(sa, message_does_not_wait_for_requests, 120)
{
	const struct rmpp_agent server = { .mgmt_class = CLASS_SA,
					   .method = METHOD_TABLE, .rmpp_version = 1 };
	int peer = umad_open(O_RDWR | O_NONBLOCK);
	unsigned int there = 0, back = 0;

	ASSERT_LE(0, peer);
	ASSERT_EQ(0, rmpp_register(peer, &server));
	self->sa.silent = true;
	sa_start(_metadata, &self->sa);
	ask(_metadata, self, 0, 100, 30000, 0);
	exchange(_metadata, self, peer, &there, &back);
	TH_LOG("delivered after %u ms, answered %u ms later", there, back);
	EXPECT_GT(120, there);
	EXPECT_GT(120, back);
	close(peer);
}

/* Nor do segments of an application that does RMPP by itself. */
TEST_F_TIMEOUT(sa, segments_of_an_application_do_not_wait_for_requests, 120)
{
	const struct rmpp_agent agent = { .mgmt_class = CLASS_SA, .rmpp_version = 1,
					  .flags = IB_USER_MAD_USER_RMPP };
	struct rmpp_pkt pkt = { .version = 1, .type = RMPP_DATA, .flags = RMPP_ACTIVE };
	unsigned int seg;

	ASSERT_EQ(1, rmpp_register(self->fd, &agent));
	self->sa.silent = true;
	sa_start(_metadata, &self->sa);
	self->msg.hdr.id = 1;
	ask(_metadata, self, 0, LIMIT, 30000, 0);
	ASSERT_TRUE(sa_has(&self->sa, LIMIT, self->start + SOON));
	self->msg.mad.tid = htobe64(MANY);
	self->start = now_ms();
	for (seg = 1; seg <= 20; seg++) {
		pkt.seg = seg;
		rmpp_put(self->msg.data, &pkt);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	EXPECT_TRUE(sa_has(&self->sa, LIMIT + 20, self->start + 900)) {
		TH_LOG("%u of 20 were sent", get(&self->sa.total) - LIMIT);
	}
}

/* One application's requests are not in the way of another's. */
TEST_F_TIMEOUT(sa, requests_of_another_agent_do_not_wait, 120)
{
	const struct rmpp_agent agent = { .mgmt_class = CLASS_SA, .rmpp_version = 1 };

	ASSERT_EQ(1, rmpp_register(self->fd, &agent));
	self->sa.silent = true;
	sa_start(_metadata, &self->sa);
	ask(_metadata, self, 0, 100, 30000, 0);
	ASSERT_TRUE(sa_has(&self->sa, LIMIT, self->start + SOON));
	sleep_ms(500);
	self->msg.hdr.id = 1;
	ask(_metadata, self, MANY, 1, 30000, 0);
	while (!get(&self->sa.arrived[MANY]) && now_ms() < self->start + 300)
		sleep_ms(5);
	EXPECT_EQ(1, get(&self->sa.arrived[MANY]));
}

static void *do_unreg(void *arg)
{
	FIXTURE_DATA(sa) *self = arg;

	return (void *)(intptr_t)umad_unreg(self->fd, 0);
}

static void *do_close(void *arg)
{
	FIXTURE_DATA(sa) *self = arg;

	return (void *)(intptr_t)close(self->fd);
}

/* What has not been sent goes with the agent, soon, and is not sent after that. */
static void end(struct __test_metadata *_metadata, FIXTURE_DATA(sa) *self,
		void *(*fn)(void *arg))
{
	struct side_call call;
	unsigned int sent;

	self->sa.silent = true;
	sa_start(_metadata, &self->sa);
	ask(_metadata, self, 0, 2 * MANY, -1, 0);
	ASSERT_TRUE(sa_has(&self->sa, LIMIT, self->start + SOON));
	self->start = now_ms();
	side_start(&call, fn, self);
	ASSERT_TRUE(side_done(&call, SOON));
	side_join(&call);
	TH_LOG("%u requests ended in %u ms", 2 * MANY, (unsigned int)(now_ms() - self->start));
	EXPECT_GT(2000, now_ms() - self->start);
	/* What is under way still arrives. */
	sleep_ms(500);
	sent = get(&self->sa.total);
	if (has_flow_control())
		EXPECT_EQ(LIMIT, sent);
	sleep_ms(1000);
	EXPECT_EQ(sent, get(&self->sa.total));
}

TEST_F_TIMEOUT(sa, unregistering_ends_2000, 120)
{
	end(_metadata, self, do_unreg);
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 0));
}

TEST_F_TIMEOUT(sa, closing_ends_2000, 120)
{
	end(_metadata, self, do_close);
	self->fd = -1;
}

TEST_HARNESS_MAIN
