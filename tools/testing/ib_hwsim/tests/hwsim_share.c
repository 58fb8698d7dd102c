// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many messages share the window of a port, and nobody keeps another from his part: not who
 * has a large one, not who makes no use of it. An ACK may not be late for that either: the
 * sender of a short message waits for it, or is no more, and another uses its TID. The
 * senders are frames that are made here.
 */
#include "hwsim_senders.h"

#include <stdlib.h>

#define LONG_ONES	20
#define NEVER		1000000		/* segments: it does not end here */
#define SHORT		10
#define SLOW		12
#define REWINDERS	2
#define MANY		64
#define CROWD		400
#define GREEDY		30
#define MANY_SEGS	300
#define OTHER		0x400		/* a peer that is none of the senders */

static uint64_t tid_of(unsigned int i)
{
	return 0x5500000000 + i;
}

static void begin(struct sender *senders, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		senders[i] = new_sender(i, METHOD_TABLE, tid_of(i), NEVER);
}

/* Those from @first on send what they may, for so long, and all hear; an error of the wire. */
static int run_from(FIXTURE_DATA(peers) *self, struct sender *senders, unsigned int first,
		    unsigned int n, int ms)
{
	uint64_t until = now_ms() + ms;
	struct heard heard = {};
	unsigned int i;
	int ret;

	do {
		for (i = first; i < n; i++) {
			ret = send_allowed(self, &senders[i], NEVER);
			if (ret < 0)
				return ret;
			hear(self, senders, n, &heard, 0);
		}
	} while (now_ms() < until);
	return 0;
}

static int run(FIXTURE_DATA(peers) *self, struct sender *senders, unsigned int n, int ms)
{
	return run_from(self, senders, 0, n, ms);
}

/* It has its first ACK when all others have had their turn, and is through after a second one. */
TEST_F_TIMEOUT(peers, short_message_beside_many_long_ones, 60)
{
	struct sender senders[LONG_ONES + 1];
	struct sender *last = &senders[LONG_ONES];
	uint64_t begun, acked = 0;
	unsigned int round;

	begin(senders, LONG_ONES);
	ASSERT_EQ(0, run(self, senders, LONG_ONES, 300));
	for (round = 0; round < 5; round++) {
		*last = new_sender(LONG_ONES, METHOD_TABLE, tid_of(1000 + round), SHORT);
		begun = now_ms();
		for (acked = 0; last->next <= SHORT && now_ms() - begun < 5000;) {
			ASSERT_EQ(0, run(self, senders, LONG_ONES + 1, 0));
			if (!acked && last->allowed > 1)
				acked = now_ms();
		}
		TH_LOG("first ACK after %u ms, all sent after %u", (unsigned int)(acked - begun),
		       (unsigned int)(now_ms() - begun));
		EXPECT_GT(60, acked - begun);
		EXPECT_GT(150, now_ms() - begun);
		ASSERT_EQ(0, run(self, senders, LONG_ONES, 50));
	}
}

/* A segment of a message of six from a peer that has no other, of one byte. */
static int say(FIXTURE_DATA(peers) *self, uint64_t tid, uint32_t seg, uint8_t byte)
{
	const struct rmpp_pkt pkt = rmpp_data_pkt(seg, 6, 6 * RMPP_PAYLOAD);

	make_packet(self, OTHER, METHOD_TABLE, tid, &pkt);
	memset(self->frame.mad + 40, byte, SEG);
	return raw_write(self->wire, &self->frame);
}

/*
 * One begins, and is gone after some time. Its successor uses the same TID, and repeats its
 * first segment each 2 s. What it hears then must be about its own message.
 */
TEST_F_TIMEOUT(peers, successor_is_not_taken_for_who_was_before, 60)
{
	struct sender senders[LONG_ONES + 1];
	struct sender *successor = &senders[LONG_ONES];
	uint64_t begun, said = 0;
	struct heard heard = {};
	const uint8_t *mad;
	uint32_t i;

	begin(senders, LONG_ONES);
	ASSERT_EQ(0, run(self, senders, LONG_ONES, 300));
	ASSERT_EQ(0, say(self, tid_of(5000), 1, 0xa0));
	ASSERT_EQ(0, run(self, senders, LONG_ONES, 50));
	*successor = new_sender(0, METHOD_TABLE, tid_of(5000), 6);
	/* run() does not send for it. */
	successor->next = NEVER + 1;
	for (begun = now_ms(), i = 1; i <= 6 && now_ms() - begun < 20000;) {
		if (i == 1 && now_ms() - said >= 2000) {
			said = now_ms();
			ASSERT_EQ(0, say(self, tid_of(5000), 1, 0xb0));
		}
		if (successor->allowed > 1 && i == 1)
			i = 2;
		for (; i > 1 && i <= 6 && i <= successor->allowed; i++)
			ASSERT_EQ(0, say(self, tid_of(5000), i, 0xb0));
		ASSERT_EQ(0, run(self, senders, LONG_ONES + 1, 0));
	}
	hear(self, senders, LONG_ONES, &heard, 20);
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	mad = rmpp_mad_bytes(&self->got);
	for (i = 0; i < 6; i++)
		EXPECT_EQ(0xb0, mad[40 + i * SEG]);
}

/*
 * A segment behind a gap now and then. The missing one is sent twice when there is nothing
 * else to be sent.
 */
static int send_behind_gap(FIXTURE_DATA(peers) *self, struct sender *s, uint32_t *gap)
{
	if (s->next == 1)
		return send_allowed(self, s, 1);
	*gap = *gap ?: 2;
	if (s->next <= *gap)
		s->next = *gap + 1;
	if (s->next <= s->allowed)
		return inject_data(self, s->peer, s->method, s->tid, s->next++, s->segs);
	if (*gap > s->allowed)
		return 0;
	if (inject_data(self, s->peer, s->method, s->tid, *gap, s->segs) ||
	    inject_data(self, s->peer, s->method, s->tid, *gap, s->segs))
		return -EIO;
	*gap = s->allowed + 1;
	return 0;
}

/* Segments 2 and 3 once more, as of one that goes back on every ACK. */
static int rewind_once(FIXTURE_DATA(peers) *self, const struct sender *s)
{
	return inject_data(self, s->peer, s->method, s->tid, 2, s->segs) ?:
	       inject_data(self, s->peer, s->method, s->tid, 3, s->segs);
}

/* Each uses just so much of what it was granted that it counts. */
TEST_F_TIMEOUT(peers, peers_that_do_little_leave_others_their_part, 60)
{
	struct sender senders[SLOW + REWINDERS + LONG_ONES];
	struct sender *honest = &senders[SLOW + REWINDERS];
	uint32_t gaps[SLOW] = {}, sent = 0;
	uint64_t begun, slow_at = 0;
	unsigned int i, n;

	begin(senders, ARRAY_SIZE(senders));
	for (begun = now_ms(); now_ms() - begun < 3500;) {
		for (i = 0; i < SLOW && now_ms() >= slow_at; i++)
			ASSERT_LE(0, send_behind_gap(self, &senders[i], &gaps[i]));
		if (now_ms() >= slow_at)
			slow_at = now_ms() + 80;
		for (i = SLOW; i < SLOW + REWINDERS; i++)
			if (senders[i].next == 4)
				ASSERT_EQ(0, rewind_once(self, &senders[i]));
		/* The honest ones come later. */
		n = SLOW + REWINDERS + (now_ms() - begun < 500 ? 0 : LONG_ONES);
		ASSERT_EQ(0, run_from(self, senders, SLOW, n, 0));
		if (now_ms() - begun < 1500)
			for (i = sent = 0; i < LONG_ONES; i++)
				sent += honest[i].next - 1;
	}
	for (i = n = 0; i < LONG_ONES; i++)
		n += honest[i].next - 1;
	TH_LOG("%u segments in 2 s", n - sent);
	EXPECT_LT(10000, n - sent);
}

/* Each has a turn and waits for the next, in place of an ACK for each few segments. */
TEST_F_TIMEOUT(peers, many_messages_take_turns, 60)
{
	struct sender senders[MANY];
	struct heard heard = {};
	uint64_t begun = now_ms();
	long turns;
	unsigned int i;

	turns = module_counter(self, "rmpp_turns");
	for (i = 0; i < MANY; i++)
		senders[i] = new_sender(i, METHOD_TABLE, tid_of(i), MANY_SEGS);
	ASSERT_EQ(0, send_up_to(self, senders, MANY, MANY_SEGS, &heard));
	hear(self, senders, MANY, &heard, 100);
	TH_LOG("%u ACKs of %u segments in %u ms, none for %u ms at most; %ld waits",
	       heard.acks, MANY * MANY_SEGS, (unsigned int)(now_ms() - begun),
	       (unsigned int)heard.longest, module_counter(self, "rmpp_turns") - turns);
	EXPECT_EQ(MANY, heard.complete);
	EXPECT_GT(MANY * MANY_SEGS / 8, heard.acks);
	EXPECT_LT(MANY, module_counter(self, "rmpp_turns") - turns);
	EXPECT_GT(600, heard.longest);
}

/* They are as many, and count, but send next to nothing: none has to wait for them. */
TEST_F_TIMEOUT(peers, one_beside_many_that_do_little_does_not_wait, 60)
{
	struct sender senders[MANY];
	struct sender *honest = &senders[MANY - 1];
	uint64_t begun, slow_at = 0;
	struct heard heard = {};
	unsigned int i;
	long turns;

	begin(senders, MANY);
	/* As many segments as it takes to be asked to wait. */
	for (i = 0; i < MANY - 1; i++)
		ASSERT_EQ(0, send_up_to(self, &senders[i], 1, 20, &heard));
	turns = module_counter(self, "rmpp_turns");
	for (begun = now_ms(); now_ms() - begun < 1000;) {
		for (i = 0; i < MANY - 1 && now_ms() >= slow_at; i++)
			ASSERT_LE(0, send_allowed(self, &senders[i], senders[i].next));
		if (now_ms() >= slow_at)
			slow_at = now_ms() + 100;
		ASSERT_EQ(0, run_from(self, senders, MANY - 1, MANY, 0));
	}
	TH_LOG("%u segments in 1 s; %ld waits", honest->next - 1,
	       module_counter(self, "rmpp_turns") - turns);
	/* They wait for it now and then: they are the crowd. */
	EXPECT_LT(10000, honest->next);
}

/* As many as that, of those who take a closed window for one of a segment. */
static int burst(FIXTURE_DATA(peers) *self, struct sender *senders, unsigned int n, int segs)
{
	struct heard heard = {};
	unsigned int i;

	for (i = 0; segs > 0; i++, segs--) {
		struct sender *s = &senders[i % GREEDY];

		if (s->next > s->allowed && s->acked == s->next - 1)
			s->allowed = s->next;
		if (s->next > s->allowed) {
			hear(self, senders, n, &heard, 1);
			continue;
		}
		if (inject_data(self, s->peer, s->method, s->tid, s->next++, s->segs))
			return -EIO;
		hear(self, senders, n, &heard, 0);
	}
	return 0;
}

/*
 * They take a small part of what the port can, but do not wait: others would always wait for
 * them.
 */
TEST_F_TIMEOUT(peers, bursts_of_those_who_do_not_wait, 60)
{
	struct sender senders[GREEDY + 1];
	struct sender *honest = &senders[GREEDY];
	uint64_t begun = now_ms(), burst_at = 0;
	uint32_t before = 0;

	begin(senders, ARRAY_SIZE(senders));
	while (now_ms() - begun < 4000) {
		if (now_ms() >= burst_at) {
			burst_at = now_ms() + 140;
			ASSERT_EQ(0, burst(self, senders, ARRAY_SIZE(senders), 700));
		}
		if (now_ms() - begun < 1000)
			continue;
		if (now_ms() - begun < 2000)
			before = honest->next;
		ASSERT_EQ(0, run_from(self, senders, GREEDY, GREEDY + 1, 0));
	}
	TH_LOG("%u segments in 2 s", honest->next - before);
	EXPECT_LT(10000, honest->next - before);
}

/* How many segments they send, of all that those have. */
static int sent_in(FIXTURE_DATA(peers) *self, struct sender *senders, unsigned int n, int ms)
{
	uint32_t before = 0, after = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		before += senders[i].next;
	if (run(self, senders, n, ms))
		return -1;
	for (i = 0; i < n; i++)
		after += senders[i].next;
	return after - before;
}

/* The one who has sent least meanwhile. */
static int fewest_in(FIXTURE_DATA(peers) *self, struct sender *senders, unsigned int n, int ms)
{
	uint32_t before[CROWD], sent, fewest = UINT32_MAX;
	unsigned int i;

	for (i = 0; i < n; i++)
		before[i] = senders[i].next;
	if (run(self, senders, n, ms))
		return -1;
	for (i = 0; i < n; i++) {
		sent = senders[i].next - before[i];
		if (sent < fewest)
			fewest = sent;
	}
	return fewest;
}

/*
 * None of it waits for each segment. And those who go on do not wait for the turns of those
 * who are gone.
 */
TEST_F_TIMEOUT(peers, some_go_on_behind_a_crowd, 60)
{
	struct sender senders[CROWD];
	int alone, behind, fewest;

	begin(senders, CROWD);
	ASSERT_LT(0, sent_in(self, senders, MANY, 500));
	alone = sent_in(self, senders, MANY, 1000);
	TH_LOG("%d in the crowd in 3 s", sent_in(self, senders, CROWD, 3000));
	fewest = fewest_in(self, senders, CROWD, 3000);
	TH_LOG("then none fewer than %d in 3 s", fewest);
	EXPECT_LT(30, fewest);
	/* Their senders' silence is noticed. */
	ASSERT_LT(0, sent_in(self, senders, MANY, 800));
	behind = sent_in(self, senders, MANY, 1000);
	TH_LOG("%d segments in 1 s alone, %d behind a crowd", alone, behind);
	EXPECT_LT(alone * 3 / 4, behind);
}

TEST_HARNESS_MAIN
