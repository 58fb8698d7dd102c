// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a reader finds of what had to give way, and what did not have to. */
#include "hwsim_senders.h"
#include "hwsim_server.h"

#define LONG		9000	/* segments, 1.95 MB */
#define MADS		4500	/* 1.6 MB */
#define LARGE		(64 << 20)
#define LONG_OF_LARGE	28000	/* 6.05 MB */

/* A message whole and unread, of a process that then uses as much memory as its server says. */
static void use_beside(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
		       struct server *server, uint32_t segs)
{
	struct sender sender = new_sender(1, METHOD_TABLE, 1, segs);
	struct heard heard = {};

	ASSERT_EQ(0, send_up_to(self, &sender, 1, segs, &heard));
	hear(self, &sender, 1, &heard, 20);
	ASSERT_EQ(1, heard.complete);
	EXPECT_LE(0, order(server, 'u'));
}

/* To a reader who has no room for it besides, in a buffer that is new. */
TEST_F_TIMEOUT(peers, a_message_moves_to_its_reader, 60)
{
	struct server server = {
		.cgroup = CGROUP, .method = METHOD_TABLE, .moment = LIMIT / 100 * 83,
	};
	static const struct rmpp_pkt pkt;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, inject(self, 0, METHOD_TABLE, 1000, &pkt));
	use_beside(_metadata, self, &server, LONG);
	EXPECT_EQ(2, order(&server, 'N'));
	end(&server);
}

/* It stays if the buffer is bad, but it cannot move back. */
TEST_F_TIMEOUT(peers, a_message_moves_to_a_bad_buffer, 60)
{
	struct sender sender = new_sender(1, METHOD_TABLE, 1, LONG);
	struct server server = {
		.cgroup = CGROUP, .method = METHOD_TABLE, .moment = LIMIT / 100 * 83,
	};
	struct heard heard = {};
	long shed;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, send_up_to(self, &sender, 1, LONG, &heard));
	hear(self, &sender, 1, &heard, 20);
	EXPECT_EQ(-EFAULT, order(&server, 'x'));
	EXPECT_EQ(1, order(&server, 'p'));
	EXPECT_NE(-EIO, order(&server, 'u'));
	EXPECT_EQ(-EFAULT, order(&server, 'x'));
	shed = module_counter(self, "recv_shed");
	EXPECT_EQ(shed < 0, order(&server, 'p'));
	if (shed >= 0)
		EXPECT_EQ(1, shed);
	end(&server);
}

/* The cgroup is not full before that. */
TEST_F_TIMEOUT(peers, a_larger_message_moves_to_its_reader, 100)
{
	struct server server = {
		.cgroup = CGROUP, .method = METHOD_TABLE, .moment = LARGE / 100 * 83,
	};
	static const struct rmpp_pkt pkt;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, cgroup_set(CGROUP, "memory.max", LARGE));
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, inject(self, 0, METHOD_TABLE, 1000, &pkt));
	use_beside(_metadata, self, &server, LONG_OF_LARGE);
	EXPECT_EQ(2, order(&server, 'N'));
	end(&server);
}

/* And to one who sleeps when it comes. */
TEST_F_TIMEOUT(peers, a_message_moves_to_a_reader_who_slept, 60)
{
	struct sender sender = new_sender(1, METHOD_TABLE, 1, LONG);
	struct server server = {
		.cgroup = CGROUP, .method = METHOD_TABLE, .moment = LIMIT / 100 * 79,
		.blocks = true,
	};
	struct heard heard = {};
	int ret;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	EXPECT_LE(0, order(&server, 'u'));
	ASSERT_EQ(0, begin_order(&server, 'W'));
	sleep_ms(20);
	ASSERT_EQ(0, send_up_to(self, &sender, 1, LONG, &heard));
	hear(self, &sender, 1, &heard, 20);
	EXPECT_EQ(1, heard.complete);
	ret = wait_done(&server);
	EXPECT_LT(LONG * 200, ret);
	end(&server);
}

/* Of an answer to the server all but so many segments, from the first peer. */
static int send_answer(FIXTURE_DATA(peers) *self, struct server *server, uint32_t missing,
		       struct sender *sender, struct heard *heard)
{
	int ret = order(server, 'L');

	if (ret || see(self, SOON) < 0)
		return ret ?: -ETIME;
	*sender = new_sender(0, METHOD_TABLE | METHOD_RESP, be64toh(frame_mad(&self->seen)->tid),
			     LONG);
	ret = send_up_to(self, sender, 1, LONG - missing, heard);
	hear(self, sender, 1, heard, 20);
	return ret;
}

TEST_F_TIMEOUT(peers, unread_mads_give_way_before_answers, 60)
{
	struct server server = {
		.cgroup = CGROUP, .method = METHOD_TABLE, .moment = LIMIT / 100 * 85,
	};
	struct heard heard = {};
	struct sender sender;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, send_answer(self, &server, 1, &sender, &heard));
	ASSERT_EQ(0, send_mads(self, &server, MADS));
	EXPECT_LE(0, order(&server, 'u'));
	ASSERT_EQ(0, send_up_to(self, &sender, 1, LONG, &heard));
	hear(self, &sender, 1, &heard, 20);
	EXPECT_EQ(0, heard.stops);
	EXPECT_EQ(1, heard.complete);
	end(&server);
}

/* The other file has more, but that may not go. */
TEST_F_TIMEOUT(peers, who_has_less_gives_what_may_go, 60)
{
	struct server server = {
		.cgroup = CGROUP, .method = METHOD_TABLE, .moment = LIMIT / 100 * 85,
	}, other = { .cgroup = CGROUP, .method = METHOD_TABLE + 1 };
	struct heard heard = {};
	struct sender sender;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_LE(0, start(&other));
	ASSERT_EQ(0, send_answer(self, &server, 0, &sender, &heard));
	ASSERT_EQ(1, heard.complete);
	ASSERT_EQ(0, send_mads(self, &other, MADS));
	EXPECT_LE(0, order(&server, 'u'));
	TH_LOG("%d of %u MADs", order(&other, 'r'), MADS);
	end(&server);
	end(&other);
}

/*
 * A message that is gone when it is read: the server has tried to learn of it by the order
 * @learn, which returns @ret, and then by others.
 */
static void lose_a_message(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			   struct server *server, char learn, int ret)
{
	struct sender sender = new_sender(1, METHOD_TABLE, 1, LONG);
	struct heard heard = {};

	ASSERT_LE(0, start(server));
	ASSERT_EQ(0, send_up_to(self, &sender, 1, LONG, &heard));
	hear(self, &sender, 1, &heard, 20);
	ASSERT_EQ(ret, order(server, learn));
	EXPECT_NE(-EIO, order(server, 'u'));
}

static struct server blocking_server(void)
{
	return (struct server){
		.cgroup = CGROUP, .method = METHOD_TABLE, .moment = LIMIT / 100 * 90,
		.blocks = true,
	};
}

/*
 * A read() that may block does not sleep for what its process knows of, but then it does. In-tree
 * the message is there, and too long.
 */
static void read_what_is_known(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			       struct server *server)
{
	bool is_gone = module_counter(self, "recv_shed") >= 0;

	EXPECT_EQ(is_gone ? -EAGAIN : -EINVAL, order(server, 'B'));
	EXPECT_EQ(is_gone ? -EINTR : -EINVAL, order(server, 'B'));
	EXPECT_EQ(!is_gone, order(server, 'p'));
}

TEST_F_TIMEOUT(peers, what_poll_has_seen_is_not_waited_for, 60)
{
	struct server server = blocking_server();

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	lose_a_message(_metadata, self, &server, 'p', 1);
	read_what_is_known(_metadata, self, &server);
	end(&server);
}

TEST_F_TIMEOUT(peers, what_poll_had_seen_before_is_not_waited_for, 60)
{
	struct server server = blocking_server();
	bool is_gone;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	lose_a_message(_metadata, self, &server, 'p', 1);
	/* As another thread may. */
	is_gone = module_counter(self, "recv_shed") >= 0;
	EXPECT_EQ(!is_gone, order(&server, 'p'));
	EXPECT_EQ(1, order(&server, 'o'));
	read_what_is_known(_metadata, self, &server);
	end(&server);
}

TEST_F_TIMEOUT(peers, what_was_too_long_is_not_waited_for, 60)
{
	struct server server = blocking_server();

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	lose_a_message(_metadata, self, &server, 'n', -ENOSPC);
	read_what_is_known(_metadata, self, &server);
	end(&server);
}

/* A poll() for something else has not seen it. */
TEST_F_TIMEOUT(peers, what_is_not_known_is_waited_for, 60)
{
	struct server server = blocking_server();
	bool is_gone;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	lose_a_message(_metadata, self, &server, 'o', 1);
	is_gone = module_counter(self, "recv_shed") >= 0;
	EXPECT_EQ(is_gone ? -EINTR : -EINVAL, order(&server, 'B'));
	end(&server);
}

TEST_HARNESS_MAIN
