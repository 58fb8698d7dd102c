// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process of a small cgroup beside a flood of first segments, which nobody has asked for:
 * what is kept of them is charged to it, and must not be what has it killed.
 */
#include "hwsim_peers.h"
#include "promise_cgroup.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define CGROUP	"flooded"
#define BELOW	CGROUP "/below"
#define LIMIT	(16 << 20)
#define OWN	(256 << 10)	/* that it uses itself, again and again */
#define FIRST	4096		/* segments, some 5 KiB each */
#define MADS	30000		/* 352 bytes each */
#define PEERS	64
#define HONEST	200		/* a peer beside them */
#define SEGS	40		/* of its message */
#define FILES	12		/* if it has several, each with a method of its own */

/* The process that is flooded: in a cgroup with so much memory, or in one below that. */
struct victim {
	long limit;
	bool below;
	unsigned int files;
};

/* Serves, and has page faults. Ends with its parent. */
static void live_in_cgroup(const struct victim *victim, int ready)
{
	char *own = mmap(NULL, OWN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret = cgroup_enter(victim->below ? BELOW : CGROUP);
	unsigned int i;

	for (i = 0; ret >= 0 && i < victim->files; i++)
		ret = open_server(METHOD_TABLE + i);
	if (write(ready, &ret, sizeof(ret)) != sizeof(ret) || ret < 0)
		_exit(1);
	while (getppid() != 1) {
		memset(own, 1, OWN);
		madvise(own, OWN, MADV_DONTNEED);
		sleep_ms(5);
	}
	_exit(0);
}

/* -EOPNOTSUPP: there are no cgroups. */
static pid_t start_victim(FIXTURE_DATA(peers) *self, const struct victim *victim)
{
	int ready[2], ret = -EIO;
	pid_t pid;

	if (cgroup_make(CGROUP) || cgroup_set(CGROUP, "memory.max", victim->limit) ||
	    (victim->below && (cgroup_delegate(CGROUP) || cgroup_make(BELOW))))
		return -EOPNOTSUPP;
	/* It serves what the fixture's own file did. */
	close(self->fd);
	self->fd = -1;
	if (pipe(ready))
		return -errno;
	pid = fork();
	if (!pid)
		live_in_cgroup(victim, ready[1]);
	if (read(ready[0], &ret, sizeof(ret)) != sizeof(ret))
		ret = -EIO;
	close(ready[0]);
	close(ready[1]);
	return ret < 0 ? ret : pid;
}

static void end_victim(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cgroup_remove(BELOW);
	cgroup_remove(CGROUP);
}

static bool lives(pid_t pid)
{
	int status;

	sleep_ms(100);
	return !waitpid(pid, &status, WNOHANG);
}

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
	unsigned int seen[8] = {}, n = segs ? FIRST : MADS, i;
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

TEST_F(peers, unread_mads_of_many_files_have_it_not_killed)
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

TEST_HARNESS_MAIN
