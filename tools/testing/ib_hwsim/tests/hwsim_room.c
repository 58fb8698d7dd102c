// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What was used of a limit a moment ago counts for what may be sent to processes below it, for a
 * second, and page cache of a cgroup beside them does not.
 */
#include "hwsim_server.h"

#define CACHE	(14800 * KB)	/* so that it is nearly full */
#define MOMENT	(13500 * KB)	/* what it needs then */
#define MOST	(LIMIT / 100 * 92)
#define FEW	80		/* MADs */
#define MANY	6000
#define ENOUGH	2500		/* of these; a quarter of what is left has room for 3,000 */

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

static void expect_forgotten(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			     struct server *server)
{
	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(server));
	ASSERT_LE(0, order(server, 'u'));
	/* What it uses is only looked at when something comes. */
	ASSERT_EQ(0, send_mads(self, server, FEW));
	ASSERT_LE(0, order(server, 'r'));
	ASSERT_LE(0, order(server, 'b'));
	sleep_ms(1500);
	expect_enough(_metadata, self, server);
	end(server);
}

TEST_F_TIMEOUT(peers, what_was_needed_for_a_moment_is_forgotten, 60)
{
	struct server server = { .cgroup = CGROUP, .method = METHOD_TABLE, .moment = MOST };

	expect_forgotten(_metadata, self, &server);
}

TEST_F_TIMEOUT(peers, what_was_needed_for_a_moment_beside_cache_is_forgotten, 60)
{
	struct server server = {
		.cgroup = CGROUP, .method = METHOD_TABLE, .cache = CACHE, .moment = MOMENT,
	};

	expect_forgotten(_metadata, self, &server);
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

/* What comes for one leaves to another cgroup what that gives back at times. */
TEST_F_TIMEOUT(peers, what_another_cgroup_used_a_moment_ago_is_left_to_it, 60)
{
	struct server one = { .cgroup = ONE, .method = METHOD_TABLE };
	struct server other = { .cgroup = OTHER, .method = METHOD_TABLE + 1, .moment = MOST };

	if (kernel_debugs())
		SKIP(return, "they take longer than a second there");
	if (make_cgroups(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&one));
	ASSERT_LE(0, start(&other));
	ASSERT_LE(0, order(&other, 'u'));
	ASSERT_EQ(0, send_mads(self, &one, FEW));
	ASSERT_LE(0, order(&other, 'b'));
	ASSERT_EQ(0, send_mads(self, &one, MANY));
	/* It is killed if there is no memory. */
	EXPECT_LE(0, order(&other, 'u'));
	TH_LOG("%d of %u MADs", order(&one, 'r'), MANY);
	end(&one);
	end(&other);
	cgroup_remove(CGROUP);
}

TEST_HARNESS_MAIN
