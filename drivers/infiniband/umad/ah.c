// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "ah.h"

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/llist.h>
#include <linux/netdevice.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include "addr.h"
#include "agent.h"
#include "charge.h"
#include "dmac_cache.h"
#include "file.h"
#include "kept_ah.h"
#include "neigh.h"
#include "port.h"
#include "queues.h"
#include "user.h"

/*
 * The resolution of an address makes a process sleep that writes on and on, so that others
 * have their turn. What was resolved before is for one that has not written so long, in
 * ns: also as others had the processor meanwhile.
 */
#define PAUSE		(50 * NSEC_PER_USEC)

/*
 * So long a handle is used again, in jiffies: devices look up what belongs to the SL, or to a
 * link of a bond, when it is made.
 */
#define KEEP		HZ

/**
 * struct umad_ah - a shared address handle
 * @refs: of each request that has it, each posted MAD, and &umad_agent.kept_ah
 * @ah: the verbs object
 * @requests: on RoCE, so many have it; protected by &umad_file.lock
 * @gone_node: without references, in @gone
 * @gone_agent: that has it still, by an active reference
 */
struct umad_ah {
	refcount_t refs;
	unsigned int requests;
	struct ib_ah *ah;
	struct llist_node gone_node;
	struct umad_agent *gone_agent;
};

/* Of umad_ah_put_later(). */
static LLIST_HEAD(gone);

/**
 * struct making - of a handle
 * @agent: that it is for
 * @addr: where it goes
 * @writer: as of umad_ah_create()
 * @kept: what it is made of, and when; on RoCE with what was resolved
 * @keep: other requests may use it, and @kept is all set
 * @shared: it is the same as this one, of which it has a reference; or NULL
 */
struct making {
	struct umad_agent *agent;
	const struct umad_addr *addr;
	bool writer;
	struct umad_kept_ah kept;
	bool keep;
	struct umad_ah *shared;
};

/*
 * Who writes; NULL: no address is to be resolved. One that was given the file by another
 * is held up by none but those that write to the same file.
 */
static struct umad_resolver *resolver_of(struct umad_file *file)
{
	if (!file->port->roce)
		return NULL;
	return task_tgid(current) == file->user->pid ? &file->user->resolver :
						       &file->guests;
}

/**
 * umad_ah_enter() - a write begins that may resolve an address
 * @file: that it is for; without an active reference, as others of its process may be
 *	resolving for long
 *
 * A process with many such threads has to be stopped, and frozen, no later than one that resolves
 * a single address, and its writes go on then: in-tree no signal ends one. Those of io_uring's
 * threads are not begun again.
 * Context: process; sleeps until fewer threads of the process are.
 * Return: 0, umad_ah_leave() has to follow; -ERESTARTNOINTR or -EINTR, nothing has been done yet.
 */
int umad_ah_enter(struct umad_file *file)
{
	struct umad_resolver *resolver = resolver_of(file);

	if (!resolver)
		return 0;
	if (current->flags & PF_IO_WORKER)
		return down_killable(&resolver->threads);
	return down_interruptible(&resolver->threads) ? -ERESTARTNOINTR : 0;
}

/**
 * umad_ah_leave() - undo umad_ah_enter()
 * @file: the same
 */
void umad_ah_leave(struct umad_file *file)
{
	struct umad_resolver *resolver = resolver_of(file);

	if (!resolver)
		return;
	atomic64_set(&resolver->paused_since, ktime_get_ns());
	up(&resolver->threads);
}

static bool had_pause(struct umad_file *file, ktime_t now)
{
	const struct umad_resolver *resolver = resolver_of(file);

	return resolver && ktime_to_ns(now) - atomic64_read(&resolver->paused_since) >= PAUSE;
}

/* ib_core looks nothing up for such a one, and leaves the hop limit as it was written. */
static bool needs_no_route(const union ib_gid *dgid, const struct ib_gid_attr *sgid)
{
	struct in6_addr *addr = (struct in6_addr *)dgid->raw;

	return rdma_is_multicast_addr(addr) ||
	       (rdma_link_local_addr(addr) && sgid->gid_type == IB_GID_TYPE_ROCE);
}

/* False: what is resolved is not to be remembered. */
static bool get_key(struct umad_dmac_key *key, const struct rdma_ah_attr *attr,
		    const struct ib_gid_attr *sgid)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	struct net_device *ndev;

	/* By its flow label ib_core chooses a link of several, but not when it resolves. */
	if (grh->flow_label || needs_no_route(&grh->dgid, sgid))
		return false;
	memcpy(key->sgid, &sgid->gid, sizeof(key->sgid));
	memcpy(key->dgid, &grh->dgid, sizeof(key->dgid));
	key->gid_type = sgid->gid_type;
	key->ifindex = 0;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	/* Without a carrier, IPv6 may begin to ignore its routes, and says nothing then. */
	if (!IS_ERR(ndev) && netif_carrier_ok(ndev) && umad_neigh_is_settled(dev_net(ndev))) {
		key->ifindex = ndev->ifindex;
		key->net = (unsigned long)dev_net(ndev);
	}
	rcu_read_unlock();
	return key->ifindex;
}

/* It is for other requests to that place, too: whatever their queue pair and P_Key. */
static void let_keep(struct making *making)
{
	making->kept.addr = *making->addr;
	making->kept.addr.qpn = 0;
	making->kept.addr.pkey_index = 0;
	making->keep = true;
}

static bool is_same(const struct umad_kept_ah *kept, const struct umad_kept_ah *wanted)
{
	return kept && kept->ah && kept->changes == wanted->changes &&
	       time_in_range(wanted->made_at, kept->made_at, kept->made_at + KEEP) &&
	       !memcmp(&kept->addr, &wanted->addr, sizeof(kept->addr)) &&
	       !memcmp(&kept->dmac, &wanted->dmac, sizeof(kept->dmac));
}

/* On InfiniBand, for what goes to one destination on and on; with a reference, or NULL. */
static struct umad_ah *get_kept_of_lid(struct umad_agent *agent, const struct umad_addr *addr)
{
	const struct umad_kept_ah *kept;
	struct umad_ah *ah = NULL;

	spin_lock(&agent->file->lock);
	kept = agent->kept_ah;
	if (kept && kept->addr.lid == addr->lid && kept->addr.sl == addr->sl &&
	    kept->addr.path_bits == addr->path_bits &&
	    time_in_range(jiffies, kept->made_at, kept->made_at + KEEP)) {
		ah = kept->ah;
		umad_ah_get(ah);
	}
	spin_unlock(&agent->file->lock);
	return ah;
}

/* The same on RoCE. */
static struct umad_ah *get_kept(struct umad_agent *agent, const struct umad_kept_ah *wanted,
				const struct ib_gid_attr *sgid)
{
	const struct umad_kept_ah *kept;
	struct umad_ah *ah = NULL;

	spin_lock(&agent->file->lock);
	kept = agent->kept_ah;
	if (is_same(kept, wanted) && kept->ah->ah->sgid_attr == sgid) {
		ah = kept->ah;
		umad_ah_get(ah);
		ah->requests++;
	}
	spin_unlock(&agent->file->lock);
	return ah;
}

/* True if the handle need not be made: another request of the agent has the same. */
static bool is_shared(struct making *making, const struct ib_gid_attr *sgid)
{
	if (making->writer) {
		let_keep(making);
		making->shared = get_kept(making->agent, &making->kept, sgid);
	}
	return making->shared;
}

/* As it was resolved before. NULL: is_shared(), here and below. */
static struct ib_ah *create_found(struct making *making, struct ib_pd *pd,
				  struct rdma_ah_attr *attr, const struct ib_gid_attr *sgid)
{
	const struct umad_dmac *dmac = &making->kept.dmac;
	struct ib_ah *verbs = NULL;

	if (!is_shared(making, sgid)) {
		memcpy(attr->roce.dmac, dmac->mac, sizeof(dmac->mac));
		rdma_ah_retrieve_grh(attr)->hop_limit = dmac->hop_limit;
		verbs = rdma_create_ah(pd, attr, RDMA_CREATE_AH_SLEEPABLE);
	}
	if (!IS_ERR(verbs))
		umad_stat_inc(&making->agent->file->port->stats,
			      UMAD_STAT_SEND_RESOLVED_BEFORE);
	return verbs;
}

/*
 * No handle is kept that no request has: it would keep the GID in its place in the
 * table, when ib_core wants to make it again.
 */
static struct ib_ah *create_resolved(struct making *making, struct ib_pd *pd,
				     struct rdma_ah_attr *attr,
				     const struct ib_gid_attr *sgid)
{
	struct umad_port *port = making->agent->file->port;
	struct ib_global_route *grh = rdma_ah_retrieve_grh(attr);
	unsigned int changes = umad_neigh_changes();
	struct umad_dmac *dmac = &making->kept.dmac;
	ktime_t now = ktime_get();
	struct umad_dmac_key key;
	struct ib_ah *verbs;
	bool known;

	grh->sgid_attr = sgid;
	if (!get_key(&key, attr, sgid))
		return rdma_create_user_ah(pd, attr, NULL);
	making->kept.changes = changes;
	known = umad_dmac_find(port->dmacs, &key, changes, now, dmac);
	if (known && (!making->writer || had_pause(making->agent->file, now)))
		return create_found(making, pd, attr, sgid);
	verbs = rdma_create_user_ah(pd, attr, NULL);
	if (!making->writer || IS_ERR(verbs))
		return verbs;
	memcpy(dmac->mac, attr->roce.dmac, sizeof(dmac->mac));
	dmac->hop_limit = grh->hop_limit;
	/* What is known has been looked at within the last second. */
	if (!known && umad_neigh_route_lasts(key.ifindex, &sgid->gid, &grh->dgid))
		umad_dmac_store(port->dmacs, &key, changes, now, dmac);
	if (!is_shared(making, sgid))
		return verbs;
	/* There may be as many requests as the device has handles. */
	rdma_destroy_ah(verbs, RDMA_DESTROY_AH_SLEEPABLE);
	return NULL;
}

static struct ib_ah *create_verbs(struct making *making)
{
	const struct umad_addr *addr = making->addr;
	struct umad_agent *agent = making->agent;
	struct umad_port *port = agent->file->port;
	struct ib_pd *pd = agent->core->qp->pd;
	const struct ib_gid_attr *sgid;
	struct rdma_ah_attr attr;
	struct ib_ah *verbs;

	umad_addr_to_ah_attr(addr, rdma_ah_find_type(pd->device, port->port_num),
			     port->port_num, &attr);
	if (!port->dmacs || attr.type != RDMA_AH_ATTR_TYPE_ROCE || !addr->grh)
		return rdma_create_user_ah(pd, &attr, NULL);
	sgid = rdma_get_gid_attr(pd->device, port->port_num, addr->gid_index);
	if (IS_ERR(sgid))
		/* It says what is wrong. */
		return rdma_create_user_ah(pd, &attr, NULL);
	verbs = create_resolved(making, pd, &attr, sgid);
	rdma_put_gid_attr(sgid);
	return verbs;
}

/*
 * One without a GRH is made of LID, SL and path bits, which stand in the MAD's packet as
 * they are: it keeps no GID in its place, and no neighbour changes it.
 */
static bool may_keep(const struct umad_port *port, const struct umad_addr *addr)
{
	return !port->roce && !addr->grh;
}

/* Without memory it is not. */
static void keep(const struct making *making, struct umad_ah *ah)
{
	struct umad_agent *agent = making->agent;
	struct umad_kept_ah *kept, *fresh = NULL;
	struct umad_ah *last = NULL;

	if (!READ_ONCE(agent->kept_ah))
		fresh = kzalloc(sizeof(*fresh), UMAD_GFP_WRITE);
	spin_lock(&agent->file->lock);
	if (!agent->kept_ah)
		swap(agent->kept_ah, fresh);
	kept = agent->kept_ah;
	if (kept) {
		last = kept->ah;
		*kept = making->kept;
		umad_ah_get(ah);
		kept->ah = ah;
	}
	spin_unlock(&agent->file->lock);
	kfree(fresh);
	if (last)
		umad_ah_put(last);
}

/* On RoCE, if no request has it any more. */
static void keep_no_more(struct umad_agent *agent, struct umad_ah *ah)
{
	struct umad_ah *last = NULL;

	spin_lock(&agent->file->lock);
	if (!--ah->requests && agent->kept_ah && agent->kept_ah->ah == ah)
		swap(agent->kept_ah->ah, last);
	spin_unlock(&agent->file->lock);
	if (last)
		umad_ah_put(last);
}

/**
 * umad_ah_forget_kept() - an agent sends nothing any more
 * @agent: shut, without active references, registered still
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_ah_forget_kept(struct umad_agent *agent)
{
	struct umad_kept_ah *kept = NULL;

	spin_lock(&agent->file->lock);
	swap(agent->kept_ah, kept);
	spin_unlock(&agent->file->lock);
	if (kept && kept->ah)
		umad_ah_put(kept->ah);
	kfree(kept);
}

static struct umad_ah *create(struct umad_agent *agent, const struct umad_addr *addr,
			      bool writer, bool may)
{
	struct making making = {
		.agent = agent, .addr = addr, .writer = writer, .kept.made_at = jiffies,
	};
	struct ib_ah *verbs;
	struct umad_ah *ah;

	ah = kmalloc(sizeof(*ah), UMAD_GFP_WRITE);
	if (!ah)
		return ERR_PTR(-ENOMEM);

	verbs = create_verbs(&making);
	if (IS_ERR_OR_NULL(verbs)) {
		kfree(ah);
		return verbs ? ERR_CAST(verbs) : making.shared;
	}
	refcount_set(&ah->refs, 1);
	ah->ah = verbs;
	ah->requests = writer;
	if (may && writer)
		let_keep(&making);
	if (making.keep)
		keep(&making, ah);
	return ah;
}

/**
 * umad_ah_create() - the handle for an address
 * @agent: caller must hold an active reference
 * @addr: the address
 * @writer: by umad_ah_enter(): what was found within the last second is good enough only
 *	if the process has paused; what packets of others ask for is not remembered
 *
 * On RoCE this resolves the GID, and a neighbour that does not answer takes
 * about a second: hold no lock. That of the agent's last write may do, on RoCE while one
 * of its requests has it.
 * Context: process; sleeps. The RDMA device stays until umad_ah_put().
 * Return: the handle with one reference, or what ib_core and the driver have
 * against the address: -ENODATA for a GID index without GID, -EINVAL for an
 * address without GRH on RoCE, -ENETUNREACH, -ETIMEDOUT, -ENOMEM.
 */
struct umad_ah *umad_ah_create(struct umad_agent *agent,
			       const struct umad_addr *addr, bool writer)
{
	bool may = may_keep(agent->file->port, addr);
	struct umad_ah *ah = may ? get_kept_of_lid(agent, addr) : NULL;

	return ah ?: create(agent, addr, writer, may);
}

/**
 * umad_ah_get() - take a reference
 * @ah: to be kept
 *
 * Context: any.
 */
void umad_ah_get(struct umad_ah *ah)
{
	refcount_inc(&ah->refs);
}

/**
 * umad_ah_put() - drop a reference
 * @ah: consumed
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_ah_put(struct umad_ah *ah)
{
	if (!refcount_dec_and_test(&ah->refs))
		return;
	rdma_destroy_ah(ah->ah, RDMA_DESTROY_AH_SLEEPABLE);
	kfree(ah);
}

static void gone_work(struct work_struct *work)
{
	struct umad_ah *ah, *next;

	llist_for_each_entry_safe(ah, next, llist_del_all(&gone), gone_node) {
		struct umad_agent *agent = ah->gone_agent;

		rdma_destroy_ah(ah->ah, RDMA_DESTROY_AH_SLEEPABLE);
		kfree(ah);
		umad_agent_leave(agent);
	}
}

static DECLARE_WORK(ah_work, gone_work);

/**
 * umad_ah_put_later() - drop a reference, where nothing may sleep
 * @ah: consumed
 * @agent: that has it; an active reference is consumed
 *
 * Context: process; does not sleep.
 */
void umad_ah_put_later(struct umad_ah *ah, struct umad_agent *agent)
{
	if (!refcount_dec_and_test(&ah->refs)) {
		umad_agent_leave(agent);
		return;
	}
	ah->gone_agent = agent;
	if (llist_add(&ah->gone_node, &gone))
		queue_work(umad_timer_wq, &ah_work);
}

/**
 * umad_ah_put_request() - a request that has one has ended
 * @agent: whose request it is; not freed yet
 * @ah: what umad_ah_create() made for it as a writer; a reference is consumed
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_ah_put_request(struct umad_agent *agent, struct umad_ah *ah)
{
	/* On InfiniBand it is kept longer: see may_keep(). */
	if (agent->file->port->roce)
		keep_no_more(agent, ah);
	umad_ah_put(ah);
}

/**
 * umad_ah_verbs() - what ib_core takes
 * @ah: a reference is held
 *
 * Context: any.
 * Return: the verbs object, valid as long as the reference.
 */
struct ib_ah *umad_ah_verbs(struct umad_ah *ah)
{
	return ah->ah;
}
