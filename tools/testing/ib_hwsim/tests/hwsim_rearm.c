// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A request whose wait entries were used up by what is no response ends while they are in the
 * device. What ib_core has done with them is about a request that is no more.
 */
#include "hwsim_peers.h"

#define COPIES		4	/* of one request that may be in ib_core */
#define CROWD		20	/* requests that wait for their turn all the time */

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
		if (inject(self, 1, METHOD_TABLE | METHOD_RESP, tid, &unmatched_ack))
			return -EIO;
		/* Another copy takes its place, but for the last. */
		if (see(self, i < COPIES - 1 ? SOON : WHILE) < 0 && i < COPIES - 1)
			return -ETIME;
	}
	return 0;
}

TEST_F_TIMEOUT(peers, agent_ends, 60)
{
	struct side_call call = {};
	int id = umad_reg_client(self->fd);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, use_up_all(self, 60000));
	ASSERT_EQ(0, write_crowd(self, id, CROWD));
	sleep_ms(WHILE);
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
	ASSERT_EQ(0, write_crowd(self, 0, CROWD));
	sleep_ms(WHILE);
	sleep_ms(7000);
	ASSERT_EQ(0, hold("0"));
	sleep_ms(1000);
}

TEST_HARNESS_MAIN
