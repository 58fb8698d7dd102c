/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What is received gives way when its cgroup has no memory left. */
#ifndef UMAD_RECLAIM_H
#define UMAD_RECLAIM_H

#include <linux/types.h>

struct list_head;
struct umad_file;

/**
 * enum umad_shed - what gives way, in this order
 * @UMAD_SHED_UNASKED: messages being received that nobody has asked for: who sends them hears of it
 * @UMAD_SHED_UNREAD: what nobody has asked for, and waits to be read
 * @UMAD_SHED_ANSWERS: answers being received: their requests time out
 * @UMAD_SHED_KINDS: how many there are
 */
enum umad_shed {
	UMAD_SHED_UNASKED,
	UMAD_SHED_UNREAD,
	UMAD_SHED_ANSWERS,
	UMAD_SHED_KINDS,
};

/**
 * typedef umad_shed_fn - have a file give memory back, that is charged to its cgroup
 * @file: is not closed meanwhile
 * @bytes: as many, if there are
 * @what: of this
 * @gone: what is not the file's any more, for umad_reclaim_free_fn
 *
 * Context: process, reclaiming memory: anybody's, who holds any lock in which memory is
 * allocated; does not sleep.
 * Return: bytes.
 */
typedef size_t umad_shed_fn(struct umad_file *file, size_t bytes, enum umad_shed what,
			    struct list_head *gone);

/**
 * struct umad_reclaim_ops - how it is done
 * @shed: likewise
 * @free: give back what @shed has found, without a lock
 */
struct umad_reclaim_ops {
	umad_shed_fn *shed;
	void (*free)(struct list_head *gone);
};

int umad_reclaim_init(const struct umad_reclaim_ops *ops);
void umad_reclaim_exit(void);
void umad_reclaim_add(struct umad_file *file);
void umad_reclaim_remove(struct umad_file *file);

#endif /* UMAD_RECLAIM_H */
