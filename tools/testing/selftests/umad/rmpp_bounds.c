// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a program or a remote node can take of the kernel's memory by RMPP: the
 * module's parameters, what happens at them, and the counters that tell.
 */
#include "kselftest_harness.h"
#include "rmpp_util.h"

#include <stdio.h>

#define SOON	10000	/* ms; for what has to happen */
#define WHILE	400	/* ms; for what must not */
#define SEG	216

static const char * const params[] = {
	"rmpp_max_message", "rmpp_file_bytes", "rmpp_port_bytes",
	"rmpp_file_transfers", "rmpp_port_transfers", "recv_budget",
	"rmpp_send_bytes",
};

FIXTURE(bounds) {
	struct test_port port;
	int fd;			/* sends, agent 0 */
	int srv;		/* receives METHOD_TABLE, agent 0 */
	int srv2;		/* receives METHOD_TEST, agent 0 */
	struct rmpp_raw raw;
	struct rmpp_pkt pkt;
	struct rmpp_msg msg;
	struct rmpp_msg got;
	long old[ARRAY_SIZE(params)];
	long refused;
};

static int serve(uint8_t method)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = method,
	};
	int fd = umad_open(O_RDWR | O_NONBLOCK);
	int ret;

	if (fd < 0)
		return fd;
	ret = rmpp_register(fd, &agent);
	return ret ? ret : fd;
}

FIXTURE_SETUP(bounds)
{
	const struct rmpp_agent raw = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.flags = IB_USER_MAD_USER_RMPP,
	};
	char path[128], text[32];
	int i;

	for (i = 0; i < ARRAY_SIZE(params); i++) {
		snprintf(path, sizeof(path),
			 "/sys/module/ib_umad/parameters/%s", params[i]);
		ASSERT_EQ(0, umad_read_sysfs(path, text, sizeof(text)));
		self->old[i] = atol(text);
	}
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = serve(0);
	self->srv = serve(METHOD_TABLE);
	self->srv2 = serve(METHOD_TEST);
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->srv);
	ASSERT_LE(0, self->srv2);
	self->raw.fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->raw.fd);
	ASSERT_EQ(0, rmpp_register(self->raw.fd, &raw));
	self->raw.port = &self->port;
	self->raw.mgmt_class = CLASS_RMPP;
	self->raw.method = METHOD_TABLE;
	self->refused = umad_counter(&self->port, "rmpp_refused");
	ASSERT_LE(0, self->refused);
}

FIXTURE_TEARDOWN(bounds)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(params); i++)
		rmpp_param_set(params[i], self->old[i]);
	close(self->fd);
	close(self->srv);
	close(self->srv2);
	close(self->raw.fd);
	rmpp_msg_free(&self->msg);
	rmpp_msg_free(&self->got);
}

static void init(FIXTURE_DATA(bounds) *self, uint32_t tid, size_t len)
{
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE, tid, len, tid);
}

/* The first segment of a message of @segs, and the type of the answer. */
static int begin(FIXTURE_DATA(bounds) *self, uint32_t tid, uint32_t segs)
{
	struct rmpp_pkt *pkt = &self->pkt;
	int ret;

	self->raw.tid = tid;
	self->raw.seed = tid;
	ret = raw_data(&self->raw, 1, 0, segs * RMPP_PAYLOAD);
	while (!ret) {
		ret = raw_recv(&self->raw, pkt, SOON);
		if (!ret && msg_tid(&self->raw.got) == tid)
			return pkt->type;
	}
	return ret;
}

static int rest(FIXTURE_DATA(bounds) *self, uint32_t tid, uint32_t segs)
{
	uint32_t seg;
	int ret = 0;

	self->raw.tid = tid;
	self->raw.seed = tid;
	for (seg = 2; !ret && seg <= segs; seg++)
		ret = raw_data(&self->raw, seg, seg == segs ? RMPP_LAST : 0,
			       seg == segs ? RMPP_PAYLOAD : 0);
	return ret;
}

TEST_F(bounds, transfers_of_a_file)
{
	ASSERT_LT(0, rmpp_param_set("rmpp_file_transfers", 2));
	EXPECT_EQ(RMPP_ACK, begin(self, 1, 3));
	EXPECT_EQ(RMPP_ACK, begin(self, 2, 3));
	EXPECT_EQ(RMPP_STOP, begin(self, 3, 3));
	EXPECT_EQ(RMPP_RESX, self->pkt.status);
	EXPECT_EQ(self->refused + 1, umad_counter(&self->port, "rmpp_refused"));
	/* Another file is not concerned. */
	self->raw.method = METHOD_TEST;
	EXPECT_EQ(RMPP_ACK, begin(self, 4, 3));
	self->raw.method = METHOD_TABLE;
	/* Nor are those that have begun. */
	ASSERT_EQ(0, rest(self, 1, 3));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 3 * SEG, 1));
	/* And now there is room. */
	EXPECT_EQ(RMPP_ACK, begin(self, 3, 3));
}

TEST_F(bounds, transfers_of_a_port)
{
	ASSERT_LT(0, rmpp_param_set("rmpp_port_transfers", 1));
	EXPECT_EQ(RMPP_ACK, begin(self, 1, 3));
	self->raw.method = METHOD_TEST;
	EXPECT_EQ(RMPP_STOP, begin(self, 2, 3));
	EXPECT_EQ(RMPP_RESX, self->pkt.status);
	EXPECT_EQ(self->refused + 1, umad_counter(&self->port, "rmpp_refused"));
	close(self->srv);
	self->srv = -1;
	EXPECT_EQ(RMPP_ACK, begin(self, 3, 3));
}

/* Segments of one message until it is stopped; returns how many, or < 0. */
static int until_stopped(FIXTURE_DATA(bounds) *self, uint32_t tid)
{
	uint32_t seg, window;
	int ret;

	if (begin(self, tid, 10) != RMPP_ACK)
		return -EPROTO;
	window = self->pkt.len;
	for (seg = 2; seg < 5000; seg++) {
		ret = raw_data(&self->raw, seg, 0, 0);
		if (ret)
			return ret;
		while (!raw_recv(&self->raw, &self->pkt,
				 seg == window || seg % 64 == 0 ? 50 : 0)) {
			if (self->pkt.type == RMPP_STOP)
				return seg;
			if (self->pkt.type != RMPP_ACK)
				return -EPROTO;
			window = self->pkt.len;
		}
	}
	return 0;
}

static void bytes_bound(struct __test_metadata *_metadata, FIXTURE_DATA(bounds) *self,
			const char *param)
{
	int segs, again;

	ASSERT_LT(0, rmpp_param_set(param, 100000));
	segs = until_stopped(self, 1);
	EXPECT_LT(100, segs);
	EXPECT_GT(1500, segs);
	EXPECT_EQ(RMPP_RESX, self->pkt.status);
	EXPECT_EQ(self->refused + 1, umad_counter(&self->port, "rmpp_refused"));
	/* All that memory is free again. */
	again = until_stopped(self, 2);
	EXPECT_LT(100, again);
	EXPECT_EQ(RMPP_ACK, begin(self, 3, 3));
	ASSERT_EQ(0, rest(self, 3, 3));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 3 * SEG, 3));
	EXPECT_TRUE(rmpp_quiet(self->srv, WHILE));
}

TEST_F(bounds, bytes_of_a_file)
{
	bytes_bound(_metadata, self, "rmpp_file_bytes");
}

TEST_F(bounds, bytes_of_a_port)
{
	bytes_bound(_metadata, self, "rmpp_port_bytes");
}

/* 100 KB in many messages count as much as in one. */
TEST_F(bounds, bytes_of_many_messages)
{
	int i, began = 0, ret = 0;

	ASSERT_LT(0, rmpp_param_set("rmpp_file_bytes", 100000));
	for (i = 1; i <= 600 && ret != RMPP_STOP; i++) {
		ret = begin(self, i, 100);
		began += ret == RMPP_ACK;
	}
	EXPECT_EQ(RMPP_STOP, ret);
	EXPECT_LE(100000 / 8192, began);
	EXPECT_GE(100000 / 216 + 1, began);
	/* The file goes, and so does what it held. */
	close(self->srv);
	self->srv = serve(METHOD_TABLE);
	ASSERT_LE(0, self->srv);
	EXPECT_EQ(RMPP_ACK, begin(self, 1000, 3));
}

TEST_F(bounds, longest_message_written)
{
	ASSERT_LT(0, rmpp_param_set("rmpp_max_message", 10000));
	init(self, 1, 10001 - 40);
	EXPECT_EQ(-EMSGSIZE, rmpp_msg_write(self->fd, &self->msg));
	init(self, 1, 1 << 20);
	EXPECT_EQ(-EMSGSIZE, rmpp_msg_write(self->fd, &self->msg));
	init(self, 1, 10000 - 40);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 10000 - 40, 1));
}

TEST_F(bounds, longest_message_received)
{
	int segs;

	ASSERT_LT(0, rmpp_param_set("rmpp_max_message", 10000));
	/* That says so at once. */
	EXPECT_EQ(RMPP_STOP, begin(self, 1, 100));
	EXPECT_EQ(RMPP_RESX, self->pkt.status);
	/* That does not. */
	segs = until_stopped(self, 2);
	EXPECT_LE(10000 / SEG, segs);
	EXPECT_GE(10000 / SEG + 70, segs);
	EXPECT_EQ(RMPP_RESX, self->pkt.status);
	EXPECT_EQ(RMPP_ACK, begin(self, 3, 40));
	ASSERT_EQ(0, rest(self, 3, 40));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 40 * SEG, 3));
}

/* No read() could take it; and write() would take the first 2 GiB of it. */
TEST_F(bounds, no_message_is_longer_than_a_read)
{
	ASSERT_LT(0, rmpp_param_set("rmpp_max_message", 3l << 30));
	self->raw.tid = 1;
	ASSERT_EQ(0, raw_data(&self->raw, 1, 0, (1u << 31) / SEG * RMPP_PAYLOAD));
	ASSERT_EQ(0, raw_recv(&self->raw, &self->pkt, SOON));
	EXPECT_EQ(RMPP_STOP, self->pkt.type);
	EXPECT_EQ(RMPP_RESX, self->pkt.status);
	/* Just below it may begin. */
	self->raw.tid = 2;
	ASSERT_EQ(0, raw_data(&self->raw, 1, 0,
			      ((1u << 31) / SEG - 100) * RMPP_PAYLOAD));
	ASSERT_EQ(0, raw_recv(&self->raw, &self->pkt, SOON));
	EXPECT_EQ(RMPP_ACK, self->pkt.type);
}

/* What a program writes faster than it is taken. */
TEST_F(bounds, bytes_being_sent)
{
	long refused = umad_counter(&self->port, "rmpp_send_refused");
	int i, written = 0;

	/* To one destination half of it. */
	ASSERT_LT(0, rmpp_param_set("rmpp_send_bytes", 200000));
	/* Nobody serves this method: nobody acknowledges. */
	for (i = 0; i < 4; i++) {
		rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
			      METHOD_NOBODY, i, 40000, i);
		rmpp_user_hdr(&self->msg)->timeout_ms = 500;
		if (rmpp_msg_write(self->fd, &self->msg) > 0)
			written++;
		else
			EXPECT_EQ(-ENOMEM, rmpp_msg_write(self->fd,
							  &self->msg));
	}
	EXPECT_EQ(2, written);
	EXPECT_LE(refused + 4, umad_counter(&self->port, "rmpp_send_refused"));
	/* Another file is not concerned. */
	init(self, 9, 40000);
	EXPECT_LT(0, rmpp_msg_write(self->srv2, &self->msg));
	/* Given up, and their memory given back. */
	for (i = 0; i < 2; i++)
		EXPECT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->fd, &self->got,
						       HDR_NEW, SOON));
	sleep_ms(50);
	for (i = 4; i < 10; i++) {
		init(self, i, 90000);
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, HDR_NEW,
					   SOON));
		sleep_ms(50);
	}
}

static int reopen_with_budget(FIXTURE_DATA(bounds) *self, long budget)
{
	if (rmpp_param_set("recv_budget", budget) < 0)
		return -ENOENT;
	close(self->srv);
	self->srv = serve(METHOD_TABLE);
	return self->srv;
}

/* One that is bigger than the budget is not lost, if the queue is empty. */
TEST_F(bounds, message_bigger_than_the_budget)
{
	int i;

	ASSERT_LE(0, reopen_with_budget(self, 8192));
	for (i = 0; i < 3; i++) {
		init(self, i, 200000);
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, HDR_NEW,
					   SOON));
		EXPECT_TRUE(rmpp_msg_has(&self->got, 200000, i));
	}
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

TEST_F(bounds, response_bigger_than_the_budget)
{
	ASSERT_LE(0, rmpp_param_set("recv_budget", 8192));
	close(self->fd);
	self->fd = serve(0);
	ASSERT_LE(0, self->fd);
	init(self, 1, SEG);
	rmpp_mad_bytes(&self->msg)[26] = 0;
	rmpp_user_hdr(&self->msg)->timeout_ms = 10000;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, HDR_NEW, SOON));
	rmpp_msg_reply(&self->msg, &self->got, 0, 200000, 5);
	ASSERT_LT(0, rmpp_msg_write(self->srv, &self->msg));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 200000, 5));
}

/* Nobody reads: the next sender is told, and may come again later. */
TEST_F(bounds, full_queue_stops_the_sender)
{
	ASSERT_LE(0, reopen_with_budget(self, 8192));
	init(self, 1, 20000);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_FALSE(rmpp_quiet(self->srv, SOON));

	init(self, 2, 20000);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
					       SOON));
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	EXPECT_EQ(REASON_STOPPED, rmpp_user_hdr(&self->got)->reserved[0]);
	EXPECT_EQ(RMPP_RESX, rmpp_user_hdr(&self->got)->reserved[1]);
	EXPECT_EQ(2, rmpp_tid(&self->got));
	EXPECT_LT(self->refused, umad_counter(&self->port, "rmpp_refused"));

	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, HDR_NEW, 0));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 20000, 1));
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 20000, 2));
}

/*
 * A response of one MAD overtakes the last ACK, and there is no room for it: a
 * request without a deadline hears that, for nothing else would end it.
 */
TEST_F(bounds, response_dropped_before_the_last_ack)
{
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .method = METHOD_TABLE,
	};
	uint32_t tid;

	close(self->srv);
	self->srv = -1;
	self->raw.id = rmpp_register(self->raw.fd, &server);
	ASSERT_EQ(1, self->raw.id);
	self->raw.method = METHOD_TABLE | METHOD_RESP;
	ASSERT_LE(0, rmpp_param_set("recv_budget", 600));
	close(self->fd);
	self->fd = serve(0);
	ASSERT_LE(0, self->fd);

	for (tid = 1; tid <= 2; tid++) {
		init(self, tid, 2 * SEG);
		rmpp_user_hdr(&self->msg)->timeout_ms = -1;
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_DATA, 1, &self->pkt,
					  SOON));
		self->raw.tid = msg_tid64(&self->raw.got);
		ASSERT_EQ(0, raw_ack(&self->raw, 1, 64));
		ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_DATA, 2, &self->pkt,
					  SOON));
		ASSERT_EQ(0, raw_plain(&self->raw));
		sleep_ms(100);
		ASSERT_EQ(0, raw_ack(&self->raw, 2, 64));
	}
	ASSERT_EQ(MSG_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
	EXPECT_EQ(1, rmpp_tid(&self->got));
	ASSERT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
					       SOON));
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	EXPECT_EQ(2, rmpp_tid(&self->got));
}

TEST_F(bounds, counters_of_a_transfer)
{
	static const char * const names[] = {
		"rmpp_sent", "rmpp_received", "rmpp_tx_failed",
		"rmpp_rx_failed", "rmpp_refused", "rmpp_unmatched",
	};
	static const int by[] = { 1, 1, 0, 0, 0, 0 };
	long before[ARRAY_SIZE(names)];
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		before[i] = umad_counter(&self->port, names[i]);
	init(self, 1, 20000);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, HDR_NEW, SOON));
	sleep_ms(WHILE);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		EXPECT_EQ(before[i] + by[i],
			  umad_counter(&self->port, names[i])) {
			TH_LOG("counter %d", i);
		}
}

TEST_F(bounds, counters_of_what_went_wrong)
{
	static const struct rmpp_pkt abort = {
		1, RMPP_ABORT, RMPP_ACTIVE, RMPP_UNSPEC, 0, 0
	};
	long unreceived = umad_counter(&self->port, "rmpp_rx_failed");
	long stray = umad_counter(&self->port, "rmpp_unmatched");

	EXPECT_EQ(RMPP_ACK, begin(self, 1, 10));
	ASSERT_EQ(0, raw_send(&self->raw, &abort));
	sleep_ms(WHILE);
	EXPECT_EQ(unreceived + 1, umad_counter(&self->port, "rmpp_rx_failed"));
	EXPECT_EQ(stray, umad_counter(&self->port, "rmpp_unmatched"));
	ASSERT_EQ(0, raw_send(&self->raw, &abort));
	ASSERT_EQ(0, raw_data(&self->raw, 2, 0, 0));
	ASSERT_EQ(0, raw_ack(&self->raw, 5, 9));
	sleep_ms(WHILE);
	EXPECT_EQ(stray + 3, umad_counter(&self->port, "rmpp_unmatched"));
	EXPECT_EQ(unreceived + 1, umad_counter(&self->port, "rmpp_rx_failed"));
}

TEST_HARNESS_MAIN
