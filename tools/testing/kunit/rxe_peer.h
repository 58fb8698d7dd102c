/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A peer that is a client of ib_core itself, as if on another host. */
#ifndef UMAD_KUNIT_RXE_PEER_H
#define UMAD_KUNIT_RXE_PEER_H

#include <linux/atomic.h>

struct ib_mad_agent;
struct kunit;

/**
 * struct rxe_peer - answers Gets of RXE_CLASS, or does not
 * @agent: ib_core's
 * @got: requests received
 * @answer_from: the first one it answers, from 1 on; 0 for none
 * @copies: responses to each
 */
struct rxe_peer {
	struct ib_mad_agent *agent;
	atomic_t got;
	unsigned int answer_from;
	unsigned int copies;
};

struct rxe_peer *rxe_peer_start(struct kunit *test, unsigned int answer_from);
void rxe_peer_stop(struct rxe_peer *peer);
bool rxe_peer_gets(struct rxe_peer *peer, unsigned int n);

#endif /* UMAD_KUNIT_RXE_PEER_H */
