// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A message to be sent, from when a process writes it. */
#include <linux/types.h>
#include "rmpp/message.h"

#include <linux/err.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_mad.h>
#include "addr.h"
#include "agent.h"
#include "charge.h"
#include "file.h"
#include "pagebuf.h"
#include "request.h"
#include "rmpp/dedup.h"
#include "rmpp/dest.h"
#include "user.h"

/**
 * umad_xfer_tx_create() - a message that a process has written
 * @file: that the process has written to
 * @hdr: the process's header
 * @head: its MAD's begin, as copied in before: 256 bytes, or all
 * @from: the process's rest of the MAD
 * @len: bytes of the MAD, checked against the bound of a message
 *
 * Context: process; sleeps, for as long as page faults of user space take.
 * Return: the message; -EINVAL when it ends within the class's header;
 * -EFAULT; -ENOMEM, also when the file's messages take more than they may.
 */
struct umad_xfer_tx *umad_xfer_tx_create(struct umad_file *file,
					 const struct ib_user_mad_hdr *hdr,
					 const void *head, struct iov_iter *from,
					 size_t len)
{
	size_t in_head = min(len, sizeof(struct ib_mad));
	size_t hdr_len = ib_get_mad_data_offset(((const struct ib_mad_hdr *)head)->mgmt_class);
	struct umad_rmpp_dest *dest;
	struct umad_xfer_tx *tx;
	struct umad_addr to;
	int ret = -ENOMEM;

	if (len < hdr_len)
		return ERR_PTR(-EINVAL);
	tx = kzalloc(sizeof(*tx), UMAD_GFP_WRITE);
	if (!tx)
		return ERR_PTR(ret);
	tx->file = file;
	INIT_LIST_HEAD(&tx->sent_node);
	tx->data = umad_pagebuf_alloc(UMAD_GFP_WRITE);
	if (!tx->data)
		goto err;

	/* One without data takes memory, too. */
	tx->charged = round_up(max_t(size_t, len - hdr_len, 1), UMAD_PAGEBUF_BLOCK);
	umad_addr_from_hdr(&to, hdr);
	dest = umad_rmpp_dest_charge(file, &to, tx->charged, len <= sizeof(struct ib_mad));
	if (IS_ERR(dest))
		goto err;
	tx->dest = dest;

	tx->data_len = len - hdr_len;
	tx->response_window = 1;
	tx->turn_at = U64_MAX;
	memcpy(tx->head, head, hdr_len);
	ret = umad_pagebuf_write(tx->data, 0, head + hdr_len, in_head - hdr_len);
	if (!ret)
		ret = umad_pagebuf_write_iter(tx->data, in_head - hdr_len, from, len - in_head);
	if (ret)
		goto err;
	umad_rmpp_dedup_enter(tx);
	return tx;
err:
	umad_xfer_tx_free(tx);
	return ERR_PTR(ret);
}

/**
 * umad_xfer_tx_count() - how many of its segments count in &umad_user.short_segs
 * @tx: a message
 * @segs: so many from now on
 *
 * Context: process, &umad_file.lock held, unless only the caller knows the message.
 */
void umad_xfer_tx_count(struct umad_xfer_tx *tx, u32 segs)
{
	/* Mostly nothing has changed, and the counter is shared. */
	if (segs == tx->short_segs)
		return;
	atomic_add((int)(segs - tx->short_segs), &tx->file->user->short_segs);
	tx->short_segs = segs;
}

/**
 * umad_xfer_tx_take_data() - take a message's data, and what is charged for it
 * @tx: that has ended, or of which nothing is posted any more; no segment is being made
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: the data, to be freed, or NULL: it was taken already, or others have it, too.
 */
struct umad_pagebuf *umad_xfer_tx_take_data(struct umad_xfer_tx *tx)
{
	struct umad_rmpp_dedup *dedup = NULL;
	struct umad_rmpp_dest *dest = NULL;
	struct umad_pagebuf *data = NULL;

	if (tx->dedup)
		umad_rmpp_dedup_leave(tx);
	swap(dedup, tx->dedup);
	swap(data, tx->data);
	swap(dest, tx->dest);
	list_del_init(&tx->sent_node);
	if (dest)
		umad_rmpp_dest_uncharge(tx->file, dest, tx->charged, tx->shared);
	return dedup ? umad_rmpp_dedup_put(dedup) : data;
}

/* @arrived: not while some is posted. */
static void data_free(struct umad_xfer_tx *tx, bool arrived)
{
	struct umad_pagebuf *data = NULL;

	spin_lock(&tx->file->lock);
	if (!arrived || !tx->engine.posted)
		data = umad_xfer_tx_take_data(tx);
	spin_unlock(&tx->file->lock);
	umad_pagebuf_free_soon(data);
}

/**
 * umad_xfer_tx_free() - give a message back
 * @tx: consumed; NULL is nothing
 *
 * Context: process; may sleep; takes &umad_file.lock.
 */
void umad_xfer_tx_free(struct umad_xfer_tx *tx)
{
	if (!tx)
		return;
	umad_xfer_tx_count(tx, 0);
	data_free(tx, false);
	kfree(tx);
}

/**
 * umad_xfer_tx_give_back() - give its data back if it has arrived
 * @tx: a message, with a reference to its request
 *
 * What waits for its response, or for a late one, would keep others from being sent.
 * Context: process; takes &umad_file.lock; does not sleep.
 */
void umad_xfer_tx_give_back(struct umad_xfer_tx *tx)
{
	/* Set for good, and nothing is posted after it. */
	if (READ_ONCE(tx->engine.state) == RMPP_TX_ACKED)
		data_free(tx, true);
}

/**
 * umad_xfer_tx_mad() - the MAD header of a message
 * @tx: the message
 *
 * Context: any.
 * Return: the header, that each segment begins with.
 */
struct ib_mad_hdr *umad_xfer_tx_mad(struct umad_xfer_tx *tx)
{
	return (struct ib_mad_hdr *)tx->head;
}

/**
 * umad_xfer_tx_is_active() - is its message still to be sent?
 * @req: with a message
 *
 * Context: process, &umad_file.lock held.
 * Return: false when its transaction has ended, or its agent ends.
 */
bool umad_xfer_tx_is_active(const struct umad_request *req)
{
	return !req->agent->shutdown && (req->txn.state == UMAD_TXN_WAIT ||
					 req->txn.state == UMAD_TXN_SEND);
}

/* When its timer is to run next. */
static u64 next_deadline(const struct umad_request *req)
{
	const struct umad_xfer_tx *tx = req->rmpp;

	if (!umad_xfer_tx_is_active(req))
		return U64_MAX;
	/* What waits for its turn looks at @turn_at then. */
	if (tx->engine.state != RMPP_TX_SENDING)
		return umad_retry_is_queued(&req->retry) ? U64_MAX : tx->turn_at;
	/* That it may not send yet is no silence of its receiver's. */
	if (umad_xfer_tx_is_ready(tx))
		return U64_MAX;
	return rmpp_tx_deadline(&tx->engine);
}

/**
 * umad_xfer_tx_arm() - have the timer run when something is to be done next
 * @req: with a message
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_xfer_tx_arm(struct umad_request *req)
{
	umad_rmpp_set_timer(req->file, &req->rmpp->timer, next_deadline(req));
}
