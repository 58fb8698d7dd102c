// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process of a small cgroup beside a flood of first segments, which nobody has asked for:
 * what is kept of them is charged to it, and must not be what has it killed.
 */
#include "hwsim_senders.h"
#include "hwsim_victim.h"

#define FIRST	4096		/* segments, some 5 KiB each */
#define MADS	30000		/* 352 bytes each */
#define PEERS	64
#define HONEST	200		/* a peer beside them */
#define SEGS	40		/* of its message */
#define HIGH	(4 << 20)	/* memory.high */
#define LONG	(128 << 20)	/* a message that is written */
#define FILES	12		/* if it has several, each with a method of its own */

/* What the module has sent meanwhile, by type; STOP for the honest one: 0. */
static void count_answers(FIXTURE_DATA(peers) *self, unsigned int seen[8])
{
	int type;

	while ((type = see(self, 1)) >= 0)
		seen[type == RMPP_STOP && be64toh(frame_mad(&self->seen)->tid) == 1 ?
		     0 : type & 7]++;
}

TEST_F(peers, unasked_first_segments_have_nobody_killed)
{
	const struct victim victim = { .limit = LIMIT, .files = 1 };
	unsigned int seen[8] = {}, i;
	pid_t pid;

	pid = start_victim(self, &victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	/* It has begun before the flood, and goes on in it. */
	ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, 1, SEGS));
	ASSERT_LE(0, see_packet(self, 1, RMPP_ACK, 1));
	for (i = 0; i < FIRST; i++) {
		ASSERT_EQ(0, inject_data(self, i % PEERS, METHOD_TABLE, 1000 + i, 1, 1000));
		if (i % 16 == 15)
			count_answers(self, seen);
		if (i % (FIRST / SEGS) == 0)
			ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1,
						 2 + i / (FIRST / SEGS), SEGS));
	}
	TH_LOG("%u ACKs, %u STOPs; memory.current %ld", seen[RMPP_ACK], seen[RMPP_STOP],
	       cgroup_get(CGROUP, "memory.current"));
	EXPECT_TRUE(lives(pid));
	count_answers(self, seen);
	EXPECT_EQ(0, seen[0]);
	/* As many as there is memory for, and the others are told. */
	EXPECT_LT(500, seen[RMPP_ACK]);
	EXPECT_LT(500, seen[RMPP_STOP]);
	EXPECT_GT(LIMIT / 2, cgroup_get(CGROUP, "memory.current"));
	end_victim(pid);
}

/*
 * First segments of messages of so many to all files of a process, which does not read; of
 * none: plain MADs.
 */
static void flood(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
		  const struct victim *victim, uint32_t segs)
{
	unsigned int seen[8] = {}, n = segs && !victim->reads ? FIRST : MADS, i;
	struct rmpp_pkt pkt = {};
	pid_t pid;

	pid = start_victim(self, victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	if (segs)
		pkt = rmpp_data_pkt(1, segs, segs * RMPP_PAYLOAD);
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, inject(self, i % PEERS, METHOD_TABLE + i % victim->files,
				    1000 + i, &pkt));
		if (i % 16 == 15)
			count_answers(self, seen);
	}
	TH_LOG("%u ACKs, %u STOPs; memory.current %ld", seen[RMPP_ACK], seen[RMPP_STOP],
	       cgroup_get(CGROUP, "memory.current"));
	EXPECT_TRUE(lives(pid));
	EXPECT_LT(segs ? 100 : -1, (int)seen[RMPP_ACK]);
	EXPECT_GT(victim->limit / 2, cgroup_get(CGROUP, "memory.current"));
	end_victim(pid);
}

/* Nor do those that are whole, and wait to be read. */
TEST_F(peers, unread_messages_have_it_not_killed)
{
	const struct victim victim = { .limit = LIMIT, .files = 1 };

	flood(_metadata, self, &victim, 1);
}

TEST_F(peers, unread_messages_of_many_files_have_it_not_killed)
{
	const struct victim victim = { .limit = LIMIT, .files = FILES };

	flood(_metadata, self, &victim, 1);
}

TEST_F_TIMEOUT(peers, unread_mads_of_many_files_have_it_not_killed, 240)
{
	const struct victim victim = { .limit = LIMIT / 2, .files = FILES };

	flood(_metadata, self, &victim, 0);
}

/* The limit is that of a cgroup above, which has one below it. */
TEST_F(peers, unread_messages_of_a_cgroup_below_have_it_not_killed)
{
	const struct victim victim = { .limit = LIMIT, .files = FILES, .below = true };

	flood(_metadata, self, &victim, 1);
}

TEST_F(peers, unasked_messages_of_a_cgroup_below_have_it_not_killed)
{
	const struct victim victim = { .limit = LIMIT, .files = FILES, .below = true };

	flood(_metadata, self, &victim, 1000);
}

/* Above memory.high a process sleeps for seconds at each page fault. */
TEST_F(peers, unasked_messages_keep_below_memory_high)
{
	const struct victim victim = { .limit = LIMIT, .files = 1, .limit_file = "memory.high" };

	flood(_metadata, self, &victim, 1000);
}

/* What is remembered of messages that have been read. */
TEST_F_TIMEOUT(peers, messages_that_were_read_have_it_not_killed, 240)
{
	const struct victim victim = { .limit = LIMIT / 4, .files = 1, .reads = true };

	flood(_metadata, self, &victim, 1);
}

/*
 * One that needs a page too many does not make room for itself, though it is the oldest of
 * those of which only the first segment has come.
 */
TEST_F_TIMEOUT(peers, oldest_message_goes_on_in_a_full_cgroup, 120)
{
	const struct victim victim = { .limit = LIMIT, .files = 1 };
	unsigned int seen[8] = {}, i;
	struct heard heard = {};
	struct sender senders[5];
	pid_t pid;

	/* 45,000 segments take longer there than what has begun is kept for. */
	if (kernel_debugs())
		SKIP(return, "the kernel is too slow");
	pid = start_victim(self, &victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	for (i = 0; i < 5; i++)
		senders[i] = new_sender(HONEST + i, METHOD_TABLE, HONEST + i, 20000);
	/* Two have what one may have each, so that a quarter is used; then some begin. */
	ASSERT_EQ(0, send_up_to(self, senders, 2, 8600, &heard));
	ASSERT_EQ(8601, senders[0].next);
	ASSERT_EQ(8601, senders[1].next);
	ASSERT_EQ(0, send_up_to(self, senders + 2, 3, 1, &heard));
	ASSERT_EQ(0, heard.stops);
	for (i = 0; i < 60; i++) {
		ASSERT_EQ(0, inject_data(self, i % 8, METHOD_TABLE, 1000 + i, 1, 1000));
		sleep_ms(20);
		count_answers(self, seen);
	}
	/* Those that have begun may have half. */
	ASSERT_EQ(0, send_up_to(self, senders + 2, 3, 9500, &heard));
	ASSERT_LT(0, heard.stops);
	sleep_ms(1200);
	for (i = 0; i < 60; i++) {
		ASSERT_EQ(0, inject_data(self, i % 8, METHOD_TABLE, 1000 + i, 20, 1000));
		sleep_ms(2);
		count_answers(self, seen);
	}
	/* Others have made room. */
	EXPECT_LT(0, seen[RMPP_STOP]);
	EXPECT_TRUE(lives(pid));
	end_victim(pid);
}

/* One node that takes all it can leaves others theirs. */
TEST_F(peers, one_node_does_not_fill_a_cgroup)
{
	const struct victim victim = { .limit = LIMIT / 2, .files = 1 };
	unsigned int seen[8] = {}, i;
	pid_t pid;

	pid = start_victim(self, &victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	/* 2.5 MiB: more than a quarter of the 8. */
	for (i = 1; i <= 12000; i++) {
		ASSERT_EQ(0, inject_data(self, 0, METHOD_TABLE, 1000, i, 20000));
		if (i % 16 == 15)
			count_answers(self, seen);
	}
	ASSERT_EQ(0, inject_data(self, HONEST, METHOD_TABLE, 1, 1, SEGS));
	EXPECT_LE(0, see_packet(self, 1, RMPP_ACK, 1));
	end_victim(pid);
}

/* Writes a request without retries, and reads what comes of it. */
static void ask_in_cgroup(void)
{
	struct umad_msg msg, got;
	struct test_port peer = { .lid = PEER };
	int ret = cgroup_enter(CGROUP), fd = open_server(METHOD_TABLE);

	msg_init_usual(&msg, &peer, 0, CLASS_RMPP, METHOD_TABLE, 7);
	msg.hdr.timeout_ms = SOON;
	/* A limit below what it has must not have it killed. */
	ret = ret ?: umad_write_sysfs("/proc/self/oom_score_adj", "-1000");
	if (ret || msg_write(fd, &msg) != MSG_LEN)
		_exit(2);
	_exit(msg_read(fd, &got, 2 * SOON) != MSG_LEN);
}

/*
 * What is not the response uses up what waits for that. There is no memory for a copy, as the
 * cgroup is at its limit: page cache may fill it all the time.
 */
TEST_F(peers, stray_packet_beside_no_memory)
{
	const struct rmpp_pkt stray = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 0, 1 };
	uint64_t tid;
	int status;
	pid_t pid;

	if (cgroup_make(CGROUP))
		SKIP(return, "no memory cgroups");
	close(self->fd);
	self->fd = -1;
	pid = fork();
	if (!pid)
		ask_in_cgroup();
	ASSERT_LE(0, see(self, SOON));
	tid = be64toh(frame_mad(&self->seen)->tid);
	/* What can be reclaimed is; then it has what it has. */
	cgroup_set(CGROUP, "memory.max", cgroup_get(CGROUP, "memory.current") - 4096);
	ASSERT_EQ(0, cgroup_set(CGROUP, "memory.max", cgroup_get(CGROUP, "memory.current")));
	ASSERT_EQ(0, inject(self, 5, METHOD_TABLE | METHOD_RESP, tid, &stray));
	see(self, WHILE);
	ASSERT_EQ(0, cgroup_set(CGROUP, "memory.max", LIMIT));
	frame_init(&self->frame, CLASS_RMPP, METHOD_TABLE | METHOD_RESP, tid);
	self->frame.slid = PEER;
	self->frame.dlid = LID;
	memset(self->frame.mad + MAD_HDR_LEN, 0, MAD_LEN - MAD_HDR_LEN);
	mad_put_oui(self->frame.mad);
	ASSERT_EQ(0, raw_write(self->wire, &self->frame));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	cgroup_remove(CGROUP);
}

/* A message of zeros, which take no memory of the process. */
static void write_long_in_cgroup(int fd)
{
	struct umad_msg *msg = map_private(LONG);
	struct test_port peer = { .lid = PEER };

	if (cgroup_enter(CGROUP))
		_exit(2);
	msg_init_usual(msg, &peer, 0, CLASS_RMPP, METHOD_TABLE | METHOD_RESP, 7);
	msg->data[26] = RMPP_ACTIVE;	/* RRespTime and RMPPFlags */
	_exit(write(fd, msg, LONG) < 0);
}

/*
 * Above memory.high who writes sleeps after some pages; but not who was killed, and that one is
 * not to have the rest.
 */
TEST_F(peers, who_is_killed_writes_no_more)
{
	uint64_t begun;
	long current;
	pid_t pid;

	if (cgroup_make(CGROUP) || cgroup_set(CGROUP, "memory.high", HIGH))
		SKIP(return, "no memory cgroups");
	pid = fork();
	if (!pid)
		write_long_in_cgroup(self->fd);
	sleep_ms(SOON);
	current = cgroup_get(CGROUP, "memory.current");
	EXPECT_LT(HIGH, current);
	begun = now_ms();
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	TH_LOG("%ld bytes, then %ld; ends after %u ms", current,
	       cgroup_get(CGROUP, "memory.current"), (unsigned int)(now_ms() - begun));
	EXPECT_GT(2 * HIGH, cgroup_get(CGROUP, "memory.current"));
	cgroup_remove(CGROUP);
}

TEST_HARNESS_MAIN
