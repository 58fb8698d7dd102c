// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "ah.h"

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include "addr.h"
#include "agent.h"
#include "dmac_cache.h"
#include "file.h"
#include "neigh.h"
#include "port.h"
#include "user.h"

/*
 * The resolution of an address makes a process sleep that writes on and on, so that others
 * have their turn. What was resolved before is for one that has not written so long, in
 * ns: also as others had the processor meanwhile.
 */
#define PAUSE		(50 * NSEC_PER_USEC)

/* So long a handle is used again, in jiffies. */
#define KEEP		HZ

/**
 * struct umad_ah - a shared address handle
 * @refs: the request's own, one for each posted MAD, and that of &umad_agent.kept_ah
 * @ah: the verbs object
 * @lid: it goes there, as have the next two what it was made with; constant
 * @sl: service level
 * @path_bits: of the source's LID
 * @made_at: and when, in jiffies; constant
 */
struct umad_ah {
	refcount_t refs;
	__be16 lid;
	u8 sl;
	u8 path_bits;
	struct ib_ah *ah;
	unsigned long made_at;
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
 * Context: process; sleeps until fewer threads of the process are, killable.
 * Return: 0, umad_ah_leave() has to follow; -EINTR.
 */
int umad_ah_enter(struct umad_file *file)
{
	struct umad_resolver *resolver = resolver_of(file);

	return resolver ? down_killable(&resolver->threads) : 0;
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
	if (!IS_ERR(ndev)) {
		key->ifindex = ndev->ifindex;
		key->net = (unsigned long)dev_net(ndev);
	}
	rcu_read_unlock();
	return key->ifindex;
}

/*
 * Only the result of a resolution is kept, and no handle: that would keep the GID in
 * its place in the table, when ib_core wants to make it again.
 */
static struct ib_ah *create_resolved(struct umad_file *file, struct ib_pd *pd,
				     struct rdma_ah_attr *attr,
				     const struct ib_gid_attr *sgid, bool writer)
{
	struct ib_global_route *grh = rdma_ah_retrieve_grh(attr);
	unsigned int changes = umad_neigh_changes();
	struct umad_port *port = file->port;
	ktime_t now = ktime_get();
	struct umad_dmac_key key;
	struct umad_dmac dmac;
	struct ib_ah *verbs;

	grh->sgid_attr = sgid;
	if (!get_key(&key, attr, sgid))
		return rdma_create_user_ah(pd, attr, NULL);
	if ((!writer || had_pause(file, now)) &&
	    umad_dmac_find(port->dmacs, &key, changes, now, &dmac)) {
		memcpy(attr->roce.dmac, dmac.mac, sizeof(dmac.mac));
		grh->hop_limit = dmac.hop_limit;
		verbs = rdma_create_ah(pd, attr, RDMA_CREATE_AH_SLEEPABLE);
		if (!IS_ERR(verbs))
			umad_stat_inc(&port->stats, UMAD_STAT_SEND_RESOLVED_BEFORE);
		return verbs;
	}
	verbs = rdma_create_user_ah(pd, attr, NULL);
	if (writer && !IS_ERR(verbs)) {
		memcpy(dmac.mac, attr->roce.dmac, sizeof(dmac.mac));
		dmac.hop_limit = grh->hop_limit;
		umad_dmac_store(port->dmacs, &key, changes, now, &dmac);
	}
	return verbs;
}

static struct ib_ah *create_verbs(struct umad_file *file, struct ib_pd *pd,
				  const struct umad_addr *addr, bool writer)
{
	struct umad_port *port = file->port;
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
	verbs = create_resolved(file, pd, &attr, sgid, writer);
	rdma_put_gid_attr(sgid);
	return verbs;
}

/*
 * One without a GRH is made of LID, SL and path bits, which stand in the MAD's packet as
 * they are: it keeps no GID in its place, and no neighbour changes it. But devices look up
 * what belongs to the SL then, which the SM may change.
 */
static bool may_keep(const struct umad_port *port, const struct umad_addr *addr)
{
	return !port->roce && !addr->grh;
}

/* For what goes to one destination on and on; with a reference, or NULL. */
static struct umad_ah *get_kept(struct umad_agent *agent, const struct umad_addr *addr)
{
	struct umad_ah *ah;

	spin_lock(&agent->file->lock);
	ah = agent->kept_ah;
	if (ah && ah->lid == addr->lid && ah->sl == addr->sl &&
	    ah->path_bits == addr->path_bits &&
	    time_in_range(jiffies, ah->made_at, ah->made_at + KEEP))
		umad_ah_get(ah);
	else
		ah = NULL;
	spin_unlock(&agent->file->lock);
	return ah;
}

static void keep(struct umad_agent *agent, struct umad_ah *ah)
{
	umad_ah_get(ah);
	spin_lock(&agent->file->lock);
	swap(agent->kept_ah, ah);
	spin_unlock(&agent->file->lock);
	if (ah)
		umad_ah_put(ah);
}

/**
 * umad_ah_forget_kept() - an agent sends nothing any more
 * @agent: shut, without active references, registered still
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_ah_forget_kept(struct umad_agent *agent)
{
	if (agent->kept_ah)
		umad_ah_put(agent->kept_ah);
	agent->kept_ah = NULL;
}

/**
 * umad_ah_create() - the handle for an address
 * @agent: caller must hold an active reference
 * @addr: the address
 * @writer: by umad_ah_enter(): what was found within the last second is good enough only
 *	if the process has paused; what packets of others ask for is not remembered
 *
 * On RoCE this resolves the GID, and a neighbour that does not answer takes
 * about a second: hold no lock. On InfiniBand that of the agent's last write may do.
 * Context: process; sleeps. The RDMA device stays until umad_ah_put().
 * Return: the handle with one reference, or what ib_core and the driver have
 * against the address: -ENODATA for a GID index without GID, -EINVAL for an
 * address without GRH on RoCE, -ENETUNREACH, -ETIMEDOUT, -ENOMEM.
 */
struct umad_ah *umad_ah_create(struct umad_agent *agent,
			       const struct umad_addr *addr, bool writer)
{
	bool may = may_keep(agent->file->port, addr);
	struct umad_ah *ah;
	struct ib_ah *verbs;

	ah = may ? get_kept(agent, addr) : NULL;
	if (ah)
		return ah;
	ah = kmalloc(sizeof(*ah), GFP_KERNEL_ACCOUNT);
	if (!ah)
		return ERR_PTR(-ENOMEM);

	verbs = create_verbs(agent->file, agent->core->qp->pd, addr, writer);
	if (IS_ERR(verbs)) {
		kfree(ah);
		return ERR_CAST(verbs);
	}
	refcount_set(&ah->refs, 1);
	ah->ah = verbs;
	ah->lid = addr->lid;
	ah->sl = addr->sl;
	ah->path_bits = addr->path_bits;
	ah->made_at = jiffies;
	if (may && writer)
		keep(agent, ah);
	return ah;
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
