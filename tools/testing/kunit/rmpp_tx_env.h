/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* An RMPP sender under test, with a send queue that is done at once. */
#ifndef UMAD_KUNIT_RMPP_TX_ENV_H
#define UMAD_KUNIT_RMPP_TX_ENV_H

#include <kunit/test.h>
#include "rmpp/tx.h"
#include "rmpp_packets.h"

#define SEGS		1000
/* Of a sender that was told 2 s and two retries, as this one is. */
#define PATIENCE	(6000 * MS)

/**
 * struct tx_env - a sender under test
 * @tx: under test
 * @now: the time
 * @first: first segment that the last drain() gave
 * @last: last one
 */
struct tx_env {
	struct rmpp_tx tx;
	u64 now;
	u32 first;
	u32 last;
};

int tx_env_init(struct kunit *test);
u32 drain(struct tx_env *env);
u32 ack(struct tx_env *env, u32 seg, u32 window_last);
void expire(struct tx_env *env);
void open_window(struct kunit *test);

#endif /* UMAD_KUNIT_RMPP_TX_ENV_H */
