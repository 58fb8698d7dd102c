// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp/dest.h"

#include <linux/err.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
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

/* Of a cgroup's memory its files have one part in so many for answers. */
#define ANSWERS_PART	8

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
 * switches have for the queues of a shared buffer): n such peers leave 1/2^n for others.
 * A message longer than that is sent alone.
 */
static bool dest_has_room(const struct umad_rmpp *rmpp, const struct umad_rmpp_dest *dest,
			  u64 bytes)
{
	u64 limit = READ_ONCE(rmpp_send_bytes);

	if (rmpp->sending_bytes + bytes > limit)
		return false;
	return !rmpp->sending_bytes ||
	       dest->bytes + bytes <= limit - rmpp->sending_bytes - bytes;
}

/*
 * Who asks decides how many answers there are, and who does not acknowledge them how long they
 * stay: they do not fill the cgroup. One at a time is sent in any case.
 */
static bool cgroup_has_room(const struct umad_file *file, u64 bytes)
{
	u64 sending = file->rmpp->sending_bytes;

	return !sending ||
	       sending + bytes <= umad_reserve_share(file->reserve, ANSWERS_PART);
}

/**
 * umad_rmpp_dest_charge() - a message is to be sent
 * @file: that sends it
 * @to: where to
 * @bytes: of memory that it takes, at least one
 * @whole: it has a single segment: max_sends is its only bound, so that those to others
 *	leave it a place
 * @answer: it answers a request, and has no more than its part of the file's cgroup
 *
 * Context: process; sleeps; takes &umad_file.lock.
 * Return: for umad_rmpp_dest_uncharge(); -ENOMEM, also if the messages of the file, or
 * those of the file to @to, that are not sent yet take too much.
 */
struct umad_rmpp_dest *umad_rmpp_dest_charge(struct umad_file *file,
					     const struct umad_addr *to,
					     u64 bytes, bool whole, bool answer)
{
	struct umad_rmpp *rmpp = file->rmpp;
	struct umad_rmpp_dest *new, *dest;
	struct rb_node *there;
	bool taken;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return ERR_PTR(-ENOMEM);
	new->to = *to;

	spin_lock(&file->lock);
	there = rb_find_add(&new->node, &rmpp->dests, compare_node);
	dest = there ? rb_entry(there, struct umad_rmpp_dest, node) : new;
	taken = (whole || dest_has_room(rmpp, dest, bytes)) &&
		(!answer || cgroup_has_room(file, bytes));
	if (taken) {
		dest->bytes += bytes;
		rmpp->sending_bytes += bytes;
	} else if (dest == new) {
		rb_erase(&new->node, &rmpp->dests);
	}
	spin_unlock(&file->lock);

	if (there || !taken)
		kfree(new);
	if (taken)
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
 * Context: process; takes &umad_file.lock; does not sleep.
 */
void umad_rmpp_dest_uncharge(struct umad_file *file,
			     struct umad_rmpp_dest *dest, u64 bytes, u64 shared)
{
	bool last;

	spin_lock(&file->lock);
	file->rmpp->sending_bytes -= bytes - shared;
	dest->bytes -= bytes;
	last = !dest->bytes;
	if (last)
		rb_erase(&dest->node, &file->rmpp->dests);
	spin_unlock(&file->lock);
	if (last)
		kfree(dest);
}
