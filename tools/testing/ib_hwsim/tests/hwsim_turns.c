// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many messages that share the window of a port take turns: who has used up its window waits
 * for a large one. The senders are frames that are made here.
 */
#include "hwsim_senders.h"

#include <stdlib.h>

#define SEGS	120
#define MANY	64
#define QUANTUM	32

static uint64_t tid_of(unsigned int i)
{
	return 0x5500000000 + i;
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
	unsigned int i, segs = 0, got = 0;
	uint64_t begun = now_ms();
	struct heard heard = {};
	int ret;

	ASSERT_NE(NULL, senders);
	for (i = 0; i < MANY; i++)
		senders[i] = new_sender(i, METHOD_TABLE, tid_of(i), SEGS);
	while (heard.complete < MANY && now_ms() - begun < 20000) {
		for (i = 0; i < MANY; i++) {
			ret = send_allowed(self, &senders[i], SEGS);
			ASSERT_LE(0, ret);
			segs += ret;
			hear(self, senders, MANY, &heard, 0);
		}
		hear(self, senders, MANY, &heard, 1);
		got += read_all(self);
	}
	TH_LOG("%u segments, %u ACKs, %u ms, longest wait %u ms", segs, heard.acks,
	       (unsigned int)(now_ms() - begun), (unsigned int)heard.longest);
	EXPECT_EQ(MANY, heard.complete);
	EXPECT_EQ(MANY, got);
	/* And each of its first and last segment. */
	EXPECT_GT(segs / 8 + 2 * MANY, heard.acks);
	EXPECT_GT(600, heard.longest);
	free(senders);
}

/* They have begun, have been granted what there was, and do nothing. */
TEST_F_TIMEOUT(peers, idle_messages_keep_nobody_waiting, 60)
{
	struct sender senders[MANY + 1];
	struct heard idle = {}, heard = {};
	unsigned int i, granted = 0;
	uint64_t begun;

	for (i = 0; i <= MANY; i++)
		senders[i] = new_sender(i, METHOD_TABLE, tid_of(i), SEGS);
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(1, send_allowed(self, &senders[i], 1));
		hear(self, senders, MANY, &idle, 0);
	}
	hear(self, senders, MANY, &idle, 1);
	for (i = 0; i < MANY; i++)
		granted += senders[i].allowed - 1;
	EXPECT_LT(300, granted);
	begun = now_ms();
	while (!heard.complete && now_ms() - begun < 5000) {
		ASSERT_LE(0, send_allowed(self, &senders[MANY], SEGS));
		hear(self, senders, MANY + 1, &heard, 1);
	}
	TH_LOG("%u granted to idle ones; %u ms, longest wait %u ms", granted,
	       (unsigned int)(now_ms() - begun), (unsigned int)heard.longest);
	EXPECT_EQ(1, heard.complete);
	EXPECT_GT(60, heard.longest);
	/* They have not become silent yet. */
	EXPECT_GT(240, now_ms() - begun);
}

TEST_HARNESS_MAIN
