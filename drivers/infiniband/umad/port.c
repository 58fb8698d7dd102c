// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "port.h"

#include <linux/slab.h>
#include <linux/workqueue.h>
#include "dmac_cache.h"
#include "umad_export.h"

static void port_release(struct kref *kref)
{
	struct umad_port *port = container_of(kref, struct umad_port, kref);

	umad_pace_destroy(&port->pace);
	umad_sched_destroy(&port->sched);
	umad_dmac_cache_free(port->dmacs);
	destroy_workqueue(port->deadline_wq);
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
