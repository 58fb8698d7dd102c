// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Agents over rxe: who may register, and how agents and files end. */
#include "rxe_env.h"

#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/string.h>
#include "agent.h"
#include "cdev.h"
#include "deadlines.h"
#include "device.h"
#include "file.h"
#include "port.h"
#include "register.h"
#include "rxe_peer.h"
#include "request.h"

/**
 * struct reg_case - a registration and what comes of it
 * @name: of the case
 * @no_oui: leave the OUI away
 * @qpn: of the port
 * @flags: IB_USER_MAD_USER_RMPP or 0
 * @rmpp_version: as in the ABI
 * @mgmt_class: as in the ABI
 * @class_version: as in the ABI
 * @want: 0 or an errno
 */
struct reg_case {
	const char *name;
	bool no_oui;
	u32 qpn;
	u32 flags;
	u8 rmpp_version;
	u8 mgmt_class;
	u8 class_version;
	int want;
};

static const struct reg_case reg_cases[] = {
	{ "send only", false, 1, 0, 0, 0, 0, 0 },
	{ "SA", false, 1, 0, 0, 3, 2, 0 },
	{ "vendor", false, 1, 0, 0, 0x40, 1, 0 },
	{ "vendor without OUI", true, 1, 0, 0, 0x40, 1, -EINVAL },
	{ "application class", true, 1, 0, 0, 0x12, 1, 0 },
	{ "QP0", false, 0, 0, 0, 1, 1, -EPROTONOSUPPORT },
	{ "SMP on QP1", false, 1, 0, 0, 1, 1, -EINVAL },
	{ "directed SMP on QP1", false, 1, 0, 0, 0x81, 1, -EINVAL },
	{ "class 0x50", false, 1, 0, 0, 0x50, 1, -EINVAL },
	{ "version 0x82", false, 1, 0, 0, 9, 0x82, 0 },
	{ "version 0x83", false, 1, 0, 0, 9, 0x83, -EINVAL },
	{ "RMPP", false, 1, 0, 1, 3, 2, 0 },
	{ "program's RMPP", false, 1, IB_USER_MAD_USER_RMPP, 1, 3, 2, 0 },
	{ "program's RMPP, version 0", false, 1, IB_USER_MAD_USER_RMPP, 0, 3,
	  2, 0 },
	{ "program's RMPP, send only", false, 1, IB_USER_MAD_USER_RMPP, 0, 0,
	  0, -EINVAL },
	{ "RMPP version 2", false, 1, IB_USER_MAD_USER_RMPP, 2, 3, 2,
	  -EINVAL },
	{ "RMPP version 255", false, 1, 0, 255, 3, 2, -EINVAL },
	{ "RMPP, other class", false, 1, IB_USER_MAD_USER_RMPP, 1, 4, 1,
	  -EINVAL },
};

static void reg_desc(const struct reg_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(reg, reg_cases, reg_desc);

static void rxe_register(struct kunit *test)
{
	const struct reg_case *c = test->param_value;
	struct umad_file *file = rxe_open(test);
	struct umad_agent *agent;
	struct umad_reg reg;
	u32 id = ~0;

	rxe_reg(&reg, c->mgmt_class);
	reg.qpn = c->qpn;
	reg.flags = c->flags;
	reg.rmpp_version = c->rmpp_version;
	reg.req.mgmt_class_version = c->class_version;
	__set_bit(RXE_GET, reg.req.method_mask);
	if (c->no_oui)
		memset(reg.req.oui, 0, sizeof(reg.req.oui));

	agent = umad_agent_create(file, &reg, &id);
	KUNIT_ASSERT_EQ(test, PTR_ERR_OR_ZERO(agent), c->want);
	if (c->want) {
		/* Nothing is left of it: the id and its class are free. */
		KUNIT_EXPECT_NULL(test, umad_file_agent(file, 0));
		KUNIT_EXPECT_EQ(test, rxe_client(test, file), 0);
		return;
	}
	KUNIT_EXPECT_EQ(test, id, 0);
	KUNIT_EXPECT_EQ(test, umad_agent_publish(file, id, agent, true), 0);
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, id, NULL), 0);
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, id, NULL), -EINVAL);
}

static void rxe_register_ids(struct kunit *test)
{
	struct umad_file *file = rxe_open(test);
	struct umad_reg reg;
	u32 id, none;

	rxe_reg(&reg, 0);
	for (id = 0; id < UMAD_MAX_AGENTS; id++)
		KUNIT_ASSERT_EQ(test, rxe_client(test, file), id);
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			PTR_ERR_OR_ZERO(umad_agent_create(file, &reg, &none)));
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, 32, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, ~0, NULL), -EINVAL);

	/* The lowest free one first. */
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, 30, NULL), 0);
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, 7, NULL), 0);
	KUNIT_EXPECT_EQ(test, rxe_client(test, file), 7);
	KUNIT_EXPECT_EQ(test, rxe_client(test, file), 30);
}

/* One agent of the port gets a method of a class; of any file. */
static void rxe_register_overlap(struct kunit *test)
{
	struct umad_file *file = rxe_open(test), *other = rxe_open(test);
	struct umad_reg reg;
	u32 id, none;

	id = rxe_server(test, file);
	rxe_reg(&reg, RXE_CLASS);
	__set_bit(RXE_GET, reg.req.method_mask);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(umad_agent_create(file, &reg, &none)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(umad_agent_create(other, &reg, &none)));
	KUNIT_EXPECT_NULL(test, umad_file_agent(file, id + 1));
	KUNIT_EXPECT_NULL(test, umad_file_agent(other, 0));

	/* Another OUI is another class. */
	reg.req.oui[2]++;
	rxe_publish(test, other, &reg);
	reg.req.oui[2]--;
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, id, NULL), 0);
	rxe_publish(test, other, &reg);
}

/* An agent whose id the program does not know yet can do nothing for it. */
static void rxe_unpublished(struct kunit *test)
{
	struct umad_file *file = rxe_open(test);
	struct umad_agent *agent;
	struct umad_reg reg;
	u32 id;

	rxe_reg(&reg, 0);
	agent = umad_agent_create(file, &reg, &id);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, agent);
	KUNIT_EXPECT_EQ(test, rxe_send(test, file, id, 1, 0, 0), -EIO);
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, id, NULL), -EINVAL);
	KUNIT_EXPECT_FALSE(test, file->used);
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, id, agent), 0);
	KUNIT_EXPECT_EQ(test, -EPIPE,
			umad_agent_publish(file, id, agent, true));
	KUNIT_EXPECT_FALSE(test, file->used);
	KUNIT_EXPECT_FALSE(test, file->pkey_hdr);
}

/* The first agent that is published fixes the header, for good. */
static void rxe_header_layout(struct kunit *test)
{
	struct umad_file *file;
	struct umad_agent *agent;
	struct umad_reg reg;
	int first, i;
	u32 id;

	rxe_reg(&reg, 0);
	for (first = 0; first < 2; first++) {
		file = rxe_open(test);
		for (i = 0; i < 2; i++) {
			agent = umad_agent_create(file, &reg, &id);
			KUNIT_ASSERT_NOT_ERR_OR_NULL(test, agent);
			KUNIT_EXPECT_EQ(test, 0,
					umad_agent_publish(file, id, agent,
							   first ^ i));
			KUNIT_EXPECT_TRUE(test, file->used);
			KUNIT_EXPECT_EQ(test, file->pkey_hdr, first);
		}
		KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, 0, NULL), 0);
		KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, 1, NULL), 0);
		KUNIT_EXPECT_TRUE(test, file->used);
		rxe_close(test, file);
	}
}

/* What is outstanding ends in silence; the file's other agents go on. */
static void rxe_unregister_outstanding(struct kunit *test)
{
	struct umad_file *file = rxe_open(test);
	u32 id = rxe_client(test, file), other = rxe_client(test, file);
	struct rxe_peer *peer = rxe_peer_start(test, 0);
	struct rxe_record record;
	unsigned int i;

	for (i = 0; i < 40; i++)
		KUNIT_ASSERT_EQ(test, 0,
				rxe_send(test, file, id, i,
					 i % 2 ? RXE_TIMEOUT_INFINITE : 60000, 3));
	KUNIT_ASSERT_EQ(test, 0,
			rxe_send(test, file, other, 100, RXE_TIMEOUT_INFINITE, 0));
	KUNIT_EXPECT_TRUE(test, rxe_peer_gets(peer, 41));
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, id, NULL), 0);
	KUNIT_EXPECT_EQ(test, rxe_outstanding(file), 1);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_CANCELED), 40);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_FAILED), 0);
	KUNIT_EXPECT_EQ(test, rxe_read_all(file), 0);
	KUNIT_EXPECT_EQ(test, rxe_send(test, file, id, 1, 0, 0), -EIO);

	rxe_peer_stop(peer);
	rxe_peer_start(test, 1);
	KUNIT_ASSERT_EQ(test, rxe_send(test, file, other, 1, 10000, 0), 0);
	rxe_read_request(test, file, &record);
	KUNIT_EXPECT_EQ(test, record.hdr.id, other);
}

/* Unregister while timeouts, retries, responses and completions come in. */
static void rxe_unregister_race(struct kunit *test)
{
	struct umad_file *file = rxe_open(test);
	struct rxe_record record;
	unsigned int round, i;
	u32 id;

	rxe_peer_start(test, 1);
	for (round = 0; round < 10; round++) {
		id = rxe_client(test, file);
		for (i = 1; i <= 20; i++)
			KUNIT_ASSERT_EQ(test, 0,
					rxe_send(test, file, id, i,
						 i % 4 * 5, 10));
		if (round % 2)
			rxe_read(file, &record, 1);
		KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, id, NULL),
				0);
		KUNIT_EXPECT_EQ(test, rxe_outstanding(file), 0);
	}
	rxe_read_all(file);
	KUNIT_EXPECT_EQ(test, file->rxq.charged, 0);
}

/* What has been received stays readable without its agent. */
static void rxe_read_after_unregister(struct kunit *test)
{
	struct umad_file *client = rxe_open(test), *server = rxe_open(test);
	u32 id = rxe_client(test, client), server_id = rxe_server(test, server);
	struct rxe_record record;

	KUNIT_ASSERT_EQ(test, rxe_send(test, client, id, 1, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, rxe_send(test, client, id, 2, 0, 0), 0);
	KUNIT_EXPECT_TRUE(test,
			  rxe_stat_becomes(test, UMAD_STAT_RECV_DELIVERED, 2));
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(server, server_id, NULL),
			0);
	rxe_read_request(test, server, &record);
	KUNIT_EXPECT_EQ(test, record.hdr.id, server_id);
	rxe_read_request(test, server, &record);
	KUNIT_EXPECT_EQ(test, server->rxq.charged, 0);
}

static void rxe_close_with_everything(struct kunit *test)
{
	struct umad_file *client = rxe_open(test), *server = rxe_open(test);
	u32 id = rxe_client(test, client);
	unsigned int i;

	rxe_server(test, server);
	/* Unread timeouts, late ones, outstanding ones with and without end. */
	for (i = 0; i < 10; i++)
		KUNIT_ASSERT_EQ(test, 0, rxe_send(test, client, id, i, 10, 0));
	KUNIT_EXPECT_TRUE(test,
			  rxe_stat_becomes(test, UMAD_STAT_SEND_TIMED_OUT, 10));
	for (; i < 20; i++)
		KUNIT_ASSERT_EQ(test, 0,
				rxe_send(test, client, id, i,
					 i % 2 ? RXE_TIMEOUT_INFINITE : 60000, 1));
	KUNIT_EXPECT_TRUE(test,
			  rxe_stat_becomes(test, UMAD_STAT_RECV_DELIVERED, 20));
	rxe_close(test, client);
	KUNIT_EXPECT_EQ(test, rxe_stat(test, UMAD_STAT_SEND_CANCELED), 10);
	KUNIT_EXPECT_GT(test, server->rxq.charged, 20 * 256);
	rxe_close(test, server);
	/* And both can be had again. */
	rxe_server(test, rxe_open(test));
}

/* A port of the test's own on the same RDMA device. */
static struct umad_port *make_port(struct kunit *test)
{
	struct rxe_env *env = test->priv;
	struct umad_port *port;

	port = kunit_kzalloc(test, sizeof(*port), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, port);
	port->ib_dev = env->ib_dev;
	port->port_num = RXE_PORT;
	port->stats = env->port->stats;
	/* The first reference is never dropped: the memory is the test's. */
	kref_init(&port->kref);
	umad_active_ref_init(&port->active_ref);
	spin_lock_init(&port->name_lock);
	mutex_init(&port->files_lock);
	INIT_LIST_HEAD(&port->files);
	spin_lock_init(&port->users_lock);
	port->users = RB_ROOT;
	umad_pace_init(&port->pace);
	umad_sched_init(&port->sched);
	port->deadline_pool = env->port->deadline_pool;
	umad_turn_init(&port->deadline_turn, &port->deadline_pool->root);
	ratelimit_state_init(&port->refusals, DEFAULT_RATELIMIT_INTERVAL, 1);
	return port;
}

/*
 * The last close comes when the removal of the device has killed the active references and
 * has not come to the port's files yet: it takes the file's agents itself.
 */
static void rxe_close_beside_removal(struct kunit *test)
{
	struct umad_port *port = make_port(test);
	struct umad_agent *agent;
	struct umad_file *file;
	struct umad_reg reg;
	u32 id;

	file = umad_file_create(port);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	rxe_server(test, file);
	umad_active_ref_kill(&port->active_ref);
	umad_active_ref_drain(&port->active_ref);

	rxe_reg(&reg, 0);
	agent = umad_agent_create(file, &reg, &id);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(agent), -EPIPE);
	KUNIT_EXPECT_EQ(test, umad_agent_unregister(file, 0, NULL), -EINVAL);
	umad_file_destroy(file);
	KUNIT_EXPECT_TRUE(test, list_empty(&port->files));
	KUNIT_EXPECT_EQ(test, kref_read(&port->kref), 1);
	/* Its class can be had again, so its agent is gone. */
	rxe_server(test, rxe_open(test));
}

static struct kunit_case agent_cases[] = {
	KUNIT_CASE_PARAM(rxe_register, reg_gen_params),
	KUNIT_CASE(rxe_register_ids),
	KUNIT_CASE(rxe_register_overlap),
	KUNIT_CASE(rxe_unpublished),
	KUNIT_CASE(rxe_header_layout),
	KUNIT_CASE(rxe_unregister_outstanding),
	KUNIT_CASE(rxe_unregister_race),
	KUNIT_CASE(rxe_read_after_unregister),
	KUNIT_CASE(rxe_close_with_everything),
	KUNIT_CASE(rxe_close_beside_removal),
	{}
};

static struct kunit_suite agent_suite = {
	.name = "umad_rxe_agent",
	.init = rxe_env_init,
	.exit = rxe_env_exit,
	.test_cases = agent_cases,
};

kunit_test_suite(agent_suite);
