// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "neigh.h"

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/xfrm.h>
#include <net/fib_notifier.h>
#include <net/ip6_route.h>
#include <net/net_namespace.h>
#include <net/netevent.h>
#include <rdma/ib_verbs.h>

/* IPv4 announces that a route goes before it does: after so long, in jiffies, it has. */
#define SETTLE		(HZ / 50 + 1)

static atomic_t changes = ATOMIC_INIT(0);
static unsigned long routes_changed_at;	/* in jiffies */
static bool hears_routes;		/* constant after umad_neigh_init() */

static int netevent(struct notifier_block *nb, unsigned long event, void *ptr)
{
	if (event == NETEVENT_NEIGH_UPDATE || event == NETEVENT_REDIRECT)
		/* A full barrier: who reads the new number finds the new neighbour. */
		atomic_inc_return(&changes);
	return NOTIFY_DONE;
}

/* The way to the host itself has no neighbour. */
static int netdevice(struct notifier_block *nb, unsigned long event, void *ptr)
{
	if (event == NETDEV_CHANGEADDR || event == NETDEV_DOWN)
		atomic_inc_return(&changes);
	return NOTIFY_DONE;
}

/* Also for each route that there is when it is registered. */
static int fib_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	WRITE_ONCE(routes_changed_at, jiffies);
	atomic_inc_return(&changes);
	return NOTIFY_DONE;
}

static struct notifier_block netevent_nb = {
	.notifier_call = netevent,
};

static struct notifier_block netdevice_nb = {
	.notifier_call = netdevice,
};

static struct notifier_block fib_nb = {
	.notifier_call = fib_event,
};

/**
 * umad_neigh_init() - begin to count
 *
 * Context: process; sleeps.
 * Return: 0 or an errno.
 */
int umad_neigh_init(void)
{
	int ret = register_netdevice_notifier(&netdevice_nb);

	if (ret)
		return ret;
	ret = register_netevent_notifier(&netevent_nb);
	if (ret) {
		unregister_netdevice_notifier(&netdevice_nb);
		return ret;
	}
	/* It fails while routes change all the time. Then every address is resolved. */
	hears_routes = !register_fib_notifier(&init_net, &fib_nb, NULL, NULL);
	return 0;
}

/**
 * umad_neigh_exit() - count no more
 *
 * Context: process; sleeps.
 */
void umad_neigh_exit(void)
{
	if (hears_routes)
		unregister_fib_notifier(&init_net, &fib_nb);
	unregister_netevent_notifier(&netevent_nb);
	unregister_netdevice_notifier(&netdevice_nb);
}

/*
 * The kernel's own numbers, of what it keeps of a lookup. These tell of nexthop objects and
 * of IPsec policies, after their change; but not of each route that goes.
 */
static unsigned int genids(void)
{
	unsigned int n = rt_genid_ipv4(&init_net);

#if IS_ENABLED(CONFIG_IPV6)
	n += rt_genid_ipv6(&init_net);
#endif
	return n;
}

/**
 * umad_neigh_changes() - how often has what a resolution finds changed?
 *
 * Context: any.
 * Return: a number to be compared; what is looked up after this is not older than it.
 */
unsigned int umad_neigh_changes(void)
{
	unsigned int kept = genids();

	/* What is read after this is no older. */
	smp_rmb();
	return kept + atomic_read_acquire(&changes);
}

/* An IPsec state may end while its policy stays, and what is under the policy is lost then. */
static bool has_policies(const struct net *net)
{
#ifdef CONFIG_XFRM
	return READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_OUT]);
#else
	return false;
#endif
}

/**
 * umad_neigh_is_settled() - does umad_neigh_changes() tell of all that changes?
 * @net: the network namespace of a resolution
 *
 * Call between umad_neigh_changes() and the resolution. Only the routes of the first network
 * namespace are heard of: to listen to those of another makes its end wait for RCU.
 * Context: any.
 * Return: false if the resolution may find a route that is on its way out, or an IPsec policy.
 */
bool umad_neigh_is_settled(const struct net *net)
{
	return hears_routes && net_eq(net, &init_net) && !has_policies(net) &&
	       time_after(jiffies, READ_ONCE(routes_changed_at) + SETTLE);
}

#if IS_ENABLED(CONFIG_IPV6)
static bool lasts(struct dst_entry *dst)
{
	const struct rt6_info *rt = container_of(dst, struct rt6_info, dst);
	const struct fib6_info *from;
	bool ret;

	rcu_read_lock();
	from = rcu_dereference(rt->from);
	ret = from && !(from->fib6_flags & RTF_EXPIRES);
	rcu_read_unlock();
	return ret;
}

/**
 * umad_neigh_route_lasts() - has the way no end that is known?
 * @ifindex: of the interface, in the first network namespace
 * @sgid: from there
 * @dgid: to there
 *
 * IPv6 routes may have a lifetime, and end without a word.
 * Context: process; does not sleep.
 * Return: true for IPv4; false if there is no way.
 */
bool umad_neigh_route_lasts(int ifindex, const union ib_gid *sgid, const union ib_gid *dgid)
{
	struct flowi6 flow = { .flowi6_oif = ifindex };
	struct dst_entry *dst;
	bool ret;

	memcpy(&flow.saddr, sgid, sizeof(flow.saddr));
	memcpy(&flow.daddr, dgid, sizeof(flow.daddr));
	if (ipv6_addr_v4mapped(&flow.daddr))
		return true;
	/* Else it has no tables. */
	if (!ipv6_mod_enabled())
		return false;
	dst = ip6_dst_lookup_flow(&init_net, NULL, &flow, NULL);
	if (IS_ERR(dst))
		return false;
	ret = lasts(dst);
	dst_release(dst);
	return ret;
}
#else
bool umad_neigh_route_lasts(int ifindex, const union ib_gid *sgid, const union ib_gid *dgid)
{
	return true;
}
#endif
