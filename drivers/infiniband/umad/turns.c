// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "turns.h"

#include "umad_export.h"

/**
 * umad_turn_init() - nothing waits
 * @turn: of who has files, or of a file
 * @parent: whom it is below, kept as long; NULL for the port
 *
 * Context: any.
 */
void umad_turn_init(struct umad_turn *turn, struct umad_turn *parent)
{
	turn->parent = parent;
	INIT_LIST_HEAD(&turn->node);
	INIT_LIST_HEAD(&turn->below);
}
EXPORT_SYMBOL_IF_KUNIT(umad_turn_init);

/**
 * umad_turn_wait() - a file waits for a turn, and so do those above it
 * @turn: of the file; may wait already
 *
 * Context: any; the lock of its port's turns.
 */
void umad_turn_wait(struct umad_turn *turn)
{
	for (; turn->parent && list_empty(&turn->node); turn = turn->parent)
		list_add_tail(&turn->node, &turn->parent->below);
}
EXPORT_SYMBOL_IF_KUNIT(umad_turn_wait);

/**
 * umad_turn_leave() - a file waits no more
 * @turn: of the file; may not wait
 *
 * If it was the last below another, that does not either.
 * Context: any; the lock of its port's turns.
 */
void umad_turn_leave(struct umad_turn *turn)
{
	for (; turn->parent && list_empty(&turn->below); turn = turn->parent)
		list_del_init(&turn->node);
}
EXPORT_SYMBOL_IF_KUNIT(umad_turn_leave);

/**
 * umad_turn_take() - whose turn it is
 * @root: of the port; some file waits
 *
 * Those above it have their next turn behind all their siblings; itself does not wait
 * any more.
 * Context: any; the lock of @root.
 * Return: the file's.
 */
struct umad_turn *umad_turn_take(struct umad_turn *root)
{
	struct umad_turn *turn = root;

	while (!list_empty(&turn->below)) {
		turn = list_first_entry(&turn->below, struct umad_turn, node);
		list_move_tail(&turn->node, &turn->parent->below);
	}
	umad_turn_leave(turn);
	return turn;
}
EXPORT_SYMBOL_IF_KUNIT(umad_turn_take);
