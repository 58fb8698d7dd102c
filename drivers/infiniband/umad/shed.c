// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "shed.h"

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/sched.h>
#include "file.h"
#include "pagebuf.h"
#include "port.h"
#include "reclaim.h"
#include "rmpp/shed.h"
#include "rxq.h"
#include "unread.h"

static size_t shed_unread(struct umad_file *file, size_t bytes, struct umad_gone *gone)
{
	unsigned int n;
	size_t freed = umad_rxq_shed(&file->rxq, bytes, &gone->entries, &n);

	while (n--)
		umad_stat_inc(&file->port->stats, UMAD_STAT_RECV_SHED);
	if (freed)
		umad_unread_settle(file);
	return freed;
}

static size_t shed(struct umad_file *file, size_t bytes, enum umad_shed what,
		   struct umad_gone *gone)
{
	switch (what) {
	case UMAD_SHED_UNREAD:
		return shed_unread(file, bytes, gone);
	case UMAD_SHED_SILENT:
	case UMAD_SHED_SENT:
		return umad_rmpp_shed_sent(file, bytes, what == UMAD_SHED_SILENT, gone);
	default:
		return umad_rmpp_shed(file, bytes, what, gone);
	}
}

/* With what is unread and may not go. */
static size_t size(const struct umad_file *file, enum umad_shed what)
{
	if (what == UMAD_SHED_UNREAD)
		return umad_rxq_charged(&file->rxq);
	return umad_rmpp_size(file, what);
}

static void free_gone(struct umad_gone *gone)
{
	struct umad_rx_entry *entry, *next_entry;
	struct umad_pagebuf *buf, *next;

	list_for_each_entry_safe(entry, next_entry, &gone->entries, node) {
		entry->ops->release(NULL, entry, true);
		cond_resched();
	}
	llist_for_each_entry_safe(buf, next, llist_del_all(&gone->bufs), free_node)
		umad_pagebuf_free(buf);
}

static const struct umad_reclaim_ops reclaim_ops = {
	.size = size,
	.shed = shed,
	.free = free_gone,
};

/**
 * umad_shed_init() - before the first file is opened
 *
 * Context: process; sleeps.
 * Return: 0 or -ENOMEM; umad_reclaim_exit() ends it.
 */
int umad_shed_init(void)
{
	return umad_reclaim_init(&reclaim_ops);
}
