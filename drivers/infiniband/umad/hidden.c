// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "hidden.h"

#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include "agent.h"
#include "file.h"
#include "hdr.h"
#include "port.h"
#include "post.h"
#include "queues.h"
#include "txn.h"
#include "user.h"

/* So many requests wait with one, before there is another. */
#define REQUESTS_MAX	512
/* And so many, with those that have been there before. */
#define AGAIN_MAX	(2 * REQUESTS_MAX)
/* Hidden agents of one; a close waits for the works of ib_core once for each. */
#define HIDDEN_MAX	63
/* Those of a process on a port: ib_core charges them to nobody, and its exit waits for all. */
#define PROCESS_MAX	512

/* TIDs that have timed out, of which it is known where they were: as many as have room. */
#define LAST_BITS	15
/* Bits of the hash that tell TIDs of one place apart, and those below them of the number. */
#define TAG_BITS	8
#define OUTLET_BITS	8
/* The number of the agent itself. */
#define OWN		(HIDDEN_MAX + 1)
/* Of an agent that has no hidden ones yet: TIDs that have timed out with itself. */
#define EARLY_BITS	10

/**
 * struct hidden_agent - one of them
 * @outlet: its
 * @end: unregisters it
 */
struct hidden_agent {
	struct umad_outlet outlet;
	struct work_struct end;
};

/**
 * struct umad_hidden_set - the hidden agents of an agent
 * @n: how many; grows
 * @last: of requests that have timed out, by a hash of the lower half of the TID, in this
 *	place or the next: another part of that, and which of them had it last, counted
 *	from 1, or OWN; 0: free. Written with &umad_file.lock held
 * @hidden: they; constant
 */
struct umad_hidden_set {
	unsigned int n;
	u16 last[1 << LAST_BITS];
	struct hidden_agent hidden[HIDDEN_MAX];
};

static_assert(OWN < 1 << OUTLET_BITS);
static_assert((HIDDEN_MAX + 1) * REQUESTS_MAX <= 1 << LAST_BITS);

static struct ib_mad_agent *hidden_register(struct umad_agent *agent)
{
	struct umad_port *port = agent->file->port;
	struct umad_user *user = agent->file->user;
	struct ib_mad_agent *core = ERR_PTR(-ENOBUFS);

	if (atomic_inc_return(&user->hidden_agents) <= PROCESS_MAX)
		core = ib_register_mad_agent(port->ib_dev, port->port_num, IB_QPT_GSI, NULL, 0,
					     umad_send_handler, agent->hidden.receive, agent, 0);
	if (IS_ERR(core))
		atomic_dec(&user->hidden_agents);
	return core;
}

/* One more, which others do not wait for. Without it, all is as before. */
static struct umad_outlet *add_outlet(struct umad_agent *agent)
{
	struct umad_hidden *hidden = &agent->hidden;
	struct umad_outlet *outlet = NULL;
	struct umad_hidden_set *set;
	struct ib_mad_agent *core;

	if (test_and_set_bit_lock(0, &hidden->grows))
		return NULL;
	set = hidden->more;
	if (!set) {
		set = kvzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT);
		if (!set)
			goto out;
		/* Pairs with that of find_outlet(): it has no outlets yet. */
		smp_store_release(&hidden->more, set);
	}
	if (set->n == HIDDEN_MAX)
		goto out;
	core = hidden_register(agent);
	if (IS_ERR(core))
		goto out;
	outlet = &set->hidden[set->n].outlet;
	outlet->core = core;
	/* Pairs with that of find_outlet(): who sees the number sees the outlet. */
	smp_store_release(&set->n, set->n + 1);
out:
	clear_bit_unlock(0, &hidden->grows);
	return outlet;
}

static bool has_room(const struct umad_outlet *outlet, int max)
{
	return atomic_read(&outlet->requests) < max;
}

/* The one that has room for another request. */
static struct umad_outlet *find_room(struct umad_agent *agent, struct umad_hidden_set *set,
				     unsigned int n)
{
	struct umad_hidden *hidden = &agent->hidden;
	struct umad_outlet *outlet;
	unsigned int i;

	if (has_room(&hidden->own, REQUESTS_MAX))
		return &hidden->own;
	for (i = 0; i < n; i++)
		if (has_room(&set->hidden[i].outlet, REQUESTS_MAX))
			return &set->hidden[i].outlet;
	outlet = n < HIDDEN_MAX ? add_outlet(agent) : NULL;
	if (outlet)
		return outlet;
	/* In turn; two that take the same do no harm. */
	i = READ_ONCE(hidden->next);
	WRITE_ONCE(hidden->next, i + 1);
	i %= n + 1;
	return i < n ? &set->hidden[i].outlet : &hidden->own;
}

static u16 tag_of(u32 hash)
{
	return hash << OUTLET_BITS;
}

static bool is_of(u16 place, u32 hash)
{
	return place && !((place ^ tag_of(hash)) >> OUTLET_BITS);
}

/* Where it is remembered which outlet a TID had last, or is to be. */
static u16 *last_of(struct umad_hidden_set *set, u32 hash)
{
	unsigned int i = hash >> TAG_BITS;
	u16 *place = &set->last[i], *other = &set->last[i ^ 1];
	u16 first = READ_ONCE(*place), second = READ_ONCE(*other);

	if (is_of(second, hash) || (first && !second && !is_of(first, hash)))
		return other;
	return place;
}

static unsigned int early_place(u32 hash)
{
	return hash >> TAG_BITS & ((1 << EARLY_BITS) - 1);
}

/* 0 is free. */
static u8 early_tag(u32 hash)
{
	return hash | 1;
}

/*
 * The one that a request with this TID has waited with, and timed out, or NULL. A process
 * that has heard of it may write the request once more, and the response to the first is
 * one to the second: though others would have to go elsewhere.
 */
static struct umad_outlet *last_outlet(struct umad_hidden *hidden, struct umad_hidden_set *set,
				       unsigned int n, u32 hash)
{
	struct umad_outlet *outlet = NULL;
	unsigned int last = 0;
	u16 place;
	u8 *early;

	if (set) {
		place = READ_ONCE(*last_of(set, hash));
		last = is_of(place, hash) ? place & ((1 << OUTLET_BITS) - 1) : 0;
	}
	early = READ_ONCE(hidden->early);
	if (last && last <= n)
		outlet = &set->hidden[last - 1].outlet;
	else if (last == OWN ||
		 (early && READ_ONCE(early[early_place(hash)]) == early_tag(hash)))
		outlet = &hidden->own;
	return outlet && has_room(outlet, AGAIN_MAX) ? outlet : NULL;
}

static u32 tid_hash(__be64 tid)
{
	return hash_32(lower_32_bits(be64_to_cpu(tid)), LAST_BITS + TAG_BITS);
}

/* The one that another request is to wait with. */
static struct umad_outlet *find_outlet(struct umad_agent *agent, __be64 tid)
{
	struct umad_hidden_set *set;
	struct umad_outlet *outlet;
	unsigned int n = 0;

	/* Pair with those of add_outlet(). */
	set = smp_load_acquire(&agent->hidden.more);
	if (set)
		/* As above. */
		n = smp_load_acquire(&set->n);
	outlet = last_outlet(&agent->hidden, set, n, tid_hash(tid));
	return outlet ?: find_room(agent, set, n);
}

/*
 * Not where RMPP may ask or answer, be it done here or by the process: segments and ACKs have
 * the agent's TID. And of some classes ib_core limits what one agent sends (flow.h):
 * more agents would send more.
 */
static bool may_hide(const struct umad_agent *agent, u8 mgmt_class)
{
	return agent->qpn && !ib_is_mad_class_rmpp(mgmt_class) &&
	       !umad_mad_is_flow_controlled(mgmt_class);
}

/**
 * umad_hidden_choose() - what is a request to wait with?
 * @agent: of the request, with an active reference
 * @key: of the request, a single MAD that expects a response
 *
 * Context: process; may sleep; hold no lock.
 * Return: the outlet, umad_hidden_leave() has to follow; or NULL: the agent, without count.
 */
struct umad_outlet *umad_hidden_choose(struct umad_agent *agent, const struct umad_txn_key *key)
{
	struct umad_outlet *outlet;

	if (!may_hide(agent, key->mgmt_class))
		return NULL;
	outlet = find_outlet(agent, key->tid);
	atomic_inc(&outlet->requests);
	return outlet;
}

/* Without memory it is not remembered. */
static void note_early(struct umad_hidden *hidden, u32 hash)
{
	u8 *early = hidden->early;

	if (!early) {
		early = kzalloc(1 << EARLY_BITS, GFP_NOWAIT | __GFP_NOWARN);
		if (!early)
			return;
		/* Whoever sees it may see it without what is written next. */
		smp_store_release(&hidden->early, early);
	}
	WRITE_ONCE(early[early_place(hash)], early_tag(hash));
}

/**
 * umad_hidden_timed_out() - a request has timed out; one with its TID will wait with the same
 * @agent: of the request
 * @outlet: by umad_hidden_choose()
 * @tid: of the request
 *
 * Context: process, &umad_file.lock held; before the process can know.
 */
void umad_hidden_timed_out(struct umad_agent *agent, const struct umad_outlet *outlet, __be64 tid)
{
	struct umad_hidden *hidden = &agent->hidden;
	struct umad_hidden_set *set;
	u32 hash = tid_hash(tid);
	u16 number = OWN;

	lockdep_assert_held(&agent->file->lock);
	/* Pairs with that of add_outlet(). */
	set = smp_load_acquire(&hidden->more);
	if (!set) {
		note_early(hidden, hash);
		return;
	}
	if (outlet != &hidden->own)
		number = container_of(outlet, struct hidden_agent, outlet) - set->hidden + 1;
	WRITE_ONCE(*last_of(set, hash), tag_of(hash) | number);
}

static void end_work(struct work_struct *work)
{
	ib_unregister_mad_agent(container_of(work, struct hidden_agent, end)->outlet.core);
}

/**
 * umad_hidden_end() - unregister the hidden agents
 * @agent: nobody uses it any more, and its requests are cancelled; umad_hidden_free() has to
 *	follow
 *
 * At a time, for ib_core waits with each for all that the port has to do just then. But
 * the works of a device that has stopped may take all places of their queue: what has not
 * begun there is done here.
 * Context: process; sleeps, but never for user space; hold no lock.
 */
void umad_hidden_end(struct umad_agent *agent)
{
	struct umad_hidden_set *set = agent->hidden.more;
	unsigned int n = set ? set->n : 0, i;

	for (i = 0; i < n; i++) {
		INIT_WORK(&set->hidden[i].end, end_work);
		queue_work(umad_end_wq, &set->hidden[i].end);
	}
	for (i = n; i--;)
		if (cancel_work_sync(&set->hidden[i].end))
			ib_unregister_mad_agent(set->hidden[i].outlet.core);
	atomic_sub(n, &agent->file->user->hidden_agents);
}

/**
 * umad_hidden_free() - forget the hidden agents
 * @agent: itself unregistered, too: until then its own handler may have had a request that has
 *	waited with one of them
 *
 * Context: process; may sleep.
 */
void umad_hidden_free(struct umad_agent *agent)
{
	kfree(agent->hidden.early);
	kvfree(agent->hidden.more);
}
