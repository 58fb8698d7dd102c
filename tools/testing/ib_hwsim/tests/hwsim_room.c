// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Page cache does not count for what may be sent to a process, whose it may be. */
#include "hwsim_server.h"

#define CACHE	(14800 * KB)	/* so that it is nearly full */
#define FULL	(15300 * KB)	/* so that it is, with some MADs */
#define FEW	80		/* MADs */
#define NEARLY	945		/* of 1,000 parts, beside some MADs */
#define SOME	1000
#define MANY	6000
#define ENOUGH	3500		/* of these, as more is reclaimed for each */

/* How many of many MADs it has, which it reads when all have come. */
static void expect_enough(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			  struct server *server)
{
	int got;

	ASSERT_EQ(0, send_mads(self, server, MANY));
	got = order(server, 'r');
	TH_LOG("%d of %u MADs; memory.current %ld", got, MANY,
	       cgroup_get(CGROUP, "memory.current"));
	EXPECT_LT(ENOUGH, got);
}

/* It gives way to what comes. */
TEST_F_TIMEOUT(peers, a_cgroup_full_of_cache_receives, 60)
{
	struct server server = { .cgroup = CGROUP, .method = METHOD_TABLE, .cache = CACHE };

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	expect_enough(_metadata, self, &server);
	end(&server);
}

TEST_F_TIMEOUT(peers, cache_of_a_cgroup_does_not_count_for_the_one_beside_it, 60)
{
	struct server one = { .cgroup = ONE, .method = METHOD_TABLE, .cache = CACHE };
	struct server other = { .cgroup = OTHER, .method = METHOD_TABLE + 1 };

	if (make_cgroups(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&one));
	ASSERT_LE(0, start(&other));
	ASSERT_EQ(0, send_mads(self, &other, FEW));
	ASSERT_LE(0, order(&other, 'r'));
	expect_enough(_metadata, self, &one);
	end(&one);
	end(&other);
	cgroup_remove(CGROUP);
}

/* What may be dropped is so only if a process would be killed for it. */
TEST_F_TIMEOUT(peers, drop_caches_drops_no_mads, 60)
{
	struct server server = { .cgroup = CGROUP, .method = METHOD_TABLE, .cache = FULL };

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, send_mads(self, &server, SOME));
	ASSERT_EQ(0, umad_write_sysfs("/proc/sys/vm/drop_caches", "2"));
	EXPECT_EQ(SOME, order(&server, 'r'));
	end(&server);
}

/* Small pages do in place of a huge one. */
TEST_F_TIMEOUT(peers, a_huge_page_drops_no_mads, 60)
{
	struct server server = {
		.cgroup = CGROUP, .method = METHOD_TABLE, .moment = LIMIT / 1000 * NEARLY,
	};
	int ret;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, send_mads(self, &server, SOME));
	ASSERT_LE(0, order(&server, 'u'));
	TH_LOG("memory.current %ld", cgroup_get(CGROUP, "memory.current"));
	ret = order(&server, 'c');
	if (ret == -EINVAL)
		SKIP(return, "the kernel collapses none at once");
	EXPECT_GT(0, ret);
	EXPECT_EQ(SOME, order(&server, 'r'));
	end(&server);
}

/* But the memory of sockets has them dropped, or its process would be killed. */
TEST_F_TIMEOUT(peers, sockets_are_filled_beside_mads, 60)
{
	struct server server = {
		.cgroup = CGROUP, .method = METHOD_TABLE, .moment = LIMIT / 100 * 75,
	};

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, send_mads(self, &server, 3 * SOME));
	ASSERT_LE(0, order(&server, 'u'));
	EXPECT_EQ(0, order(&server, 'k'));
	TH_LOG("%ld dropped; memory.current %ld", module_counter(self, "recv_shed"),
	       cgroup_get(CGROUP, "memory.current"));
	end(&server);
}

/* What a file had to give back is not counted for it any more, though it does not read. */
TEST_F_TIMEOUT(peers, mads_that_were_dropped_leave_room_for_others, 60)
{
	struct server server = {
		.cgroup = CGROUP, .method = METHOD_TABLE, .files = 2, .moment = LIMIT / 100 * 92,
	};
	struct server second = { .method = METHOD_TABLE + 1 };
	long dropped;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	/* More than it may have. */
	ASSERT_EQ(0, send_mads(self, &second, 2 * MANY));
	ASSERT_LE(0, order(&server, 'u'));
	dropped = module_counter(self, "recv_shed");
	TH_LOG("%ld dropped", dropped);
	ASSERT_LE(0, order(&server, 'b'));
	expect_enough(_metadata, self, &server);
	end(&server);
}

TEST_HARNESS_MAIN
