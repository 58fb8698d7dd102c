// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The last segment of a message comes while its agent or file is going away.
 * The message is nobody's then, and nothing else may come of it.
 */
#include "rdma_link.h"
#include "rmpp_rx_fixture.h"

#include <sys/wait.h>

#define SENDERS	3
#define RUN	8000	/* ms, if UMAD_CLOSE_MS does not say; more where it takes more for */
#define CLOSES	12
#define READS	200	/* of one server: senders may be faster than it */

static void *do_unreg(void *arg)
{
	FIXTURE_DATA(rx) *self = arg;

	return (void *)(long)umad_unreg(self->fd, 0);
}

struct silent {
	int fd;
	struct umad_msg msg;
};

/* A write to a neighbour that does not answer is inside for about a second. */
static void *do_resolve(void *arg)
{
	struct silent *silent = arg;

	return (void *)(long)msg_write(silent->fd, &silent->msg);
}

/* Unregistering waits for a writer; the message is complete meanwhile. */
TEST_F(rx, last_segment_of_an_agent_that_goes)
{
	struct silent silent = { .fd = self->fd };
	struct side_call resolve, unreg;

	ASSERT_EQ(0, netdev_arp(self->port.netdev, true));
	EXPECT_ASKED(1);
	rx_first(_metadata, self, 2);
	msg_init(&silent.msg, &self->port, 0, CLASS_RMPP, METHOD_TEST, 77);
	silent.msg.hdr.gid[15] = 0x78;
	side_start(&resolve, do_resolve, &silent);
	sleep_ms(100);
	side_start(&unreg, do_unreg, self);
	sleep_ms(100);
	EXPECT_FALSE(side_done(&unreg, 0));
	ASSERT_EQ(0, rx_send(self, 2, 2, 2));
	EXPECT_TRUE(side_done(&resolve, SOON));
	EXPECT_TRUE(side_done(&unreg, SOON));
	side_join(&resolve);
	side_join(&unreg);
	netdev_arp(self->port.netdev, false);
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

struct sender {
	const struct test_port *port;
	uint32_t number;
	bool stop;
};

/* Messages of two segments, one after the other, answered or not. */
static void *send_short(void *arg)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
	};
	struct sender *sender = arg;
	struct rmpp_msg msg = { 0 }, got = { 0 };
	uint32_t tid = sender->number << 24;
	int fd = umad_open(O_RDWR | O_NONBLOCK);

	if (fd < 0 || rmpp_register(fd, &agent))
		return NULL;
	while (!__atomic_load_n(&sender->stop, __ATOMIC_RELAXED)) {
		rmpp_msg_init(&msg, sender->port, HDR_NEW, 0, CLASS_RMPP,
			      METHOD_TABLE, tid, 2 * SEG, tid);
		tid++;
		if (rmpp_msg_write(fd, &msg) < 0)
			sleep_ms(1);
		while (rmpp_msg_read(fd, &got, HDR_NEW, 0) > 0)
			;
	}
	close(fd);
	rmpp_msg_free(&msg);
	rmpp_msg_free(&got);
	return NULL;
}

/*
 * Under emulation, ib_core of a debug kernel of 7.2 sends some hundred MADs in a second, and
 * close() waits for those that are before its own: up to 25 s, also when the test has been
 * stopped. Without debugging: 386 closes in 8 s, 35 ms at most.
 */
static bool is_slow(void)
{
	return kernel_from(7, 0) && kernel_debugs();
}

/* A server that is stopped and started while its clients go on. */
TEST_F_TIMEOUT(rx, server_restarts_under_short_messages, 60)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.method = METHOD_TABLE,
	};
	struct sender senders[SENDERS];
	struct side_call calls[SENDERS];
	uint64_t end = now_ms() + env_long("UMAD_CLOSE_MS", RUN);
	int i, n, wait, closed = 0, got = 0;

	if (variant->response)
		SKIP(return, "the same for both");
	if (is_slow())
		SKIP(return, "too slow for three that write on and on");
	for (i = 0; i < SENDERS; i++) {
		senders[i] = (struct sender){ .port = &self->port, .number = i + 1 };
		side_start(&calls[i], send_short, &senders[i]);
	}
	while (closed < CLOSES || now_ms() < end) {
		close(self->fd);
		self->fd = umad_open(O_RDWR | O_NONBLOCK);
		ASSERT_LE(0, self->fd);
		ASSERT_EQ(0, rmpp_register(self->fd, &agent));
		sleep_ms(5 + closed % 8);
		/* A message may take longer than that; some have to arrive. */
		wait = closed++ % 4 ? 0 : SOON;
		for (n = 0; n < READS && rmpp_msg_read(self->fd, &self->got, HDR_NEW,
						       wait) > 0; n++)
			wait = 0;
		got += n;
	}
	for (i = 0; i < SENDERS; i++)
		__atomic_store_n(&senders[i].stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < SENDERS; i++)
		side_join(&calls[i]);
	TH_LOG("%d closes, %d messages", closed, got);
	/* Those of the senders that are still in the queue. */
	while (rmpp_msg_read(self->fd, &self->got, HDR_NEW, 500) > 0)
		;
	EXPECT_ASKED(1);
	rx_whole(_metadata, self, 3);
	EXPECT_LT(0, got);
}

TEST_HARNESS_MAIN
