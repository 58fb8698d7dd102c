// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a resolution of an address on RoCE has found is used for a second: by who pauses
 * between its writes, for ACKs, and until a neighbour changes. soft-RoCE looks up the neighbour
 * itself, so the counter has to tell.
 */
#include <arpa/inet.h>
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "rmpp_util.h"
#include "umad_util.h"

#define FAR	"fd99::2"
#define WRITES	200
#define NEXTHOP	7	/* a nexthop object */
#define SETTLED	50	/* ms after a change of the routes */

FIXTURE(cache) {
	struct test_port port;
	int fd;
	struct umad_msg msg;
	long before;
	uint64_t tid;
};

static long known(FIXTURE_DATA(cache) *self)
{
	return umad_counter(&self->port, "send_resolved_before") - self->before;
}

/* After a pause; true if the address was known. */
static bool write_finds_it(struct __test_metadata *_metadata, FIXTURE_DATA(cache) *self)
{
	long n = known(self);

	sleep_ms(2);
	/* The one before may not have left yet. */
	self->msg.mad.tid = htobe64(++self->tid);
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	return known(self) > n;
}

/* dummy has one that can be set. */
static int carrier_set(const char *netdev, bool carrier)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/net/%s/carrier", netdev);
	return umad_write_sysfs(path, carrier ? "1" : "0");
}

static int ignore_linkdown_of(const char *conf, bool ignore)
{
	char path[128];

	snprintf(path, sizeof(path),
		 "/proc/sys/net/ipv6/conf/%s/ignore_routes_with_linkdown", conf);
	return umad_write_sysfs(path, ignore ? "1" : "0");
}

static int ignore_linkdown(const char *netdev, bool ignore)
{
	return ignore_linkdown_of("all", ignore) ?: ignore_linkdown_of(netdev, ignore);
}

FIXTURE_SETUP(cache)
{
	ASSERT_EQ(0, umad_port_find(&self->port));
	ASSERT_EQ(0, route6(true, "fd99::", 64, self->port.netdev));
	ASSERT_EQ(0, neigh6(true, FAR, self->port.netdev));
	sleep_ms(SETTLED);
	self->fd = umad_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 42);
	ASSERT_EQ(1, inet_pton(AF_INET6, FAR, self->msg.hdr.gid));
	self->before = umad_counter(&self->port, "send_resolved_before");
	/* It was added, and is not known. */
	ASSERT_FALSE(write_finds_it(_metadata, self));
}

FIXTURE_TEARDOWN(cache)
{
	close(self->fd);
	neigh6(false, FAR, self->port.netdev);
	route6(false, "fd99::", 64, self->port.netdev);
	nexthop_del(NEXTHOP);
}

TEST_F(cache, address_is_known_for_a_second)
{
	EXPECT_TRUE(write_finds_it(_metadata, self));
	EXPECT_TRUE(write_finds_it(_metadata, self));
	sleep_ms(1100);
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_TRUE(write_finds_it(_metadata, self));
}

TEST_F(cache, neighbour_that_has_changed_is_not_known)
{
	EXPECT_TRUE(write_finds_it(_metadata, self));
	EXPECT_EQ(0, neigh6(false, FAR, self->port.netdev));
	EXPECT_EQ(0, neigh6(true, FAR, self->port.netdev));
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_TRUE(write_finds_it(_metadata, self));
}

/* soft-RoCE looks the route up, too, and without one its queue pair would fail, for all. */
TEST_F(cache, address_without_a_route_is_ENETUNREACH)
{
	int srv = umad_open(O_RDWR);

	ASSERT_EQ(0, umad_reg_server(srv, CLASS_VENDOR1, METHOD_TEST));
	EXPECT_TRUE(write_finds_it(_metadata, self));
	/* It must have left: in its queue it would do that, too (promises.rst). */
	sleep_ms(SETTLED);
	ASSERT_EQ(0, route6(false, "fd99::", 64, self->port.netdev));
	EXPECT_EQ(-ENETUNREACH, msg_write(self->fd, &self->msg));
	EXPECT_EQ(0, msg_round_trip(self->fd, srv, &self->port, 7));
	EXPECT_EQ(0, route6(true, "fd99::", 64, self->port.netdev));
	EXPECT_FALSE(write_finds_it(_metadata, self));
	close(srv);
}

/* It may be told before the old one is out of use. */
TEST_F(cache, address_is_not_known_while_routes_change)
{
	EXPECT_TRUE(write_finds_it(_metadata, self));
	ASSERT_EQ(0, route6(true, "fd98::", 64, self->port.netdev));
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_FALSE(write_finds_it(_metadata, self));
	sleep_ms(SETTLED);
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_TRUE(write_finds_it(_metadata, self));
	EXPECT_EQ(0, route6(false, "fd98::", 64, self->port.netdev));
}

/* The route stays as it is, and none that listens to routes hears of it. */
TEST_F(cache, address_is_not_known_when_its_nexthop_is_a_black_hole)
{
	int srv = umad_open(O_RDWR);

	ASSERT_EQ(0, umad_reg_server(srv, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(0, nexthop6(NEXTHOP, self->port.netdev));
	ASSERT_EQ(0, route6_by_nexthop("fd99::", 64, NEXTHOP));
	sleep_ms(SETTLED);
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_TRUE(write_finds_it(_metadata, self));
	sleep_ms(SETTLED);
	ASSERT_EQ(0, nexthop6(NEXTHOP, NULL));
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
	EXPECT_EQ(0, msg_round_trip(self->fd, srv, &self->port, 7));
	close(srv);
}

/* Nobody is told when it does. */
TEST_F(cache, address_is_not_known_if_its_route_may_expire)
{
	int srv = umad_open(O_RDWR);
	uint64_t begun;

	ASSERT_EQ(0, umad_reg_server(srv, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(0, route6_until("fd99::", 64, self->port.netdev, 1));
	begun = now_ms();
	sleep_ms(700);
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_FALSE(write_finds_it(_metadata, self));
	sleep_ms(begun + 1050 - now_ms());
	EXPECT_EQ(-ENETUNREACH, msg_write(self->fd, &self->msg));
	EXPECT_EQ(0, msg_round_trip(self->fd, srv, &self->port, 7));
	close(srv);
}

/*
 * IPv6 may be asked to ignore the routes of such a link at any time, and says nothing then.
 * soft-RoCE would find no route for what has an address already, and its queue pair would fail.
 * That of 6.12 fails anyway, with each MAD that is sent while there is no carrier.
 */
TEST_F(cache, address_is_not_known_while_its_link_has_no_carrier)
{
	int srv = umad_open(O_RDWR);
	int i;

	if (kernel_from(6, 12))
		SKIP(return, "soft-RoCE fails without a carrier");
	ASSERT_EQ(0, umad_reg_server(srv, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(0, carrier_set(self->port.netdev, false));
	for (i = 0; i < 5; i++) {
		EXPECT_FALSE(write_finds_it(_metadata, self));
		sleep_ms(SETTLED);
	}
	ASSERT_EQ(0, ignore_linkdown(self->port.netdev, true));
	EXPECT_EQ(-ENETUNREACH, msg_write(self->fd, &self->msg));
	EXPECT_EQ(0, ignore_linkdown(self->port.netdev, false));
	ASSERT_EQ(0, carrier_set(self->port.netdev, true));
	sleep_ms(SETTLED);
	EXPECT_EQ(0, msg_round_trip(self->fd, srv, &self->port, 7));
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_TRUE(write_finds_it(_metadata, self));
	close(srv);
}

/* A state that it needs may go without a word; whose policy it is, is not looked at. */
TEST_F(cache, no_address_is_known_while_there_are_IPsec_policies)
{
	int i;

	EXPECT_TRUE(write_finds_it(_metadata, self));
	ASSERT_EQ(0, system("ip xfrm policy add dir out dst fd97::/64 action allow"));
	for (i = 0; i < 5; i++) {
		EXPECT_FALSE(write_finds_it(_metadata, self));
		sleep_ms(SETTLED);
	}
	EXPECT_EQ(0, system("ip xfrm policy del dir out dst fd97::/64"));
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_TRUE(write_finds_it(_metadata, self));
}

/* Two writes, and the answer to the second. */
TEST_F(cache, sender_of_a_message_is_known)
{
	const struct rmpp_agent client = { .mgmt_class = CLASS_RMPP, .rmpp_version = 1 };
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TEST,
	};
	struct rmpp_msg msg = { 0 }, got = { 0 };
	int srv = umad_open(O_RDWR);
	long n;

	ASSERT_EQ(1, rmpp_register(self->fd, &client));
	ASSERT_EQ(0, rmpp_register(srv, &server));
	memcpy(self->msg.hdr.gid, self->port.gid, sizeof(self->msg.hdr.gid));
	write_finds_it(_metadata, self);
	n = known(self);
	sleep_ms(2);
	rmpp_msg_init(&msg, &self->port, HDR_NEW, 1, CLASS_RMPP, METHOD_TEST, 7,
		      3 * RMPP_PAYLOAD, 1);
	rmpp_user_hdr(&msg)->timeout_ms = 0;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &msg));
	ASSERT_LT(0, rmpp_msg_read(srv, &got, HDR_NEW, 1000));
	EXPECT_EQ(n + 2, known(self));
	rmpp_msg_free(&msg);
	rmpp_msg_free(&got);
	close(srv);
}

/* Of the host itself there is no neighbour that would change with it. */
TEST_F(cache, no_address_is_known_when_an_interface_has_another_MAC)
{
	ASSERT_EQ(0, system("ip link add cache9 type dummy"));
	write_finds_it(_metadata, self);
	EXPECT_TRUE(write_finds_it(_metadata, self));
	EXPECT_EQ(0, system("ip link set cache9 address 02:00:00:00:00:09"));
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_TRUE(write_finds_it(_metadata, self));
	EXPECT_EQ(0, system("ip link del cache9"));
}

/* All but the last byte of the GID, and the port's own GID, are the same. */
TEST_F(cache, other_address_is_not_known)
{
	self->msg.hdr.gid[15] = 3;
	ASSERT_EQ(0, neigh6(true, "fd99::3", self->port.netdev));
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_TRUE(write_finds_it(_metadata, self));
	neigh6(false, "fd99::3", self->port.netdev);
}

/* Which link of a bond is used depends on it. */
TEST_F(cache, address_with_a_flow_label_is_not_known)
{
	self->msg.hdr.flow_label = htobe32(1);
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_FALSE(write_finds_it(_metadata, self));
}

/* ib_core leaves the hop limit as it was written, so what one writes is not for another. */
TEST_F(cache, multicast_address_is_not_known)
{
	self->msg.hdr.gid[0] = 0xff;
	self->msg.hdr.gid[1] = 0x0e;
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_FALSE(write_finds_it(_metadata, self));
}

TEST_F(cache, GID_that_is_gone_is_ENODATA)
{
	EXPECT_TRUE(write_finds_it(_metadata, self));
	self->msg.hdr.gid_index = 200;
	EXPECT_EQ(-ENODATA, msg_write(self->fd, &self->msg));
}

/*
 * Now and then who writes on and on has to sleep in a resolution, and others have their
 * turn. In between ib_core's works run, which looks like a pause.
 */
TEST_F(cache, writes_without_a_pause_are_resolved)
{
	int i;

	sleep_ms(2);
	for (i = 0; i < WRITES; i++) {
		self->msg.mad.tid = htobe64(++self->tid);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	TH_LOG("%ld of %d writes did not resolve", known(self), WRITES);
	EXPECT_LE(1, known(self));
	EXPECT_GE(WRITES * 9 / 10, known(self));
}

/* Whether its route has got a lifetime is looked at when it is remembered, and no later. */
TEST_F(cache, writes_without_a_pause_lengthen_no_second)
{
	uint64_t begun = now_ms();

	sleep_ms(500);
	while (now_ms() < begun + 900) {
		self->msg.mad.tid = htobe64(++self->tid);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	sleep_ms(begun + 1010 - now_ms());
	EXPECT_FALSE(write_finds_it(_metadata, self));
	EXPECT_TRUE(write_finds_it(_metadata, self));
}

/* Requests that are outstanding share a handle if all that it is made of is the same. */
TEST_F(cache, requests_of_another_traffic_class_have_their_own)
{
	int srv = umad_open(O_RDWR), i;
	struct umad_msg got;

	ASSERT_EQ(0, umad_reg_server(srv, CLASS_VENDOR1, METHOD_TEST));
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
	self->msg.hdr.timeout_ms = -1;
	for (i = 0; i < 6; i++) {
		self->msg.hdr.traffic_class = i / 2;
		write_finds_it(_metadata, self);
		ASSERT_EQ(MSG_LEN, msg_read(srv, &got, 1000));
		EXPECT_EQ(i / 2, got.hdr.traffic_class);
	}
	close(srv);
}

TEST_HARNESS_MAIN
