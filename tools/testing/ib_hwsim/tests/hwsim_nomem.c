// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* There is no memory for an attempt, or for what comes of a response. By fault injection. */
#include "hwsim_peers.h"

#define TIMEOUT	100	/* ms */
#define RETRIES	3
#define FAULTS	"/sys/kernel/debug/"

static const struct rmpp_pkt first_of_three = {
	1, RMPP_DATA, RMPP_ACTIVE | RMPP_FIRST, 0, 1, 3 * RMPP_PAYLOAD,
};

static bool has_fault(const char *fault)
{
	char path[64];

	snprintf(path, sizeof(path), FAULTS "%s", fault);
	return !access(path, F_OK);
}

static int set_one(const char *fault, const char *file, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), FAULTS "%s/%s", fault, file);
	return umad_write_sysfs(path, value);
}

/* Memory that cannot be waited for is not there, in so many of a hundred cases. */
static int set_fault(const char *fault, const char *percent)
{
	/* Of pages alone. */
	set_one(fault, "min-order", "0");
	return set_one(fault, "ignore-gfp-wait", "1") ?: set_one(fault, "times", "-1") ?:
	       set_one(fault, "verbose", "0") ?: set_one(fault, "probability", percent);
}

/* How many attempts follow the one that has been seen; all have its bytes. */
static int attempts(FIXTURE_DATA(peers) *self)
{
	const struct ib_hwsim_frame first = self->seen;
	int n = 0;

	while (see(self, 10 * TIMEOUT) >= 0) {
		if (memcmp(first.mad, self->seen.mad, MAD_LEN))
			return -EBADMSG;
		n++;
	}
	return n;
}

TEST_F(peers, first_attempt_fails_and_there_is_no_memory)
{
	if (!has_fault("failslab"))
		SKIP(return, "no failslab in this kernel");
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP, METHOD_TABLE, 7, 180, 7);
	rmpp_user_hdr(&self->msg)->timeout_ms = TIMEOUT;
	rmpp_user_hdr(&self->msg)->retries = RETRIES;
	rmpp_mad_bytes(&self->msg)[26] = 0;
	ASSERT_EQ(0, set_fail("send_wc", "nth 1"));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_EQ(0, set_fault("failslab", "100"));
	hwsim_set(DEVICE, 1, "hold_completions", "0");
	sleep_ms(TIMEOUT / 3);
	ASSERT_EQ(0, set_fault("failslab", "0"));
	ASSERT_LE(0, see(self, SOON));
	EXPECT_EQ(RETRIES - 1, attempts(self));
}

/* In the place of a response of so many segments that has begun; there is no memory for it. */
static void begin_another_in_vain(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
				  uint32_t segs, uint64_t *tid)
{
	ASSERT_EQ(0, request(self, 100, -1, tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, *tid, 1, segs));
	ASSERT_EQ(RMPP_ACK, see_packet(self, *tid, RMPP_ACK, 1));
	sleep_ms(50);
	ASSERT_EQ(0, set_fault("failslab", "100"));
	inject_other(self, *tid, &first_of_three);
	sleep_ms(TIMEOUT);
	ASSERT_EQ(0, set_fault("failslab", "0"));
	EXPECT_EQ(1, module_counter(self, "recv_dropped_nomem"));
}

/* Its sender repeats the first segment. */
TEST_F(peers, response_in_place_of_the_first_and_there_is_no_memory)
{
	uint64_t tid;

	if (!has_fault("failslab"))
		SKIP(return, "no failslab in this kernel");
	begin_another_in_vain(_metadata, self, 1000, &tid);
	EXPECT_GT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, WHILE));
	ASSERT_EQ(0, inject_other(self, tid, &first_of_three));
	/* The first may repeat its ACK just now, and the window of this one opens by its own. */
	sleep_ms(TIMEOUT);
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 1));
	expect_rest(_metadata, self, tid, 2);
}

/* The response that was there goes on. */
TEST_F(peers, response_goes_on_if_there_is_no_memory_for_another)
{
	uint64_t tid;

	if (!has_fault("failslab"))
		SKIP(return, "no failslab in this kernel");
	begin_another_in_vain(_metadata, self, 3, &tid);
	expect_rest(_metadata, self, tid, 2);
}

/* No page for the first segment: the response has nothing of that, but of what comes then. */
TEST_F(peers, response_has_the_header_of_the_segment_that_was_kept)
{
	uint64_t tid;

	if (!has_fault("fail_page_alloc"))
		SKIP(return, "no fail_page_alloc in this kernel");
	/* What is not a page is there then. */
	ASSERT_EQ(0, request(self, 100, -1, &tid));
	expect_rest(_metadata, self, tid, 1);
	self->asked++;
	ASSERT_EQ(0, request(self, 100, -1, &tid));
	make_packet(self, 0, METHOD_TABLE | METHOD_RESP, tid, &first_of_three);
	frame_mad(&self->frame)->attr_mod ^= htobe32(0x55);
	ASSERT_EQ(0, set_fault("fail_page_alloc", "100"));
	raw_write(self->wire, &self->frame);
	sleep_ms(TIMEOUT);
	ASSERT_EQ(0, set_fault("fail_page_alloc", "0"));
	EXPECT_EQ(1, module_counter(self, "recv_dropped_nomem"));
	expect_rest(_metadata, self, tid, 1);
	EXPECT_EQ(frame_mad(&self->frame)->attr_mod, rmpp_mad(&self->got)->attr_mod);
}

TEST_HARNESS_MAIN
