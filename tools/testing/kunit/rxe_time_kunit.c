// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Timeouts over rxe: attempts counted, reports, late responses, the budget. */
#include "rxe_env.h"

#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include "agent.h"
#include "file.h"
#include "rxe_peer.h"
#include "request.h"
#include "send.h"

/**
 * struct copies_case - a request that nobody answers
 * @name: of the case
 * @timeout_ms: of each attempt
 * @retries: after the first attempt
 */
struct copies_case {
	const char *name;
	u32 timeout_ms;
	u32 retries;
};

static const struct copies_case copies_cases[] = {
	{ "0 retries", 100, 0 },
	{ "1 retry", 100, 1 },
	{ "4 retries", 50, 4 },
	{ "20 retries of 1 ms", 1, 20 },
};

static void copies_desc(const struct copies_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(copies, copies_cases, copies_desc);

/* The peer is a file that reads, and answers nothing. */
static void rxe_timeout_copies(struct kunit *test)
{
	const struct copies_case *c = test->param_value;
	struct umad_file *client = rxe_open(test), *server = rxe_open(test);
	u32 id = rxe_client(test, client);
	ktime_t start = ktime_get();
	struct rxe_record record;
	unsigned int n = 0;
	__be64 tid;

	rxe_server(test, server);
	KUNIT_ASSERT_EQ(test, 0, rxe_send(test, client, id, 9, c->timeout_ms,
					  c->retries));
	rxe_read_timeout(test, client, 9);
	KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), start),
			c->timeout_ms * (c->retries + 1));

	tid = cpu_to_be64((u64)umad_file_agent(client, id)->core->hi_tid << 32 | 9);
	while (rxe_read(server, &record, RXE_WHILE)) {
		KUNIT_EXPECT_TRUE(test, record.mad.mad_hdr.tid == tid);
		KUNIT_EXPECT_EQ(test, record.mad.data[3], 3 * 7 + 9);
		n++;
	}
	KUNIT_EXPECT_EQ(test, n, c->retries + 1);
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 0);
	KUNIT_EXPECT_EQ(test, rxe_read_all(client), 0);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_RETRIED),
			c->retries);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_TIMED_OUT), 1);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_COMPLETED), 0);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_FAILED), 0);
}

/* The header comes back as it was written, but for the status. */
static void rxe_timeout_hdr(struct kunit *test)
{
	struct umad_file *client = rxe_open(test);
	u32 id = rxe_client(test, client);
	struct ib_user_mad_hdr hdr;
	struct rxe_record record;

	rxe_peer_start(test, 0);
	rxe_address(test, &hdr, id);
	hdr.timeout_ms = 20;
	hdr.retries = 1;
	hdr.length = 0xabcdef;
	hdr.flow_label = cpu_to_be32(0x12345);
	memset(hdr.reserved, 0x5a, sizeof(hdr.reserved));
	KUNIT_ASSERT_EQ(test, 0,
			umad_send_mad(client, &hdr,
				      rxe_mad(test, RXE_GET, 7), 256));
	KUNIT_ASSERT_TRUE(test, rxe_read(client, &record, RXE_SOON));
	hdr.status = ETIMEDOUT;
	KUNIT_EXPECT_EQ(test, record.hdr.timeout_ms, 20);
	KUNIT_EXPECT_EQ(test, memcmp(&record.hdr, &hdr, sizeof(hdr)), 0);
	KUNIT_EXPECT_EQ(test, record.len, 24);
	KUNIT_EXPECT_EQ(test, record.mad.mad_hdr.method, RXE_GET);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(record.mad.mad_hdr.attr_id), 0x1234);
}

/* The peer answers an attempt that is not the first: no further ones. */
static void rxe_answer_to_retry(struct kunit *test)
{
	struct umad_file *client = rxe_open(test);
	u32 id = rxe_client(test, client);
	struct rxe_peer *peer = rxe_peer_start(test, 3);
	struct rxe_record record;

	KUNIT_ASSERT_EQ(test, rxe_send(test, client, id, 1, 300, 5), 0);
	rxe_read_request(test, client, &record);
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 0);
	msleep(400);
	KUNIT_EXPECT_TRUE(test, rxe_peer_gets(peer, 3));
	KUNIT_EXPECT_EQ(test, rxe_read_all(client), 0);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_RETRIED), 2);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_COMPLETED), 1);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_TIMED_OUT), 0);
}

/* On RoCE it is ib_core's to drop it: the request keeps no handle, and so no GID. */
static void rxe_late_response(struct kunit *test)
{
	struct umad_file *client = rxe_open(test), *server = rxe_open(test);
	u32 id = rxe_client(test, client);
	struct rxe_record request;

	rxe_server(test, server);
	KUNIT_ASSERT_EQ(test, rxe_send(test, client, id, 2, 50, 0), 0);
	rxe_read_request(test, server, &request);
	rxe_read_timeout(test, client, 2);
	KUNIT_EXPECT_EQ(test, umad_file_agent(client, id)->expired_count, 0);
	KUNIT_ASSERT_EQ(test, 0, rxe_reply(test, server, &request,
					   IB_MGMT_METHOD_GET_RESP));
	KUNIT_EXPECT_TRUE(test,
			  rxe_stat_becomes(test, UMAD_STAT_SEND_COMPLETED, 1));
	KUNIT_EXPECT_EQ(test, rxe_read_all(client), 0);
	/* Its charge to the budget has been given back. */
	KUNIT_EXPECT_EQ(test, client->rxq.charged, 0);
}

/* A program that retries by itself, with the TID that has just timed out. */
static void rxe_late_response_to_successor(struct kunit *test)
{
	struct umad_file *client = rxe_open(test), *server = rxe_open(test);
	u32 id = rxe_client(test, client);
	struct rxe_record first, second, response;

	rxe_server(test, server);
	KUNIT_ASSERT_EQ(test, rxe_send(test, client, id, 2, 50, 0), 0);
	rxe_read_request(test, server, &first);
	rxe_read_timeout(test, client, 2);
	KUNIT_ASSERT_EQ(test, rxe_send(test, client, id, 2, 10000, 0), 0);
	rxe_read_request(test, server, &second);

	/* Whichever of the two is answered, the program has its response. */
	KUNIT_ASSERT_EQ(test, 0, rxe_reply(test, server, &first,
					   IB_MGMT_METHOD_GET_RESP));
	rxe_read_request(test, client, &response);
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 0);
	/* Another with its TID is a duplicate until then. */
	KUNIT_EXPECT_TRUE(test, rxe_all_done(server));
	KUNIT_ASSERT_EQ(test, 0, rxe_reply(test, server, &second,
					   IB_MGMT_METHOD_GET_RESP));
	KUNIT_EXPECT_EQ(test, rxe_read_all(client), 0);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_RECV_DELIVERED), 3);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_TIMED_OUT), 1);
}

static void rxe_waits_for_ever(struct kunit *test)
{
	struct umad_file *client = rxe_open(test), *server = rxe_open(test);
	u32 id = rxe_client(test, client);
	struct rxe_record record;

	rxe_server(test, server);
	KUNIT_ASSERT_EQ(test, 0,
			rxe_send(test, client, id, 3, RXE_TIMEOUT_INFINITE, 5));
	rxe_read_request(test, server, &record);
	KUNIT_EXPECT_EQ(test, rxe_read_all(client), 0);
	KUNIT_EXPECT_EQ(test, rxe_read_all(server), 0);
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 1);
	KUNIT_ASSERT_EQ(test, 0, rxe_reply(test, server, &record,
					   IB_MGMT_METHOD_GET_RESP));
	rxe_read_request(test, client, &record);
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 0);
}

/* More deadlines at once than one batch, and than listen for a response. */
static void rxe_many_timeouts(struct kunit *test)
{
	struct umad_file *client = rxe_open(test);
	u32 id = rxe_client(test, client);
	struct rxe_peer *peer = rxe_peer_start(test, 0);
	unsigned int i, sum = 0, late;
	struct rxe_record record;

	for (i = 1; i <= 200; i++)
		KUNIT_ASSERT_EQ(test, 0,
				rxe_send(test, client, id, i, 500, 1));
	for (i = 1; i <= 200; i++) {
		KUNIT_ASSERT_TRUE(test, rxe_read(client, &record, RXE_SOON));
		KUNIT_EXPECT_EQ(test, record.hdr.status, ETIMEDOUT);
		sum += lower_32_bits(be64_to_cpu(record.mad.mad_hdr.tid));
	}
	KUNIT_EXPECT_EQ(test, sum, 200 * 201 / 2);
	KUNIT_EXPECT_EQ(test, rxe_read_all(client), 0);
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 0);
	KUNIT_EXPECT_TRUE(test, rxe_peer_gets(peer, 400));
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_RETRIED), 200);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_TIMED_OUT), 200);

	spin_lock(&client->lock);
	late = umad_file_agent(client, id)->expired_count;
	spin_unlock(&client->lock);
	KUNIT_EXPECT_LE(test, late, 8);
}

/* A file without budget loses responses, but never its own timeouts. */
static void rxe_timeout_without_budget(struct kunit *test)
{
	struct umad_file *client = rxe_open(test);
	u32 id = rxe_client(test, client);

	rxe_peer_start(test, 1);
	client->rxq.budget = 0;
	KUNIT_ASSERT_EQ(test, rxe_send(test, client, id, 4, 100, 1), 0);
	rxe_read_timeout(test, client, 4);
	KUNIT_EXPECT_TRUE(test,
			  rxe_stat_becomes(test, UMAD_STAT_RECV_DROPPED_BUDGET,
					   2));
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_TIMED_OUT), 1);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_RECV_DELIVERED), 0);

	/* Who waits forever will hear no more of it: so it is told. */
	KUNIT_ASSERT_EQ(test, 0,
			rxe_send(test, client, id, 5, RXE_TIMEOUT_INFINITE, 0));
	rxe_read_timeout(test, client, 5);
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 0);
	KUNIT_EXPECT_EQ(test, client->rxq.charged, 0);
}

/* A response for which there was no room leaves its request waiting. */
static void rxe_dropped_response_comes_again(struct kunit *test)
{
	struct umad_file *client = rxe_open(test);
	u32 id = rxe_client(test, client);
	size_t budget = client->rxq.budget;
	struct rxe_record record;

	rxe_peer_start(test, 1);
	client->rxq.budget = 0;
	KUNIT_ASSERT_EQ(test, rxe_send(test, client, id, 4, 500, 1), 0);
	KUNIT_EXPECT_TRUE(test,
			  rxe_stat_becomes(test, UMAD_STAT_RECV_DROPPED_BUDGET,
					   1));
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 1);
	client->rxq.budget = budget;
	rxe_read_request(test, client, &record);
	KUNIT_EXPECT_EQ(test, rxe_outstanding(client), 0);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_RETRIED), 1);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_TIMED_OUT), 0);
}

static struct kunit_case time_cases[] = {
	KUNIT_CASE_PARAM(rxe_timeout_copies, copies_gen_params),
	KUNIT_CASE(rxe_timeout_hdr),
	KUNIT_CASE(rxe_answer_to_retry),
	KUNIT_CASE(rxe_late_response),
	KUNIT_CASE(rxe_late_response_to_successor),
	KUNIT_CASE(rxe_waits_for_ever),
	KUNIT_CASE(rxe_many_timeouts),
	KUNIT_CASE(rxe_timeout_without_budget),
	KUNIT_CASE(rxe_dropped_response_comes_again),
	{}
};

static struct kunit_suite time_suite = {
	.name = "umad_rxe_time",
	.init = rxe_env_init,
	.exit = rxe_env_exit,
	.test_cases = time_cases,
};

kunit_test_suite(time_suite);
