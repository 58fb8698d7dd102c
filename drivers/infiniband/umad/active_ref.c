// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "active_ref.h"
#include "umad_export.h"

/**
 * umad_active_ref_init() - active references can be taken from now on
 * @active_ref: of the object
 *
 * Context: any.
 */
void umad_active_ref_init(struct umad_active_ref *active_ref)
{
	refcount_set(&active_ref->refs, 1);
	init_completion(&active_ref->drained);
	active_ref->killed = false;
}
EXPORT_SYMBOL_IF_KUNIT(umad_active_ref_init);

/**
 * umad_active_ref_tryget() - take an active reference
 * @active_ref: of the object
 *
 * Context: any; does not sleep.
 * Return: true if it was taken, to be given back by umad_active_ref_put(); false after
 * umad_active_ref_kill().
 */
bool umad_active_ref_tryget(struct umad_active_ref *active_ref)
{
	if (!refcount_inc_not_zero(&active_ref->refs))
		return false;
	/*
	 * Pairs with umad_active_ref_kill(). Missing a flag set just now is
	 * harmless, as umad_active_ref_drain() waits for us; seeing it in time
	 * keeps a stream of users from making that wait forever.
	 */
	if (READ_ONCE(active_ref->killed)) {
		umad_active_ref_put(active_ref);
		return false;
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(umad_active_ref_tryget);

/**
 * umad_active_ref_put() - give back an active reference
 * @active_ref: of the object
 *
 * Context: any; does not sleep.
 */
void umad_active_ref_put(struct umad_active_ref *active_ref)
{
	if (refcount_dec_and_test(&active_ref->refs))
		complete(&active_ref->drained);
}
EXPORT_SYMBOL_IF_KUNIT(umad_active_ref_put);

/**
 * umad_active_ref_kill() - refuse new active references
 * @active_ref: of the object; called once
 *
 * Context: any; does not sleep.
 */
void umad_active_ref_kill(struct umad_active_ref *active_ref)
{
	/* Pairs with umad_active_ref_tryget(). */
	WRITE_ONCE(active_ref->killed, true);
	umad_active_ref_put(active_ref);
}
EXPORT_SYMBOL_IF_KUNIT(umad_active_ref_kill);

/**
 * umad_active_ref_drain() - wait until no active reference is left
 * @active_ref: of the object; killed
 *
 * Context: process; sleeps, for as long as the longest of its users.
 */
void umad_active_ref_drain(struct umad_active_ref *active_ref)
{
	wait_for_completion(&active_ref->drained);
}
EXPORT_SYMBOL_IF_KUNIT(umad_active_ref_drain);

/**
 * umad_active_ref_is_dead() - does somebody wait for the end of this reference?
 * @active_ref: of which the caller holds one
 *
 * For users that take long, or that have only begun.
 * Context: any; does not sleep.
 * Return: true if so, or soon.
 */
bool umad_active_ref_is_dead(struct umad_active_ref *active_ref)
{
	return READ_ONCE(active_ref->killed);
}
EXPORT_SYMBOL_IF_KUNIT(umad_active_ref_is_dead);
