/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Active references, as kernfs and percpu_ref have them: a reference that lasts as
 * long as the object is usable, not as long as its memory. They protect what goes away
 * under its users: the RDMA device under a port, the ib_core agent under our agent.
 * Never wait for user space with an active reference.
 */
#ifndef UMAD_ACTIVE_REF_H
#define UMAD_ACTIVE_REF_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/types.h>

/**
 * struct umad_active_ref - counts the active references to an object
 * @refs: those that are held, and one more until umad_active_ref_kill()
 * @drained: completed when @refs falls to zero
 * @killed: there are no new ones; written once
 */
struct umad_active_ref {
	refcount_t refs;
	struct completion drained;
	bool killed;
};

void umad_active_ref_init(struct umad_active_ref *active_ref);
bool __must_check umad_active_ref_tryget(struct umad_active_ref *active_ref);
void umad_active_ref_put(struct umad_active_ref *active_ref);
void umad_active_ref_kill(struct umad_active_ref *active_ref);
void umad_active_ref_drain(struct umad_active_ref *active_ref);
bool umad_active_ref_is_dead(struct umad_active_ref *active_ref);

#endif /* UMAD_ACTIVE_REF_H */
