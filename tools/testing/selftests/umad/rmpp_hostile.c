// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Peers made by hand that harm others if they can: what one of them does must
 * not be felt by the rest. Each peer is one source GID of the port; the plan
 * adds fd00::2 to fd00::9 to the netdev.
 */
#include "kselftest_harness.h"
#include "rmpp_util.h"

#include <stdio.h>

#define SOON	10000	/* ms; for what has to happen */
#define WHILE	400	/* ms; for what must not */
#define SEG	216
#define PEERS	8
#define OTHER_OUI (TEST_OUI + 1)

static const char * const params[] = {
	"rmpp_file_bytes", "rmpp_file_transfers",
	"rmpp_peer_bytes", "rmpp_peer_transfers",
};

FIXTURE(hostile) {
	struct test_port port;
	struct test_port from[PEERS];	/* the same, by another source GID */
	int srv;			/* receives METHOD_TABLE, agent 0 */
	struct rmpp_raw raw[PEERS];
	struct rmpp_pkt pkt;
	struct rmpp_msg got;
	long old[ARRAY_SIZE(params)];
};

/* The index of fd00::@host in the port's table. */
static int gid_index(const struct test_port *port, int host)
{
	char path[128], text[64], want[64];
	int i;

	snprintf(want, sizeof(want),
		 "fd00:0000:0000:0000:0000:0000:0000:%04x", host);
	for (i = 0; i < 64; i++) {
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband/%s/ports/1/gids/%d",
			 port->ibdev, i);
		if (!umad_read_sysfs(path, text, sizeof(text)) &&
		    !strncmp(text, want, strlen(want)))
			return i;
	}
	return -ENOENT;
}

static long param_get(const char *name)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "/sys/module/ib_umad/parameters/%s", name);
	return umad_read_sysfs(path, text, sizeof(text)) ? -1 : atol(text);
}

static int serve(void)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.method = METHOD_TABLE,
	};
	int fd = umad_open(O_RDWR | O_NONBLOCK);
	int ret;

	if (fd < 0)
		return fd;
	ret = rmpp_register(fd, &agent);
	return ret ? ret : fd;
}

FIXTURE_SETUP(hostile)
{
	const struct rmpp_agent raw = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.flags = IB_USER_MAD_USER_RMPP,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(params); i++)
		self->old[i] = param_get(params[i]);
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->srv = serve();
	ASSERT_LE(0, self->srv);
	for (i = 0; i < PEERS; i++) {
		self->from[i] = self->port;
		self->from[i].gid_index = gid_index(&self->port, i + 2);
		ASSERT_LE(0, self->from[i].gid_index);
		self->raw[i].fd = umad_open(O_RDWR | O_NONBLOCK);
		ASSERT_LE(0, self->raw[i].fd);
		ASSERT_EQ(0, rmpp_register(self->raw[i].fd, &raw));
		self->raw[i].port = &self->from[i];
		self->raw[i].mgmt_class = CLASS_RMPP;
		self->raw[i].method = METHOD_TABLE;
	}
}

FIXTURE_TEARDOWN(hostile)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(params); i++)
		if (self->old[i] >= 0)
			rmpp_param_set(params[i], self->old[i]);
	close(self->srv);
	for (i = 0; i < PEERS; i++)
		close(self->raw[i].fd);
	rmpp_msg_free(&self->got);
}

/* The first segment of a message of @segs. */
static int first(struct rmpp_raw *raw, uint32_t tid, uint32_t segs)
{
	raw->tid = tid;
	raw->seed = tid;
	return raw_data(raw, 1, 0, segs * RMPP_PAYLOAD);
}

/* The next answer to message @tid; others are passed over. Its type. */
static int answer(struct rmpp_raw *raw, uint32_t tid, struct rmpp_pkt *pkt,
		  int wait_ms)
{
	uint64_t end = now_ms() + wait_ms;
	uint64_t now;
	int ret;

	do {
		now = now_ms();
		ret = raw_recv(raw, pkt, now < end ? end - now : 0);
		if (!ret && msg_tid(&raw->got) == tid)
			return pkt->type;
	} while (!ret);
	return ret;
}

/* The first segment, and what it is answered with. */
static int begin(struct rmpp_raw *raw, uint32_t tid, uint32_t segs,
		 struct rmpp_pkt *pkt)
{
	int ret = first(raw, tid, segs);

	return ret ? ret : answer(raw, tid, pkt, SOON);
}

/* It is told that there is no room for it, after ACKs maybe. */
static bool is_stopped(struct rmpp_raw *raw, uint32_t tid)
{
	struct rmpp_pkt pkt;
	int ret;

	while ((ret = answer(raw, tid, &pkt, SOON)) == RMPP_ACK)
		;
	return ret == RMPP_STOP && pkt.status == RMPP_RESX;
}

/* Segments @from to @to, in windows as the receiver allows them. */
static int send_on(struct rmpp_raw *raw, uint32_t tid, uint32_t from,
		   uint32_t to, uint32_t segs, struct rmpp_pkt *pkt)
{
	uint32_t seg, window = pkt->len;
	int ret;

	raw->tid = tid;
	raw->seed = tid;
	for (seg = from; seg <= to; seg++) {
		while (seg > window) {
			ret = answer(raw, tid, pkt, SOON);
			if (ret != RMPP_ACK)
				return ret < 0 ? ret : -EPROTO;
			window = pkt->len;
		}
		ret = raw_data(raw, seg, seg == segs ? RMPP_LAST : 0,
			       seg == segs ? RMPP_PAYLOAD : 0);
		if (ret)
			return ret;
		if (seg % 64 == 0)
			sleep_ms(20);
	}
	return 0;
}

static bool delivered(FIXTURE_DATA(hostile) *self, uint32_t tid, uint32_t segs)
{
	do {
		if (rmpp_msg_read(self->srv, &self->got, HDR_NEW, SOON) < 0)
			return false;
	} while (rmpp_tid(&self->got) != tid);
	return rmpp_msg_has(&self->got, segs * SEG, tid);
}

/* As raw_data(), to the agent of another OUI. */
static int data_of_oui(struct rmpp_raw *raw, uint32_t seg, uint8_t flags,
		       uint32_t len, uint32_t oui)
{
	const struct rmpp_pkt pkt = {
		1, RMPP_DATA, RMPP_ACTIVE | flags | (seg == 1 ? RMPP_FIRST : 0),
		0, seg, len
	};
	struct umad_msg msg;
	int ret;

	msg_init(&msg, raw->port, raw->id, raw->mgmt_class, raw->method,
		 raw->tid);
	msg.mad.attr_id = htobe16(0x35);
	rmpp_put(msg.data, &pkt);
	msg.data[37] = oui >> 16 & 0xff;
	msg.data[38] = oui >> 8 & 0xff;
	msg.data[39] = oui & 0xff;
	rmpp_fill(msg.data + 40, (seg - 1) * SEG, SEG, raw->seed);
	ret = msg_write(raw->fd, &msg);
	return ret == MSG_LEN ? 0 : ret < 0 ? ret : -EIO;
}

/* Two agents of one file, that differ in the OUI alone. */
TEST_F(hostile, segments_for_two_agents_are_not_reassembled)
{
	struct rmpp_raw *raw = &self->raw[0];
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, CLASS_RMPP, 1);
	mask_set((uint64_t *)req.method_mask, METHOD_TABLE);
	req.oui = OTHER_OUI;
	req.rmpp_version = 1;
	ASSERT_EQ(1, umad_reg2(self->srv, &req));

	ASSERT_EQ(RMPP_ACK, begin(raw, 1, 2, &self->pkt));
	ASSERT_EQ(0, data_of_oui(raw, 2, RMPP_LAST, RMPP_PAYLOAD, OTHER_OUI));
	EXPECT_TRUE(rmpp_quiet(self->srv, WHILE));
	/* The first is asked for meanwhile; that is no answer to what comes now. */
	while (answer(raw, 1, &self->pkt, 0) >= 0)
		;
	/* Each has its own, with the same TID. */
	ASSERT_EQ(0, data_of_oui(raw, 1, 0, 2 * RMPP_PAYLOAD, OTHER_OUI));
	ASSERT_EQ(RMPP_ACK, answer(raw, 1, &self->pkt, SOON));
	ASSERT_EQ(0, data_of_oui(raw, 2, RMPP_LAST, RMPP_PAYLOAD, OTHER_OUI));
	ASSERT_TRUE(delivered(self, 1, 2));
	EXPECT_EQ(1, rmpp_user_hdr(&self->got)->id);
	ASSERT_EQ(0, raw_data(raw, 2, RMPP_LAST, RMPP_PAYLOAD));
	ASSERT_TRUE(delivered(self, 1, 2));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->id);
}

/* One packet, and then nothing: what it was granted is not lost to others. */
TEST_F(hostile, silent_peer_does_not_hold_the_window)
{
	uint32_t window;

	ASSERT_EQ(RMPP_ACK, begin(&self->raw[0], 1, 5000, &self->pkt));
	/* At once there is something left. */
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[1], 2, 5000, &self->pkt));
	EXPECT_LE(32, self->pkt.len - self->pkt.seg);
	sleep_ms(WHILE);
	/* And soon nearly all of it. */
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[2], 3, 5000, &self->pkt));
	window = self->pkt.len - self->pkt.seg;
	EXPECT_LE(256, window);
	ASSERT_EQ(0, send_on(&self->raw[2], 3, 2, 600, 600, &self->pkt));
	EXPECT_TRUE(delivered(self, 3, 600));
}

/* One that goes on beginning messages has one share of the window budget, not many. */
TEST_F(hostile, many_messages_of_one_peer_leave_the_window_to_others)
{
	uint32_t i;

	for (i = 1; i <= 100; i++)
		ASSERT_EQ(0, first(&self->raw[0], i, 5000));
	ASSERT_EQ(RMPP_ACK, answer(&self->raw[0], 100, &self->pkt, SOON));
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[1], 1000, 5000, &self->pkt));
	EXPECT_LE(32, self->pkt.len - self->pkt.seg);
}

/* A message that tells its length is not granted more than that. */
TEST_F(hostile, short_message_is_granted_what_it_needs)
{
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[0], 1, 5, &self->pkt));
	EXPECT_LE(5, self->pkt.len);
	EXPECT_GE(6, self->pkt.len);
	/* It may have lied. */
	ASSERT_EQ(0, send_on(&self->raw[0], 1, 2, 200, 200, &self->pkt));
	EXPECT_TRUE(delivered(self, 1, 200));
}

/*
 * All that begin at once: no more is promised than the receive queue has, but
 * for one segment each.
 */
TEST_F(hostile, windows_that_are_promised_together_fit_the_budget)
{
	uint32_t i, sum = 0, n = 64;

	for (i = 0; i < n; i++)
		ASSERT_EQ(0, first(&self->raw[i % PEERS], i + 1, 5000));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(RMPP_ACK, answer(&self->raw[i % PEERS], i + 1,
					   &self->pkt, SOON));
		sum += self->pkt.len - self->pkt.seg;
	}
	EXPECT_GE(384 + n, sum) {
		TH_LOG("%u segments", sum);
	}
	EXPECT_LE(128, sum);
}

/* Nobody else's message is refused, whatever one peer begins and leaves. */
TEST_F_TIMEOUT(hostile, one_peer_does_not_take_all_transfers, 120)
{
	uint32_t i;

	for (i = 1; i <= 1100; i++) {
		ASSERT_EQ(0, first(&self->raw[0], i, 3));
		if (i % 64 == 0)
			sleep_ms(20);
	}
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[1], 5000, 3, &self->pkt));
	ASSERT_EQ(0, send_on(&self->raw[1], 5000, 2, 3, 3, &self->pkt));
	EXPECT_TRUE(delivered(self, 5000, 3));
}

/* A bound of the file: what has idled goes, not the newcomer. */
TEST_F(hostile, idle_message_makes_room_for_a_new_one)
{
	long evicted = umad_counter(&self->port, "rmpp_evicted");
	uint32_t i;

	ASSERT_LT(0, rmpp_param_set("rmpp_file_transfers", 6));
	for (i = 1; i <= 4; i++)
		ASSERT_EQ(RMPP_ACK, begin(&self->raw[0], i, 3, &self->pkt));
	for (i = 5; i <= 6; i++)
		ASSERT_EQ(RMPP_ACK, begin(&self->raw[1], i, 3, &self->pkt));
	/* None of them is idle yet. */
	ASSERT_EQ(RMPP_STOP, begin(&self->raw[2], 7, 3, &self->pkt));
	EXPECT_EQ(RMPP_RESX, self->pkt.status);
	sleep_ms(1200);
	/* The oldest of the peer that has most. */
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[2], 8, 3, &self->pkt));
	EXPECT_TRUE(is_stopped(&self->raw[0], 1));
	EXPECT_EQ(evicted + 1, umad_counter(&self->port, "rmpp_evicted"));
	ASSERT_EQ(0, send_on(&self->raw[2], 8, 2, 3, 3, &self->pkt));
	EXPECT_TRUE(delivered(self, 8, 3));
}

/* It is complete before another can begin. */
TEST_F(hostile, message_of_one_segment_needs_no_room)
{
	uint32_t i;

	ASSERT_LT(0, rmpp_param_set("rmpp_file_transfers", 2));
	ASSERT_LT(0, rmpp_param_set("rmpp_peer_transfers", 2));
	for (i = 1; i <= 2; i++)
		ASSERT_EQ(RMPP_ACK, begin(&self->raw[0], i, 3, &self->pkt));
	ASSERT_EQ(RMPP_STOP, begin(&self->raw[0], 3, 3, &self->pkt));
	for (i = 0; i <= 1; i++) {
		self->pkt.len = 1;
		ASSERT_EQ(0, send_on(&self->raw[i], 4 + i, 1, 1, 1, &self->pkt));
		EXPECT_TRUE(delivered(self, 4 + i, 1));
	}
}

/* The same with bytes: what one holds and leaves is not missing for others. */
TEST_F(hostile, idle_bytes_make_room_for_others)
{
	ASSERT_LT(0, rmpp_param_set("rmpp_file_bytes", 100000));
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[0], 1, 5000, &self->pkt));
	ASSERT_EQ(0, send_on(&self->raw[0], 1, 2, 440, 5000, &self->pkt));
	sleep_ms(1200);
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[1], 2, 300, &self->pkt));
	ASSERT_EQ(0, send_on(&self->raw[1], 2, 2, 300, 300, &self->pkt));
	EXPECT_TRUE(delivered(self, 2, 300));
	EXPECT_TRUE(is_stopped(&self->raw[0], 1));
}

/* The bounds of one peer: its own idle messages go, others' stay. */
TEST_F(hostile, peer_at_its_bound_evicts_its_own)
{
	uint32_t i;

	ASSERT_LT(0, rmpp_param_set("rmpp_peer_transfers", 2));
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[1], 10, 3, &self->pkt));
	for (i = 1; i <= 2; i++)
		ASSERT_EQ(RMPP_ACK, begin(&self->raw[0], i, 3, &self->pkt));
	ASSERT_EQ(RMPP_STOP, begin(&self->raw[0], 3, 3, &self->pkt));
	sleep_ms(1200);
	ASSERT_EQ(0, first(&self->raw[0], 4, 3));
	EXPECT_TRUE(is_stopped(&self->raw[0], 1));
	EXPECT_EQ(RMPP_ACK, answer(&self->raw[0], 4, &self->pkt, SOON));
	self->pkt.len = 3;
	ASSERT_EQ(0, send_on(&self->raw[1], 10, 2, 3, 3, &self->pkt));
	EXPECT_TRUE(delivered(self, 10, 3));
}

TEST_F(hostile, bytes_of_a_peer)
{
	ASSERT_LT(0, rmpp_param_set("rmpp_peer_bytes", 50000));
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[0], 1, 5000, &self->pkt));
	EXPECT_NE(0, send_on(&self->raw[0], 1, 2, 1000, 5000, &self->pkt));
	EXPECT_EQ(RMPP_STOP, self->pkt.type);
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[1], 2, 200, &self->pkt));
	ASSERT_EQ(0, send_on(&self->raw[1], 2, 2, 200, 200, &self->pkt));
	EXPECT_TRUE(delivered(self, 2, 200));
}

/* One packet is worth two answers. */
static void expect_two_answers(struct __test_metadata *_metadata, FIXTURE_DATA(hostile) *self,
			       int wait_ms)
{
	int answers = 0;

	ASSERT_EQ(0, first(&self->raw[0], 1, 3));
	while (answer(&self->raw[0], 1, &self->pkt, wait_ms) == RMPP_ACK)
		answers++;
	EXPECT_LE(1, answers);
	EXPECT_GE(2, answers);
	EXPECT_TRUE(rmpp_quiet(self->raw[0].fd, 0));
}

/* It waits for a sender that has seen them: the wire may have lost all that it sent since. */
TEST_F_TIMEOUT(hostile, lone_first_segment_waits, 60)
{
	expect_two_answers(_metadata, self, 20000);
	ASSERT_EQ(0, send_on(&self->raw[0], 1, 2, 3, 3, &self->pkt));
	EXPECT_TRUE(delivered(self, 1, 3));
}

/* But not where others need its place: above half of what the file may have. */
TEST_F_TIMEOUT(hostile, lone_first_segments_give_way, 60)
{
	long unreceived = umad_counter(&self->port, "rmpp_rx_failed");
	uint64_t tid;

	ASSERT_LT(0, rmpp_param_set("rmpp_file_transfers", 8));
	for (tid = 1; tid <= 8; tid++)
		ASSERT_EQ(RMPP_ACK, begin(&self->raw[0], tid, 3, &self->pkt));
	sleep_ms(9000);
	EXPECT_EQ(unreceived + 4, umad_counter(&self->port, "rmpp_rx_failed"));
}

/* And is forgotten without an ABORT, so its sender may go on as if nothing had come. */
TEST_F_TIMEOUT(hostile, lone_first_segment_is_forgotten, 120)
{
	long unreceived = umad_counter(&self->port, "rmpp_rx_failed");

	expect_two_answers(_metadata, self, 42000);
	EXPECT_EQ(unreceived + 1,
		  umad_counter(&self->port, "rmpp_rx_failed"));
	ASSERT_EQ(RMPP_ACK, begin(&self->raw[0], 1, 3, &self->pkt));
	ASSERT_EQ(0, send_on(&self->raw[0], 1, 2, 3, 3, &self->pkt));
	EXPECT_TRUE(delivered(self, 1, 3));
}

TEST_HARNESS_MAIN
