// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "flow.h"

#include <linux/bug.h>
#include <linux/lockdep.h>
#include "umad_export.h"

/**
 * umad_flow_init() - all places are free
 * @flow: of a new agent
 * @lock: the owner's
 * @limit: places, or 0 for no limit
 *
 * Context: any.
 */
void umad_flow_init(struct umad_flow *flow, spinlock_t *lock, unsigned int limit)
{
	flow->lock = lock;
	flow->limit = limit;
	flow->used = 0;
	INIT_LIST_HEAD(&flow->backlog);
	flow->waiting = 0;
}
EXPORT_SYMBOL_IF_KUNIT(umad_flow_init);

/**
 * umad_flow_destroy() - no place is taken, and none waited for, any more
 * @flow: nothing uses it any more
 *
 * Context: any.
 */
void umad_flow_destroy(struct umad_flow *flow)
{
	WARN_ON_ONCE(flow->used || flow->waiting || !list_empty(&flow->backlog));
}
EXPORT_SYMBOL_IF_KUNIT(umad_flow_destroy);

/**
 * umad_flow_entry_init() - it neither has a place nor waits for one
 * @entry: to be filled in
 *
 * Context: any.
 */
void umad_flow_entry_init(struct umad_flow_entry *entry)
{
	INIT_LIST_HEAD(&entry->node);
	entry->has_place = false;
}
EXPORT_SYMBOL_IF_KUNIT(umad_flow_entry_init);

/**
 * umad_flow_take() - take a place, even if there is none
 * @flow: of the agent
 * @entry: without a place; does not wait
 *
 * Until as many have been given back, umad_flow_next() gives none.
 * Context: process, the lock held; does not sleep.
 */
void umad_flow_take(struct umad_flow *flow, struct umad_flow_entry *entry)
{
	lockdep_assert_held(flow->lock);
	WARN_ON_ONCE(entry->has_place || !list_empty(&entry->node));
	if (!flow->limit)
		return;
	entry->has_place = true;
	flow->used++;
}
EXPORT_SYMBOL_IF_KUNIT(umad_flow_take);

/**
 * umad_flow_enter() - take a place, or wait for one
 * @flow: of the agent
 * @entry: without a place; does not wait
 *
 * Behind all that wait: a place that has become free is for the first of them.
 * Context: process, the lock held; does not sleep.
 * Return: true if it may go; false: umad_flow_next() will return it, unless
 * umad_flow_leave() is called before.
 */
bool umad_flow_enter(struct umad_flow *flow, struct umad_flow_entry *entry)
{
	lockdep_assert_held(flow->lock);
	if (!umad_flow_is_full(flow) && !umad_flow_has_backlog(flow)) {
		umad_flow_take(flow, entry);
		return true;
	}
	list_add_tail(&entry->node, &flow->backlog);
	flow->waiting++;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(umad_flow_enter);

/**
 * umad_flow_leave() - give back a place, or wait no more
 * @flow: of the agent
 * @entry: whatever it has
 *
 * Context: process, the lock held; does not sleep.
 */
void umad_flow_leave(struct umad_flow *flow, struct umad_flow_entry *entry)
{
	lockdep_assert_held(flow->lock);
	if (!list_empty(&entry->node)) {
		list_del_init(&entry->node);
		flow->waiting--;
	}
	flow->used -= entry->has_place;
	entry->has_place = false;
}
EXPORT_SYMBOL_IF_KUNIT(umad_flow_leave);

/**
 * umad_flow_next() - give the first that waits a free place
 * @flow: of the agent
 *
 * Context: process, the lock held; does not sleep.
 * Return: the entry, which waits no more; NULL if none waits, or no place is free.
 */
struct umad_flow_entry *umad_flow_next(struct umad_flow *flow)
{
	struct umad_flow_entry *entry;

	lockdep_assert_held(flow->lock);
	entry = list_first_entry_or_null(&flow->backlog, struct umad_flow_entry, node);
	if (!entry || umad_flow_is_full(flow))
		return NULL;
	list_del_init(&entry->node);
	flow->waiting--;
	umad_flow_take(flow, entry);
	return entry;
}
EXPORT_SYMBOL_IF_KUNIT(umad_flow_next);
