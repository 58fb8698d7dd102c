// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/sched.h>
#include "user.h"

#include <linux/pid.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include "port.h"
#include "umad_rbtree.h"

/*
 * Of a process's threads. ib_core resolves addresses in one ordered work, which looks at
 * all that wait with each event of the network: hundreds of them delay everybody.
 */
#define RESOLVING_MAX	32

/*
 * ABORTs of a process in a second. Each costs more than the rest of a message's end, and
 * its exit ends all its messages: 65,536 by default.
 */
#define ABORTS_MAX	4096
/* Of those, for messages of which nothing but segment 1 has come: any node can send many. */
#define LONE_ABORTS_MAX	256

static void aborts_init(struct ratelimit_state *aborts, int most)
{
	ratelimit_state_init(aborts, HZ, most);
	/* It would be told of in the kernel log. */
	ratelimit_set_flags(aborts, RATELIMIT_MSG_ON_RELEASE);
}

/**
 * umad_resolver_init() - nobody resolves addresses
 * @resolver: of a new process, or of a new file for others that write to it
 *
 * Context: any.
 */
void umad_resolver_init(struct umad_resolver *resolver)
{
	sema_init(&resolver->threads, RESOLVING_MAX);
	atomic64_set(&resolver->paused_since, 0);
}

static struct umad_user *user_of(struct rb_node *node)
{
	return rb_entry(node, struct umad_user, node);
}

static int user_compare(struct rb_node *node, const struct rb_node *other)
{
	const struct umad_user *a = user_of(node);
	const struct umad_user *b = rb_entry(other, struct umad_user, node);

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

/* The one there is, or @fresh, which has a reference to its parent. */
static struct umad_user *find_or_add(struct umad_user *fresh)
{
	struct umad_port *port = fresh->port;
	struct umad_user *user = fresh;
	struct rb_node *found;

	spin_lock(&port->users_lock);
	found = rb_find_add(&fresh->node, &port->users, user_compare);
	if (found)
		user = user_of(found);
	user->refs++;
	spin_unlock(&port->users_lock);
	return user;
}

/* For a reference to @parent one to who has @key below it; or neither, without memory. */
static struct umad_user *get_below(struct umad_port *port, struct umad_user *parent,
				   const void *key, struct pid *pid)
{
	struct umad_user *fresh, *user = NULL;
	unsigned int class;

	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		goto out;
	fresh->port = port;
	fresh->parent = parent;
	fresh->key = key;
	/* Its number may be another's when it has ended. */
	fresh->pid = get_pid(pid);
	mutex_init(&fresh->register_lock);
	umad_resolver_init(&fresh->resolver);
	aborts_init(&fresh->aborts, ABORTS_MAX);
	aborts_init(&fresh->lone_aborts, LONE_ABORTS_MAX);
	umad_turn_init(&fresh->turn, parent ? &parent->turn : &port->pace.root);
	umad_turn_init(&fresh->deadline_turn,
		       parent ? &parent->deadline_turn : &port->deadline_turn);
	for (class = 0; class < UMAD_SCHED_CLASSES; class++)
		umad_turn_init(&fresh->send_turn[class],
			       parent ? &parent->send_turn[class] :
					&port->sched.root[class]);
	umad_share_init(&fresh->share,
			parent ? &parent->share : &port->rmpp_window.all);
	user = find_or_add(fresh);
	if (user == fresh)
		return user;
	put_pid(fresh->pid);
	kfree(fresh);
out:
	umad_user_put(parent);
	return user;
}

/**
 * umad_user_get() - the calling process, for one file more
 * @port: that the file is opened on; the file keeps it
 * @cgroup: the caller's; the file keeps it
 *
 * A file counts for who has opened it, whoever uses it then.
 * Context: process; may sleep.
 * Return: the process, or NULL without memory.
 */
struct umad_user *umad_user_get(struct umad_port *port, const struct umad_reserve *cgroup)
{
	const struct umad_reserve *way[UMAD_CGROUP_LEVELS];
	struct umad_user *user = NULL;
	unsigned int n = 0;

	for (; cgroup; cgroup = cgroup->parent)
		way[n++] = cgroup;
	while (n--) {
		user = get_below(port, user, way[n], NULL);
		if (!user)
			return NULL;
	}
	return get_below(port, user, task_tgid(current), task_tgid(current));
}

/**
 * umad_user_put() - a file, or one below it, is no more
 * @user: consumed, may be NULL; the caller keeps the port
 *
 * Context: process; does not sleep.
 */
void umad_user_put(struct umad_user *user)
{
	struct umad_user *parent;
	struct umad_port *port;
	bool last;

	for (; user; user = parent) {
		port = user->port;
		spin_lock(&port->users_lock);
		last = !--user->refs;
		if (last)
			rb_erase(&user->node, &port->users);
		spin_unlock(&port->users_lock);
		if (!last)
			return;
		/* What counts here has a file. */
		WARN_ON_ONCE(atomic_read(&user->held_requests) ||
			     atomic_read(&user->hidden_agents) ||
			     atomic_read(&user->short_segs) ||
			     atomic_read(&user->reassembling) ||
			     atomic64_read(&user->reassembly_bytes));
		parent = user->parent;
		put_pid(user->pid);
		kfree(user);
	}
}

/**
 * umad_user_may_abort() - may a process tell one more peer that a message ends?
 * @user: the process
 * @lone: nothing but segment 1 of it has come
 *
 * Context: any; does not sleep.
 * Return: false if it has told as many in this second as it may.
 */
bool umad_user_may_abort(struct umad_user *user, bool lone)
{
	return __ratelimit(lone ? &user->lone_aborts : &user->aborts);
}
