// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp/dedup.h"

#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include "agent.h"
#include "charge.h"
#include "file.h"
#include "pagebuf.h"
#include "port.h"
#include "rmpp/message.h"

/* What is shorter is not worth a look at others. */
#define DEDUP_MIN	SZ_16K
/* So many are looked at, those that were last used; one of them is compared. */
#define DEDUP_LOOK	16
/* What a message counts for in &umad_rmpp.sending_bytes whose data is another's. */
#define DEDUP_CHARGE	UMAD_PAGEBUF_BLOCK

/**
 * umad_rmpp_dedup_put() - a reference is gone
 * @dedup: of which the caller had one
 *
 * Context: process; does not sleep.
 * Return: the data, to be freed, if it was the last; or NULL.
 */
struct umad_pagebuf *umad_rmpp_dedup_put(struct umad_rmpp_dedup *dedup)
{
	struct umad_pagebuf *data = dedup->data;

	if (!refcount_dec_and_test(&dedup->refs))
		return NULL;
	kfree(dedup);
	return data;
}

/* One that may be equal, with a reference; or NULL. */
static struct umad_rmpp_dedup *find_candidate(const struct umad_xfer_tx *tx, u32 hash)
{
	struct umad_rmpp_dedup *dedup, *found = NULL;
	unsigned int looked_at = 0;

	spin_lock(&tx->file->lock);
	list_for_each_entry(dedup, &tx->file->rmpp->dedups, node) {
		if (looked_at++ == DEDUP_LOOK)
			break;
		if (dedup->len != tx->data_len || dedup->hash != hash)
			continue;
		refcount_inc(&dedup->refs);
		found = dedup;
		break;
	}
	spin_unlock(&tx->file->lock);
	return found;
}

/* The message becomes one of its users; consumes a reference. */
static void join(struct umad_xfer_tx *tx, struct umad_rmpp_dedup *dedup)
{
	struct umad_file *file = tx->file;

	spin_lock(&file->lock);
	/* Its last user may have left meanwhile: then this one is charged for it. */
	if (!list_empty(&dedup->users)) {
		tx->shared = tx->charged - DEDUP_CHARGE;
		file->rmpp->sending_bytes -= tx->shared;
	}
	list_add_tail(&tx->dedup_node, &dedup->users);
	list_move(&dedup->node, &file->rmpp->dedups);
	tx->dedup = dedup;
	tx->data = dedup->data;
	spin_unlock(&file->lock);
}

/* Nothing is equal to it yet. Without memory nothing will be. */
static void share_own(struct umad_xfer_tx *tx, u32 hash)
{
	struct umad_rmpp_dedup *dedup = kmalloc(sizeof(*dedup), UMAD_GFP_WRITE);

	if (!dedup)
		return;
	INIT_LIST_HEAD(&dedup->node);
	INIT_LIST_HEAD(&dedup->users);
	dedup->data = tx->data;
	dedup->len = tx->data_len;
	dedup->hash = hash;
	refcount_set(&dedup->refs, 1);
	join(tx, dedup);
}

/**
 * umad_rmpp_dedup_enter() - have a message use equal data, and others its own
 * @tx: with all its data, charged; nobody else knows it yet
 *
 * What is compared was copied before: who changes his buffer meanwhile changes nothing.
 * Context: process; sleeps; takes &umad_file.lock.
 */
void umad_rmpp_dedup_enter(struct umad_xfer_tx *tx)
{
	struct umad_pagebuf *own = tx->data;
	struct umad_rmpp_dedup *dedup;
	u32 hash;

	if (tx->data_len < DEDUP_MIN)
		return;
	hash = umad_pagebuf_hash(own);
	dedup = find_candidate(tx, hash);
	if (dedup && !umad_pagebuf_is_equal(own, dedup->data, tx->data_len)) {
		umad_pagebuf_free_soon(umad_rmpp_dedup_put(dedup));
		dedup = NULL;
	}
	if (!dedup) {
		share_own(tx, hash);
		return;
	}
	join(tx, dedup);
	umad_pagebuf_free(own);
	umad_stat_inc(&tx->file->port->stats, UMAD_STAT_RMPP_SEND_SHARED);
}

/**
 * umad_rmpp_dedup_leave() - a message does not use its data any more
 * @tx: the message; its reference is left to the caller
 *
 * If it was the one that is charged for the data, the next one is from now on.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_dedup_leave(struct umad_xfer_tx *tx)
{
	struct umad_rmpp_dedup *dedup = tx->dedup;
	struct umad_xfer_tx *next;

	lockdep_assert_held(&tx->file->lock);
	list_del(&tx->dedup_node);
	next = list_first_entry_or_null(&dedup->users, struct umad_xfer_tx, dedup_node);
	if (!next)
		list_del_init(&dedup->node);
	else if (!tx->shared)
		swap(tx->shared, next->shared);
}
