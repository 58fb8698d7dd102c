// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Files, agents, processes and devices that go away in the middle of RMPP
 * transfers, on either side. Nothing may hang, leak or be delivered in part;
 * the debug kernel has a word in that.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "rmpp_util.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#define SOON	20000	/* ms; for what has to happen */
#define LEN	(1 << 20)
#define ROUNDS	12

FIXTURE(life) {
	struct test_port port;
	int fd;			/* client, agent 0 */
	int srv;		/* server, agent 0 */
	struct rmpp_msg msg;
	struct rmpp_msg got;
	struct rmpp_msg reply;
	unsigned int random;
};

static int open_agent(uint8_t method)
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

FIXTURE_SETUP(life)
{
	/* A failed test before may have left none. */
	if (umad_port_find(&self->port) == -ENODEV)
		rdma_link_add(umad_ibdev(), "dummy0");
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = open_agent(0);
	self->srv = open_agent(METHOD_TABLE);
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->srv);
	self->random = 1;
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE, 1, LEN, 1);
}

FIXTURE_TEARDOWN(life)
{
	close(self->fd);
	close(self->srv);
	rmpp_msg_free(&self->msg);
	rmpp_msg_free(&self->got);
	rmpp_msg_free(&self->reply);
	if (rdma_link_index(self->port.ibdev) < 0)
		EXPECT_EQ(0, rdma_link_add(self->port.ibdev,
					   self->port.netdev));
	EXPECT_EQ(0, umad_port_find(&self->port));
}

/* Some time in the middle of a transfer of LEN, differently each round. */
static void somewhere(FIXTURE_DATA(life) *self)
{
	self->random = self->random * 1664525 + 1013904223;
	sleep_ms(self->random >> 27);
}

/* After all that: nothing else is left, and a message goes through. */
static void still_works(struct __test_metadata *_metadata, FIXTURE_DATA(life) *self)
{
	int ret;

	while ((ret = rmpp_msg_read(self->srv, &self->got, HDR_NEW, 1000)) > 0)
		EXPECT_TRUE(rmpp_msg_has(&self->got, LEN, 1));
	EXPECT_EQ(-ETIME, ret);
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE, 0x5555, 100000, 2);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	do {
		ret = rmpp_msg_read(self->srv, &self->got, HDR_NEW, SOON);
		ASSERT_LT(0, ret);
	} while (rmpp_tid(&self->got) != 0x5555);
	EXPECT_TRUE(rmpp_msg_has(&self->got, 100000, 2));
}

TEST_F_TIMEOUT(life, sender_closes, 120)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		somewhere(self);
		close(self->fd);
		self->fd = open_agent(0);
		ASSERT_LE(0, self->fd);
	}
	still_works(_metadata, self);
}

TEST_F_TIMEOUT(life, sender_unregisters, 120)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
	};
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		somewhere(self);
		ASSERT_EQ(0, umad_unreg(self->fd, 0));
		/* In silence, as all sends of an agent that goes. */
		EXPECT_TRUE(rmpp_quiet(self->fd, 20));
		ASSERT_EQ(0, rmpp_register(self->fd, &agent));
	}
	still_works(_metadata, self);
}

TEST_F_TIMEOUT(life, receiver_closes, 120)
{
	int i, back = 0;

	for (i = 0; i < ROUNDS; i++) {
		rmpp_mad(&self->msg)->tid = htobe64(i);
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		somewhere(self);
		close(self->srv);
		/* What was not delivered comes back. */
		if (rmpp_msg_read(self->fd, &self->got, HDR_NEW, 5000) > 0) {
			EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
			EXPECT_EQ(i, rmpp_tid(&self->got));
			back++;
		}
		self->srv = open_agent(METHOD_TABLE);
		ASSERT_LE(0, self->srv);
	}
	EXPECT_LT(ROUNDS / 3, back);
	still_works(_metadata, self);
}

TEST_F_TIMEOUT(life, receiver_unregisters, 120)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.method = METHOD_TABLE,
	};
	int i;

	for (i = 0; i < ROUNDS; i++) {
		rmpp_mad(&self->msg)->tid = htobe64(i);
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		somewhere(self);
		ASSERT_EQ(0, umad_unreg(self->srv, 0));
		if (rmpp_msg_read(self->fd, &self->got, HDR_NEW, 5000) > 0)
			EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
		ASSERT_EQ(0, rmpp_register(self->srv, &agent));
	}
	still_works(_metadata, self);
}

/* A long response to a program that does not wait for it. */
TEST_F_TIMEOUT(life, requester_closes, 120)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
			      METHOD_TABLE, i, 30000, 1);
		rmpp_user_hdr(&self->msg)->timeout_ms = 10000;
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		do {
			ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got,
						   HDR_NEW, SOON));
		} while (rmpp_user_hdr(&self->got)->status);
		rmpp_msg_reply(&self->reply, &self->got, 0, LEN, 3);
		ASSERT_LT(0, rmpp_msg_write(self->srv, &self->reply));
		somewhere(self);
		close(self->fd);
		self->fd = open_agent(0);
		ASSERT_LE(0, self->fd);
	}
	/* The responses that nobody took come back. */
	while (rmpp_msg_read(self->srv, &self->got, HDR_NEW, 5000) > 0)
		EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE, 1, LEN, 1);
	still_works(_metadata, self);
}

/* Many transfers of a process that is killed. */
TEST_F_TIMEOUT(life, process_is_killed, 120)
{
	int i, k, fd, status;
	pid_t pid;

	for (i = 0; i < ROUNDS / 2; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			fd = open_agent(0);
			for (k = 0; k < 8; k++) {
				rmpp_mad(&self->msg)->tid = htobe64(k);
				rmpp_msg_write(fd, &self->msg);
			}
			sleep_ms(60000);
			_exit(0);
		}
		sleep_ms(150);
		somewhere(self);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
	}
	rmpp_mad(&self->msg)->tid = htobe64(1);
	still_works(_metadata, self);
}

static void *do_del(void *arg)
{
	struct test_port *port = arg;

	return (void *)(long)rdma_link_del(port->ibdev);
}

/* Both files lose their device, in the middle of transfers both ways. */
TEST_F_TIMEOUT(life, device_is_removed, 180)
{
	struct side_call del;
	struct pollfd pfd;
	char byte[HDR_NEW];
	int i, k;

	for (i = 0; i < 5; i++) {
		for (k = 0; k < 4; k++) {
			rmpp_mad(&self->msg)->tid = htobe64(k);
			rmpp_user_hdr(&self->msg)->timeout_ms = k * 1000;
			ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		}
		somewhere(self);
		side_start(&del, do_del, &self->port);
		ASSERT_TRUE(side_done(&del, SOON)) {
			TH_LOG("removal hangs");
		}
		side_join(&del);
		pfd.fd = self->fd;
		pfd.events = POLLIN;
		EXPECT_EQ(1, poll(&pfd, 1, 0));
		EXPECT_EQ(POLLERR, pfd.revents);
		EXPECT_EQ(-1, read(self->fd, byte, sizeof(byte)));
		EXPECT_EQ(EIO, errno);
		EXPECT_EQ(-1, read(self->srv, byte, sizeof(byte)));
		EXPECT_EQ(EIO, errno);
		EXPECT_EQ(-EIO, rmpp_msg_write(self->fd, &self->msg));
		close(self->fd);
		close(self->srv);
		self->fd = -1;
		self->srv = -1;
		ASSERT_EQ(0, rdma_link_add(self->port.ibdev,
					   self->port.netdev));
		ASSERT_EQ(0, umad_port_find(&self->port));
		self->fd = open_agent(0);
		self->srv = open_agent(METHOD_TABLE);
		ASSERT_LE(0, self->fd);
		ASSERT_LE(0, self->srv);
		rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
			      METHOD_TABLE, 1, LEN, 1);
	}
	still_works(_metadata, self);
}

/* Several of everything at the same time. */
#define THREADS 6

struct chaos {
	const struct test_port *port;
	unsigned int random;
	int errors;
	bool stop;
};

static void *chaos_main(void *arg)
{
	struct chaos *chaos = arg;
	unsigned int random = __atomic_add_fetch(&chaos->random, 1,
						 __ATOMIC_SEQ_CST);
	struct rmpp_msg msg = { 0 }, got = { 0 };
	int fd, i;

	while (!__atomic_load_n(&chaos->stop, __ATOMIC_SEQ_CST)) {
		fd = open_agent(0);
		if (fd < 0) {
			__atomic_add_fetch(&chaos->errors, 1, __ATOMIC_SEQ_CST);
			break;
		}
		for (i = 0; i < 5; i++) {
			random = random * 1664525 + 1013904223;
			rmpp_msg_init(&msg, chaos->port, HDR_NEW, 0, CLASS_RMPP,
				      METHOD_TABLE, i, random >> 17, 1);
			rmpp_user_hdr(&msg)->timeout_ms = i % 2 ? 100 : 0;
			if (rmpp_msg_write(fd, &msg) <= 0)
				__atomic_add_fetch(&chaos->errors, 1,
						   __ATOMIC_SEQ_CST);
		}
		sleep_ms(random >> 26);
		if (random & 1)
			umad_unreg(fd, 0);
		if (random & 2)
			rmpp_msg_read(fd, &got, HDR_NEW, random >> 26);
		close(fd);
	}
	rmpp_msg_free(&msg);
	rmpp_msg_free(&got);
	return NULL;
}

TEST_F_TIMEOUT(life, many_files_come_and_go, 120)
{
	struct chaos chaos = { .port = &self->port };
	struct side_call calls[THREADS];
	uint64_t end = now_ms() + 4000;
	int i, got = 0;

	for (i = 0; i < THREADS; i++)
		side_start(&calls[i], chaos_main, &chaos);
	while (now_ms() < end) {
		if (rmpp_msg_read(self->srv, &self->got, HDR_NEW, 100) <= 0)
			continue;
		if (rmpp_user_hdr(&self->got)->status)
			continue;
		got++;
		EXPECT_TRUE(rmpp_msg_has(&self->got, self->got.mad_len - 40, 1));
		if (got % 3)
			continue;
		rmpp_msg_reply(&self->reply, &self->got, 0, 50000, 2);
		rmpp_msg_write(self->srv, &self->reply);
	}
	__atomic_store_n(&chaos.stop, true, __ATOMIC_SEQ_CST);
	for (i = 0; i < THREADS; i++)
		side_join(&calls[i]);
	EXPECT_EQ(0, chaos.errors);
	EXPECT_LT(2, got);
	/* Answers to those that are gone. */
	while (rmpp_msg_read(self->srv, &self->got, HDR_NEW, 5000) > 0)
		;
	still_works(_metadata, self);
}

TEST_HARNESS_MAIN
