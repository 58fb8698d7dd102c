/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* An RMPP receiver under test, of an SA message. */
#ifndef UMAD_KUNIT_RMPP_RX_ENV_H
#define UMAD_KUNIT_RMPP_RX_ENV_H

#include <kunit/test.h>
#include "rmpp/rx.h"
#include "rmpp_packets.h"

/* Of data that a message may have: 100 segments of 200 bytes. */
#define MAX_BYTES	20000
#define WINDOW		64
#define IDLE_MAX	(40000 * MS)
#define LINGER		(10000 * MS)
#define AGAIN		(40000 * MS)	/* so long it may begin again */

/**
 * struct rx_env - a receiver under test
 * @rx: under test
 * @now: the time
 * @window: that the port has to give
 * @ack: last one it sent
 */
struct rx_env {
	struct rmpp_rx rx;
	u64 now;
	u32 window;
	struct rmpp_packet ack;
};

extern const struct rmpp_layout rmpp_layout_sa;

int rx_env_init(struct kunit *test);
enum rmpp_rx_verdict give(struct rx_env *env, struct rmpp_packet packet);
enum rmpp_rx_verdict rx_expire(struct rx_env *env);
void give_up_to(struct rx_env *env, u32 seg);
void expect_dead(struct kunit *test, u8 status);
void expect_ack(struct kunit *test, enum rmpp_rx_verdict verdict, u32 seg,
		u32 window_last, int line);

/* One of a message of 100. */
static inline struct rmpp_packet segment(u32 seg)
{
	return data_packet(seg, 100, 220);
}

#define EXPECT_VERDICT(test, verdict, expected) \
	KUNIT_EXPECT_EQ(test, (int)(verdict), (int)(expected))

#define EXPECT_ACK(test, verdict, seg, window_last) \
	expect_ack(test, verdict, seg, window_last, __LINE__)

#endif /* UMAD_KUNIT_RMPP_RX_ENV_H */
