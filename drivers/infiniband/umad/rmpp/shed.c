// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp/shed.h"

#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/workqueue.h>
#include "agent.h"
#include "ah.h"
#include "file.h"
#include "queues.h"
#include "rmpp/memo.h"
#include "rmpp/peer.h"
#include "rmpp/reassembly.h"
#include "rmpp/xfer_rx.h"

/* Messages that are ended at a time: a port's others wait for the lock. */
#define SHED_MOST	64
/* Peers that are looked at, and messages of each; answers; and complete ones. */
#define LOOK_PEERS	8
#define LOOK_MESSAGES	8
/* Messages of one segment, as many of them. */
#define LOOK_LONE	(LOOK_PEERS * LOOK_MESSAGES)
#define LOOK_ANSWERS	256
#define LOOK_LINGERING	1024

static LIST_HEAD(evicted); /* &umad_xfer_rx.linger_node: their senders are to hear of it */
static DEFINE_SPINLOCK(evicted_lock); /* protects @evicted */

static struct umad_xfer_rx *take_evicted(void)
{
	struct umad_xfer_rx *rx;

	spin_lock(&evicted_lock);
	rx = list_first_entry_or_null(&evicted, struct umad_xfer_rx, linger_node);
	if (rx)
		list_del_init(&rx->linger_node);
	spin_unlock(&evicted_lock);
	return rx;
}

/* Not while memory is reclaimed: it takes some. */
static void stop_work(struct work_struct *work)
{
	struct umad_xfer_rx *rx;

	while ((rx = take_evicted())) {
		umad_xfer_rx_stop_evicted(rx);
		cond_resched();
	}
}

static DECLARE_WORK(evicted_work, stop_work);

/* Not one that is being ended: by its packets, or by who takes its agent away. */
static bool may_go(const struct umad_xfer_rx *rx)
{
	return !rx->copying && rx->engine.state == RMPP_RX_REASSEMBLING &&
	       !umad_active_ref_is_dead(&rx->agent->active_ref);
}

static struct umad_xfer_rx *lone_one(const struct umad_rmpp *rmpp)
{
	unsigned int looked_at = 0;
	struct umad_xfer_rx *rx;

	list_for_each_entry(rx, &rmpp->lone, file_node) {
		if (may_go(rx))
			return rx;
		if (++looked_at == LOOK_LONE)
			break;
	}
	return NULL;
}

static struct umad_xfer_rx *one_of(const struct umad_rmpp_peer *peer)
{
	unsigned int looked_at = 0;
	struct umad_xfer_rx *rx;

	list_for_each_entry(rx, &peer->idle, peer_node) {
		if (may_go(rx))
			return rx;
		if (++looked_at == LOOK_MESSAGES)
			break;
	}
	return NULL;
}

/* Of who takes most; but in a flood of first segments that is not the one who does harm. */
static struct umad_xfer_rx *next_to_go(const struct umad_rmpp *rmpp)
{
	struct rb_node *node = rb_first_cached(&rmpp->by_bytes);
	struct umad_xfer_rx *rx = NULL;
	unsigned int looked_at = 0;

	if (rmpp->lone_count > rmpp->unsolicited / 2)
		rx = lone_one(rmpp);
	for (; !rx && node && looked_at++ < LOOK_PEERS; node = rb_next(node))
		rx = one_of(rb_entry(node, struct umad_rmpp_peer, by_bytes));
	return rx;
}

/* The largest of some. */
static struct umad_xfer_rx *next_answer(const struct umad_rmpp *rmpp)
{
	struct umad_xfer_rx *rx, *largest = NULL;
	unsigned int looked_at = 0;

	list_for_each_entry(rx, &rmpp->answers_begun, file_node) {
		if (may_go(rx) && (!largest || rx->charged > largest->charged))
			largest = rx;
		if (++looked_at == LOOK_ANSWERS)
			break;
	}
	return largest;
}

static bool evict(struct umad_xfer_rx *rx, struct umad_gone *gone)
{
	if (!umad_xfer_rx_evict(rx))
		return false;
	list_add(&rx->entry->rx_entry.node, &gone->entries);
	rx->entry = NULL;
	spin_lock(&evicted_lock);
	list_add_tail(&rx->linger_node, &evicted);
	spin_unlock(&evicted_lock);
	queue_work(umad_timer_wq, &evicted_work);
	return true;
}

/* The table has the only reference. Its address handle may take longer to go. */
static bool linger_no_more(struct umad_xfer_rx *rx)
{
	struct umad_agent *agent = rx->agent;
	struct umad_ah *ah = NULL;

	if (refcount_read(&rx->refs) != 1 || !umad_active_ref_tryget(&agent->active_ref))
		return false;
	umad_xfer_rx_remove(rx);
	swap(rx->ah, ah);
	umad_xfer_rx_free(rx);
	if (ah)
		umad_ah_put_later(ah, agent);
	else
		umad_agent_leave(agent);
	return true;
}

/* The oldest messages that linger, and memos. */
static size_t shed_ended(struct umad_file *file, size_t bytes)
{
	struct umad_xfer_rx *rx, *next;
	unsigned int looked_at = 0;
	size_t freed = 0;

	lockdep_assert_held(&file->lock);
	list_for_each_entry_safe(rx, next, &file->rmpp->lingering, linger_node) {
		if (freed >= bytes || looked_at++ == LOOK_LINGERING)
			break;
		if (linger_no_more(rx))
			freed += sizeof(*rx);
	}
	if (freed < bytes)
		freed += umad_rmpp_memo_shed(file, bytes - freed);
	return freed;
}

static size_t shed_messages(struct umad_file *file, size_t bytes, bool answers,
			    struct umad_gone *gone)
{
	unsigned int ended = 0;
	struct umad_xfer_rx *rx;
	size_t freed = 0, size;

	lockdep_assert_held(&file->lock);
	while (freed < bytes && ended++ < SHED_MOST) {
		rx = answers ? next_answer(file->rmpp) : next_to_go(file->rmpp);
		if (!rx)
			break;
		size = rx->charged + UMAD_RX_BYTES;
		if (!evict(rx, gone))
			break;
		freed += size;
	}
	return freed;
}

/**
 * umad_rmpp_size() - what a file has of messages
 * @file: the file
 * @what: of this kind, but for UMAD_SHED_UNREAD
 *
 * Context: any; without the lock, so it may be another number by then.
 * Return: bytes.
 */
size_t umad_rmpp_size(const struct umad_file *file, enum umad_shed what)
{
	const struct umad_rmpp *rmpp = READ_ONCE(file->rmpp);
	u64 unasked;

	if (!rmpp)
		return 0;
	if (what == UMAD_SHED_ENDED)
		return READ_ONCE(rmpp->lingering_count) * sizeof(struct umad_xfer_rx) +
		       READ_ONCE(rmpp->memos.count) * sizeof(struct umad_rmpp_memo);
	if (what == UMAD_SHED_SILENT || what == UMAD_SHED_SENT)
		return READ_ONCE(rmpp->sending_bytes);
	unasked = READ_ONCE(rmpp->unasked_bytes);
	if (what == UMAD_SHED_ANSWERS)
		return READ_ONCE(rmpp->reassembly_bytes) - unasked;
	return unasked + READ_ONCE(rmpp->unsolicited) * UMAD_RX_BYTES;
}

/**
 * umad_rmpp_shed() - end messages that are being received, or forget those that were
 * @file: the file
 * @bytes: of memory that is to be given back, if they have so much; of many messages less
 * @what: of this kind: UMAD_SHED_ENDED, _UNASKED or _ANSWERS
 * @gone: where that goes, or it is given back here
 *
 * Context: process, reclaiming memory; does not sleep.
 * Return: bytes.
 */
size_t umad_rmpp_shed(struct umad_file *file, size_t bytes, enum umad_shed what,
		      struct umad_gone *gone)
{
	size_t freed = 0;

	spin_lock(&file->lock);
	if (file->rmpp && what == UMAD_SHED_ENDED)
		freed = shed_ended(file, bytes);
	else if (file->rmpp)
		freed = shed_messages(file, bytes, what == UMAD_SHED_ANSWERS, gone);
	spin_unlock(&file->lock);
	return freed;
}
