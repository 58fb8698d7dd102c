// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "port.h"

#include <linux/minmax.h>
#include <linux/nodemask.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include "deadlines.h"
#include "dmac_cache.h"
#include "queues.h"
#include "umad_export.h"

/*
 * From 6.9 on the nodes of a NUMA host share the number: where more is not allowed, works
 * of one node may wait for each other there.
 */
static int addr_works(void)
{
	return min_t(int, WQ_MAX_ACTIVE, num_possible_nodes() * (UMAD_RMPP_ADDR_WORKS +
		     UMAD_RMPP_ADDR_FIRST + UMAD_RMPP_ADDR_REJECTS));
}

/**
 * umad_port_queues_init() - make a port's workqueues
 * @port: new, its @index and @roce are known; its release destroys them
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int umad_port_queues_init(struct umad_port *port)
{
	char name[sizeof("ib_umad") + 11];

	port->addr_wq = alloc_workqueue("ib_umad_addr%d", WQ_UNBOUND, addr_works(),
					port->index);
	if (!port->addr_wq)
		return -ENOMEM;
	port->deadline_pool = umad_ib_deadlines;
	if (port->roce) {
		snprintf(name, sizeof(name), "ib_umad%d", port->index);
		port->deadline_pool = umad_deadline_pool_create(name);
	}
	if (!port->deadline_pool) {
		destroy_workqueue(port->addr_wq);
		return -ENOMEM;
	}
	umad_turn_init(&port->deadline_turn, &port->deadline_pool->root);
	return 0;
}

static void port_release(struct kref *kref)
{
	struct umad_port *port = container_of(kref, struct umad_port, kref);

	umad_pace_destroy(&port->pace);
	umad_sched_destroy(&port->sched);
	umad_dmac_cache_free(port->dmacs);
	destroy_workqueue(port->addr_wq);
	if (port->deadline_pool != umad_ib_deadlines)
		umad_deadline_pool_destroy(port->deadline_pool);
	umad_stats_destroy(&port->stats);
	kfree(port);
}

/**
 * umad_port_get() - take a reference
 * @port: to be kept
 *
 * Context: any.
 */
void umad_port_get(struct umad_port *port)
{
	kref_get(&port->kref);
}

/**
 * umad_port_put() - drop a reference
 * @port: consumed
 *
 * Context: process, but no work of the port's; sleeps with the last one.
 */
void umad_port_put(struct umad_port *port)
{
	kref_put(&port->kref, port_release);
}
EXPORT_SYMBOL_IF_KUNIT(umad_port_put);

/**
 * umad_port_get_name() - what is the RDMA device called now?
 * @port: of it
 * @name: set, ends with a NUL
 * @size: bytes of that
 *
 * `rdma dev set NAME name` changes it.
 * Context: process; does not sleep.
 */
void umad_port_get_name(struct umad_port *port, char *name, size_t size)
{
	spin_lock(&port->name_lock);
	strscpy(name, port->ib_dev_name, size);
	spin_unlock(&port->name_lock);
}
