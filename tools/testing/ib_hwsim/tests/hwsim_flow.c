// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that wait for a place in ib_core, with few places: which agents have how many,
 * who gets one when, and how a request ends that has none yet. The far end of the wire
 * sees what has left.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"
#include "rmpp_util.h"

#include <stdio.h>

#define DEVICE		33
#define LID		0x20
#define PEER		0x99
#define SOON		5000	/* ms; for what has to happen */
#define WHILE		300	/* ms; for what must not */
#define CLASS_CM	0x07
/* Of a receive queue of 64: an agent of class SA has two places. */
#define QUEUE		64
#define PLACES		2

FIXTURE(flow) {
	int fd;		/* agent 0: of class SA, with RMPP */
	int wire;
	long flow_control, max_sends;
	struct umad_msg msg, got;
	struct ib_hwsim_frame frame, seen;
};

FIXTURE_SETUP(flow)
{
	const struct rmpp_agent agent = { .mgmt_class = CLASS_SA, .rmpp_version = 1 };

	self->flow_control = rmpp_param_set("flow_control", QUEUE);
	ASSERT_LE(0, self->flow_control);
	self->max_sends = rmpp_param_set("max_sends", 100000);
	ASSERT_LE(0, self->max_sends);
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20"));
	self->wire = raw_attach(DEVICE, 1);
	ASSERT_LE(0, self->wire);
	self->fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, rmpp_register(self->fd, &agent));
}

FIXTURE_TEARDOWN(flow)
{
	close(self->fd);
	close(self->wire);
	EXPECT_EQ(0, hwsim_del(DEVICE));
	rmpp_param_set("flow_control", self->flow_control);
	rmpp_param_set("max_sends", self->max_sends);
}

/* A request of this class; what write() returns. */
static int ask(FIXTURE_DATA(flow) *self, uint32_t id, uint8_t mgmt_class, uint32_t tid,
	       uint32_t timeout_ms, uint32_t retries)
{
	const struct test_port peer = { .lid = PEER };
	struct umad_msg *msg = &self->msg;

	msg_init(msg, &peer, id, mgmt_class, METHOD_TEST, tid);
	msg->hdr.grh_present = 0;
	if (mgmt_class == CLASS_SMI_LID) {
		msg->hdr.qpn = 0;
		msg->hdr.qkey = 0;
		msg->mad.method = METHOD_SET;
		msg->mad.attr_id = htobe16(ATTR_PORT_INFO);
	}
	msg->hdr.timeout_ms = timeout_ms;
	msg->hdr.retries = retries;
	return msg_write(self->fd, msg);
}

/* So many to the SA, with TIDs from @first on. */
static void ask_sa(struct __test_metadata *_metadata, FIXTURE_DATA(flow) *self,
		   uint32_t first, uint32_t n, uint32_t timeout_ms, uint32_t retries)
{
	for (; n; n--, first++)
		ASSERT_EQ(MSG_LEN, ask(self, 0, CLASS_SA, first, timeout_ms, retries));
}

/* The TID of the next that leaves, or a negative errno. */
static int64_t see(FIXTURE_DATA(flow) *self, int wait_ms)
{
	int ret = raw_read(self->wire, &self->seen, wait_ms);

	return ret < 0 ? ret : (int64_t)(uint32_t)be64toh(frame_mad(&self->seen)->tid);
}

/* What answers, or seems to answer, the one seen last. */
static int inject(FIXTURE_DATA(flow) *self, const struct rmpp_pkt *pkt)
{
	struct ib_hwsim_frame *frame = &self->frame;

	frame_init(frame, CLASS_SA, METHOD_TEST | METHOD_RESP,
		   be64toh(frame_mad(&self->seen)->tid));
	frame_mad(frame)->class_version = 2;
	frame->slid = PEER;
	frame->dlid = LID;
	memset(frame->mad + MAD_HDR_LEN, 0, RMPP_HDR - MAD_HDR_LEN);
	if (pkt)
		rmpp_put(frame->mad, pkt);
	return raw_write(self->wire, frame);
}

/* This one ends, timed out or answered. */
static void expect_end(struct __test_metadata *_metadata, FIXTURE_DATA(flow) *self,
		       uint32_t tid, uint32_t status)
{
	ASSERT_LT(0, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(tid, msg_tid(&self->got));
	EXPECT_EQ(status, self->got.hdr.status);
}

/* Of so many requests of this class: how many leave. */
static unsigned int count_places(struct __test_metadata *_metadata, FIXTURE_DATA(flow) *self,
				 int id, uint8_t mgmt_class, unsigned int requests)
{
	unsigned int tid, n;

	for (tid = 0; tid < requests; tid++)
		ASSERT_EQ(MSG_LEN, ask(self, id, mgmt_class, tid, -1, 0));
	for (n = 0; see(self, WHILE) >= 0; n++)
		;
	return n;
}

TEST_F(flow, places_are_those_of_ib_core)
{
	static const struct {
		uint8_t mgmt_class, sent;
		uint32_t qpn, places;
	} agents[] = {
		{ CLASS_SA, CLASS_SA, 1, QUEUE / 32 },
		{ CLASS_SA, CLASS_VENDOR1, 1, 40 },
		{ CLASS_CM, CLASS_CM, 1, QUEUE / 4 },
		{ CLASS_SMI_LID, CLASS_SMI_LID, 0, QUEUE / 4 },
		{ 0, CLASS_SA, 1, QUEUE / 4 },
		{ CLASS_BM, CLASS_SA, 1, 40 },
	};
	struct ib_user_mad_reg_req2 req;
	unsigned int i;
	int id;

	for (i = 0; i < sizeof(agents) / sizeof(*agents); i++) {
		reg_init(&req, agents[i].mgmt_class, agents[i].mgmt_class == CLASS_SA ||
			 agents[i].mgmt_class == CLASS_CM ? 2 : 1);
		req.qpn = agents[i].qpn;
		id = umad_reg2(self->fd, &req);
		ASSERT_LE(0, id);
		EXPECT_EQ(agents[i].places,
			  count_places(_metadata, self, id, agents[i].sent, 40)) {
			TH_LOG("agent of class %u", agents[i].mgmt_class);
		}
		EXPECT_EQ(0, umad_unreg(self->fd, id));
	}
}

TEST_F(flow, shortest_queue_has_a_place)
{
	struct ib_user_mad_reg_req2 req;
	int id;

	ASSERT_LE(0, rmpp_param_set("flow_control", 2));
	reg_init(&req, CLASS_SA, 2);
	id = umad_reg2(self->fd, &req);
	ASSERT_LE(0, id);
	EXPECT_EQ(1, count_places(_metadata, self, id, CLASS_SA, PLACES + 1));
}

TEST_F(flow, places_are_given_in_order)
{
	uint32_t tid;

	ask_sa(_metadata, self, 1, 50, 20000, 0);
	for (tid = 1; tid <= 50; tid++) {
		ASSERT_EQ(tid, see(self, SOON));
		if (tid < PLACES)
			continue;
		/* One is out, one is answered. */
		if (tid == PLACES)
			EXPECT_EQ(-ETIME, see(self, WHILE));
		ASSERT_EQ(0, inject(self, NULL));
		expect_end(_metadata, self, tid, 0);
	}
	EXPECT_EQ(-ETIME, see(self, 0));
}

/* Each has its time, and nobody hears of it before that is over. */
TEST_F(flow, time_begins_with_the_place)
{
	uint64_t start = now_ms();
	uint32_t tid;

	ask_sa(_metadata, self, 1, 6, 500, 0);
	for (tid = 1; tid <= 6; tid++) {
		expect_end(_metadata, self, tid, ETIMEDOUT);
		EXPECT_LE((tid - 1) / PLACES * 500 + 490, now_ms() - start);
		EXPECT_EQ(tid, see(self, 0));
	}
	EXPECT_EQ(-ETIME, see(self, WHILE));
}

/* At once, not when its time is up. */
TEST_F(flow, post_that_fails_is_reported)
{
	ask_sa(_metadata, self, 1, 2, 500, 0);
	ask_sa(_metadata, self, 3, 1, 20000, 0);
	ask_sa(_metadata, self, 4, 1, 500, 0);
	ASSERT_EQ(1, see(self, SOON));
	ASSERT_EQ(2, see(self, SOON));
	ASSERT_EQ(0, umad_write_sysfs("/sys/kernel/debug/ib_hwsim/hwsim33/fail/post_send",
				      "nth 1"));
	expect_end(_metadata, self, 1, ETIMEDOUT);
	/* The second expires in the same moment. */
	ASSERT_LT(0, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
	ASSERT_LT(0, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
	EXPECT_EQ(4, see(self, SOON));
	expect_end(_metadata, self, 4, ETIMEDOUT);
	EXPECT_EQ(-ETIME, see(self, WHILE));
}

TEST_F(flow, post_that_fails_is_an_attempt)
{
	ask_sa(_metadata, self, 1, 2, 300, 0);
	ask_sa(_metadata, self, 3, 1, 300, 2);
	ASSERT_EQ(1, see(self, SOON));
	ASSERT_EQ(2, see(self, SOON));
	ASSERT_EQ(0, umad_write_sysfs("/sys/kernel/debug/ib_hwsim/hwsim33/fail/post_send",
				      "nth 1"));
	EXPECT_EQ(3, see(self, SOON));
	ASSERT_EQ(0, inject(self, NULL));
	expect_end(_metadata, self, 1, ETIMEDOUT);
	expect_end(_metadata, self, 2, ETIMEDOUT);
	expect_end(_metadata, self, 3, 0);
}

TEST_F(flow, backlog_counts_in_max_sends_and_is_shown)
{
	char path[64], node[32], text[4096];

	rmpp_param_set("max_sends", 10);
	ask_sa(_metadata, self, 1, 10, -1, 0);
	EXPECT_EQ(-ENOBUFS, ask(self, 0, CLASS_SA, 11, -1, 0));
	/* Nor may there be two of one TID. */
	rmpp_param_set("max_sends", 20);
	EXPECT_EQ(-EINVAL, ask(self, 0, CLASS_SA, 7, -1, 0));
	ASSERT_EQ(0, hwsim_umad(DEVICE, 1, "umad", node, sizeof(node)));
	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_umad/%s/files", node);
	ASSERT_EQ(0, umad_read_file(path, text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, " outstanding 10 "));
	EXPECT_NE(NULL, strstr(text, " backlog 8\n"));
	EXPECT_EQ(0, umad_unreg(self->fd, 0));
	ASSERT_EQ(0, umad_read_file(path, text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, " backlog 0\n"));
}

/* It uses up what waits for the response: the copy that replaces it needs no new place. */
TEST_F(flow, stray_packets_take_no_place_away)
{
	const struct rmpp_pkt stray = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 0, 1 };
	int round;

	ask_sa(_metadata, self, 1, 4, 20000, 3);
	ASSERT_EQ(1, see(self, SOON));
	ASSERT_EQ(2, see(self, SOON));
	for (round = 0; round < 5; round++) {
		ASSERT_EQ(0, inject(self, &stray));
		EXPECT_EQ(2, see(self, SOON));
		EXPECT_EQ(-ETIME, see(self, 50));
	}
	ASSERT_EQ(0, inject(self, NULL));
	expect_end(_metadata, self, 2, 0);
	EXPECT_EQ(3, see(self, SOON));
	EXPECT_EQ(-ETIME, see(self, WHILE));
}

/* As in ib_core; else requests would wait for the segments of long messages. */
TEST_F(flow, messages_take_no_place)
{
	const struct rmpp_pkt ack = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 1, 10 };
	const struct test_port peer = { .lid = PEER };
	struct rmpp_msg msg = {};
	uint32_t tid;

	for (tid = 1; tid <= PLACES; tid++) {
		rmpp_msg_init(&msg, &peer, HDR_NEW, 0, CLASS_SA, METHOD_TEST, tid,
			      300, tid);
		rmpp_user_hdr(&msg)->grh_present = 0;
		rmpp_user_hdr(&msg)->timeout_ms = 20000;
		ASSERT_LT(0, rmpp_msg_write(self->fd, &msg));
		ASSERT_EQ(tid, see(self, SOON));
		ASSERT_EQ(0, inject(self, &ack));
		/* The last segment stays in ib_core, for the response. */
		ASSERT_EQ(tid, see(self, SOON));
	}
	rmpp_msg_free(&msg);
	ask_sa(_metadata, self, 10, PLACES, 20000, 0);
	EXPECT_EQ(10, see(self, WHILE));
	EXPECT_EQ(11, see(self, WHILE));
}

/* Its response has begun, and may go on for as long as the peer likes. */
TEST_F(flow, response_that_has_begun_takes_no_place)
{
	const struct rmpp_pkt first = {
		1, RMPP_DATA, RMPP_ACTIVE | RMPP_FIRST, 0, 1, 0,
	};
	int64_t tid;

	ask_sa(_metadata, self, 1, PLACES + 1, 20000, 0);
	for (tid = 1; tid <= PLACES; tid++)
		ASSERT_EQ(tid, see(self, SOON));
	ASSERT_EQ(0, inject(self, &first));
	/* And its ACKs. */
	do {
		tid = see(self, SOON);
	} while (tid == PLACES);
	EXPECT_EQ(PLACES + 1, tid);
}

/* Not even by an answer to what has not been sent yet, of who guesses its TID. */
TEST_F(flow, response_to_what_waits_is_unmatched)
{
	const struct rmpp_pkt first = {
		1, RMPP_DATA, RMPP_ACTIVE | RMPP_FIRST, 0, 1, 0x7fffffff,
	};
	struct ib_hwsim_frame last;

	ask_sa(_metadata, self, 1, PLACES + 1, 20000, 0);
	ASSERT_EQ(1, see(self, SOON));
	ASSERT_EQ(PLACES, see(self, SOON));
	last = self->seen;
	frame_mad(&self->seen)->tid = (frame_mad(&last)->tid & htobe64(~0xffffffffULL)) |
				      htobe64(PLACES + 1);
	ASSERT_EQ(0, inject(self, &first));
	EXPECT_EQ(-ETIME, see(self, WHILE));
	self->seen = last;
	ASSERT_EQ(0, inject(self, NULL));
	expect_end(_metadata, self, PLACES, 0);
	EXPECT_EQ(PLACES + 1, see(self, SOON));
}

/* It listens for a late response, until another needs its place; its TID is free. */
TEST_F(flow, expired_request_gives_up_its_place)
{
	int64_t tid;

	ask_sa(_metadata, self, 1, 1, 300, 0);
	ASSERT_EQ(1, see(self, SOON));
	expect_end(_metadata, self, 1, ETIMEDOUT);
	ask_sa(_metadata, self, 2, 1, 20000, 0);
	do {
		tid = see(self, SOON);
	} while (tid == 1);
	ASSERT_EQ(2, tid);
	/* All places are taken, one by the expired request. */
	ask_sa(_metadata, self, 3, 1, 20000, 0);
	ask_sa(_metadata, self, 1, 1, 20000, 0);
	ASSERT_EQ(3, see(self, WHILE));
	EXPECT_EQ(-ETIME, see(self, WHILE));
	ASSERT_EQ(0, inject(self, NULL));
	expect_end(_metadata, self, 3, 0);
	EXPECT_EQ(1, see(self, SOON));
}

TEST_F(flow, removal_ends_what_waits)
{
	uint64_t start;

	ask_sa(_metadata, self, 1, 3000, -1, 0);
	start = now_ms();
	EXPECT_EQ(0, hwsim_del(DEVICE));
	TH_LOG("%llu ms", (unsigned long long)(now_ms() - start));
	EXPECT_GT(SOON, now_ms() - start);
	EXPECT_EQ(-EIO, msg_read(self->fd, &self->got, 0));
	close(self->fd);
	close(self->wire);
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20"));
	self->wire = raw_attach(DEVICE, 1);
	self->fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
}

TEST_HARNESS_MAIN
