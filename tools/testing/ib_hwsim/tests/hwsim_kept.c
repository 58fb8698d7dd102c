// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process of a small cgroup that is answered, and does not read: what is whole counts with
 * what is coming.
 */
#include "hwsim_senders.h"
#include "hwsim_victim.h"

#define SMALL	(LIMIT / 4)
#define MESSAGE	2150		/* segments, 0.46 MB */
#define ANSWER	9500		/* 2.05 MB */
#define UNREAD	6		/* messages */
#define SHARE	1700		/* 0.37 MB, three quarters of a file's of two */
#define LARGE	12000		/* 2.6 MB */
#define ENDLESS	30000		/* 6.5 MB */
#define FIRST	200		/* of the peers that send what nobody has asked for */
#define PEERS	10
#define OTHER	33		/* device */
#define MADS	6000

/* Messages that nobody has asked for begin, each from a peer of its own. */
static int begin_unasked(FIXTURE_DATA(peers) *self, struct sender *senders, unsigned int peers,
			 struct heard *heard)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; ret >= 0 && i < peers; i++) {
		senders[i] = new_sender(FIRST + i, METHOD_TABLE, FIRST + i, MESSAGE);
		ret = send_allowed(self, &senders[i], 1);
		hear(self, senders, i + 1, heard, 1);
	}
	return ret < 0 ? ret : 0;
}

/* They have all begun, and become whole one by one. */
static int send_unasked(FIXTURE_DATA(peers) *self, unsigned int peers, struct heard *heard)
{
	struct sender senders[PEERS];
	int ret = begin_unasked(self, senders, peers, heard);
	unsigned int i;

	for (i = 0; ret >= 0 && i < peers; i++)
		ret = send_up_to(self, &senders[i], 1, MESSAGE, heard);
	return ret < 0 ? ret : 0;
}

/* The process, which needs so much itself, lives. */
static void unasked_beside(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			   const struct victim *victim)
{
	struct heard heard = {};
	pid_t pid;

	pid = start_victim(self, victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, send_unasked(self, PEERS, &heard));
	TH_LOG("%u ACKs, %u STOPs; memory.current %ld", heard.acks, heard.stops,
	       cgroup_get(CGROUP, "memory.current"));
	EXPECT_LT(0, heard.stops);
	EXPECT_TRUE(lives(pid));
	end_victim(pid);
}

TEST_F_TIMEOUT(peers, unasked_messages_and_what_is_unread_leave_room, 250)
{
	const struct victim victim = { .limit = SMALL, .files = 1, .own = 1 << 20 };

	unasked_beside(_metadata, self, &victim);
}

TEST_F_TIMEOUT(peers, unasked_messages_beside_78_percent, 100)
{
	const struct victim victim = { .limit = LIMIT, .files = 1, .own = LIMIT / 100 * 78 };

	unasked_beside(_metadata, self, &victim);
}

TEST_F_TIMEOUT(peers, unasked_messages_beside_86_percent, 100)
{
	const struct victim victim = { .limit = LIMIT, .files = 1, .own = LIMIT / 100 * 86 };

	unasked_beside(_metadata, self, &victim);
}

/* A process that gives all of it back at times has none of it taken meanwhile. */
TEST_F_TIMEOUT(peers, unasked_messages_beside_92_percent_at_times, 100)
{
	const struct victim victim = { .limit = LIMIT, .files = 1, .own = LIMIT / 100 * 92 };

	unasked_beside(_metadata, self, &victim);
}

/* Nor if the limit is that of a cgroup above its own. Which moment they find is luck. */
TEST_F_TIMEOUT(peers, unasked_messages_beside_92_percent_below_a_limit, 200)
{
	const struct victim victim = {
		.limit = LIMIT, .below = true, .files = 1, .own = LIMIT / 100 * 92,
	};
	int i;

	for (i = 0; i < 3; i++)
		unasked_beside(_metadata, self, &victim);
}

TEST_F_TIMEOUT(peers, unasked_messages_beside_92_percent, 100)
{
	/* All the time. */
	const struct victim victim = { .limit = LIMIT, .files = 1, .steady = LIMIT / 100 * 90 };

	unasked_beside(_metadata, self, &victim);
}

/* What is whole and not read is a part of the half that messages may have together. */
TEST_F_TIMEOUT(peers, messages_go_on_beside_unread_ones, 100)
{
	const struct victim victim = { .limit = SMALL, .files = 1, .own = 64 << 10 };
	struct sender senders[PEERS], unread[2];
	struct heard heard = {};
	uint32_t acked = 0;
	pid_t pid;
	int i;

	pid = start_victim(self, &victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	for (i = 0; i < 2; i++)
		unread[i] = new_sender(1 + i, METHOD_TABLE, 1 + i, MESSAGE);
	ASSERT_EQ(0, send_up_to(self, unread, 2, MESSAGE, &heard));
	hear(self, unread, 2, &heard, 20);
	ASSERT_EQ(2, heard.complete);
	ASSERT_EQ(0, begin_unasked(self, senders, PEERS, &heard));
	ASSERT_EQ(0, send_up_to(self, senders, PEERS, MESSAGE - 1, &heard));
	for (i = 0; i < PEERS; i++)
		acked += senders[i].acked;
	TH_LOG("%u segments, %u STOPs; memory.current %ld", acked, heard.stops,
	       cgroup_get(CGROUP, "memory.current"));
	EXPECT_EQ(1, heard.stops);
	EXPECT_GT(SMALL / 8 * 5 / SEG, 2 * MESSAGE + acked);
	EXPECT_TRUE(lives(pid));
	end_victim(pid);
}

/* A file has its share of what goes on, though another one has half of the cgroup. */
TEST_F_TIMEOUT(peers, message_beside_a_file_that_has_half, 100)
{
	const struct victim victim = { .limit = SMALL, .files = 2, .own = 64 << 10 };
	struct sender others[PEERS], sender = new_sender(1, METHOD_TABLE + 1, 1, SHARE);
	struct heard heard = {};
	pid_t pid;

	/* There the others take longer than a sender may that has sent segment 1 only. */
	if (kernel_debugs())
		SKIP(return, "the kernel is too slow");
	pid = start_victim(self, &victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	/* All have begun before there is too much for that. */
	ASSERT_EQ(0, begin_unasked(self, others, PEERS, &heard));
	ASSERT_EQ(1, send_allowed(self, &sender, 1));
	hear(self, &sender, 1, &heard, 1);
	ASSERT_EQ(0, send_up_to(self, others, PEERS, MESSAGE - 1, &heard));
	EXPECT_EQ(1, heard.stops);
	ASSERT_EQ(0, send_up_to(self, &sender, 1, SHARE, &heard));
	TH_LOG("%u STOPs, segment %u; memory.current %ld", heard.stops, sender.acked,
	       cgroup_get(CGROUP, "memory.current"));
	EXPECT_EQ(1, heard.stops);
	EXPECT_EQ(SHARE, sender.acked);
	EXPECT_TRUE(lives(pid));
	end_victim(pid);
}

/*
 * It reads all at once, so nothing is kept for it but what answers repeated segments of whole
 * messages: what lingers, and memos.
 */
TEST_F_TIMEOUT(peers, whole_messages_beside_90_percent, 100)
{
	const struct victim victim = {
		.limit = LIMIT, .files = 1, .reads = true, .own = 64 << 10,
		.steady = LIMIT / 100 * 90,
	};
	const struct rmpp_pkt whole = rmpp_data_pkt(1, 1, RMPP_PAYLOAD);
	unsigned int i, acks = 0;
	pid_t pid;

	/* What is charged for an object leaves out what KASAN adds to it. */
	if (kernel_debugs())
		SKIP(return, "the kernel charges more than the module counts");
	pid = start_victim(self, &victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	for (i = 0; i < MADS; i++) {
		ASSERT_EQ(0, inject(self, FIRST + i % 64, METHOD_TABLE, i, &whole));
		while (i % 16 == 15 && see(self, 1) >= 0)
			acks++;
	}
	TH_LOG("%u ACKs; memory.current %ld", acks, cgroup_get(CGROUP, "memory.current"));
	EXPECT_LT(MADS / 10 * 9, acks);
	EXPECT_TRUE(lives(pid));
	end_victim(pid);
}

/* Of the request that comes now. */
static struct sender new_answer(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
				uint32_t segs)
{
	ASSERT_LE(0, see(self, SOON));
	return new_sender(0, METHOD_TABLE | METHOD_RESP, be64toh(frame_mad(&self->seen)->tid),
			  segs);
}

/* Each is less than half of the cgroup; all together are not. */
static void answers(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
		    unsigned int asks, unsigned int unasked)
{
	const struct victim victim = { .limit = SMALL, .files = 1, .asks = asks };
	struct sender senders[3];
	struct heard heard = {};
	unsigned int i;
	pid_t pid;

	pid = start_victim(self, &victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	for (i = 0; i < asks; i++)
		senders[i] = new_answer(_metadata, self, ANSWER);
	for (i = 0; i < asks; i++)
		ASSERT_EQ(1, send_allowed(self, &senders[i], 1));
	hear(self, senders, asks, &heard, 20);
	ASSERT_EQ(0, send_unasked(self, unasked, &heard));
	for (i = 0; i < asks; i++)
		ASSERT_EQ(0, send_up_to(self, &senders[i], 1, ANSWER, &heard));
	TH_LOG("%u ACKs, %u STOPs; memory.current %ld", heard.acks, heard.stops,
	       cgroup_get(CGROUP, "memory.current"));
	EXPECT_LT(0, heard.stops);
	EXPECT_TRUE(lives(pid));
	end_victim(pid);
}

TEST_F_TIMEOUT(peers, answers_one_after_another, 200)
{
	answers(_metadata, self, 3, 0);
}

TEST_F_TIMEOUT(peers, answer_beside_unasked_messages, 200)
{
	answers(_metadata, self, 1, 8);
}

/* What a file is answered is no part of its share of what nobody has asked for. */
TEST_F_TIMEOUT(peers, message_beside_an_answer_of_its_file, 100)
{
	const struct victim victim = { .limit = LIMIT, .files = 2, .asks = 1 };
	struct sender others[PEERS], answer, sender = new_sender(1, METHOD_TABLE + 1, 1, 2);
	struct heard heard = {};
	pid_t pid;

	if (kernel_debugs())
		SKIP(return, "the kernel is too slow");
	pid = start_victim(self, &victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	answer = new_answer(_metadata, self, ANSWER);
	ASSERT_EQ(0, send_up_to(self, &answer, 1, ANSWER - 1, &heard));
	/* The other file has more than a quarter. */
	ASSERT_EQ(0, begin_unasked(self, others, PEERS, &heard));
	ASSERT_EQ(0, send_up_to(self, others, PEERS, MESSAGE - 1, &heard));
	ASSERT_EQ(1, send_allowed(self, &sender, 1));
	hear(self, &sender, 1, &heard, 20);
	EXPECT_EQ(0, heard.stops);
	EXPECT_EQ(1, sender.acked);
	end_victim(pid);
}

/* It is sent until it is stopped. What there is no memory for at the moment is sent again. */
static void send_answer(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			struct sender *sender, struct heard *heard)
{
	uint64_t begun = now_ms();
	uint32_t segs = sender->segs;

	while (sender->acked < segs && !heard->stops && now_ms() - begun < 60000) {
		sender->next = sender->acked + 1;
		ASSERT_EQ(0, send_up_to(self, sender, 1, segs, heard));
		hear(self, sender, 1, heard, 20);
	}
	TH_LOG("%u segments in %u ms, %u STOPs, memory.current %ld", sender->acked,
	       (unsigned int)(now_ms() - begun), heard->stops,
	       cgroup_get(CGROUP, "memory.current"));
}

/* "y" or "n": the LRU lists with generations, if the kernel has them. */
static bool generations(const char *value)
{
	int fd = open("/sys/kernel/mm/lru_gen/enabled", O_WRONLY);
	bool done = fd >= 0 && write(fd, value, 1) == 1;

	close(fd);
	return done;
}

/*
 * One comes as a whole if it @fits; else who sends it is stopped, and the process lives, too.
 * How many segments came.
 */
static uint32_t one_answer(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			   const struct victim *victim, uint32_t segs, bool fits)
{
	struct heard heard = {};
	struct sender sender;
	pid_t pid;

	pid = start_victim(self, victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return 0, "no memory cgroups");
	EXPECT_LT(0, pid);
	if (pid < 0)
		return 0;
	sender = new_answer(_metadata, self, segs);
	send_answer(_metadata, self, &sender, &heard);
	EXPECT_EQ(fits, !heard.stops);
	EXPECT_EQ(fits, sender.acked == segs);
	EXPECT_TRUE(lives(pid));
	end_victim(pid);
	return sender.acked;
}

/* Most of the cgroup can be reclaimed, and is when there is need. */
static void answer_beside_lazy(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self)
{
	const struct victim victim = {
		.limit = LIMIT, .files = 1, .asks = 1, .lazy = LIMIT / 10 * 9,
	};

	one_answer(_metadata, self, &victim, LARGE, true);
}

/* Debian switches generations on from 6.12 on, other distributions before. */
TEST_F_TIMEOUT(peers, answer_beside_what_can_be_reclaimed, 100)
{
	generations("n");
	answer_beside_lazy(_metadata, self);
}

TEST_F_TIMEOUT(peers, answer_beside_generations_that_can_be_reclaimed, 100)
{
	if (!generations("y"))
		SKIP(return, "no lists with generations");
	answer_beside_lazy(_metadata, self);
	generations("n");
}

/* And so is what a cgroup beside has, below the same limit. */
TEST_F_TIMEOUT(peers, answer_beside_another_cgroup_that_can_be_reclaimed, 100)
{
	const struct victim victim = {
		.limit = LIMIT, .files = 1, .asks = 1, .below = true,
		.lazy_beside = LIMIT / 10 * 9,
	};

	one_answer(_metadata, self, &victim, LARGE, true);
}

/* Who was asked answers with more than there is: the process that uses so many percent lives. */
static void answer_beside(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			  unsigned int percent)
{
	const struct victim victim = {
		.limit = LIMIT, .files = 1, .asks = 1, .own = LIMIT / 100 * percent,
	};

	one_answer(_metadata, self, &victim, ENDLESS, false);
}

TEST_F_TIMEOUT(peers, endless_answer_beside_60_percent, 100)
{
	answer_beside(_metadata, self, 60);
}

TEST_F_TIMEOUT(peers, endless_answer_beside_78_percent, 100)
{
	answer_beside(_metadata, self, 78);
}

TEST_F_TIMEOUT(peers, endless_answer_beside_86_percent, 100)
{
	answer_beside(_metadata, self, 86);
}

/* What another file has not read is a part of what there is room for. */
TEST_F_TIMEOUT(peers, endless_answer_beside_unread_messages, 100)
{
	const struct victim victim = { .limit = LIMIT, .files = 2, .asks = 1 };
	struct heard heard = {}, answer = {};
	struct sender sender;
	pid_t pid;
	int i;

	pid = start_victim(self, &victim);
	if (pid == -EOPNOTSUPP)
		SKIP(return, "no memory cgroups");
	ASSERT_LT(0, pid);
	sender = new_answer(_metadata, self, 2 * ENDLESS);
	/* With a quarter of the cgroup unread no message would begin. */
	for (i = 0; i < UNREAD; i++) {
		struct sender other = new_sender(FIRST + i, METHOD_TABLE, FIRST + i, MESSAGE);

		ASSERT_EQ(0, send_up_to(self, &other, 1, MESSAGE, &heard));
	}
	hear(self, NULL, 0, &heard, 20);
	EXPECT_EQ(0, heard.stops);
	send_answer(_metadata, self, &sender, &answer);
	EXPECT_EQ(1, answer.stops);
	/* Together they have seven of eight parts. */
	EXPECT_GT(7 * (LIMIT / 8) / SEG, sender.acked + UNREAD * MESSAGE);
	EXPECT_TRUE(lives(pid));
	end_victim(pid);
}

/* Page cache below memory.min is not reclaimed for a limit above; an answer has 7/8 of the rest. */
TEST_F_TIMEOUT(peers, endless_answer_beside_protected_cache, 100)
{
	const struct victim victim = {
		.limit = LIMIT, .below = true, .is_protected = true, .files = 1, .asks = 1,
		.lazy = LIMIT / 10 * 8,
	};

	EXPECT_GT(7 * ((LIMIT - victim.lazy) / 8) / SEG,
		  one_answer(_metadata, self, &victim, ENDLESS, false));
}

/* Its own is counted once, though its cgroup is one below the limit. */
TEST_F_TIMEOUT(peers, endless_answer_below_a_limit_beside_cache, 100)
{
	const struct victim victim = {
		.limit = LIMIT, .below = true, .files = 1, .asks = 1, .lazy = LIMIT / 10 * 3,
		.steady = LIMIT / 10 * 6,
	};

	EXPECT_GT(7 * ((LIMIT - victim.steady - OWN) / 8) / SEG,
		  one_answer(_metadata, self, &victim, ENDLESS, false));
}

/* In the cgroup, with so much that it needs: asks, and reads what comes into new memory. */
static void ask_and_read(size_t own, size_t len)
{
	struct test_port peer = { .lid = PEER };
	static struct umad_msg msg;
	char *mem, *buf;
	int fd;

	if (cgroup_enter(CGROUP))
		_exit(2);
	mem = map_private(own + len);
	buf = mem + own;
	/* Not more than that: one huge page is more than 10 percent. */
	madvise(mem, own, MADV_NOHUGEPAGE);
	memset(mem, 1, own);
	fd = open_server(METHOD_TABLE);
	msg_init_usual(&msg, &peer, 0, CLASS_RMPP, METHOD_TABLE, 7);
	msg.hdr.timeout_ms = 600000;
	if (fd < 0 || msg_write(fd, &msg) != MSG_LEN)
		_exit(3);
	while (read(fd, buf, len) < 0 && errno == EAGAIN)
		sleep_ms(10);
	_exit(0);
}

/* It reads it, or who answers is stopped; but it is not killed. */
static void read_beside(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			unsigned int percent, size_t len, bool fits)
{
	struct heard heard = {};
	struct sender sender;
	int status = 0, i;
	pid_t pid;

	if (cgroup_make(CGROUP) || cgroup_set(CGROUP, "memory.max", LIMIT))
		SKIP(return, "no memory cgroups");
	close(self->fd);
	self->fd = -1;
	pid = fork();
	if (!pid)
		ask_and_read(LIMIT / 100 * percent, len + (64 << 10));
	sender = new_answer(_metadata, self, len / SEG);
	send_answer(_metadata, self, &sender, &heard);
	for (i = 0; i < 20 && !waitpid(pid, &status, WNOHANG); i++)
		sleep_ms(50);
	EXPECT_EQ(0, status);
	EXPECT_EQ(fits, !heard.stops);
	EXPECT_EQ(fits, i < 20);
	end_victim(pid);
}

/* A huge page may have up to 2 MiB of the buffer. */
TEST_F_TIMEOUT(peers, who_reads_an_answer_lives_beside_50_percent, 100)
{
	read_beside(_metadata, self, 50, 5 << 20, true);
}

TEST_F_TIMEOUT(peers, who_reads_an_answer_lives_beside_69_percent, 100)
{
	read_beside(_metadata, self, 69, 9 << 18, true);
}

TEST_F_TIMEOUT(peers, who_reads_an_answer_lives_beside_78_percent, 100)
{
	read_beside(_metadata, self, 78, 1300 << 10, true);
}

/* There is no room for it once. */
TEST_F_TIMEOUT(peers, who_asks_for_too_much_lives, 100)
{
	read_beside(_metadata, self, 69, 5 << 20, false);
}

/* There is not twice. */
TEST_F_TIMEOUT(peers, answer_that_there_is_room_for_is_read, 100)
{
	read_beside(_metadata, self, 10, LIMIT / 3 * 2, true);
}

/* Plain MADs, by a wire to a port with that LID. */
static int flood(FIXTURE_DATA(peers) *self, int wire, uint16_t lid)
{
	static const struct rmpp_pkt pkt;
	int i, own = self->wire, ret = 0;

	self->wire = wire;
	self->dlid = lid;
	for (i = 0; !ret && i < MADS; i++)
		ret = inject(self, i % 8, METHOD_TABLE, 1000 + i, &pkt);
	self->wire = own;
	return ret;
}

/* A file of a device that has gone keeps nothing from others of its cgroup. */
TEST_F_TIMEOUT(peers, unread_of_a_device_that_has_gone_does_not_count, 60)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TABLE,
	};
	static struct umad_msg msg;
	int other, fd, gone, n = 0;

	if (cgroup_make(CGROUP) || cgroup_set(CGROUP, "memory.max", SMALL))
		SKIP(return, "no memory cgroups");
	close(self->fd);
	ASSERT_EQ(0, hwsim_new(OTHER, "lid=0x21"));
	other = raw_attach(OTHER, 1);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, cgroup_enter(CGROUP));
	gone = hwsim_open(OTHER, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, gone);
	ASSERT_EQ(0, rmpp_register(gone, &agent));
	fd = open_server(METHOD_TABLE);
	self->fd = fd;
	ASSERT_EQ(0, flood(self, other, 0x21));
	close(other);
	ASSERT_EQ(0, hwsim_del(OTHER));
	ASSERT_EQ(0, flood(self, self->wire, LID));
	sleep_ms(200);
	while (read(fd, &msg, sizeof(msg)) > 0)
		n++;
	TH_LOG("%d MADs", n);
	EXPECT_LT(2000, n);
	close(gone);
	cgroup_enter("");
	cgroup_remove(CGROUP);
}

TEST_HARNESS_MAIN
