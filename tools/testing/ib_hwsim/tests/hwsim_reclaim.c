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
#define LONG	9000		/* 1.95 MB */
#define ENDED	300		/* messages */
#define REPEATED	50
#define ANSWERS	100
#define DEEP	10		/* cgroups */
#define FILES	300
#define EACH	11		/* MADs of a file */
#define LONG_AGO	1500	/* ms */

static struct server own_server(size_t moment)
{
	return (struct server){ .cgroup = CGROUP, .method = METHOD_TABLE, .moment = moment };
}

/* Of a server that has much that stays, all of which is larger on a debug kernel. */
static struct server large_server(void)
{
	return own_server(kernel_debugs() ? LIMIT / 100 * 84 : MOST);
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

/* Messages of one segment each, from eight nodes. */
static int send_whole(FIXTURE_DATA(peers) *self, unsigned int n)
{
	const struct rmpp_pkt pkt = rmpp_data_pkt(1, 1, 0);
	static uint64_t sent;
	int ret = 0;

	for (; !ret && n--; sent++) {
		ret = inject(self, sent % 8, METHOD_TABLE, 10000 + sent, &pkt);
		if (!(n % 64))
			sleep_ms(20);
	}
	while (see(self, 0) >= 0)
		;
	return ret;
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

/* Until a process of a full cgroup needs memory: of an answer all but the last has come. */
static void answer_comes(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			 struct server *server, char how)
{
	struct heard heard = {};
	struct sender sender;

	while (see(self, 0) >= 0)
		;
	ASSERT_EQ(0, order(server, how));
	ASSERT_LE(0, see(self, SOON));
	sender = new_sender(0, METHOD_TABLE | METHOD_RESP, be64toh(frame_mad(&self->seen)->tid),
			    ANSWER);
	ASSERT_EQ(0, send_up_to(self, &sender, 1, ANSWER - 1, &heard));
	hear(self, &sender, 1, &heard, 20);
	EXPECT_EQ(0, heard.stops);
	EXPECT_LE(0, order(server, 'u'));
	hear(self, &sender, 1, &heard, 200);
	EXPECT_EQ(count(self, "rmpp_evicted"), heard.stops);
}

/* Its request times out. */
TEST_F_TIMEOUT(peers, answers_that_come_give_way, 60)
{
	struct server server = own_server(MOST);

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	answer_comes(_metadata, self, &server, 'A');
	sleep_ms(WAITS);
	EXPECT_EQ(1, order(&server, 'r'));
	EXPECT_EQ(1, order(&server, 't'));
	end(&server);
}

/* Messages of one segment, which are whole, linger before it. */
TEST_F_TIMEOUT(peers, an_answer_behind_ended_messages_gives_way, 60)
{
	struct server server = own_server(MOST);

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	ASSERT_EQ(0, send_whole(self, ENDED));
	ASSERT_EQ(ENDED, order(&server, 'r'));
	answer_comes(_metadata, self, &server, 'A');
	end(&server);
}

/* Its request would wait for ever: it ends at once. In-tree it waits. */
TEST_F_TIMEOUT(peers, an_answer_that_was_waited_for_without_end_gives_way, 60)
{
	struct server server = own_server(MOST);

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	answer_comes(_metadata, self, &server, 'F');
	EXPECT_EQ(count(self, "rmpp_evicted"), order(&server, 'r'));
	EXPECT_EQ(count(self, "rmpp_evicted"), order(&server, 't'));
	end(&server);
}

/* What answers repeated segments of messages that were read; @held: or is to send their ACKs. */
static void expect_ended_give_way(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
				  size_t moment, bool held)
{
	struct server server = own_server(moment);
	int i;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	if (held)
		ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, send_whole(self, 2 * ENDED));
		ASSERT_EQ(2 * ENDED, order(&server, 'r'));
	}
	TH_LOG("memory.current %ld", cgroup_get(CGROUP, "memory.current"));
	EXPECT_LE(0, order(&server, 'u'));
	hwsim_set(DEVICE, 1, "hold_completions", "0");
	end(&server);
}

TEST_F_TIMEOUT(peers, ended_messages_give_way, 60)
{
	expect_ended_give_way(_metadata, self, LIMIT / 100 * (kernel_debugs() ? 91 : 95), false);
}

/* Nor do these keep it, though ib_core cannot send the ACKs. */
TEST_F_TIMEOUT(peers, ended_messages_do_not_wait_for_their_ack, 60)
{
	expect_ended_give_way(_metadata, self, LIMIT / 100 * (kernel_debugs() ? 91 : 95), true);
}

/* Till then they are known, however many files there are. */
TEST_F_TIMEOUT(peers, ended_messages_are_known, 60)
{
	const struct rmpp_pkt pkt = rmpp_data_pkt(1, 1, 0);
	struct server server = own_server(0);
	int i;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	server.files = FILES;
	ASSERT_LE(0, start(&server));
	for (i = 0; i < REPEATED; i++)
		ASSERT_EQ(0, inject(self, i % 8, METHOD_TABLE, 1000 + i, &pkt));
	EXPECT_EQ(REPEATED, order(&server, 'r'));
	for (i = 0; i < REPEATED; i++)
		ASSERT_EQ(0, inject(self, i % 8, METHOD_TABLE, 1000 + i, &pkt));
	EXPECT_EQ(0, order(&server, 'r'));
	end(&server);
}

/* Of a process that does RMPP itself; no request is there that they answer. */
TEST_F_TIMEOUT(peers, responses_that_nobody_asked_for_give_way, 60)
{
	const struct rmpp_pkt pkt = rmpp_data_pkt(2, 4, 0);
	struct server server = own_server(MOST);
	uint64_t tid;
	int i;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	server.own_rmpp = true;
	ASSERT_EQ(0, start_quiet(&server));
	ASSERT_EQ(0, order(&server, 'A'));
	ASSERT_LE(0, see(self, SOON));
	/* Its upper half is the agent's. */
	tid = be64toh(frame_mad(&self->seen)->tid) + 1000;
	for (i = 0; i < 2 * MADS; i++)
		ASSERT_EQ(0, inject(self, i % 8, METHOD_TABLE | METHOD_RESP, tid + i, &pkt));
	sleep_ms(50);
	EXPECT_LE(0, order(&server, 'u'));
	TH_LOG("%u delivered, %u shed", count(self, "recv_delivered"), count(self, "recv_shed"));
	end(&server);
}

TEST_F_TIMEOUT(peers, what_came_before_many_timeouts_gives_way, 60)
{
	struct server server = large_server();
	int i;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	ASSERT_EQ(0, send_mads(self, &server, MADS));
	for (i = 0; i < 17; i++) {
		ASSERT_EQ(0, order(&server, 'T'));
		sleep_ms(20);
	}
	EXPECT_LE(0, order(&server, 'u'));
	TH_LOG("%d read", order(&server, 'r'));
	EXPECT_EQ(17 * SILENT, order(&server, 't'));
	end(&server);
}

/* The kernel does not ask it for memory then, only the one above it. */
TEST_F_TIMEOUT(peers, what_a_protected_cgroup_has_gives_way, 60)
{
	struct server server = { .cgroup = ONE, .method = METHOD_TABLE, .moment = MOST };

	if (make_cgroups(self) || cgroup_set(ONE, "memory.min", LIMIT))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	ASSERT_EQ(0, send_mads(self, &server, MADS));
	EXPECT_LE(0, order(&server, 'u'));
	end(&server);
	cgroup_remove(OTHER);
	cgroup_remove(CGROUP);
}

/* Requests that are answered, and not read: they do not give way. */
static int answer_some(FIXTURE_DATA(peers) *self, struct server *server)
{
	static const struct rmpp_pkt pkt;
	int i, ret = 0;

	while (see(self, 0) >= 0)
		;
	for (i = 0; !ret && i < ANSWERS; i++) {
		ret = order(server, 'L');
		if (!ret && see(self, SOON) < 0)
			ret = -ETIME;
		ret = ret ?: inject(self, 0, METHOD_TABLE | METHOD_RESP,
				    be64toh(frame_mad(&self->seen)->tid), &pkt);
	}
	return ret;
}

/* Its files were opened in cgroups that have gone: the one above has what they had. */
static void expect_of_gone_cgroups(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
				   unsigned int flooded)
{
	static const char *const gone[] = { CGROUP "/one", CGROUP "/two", CGROUP "/three" };
	struct server servers[ARRAY_SIZE(gone)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gone); i++) {
		servers[i] = (struct server){
			.cgroup = gone[i], .then = OTHER, .method = METHOD_TABLE + i,
			.moment = MOST,
		};
		ASSERT_EQ(0, cgroup_make(gone[i]));
		ASSERT_LE(0, start(&servers[i]));
		if (i != flooded)
			ASSERT_EQ(0, answer_some(self, &servers[i]));
	}
	for (i = 0; i < ARRAY_SIZE(gone); i++)
		cgroup_remove(gone[i]);
	ASSERT_EQ(0, send_mads(self, &servers[flooded], MADS));
	EXPECT_LE(0, order(&servers[flooded], 'u'));
	for (i = 0; i < ARRAY_SIZE(gone); i++)
		end(&servers[i]);
}

TEST_F_TIMEOUT(peers, what_came_for_cgroups_that_have_gone_gives_way, 100)
{
	unsigned int i;

	if (make_cgroups(self))
		SKIP(return, "no memory cgroups");
	for (i = 0; i < 3; i++)
		expect_of_gone_cgroups(_metadata, self, i);
	cgroup_remove(OTHER);
	cgroup_remove(CGROUP);
}

/* The limit is that of one between: not of the highest, nor its own. */
TEST_F_TIMEOUT(peers, a_limit_among_many_cgroups_counts, 60)
{
	char name[DEEP][64] = { CGROUP };
	struct server server = { .cgroup = name[DEEP - 1], .method = METHOD_TABLE, .moment = MOST };
	int i;

	if (make_cgroup(self) || cgroup_set(CGROUP, "memory.max", 2 * LIMIT))
		SKIP(return, "no memory cgroups");
	for (i = 1; i < DEEP; i++) {
		snprintf(name[i], sizeof(name[i]), "%.50s/%d", name[i - 1], i);
		ASSERT_EQ(0, cgroup_delegate(name[i - 1]));
		ASSERT_EQ(0, cgroup_make(name[i]));
	}
	ASSERT_EQ(0, cgroup_set(name[DEEP - 2], "memory.max", LIMIT));
	ASSERT_EQ(0, start_quiet(&server));
	ASSERT_EQ(0, send_mads(self, &server, 2 * MADS));
	EXPECT_LE(0, order(&server, 'u'));
	end(&server);
	for (i = DEEP - 1; i > 0; i--)
		cgroup_remove(name[i - 1]);
}

/* Each so little that it does not count. */
TEST_F_TIMEOUT(peers, what_many_files_have_gives_way, 60)
{
	struct server server = large_server();
	static const struct rmpp_pkt pkt;
	int i;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	server.files = FILES;
	ASSERT_EQ(0, start_quiet(&server));
	for (i = 0; i < FILES * EACH; i++) {
		make_packet(self, i % 8, METHOD_TABLE + i % FILES % OF_CLASS, 1000 + i, &pkt);
		frame_mad(&self->frame)->mgmt_class = CLASS_RMPP + i % FILES / OF_CLASS;
		ASSERT_EQ(0, raw_write(self->wire, &self->frame));
	}
	sleep_ms(100);
	EXPECT_LE(0, order(&server, 'u'));
	TH_LOG("%u delivered, %u shed", count(self, "recv_delivered"), count(self, "recv_shed"));
	end(&server);
}

/* Their ACKs stay in ib_core, as on a link that hangs. */
TEST_F_TIMEOUT(peers, messages_whose_acks_are_not_sent_give_way, 60)
{
	struct server server = own_server(MOST);
	struct sender senders[PEERS];
	struct heard heard = {};
	int i;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	for (i = 0; i < PEERS; i++)
		senders[i] = new_sender(1 + i, METHOD_TABLE, 1 + i, MESSAGE);
	ASSERT_EQ(0, send_up_to(self, senders, PEERS, MESSAGE - 1, &heard));
	hear(self, senders, PEERS, &heard, 20);
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	for (i = 0; i < PEERS; i++)
		EXPECT_EQ(0, inject_data(self, 1 + i, METHOD_TABLE, 1 + i, 1, MESSAGE));
	sleep_ms(50);
	EXPECT_LE(0, order(&server, 'u'));
	hwsim_set(DEVICE, 1, "hold_completions", "0");
	end(&server);
}

/* The only thing that it has not read. */
TEST_F_TIMEOUT(peers, a_single_message_gives_way, 60)
{
	struct server server = own_server(MOST);
	struct heard heard = {};
	struct sender sender = new_sender(1, METHOD_TABLE, 1, LONG);

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, start_quiet(&server));
	ASSERT_EQ(0, send_up_to(self, &sender, 1, LONG, &heard));
	hear(self, &sender, 1, &heard, 20);
	ASSERT_EQ(1, heard.complete);
	EXPECT_LE(0, order(&server, 'u'));
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
