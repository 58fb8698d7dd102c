// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests and responses over rxe: what is sent, received and refused. */
#include "rxe_env.h"

#include <linux/slab.h>
#include <linux/string.h>
#include "agent.h"
#include "file.h"
#include "register.h"
#include "rxe_peer.h"
#include "request.h"
#include "send.h"

/* A TID whose upper half is to be replaced. */
#define TID		0xfedcba9812345678

static u32 hi_tid(struct umad_file *file, u32 id)
{
	return umad_file_agent(file, id)->core->hi_tid;
}

/* All of a received header; in-tree fills it in the same way. */
static void expect_hdr(struct kunit *test, const struct ib_user_mad_hdr *hdr,
		       u32 id)
{
	struct rxe_env *env = test->priv;
	struct ib_user_mad_hdr want = {
		.id = id,
		.qpn = cpu_to_be32(1),
		.grh_present = 1,
		.gid_index = env->gid_index,
		.hop_limit = 64,
		.traffic_class = 0x20,
		.pkey_index = 0,
	};

	memcpy(want.gid, env->gid.raw, sizeof(want.gid));
	KUNIT_EXPECT_EQ(test, hdr->id, id);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(hdr->qpn), 1);
	KUNIT_EXPECT_EQ(test, hdr->gid_index, env->gid_index);
	KUNIT_EXPECT_EQ(test, memcmp(hdr->gid, want.gid, 16), 0);
	KUNIT_EXPECT_EQ(test, hdr->traffic_class, 0x20);
	/* And all else as it should be, or zero. */
	want.length = hdr->length;
	KUNIT_EXPECT_EQ(test, memcmp(hdr, &want, sizeof(want)), 0);
}

/* The MAD arrives as it was written, but for the upper half of its TID. */
static void expect_mad(struct kunit *test, const struct rxe_record *record,
		       u8 method, u64 tid)
{
	struct ib_vendor_mad *want = rxe_mad(test, method, TID);

	want->mad_hdr.tid = cpu_to_be64(tid);
	KUNIT_EXPECT_EQ(test, record->len, 256);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(record->mad.mad_hdr.tid), tid);
	KUNIT_EXPECT_EQ(test, memcmp(record->raw, want, sizeof(*want)), 0);
}

/**
 * struct pair_case - a request and what answers it
 * @name: of the case
 * @request: method
 * @response: method
 */
struct pair_case {
	const char *name;
	u8 request;
	u8 response;
};

static const struct pair_case pair_cases[] = {
	{ "Get", IB_MGMT_METHOD_GET, IB_MGMT_METHOD_GET_RESP },
	{ "Set", IB_MGMT_METHOD_SET, IB_MGMT_METHOD_GET_RESP },
	/* A response without the response bit. */
	{ "Trap", IB_MGMT_METHOD_TRAP, IB_MGMT_METHOD_TRAP_REPRESS },
};

static void pair_desc(const struct pair_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(pair, pair_cases, pair_desc);

static void rxe_request_and_reply(struct kunit *test)
{
	const struct pair_case *c = test->param_value;
	struct umad_file *client = rxe_open(test), *server = rxe_open(test);
	struct ib_user_mad_hdr hdr;
	struct rxe_record record;
	u32 id, server_id;
	u64 tid;

	/* Ids that tell the two files apart. */
	rxe_client(test, client);
	id = rxe_client(test, client);
	server_id = rxe_server(test, server);
	tid = (u64)hi_tid(client, id) << 32 | lower_32_bits(TID);

	rxe_address(test, &hdr, id);
	hdr.timeout_ms = 5000;
	hdr.retries = 3;
	KUNIT_ASSERT_EQ(test, 0,
			umad_send_mad(client, &hdr,
				      rxe_mad(test, c->request, TID), 256));
	rxe_read_request(test, server, &record);
	expect_hdr(test, &record.hdr, server_id);
	expect_mad(test, &record, c->request, tid);
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 1);

	KUNIT_ASSERT_EQ(test, rxe_reply(test, server, &record, c->response), 0);
	rxe_read_request(test, client, &record);
	expect_hdr(test, &record.hdr, id);
	expect_mad(test, &record, c->response, tid);

	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 0);
	KUNIT_EXPECT_TRUE(test, rxe_all_done(server));
	KUNIT_EXPECT_EQ(test, rxe_read_all(client) + rxe_read_all(server), 0);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_POSTED), 2);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_COMPLETED), 2);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_RETRIED), 0);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_RECV_DELIVERED), 2);
}

/* No response expected: none is delivered, and nothing is reported. */
static void rxe_no_response_expected(struct kunit *test)
{
	struct umad_file *client = rxe_open(test), *server = rxe_open(test);
	u32 id = rxe_client(test, client);
	struct rxe_record record;

	rxe_server(test, server);
	KUNIT_ASSERT_EQ(test, rxe_send(test, client, id, 1, 0, 7), 0);
	rxe_read_request(test, server, &record);
	KUNIT_EXPECT_TRUE(test, rxe_all_done(client));
	KUNIT_ASSERT_EQ(test, 0, rxe_reply(test, server, &record,
					   IB_MGMT_METHOD_GET_RESP));
	KUNIT_EXPECT_TRUE(test, rxe_all_done(server));
	KUNIT_EXPECT_EQ(test, rxe_read_all(client) + rxe_read_all(server), 0);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_COMPLETED), 2);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_RETRIED), 0);
}

/* A file may have very many unread. */
static void rxe_memory_of_an_unread_mad(struct kunit *test)
{
	struct umad_file *client = rxe_open(test), *server = rxe_open(test);
	u32 id = rxe_client(test, client);
	u32 i;

	rxe_server(test, server);
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_EQ(test, rxe_send(test, client, id, i, 0, 0), 0);
	for (i = 0; i < 1000 && READ_ONCE(server->rxq.queued) < 10; i++)
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, server->rxq.charged, 10 * 352);
	KUNIT_EXPECT_EQ(test, rxe_read_all(server), 10);
	KUNIT_EXPECT_EQ(test, server->rxq.charged, 0);
}

/* A peer in the kernel, which may answer before our send is complete. */
static void rxe_many_answered(struct kunit *test)
{
	struct umad_file *client = rxe_open(test);
	u32 id = rxe_client(test, client);
	struct rxe_peer *peer = rxe_peer_start(test, 1);
	struct rxe_record record;
	unsigned int i, sum = 0;

	/* The second response to a request finds nobody. */
	peer->copies = 2;
	for (i = 1; i <= 100; i++)
		KUNIT_ASSERT_EQ(test, 0,
				rxe_send(test, client, id, i, 10000, 1));
	for (i = 1; i <= 100; i++) {
		rxe_read_request(test, client, &record);
		KUNIT_EXPECT_EQ(test, record.mad.mad_hdr.method,
				IB_MGMT_METHOD_GET_RESP);
		sum += lower_32_bits(be64_to_cpu(record.mad.mad_hdr.tid));
	}
	KUNIT_EXPECT_EQ(test, sum, 100 * 101 / 2);
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 0);
	KUNIT_EXPECT_EQ(test, rxe_read_all(client), 0);
	KUNIT_EXPECT_TRUE(test, rxe_peer_gets(peer, 100));
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_RETRIED), 0);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_COMPLETED), 100);
}

static void rxe_duplicate_tid(struct kunit *test)
{
	struct umad_file *client = rxe_open(test), *other = rxe_open(test);
	u32 id = rxe_client(test, client), other_id = rxe_client(test, other);

	rxe_peer_start(test, 0);
	KUNIT_ASSERT_EQ(test, 0,
			rxe_send(test, client, id, 5, RXE_TIMEOUT_INFINITE, 0));
	KUNIT_EXPECT_EQ(test, rxe_send(test, client, id, 5, 100, 0), -EINVAL);
	/* The upper half is not the caller's. */
	KUNIT_EXPECT_EQ(test, -EINVAL,
			rxe_send(test, client, id, 5 + (9ULL << 32), 0, 0));
	KUNIT_EXPECT_EQ(test, 2, rxe_stat(test, UMAD_STAT_SEND_DUPLICATE));
	KUNIT_EXPECT_EQ(test, 2, rxe_stat(test, UMAD_STAT_SEND_REFUSED));
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 1);

	KUNIT_EXPECT_EQ(test, 0, rxe_send(test, client, id, 6, RXE_TIMEOUT_INFINITE, 0));
	KUNIT_EXPECT_EQ(test, 0,
			rxe_send(test, other, other_id, 5, RXE_TIMEOUT_INFINITE, 0));
	KUNIT_EXPECT_EQ(test, 0, umad_agent_unregister(client, id, NULL));
	id = rxe_client(test, client);
	KUNIT_EXPECT_EQ(test, 0, rxe_send(test, client, id, 5, RXE_TIMEOUT_INFINITE, 0));
	KUNIT_EXPECT_EQ(test, rxe_read_all(client), 0);
}

/* Segments of a program's own RMPP: one TID, no request, bytes untouched. */
static void rxe_raw_segments(struct kunit *test)
{
	struct umad_file *client = rxe_open(test), *server = rxe_open(test);
	u32 id = rxe_client(test, client);
	struct ib_user_mad_hdr hdr;
	struct rxe_record record;
	struct ib_vendor_mad *mad;
	unsigned int i;

	rxe_server(test, server);
	rxe_address(test, &hdr, id);
	hdr.timeout_ms = RXE_TIMEOUT_INFINITE;
	for (i = 0; i < 3; i++) {
		mad = rxe_mad(test, RXE_GET, 1);
		memset(&mad->rmpp_hdr, 0xa0 + i, sizeof(mad->rmpp_hdr));
		mad->rmpp_hdr.rmpp_rtime_flags = IB_MGMT_RMPP_FLAG_ACTIVE;
		KUNIT_ASSERT_EQ(test, 0, umad_send_mad(client, &hdr, mad, 256));
	}
	for (i = 0; i < 3; i++) {
		rxe_read_request(test, server, &record);
		KUNIT_EXPECT_EQ(test, record.mad.rmpp_hdr.rmpp_type, 0xa0 + i);
		KUNIT_EXPECT_EQ(test, record.mad.rmpp_hdr.rmpp_rtime_flags,
				IB_MGMT_RMPP_FLAG_ACTIVE);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(record.mad.rmpp_hdr.seg_num),
				0x01010101 * (0xa0 + i));
	}
	KUNIT_EXPECT_EQ(test, 0, umad_agent_unregister(client, id, NULL));

	/* As segments of a response they need no request. */
	id = rxe_client(test, client);
	record.mad.mad_hdr.tid = cpu_to_be64((u64)hi_tid(client, id) << 32);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, 0, rxe_reply(test, server, &record,
						   IB_MGMT_METHOD_GET_RESP));
		rxe_read_request(test, client, &record);
	}
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_RECV_UNMATCHED), 0);
}

/**
 * struct bad_case - a MAD, and what comes of the attempt to send it
 * @name: of the case
 * @id: of the agent: 0 and 1 are registered, 1 for RMPP by the program
 * @mgmt_class: of the MAD
 * @base_version: of the MAD
 * @len: bytes of the MAD
 * @no_grh: leave the GRH away, which RoCE needs
 * @no_gid: send to the zero GID
 * @gid_index: instead of the one that has the GID, or 0
 * @want: what is returned
 */
struct bad_case {
	const char *name;
	u32 id;
	u8 mgmt_class;
	u8 base_version;
	size_t len;
	bool no_grh;
	bool no_gid;
	u8 gid_index;
	int want;
};

static const struct bad_case bad_cases[] = {
	{ "vendor 256", 0, 0x40, 1, 256 },
	{ "vendor 40", 0, 0x40, 1, 40 },
	{ "vendor 39", 0, 0x40, 1, 39, .want = -EINVAL },
	{ "vendor 257", 0, 0x40, 1, 257, .want = -EINVAL },
	{ "vendor 2048", 0, 0x40, 1, 2048, .want = -EINVAL },
	{ "vendor 257, OPA version", 0, 0x40, 0x80, 257, .want = -EINVAL },
	{ "SA 56", 0, 3, 1, 56 },
	{ "SA 55", 0, 3, 1, 55, .want = -EINVAL },
	{ "DevMgmt 64", 0, 6, 1, 64 },
	{ "DevMgmt 63", 0, 6, 1, 63, .want = -EINVAL },
	{ "Perf 36", 0, 4, 1, 36 },
	{ "no agent", 2, 0x40, 1, 256, .want = -EIO },
	{ "last id", UMAD_MAX_AGENTS - 1, 0x40, 1, 256, .want = -EIO },
	{ "RMPP agent, RMPP class", 1, 6, 1, 256 },
	{ "RMPP agent, other class", 1, 4, 1, 256, .want = -EINVAL },
	{ "no GRH", 0, 0x40, 1, 256, .no_grh = true, .want = -EINVAL },
	{ "zero GID", 0, 0x40, 1, 256, .no_gid = true, .want = -ENETUNREACH },
	{ "no such GID index", 0, 0x40, 1, 256, .gid_index = 250,
	  .want = -ENODATA },
};

static void bad_desc(const struct bad_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(bad, bad_cases, bad_desc);

static void rxe_send_checks(struct kunit *test)
{
	const struct bad_case *c = test->param_value;
	struct umad_file *client = rxe_open(test);
	struct ib_user_mad_hdr hdr;
	struct ib_mad_hdr *mad;
	struct umad_reg reg;

	rxe_client(test, client);
	rxe_reg(&reg, 3);
	reg.rmpp_version = 1;
	reg.flags = IB_USER_MAD_USER_RMPP;
	KUNIT_ASSERT_EQ(test, rxe_publish(test, client, &reg), 1);

	rxe_address(test, &hdr, c->id);
	hdr.grh_present = !c->no_grh;
	if (c->no_gid)
		memset(hdr.gid, 0, sizeof(hdr.gid));
	if (c->gid_index)
		hdr.gid_index = c->gid_index;
	mad = kunit_kzalloc(test, max_t(size_t, c->len, IB_MGMT_RMPP_HDR), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mad);
	mad->base_version = c->base_version;
	mad->mgmt_class = c->mgmt_class;
	mad->class_version = 1;
	mad->method = RXE_GET;

	KUNIT_EXPECT_EQ(test, umad_send_mad(client, &hdr, mad, c->len),
			c->want);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_POSTED), !c->want);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_REFUSED),
			c->want && c->want != -EIO);
	KUNIT_EXPECT_TRUE(test, rxe_all_done(client));
	KUNIT_EXPECT_FALSE(test, umad_rxq_is_ready(&client->rxq));
}

static struct kunit_case send_cases[] = {
	KUNIT_CASE_PARAM(rxe_request_and_reply, pair_gen_params),
	KUNIT_CASE(rxe_no_response_expected),
	KUNIT_CASE(rxe_memory_of_an_unread_mad),
	KUNIT_CASE(rxe_many_answered),
	KUNIT_CASE(rxe_duplicate_tid),
	KUNIT_CASE(rxe_raw_segments),
	KUNIT_CASE_PARAM(rxe_send_checks, bad_gen_params),
	{}
};

static struct kunit_suite send_suite = {
	.name = "umad_rxe_send",
	.init = rxe_env_init,
	.exit = rxe_env_exit,
	.test_cases = send_cases,
};

kunit_test_suite(send_suite);
