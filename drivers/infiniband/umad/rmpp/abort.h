/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* ABORT for those whose messages end with an agent of ours. */
#ifndef UMAD_RMPP_ABORT_H
#define UMAD_RMPP_ABORT_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

struct ib_mad_agent;
struct ib_mad_hdr;
struct umad_addr;
struct umad_agent;
struct umad_ah;
struct umad_port;

/**
 * struct umad_aborts - what a port says for agents that are gone
 * @lock: protects @agent; nothing that ib_core's workqueue waits for is done inside
 * @agent: that posts them, NULL while none is under way
 * @count: of those under way
 * @work: unregisters @agent
 */
struct umad_aborts {
	struct mutex lock; /* protects the next field */
	struct ib_mad_agent *agent;
	atomic_t count;
	struct work_struct work;
};

void umad_rmpp_abort_init(struct umad_port *port);
void umad_rmpp_abort_destroy(struct umad_port *port);
void umad_rmpp_post_abort(struct umad_agent *agent, const struct umad_addr *to,
			  struct umad_ah *ah, const struct ib_mad_hdr *head, bool lone);

#endif /* UMAD_RMPP_ABORT_H */
