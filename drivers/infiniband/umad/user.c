// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/sched.h>
#include "user.h"

#include <linux/pid.h>
#include <linux/slab.h>
#include "port.h"

/*
 * Of a program's threads. ib_core resolves addresses in one ordered work, which looks at
 * all that wait with each event of the network: hundreds of them delay everybody.
 */
#define RESOLVING_MAX	32

static struct umad_user *user_of(struct rb_node *node)
{
	return rb_entry(node, struct umad_user, node);
}

static int compare(struct rb_node *node, const struct rb_node *other)
{
	const struct umad_user *a = user_of(node);
	const struct umad_user *b = rb_entry(other, struct umad_user, node);

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

static struct umad_user *user_alloc(struct umad_port *port, void *key)
{
	struct umad_user *user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);

	if (user) {
		user->port = port;
		user->key = key;
		sema_init(&user->resolving, RESOLVING_MAX);
	}
	return user;
}

/* The one there is, or @fresh. */
static struct umad_user *find_or_add(struct umad_user *fresh,
				     struct umad_user *parent)
{
	struct umad_port *port = fresh->port;
	struct rb_node *found;

	lockdep_assert_held(&port->users_lock);
	fresh->parent = parent;
	found = rb_find_add(&fresh->node, &port->users, compare);
	if (found)
		return user_of(found);
	umad_turn_init(&fresh->turn, parent ? &parent->turn : &port->pace.root);
	umad_share_init(&fresh->share, parent ? &parent->share : &port->rmpp_window.all);
	if (parent)
		parent->refs++;
	return fresh;
}

/**
 * umad_user_get() - the calling program, for one file more
 * @port: that the file is opened on; the file keeps it
 * @memcg: the caller's; the file keeps it
 *
 * A file counts for who has opened it, whoever uses it then.
 * Context: process; may sleep.
 * Return: the program, or NULL without memory.
 */
struct umad_user *umad_user_get(struct umad_port *port, struct mem_cgroup *memcg)
{
	struct umad_user *cgroup = user_alloc(port, memcg);
	struct umad_user *fresh = user_alloc(port, task_tgid(current));
	struct umad_user *parent, *user = NULL;

	if (!cgroup || !fresh)
		goto out;
	spin_lock(&port->users_lock);
	parent = find_or_add(cgroup, NULL);
	user = find_or_add(fresh, parent);
	user->refs++;
	spin_unlock(&port->users_lock);
	if (parent == cgroup)
		cgroup = NULL;
	if (user == fresh) {
		/* Its number may be another's when it has ended. */
		get_pid(fresh->key);
		fresh = NULL;
	}
out:
	kfree(cgroup);
	kfree(fresh);
	return user;
}

/* True: it was the last. */
static bool put_locked(struct umad_user *user)
{
	lockdep_assert_held(&user->port->users_lock);
	if (--user->refs)
		return false;
	rb_erase(&user->node, &user->port->users);
	return true;
}

/**
 * umad_user_put() - a file is no more
 * @user: the program, consumed; the caller keeps the port
 *
 * Context: process; does not sleep.
 */
void umad_user_put(struct umad_user *user)
{
	struct umad_port *port = user->port;
	struct umad_user *cgroup = NULL;
	bool last;

	spin_lock(&port->users_lock);
	last = put_locked(user);
	if (last && put_locked(user->parent))
		cgroup = user->parent;
	spin_unlock(&port->users_lock);
	kfree(cgroup);
	if (!last)
		return;
	put_pid(user->key);
	kfree(user);
}
