// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Races of messages that are being sent, forced by stops. See race.h. */
#include "hwsim_peers.h"
#undef DEVICE
#include "race.h"

/* A message of two segments, whose ACKs come at once, or before the last post returns. */
static int send_one(FIXTURE_DATA(peers) *self, bool early)
{
	uint64_t tid;
	int ret;

	self->asked++;
	ret = request(self, 2 * SEG, 20000, &tid);
	if (ret)
		return ret;
	if (early && stop_arm(STOP_MAIN, "ib_core:ib_post_send_mad return", "ms=2000"))
		return -EIO;
	peer_acks(self, tid, 1, 10);
	if (see_packet(self, tid, RMPP_DATA, 2) < 0)
		return -ETIME;
	if (early && !stop_wait(STOP_MAIN, "parked", SOON))
		return -EIO;
	peer_acks(self, tid, 2, 10);
	sleep_ms(100);
	stop_release(STOP_MAIN);
	sleep_ms(100);
	while (see(self, 0) >= 0)
		;
	return 0;
}

/* rmpp_send_bytes has room for two that have not arrived. */
TEST_F_TIMEOUT(peers, message_acknowledged_before_its_post_returns_is_given_back, 100)
{
	long bytes = rmpp_param_set("rmpp_send_bytes", 10000);

	EXPECT_EQ(0, send_one(self, false));
	EXPECT_EQ(0, send_one(self, true));
	EXPECT_EQ(0, send_one(self, false));
	rmpp_param_set("rmpp_send_bytes", bytes);
}

static void *unregister(void *arg)
{
	FIXTURE_DATA(peers) *self = arg;

	return (void *)(long)umad_unreg(self->fd, 0);
}

/* Others of the file wait for their turn: what is queued behind them stays there. */
static int write_others(FIXTURE_DATA(peers) *self, uint32_t id)
{
	struct umad_msg msg;
	int i;

	msg_init(&msg, &self->port, id, CLASS_RMPP, METHOD_TABLE, 0);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = 1;
	msg.hdr.retries = 1000000;
	for (i = 0; i < 1000; i++) {
		msg.mad.tid = htobe64(1000 + i);
		if (msg_write(self->fd, &msg) != MSG_LEN)
			return -EIO;
	}
	return 0;
}

/* What uses up its wait entry is being handled when the agent ends. */
TEST_F_TIMEOUT(peers, request_ends_while_its_wait_entry_is_used_up, 100)
{
	const struct rmpp_pkt unmatched = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 0, 1 };
	struct side_call call = {};
	int id = umad_reg_client(self->fd);
	uint64_t tid;

	ASSERT_LT(0, id);
	self->asked++;
	ASSERT_EQ(0, request(self, SEG / 2, 60000, &tid));
	ASSERT_EQ(0, write_others(self, id));
	ASSERT_EQ(0, stop_arm(STOP_MAIN, "waiting_done entry", "ms=400"));
	ASSERT_EQ(0, inject(self, 1, METHOD_TABLE | METHOD_RESP, tid, &unmatched));
	EXPECT_TRUE(stop_wait(STOP_MAIN, "parked", SOON));
	side_start(&call, unregister, self);
	side_join(&call);
	stop_release(STOP_MAIN);
	sleep_ms(1000);
}

TEST_HARNESS_MAIN
