// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What was used of a limit a moment ago counts for what may be sent to processes below it, for a
 * second, and page cache of a cgroup beside them does not.
 */
#include "hwsim_victim.h"

#define ONE	CGROUP "/one"
#define OTHER	CGROUP "/other"
#define KB	1024
#define CACHE	(14800 * KB)	/* so that it is nearly full */
#define MOMENT	(13500 * KB)	/* what it needs then */
#define MOST	(LIMIT / 100 * 92)
#define FEW	80		/* MADs */
#define MANY	6000
#define ENOUGH	2500		/* of these; a quarter of what is left has room for 3,000 */

/* A process that serves @method in a cgroup, and does what it is told by a character. */
struct server {
	const char *cgroup;
	uint8_t method;
	size_t cache;
	size_t moment;
	int orders[2], done[2];
	pid_t pid;
};

static int count_mads(int fd)
{
	struct umad_msg msg;
	int n = 0;

	while (msg_read(fd, &msg, 100) > 0)
		n++;
	return n;
}

static void serve(const struct server *server)
{
	int ret = cgroup_enter(server->cgroup), fd = open_server(server->method);
	char *cache = map_private(server->cache), *moment = NULL, order;

	fill_lazy(cache, server->cache);
	ret = ret < 0 ? ret : fd;
	while (write(server->done[1], &ret, sizeof(ret)) > 0 &&
	       read(server->orders[0], &order, 1) == 1) {
		switch (order) {
		case 'u':
			moment = map_private(server->moment);
			memset(moment, 1, server->moment);
			break;
		case 'b':
			munmap(moment, server->moment);
			fill_lazy(cache, server->cache);
			break;
		case 'r':
			ret = count_mads(fd);
			break;
		}
	}
	_exit(0);
}

static int wait_done(struct server *server)
{
	int ret;

	return read(server->done[0], &ret, sizeof(ret)) == sizeof(ret) ? ret : -EIO;
}

static int order(struct server *server, char what)
{
	return write(server->orders[1], &what, 1) == 1 ? wait_done(server) : -EIO;
}

static int start(struct server *server)
{
	if (pipe(server->orders) || pipe(server->done))
		return -errno;
	server->pid = fork();
	if (!server->pid) {
		/* Its end is seen, and it sees that of the test. */
		close(server->orders[1]);
		close(server->done[0]);
		serve(server);
	}
	close(server->orders[0]);
	close(server->done[1]);
	return wait_done(server);
}

static void end(struct server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	close(server->orders[1]);
	close(server->done[0]);
	cgroup_remove(server->cgroup);
}

static int send_mads(FIXTURE_DATA(peers) *self, const struct server *server, int n)
{
	static const struct rmpp_pkt pkt;
	int i, ret = 0;

	for (i = 0; !ret && i < n; i++)
		ret = inject(self, i % 8, server->method, 1000 + i, &pkt);
	sleep_ms(50);
	return ret;
}

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

static int make_cgroup(FIXTURE_DATA(peers) *self)
{
	/* The servers serve what the fixture's own file does. */
	close(self->fd);
	self->fd = -1;
	return cgroup_make(CGROUP) ?: cgroup_set(CGROUP, "memory.max", LIMIT);
}

static int make_cgroups(FIXTURE_DATA(peers) *self)
{
	return make_cgroup(self) ?: cgroup_delegate(CGROUP) ?: cgroup_make(ONE) ?:
	       cgroup_make(OTHER);
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
