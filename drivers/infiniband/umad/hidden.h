/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Hidden agents. ib_core looks for the MAD that a response answers, and for one that is
 * taken back, in a list of all that its agent waits with. So an agent with many outstanding
 * requests has more agents of ib_core, which only send and nobody knows of, and each waits
 * with some. What they send differs in the upper half of the TID; above ib_core all have
 * that of the agent.
 */
#ifndef UMAD_HIDDEN_H
#define UMAD_HIDDEN_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <rdma/ib_mad.h>

struct umad_agent;
struct umad_hidden_set;
struct umad_txn_key;

/**
 * struct umad_outlet - an agent of ib_core that requests wait with
 * @core: constant
 * @requests: how many do
 */
struct umad_outlet {
	struct ib_mad_agent *core;
	atomic_t requests;
};

/**
 * struct umad_hidden - what an agent's requests wait with
 * @own: the agent itself
 * @receive: of hidden agents, constant
 * @more: hidden agents, NULL until the first is made
 * @early: which TIDs have timed out before that, NULL until the first does
 * @next: counts requests that have found all of them full
 * @grows: bit 0 is set while one is being made
 */
struct umad_hidden {
	struct umad_outlet own;
	ib_mad_recv_handler receive;
	struct umad_hidden_set *more;
	u8 *early;
	unsigned int next;
	unsigned long grows;
};

struct umad_outlet *umad_hidden_choose(struct umad_agent *agent, const struct umad_txn_key *key);
void umad_hidden_timed_out(struct umad_agent *agent, const struct umad_outlet *outlet, __be64 tid);
void umad_hidden_end(struct umad_agent *agent);
void umad_hidden_free(struct umad_agent *agent);

/**
 * umad_hidden_leave() - a request has no MAD in ib_core any more
 * @outlet: that umad_hidden_choose() has given it
 *
 * Context: any.
 */
static inline void umad_hidden_leave(struct umad_outlet *outlet)
{
	atomic_dec(&outlet->requests);
}

#endif /* UMAD_HIDDEN_H */
