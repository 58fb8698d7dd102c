/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Flow control of an agent's requests: so many may wait for a response in ib_core at a
 * time, each in a place; the others are in a backlog, and get places in the order in
 * which they came. Self-contained: knows neither ib_core nor requests, so that KUnit
 * drives it.
 */
#ifndef UMAD_FLOW_H
#define UMAD_FLOW_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/**
 * struct umad_flow - the places of an agent; all protected by @lock
 * @lock: the owner's, held around every call but those that make and end it or an entry
 * @limit: places, or 0: nothing is counted, and nothing waits
 * @used: places taken; may exceed @limit, see umad_flow_take()
 * @backlog: &umad_flow_entry.node of those that wait, the first that came foremost
 * @waiting: how many those are
 */
struct umad_flow {
	spinlock_t *lock; /* the owner's, protects the rest */
	unsigned int limit;
	unsigned int used;
	struct list_head backlog;
	unsigned int waiting;
};

/**
 * struct umad_flow_entry - what needs a place
 * @node: in &umad_flow.backlog, or empty
 * @has_place: it has one
 */
struct umad_flow_entry {
	struct list_head node;
	bool has_place;
};

void umad_flow_init(struct umad_flow *flow, spinlock_t *lock, unsigned int limit);
void umad_flow_destroy(struct umad_flow *flow);
void umad_flow_entry_init(struct umad_flow_entry *entry);
bool umad_flow_enter(struct umad_flow *flow, struct umad_flow_entry *entry);
void umad_flow_take(struct umad_flow *flow, struct umad_flow_entry *entry);
void umad_flow_leave(struct umad_flow *flow, struct umad_flow_entry *entry);
struct umad_flow_entry *umad_flow_next(struct umad_flow *flow);

/**
 * umad_flow_has_backlog() - does anything wait for a place?
 * @flow: of the agent
 *
 * Context: process, the lock held.
 * Return: true if so.
 */
static inline bool umad_flow_has_backlog(const struct umad_flow *flow)
{
	return !list_empty(&flow->backlog);
}

/**
 * umad_flow_waits() - does a MAD wait for a place?
 * @entry: of the MAD
 *
 * Context: process, the lock held.
 * Return: true if so: it has not been sent.
 */
static inline bool umad_flow_waits(const struct umad_flow_entry *entry)
{
	return !list_empty(&entry->node);
}

/**
 * umad_flow_is_full() - are all places taken?
 * @flow: of the agent
 *
 * Context: process, the lock held.
 * Return: true if so; never without a limit.
 */
static inline bool umad_flow_is_full(const struct umad_flow *flow)
{
	return flow->limit && flow->used >= flow->limit;
}

#endif /* UMAD_FLOW_H */
