// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Turn-around ACKs that the device or their receiver refuses. */
#include "hwsim_peers.h"

#define TURNS		300
#define FILES		10
#define CROWD		4000
#define REFUSALS	64

/* Such requests of a file, from that one on. */
static void ask(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
		uint64_t *tids, int n)
{
	int i;

	for (i = 0; i < n; i++)
		ASSERT_EQ(0, message_sent(self, -1, &tids[i]));
}

/* Their turn-around ACKs cannot be sent, from now on. */
static void ack_in_vain(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			const uint64_t *tids, int n)
{
	int i;

	ASSERT_EQ(0, set_fail("post_send", "all EAGAIN"));
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, peer_acks(self, tids[i], 2, 10));
}

/* How often in a second they are tried while none can be posted. */
static long turn_arounds_tried(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self)
{
	uint64_t since;
	long failed;

	/* Behind the first of each, which may be tried twice. */
	sleep_ms(1000);
	since = now_ms();
	failed = module_counter(self, "send_failed");
	sleep_ms(4000);
	failed = module_counter(self, "send_failed") - failed;
	since = now_ms() - since;
	ASSERT_EQ(0, set_fail("post_send", "off"));
	TH_LOG("%ld attempts in %llu ms", failed, (unsigned long long)since);
	return failed * 1000 / (long)since;
}

/* Its response may come as soon as the device takes something. */
TEST_F(peers, turn_around_ACK_that_cannot_be_sent_is_sent_soon)
{
	uint64_t tid;

	ask(_metadata, self, &tid, 1);
	ack_in_vain(_metadata, self, &tid, 1);
	EXPECT_LE(5, turn_arounds_tried(_metadata, self));
	ASSERT_EQ(0, see_turn(self, 800));
}

/* But those of many must not be in the way of others. */
static void expect_no_flood(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			    const uint64_t *tids)
{
	long tried;
	int i;

	ack_in_vain(_metadata, self, tids, TURNS);
	tried = turn_arounds_tried(_metadata, self);
	EXPECT_LE(300, tried);
	EXPECT_GE(1100, tried);
	for (i = 0; i < TURNS; i++)
		ASSERT_EQ(0, see_turn(self, SOON));
	EXPECT_EQ(-ETIME, see(self, WHILE));
}

TEST_F(peers, turn_around_ACKs_that_cannot_be_sent_are_no_flood)
{
	uint64_t tids[TURNS];

	ask(_metadata, self, tids, TURNS);
	expect_no_flood(_metadata, self, tids);
}

TEST_F(peers, turn_around_ACKs_of_many_files_are_no_flood)
{
	int fds[FILES], own = self->fd, i;
	uint64_t tids[TURNS];

	for (i = 0; i < FILES; i++) {
		fds[i] = open_server(0);
		ASSERT_LE(0, fds[i]);
		self->fd = fds[i];
		ask(_metadata, self, tids + i * (TURNS / FILES), TURNS / FILES);
	}
	self->fd = own;
	expect_no_flood(_metadata, self, tids);
	for (i = 0; i < FILES; i++)
		close(fds[i]);
}

/* Single MADs to the same node that are sent again all the time, of the same file. */
static int crowd(FIXTURE_DATA(peers) *self)
{
	int i, ret = write_crowd(self, 0, CROWD);

	for (i = 0; i < CROWD; i++)
		see(self, 0);
	return ret;
}

/* Its response comes to nothing: its turn-around ACK is sent 100 ms later. */
static void expect_turn_is_soon(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
				uint64_t tid)
{
	uint64_t since = now_ms();

	ASSERT_EQ(0, abort_answer(self, tid));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 0));
	TH_LOG("after %llu ms", (unsigned long long)(now_ms() - since));
	EXPECT_GE(150, now_ms() - since);
}

TEST_F(peers, turn_around_ACK_does_not_wait_for_single_MADs)
{
	uint64_t tid;

	ASSERT_EQ(0, message_arrived(self, 2 * SOON, &tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 1));
	ASSERT_EQ(0, crowd(self));
	expect_turn_is_soon(_metadata, self, tid);
}

/* Nor where its last segment was to be sent again, and waited for them. */
TEST_F(peers, turn_around_ACK_is_not_where_a_segment_waited)
{
	uint64_t tid, since;

	ASSERT_EQ(0, crowd(self));
	ASSERT_EQ(0, message_sent(self, 2 * SOON, &tid));
	for (since = now_ms(); now_ms() - since < 200;)
		see(self, 10);
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1000));
	ASSERT_EQ(RMPP_ACK, see_packet(self, tid, RMPP_ACK, 1));
	expect_turn_is_soon(_metadata, self, tid);
}

/* That request's turn-around ACK is refused; the next, or what takes its place. */
static int refuse_turn(FIXTURE_DATA(peers) *self, uint64_t tid)
{
	int ret = abort_answer(self, tid);

	return ret ?: see_packet(self, tid, RMPP_ACK, 0);
}

/* Up to the one behind which they are not repeated. */
static int refuse_turns(FIXTURE_DATA(peers) *self, uint64_t *tid)
{
	int i;

	if (message_arrived(self, -1, tid))
		return -EIO;
	for (i = 0; i < REFUSALS; i++)
		if (refuse_turn(self, *tid) != RMPP_ACK || self->seen.dest_qp != 1)
			return -EPROTO;
	return 0;
}

/* A host whose process has ended sends Get and Set back: that is no ACK of a segment. */
static void expect_few_return(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self)
{
	uint64_t tid, since;
	int n = 1;

	ASSERT_EQ(0, message_arrived(self, -1, &tid));
	for (since = now_ms(); now_ms() - since < 1000; n += self->seen.dest_qp == 1) {
		ASSERT_EQ(0, peer_acks(self, tid, 0, 1));
		if (see_turn(self, WHILE))
			break;
	}
	EXPECT_GE(1 + REFUSALS + 10, n);
}

TEST_F(peers, turn_around_ACK_that_comes_back_is_refused)
{
	expect_few_return(_metadata, self);
}

/* It is not of the message that has answered an earlier request of that TID. */
TEST_F(peers, turn_around_ACK_that_comes_back_after_a_response_is_refused)
{
	uint64_t tid;

	ASSERT_EQ(0, message_arrived(self, -1, &tid));
	ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE | METHOD_RESP, tid, 1, 1));
	ASSERT_LE(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	while (see(self, WHILE) >= 0)
		;
	self->asked--;
	expect_few_return(_metadata, self);
}

/* What waits for the response then is for a queue pair that takes none. */
TEST_F(peers, who_refuses_turn_around_ACKs_sees_no_more)
{
	uint64_t tid;

	ASSERT_EQ(0, refuse_turns(self, &tid));
	ASSERT_EQ(RMPP_ACK, refuse_turn(self, tid));
	EXPECT_EQ(0xffffff, self->seen.dest_qp);
}

/* Each time it fails is an error of QP 1. But one that others see may fail as well as any. */
TEST_F(peers, what_waits_in_their_place_fails)
{
	uint64_t tid;

	ASSERT_EQ(0, refuse_turns(self, &tid));
	ASSERT_EQ(0, set_fail("send_wc", "nth 1"));
	ASSERT_EQ(RMPP_ACK, refuse_turn(self, tid));
	EXPECT_EQ(1, self->seen.dest_qp);
	ASSERT_EQ(RMPP_ACK, refuse_turn(self, tid));
	EXPECT_EQ(1, self->seen.dest_qp);
}

TEST_HARNESS_MAIN
