// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "neigh.h"

#include <linux/atomic.h>
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

static struct notifier_block netevent_nb = {
	.notifier_call = netevent,
};

/**
 * umad_neigh_init() - begin to count
 *
 * Context: process; sleeps.
 */
void umad_neigh_init(void)
{
	register_netevent_notifier(&netevent_nb);
}

/**
 * umad_neigh_exit() - count no more
 *
 * Context: process; sleeps.
 */
void umad_neigh_exit(void)
{
	unregister_netevent_notifier(&netevent_nb);
}

/**
 * umad_neigh_changes() - how often have neighbours changed?
 *
 * Context: any.
 * Return: a number to be compared; what is looked up after this is not older than it.
 */
unsigned int umad_neigh_changes(void)
{
	return atomic_read_acquire(&changes);
}
