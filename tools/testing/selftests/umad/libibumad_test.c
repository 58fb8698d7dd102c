// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The unmodified libibumad on top of the module: what its callers do, and what
 * rdma-core's own tests of umad_register and umad_register2 demand.
 */
#include "kselftest_harness.h"
#include "umad_util.h"

/* The library's header repeats the kernel's. */
#define ib_user_mad libibumad_ib_user_mad
#include <infiniband/umad.h>
#undef ib_user_mad

#define CLASS_UNLIKELY	0x2f
#define CLASS_VENDOR	0x4f
#define OUI_OPENIB	0x001405

FIXTURE(lib) {
	struct test_port port;
	int client, server;
	int agent, served;
	char *buf;
};

static const uint8_t oui[3] = { 0x00, 0x14, 0x05 };

FIXTURE_SETUP(lib)
{
	long mask[16 / sizeof(long)] = { 0 };

	ASSERT_EQ(0, umad_port_find(&self->port));
	ASSERT_EQ(0, umad_init());
	self->client = umad_open_port(self->port.ibdev, 1);
	ASSERT_LE(0, self->client);
	self->server = umad_open_port(self->port.ibdev, 1);
	ASSERT_LE(0, self->server);
	self->agent = umad_register(self->client, CLASS_VENDOR1, 1, 0, NULL);
	ASSERT_LE(0, self->agent);
	mask[METHOD_TEST / (8 * sizeof(long))] |=
		1ul << METHOD_TEST % (8 * sizeof(long));
	self->served = umad_register(self->server, CLASS_VENDOR1, 1, 0, mask);
	ASSERT_LE(0, self->served);
	self->buf = umad_alloc(1, umad_size() + 256);
}

FIXTURE_TEARDOWN(lib)
{
	umad_free(self->buf);
	umad_close_port(self->client);
	umad_close_port(self->server);
	umad_done();
}

static void request(FIXTURE_DATA(lib) *self, uint32_t tid, uint8_t method)
{
	struct mad_hdr *mad;
	ib_mad_addr_t addr;

	memset(self->buf, 0, umad_size() + 256);
	umad_set_addr(self->buf, 0, 1, 0, GSI_QKEY);
	memset(&addr, 0, sizeof(addr));
	memcpy(addr.gid, self->port.gid, 16);
	addr.gid_index = self->port.gid_index;
	addr.hop_limit = 64;
	umad_set_grh(self->buf, &addr);
	umad_set_pkey(self->buf, 0);
	mad = umad_get_mad(self->buf);
	mad->base_version = 1;
	mad->mgmt_class = CLASS_VENDOR1;
	mad->class_version = 1;
	mad->method = method;
	mad->tid = htobe64(tid);
}

TEST_F(lib, header_is_the_new_one)
{
	EXPECT_EQ(HDR_NEW, umad_size());
}

TEST_F(lib, cas_and_port_attributes)
{
	char names[10][UMAD_CA_NAME_LEN];
	umad_port_t port;
	umad_ca_t ca;
	int i, n, seen = 0;

	n = umad_get_cas_names(names, 10);
	EXPECT_LT(0, n);
	for (i = 0; i < n; i++)
		seen += !strcmp(names[i], self->port.ibdev);
	EXPECT_EQ(1, seen);
	ASSERT_EQ(0, umad_get_ca(self->port.ibdev, &ca));
	EXPECT_EQ(1, ca.numports);
	umad_release_ca(&ca);
	ASSERT_EQ(0, umad_get_port(self->port.ibdev, 1, &port));
	EXPECT_EQ(1, port.portnum);
	EXPECT_STREQ("Ethernet", port.link_layer);
	EXPECT_EQ(4, port.state);
	umad_release_port(&port);
}

TEST_F(lib, request_is_answered)
{
	int len = 256, ret;

	request(self, 0x77, METHOD_TEST);
	ASSERT_EQ(0, umad_send(self->client, self->agent, self->buf, 256, 20000,
			       0));
	memset(self->buf, 0, umad_size() + 256);
	ret = umad_recv(self->server, self->buf, &len, 10000);
	ASSERT_EQ(self->served, ret);
	EXPECT_EQ(256, len);
	EXPECT_EQ(0, umad_status(self->buf));
	EXPECT_EQ(1, be32toh(umad_get_mad_addr(self->buf)->qpn));
	((struct mad_hdr *)umad_get_mad(self->buf))->method |= METHOD_RESP;
	umad_get_mad_addr(self->buf)->qkey = htobe32(GSI_QKEY);
	ASSERT_EQ(0, umad_send(self->server, self->served, self->buf, 256, 0,
			       0));
	ret = umad_poll(self->client, 10000);
	ASSERT_EQ(0, ret);
	len = 256;
	ret = umad_recv(self->client, self->buf, &len, 0);
	ASSERT_EQ(self->agent, ret);
	EXPECT_EQ(0, umad_status(self->buf));
	EXPECT_EQ(0x77, (uint32_t)be64toh(((struct mad_hdr *)
					   umad_get_mad(self->buf))->tid));
}

TEST_F(lib, request_times_out)
{
	int len = 256;

	request(self, 0x78, METHOD_NOBODY);
	ASSERT_EQ(0, umad_send(self->client, self->agent, self->buf, 256, 200,
			       2));
	EXPECT_EQ(self->agent, umad_recv(self->client, self->buf, &len, -1));
	EXPECT_EQ(ETIMEDOUT, umad_status(self->buf));
	EXPECT_EQ(MAD_HDR_LEN, len);
	EXPECT_EQ(0x78, (uint32_t)be64toh(((struct mad_hdr *)
					   umad_get_mad(self->buf))->tid));
}

TEST_F(lib, poll_and_recv_without_anything)
{
	int len = 256;

	EXPECT_EQ(-ETIMEDOUT, umad_poll(self->client, 50));
	errno = 0;
	EXPECT_GT(0, umad_recv(self->client, self->buf, &len, 0));
	EXPECT_EQ(EAGAIN, errno);
	len = 256;
	EXPECT_EQ(-ETIMEDOUT, umad_recv(self->client, self->buf, &len, 50));
}

TEST_F(lib, second_server_of_a_method_is_refused)
{
	long mask[16 / sizeof(long)] = { 0 };

	mask[0] = 1ul << METHOD_TEST;
	EXPECT_GT(0, umad_register(self->client, CLASS_VENDOR1, 1, 0, mask));
	EXPECT_EQ(0, umad_unregister(self->server, self->served));
	EXPECT_LE(0, umad_register(self->client, CLASS_VENDOR1, 1, 0, mask));
	EXPECT_GT(0, umad_unregister(self->server, self->served));
}

TEST_F(lib, register_and_register_oui_with_the_bits_opensm_sets)
{
	long mask[16 / sizeof(long)] = { 0 };
	static const int bits[] = { 1, 63, 64 };
	int i, id;

	for (i = 0; i < 3; i++)
		mask[bits[i] / (8 * sizeof(long))] |=
			1ul << bits[i] % (8 * sizeof(long));
	id = umad_register(self->client, CLASS_UNLIKELY, 1, 0, mask);
	EXPECT_LE(0, id);
	EXPECT_EQ(0, umad_unregister(self->client, id));
	id = umad_register_oui(self->client, CLASS_VENDOR, 0, (uint8_t *)oui,
			       mask);
	EXPECT_LE(0, id);
	EXPECT_EQ(0, umad_unregister(self->client, id));
}

/* umad_reg2_compat registers so. */
TEST_F(lib, register_oui_with_rmpp)
{
	int id = umad_register_oui(self->client, CLASS_VENDOR, 1,
				   (uint8_t *)oui, NULL);

	EXPECT_LE(0, id);
	EXPECT_EQ(0, umad_unregister(self->client, id));
}

static int register2(int fd, uint8_t mgmt_class, uint8_t version,
		     uint32_t flags, uint32_t oui, uint8_t rmpp_version)
{
	struct umad_reg_attr attr = {
		.mgmt_class = mgmt_class, .mgmt_class_version = version,
		.flags = flags, .oui = oui, .rmpp_version = rmpp_version,
		.method_mask = { 0x80000000000000deull, 0xad00000000000001ull },
	};
	uint32_t id;
	int ret;

	ret = umad_register2(fd, &attr, &id);
	if (!ret)
		umad_unregister(fd, id);
	return ret;
}

TEST_F(lib, register2_refuses_what_it_must)
{
	int fd = umad_open_port(self->port.ibdev, 1);
	struct umad_reg_attr attr = {
		.mgmt_class = CLASS_UNLIKELY, .mgmt_class_version = 1,
		.flags = 0x80000000,
	};
	uint32_t id;

	ASSERT_LE(0, fd);
	EXPECT_NE(0, umad_register2(fd, &attr, &id));
	EXPECT_NE(0, register2(fd, CLASS_SA, 2, 0, 0, 2));
	EXPECT_NE(0, register2(fd, CLASS_VENDOR, 0, 0, 0x0100066a, 0));
	umad_close_port(fd);
}

TEST_F(lib, register2_refuses_the_same_oui_and_methods_twice)
{
	struct umad_reg_attr attr = {
		.mgmt_class = CLASS_VENDOR, .mgmt_class_version = 1,
		.oui = 0x00066a,
		.method_mask = { 0x80000000000000deull, 0xad00000000000001ull },
	};
	uint32_t id, second;

	ASSERT_EQ(0, umad_register2(self->client, &attr, &id));
	EXPECT_NE(0, umad_register2(self->client, &attr, &second));
	EXPECT_NE(0, umad_register2(self->server, &attr, &second));
	EXPECT_EQ(0, umad_unregister(self->client, id));
	EXPECT_EQ(0, umad_register2(self->server, &attr, &second));
}

TEST_F(lib, register2_accepts_what_it_must)
{
	EXPECT_EQ(0, register2(self->client, CLASS_UNLIKELY, 1, 0, 0, 0));
	EXPECT_EQ(0, register2(self->client, CLASS_UNLIKELY, 1, 0, OUI_OPENIB,
			       0));
	EXPECT_EQ(0, register2(self->client, CLASS_VENDOR, 1, 0, 0x00066a, 0));
	EXPECT_EQ(0, register2(self->client, CLASS_VENDOR, 1, 1, 0x00066a, 0));
}

TEST_HARNESS_MAIN
