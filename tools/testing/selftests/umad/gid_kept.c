// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The port's GIDs are made again when its interface has another MAC. A default GID has one
 * place in the table only, and is lost if somebody has a handle with the old one then.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "rmpp_util.h"
#include "umad_util.h"

FIXTURE(gid) {
	struct test_port port;
	struct test_port by_default;	/* the same, by its default GID */
	int fd;
	struct umad_msg msg;
	char mac[32];
	char cmd[256];
};

static bool gid_at(const char *ibdev, int index, uint8_t gid[16])
{
	char path[256], text[64];
	struct in6_addr addr;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/%d", ibdev, index);
	if (umad_read_sysfs(path, text, sizeof(text)) || inet_pton(AF_INET6, text, &addr) != 1)
		return false;
	memcpy(gid, &addr, 16);
	return gid[0];
}

static int change_mac(FIXTURE_DATA(gid) *self, const char *mac)
{
	snprintf(self->cmd, sizeof(self->cmd), "ip link set %s address %s", self->port.netdev, mac);
	return system(self->cmd);
}

static bool default_gid_comes(FIXTURE_DATA(gid) *self, int ms)
{
	uint64_t end = now_ms() + ms;
	uint8_t gid[16];

	sleep_ms(300);
	do {
		if (gid_at(self->port.ibdev, 0, gid))
			return true;
		sleep_ms(20);
	} while (now_ms() < end);
	return false;
}

FIXTURE_SETUP(gid)
{
	uint8_t gid[16];
	char path[128];

	ASSERT_EQ(0, umad_port_find(&self->port));
	snprintf(path, sizeof(path), "/sys/class/net/%s/address", self->port.netdev);
	ASSERT_EQ(0, umad_read_sysfs(path, self->mac, sizeof(self->mac)));
	self->fd = umad_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	ASSERT_TRUE(gid_at(self->port.ibdev, 0, gid));
	self->by_default = self->port;
	self->by_default.gid_index = 0;
	memcpy(self->by_default.gid, gid, 16);
	msg_init(&self->msg, &self->by_default, 0, CLASS_VENDOR1, METHOD_NOBODY, 42);
}

FIXTURE_TEARDOWN(gid)
{
	close(self->fd);
	change_mac(self, self->mac);
	/* The GIDs all over, for the next. */
	snprintf(self->cmd, sizeof(self->cmd),
		 "sleep 1; ip link set %1$s down; ip link set %1$s up; ip -6 addr replace fd00::1/64 dev %1$s nodad; sleep 1",
		 self->port.netdev);
	system(self->cmd);
}

TEST_F(gid, is_made_again)
{
	EXPECT_EQ(0, change_mac(self, "02:00:00:00:0a:01"));
	EXPECT_TRUE(default_gid_comes(self, 1000));
}

TEST_F(gid, is_made_again_after_a_send)
{
	self->msg.hdr.timeout_ms = 0;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	sleep_ms(100);
	EXPECT_EQ(0, change_mac(self, "02:00:00:00:0a:02"));
	EXPECT_TRUE(default_gid_comes(self, 1000));
}

/* The request has ended, and the program knows. */
TEST_F(gid, is_made_again_after_a_request_that_timed_out)
{
	struct umad_msg got;

	self->msg.hdr.timeout_ms = 50;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &got, 2000));
	EXPECT_EQ(ETIMEDOUT, got.hdr.status);
	sleep_ms(500);
	EXPECT_EQ(0, change_mac(self, "02:00:00:00:0a:03"));
	EXPECT_TRUE(default_gid_comes(self, 1000));
}

/* A GID of an address has any place, but those who know its index use that. */
TEST_F(gid, index_stays_after_a_request_that_timed_out)
{
	struct test_port again;
	struct umad_msg got;

	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 43);
	self->msg.hdr.timeout_ms = 50;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &got, 2000));
	sleep_ms(500);
	EXPECT_EQ(0, change_mac(self, "02:00:00:00:0a:04"));
	sleep_ms(500);
	EXPECT_EQ(0, umad_port_find(&again));
	EXPECT_EQ(self->port.gid_index, again.gid_index);
	/* The same request again. */
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
}

/* Answered, so that it has ended for everybody. */
TEST_F(gid, is_made_again_after_a_message)
{
	const struct rmpp_agent client = { .mgmt_class = CLASS_RMPP, .rmpp_version = 1 };
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TEST,
	};
	struct rmpp_msg msg = { 0 }, got = { 0 };
	int srv = umad_open(O_RDWR);

	ASSERT_EQ(1, rmpp_register(self->fd, &client));
	ASSERT_EQ(0, rmpp_register(srv, &server));
	rmpp_msg_init(&msg, &self->by_default, HDR_NEW, 1, CLASS_RMPP, METHOD_TEST, 7,
		      3 * RMPP_PAYLOAD, 1);
	rmpp_user_hdr(&msg)->timeout_ms = 0;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &msg));
	ASSERT_LT(0, rmpp_msg_read(srv, &got, HDR_NEW, 1000));
	sleep_ms(500);
	EXPECT_EQ(0, change_mac(self, "02:00:00:00:0a:05"));
	EXPECT_TRUE(default_gid_comes(self, 1000));
	rmpp_msg_free(&msg);
	rmpp_msg_free(&got);
	close(srv);
}

/*
 * 10 s after a message has been received, in-tree forgets its sender. Whoever repeats a
 * segment now and then is not to keep a GID in its place for ever.
 */
TEST_F_TIMEOUT(gid, is_made_again_after_a_message_whose_segment_is_repeated, 60)
{
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TEST,
	};
	struct rmpp_raw raw = {
		.fd = self->fd, .port = &self->by_default, .mgmt_class = CLASS_RMPP,
		.method = METHOD_TEST, .tid = 9, .seed = 1,
	};
	struct rmpp_msg got = { 0 };
	int srv = umad_open(O_RDWR), i;

	ASSERT_EQ(0, rmpp_register(srv, &server));
	raw.id = umad_reg_client(self->fd);
	ASSERT_EQ(0, raw_data(&raw, 1, 0, 2 * RMPP_PAYLOAD));
	sleep_ms(200);
	ASSERT_EQ(0, raw_data(&raw, 2, RMPP_LAST, RMPP_PAYLOAD));
	ASSERT_LT(0, rmpp_msg_read(srv, &got, HDR_NEW, 2000));
	for (i = 0; i < 3; i++) {
		sleep_ms(4000);
		EXPECT_EQ(0, raw_data(&raw, 2, RMPP_LAST, RMPP_PAYLOAD));
	}
	sleep_ms(2000);
	EXPECT_EQ(0, change_mac(self, "02:00:00:00:0a:06"));
	EXPECT_TRUE(default_gid_comes(self, 1000));
	rmpp_msg_free(&got);
	close(srv);
}

/* A segment that was given up: its message has ended for the program. */
TEST_F_TIMEOUT(gid, is_made_again_after_a_message_that_timed_out, 60)
{
	const struct rmpp_agent client = { .mgmt_class = CLASS_RMPP, .rmpp_version = 1 };
	struct rmpp_msg msg = { 0 }, got = { 0 };

	ASSERT_EQ(1, rmpp_register(self->fd, &client));
	rmpp_msg_init(&msg, &self->by_default, HDR_NEW, 1, CLASS_RMPP, METHOD_NOBODY, 7,
		      3 * RMPP_PAYLOAD, 1);
	rmpp_user_hdr(&msg)->timeout_ms = 100;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &msg));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &got, HDR_NEW, 5000));
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&got)->status);
	sleep_ms(500);
	EXPECT_EQ(0, change_mac(self, "02:00:00:00:0a:08"));
	EXPECT_TRUE(default_gid_comes(self, 1000));
	rmpp_msg_free(&msg);
	rmpp_msg_free(&got);
}

/*
 * What is sent again by a timer has a handle with the GID as it was. soft-RoCE finds that gone,
 * and its queue pair fails, for all. 0 if the port goes on.
 */
static int lose_gid_meanwhile(FIXTURE_DATA(gid) *self)
{
	int fd = umad_open(O_RDWR), srv = umad_open(O_RDWR), ret;
	struct test_port again;

	snprintf(self->cmd, sizeof(self->cmd),
		 "ip -6 addr del fd00::1/64 dev %1$s; sleep 1.5; ip -6 addr add fd00::1/64 dev %1$s nodad; sleep 0.5",
		 self->port.netdev);
	ret = system(self->cmd) ?: umad_port_find(&again) ?:
	      umad_reg_server(srv, CLASS_VENDOR1, METHOD_TEST) ?: umad_reg_client(fd) ?:
	      msg_round_trip(fd, srv, &again, 7);
	close(fd);
	close(srv);
	return ret;
}

TEST_F(gid, is_lost_between_attempts)
{
	struct umad_msg got;

	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 44);
	self->msg.hdr.timeout_ms = 200;
	self->msg.hdr.retries = 5;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	sleep_ms(100);
	EXPECT_EQ(0, lose_gid_meanwhile(self));
	EXPECT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &got, 2000));
	EXPECT_EQ(ETIMEDOUT, got.hdr.status);
}

TEST_F(gid, is_lost_while_a_message_is_sent)
{
	const struct rmpp_agent client = { .mgmt_class = CLASS_RMPP, .rmpp_version = 1 };
	struct rmpp_msg msg = { 0 }, got = { 0 };

	ASSERT_EQ(1, rmpp_register(self->fd, &client));
	rmpp_msg_init(&msg, &self->port, HDR_NEW, 1, CLASS_RMPP, METHOD_NOBODY, 8,
		      3 * RMPP_PAYLOAD, 1);
	rmpp_user_hdr(&msg)->timeout_ms = 200;
	rmpp_user_hdr(&msg)->retries = 5;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &msg));
	sleep_ms(100);
	EXPECT_EQ(0, lose_gid_meanwhile(self));
	EXPECT_LT(0, rmpp_msg_read(self->fd, &got, HDR_NEW, 5000));
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&got)->status);
	rmpp_msg_free(&msg);
	rmpp_msg_free(&got);
}

/* Its ACK is repeated. */
TEST_F(gid, is_lost_while_a_message_is_received)
{
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TEST,
	};
	struct rmpp_raw raw = {
		.fd = self->fd, .port = &self->port, .mgmt_class = CLASS_RMPP,
		.method = METHOD_TEST, .tid = 10, .seed = 1,
	};
	int srv = umad_open(O_RDWR);

	ASSERT_EQ(0, rmpp_register(srv, &server));
	raw.id = umad_reg_client(self->fd);
	ASSERT_EQ(0, raw_data(&raw, 1, 0, 20 * RMPP_PAYLOAD));
	sleep_ms(20);
	EXPECT_EQ(0, lose_gid_meanwhile(self));
	close(srv);
}

TEST_HARNESS_MAIN
