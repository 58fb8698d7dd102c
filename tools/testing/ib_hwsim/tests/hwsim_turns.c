// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many messages that share the window of a port take turns: who has used up its window waits
 * for a large one. The senders are frames that are made here.
 */
#include "hwsim_peers.h"

#include <stdlib.h>

#define SEGS	120
#define MANY	64
#define QUANTUM	32

struct sender {
	uint32_t next;		/* segment to be sent */
	uint32_t allowed;	/* the last that may be */
	uint64_t since;		/* when it had to wait, ms; 0: it has not */
};

struct tally {
	unsigned int segs, acks, complete;
	uint64_t longest;	/* ms that a sender waited for a window */
};

static uint64_t tid_of(unsigned int i)
{
	return 0x5500000000 + i;
}

/* All that it may send now. */
static int send_allowed(FIXTURE_DATA(peers) *self, struct sender *senders, unsigned int i,
			uint32_t segs, struct tally *tally)
{
	struct sender *s = &senders[i];
	int ret = 0;

	while (!ret && s->next <= s->allowed && s->next <= segs) {
		ret = inject_data(self, i, METHOD_TABLE, tid_of(i), s->next++, segs);
		tally->segs++;
		s->since = now_ms();
	}
	return ret;
}

/* What the module says, until it says nothing for so long. */
static void take_acks(FIXTURE_DATA(peers) *self, struct sender *senders, unsigned int n,
		      uint32_t segs, struct tally *tally, int wait_ms)
{
	struct sender *s;
	uint64_t i;

	while (see(self, wait_ms) == RMPP_ACK) {
		i = be64toh(frame_mad(&self->seen)->tid) - tid_of(0);
		if (i >= n)
			continue;
		s = &senders[i];
		tally->acks++;
		if (self->pkt.seg == segs)
			tally->complete++;
		if (self->pkt.len <= s->allowed)
			continue;
		s->allowed = self->pkt.len;
		if (s->since && now_ms() - s->since > tally->longest)
			tally->longest = now_ms() - s->since;
		s->since = 0;
	}
}

static int read_all(FIXTURE_DATA(peers) *self)
{
	int n = 0;

	while (rmpp_msg_read(self->fd, &self->got, HDR_NEW, 0) >= 0)
		n++;
	return n;
}

/* An ACK for each window of some segments would take as long as these. */
TEST_F_TIMEOUT(peers, many_messages_take_turns, 120)
{
	struct sender *senders = calloc(MANY, sizeof(*senders));
	uint64_t begun = now_ms();
	struct tally tally = {};
	unsigned int i, got = 0;

	ASSERT_NE(NULL, senders);
	for (i = 0; i < MANY; i++)
		senders[i] = (struct sender){ .next = 1, .allowed = 1 };
	while (tally.complete < MANY && now_ms() - begun < 20000) {
		for (i = 0; i < MANY; i++) {
			ASSERT_EQ(0, send_allowed(self, senders, i, SEGS, &tally));
			take_acks(self, senders, MANY, SEGS, &tally, 0);
		}
		take_acks(self, senders, MANY, SEGS, &tally, 1);
		got += read_all(self);
	}
	TH_LOG("%u segments, %u ACKs, %u ms, longest wait %u ms", tally.segs, tally.acks,
	       (unsigned int)(now_ms() - begun), (unsigned int)tally.longest);
	EXPECT_EQ(MANY, tally.complete);
	EXPECT_EQ(MANY, got);
	/* And each of its first and last segment. */
	EXPECT_GT(tally.segs / 8 + 2 * MANY, tally.acks);
	EXPECT_GT(600, tally.longest);
	free(senders);
}

/* They have begun, have been granted what there was, and do nothing. */
TEST_F_TIMEOUT(peers, idle_messages_keep_nobody_waiting, 60)
{
	struct sender senders[MANY + 1] = {};
	struct tally idle = {}, tally = {};
	unsigned int i, granted = 0;
	uint64_t begun;

	for (i = 0; i < MANY; i++) {
		senders[i] = (struct sender){ .next = 1, .allowed = 1 };
		ASSERT_EQ(0, inject_data(self, i, METHOD_TABLE, tid_of(i), 1, SEGS));
		senders[i].next = 2;
		take_acks(self, senders, MANY, SEGS, &idle, 0);
	}
	take_acks(self, senders, MANY, SEGS, &idle, 1);
	for (i = 0; i < MANY; i++)
		granted += senders[i].allowed - 1;
	EXPECT_LT(300, granted);
	begun = now_ms();
	senders[MANY] = (struct sender){ .next = 1, .allowed = 1 };
	while (!tally.complete && now_ms() - begun < 5000) {
		ASSERT_EQ(0, send_allowed(self, senders, MANY, SEGS, &tally));
		take_acks(self, senders, MANY + 1, SEGS, &tally, 1);
	}
	TH_LOG("%u granted to idle ones; %u ms, longest wait %u ms", granted,
	       (unsigned int)(now_ms() - begun), (unsigned int)tally.longest);
	EXPECT_EQ(1, tally.complete);
	EXPECT_GT(60, tally.longest);
	/* They have not become silent yet. */
	EXPECT_GT(240, now_ms() - begun);
}

TEST_HARNESS_MAIN
