// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Agents of a file: slots, routing of what arrives, and what happens to the
 * rest of the file when one of them goes.
 */
#include "kselftest_harness.h"
#include "umad_util.h"

#include <stdatomic.h>

FIXTURE(agents) {
	struct test_port port;
	int fd;
	int peer;
	struct umad_msg msg;
	struct umad_msg got;
};

FIXTURE_SETUP(agents)
{
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->peer = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->peer);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
}

FIXTURE_TEARDOWN(agents)
{
	close(self->fd);
	close(self->peer);
}

TEST_F(agents, ids_are_the_lowest_free_slot)
{
	int i;

	for (i = 1; i < 6; i++)
		ASSERT_EQ(i, umad_reg_client(self->fd));
	EXPECT_EQ(0, umad_unreg(self->fd, 4));
	EXPECT_EQ(0, umad_unreg(self->fd, 2));
	EXPECT_EQ(2, umad_reg_client(self->fd));
	EXPECT_EQ(4, umad_reg_client(self->fd));
	EXPECT_EQ(6, umad_reg_client(self->fd));
}

struct in_vain {
	int fd;
	atomic_bool stop;
	unsigned long refused;
};

/* Registrations that ib_core refuses. */
static void *register_in_vain(void *arg)
{
	struct in_vain *in_vain = arg;
	struct ib_user_mad_reg_req2 req;

	while (!in_vain->stop) {
		reg_init(&req, CLASS_VENDOR1, 200);
		if (umad_reg2(in_vain->fd, &req) == -EINVAL)
			in_vain->refused++;
	}
	return NULL;
}

TEST_F(agents, refused_registrations_take_no_ids)
{
	struct in_vain in_vain = { .fd = self->fd };
	uint64_t end = now_ms() + 1500;
	unsigned long others = 0;
	struct side_call call;
	int i, ret;

	for (i = 1; i < MAX_AGENTS - 1; i++)
		ASSERT_EQ(i, umad_reg_client(self->fd));
	side_start(&call, register_in_vain, &in_vain);
	do {
		ret = umad_reg_client(self->fd);
		if (ret != MAX_AGENTS - 1)
			others++;
		if (ret >= 0)
			umad_unreg(self->fd, ret);
	} while (now_ms() < end);
	in_vain.stop = true;
	side_join(&call);
	EXPECT_LT(0, in_vain.refused);
	EXPECT_EQ(0, others);
}

TEST_F(agents, thirty_third_agent_is_ENOMEM)
{
	struct ib_user_mad_reg_req2 req;
	int i;

	for (i = 1; i < MAX_AGENTS; i++)
		ASSERT_EQ(i, umad_reg_client(self->fd));
	EXPECT_EQ(-ENOMEM, umad_reg_client(self->fd));
	/* After qpn and flags, before the class is looked at. */
	reg_init(&req, 0x50, 1);
	EXPECT_EQ(-ENOMEM, umad_reg2(self->fd, &req));
	req.flags = 2;
	EXPECT_EQ(-EINVAL, umad_reg2(self->fd, &req));
	req.flags = 0;
	req.qpn = 2;
	EXPECT_EQ(-EINVAL, umad_reg2(self->fd, &req));
	EXPECT_EQ(0, umad_unreg(self->fd, 31));
	EXPECT_EQ(31, umad_reg_client(self->fd));
	/* Another file has slots of its own. */
	EXPECT_EQ(0, umad_reg_client(self->peer));
}

TEST_F(agents, all_32_agents_work)
{
	struct umad_msg reply;
	int i;

	ASSERT_EQ(0, umad_reg_server(self->peer, CLASS_VENDOR1, METHOD_TEST));
	for (i = 1; i < MAX_AGENTS; i++)
		ASSERT_EQ(i, umad_reg_client(self->fd));
	for (i = 0; i < MAX_AGENTS; i++) {
		self->msg.hdr.id = i;
		self->msg.hdr.timeout_ms = 20000;
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
		msg_reply(&reply, &self->got, 0);
		ASSERT_EQ(MSG_LEN, msg_write(self->peer, &reply));
		ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 10000));
		EXPECT_EQ(i, self->got.hdr.id);
		EXPECT_EQ(0, self->got.hdr.status);
	}
}

TEST_F(agents, requests_go_to_the_agent_of_class_and_method)
{
	static const struct {
		uint8_t mgmt_class, method;
		int id;
	} sends[] = {
		{ CLASS_VENDOR1, METHOD_TEST, 0 },
		{ CLASS_VENDOR1, METHOD_TEST2, 1 },
		{ CLASS_VENDOR1B, METHOD_TEST, 2 },
		{ CLASS_VENDOR2, METHOD_TEST, 3 },
		{ CLASS_SA, METHOD_TEST, 4 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sends); i++)
		ASSERT_EQ(sends[i].id,
			  umad_reg_server(self->peer, sends[i].mgmt_class,
					  sends[i].method));
	for (i = 0; i < ARRAY_SIZE(sends); i++) {
		msg_init(&self->msg, &self->port, 0, sends[i].mgmt_class,
			 sends[i].method, i);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
		EXPECT_EQ(sends[i].id, self->got.hdr.id);
		EXPECT_EQ(i, msg_tid(&self->got));
	}
	/* No agent for it: nobody gets it. */
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1B, METHOD_TEST2, 9);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-ETIME, msg_read(self->peer, &self->got, 500));
}

TEST_F(agents, requests_go_to_the_agent_of_the_oui)
{
	struct ib_user_mad_reg_req2 req;

	ASSERT_EQ(0, umad_reg_server(self->peer, CLASS_VENDOR2, METHOD_TEST));
	reg_init(&req, CLASS_VENDOR2, 1);
	mask_set((uint64_t *)req.method_mask, METHOD_TEST);
	req.oui = 0x123456;
	ASSERT_EQ(1, umad_reg2(self->peer, &req));
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR2, METHOD_TEST, 1);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	EXPECT_EQ(0, self->got.hdr.id);
	self->msg.mad.tid = htobe64(2);
	self->msg.data[37] = 0x12;
	self->msg.data[38] = 0x34;
	self->msg.data[39] = 0x56;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	EXPECT_EQ(1, self->got.hdr.id);
	self->msg.mad.tid = htobe64(3);
	self->msg.data[39] = 0x57;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-ETIME, msg_read(self->peer, &self->got, 500));
}

TEST_F(agents, requests_of_another_class_version_are_not_delivered)
{
	ASSERT_EQ(0, umad_reg_server(self->peer, CLASS_VENDOR1, METHOD_TEST));
	self->msg.mad.class_version = 2;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-ETIME, msg_read(self->peer, &self->got, 500));
}

/* srp_daemon does it: a class on the wire the agent was not registered for. */
TEST_F(agents, agent_may_send_any_class)
{
	struct umad_msg reply;

	ASSERT_EQ(0, umad_reg_server(self->peer, CLASS_DEVMGMT, METHOD_TEST));
	ASSERT_EQ(1, umad_reg_server(self->fd, CLASS_SA, METHOD_TEST2));
	msg_init(&self->msg, &self->port, 1, CLASS_DEVMGMT, METHOD_TEST, 5);
	self->msg.hdr.timeout_ms = 20000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&reply, &self->got, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 10000));
	EXPECT_EQ(1, self->got.hdr.id);
}

TEST_F(agents, unregister_flushes_its_sends_silently)
{
	int i;

	for (i = 0; i < 20; i++) {
		msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1,
			 METHOD_NOBODY, i);
		self->msg.hdr.timeout_ms = i & 1 ? 600 : -1;
		self->msg.hdr.retries = i & 3;
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	}
	EXPECT_EQ(0, umad_unreg(self->fd, 0));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 3000));
	EXPECT_EQ(-EIO, msg_write(self->fd, &self->msg));
}

TEST_F(agents, unregister_leaves_other_agents_sends_alone)
{
	struct umad_msg reply, second;

	ASSERT_EQ(0, umad_reg_server(self->peer, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(1, umad_reg_client(self->fd));
	self->msg.hdr.timeout_ms = 20000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	second = self->msg;
	second.hdr.id = 1;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &second));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &second, 10000));
	msg_init(&self->msg, &self->port, 1, CLASS_VENDOR1, METHOD_NOBODY, 77);
	self->msg.hdr.timeout_ms = 1000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(0, umad_unreg(self->fd, 0));
	/* The response to the agent that is gone reaches nobody. */
	msg_reply(&reply, &self->got, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &reply));
	/* The other agent gets its response and its time-out. */
	msg_reply(&reply, &second, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 10000));
	EXPECT_EQ(1, self->got.hdr.id);
	EXPECT_EQ(0, self->got.hdr.status);
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, 10000));
	EXPECT_EQ(1, self->got.hdr.id);
	EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
	EXPECT_EQ(77, msg_tid(&self->got));
}

TEST_F(agents, file_works_on_after_unregister)
{
	struct umad_msg reply;
	int round;

	ASSERT_EQ(0, umad_reg_server(self->peer, CLASS_VENDOR1, METHOD_TEST));
	for (round = 0; round < 3; round++) {
		self->msg.hdr.timeout_ms = 20000;
		/* In-tree the last one may not be free yet when its response is read. */
		self->msg.mad.tid = htobe64(1 + round);
		/* One send left hanging for the unregister to flush. */
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
		ASSERT_EQ(0, umad_unreg(self->fd, 0));
		ASSERT_EQ(0, umad_reg_client(self->fd));
		/* The same TID is free again. */
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
		msg_reply(&reply, &self->got, 0);
		ASSERT_EQ(MSG_LEN, msg_write(self->peer, &reply));
		ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, 10000));
		EXPECT_EQ(0, self->got.hdr.status);
	}
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 300));
}

TEST_F(agents, queued_mads_stay_readable_after_unregister)
{
	ASSERT_EQ(0, umad_reg_server(self->peer, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(1, umad_reg_client(self->peer));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	/* And a time-out of the same agent's, queued behind it. */
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 2);
	self->msg.hdr.timeout_ms = 200;
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &self->msg));
	EXPECT_EQ(-EINVAL, msg_read_len(self->peer, &self->got, HDR_NEW, 10000));
	sleep_ms(2000);
	ASSERT_EQ(0, umad_unreg(self->peer, 0));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 0));
	EXPECT_EQ(0, self->got.hdr.id);
	EXPECT_EQ(1, msg_tid(&self->got));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->peer, &self->got, 0));
	EXPECT_EQ(0, self->got.hdr.id);
	EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
}

TEST_F(agents, close_with_everything_outstanding)
{
	int round, i;

	for (round = 0; round < 5; round++) {
		int fd = umad_open(O_RDWR | O_NONBLOCK);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST));
		for (i = 0; i < 20; i++) {
			msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1,
				 i & 1 ? METHOD_TEST : METHOD_NOBODY, i);
			self->msg.hdr.timeout_ms = i % 3 ? 50 * i : -1;
			self->msg.hdr.retries = i % 5;
			ASSERT_EQ(MSG_LEN, msg_write(fd, &self->msg));
		}
		sleep_ms(100 * round);
		EXPECT_EQ(0, close(fd));
	}
	/* Its methods are free. */
	EXPECT_EQ(0, umad_reg_server(self->peer, CLASS_VENDOR1, METHOD_TEST));
}

TEST_HARNESS_MAIN
