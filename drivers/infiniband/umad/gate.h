/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A gate lets sections of code in until somebody closes it, and the closer
 * wait until the last one inside has left. It fences a resource that goes
 * away under its users: the RDMA device under a port, the ib_core agent under
 * our agent. Nobody may wait for user space inside a gate.
 */
#ifndef UMAD_GATE_H
#define UMAD_GATE_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/types.h>

/**
 * struct umad_gate - counts who is inside
 * @users: sections inside, and one more while the gate is open
 * @drained: completed when @users falls to zero
 * @closed: nobody is let in any more; written once, by the closer
 */
struct umad_gate {
	refcount_t users;
	struct completion drained;
	bool closed;
};

void umad_gate_init(struct umad_gate *gate);
bool __must_check umad_gate_enter(struct umad_gate *gate);
void umad_gate_leave(struct umad_gate *gate);
void umad_gate_shut(struct umad_gate *gate);
void umad_gate_wait(struct umad_gate *gate);
bool umad_gate_is_shut(struct umad_gate *gate);

#endif /* UMAD_GATE_H */
