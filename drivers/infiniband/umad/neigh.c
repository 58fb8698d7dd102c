// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "neigh.h"

#include <linux/atomic.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <net/netevent.h>

static atomic_t changes = ATOMIC_INIT(0);

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

static struct notifier_block netevent_nb = {
	.notifier_call = netevent,
};

static struct notifier_block netdevice_nb = {
	.notifier_call = netdevice,
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
	if (ret)
		unregister_netdevice_notifier(&netdevice_nb);
	return ret;
}

/**
 * umad_neigh_exit() - count no more
 *
 * Context: process; sleeps.
 */
void umad_neigh_exit(void)
{
	unregister_netevent_notifier(&netevent_nb);
	unregister_netdevice_notifier(&netdevice_nb);
}

/**
 * umad_neigh_changes() - how often has what a resolution finds changed?
 *
 * Context: any.
 * Return: a number to be compared; what is looked up after this is not older than it.
 */
unsigned int umad_neigh_changes(void)
{
	return atomic_read_acquire(&changes);
}
