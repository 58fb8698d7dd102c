// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Races of messages, forced by stops. See race.h. */
#include "hwsim_peers.h"
#undef DEVICE
#include "race.h"

#include <sys/syscall.h>

#define MADS	500
#define SEGS	200	/* of a response: pages that are worth to reclaim */

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

/* What uses up its wait entry is being handled when the agent ends. */
TEST_F_TIMEOUT(peers, request_ends_while_its_wait_entry_is_used_up, 100)
{
	struct side_call call = {};
	int id = umad_reg_client(self->fd);
	uint64_t tid;

	ASSERT_LT(0, id);
	self->asked++;
	ASSERT_EQ(0, request(self, SEG / 2, 60000, &tid));
	ASSERT_EQ(0, write_crowd(self, id, 1000));
	ASSERT_EQ(0, stop_arm(STOP_MAIN, "waiting_done entry", "ms=400"));
	ASSERT_EQ(0, inject(self, 1, METHOD_TABLE | METHOD_RESP, tid, &unmatched_ack));
	EXPECT_TRUE(stop_wait(STOP_MAIN, "parked", SOON));
	side_start(&call, unregister, self);
	side_join(&call);
	stop_release(STOP_MAIN);
	sleep_ms(1000);
}

/* From now on agent 0 is of a file in the cgroup of race_memory.c. False: there is none. */
static bool use_limited_file(FIXTURE_DATA(peers) *self)
{
	/* Not for the process that memory_init() starts. */
	close(self->fd);
	self->fd = -1;
	memory_init();
	if (!memory_is_limited())
		return false;
	memory_enter();
	self->fd = open_server(METHOD_TABLE);
	memory_leave();
	return true;
}

/* All but the last segment of a response come. */
static int response_comes(FIXTURE_DATA(peers) *self, uint64_t tid, uint32_t segs)
{
	uint32_t seg;

	for (seg = 1; seg < segs; seg++)
		if (inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, seg, segs) ||
		    see_packet(self, tid, RMPP_ACK, seg) != RMPP_ACK)
			return -EIO;
	return 0;
}

/* Its sender repeats the first segment before it is told: that begins it again. */
TEST_F_TIMEOUT(peers, response_that_gave_way_begins_again_before_its_STOP, 100)
{
	struct side_call call = {};
	uint64_t tid;

	if (!use_limited_file(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, self->fd);
	self->asked++;
	ASSERT_EQ(0, request(self, SEG / 2, -1, &tid));
	ASSERT_EQ(0, response_comes(self, tid, SEGS));
	ASSERT_EQ(0, stop_arm(STOP_MAIN, "ib_umad:umad_xfer_rx_stop_evicted entry", "ms=5000"));
	side_start(&call, memory_reclaim, NULL);
	ASSERT_TRUE(stop_wait(STOP_MAIN, "parked", SOON));
	side_join(&call);
	EXPECT_EQ(1, module_counter(self, "rmpp_evicted"));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, SEGS));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 1));
	stop_release(STOP_MAIN);
	while (see(self, WHILE) >= 0)
		EXPECT_NE(RMPP_STOP, self->pkt.type);
	ASSERT_EQ(0, response_comes(self, tid, SEGS));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, SEGS, SEGS));
	ASSERT_LE(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
}

static void *unload(void *arg)
{
	*(long *)arg = syscall(__NR_delete_module, "ib_umad", O_NONBLOCK) ? -errno : 0;
	return NULL;
}

/* MADs have given way, and their file is closed: the module waits until they are freed. */
TEST_F_TIMEOUT(peers, module_is_unloaded_while_MADs_that_gave_way_are_freed, 100)
{
	static const struct rmpp_pkt plain;
	struct side_call calls[2] = {};
	long unloaded = -1;
	uint64_t tid;

	if (!use_limited_file(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, self->fd);
	for (tid = 1; tid <= MADS; tid++)
		ASSERT_EQ(0, inject(self, 0, METHOD_TABLE, tid, &plain));
	sleep_ms(WHILE);
	ASSERT_EQ(0, stop_arm(STOP_MAIN, "ib_umad:release_recv entry", "ms=5000"));
	side_start(&calls[0], memory_reclaim, NULL);
	ASSERT_TRUE(stop_wait(STOP_MAIN, "parked", SOON));
	EXPECT_LT(1, module_counter(self, "recv_shed"));
	close(self->fd);
	self->fd = -1;
	side_start(&calls[1], unload, &unloaded);
	EXPECT_FALSE(side_done(&calls[1], 500));
	stop_release(STOP_MAIN);
	side_join(&calls[0]);
	side_join(&calls[1]);
	EXPECT_EQ(0, unloaded);
	EXPECT_EQ(0, module_load());
}

TEST_HARNESS_MAIN
