/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Turns, for what a port can do for one at a time. Cgroups take turns; in a cgroup those
 * below it and its processes do, and in a process its files. So however many files or
 * processes one has, others have theirs as often.
 */
#ifndef UMAD_TURNS_H
#define UMAD_TURNS_H

#include <linux/list.h>

/**
 * struct umad_turn - a file, or who has files, that takes turns with its siblings;
 *	protected by the lock of whoever gives them
 * @parent: constant; NULL for the port
 * @node: in @below of @parent while it waits for a turn, else empty
 * @below: those who wait, the next first; empty of a file
 */
struct umad_turn {
	struct umad_turn *parent;
	struct list_head node;
	struct list_head below;
};

void umad_turn_init(struct umad_turn *turn, struct umad_turn *parent);
void umad_turn_wait(struct umad_turn *turn);
void umad_turn_leave(struct umad_turn *turn);
struct umad_turn *umad_turn_take(struct umad_turn *root);

/**
 * umad_turn_is_awaited() - does any wait?
 * @root: of the port
 *
 * Context: any; the lock of @root.
 * Return: true if umad_turn_take() would find one.
 */
static inline bool umad_turn_is_awaited(const struct umad_turn *root)
{
	return !list_empty(&root->below);
}

#endif /* UMAD_TURNS_H */
