// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A request whose wait entries were used up by what is no response ends while they are in the
 * device. What ib_core has done with them is about a request that is no more.
 */
#include "hwsim_peers.h"

#define COPIES		4	/* of one request that may be in ib_core */
#define CROWD		20	/* requests that wait for their turn all the time */

/* An ACK of nothing, from another node, as if it were about the response. */
static const struct rmpp_pkt unmatched = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 0, 1 };

static int hold(const char *on)
{
	return hwsim_set(DEVICE, 1, "hold_completions", on);
}

/* All wait entries that it may have are in the device, and used up. */
static int use_up_all(FIXTURE_DATA(peers) *self, uint32_t timeout_ms)
{
	uint64_t tid;
	int i;

	self->asked++;
	if (hold("1") || request(self, SEG / 2, timeout_ms, &tid))
		return -EIO;
	for (i = 0; i < COPIES; i++) {
		if (inject(self, 1, METHOD_TABLE | METHOD_RESP, tid, &unmatched))
			return -EIO;
		/* Another copy takes its place, but for the last. */
		if (see(self, i < COPIES - 1 ? SOON : WHILE) < 0 && i < COPIES - 1)
			return -ETIME;
	}
	return 0;
}

/* Others of the file that are sent again as fast as may be: one that is queued stays there. */
static int crowd(FIXTURE_DATA(peers) *self, uint32_t id)
{
	struct umad_msg msg;
	int i;

	msg_init(&msg, &self->port, id, CLASS_RMPP, METHOD_TABLE, 0);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = 1;
	msg.hdr.retries = 1000000;
	for (i = 0; i < CROWD; i++) {
		msg.mad.tid = htobe64(1000 + i);
		if (msg_write(self->fd, &msg) != MSG_LEN)
			return -EIO;
	}
	sleep_ms(WHILE);
	return 0;
}

static void *unregister(void *arg)
{
	FIXTURE_DATA(peers) *self = arg;

	return (void *)(long)umad_unreg(self->fd, 0);
}

TEST_F_TIMEOUT(peers, agent_ends, 60)
{
	struct side_call call = {};
	int id = umad_reg_client(self->fd);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, use_up_all(self, 60000));
	ASSERT_EQ(0, crowd(self, id));
	side_start(&call, unregister, self);
	sleep_ms(500);
	ASSERT_EQ(0, hold("0"));
	side_join(&call);
	sleep_ms(1000);
}

/* Expired, and 5 s later no more. */
TEST_F_TIMEOUT(peers, time_is_up, 60)
{
	ASSERT_EQ(0, use_up_all(self, 1000));
	ASSERT_EQ(0, crowd(self, 0));
	sleep_ms(7000);
	ASSERT_EQ(0, hold("0"));
	sleep_ms(1000);
}

TEST_HARNESS_MAIN
