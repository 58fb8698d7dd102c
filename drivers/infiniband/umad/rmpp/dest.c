// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp/dest.h"

#include <linux/err.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include "charge.h"
#include "file.h"
#include "port.h"
#include "room.h"
#include "umad_rbtree.h"

/*
 * Of what is written faster than it is sent, no more than in-tree receivers wait
 * for, which is 40 s in all, is worth keeping: 400 MB at 50,000 segments a second.
 */
static unsigned long rmpp_send_bytes = 1024UL << 20;
module_param(rmpp_send_bytes, ulong, 0644);
MODULE_PARM_DESC(rmpp_send_bytes,
		 "Bytes of RMPP messages being sent by one file, to one destination half of what others leave (default: 1 GiB)");

static int compare_node(struct rb_node *node, const struct rb_node *other)
{
	return umad_addr_compare_node(&rb_entry(node, struct umad_rmpp_dest,
					       node)->to,
				     &rb_entry(other, struct umad_rmpp_dest,
					       node)->to);
}

/*
 * A peer that asks for much and takes nothing keeps a server's answers for as long as
 * that tries to send them. So each has at most what is left then (a dynamic threshold, as
 * switches have for the queues of a shared buffer): n such peers leave 1/2^n for others. A
 * message longer than that is sent alone. Of the writer's cgroup it has one message in any
 * case, if that can be charged: silent ones give way to it.
 */
static bool dest_has_room(const struct umad_rmpp *rmpp, const struct umad_rmpp_dest *dest,
			  u64 bytes, u64 cgroup_left)
{
	u64 limit = READ_ONCE(rmpp_send_bytes);

	if (rmpp->sending_bytes + bytes > limit)
		return false;
	if (!rmpp->sending_bytes)
		return true;
	return dest->bytes + bytes <= limit - rmpp->sending_bytes - bytes &&
	       (!dest->bytes || dest->bytes + bytes <= cgroup_left - bytes);
}

/* NULL: there is no room. */
static struct umad_rmpp_dest *take(struct umad_file *file, struct umad_rmpp_dest *new,
				   u64 bytes, bool whole, u64 cgroup_left)
{
	struct umad_rmpp *rmpp = file->rmpp;
	struct umad_rmpp_dest *dest;
	struct rb_node *there;
	bool taken;

	spin_lock(&file->lock);
	there = rb_find_add(&new->node, &rmpp->dests, compare_node);
	dest = there ? rb_entry(there, struct umad_rmpp_dest, node) : new;
	taken = whole || dest_has_room(rmpp, dest, bytes, max(cgroup_left, bytes));
	if (taken) {
		dest->bytes += bytes;
		rmpp->sending_bytes += bytes;
	} else if (dest == new) {
		rb_erase(&new->node, &rmpp->dests);
	}
	spin_unlock(&file->lock);
	return taken ? dest : NULL;
}

/**
 * umad_rmpp_dest_charge() - a message is to be sent
 * @file: that sends it
 * @to: where to
 * @bytes: of memory that it takes, at least one
 * @whole: it has a single segment: max_sends is its only bound, so that those to others
 *	leave it a place
 *
 * Context: process; sleeps; takes &umad_file.lock.
 * Return: for umad_rmpp_dest_uncharge(); -ENOMEM, also if the messages of the file, or
 * those of the file to @to, that are not sent yet take too much.
 */
struct umad_rmpp_dest *umad_rmpp_dest_charge(struct umad_file *file,
					     const struct umad_addr *to,
					     u64 bytes, bool whole)
{
	struct umad_rmpp_dest *new, *dest;

	new = kzalloc(sizeof(*new), UMAD_GFP_WRITE);
	if (!new)
		return ERR_PTR(-ENOMEM);
	new->to = *to;

	/* Mostly what is free is enough; of a single segment it is not asked. */
	dest = take(file, new, bytes, whole, whole ? 0 : umad_cgroup_left(0)) ?:
	       take(file, new, bytes, whole, umad_cgroup_left(U64_MAX));
	if (dest != new)
		kfree(new);
	if (dest)
		return dest;
	umad_stat_inc(&file->port->stats, UMAD_STAT_RMPP_SEND_REFUSED);
	return ERR_PTR(-ENOMEM);
}

/**
 * umad_rmpp_dest_uncharge() - a message needs no memory any more
 * @file: that has sent it
 * @dest: what umad_rmpp_dest_charge() returned
 * @bytes: as charged
 * @shared: of these, bytes that do not count in &umad_rmpp.sending_bytes any more
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_dest_uncharge(struct umad_file *file,
			     struct umad_rmpp_dest *dest, u64 bytes, u64 shared)
{
	lockdep_assert_held(&file->lock);
	file->rmpp->sending_bytes -= bytes - shared;
	dest->bytes -= bytes;
	if (dest->bytes)
		return;
	rb_erase(&dest->node, &file->rmpp->dests);
	kfree(dest);
}
