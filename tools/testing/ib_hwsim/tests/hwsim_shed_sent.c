// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Answers that are not acknowledged: who they are for, and what they leave to others. */
#include "hwsim_senders.h"
#include "hwsim_server.h"

#define FEW		20
#define HELD		110	/* answers of 100 KB */
#define NODES		6	/* of eight */
#define OF_EACH		7	/* answers of 600 KB */
#define SERVERS		6
#define SINGLES		12000
#define AT_ONCE		1000	/* of these */
#define ENOUGH		2000
#define ENOUGH_OPA	1000
#define IDLE		100	/* files */
#define SILENCE		700	/* ms after which a node counts as silent */
#define TOO_MUCH	92	/* percent, beside its answers */
#define CACHE		80	/* percent, of another cgroup */
#define GONE		40	/* cgroups */
#define GONE_NAME	CGROUP "/gone"

/* Each takes more on a debug kernel, and is slower. */
static int requests(void)
{
	return kernel_debugs() ? 1000 : 2000;
}

static int flood(void)
{
	return kernel_debugs() ? 2500 : 6000;
}

static struct server new_server(unsigned int percent)
{
	return (struct server){
		.cgroup = CGROUP, .method = METHOD_TABLE, .moment = LIMIT / 100 * percent,
	};
}

/* Requests of one node, in numbers from @tid on. */
static int ask_server(FIXTURE_DATA(peers) *self, const struct server *server, uint16_t peer,
		      uint64_t tid, unsigned int n)
{
	static const struct rmpp_pkt pkt;
	int ret = 0;

	while (!ret && n--)
		ret = inject(self, peer, server->method, tid++, &pkt);
	sleep_ms(50);
	return ret;
}

static unsigned int count_stops(FIXTURE_DATA(peers) *self)
{
	unsigned int stops = 0;
	int type;

	while ((type = see(self, 0)) >= 0)
		stops += type == RMPP_STOP;
	return stops;
}

/* The process hears of each that had to go, and who was to get it. In-tree none has. */
TEST_F_TIMEOUT(peers, answers_give_way, 100)
{
	struct server server = new_server(TOO_MUCH);
	long shed;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, send_mads(self, &server, requests()));
	EXPECT_EQ(requests(), order(&server, 'S'));
	/* The wire has no room for all. */
	count_stops(self);
	EXPECT_NE(-EIO, order(&server, 'u'));
	shed = module_counter(self, "rmpp_send_shed");
	TH_LOG("%ld of %d gave way", shed, requests());
	if (shed >= 0) {
		EXPECT_LT(0, shed);
		sleep_ms(20);
		EXPECT_LT(0, count_stops(self));
		EXPECT_EQ(shed, order(&server, 'r'));
		EXPECT_EQ(shed, order(&server, 't'));
	}
	end(&server);
}

/* It has its own place: an answer is half of what the cgroup has left. */
TEST_F_TIMEOUT(peers, a_silent_node_leaves_room, 100)
{
	struct server server = new_server(0);
	int written;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, ask_server(self, &server, 0, 1000, flood()));
	written = order(&server, 'S');
	TH_LOG("%d of %d answered", written, flood());
	EXPECT_LT(FEW, written);
	ASSERT_EQ(0, ask_server(self, &server, 1, 1000, FEW));
	EXPECT_EQ(FEW, order(&server, 'S'));
	end(&server);
}

/* Answers of one segment have no bound but the memory. */
TEST_F_TIMEOUT(peers, what_is_silent_gives_way_to_what_is_written, 100)
{
	struct server server = new_server(0);
	int written;

	/* Each write that fails has looked for memory before. */
	if (kernel_debugs())
		SKIP(return, "the kernel is too slow");
	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, ask_server(self, &server, 0, 1000, flood() / 2));
	written = order(&server, 's');
	TH_LOG("%d of %d answered", written, flood() / 2);
	ASSERT_LT(FEW, written);
	/* What may still be acknowledged stays. */
	EXPECT_GE(0, module_counter(self, "rmpp_send_shed"));
	sleep_ms(SILENCE);
	ASSERT_EQ(0, ask_server(self, &server, 1, 1000, FEW));
	EXPECT_EQ(FEW, order(&server, 'S'));
	end(&server);
}

/* ib_core has a segment of each: the device does not send. */
TEST_F_TIMEOUT(peers, answers_that_are_not_sent_give_way, 100)
{
	struct server server = new_server(40);

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	ASSERT_EQ(0, send_mads(self, &server, HELD));
	EXPECT_EQ(HELD, order(&server, 'l'));
	EXPECT_NE(-EIO, order(&server, 'u'));
	hwsim_set(DEVICE, 1, "hold_completions", "0");
	end(&server);
}

/*
 * Single MADs do not give way: they leave half of what there is, whoever in the cgroup, or below
 * it, has written them. In-tree they are not charged. So many servers answer all that they can.
 */
static void singles_leave_room(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			       const char *cgroup, unsigned int servers, char answer)
{
	struct server server[SERVERS + 1], *const late = &server[servers];
	int written = 0, i;

	for (i = 0; i <= servers; i++) {
		server[i] = new_server(40);
		server[i].cgroup = cgroup;
		server[i].method += i;
		ASSERT_LE(0, start(&server[i]));
	}
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	/* What waits to be read has a quarter. */
	for (i = 0; i < SINGLES; i += AT_ONCE) {
		struct server *next = &server[i / AT_ONCE % servers];

		ASSERT_EQ(0, ask_server(self, next, 0, 1000 + i, AT_ONCE));
		written += order(next, answer);
	}
	TH_LOG("%d of %u written; memory.current %ld", written, SINGLES,
	       cgroup_get(CGROUP, "memory.current"));
	EXPECT_LT(answer == 'O' ? ENOUGH_OPA : ENOUGH, written);
	/* Who has none may have some all the same. */
	ASSERT_EQ(0, ask_server(self, late, 0, 1, FEW));
	EXPECT_EQ(FEW, order(late, answer));
	EXPECT_NE(-EIO, order(&server[0], 'u'));
	hwsim_set(DEVICE, 1, "hold_completions", "0");
	for (i = 0; i <= servers; i++) {
		EXPECT_LE(0, order(&server[i], 'r'));
		end(&server[i]);
	}
}

TEST_F_TIMEOUT(peers, single_answers_that_are_not_sent_leave_room, 100)
{
	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	singles_leave_room(_metadata, self, CGROUP, 1, 'P');
}

/* Of 2,048 bytes each, which take more than twice as much. */
TEST_F_TIMEOUT(peers, single_answers_of_OPA_leave_room, 100)
{
	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	close(self->wire);
	ASSERT_EQ(0, hwsim_del(DEVICE));
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20 link=opa"));
	self->wire = raw_attach(DEVICE, 1);
	ASSERT_LE(0, self->wire);
	singles_leave_room(_metadata, self, CGROUP, 1, 'O');
}

TEST_F_TIMEOUT(peers, single_answers_of_many_processes_leave_room, 100)
{
	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	singles_leave_room(_metadata, self, CGROUP, SERVERS, 'P');
}

TEST_F_TIMEOUT(peers, single_answers_below_a_limit_leave_room, 100)
{
	if (make_cgroups(self))
		SKIP(return, "no memory cgroups");
	singles_leave_room(_metadata, self, ONE, 1, 'P');
	cgroup_remove(OTHER);
	cgroup_remove(CGROUP);
}

/* Some nodes have all that there is: others may have a message each, which it is charged for. */
TEST_F_TIMEOUT(peers, silent_nodes_give_way_to_others, 100)
{
	struct server server = new_server(0);
	unsigned int i;
	int written;

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, start(&server));
	for (i = 0; i < NODES; i++)
		ASSERT_EQ(0, ask_server(self, &server, i, 1000, OF_EACH));
	written = order(&server, 'h');
	TH_LOG("%d of %u answered", written, NODES * OF_EACH);
	sleep_ms(SILENCE);
	for (i = NODES; i < 8; i++) {
		ASSERT_EQ(0, ask_server(self, &server, i, 1000, 1));
		EXPECT_EQ(1, order(&server, 'h'));
	}
	end(&server);
}

/* Cgroups that have gone, each kept by a page of a file. */
static int leave_pages_behind(void)
{
	const int fd = open("/pages", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	static char page[4096];
	int i, status = -1;

	for (i = 0; i < GONE; i++) {
		if (cgroup_make(GONE_NAME))
			return -EIO;
		if (!fork())
			_exit(cgroup_enter(GONE_NAME) < 0 ||
			      pwrite(fd, page, sizeof(page), i * sizeof(page)) < 0);
		if (wait(&status) < 0 || status)
			return -EIO;
		cgroup_remove(GONE_NAME);
	}
	return close(fd);
}

/* What another cgroup below the same limit can give back counts as given back. */
TEST_F_TIMEOUT(peers, page_cache_of_others_leaves_room, 100)
{
	struct server server = new_server(0), other = new_server(0);

	if (make_cgroup(self) || cgroup_delegate(CGROUP))
		SKIP(return, "no memory cgroups");
	/* And it is found behind many that have next to nothing. */
	ASSERT_EQ(0, leave_pages_behind());
	ASSERT_FALSE(cgroup_make(ONE) || cgroup_make(OTHER));
	server.cgroup = ONE;
	other.cgroup = OTHER;
	other.method += FEW;
	other.cache = LIMIT / 100 * CACHE;
	ASSERT_LE(0, start(&server));
	ASSERT_LE(0, start(&other));
	ASSERT_EQ(0, ask_server(self, &server, 0, 1000, FEW));
	EXPECT_EQ(FEW, order(&server, 'l'));
	/* Single MADs, too. */
	ASSERT_EQ(0, hwsim_set(DEVICE, 1, "hold_completions", "1"));
	ASSERT_EQ(0, ask_server(self, &server, 1, 5000, AT_ONCE));
	EXPECT_EQ(AT_ONCE, order(&server, 'P'));
	hwsim_set(DEVICE, 1, "hold_completions", "0");
	end(&server);
	end(&other);
	cgroup_remove(CGROUP);
	unlink("/pages");
}

/* However many files others have. */
TEST_F_TIMEOUT(peers, idle_files_take_no_room, 100)
{
	struct server server = new_server(0), idle = new_server(0);

	if (make_cgroup(self))
		SKIP(return, "no memory cgroups");
	idle.method += FEW;
	idle.files = IDLE;
	ASSERT_LE(0, start(&server));
	ASSERT_LE(0, start(&idle));
	ASSERT_EQ(0, send_mads(self, &server, FEW));
	EXPECT_EQ(FEW, order(&server, 'l'));
	end(&server);
	end(&idle);
}

TEST_HARNESS_MAIN
