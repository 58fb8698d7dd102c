/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Who has a port open. What files have to share with each other is dealt out among
 * cgroups, in a cgroup among those below it and its processes, and in a process among its
 * files. So however many files a process opens, or processes and further cgroups a cgroup
 * has, others have theirs.
 */
#ifndef UMAD_USER_H
#define UMAD_USER_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/ratelimit_types.h>
#include <linux/rbtree.h>
#include <linux/semaphore.h>
#include <linux/types.h>
#include "charge.h"
#include "retry.h"
#include "rmpp/sched.h"
#include "rmpp/window.h"
#include "turns.h"

/* Of them above a file: its process, and cgroups. */
#define UMAD_USER_LEVELS	(1 + UMAD_CGROUP_LEVELS)

struct pid;
struct umad_port;

/**
 * struct umad_resolver - a process that resolves addresses, by its writes
 * @threads: that may do so at a time
 * @paused_since: when its last write ended, in ns
 */
struct umad_resolver {
	struct semaphore threads;
	atomic64_t paused_since;
};

/**
 * struct umad_user - a cgroup that has files of a port open, or a process
 * @node: in &umad_port.users
 * @port: kept by its files
 * @parent: the cgroup that it is below, or NULL, constant
 * @key: of a cgroup, its &struct umad_reserve, kept by its files; of a process @pid
 * @pid: of the thread group that has opened them, a reference is held; else NULL
 * @refs: those below it, or files; protected by &umad_port.users_lock
 * @turn: those below it that have something to send again
 * @deadline_turn: those below it whose deadlines have passed
 * @send_turn: those below it that have segments of messages to send, by class
 * @short_segs: of a process: segments of its short messages that are being sent
 * @held_requests: of a process: requests that exist and are not expired, and unread
 *	timeout entries
 * @hidden_agents: of a process: that are registered
 * @register_lock: of a process: held while an agent of its files has an id and ib_core has
 *	not accepted it; taken without an active reference
 * @resolver: of a process: for writes by itself
 * @aborts: of a process: of its messages, as its agents end
 * @lone_aborts: likewise, of those of which nothing but segment 1 has come
 * @poll_paid_at: of a process: see &umad_poll_wake.paid_at
 * @share: of the windows of messages
 * @active: how many of @refs have RMPP messages being reassembled; protected by
 *	&umad_port.users_lock
 * @reassembling: such messages
 * @reassembly_bytes: memory they take
 */
struct umad_user {
	struct rb_node node;
	struct umad_port *port;
	struct umad_user *parent;
	const void *key;
	struct pid *pid;
	unsigned int refs;
	struct umad_turn turn;
	struct umad_turn deadline_turn;
	struct umad_turn send_turn[UMAD_SCHED_CLASSES];
	atomic_t short_segs;
	atomic_t held_requests;
	atomic_t hidden_agents;
	struct mutex register_lock; /* protects ids that are not registered yet */
	struct umad_resolver resolver;
	struct ratelimit_state aborts;
	struct ratelimit_state lone_aborts;
	atomic64_t poll_paid_at;
	struct umad_share share;
	unsigned int active;
	atomic_t reassembling;
	atomic64_t reassembly_bytes;
};

struct umad_user *umad_user_get(struct umad_port *port, const struct umad_reserve *cgroup);
void umad_user_put(struct umad_user *user);
bool umad_user_may_abort(struct umad_user *user, bool lone);
void umad_resolver_init(struct umad_resolver *resolver);

#endif /* UMAD_USER_H */
