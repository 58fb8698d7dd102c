// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A server that many have asked for the same table answers each with a message of its own.
 * Equal ones have their data once, and who of them ends first takes it from none.
 */
#include "hwsim_peers.h"

#include <pthread.h>
#include <stdio.h>

#define BYTES		(256 << 10)
#define MANY		64
#define KEEP		0x77	/* data of the answers that are equal */
#define OTHER		0x99
#define WRITERS		4
#define ROUNDS		100

static uint64_t tid_of(uint16_t peer)
{
	return 0x600 + peer;
}

/* An answer to that peer, which need not have asked; what write() says. */
static int answer_tid(FIXTURE_DATA(peers) *self, uint16_t peer, uint64_t tid, size_t len,
		      uint32_t seed)
{
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE | METHOD_RESP, tid, len, seed);
	rmpp_user_hdr(&self->msg)->lid = htobe16(PEER + peer);
	rmpp_user_hdr(&self->msg)->grh_present = 0;
	rmpp_user_hdr(&self->msg)->timeout_ms = 5000;
	rmpp_user_hdr(&self->msg)->retries = 5;
	return rmpp_msg_write(self->fd, &self->msg);
}

static int answer(FIXTURE_DATA(peers) *self, uint16_t peer, size_t len, uint32_t seed)
{
	return answer_tid(self, peer, tid_of(peer), len, seed);
}

/* The answer before, to another peer, but for a byte of it. */
static int answer_but(FIXTURE_DATA(peers) *self, uint16_t peer, size_t at)
{
	rmpp_user_hdr(&self->msg)->lid = htobe16(PEER + peer);
	rmpp_mad(&self->msg)->tid = htobe64(tid_of(peer));
	rmpp_mad_bytes(&self->msg)[40 + at] ^= 1;
	return rmpp_msg_write(self->fd, &self->msg);
}

static int say(FIXTURE_DATA(peers) *self, uint16_t peer, const struct rmpp_pkt *pkt)
{
	return inject(self, peer, METHOD_TABLE, tid_of(peer), pkt);
}

/* The peer does not want it, and the server hears so. */
static int refuse(FIXTURE_DATA(peers) *self, uint16_t peer)
{
	const struct rmpp_pkt pkt = { 1, RMPP_ABORT, RMPP_ACTIVE, RMPP_UNSPEC, 0, 0 };
	int ret = say(self, peer, &pkt);

	if (ret)
		return ret;
	ret = rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON);
	sleep_ms(20);
	return ret < 0 ? ret : rmpp_tid(&self->got) == tid_of(peer) ? 0 : -EBADMSG;
}

/* The peer takes the segments from @from to @to, if they have the bytes of @seed. */
static int take(FIXTURE_DATA(peers) *self, uint16_t peer, uint32_t from, uint32_t to,
		uint32_t seed)
{
	struct rmpp_pkt ack = { 1, RMPP_ACK, RMPP_ACTIVE };
	uint32_t seg;

	for (seg = from; seg <= to; seg++) {
		if (see_packet(self, tid_of(peer), RMPP_DATA, seg) < 0)
			return -ETIME;
		if (!rmpp_same(self->seen.mad + 40, (seg - 1) * SEG, SEG, seed))
			return -EBADMSG;
		ack.seg = seg;
		ack.len = seg + 1;
		if (say(self, peer, &ack))
			return -EIO;
	}
	return 0;
}

static long messages_shared(FIXTURE_DATA(peers) *self)
{
	return module_counter(self, "rmpp_send_shared");
}

TEST_F(peers, equal_answers_take_memory_once)
{
	long bytes = rmpp_param_set("rmpp_send_bytes", 4 * BYTES);
	long shared = messages_shared(self);
	int i;

	ASSERT_LT(0, bytes);
	for (i = 0; i < MANY; i++)
		EXPECT_LT(0, answer(self, i, BYTES, KEEP));
	EXPECT_EQ(shared + MANY - 1, messages_shared(self));
	/* What differs counts in full, and so does a shorter one. */
	EXPECT_LT(0, answer(self, i++, BYTES, OTHER));
	EXPECT_EQ(-ENOMEM, answer(self, i++, BYTES, OTHER + 1));
	EXPECT_EQ(-ENOMEM, answer(self, i++, BYTES - 1, KEEP));
	rmpp_param_set("rmpp_send_bytes", bytes);
}

/* By a byte in the middle of a page that is not the first: it has data of its own. */
TEST_F(peers, nearly_equal_is_not_equal)
{
	long shared = messages_shared(self);

	ASSERT_EQ(0, shared);
	ASSERT_LT(0, answer(self, 1, 100 * SEG, KEEP));
	ASSERT_LT(0, answer_but(self, 2, 50 * SEG + 7));
	EXPECT_EQ(shared, messages_shared(self));
	EXPECT_EQ(0, take(self, 1, 1, 100, KEEP));
	EXPECT_EQ(-EBADMSG, take(self, 2, 1, 100, KEEP));
	EXPECT_EQ(51, self->pkt.seg);
}

/* With what the processors keep for themselves, which may be 50 MB. */
static long free_bytes(void)
{
	FILE *zones = fopen("/proc/zoneinfo", "r");
	char line[256];
	long n, pages = 0;

	while (zones && fgets(line, sizeof(line), zones))
		if (sscanf(line, " nr_free_pages %ld", &n) == 1 ||
		    sscanf(line, " count: %ld", &n) == 1)
			pages += n;
	if (zones)
		fclose(zones);
	return pages * sysconf(_SC_PAGESIZE);
}

/* Equal data, and such as looks equal at first, are freed when their messages have ended. */
TEST_F_TIMEOUT(peers, memory_comes_back, 100)
{
	long before = 0, lost;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		/* What is kept for the next message is, by then. */
		if (i == 10)
			before = free_bytes();
		ASSERT_LT(0, answer(self, 0, BYTES, KEEP));
		ASSERT_LT(0, answer(self, 1, BYTES, KEEP));
		ASSERT_LT(0, answer_but(self, 2, BYTES - 1));
		ASSERT_EQ(0, refuse(self, 0));
		ASSERT_EQ(0, refuse(self, 1));
		ASSERT_EQ(0, refuse(self, 2));
	}
	lost = before - free_bytes();
	TH_LOG("%ld KiB of %ld are gone", lost / 1024, before / 1024);
	EXPECT_GT(20L * BYTES, lost);
}

/* Who of them was charged for it ends: another is, until none is left. */
TEST_F(peers, memory_is_charged_until_the_last_has_ended)
{
	long bytes;

	ASSERT_LT(0, answer(self, 0, BYTES, KEEP));
	ASSERT_LT(0, answer(self, 1, BYTES, KEEP));
	ASSERT_LT(0, answer(self, 2, BYTES, KEEP));
	/* Room for one beside what little the others count for, and not for two. */
	bytes = rmpp_param_set("rmpp_send_bytes", 2 * BYTES + BYTES / 2);
	ASSERT_LT(0, bytes);
	EXPECT_EQ(-ENOMEM, answer(self, 3, BYTES, OTHER));
	EXPECT_EQ(0, refuse(self, 0));
	EXPECT_EQ(-ENOMEM, answer(self, 3, BYTES, OTHER));
	EXPECT_EQ(0, refuse(self, 2));
	EXPECT_EQ(-ENOMEM, answer(self, 3, BYTES, OTHER));
	EXPECT_EQ(0, refuse(self, 1));
	EXPECT_LT(0, answer(self, 3, BYTES, OTHER));
	rmpp_param_set("rmpp_send_bytes", bytes);
}

/* One is refused, and one has arrived; the third has all of it still. */
TEST_F(peers, others_go_on_when_one_ends)
{
	ASSERT_LT(0, answer(self, 0, 100 * SEG, KEEP));
	ASSERT_LT(0, answer(self, 1, 100 * SEG, KEEP));
	EXPECT_EQ(0, take(self, 1, 1, 10, KEEP));
	EXPECT_EQ(0, refuse(self, 0));
	EXPECT_EQ(0, take(self, 1, 11, 50, KEEP));
	ASSERT_LT(0, answer(self, 2, 100 * SEG, KEEP));
	EXPECT_EQ(0, take(self, 1, 51, 100, KEEP));
	EXPECT_EQ(0, take(self, 2, 1, 100, KEEP));
	EXPECT_EQ(2, messages_shared(self));
}

/*
 * A peer is sent what others are sent, and these end. It has no more than if the data were its
 * own: then there would be half for it.
 */
TEST_F(peers, no_peer_has_more_by_equal_data)
{
	const int n = 32;
	long bytes = rmpp_param_set("rmpp_send_bytes", n * (BYTES / 4));
	int i, sent = 0, had = 0, others = 0;

	ASSERT_LT(0, bytes);
	for (i = 1; i < n; i++) {
		others += answer(self, i, BYTES / 4 - SEG, i) > 0;
		had += answer_tid(self, 0, 10000 + i, BYTES / 4 - SEG, i) > 0;
	}
	for (i = 1; i <= others; i++)
		EXPECT_EQ(0, refuse(self, i));
	for (i = n; i < 2 * n && answer(self, i, BYTES / 4 - SEG, n + i) > 0; i++)
		sent++;
	TH_LOG("%d of others, then %d of the peer, then %d of others", others, had, sent);
	EXPECT_GE(n / 2, had);
	EXPECT_LE(n / 2 - 2, sent);
	rmpp_param_set("rmpp_send_bytes", bytes);
}

struct writer {
	pthread_t thread;
	struct test_port port;
	int fd;
	unsigned int first, written;
};

/* Answers that none takes, equal to those of others, or one of two. */
static void *write_and_give_up(void *arg)
{
	struct rmpp_msg msg = {};
	struct writer *w = arg;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		rmpp_msg_init(&msg, &w->port, HDR_NEW, 0, CLASS_RMPP, METHOD_TABLE | METHOD_RESP,
			      w->first + i, 100 * SEG, i % 8 ? KEEP : OTHER);
		rmpp_user_hdr(&msg)->grh_present = 0;
		rmpp_user_hdr(&msg)->lid = htobe16(PEER + i % 5);
		rmpp_user_hdr(&msg)->timeout_ms = 1 + i % 7;
		w->written += rmpp_msg_write(w->fd, &msg) > 0;
	}
	rmpp_msg_free(&msg);
	return NULL;
}

/* They begin and end at the same time. What is charged at the end, close() complains of. */
TEST_F_TIMEOUT(peers, equal_answers_of_many_threads, 60)
{
	struct writer writers[WRITERS] = {};
	unsigned int i, written = 0, ended = 0;

	for (i = 0; i < WRITERS; i++) {
		writers[i].port = self->port;
		writers[i].fd = self->fd;
		writers[i].first = 1000 * (i + 1);
		ASSERT_EQ(0, pthread_create(&writers[i].thread, NULL, write_and_give_up,
					    &writers[i]));
	}
	for (i = 0; i < WRITERS; i++) {
		pthread_join(writers[i].thread, NULL);
		written += writers[i].written;
	}
	EXPECT_EQ(WRITERS * ROUNDS, written);
	while (ended < written && rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON) > 0)
		ended++;
	EXPECT_EQ(written, ended);
}

TEST_HARNESS_MAIN
