// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What is kept of what a process has not asked for gives way when its cgroup has no memory left,
 * and nothing else does.
 */
#include "hwsim_senders.h"
#include "hwsim_server.h"

#define MOST	(LIMIT / 100 * 92)
#define MADS	6000
#define MESSAGE	2150		/* segments, 0.46 MB */
#define PEERS	5
#define ANSWER	9500		/* 2.05 MB */
#define LONG_AGO	1500	/* ms */

static struct server own_server(size_t moment)
{
	return (struct server){ .cgroup = CGROUP, .method = METHOD_TABLE, .moment = moment };
}

/* It has used that, long ago, and gave it back. */
static int start_quiet(struct server *server)
{
	int ret = start(server);

	if (ret >= 0)
		ret = order(server, 'u');
	if (ret >= 0)
		ret = order(server, 'b');
	sleep_ms(LONG_AGO);
	return ret < 0 ? ret : 0;
}

/* In-tree has no counters, and nothing gives way. */
static unsigned int count(FIXTURE_DATA(peers) *self, const char *name)
{
	long n = module_counter(self, name);

	return n < 0 ? 0 : n;
}

/* It is killed if there is no memory. */
TEST_F_TIMEOUT(peers, unread_mads_give_way, 60)
{
	struct server server = own_server(MOST);
	unsigned int delivered, shed, got;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	ASSERT_EQ(0, send_mads(self, &server, MADS));
	EXPECT_LE(0, order(&server, 'u'));
	got = order(&server, 'r');
	delivered = count(self, "recv_delivered");
	shed = count(self, "recv_shed");
	TH_LOG("%u of %u MADs, %u shed", got, MADS, shed);
	/* Who has seen that there is something to be read finds it. */
	EXPECT_LT(0, got);
	if (delivered)
		EXPECT_EQ(delivered, got + shed);
	end(&server);
}

/* Behind others, before others, and among them. */
TEST_F_TIMEOUT(peers, what_was_asked_for_stays, 60)
{
	struct server server = own_server(MOST);
	struct rmpp_pkt single = {};
	int i;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, order(&server, 'A'));
		ASSERT_LE(0, see(self, SOON));
		ASSERT_EQ(0, inject(self, 0, METHOD_TABLE | METHOD_RESP,
				    be64toh(frame_mad(&self->seen)->tid), &single));
		ASSERT_EQ(0, order(&server, 'T'));
		sleep_ms(100);
		while (see(self, 0) >= 0)
			;
		if (i < 2)
			ASSERT_EQ(0, send_mads(self, &server, MADS / 2));
	}
	EXPECT_LE(0, order(&server, 'u'));
	TH_LOG("%d read", order(&server, 'r'));
	EXPECT_EQ(3 * SILENT, order(&server, 't'));
	EXPECT_EQ(3, order(&server, 'a'));
	end(&server);
}

TEST_F_TIMEOUT(peers, unread_mads_give_way_to_the_cgroup_beside, 60)
{
	struct server one = { .cgroup = ONE, .method = METHOD_TABLE };
	struct server other = { .cgroup = OTHER, .method = METHOD_TABLE + 1, .moment = MOST };

	if (make_cgroups(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&one));
	ASSERT_EQ(0, start_quiet(&other));
	ASSERT_EQ(0, send_mads(self, &one, MADS));
	EXPECT_LE(0, order(&other, 'u'));
	TH_LOG("%d of %u MADs", order(&one, 'r'), MADS);
	end(&one);
	end(&other);
	cgroup_remove(CGROUP);
}

/* Messages of several segments, all but whole, or whole and not read. */
static void expect_messages_give_way(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
				     uint32_t segs)
{
	struct server server = own_server(MOST);
	struct sender senders[PEERS];
	struct heard heard = {};
	int i, read;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	for (i = 0; i < PEERS; i++)
		senders[i] = new_sender(1 + i, METHOD_TABLE, 1 + i, MESSAGE);
	ASSERT_EQ(0, send_up_to(self, senders, PEERS, segs, &heard));
	hear(self, senders, PEERS, &heard, 20);
	EXPECT_EQ(0, heard.stops);
	EXPECT_LE(0, order(&server, 'u'));
	hear(self, senders, PEERS, &heard, 200);
	read = order(&server, 'r');
	TH_LOG("%u STOPs, %d read", heard.stops, read);
	EXPECT_EQ(count(self, "rmpp_evicted"), heard.stops);
	if (segs == MESSAGE)
		EXPECT_LT(0, read);
	end(&server);
}

TEST_F_TIMEOUT(peers, messages_that_come_give_way, 60)
{
	expect_messages_give_way(_metadata, self, MESSAGE - 1);
}

TEST_F_TIMEOUT(peers, unread_messages_give_way, 60)
{
	expect_messages_give_way(_metadata, self, MESSAGE);
}

/* Who has most gives first: what comes for another server of the cgroup is not its loss. */
TEST_F_TIMEOUT(peers, who_has_little_keeps_it, 60)
{
	struct server flooded = own_server(MOST), server = flooded;
	struct sender senders[PEERS];
	struct heard heard = {};
	int i;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	server.method++;
	/* The one that has opened its file first would be the first to give. */
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, start_quiet(&flooded));
	for (i = 0; i < PEERS; i++)
		senders[i] = new_sender(1 + i, METHOD_TABLE + !i, 1 + i, MESSAGE);
	ASSERT_EQ(0, send_up_to(self, senders, 1, MESSAGE / 4, &heard));
	ASSERT_EQ(0, send_up_to(self, senders + 1, PEERS - 1, MESSAGE - 1, &heard));
	EXPECT_EQ(0, heard.stops);
	EXPECT_LE(0, order(&flooded, 'u'));
	hear(self, senders, PEERS, &heard, 200);
	TH_LOG("%u STOPs", heard.stops);
	EXPECT_EQ(count(self, "rmpp_evicted"), heard.stops);
	EXPECT_GT(PEERS, heard.stops);
	/* A segment again: it is acknowledged by a message that is still there. */
	ASSERT_EQ(0, inject_data(self, 1, METHOD_TABLE + 1, 1, 2, MESSAGE));
	EXPECT_EQ(RMPP_ACK, see_packet(self, 1, RMPP_ACK, MESSAGE / 4));
	end(&flooded);
	end(&server);
}

/* Its request times out. */
TEST_F_TIMEOUT(peers, answers_that_come_give_way, 60)
{
	struct server server = own_server(MOST);
	struct heard heard = {};
	struct sender sender;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	ASSERT_EQ(0, order(&server, 'A'));
	ASSERT_LE(0, see(self, SOON));
	sender = new_sender(0, METHOD_TABLE | METHOD_RESP, be64toh(frame_mad(&self->seen)->tid),
			    ANSWER);
	ASSERT_EQ(0, send_up_to(self, &sender, 1, ANSWER - 1, &heard));
	hear(self, &sender, 1, &heard, 20);
	EXPECT_EQ(0, heard.stops);
	EXPECT_LE(0, order(&server, 'u'));
	hear(self, &sender, 1, &heard, 200);
	EXPECT_EQ(count(self, "rmpp_evicted"), heard.stops);
	sleep_ms(WAITS);
	EXPECT_EQ(1, order(&server, 'r'));
	EXPECT_EQ(1, order(&server, 't'));
	end(&server);
}

/* A message of which some has come, in a cgroup that has too little for what follows. */
static int begin_one(FIXTURE_DATA(peers) *self, struct sender *sender, struct heard *heard)
{
	*sender = new_sender(1, METHOD_TABLE, 1, MESSAGE);
	return send_up_to(self, sender, 1, MESSAGE / 2, heard);
}

/* Page cache, or as good as that. */
TEST_F_TIMEOUT(peers, cache_gives_way_first, 60)
{
	struct server server = {
		.cgroup = CGROUP, .method = METHOD_TABLE, .cache = LIMIT / 100 * 85,
		.moment = LIMIT / 100 * 60,
	};
	struct heard heard = {};
	struct sender sender;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, begin_one(self, &sender, &heard));
	ASSERT_LE(0, order(&server, 'u'));
	ASSERT_EQ(0, send_up_to(self, &sender, 1, MESSAGE, &heard));
	hear(self, &sender, 1, &heard, 20);
	EXPECT_EQ(0, heard.stops);
	EXPECT_EQ(0, count(self, "rmpp_evicted"));
	end(&server);
}

/* What comes is dropped, as there is no memory; and nothing else for it. */
TEST_F_TIMEOUT(peers, what_comes_does_not_end_what_has, 60)
{
	struct server server = own_server(0);
	struct heard heard = {};
	struct sender sender;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, begin_one(self, &sender, &heard));
	ASSERT_EQ(0, cgroup_set(CGROUP, "memory.max",
				cgroup_get(CGROUP, "memory.current")));
	ASSERT_EQ(0, send_mads(self, &server, MADS));
	sleep_ms(500);
	ASSERT_EQ(0, send_mads(self, &server, MADS));
	hear(self, &sender, 1, &heard, 20);
	EXPECT_EQ(0, heard.stops);
	EXPECT_EQ(0, count(self, "rmpp_evicted"));
	EXPECT_EQ(0, count(self, "recv_shed"));
	end(&server);
}

TEST_HARNESS_MAIN
