// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "hidden.h"

#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include "agent.h"
#include "file.h"
#include "hdr.h"
#include "port.h"
#include "post.h"
#include "user.h"

/* So many requests wait with one, before there is another. */
#define REQUESTS_MAX	512
/* Hidden agents of one; a close waits for the works of ib_core once for each. */
#define HIDDEN_MAX	63
/* Those of a process: ib_core charges them to nobody, and its exit waits for all. */
#define PROCESS_MAX	512

/**
 * struct umad_hidden_set - the hidden agents of an agent
 * @n: how many; grows
 * @outlet: they; constant
 */
struct umad_hidden_set {
	unsigned int n;
	struct umad_outlet outlet[HIDDEN_MAX];
};

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
		set = kzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT);
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
	outlet = &set->outlet[set->n];
	outlet->core = core;
	/* Pairs with that of find_outlet(): who sees the number sees the outlet. */
	smp_store_release(&set->n, set->n + 1);
out:
	clear_bit_unlock(0, &hidden->grows);
	return outlet;
}

static bool is_full(const struct umad_outlet *outlet)
{
	return atomic_read(&outlet->requests) >= REQUESTS_MAX;
}

/* The one that another request is to wait with. */
static struct umad_outlet *find_outlet(struct umad_agent *agent)
{
	struct umad_hidden *hidden = &agent->hidden;
	struct umad_hidden_set *set;
	struct umad_outlet *outlet;
	unsigned int i, n;

	if (!is_full(&hidden->own))
		return &hidden->own;
	/* Pair with those of add_outlet(). */
	set = smp_load_acquire(&hidden->more);
	/* As above. */
	n = set ? smp_load_acquire(&set->n) : 0;
	for (i = 0; i < n; i++)
		if (!is_full(&set->outlet[i]))
			return &set->outlet[i];
	outlet = n < HIDDEN_MAX ? add_outlet(agent) : NULL;
	if (outlet)
		return outlet;
	/* In turn; two that take the same do no harm. */
	i = READ_ONCE(hidden->next);
	WRITE_ONCE(hidden->next, i + 1);
	i %= n + 1;
	return i < n ? &set->outlet[i] : &hidden->own;
}

/*
 * Not where RMPP may answer: its ACKs have the agent's TID. And of some classes ib_core
 * limits what one agent sends (flow.h): more agents would send more.
 */
static bool may_hide(const struct umad_agent *agent, u8 mgmt_class)
{
	return !agent->rmpp && agent->qpn && !umad_mad_is_flow_controlled(mgmt_class);
}

/**
 * umad_hidden_choose() - what is a request to wait with?
 * @agent: of the request, with an active reference
 * @mgmt_class: of the request, a single MAD that expects a response
 *
 * Context: process; may sleep; hold no lock.
 * Return: the outlet, umad_hidden_leave() has to follow; or NULL: the agent, without count.
 */
struct umad_outlet *umad_hidden_choose(struct umad_agent *agent, u8 mgmt_class)
{
	struct umad_outlet *outlet;

	if (!may_hide(agent, mgmt_class))
		return NULL;
	outlet = find_outlet(agent);
	atomic_inc(&outlet->requests);
	return outlet;
}

/**
 * umad_hidden_destroy() - unregister the hidden agents
 * @agent: nobody uses it any more, and its requests are cancelled
 *
 * Context: process; sleeps, but never for user space; hold no lock.
 */
void umad_hidden_destroy(struct umad_agent *agent)
{
	struct umad_hidden_set *set = agent->hidden.more;
	unsigned int i;

	if (!set)
		return;
	for (i = 0; i < set->n; i++)
		ib_unregister_mad_agent(set->outlet[i].core);
	atomic_sub(set->n, &agent->file->user->hidden_agents);
	kfree(set);
}
