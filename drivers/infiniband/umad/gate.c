// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "gate.h"

#include <kunit/visibility.h>

/**
 * umad_gate_init() - open a gate
 * @gate: to be opened
 *
 * Context: any.
 */
void umad_gate_init(struct umad_gate *gate)
{
	refcount_set(&gate->users, 1);
	init_completion(&gate->drained);
	gate->closed = false;
}
EXPORT_SYMBOL_IF_KUNIT(umad_gate_init);

/**
 * umad_gate_enter() - begin a section
 * @gate: that fences the resource
 *
 * Context: any; does not sleep.
 * Return: true when inside: call umad_gate_leave(); false when it is closed.
 */
bool umad_gate_enter(struct umad_gate *gate)
{
	if (!refcount_inc_not_zero(&gate->users))
		return false;
	/*
	 * Pairs with umad_gate_shut(). Missing a flag set just now is
	 * harmless, the closer waits for us; seeing it in time keeps a stream
	 * of sections from making the closer wait without end.
	 */
	if (READ_ONCE(gate->closed)) {
		umad_gate_leave(gate);
		return false;
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(umad_gate_enter);

/**
 * umad_gate_leave() - end a section
 * @gate: that was entered
 *
 * Context: any; does not sleep.
 */
void umad_gate_leave(struct umad_gate *gate)
{
	if (refcount_dec_and_test(&gate->users))
		complete(&gate->drained);
}
EXPORT_SYMBOL_IF_KUNIT(umad_gate_leave);

/**
 * umad_gate_shut() - let nobody in any more
 * @gate: to be shut, once
 *
 * Context: any; does not sleep.
 */
void umad_gate_shut(struct umad_gate *gate)
{
	/* Pairs with umad_gate_enter(). */
	WRITE_ONCE(gate->closed, true);
	umad_gate_leave(gate);
}
EXPORT_SYMBOL_IF_KUNIT(umad_gate_shut);

/**
 * umad_gate_wait() - wait until all have left
 * @gate: that is shut
 *
 * Context: process; sleeps, for as long as the longest section.
 */
void umad_gate_wait(struct umad_gate *gate)
{
	wait_for_completion(&gate->drained);
}
EXPORT_SYMBOL_IF_KUNIT(umad_gate_wait);

/**
 * umad_gate_is_shut() - is the end of a section being waited for?
 * @gate: inside which the caller is
 *
 * For sections that are long, or that have only begun.
 * Context: any; does not sleep.
 * Return: true if so, or soon.
 */
bool umad_gate_is_shut(struct umad_gate *gate)
{
	return READ_ONCE(gate->closed);
}
EXPORT_SYMBOL_IF_KUNIT(umad_gate_is_shut);
