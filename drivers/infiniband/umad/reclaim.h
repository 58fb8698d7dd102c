/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What is received, or cannot be delivered, gives way when its cgroup has no memory left. */
#ifndef UMAD_RECLAIM_H
#define UMAD_RECLAIM_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/types.h>

struct umad_file;

/**
 * enum umad_shed - what gives way, in this order
 * @UMAD_SHED_ENDED: what answers repeated segments of whole messages
 * @UMAD_SHED_SILENT: answers being sent to who does not acknowledge them
 * @UMAD_SHED_UNASKED: messages being received that nobody has asked for: who sends them hears of it
 * @UMAD_SHED_UNREAD: what nobody has asked for, and waits to be read
 * @UMAD_SHED_SENT: other answers being sent, the oldest first
 * @UMAD_SHED_ANSWERS: answers being received: their requests time out
 * @UMAD_SHED_KINDS: how many there are
 */
enum umad_shed {
	UMAD_SHED_ENDED,
	UMAD_SHED_SILENT,
	UMAD_SHED_UNASKED,
	UMAD_SHED_UNREAD,
	UMAD_SHED_SENT,
	UMAD_SHED_ANSWERS,
	UMAD_SHED_KINDS,
};

/**
 * struct umad_gone - what is not a file's any more, and whose memory is to be given back
 * @entries: &umad_rx_entry.node
 * @bufs: &umad_pagebuf.free_node
 */
struct umad_gone {
	struct list_head entries;
	struct llist_head bufs;
};

/**
 * struct umad_reclaim_ops - how a file, which is not closed meanwhile, gives memory back
 * @size: bytes of a kind that it has, or somewhat more; no lock of the file is held
 * @shed: give so many bytes back, if there are, or some; does not sleep. Return: how many. What
 *	is not the file's any more is put into @gone
 * @free: give the memory of that back; may sleep
 *
 * Context: process, reclaiming memory: anybody's, who holds any lock with which memory is
 * allocated.
 */
struct umad_reclaim_ops {
	size_t (*size)(const struct umad_file *file, enum umad_shed what);
	size_t (*shed)(struct umad_file *file, size_t bytes, enum umad_shed what,
		       struct umad_gone *gone);
	void (*free)(struct umad_gone *gone);
};

int umad_reclaim_init(const struct umad_reclaim_ops *ops);
void umad_reclaim_exit(void);
void umad_reclaim_add(struct umad_file *file);
void umad_reclaim_remove(struct umad_file *file);

#endif /* UMAD_RECLAIM_H */
