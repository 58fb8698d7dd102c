// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "neigh.h"

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <net/fib_notifier.h>
#include <net/net_namespace.h>
#include <net/netevent.h>

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

/**
 * umad_neigh_is_settled() - does umad_neigh_changes() tell of all that changes?
 * @net: the network namespace of a resolution
 *
 * Call between umad_neigh_changes() and the resolution. Only the routes of the first network
 * namespace are heard of: to listen to those of another makes its end wait for RCU.
 * Context: any.
 * Return: false if the resolution may find a route that is on its way out.
 */
bool umad_neigh_is_settled(const struct net *net)
{
	return hears_routes && net_eq(net, &init_net) &&
	       time_after(jiffies, READ_ONCE(routes_changed_at) + SETTLE);
}
