// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The schedule of a port's segments, as its peers see it: how many are in the send queue,
 * and whose come next. For a guest on the instruction clock: when a thread gets a processor
 * is not the schedule's.
 */
#include "hwsim_peers.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define POSTED_MAX	32	/* segments of a port in ib_core */
#define POSTED_AROUND	8	/* with single MADs now and then */
#define AGAIN		2	/* sent again meanwhile: the first, and the last as a probe */
#define TURN_MAX	4	/* of one turn beside single MADs */
#define ANSWERS		30
#define ANSWER_SEGS	34	/* of all, fewer than the wire keeps for its reader */
#define SHORT_SEGS	32
#define QUICK_SEGS	250
#define EQUAL		10	/* messages of one length */
#define EQUAL_SEGS	100

static int hold(bool held)
{
	return hwsim_set(DEVICE, 1, "hold_completions", held ? "1" : "0");
}

/* By its method an ACK comes to the file that has sent the answer. */
static uint8_t method_of(FIXTURE_DATA(peers) *self, int fd)
{
	return METHOD_TABLE + (fd != self->fd);
}

static int answer_to(FIXTURE_DATA(peers) *self, int fd, uint16_t peer, uint32_t tid,
		     uint32_t segs, uint32_t timeout_ms)
{
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      method_of(self, fd) | METHOD_RESP, tid, segs * SEG, tid);
	rmpp_user_hdr(&self->msg)->lid = htobe16(PEER + peer);
	rmpp_user_hdr(&self->msg)->grh_present = 0;
	rmpp_user_hdr(&self->msg)->timeout_ms = timeout_ms;
	return rmpp_msg_write(fd, &self->msg);
}

/* Of the first segment. */
static int ack(FIXTURE_DATA(peers) *self, int fd, uint16_t peer, uint32_t tid, uint32_t last)
{
	const struct rmpp_pkt pkt = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 1, last };

	return inject(self, peer, method_of(self, fd), tid, &pkt);
}

static uint32_t seen_tid(FIXTURE_DATA(peers) *self)
{
	return be64toh(frame_mad(&self->seen)->tid);
}

/* How many come until none has for a while. */
static int frames(FIXTURE_DATA(peers) *self)
{
	int n = 0;

	while (see(self, WHILE) >= 0)
		n++;
	return n;
}

/* A client may ask for much, and acknowledge the first segment of all at once. */
TEST_F(peers, many_ACKs_at_once_do_not_fill_the_send_queue)
{
	int i, n;

	for (i = 1; i <= ANSWERS; i++) {
		ASSERT_LT(0, answer_to(self, self->fd, 0, i, ANSWER_SEGS, 0));
		ASSERT_EQ(RMPP_DATA, see(self, SOON));
	}
	ASSERT_EQ(0, hold(true));
	for (i = 1; i <= ANSWERS; i++)
		ASSERT_EQ(0, ack(self, self->fd, 0, i, ANSWER_SEGS));
	n = frames(self);
	TH_LOG("%d segments in the send queue", n);
	EXPECT_LE(POSTED_MAX / 2, n);
	EXPECT_GE(POSTED_MAX, n);
	ASSERT_EQ(0, hold(false));
	/* All the same they are sent. */
	EXPECT_LE(ANSWERS * (ANSWER_SEGS - 1), n + frames(self));
}

/*
 * What a segment takes is what it takes to post it. With the processor given away after each,
 * the device and ib_core would run for one segment at a time: 45 us in place of 26.
 */
TEST_F(peers, segments_are_posted_one_after_another)
{
	uint32_t tid, seg;
	uint64_t begun;

	for (tid = 1; tid <= 2; tid++) {
		ASSERT_LT(0, answer_to(self, self->fd, 0, tid, QUICK_SEGS, 0));
		ASSERT_EQ(RMPP_DATA, see(self, SOON));
		begun = now_us();
		ASSERT_EQ(0, ack(self, self->fd, 0, tid, QUICK_SEGS));
		for (seg = 1; seg < QUICK_SEGS;) {
			ASSERT_EQ(RMPP_DATA, see(self, SOON));
			seg = self->pkt.seg;
		}
		begun = now_us() - begun;
	}
	TH_LOG("%u us for each of %u", (unsigned int)begun / QUICK_SEGS, QUICK_SEGS);
	EXPECT_GT(35, begun / QUICK_SEGS);
}

/* Of two files, however much the one that was first has to send. */
TEST_F(peers, files_take_turns)
{
	int fd = open_server(METHOD_TABLE + 1);
	uint32_t beside = 0, second = 0;

	ASSERT_LE(0, fd);
	ASSERT_LT(0, answer_to(self, self->fd, 0, 1, 1000, 0));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_LT(0, answer_to(self, fd, 1, 2, 200, 0));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_EQ(0, hold(true));
	ASSERT_EQ(0, ack(self, self->fd, 0, 1, 1000));
	ASSERT_EQ(0, ack(self, fd, 1, 2, 200));
	sleep_ms(WHILE);
	ASSERT_EQ(0, hold(false));
	while (second < 199 && see(self, SOON) == RMPP_DATA) {
		if (seen_tid(self) == 2)
			second++;
		else if (second)
			beside++;
	}
	TH_LOG("%u segments of the other among them", beside);
	EXPECT_EQ(199, second);
	EXPECT_GE(2 * 199 + POSTED_MAX, beside);
	close(fd);
}

/* With equal shares they would end all at the end. */
TEST_F(peers, messages_of_a_file_end_one_after_another)
{
	unsigned int end[EQUAL + 1] = {}, sum = 0, n = 0, ended = 0, i;

	for (i = 1; i <= EQUAL; i++) {
		ASSERT_LT(0, answer_to(self, self->fd, i, i, EQUAL_SEGS, 0));
		ASSERT_EQ(RMPP_DATA, see(self, SOON));
	}
	ASSERT_EQ(0, hold(true));
	for (i = 1; i <= EQUAL; i++)
		ASSERT_EQ(0, ack(self, self->fd, i, i, EQUAL_SEGS));
	sleep_ms(WHILE);
	ASSERT_EQ(0, hold(false));
	while (ended < EQUAL && see(self, SOON) == RMPP_DATA) {
		n++;
		i = seen_tid(self);
		if (self->pkt.seg == EQUAL_SEGS && i <= EQUAL && !end[i]) {
			end[i] = n;
			sum += n;
			ended++;
		}
	}
	ASSERT_EQ(EQUAL, ended);
	TH_LOG("in the mean after %u of %u segments", sum / EQUAL, n);
	EXPECT_GT(n * 3 / 4, sum / EQUAL);
}

/* So many are in the send queue, which is held until then. */
static void expect_posted(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			  int max)
{
	int n = frames(self);

	TH_LOG("%d segments in the send queue", n);
	EXPECT_LE(1, n);
	EXPECT_GE(max + AGAIN, n);
	ASSERT_EQ(0, hold(false));
}

/* Of the long message that begins to be acknowledged now. */
static void expect_few(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self, int max)
{
	ASSERT_EQ(0, hold(true));
	ASSERT_EQ(0, ack(self, self->fd, 0, 1, 1000));
	expect_posted(_metadata, self, max);
}

static int begin_long(FIXTURE_DATA(peers) *self)
{
	if (answer_to(self, self->fd, 0, 1, 1000, 0) < 0)
		return -EIO;
	return see(self, SOON) == RMPP_DATA ? 0 : -ETIME;
}

static int send_single(FIXTURE_DATA(peers) *self)
{
	struct umad_msg msg;

	msg_init(&msg, &self->port, 0, CLASS_RMPP, METHOD_TABLE, 5);
	msg.hdr.grh_present = 0;
	if (msg_write(self->fd, &msg) != MSG_LEN)
		return -EIO;
	return see(self, SOON) < 0 ? -ETIME : 0;
}

/* A turn beside single MADs is the only one in the send queue. */
TEST_F(peers, single_MADs_wait_for_few_segments)
{
	ASSERT_EQ(0, begin_long(self));
	ASSERT_EQ(0, send_single(self));
	expect_few(_metadata, self, TURN_MAX);
}

/*
 * They do for a short message, which has turns of the same length, two at a time; and for
 * more of one process, as if they were a long one.
 */
static void expect_few_short(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			     uint32_t messages, int max)
{
	uint32_t i;

	for (i = 1; i <= messages; i++) {
		ASSERT_LT(0, answer_to(self, self->fd, 0, i, SHORT_SEGS, 0));
		ASSERT_EQ(RMPP_DATA, see(self, SOON));
	}
	ASSERT_EQ(0, send_single(self));
	ASSERT_EQ(0, hold(true));
	for (i = 1; i <= messages; i++)
		ASSERT_EQ(0, ack(self, self->fd, 0, i, SHORT_SEGS));
	expect_posted(_metadata, self, max);
}

TEST_F(peers, single_MADs_wait_for_few_segments_of_a_short_message)
{
	expect_few_short(_metadata, self, 1, 2 * TURN_MAX);
}

TEST_F(peers, single_MADs_wait_for_few_segments_of_short_messages)
{
	expect_few_short(_metadata, self, 5, TURN_MAX);
}

/* Those who come now and then, too. */
TEST_F(peers, single_MADs_now_and_then)
{
	ASSERT_EQ(0, begin_long(self));
	ASSERT_EQ(0, send_single(self));
	sleep_ms(500);
	expect_few(_metadata, self, POSTED_AROUND);
}

/* A message of one segment has no turn either. */
TEST_F(peers, messages_of_one_segment_wait_for_few)
{
	ASSERT_EQ(0, begin_long(self));
	ASSERT_LT(0, answer_to(self, self->fd, 1, 2, 1, 0));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	expect_few(_metadata, self, TURN_MAX);
}

/* Nor has that which comes. */
TEST_F(peers, messages_of_one_segment_that_come)
{
	const struct rmpp_pkt whole = {
		.version = 1, .type = RMPP_DATA, .seg = 1, .len = SEG,
		.flags = RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST,
	};

	ASSERT_EQ(0, begin_long(self));
	ASSERT_EQ(0, inject(self, 1, METHOD_TABLE, 9, &whole));
	ASSERT_EQ(RMPP_ACK, see(self, SOON));
	expect_few(_metadata, self, TURN_MAX);
}

/* It fails when its receiver is silent for so long, which it is not. */
TEST_F(peers, waiting_for_a_turn_is_no_silence)
{
	ASSERT_LT(0, answer_to(self, self->fd, 0, 1, 1000, 0));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_LT(0, answer_to(self, self->fd, 1, 2, 100, 1000));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_EQ(0, hold(true));
	ASSERT_EQ(0, ack(self, self->fd, 0, 1, 1000));
	EXPECT_EQ(POSTED_MAX, frames(self));
	ASSERT_EQ(0, ack(self, self->fd, 1, 2, 100));
	sleep_ms(3000);
	EXPECT_EQ(-ETIME, rmpp_msg_read(self->fd, &self->got, HDR_NEW, 0));
	ASSERT_EQ(0, hold(false));
	while (see(self, SOON) == RMPP_DATA && seen_tid(self) != 2)
		;
	EXPECT_EQ(RMPP_DATA, self->pkt.type);
	EXPECT_EQ(2, self->pkt.seg);
}

#define SHORT_BEFORE	3

/* What silent nodes have asked for does not count: a short message is sent as one. */
TEST_F(peers, silent_nodes_do_not_make_short_messages_wait)
{
	const uint32_t l = 100, last = SHORT_BEFORE + 1;
	uint32_t i, of_long = 0, of_short = 0;
	int fd = open_server(METHOD_TABLE + 1);

	ASSERT_LE(0, fd);
	ASSERT_LT(0, answer_to(self, fd, 1, l, 1000, 0));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	for (i = 1; i <= last; i++) {
		ASSERT_LT(0, answer_to(self, self->fd, 0, i, SHORT_SEGS, 0));
		ASSERT_EQ(RMPP_DATA, see(self, SOON));
	}
	ASSERT_EQ(0, hold(true));
	ASSERT_EQ(0, ack(self, fd, 1, l, 1000));
	ASSERT_EQ(0, ack(self, self->fd, 0, last, SHORT_SEGS));
	sleep_ms(WHILE);
	ASSERT_EQ(0, hold(false));
	while (of_short < SHORT_SEGS - 1 && see(self, SOON) == RMPP_DATA) {
		of_short += seen_tid(self) == last;
		of_long += seen_tid(self) == l;
	}
	TH_LOG("%u segments of the long one before its last", of_long);
	EXPECT_EQ(SHORT_SEGS - 1, of_short);
	EXPECT_GE(POSTED_MAX + AGAIN, of_long);
	close(fd);
}

#define SHORT_WRITING	40	/* processes */
#define LONG_SEGS	200
#define LONG_SEEN	40

/* Writes one message, and stays. */
static void write_short_message(uint8_t method)
{
	const struct test_port port = { .lid = PEER };
	int fd = open_server(method);
	struct rmpp_msg msg = {};

	if (fd < 0)
		_exit(1);
	rmpp_msg_init(&msg, &port, HDR_NEW, 0, CLASS_RMPP, method | METHOD_RESP, method,
		      SHORT_SEGS * SEG, 1);
	rmpp_user_hdr(&msg)->lid = htobe16(PEER);
	rmpp_user_hdr(&msg)->grh_present = 0;
	if (rmpp_msg_write(fd, &msg) < 0)
		_exit(1);
	for (;;)
		pause();
}

/* Those of many processes, which wait for no pause, leave turns to long ones. */
TEST_F_TIMEOUT(peers, short_messages_leave_turns_to_long_ones, 60)
{
	const struct rmpp_pkt first = { 1, RMPP_ACK, RMPP_ACTIVE, 0, 1, SHORT_SEGS };
	const uint32_t l = 0x1000000;
	uint32_t i, beside = 0, of_long = 0;
	pid_t pid[SHORT_WRITING];

	for (i = 0; i < SHORT_WRITING; i++) {
		pid[i] = fork();
		if (!pid[i])
			write_short_message(METHOD_TABLE + 1 + i);
		ASSERT_EQ(RMPP_DATA, see(self, SOON));
	}
	ASSERT_LT(0, answer_to(self, self->fd, 1, l, LONG_SEGS, 0));
	ASSERT_EQ(RMPP_DATA, see(self, SOON));
	ASSERT_EQ(0, hold(true));
	for (i = 0; i < SHORT_WRITING; i++)
		ASSERT_EQ(0, inject(self, 0, METHOD_TABLE + 1 + i, METHOD_TABLE + 1 + i,
				    &first));
	ASSERT_EQ(0, ack(self, self->fd, 1, l, LONG_SEGS));
	sleep_ms(WHILE);
	ASSERT_EQ(0, hold(false));
	while (of_long < LONG_SEEN && see(self, SOON) == RMPP_DATA) {
		if (seen_tid(self) == l)
			of_long++;
		else
			beside++;
	}
	TH_LOG("%u of the long one, %u short before its last", of_long, beside);
	EXPECT_EQ(LONG_SEEN, of_long);
	/* Three quarters of the time are theirs, and turns of the rest. */
	EXPECT_GE(SHORT_WRITING * (SHORT_SEGS - 1) * 3 / 4, beside);
	for (i = 0; i < SHORT_WRITING; i++) {
		EXPECT_EQ(0, kill(pid[i], SIGKILL));
		waitpid(pid[i], NULL, 0);
	}
}

#define SHORT_WRITERS	3
#define OUTSTANDING	4000	/* messages of them that there may be */

static void write_short_messages(uint8_t method)
{
	const struct test_port port = { .lid = PEER };
	int fd = open_server(method);
	struct rmpp_msg msg = {};
	uint32_t tid = 0;

	if (fd < 0)
		_exit(1);
	for (;;) {
		rmpp_msg_init(&msg, &port, HDR_NEW, 0, CLASS_RMPP, method | METHOD_RESP,
			      ++tid, 2 * SEG, 1);
		rmpp_user_hdr(&msg)->lid = htobe16(PEER + 7);
		rmpp_user_hdr(&msg)->grh_present = 0;
		rmpp_user_hdr(&msg)->timeout_ms = 1;
		rmpp_msg_write(fd, &msg);
		while (rmpp_msg_read(fd, &msg, HDR_NEW, 0) > 0)
			;
	}
}

/* Most that a file of the port has outstanding. */
static unsigned int most_of_a_file(const char *node)
{
	char path[128], text[4096], *at = text;
	unsigned int n, most = 0;

	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_umad/%s/files", node);
	if (umad_read_sysfs(path, text, sizeof(text)))
		return UINT_MAX;
	while ((at = strstr(at, "outstanding ")))
		if (sscanf(at++, "outstanding %u", &n) == 1 && n > most)
			most = n;
	return most;
}

/* They end when their time is up, whatever else there is to be sent. */
TEST_F_TIMEOUT(peers, short_messages_to_nobody_do_not_pile_up, 60)
{
	unsigned int most = 0, n, seg = 1;
	pid_t pid[SHORT_WRITERS];
	uint64_t start;
	char node[32];
	int i;

	ASSERT_EQ(0, hwsim_umad(DEVICE, 1, "umad", node, sizeof(node)));
	ASSERT_LT(0, answer_to(self, self->fd, 0, 1, 100000, 0));
	for (i = 0; i < SHORT_WRITERS; i++) {
		pid[i] = fork();
		if (!pid[i])
			write_short_messages(METHOD_TABLE + 1 + i);
	}
	start = now_ms();
	while (now_ms() - start < 3000) {
		const struct rmpp_pkt pkt = { 1, RMPP_ACK, RMPP_ACTIVE, 0, seg, seg + 1 };

		ASSERT_EQ(0, inject(self, 0, METHOD_TABLE, 1, &pkt));
		for (i = 0; i < 500 && see(self, 10) == RMPP_DATA; i++) {
			if (seen_tid(self) == 1 && self->pkt.seg > seg) {
				seg = self->pkt.seg;
				break;
			}
		}
		n = most_of_a_file(node);
		if (n > most)
			most = n;
	}
	for (i = 0; i < SHORT_WRITERS; i++) {
		EXPECT_EQ(0, kill(pid[i], SIGKILL));
		waitpid(pid[i], NULL, 0);
	}
	TH_LOG("%u outstanding, %u segments beside them", most, seg);
	EXPECT_LT(0, most);
	EXPECT_GT(OUTSTANDING, most);
}

TEST_HARNESS_MAIN
