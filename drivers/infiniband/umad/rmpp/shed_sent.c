// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Answers that give way before they have been delivered. */
#include <linux/types.h>
#include "rmpp/shed.h"

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "agent.h"
#include "file.h"
#include "pagebuf.h"
#include "queues.h"
#include "request.h"
#include "rmpp/xfer_tx.h"

/* That are ended at a time: a port's others wait for the lock. And that are looked at. */
#define SHED_MOST	64
#define LOOK_SENT	1024

static LIST_HEAD(ended); /* &umad_request.agent_node: their receivers are to hear of it */
static DEFINE_SPINLOCK(ended_lock); /* protects @ended; inside of &umad_file.lock */

static struct umad_request *take_ended(void)
{
	struct umad_request *req;

	spin_lock(&ended_lock);
	req = list_first_entry_or_null(&ended, struct umad_request, agent_node);
	if (req)
		list_del_init(&req->agent_node);
	spin_unlock(&ended_lock);
	return req;
}

/* Not while memory is reclaimed: it takes some, and an address handle's end may sleep. */
static void end_work(struct work_struct *work)
{
	struct umad_request *req;

	while ((req = take_ended())) {
		umad_xfer_tx_stop_evicted(req);
		cond_resched();
	}
}

static DECLARE_WORK(ended_work, end_work);

/* False if its agent ends, which takes it down. */
static bool evict(struct umad_xfer_tx *tx, struct umad_gone *gone)
{
	struct umad_request *req = tx->req;
	struct umad_pagebuf *data;

	if (!umad_active_ref_tryget(&req->agent->active_ref))
		return false;
	umad_xfer_tx_evict(req);
	data = umad_xfer_tx_take_data(tx);
	if (data)
		llist_add(&data->free_node, &gone->bufs);
	spin_lock(&ended_lock);
	/* It was in &umad_file.done. */
	list_move_tail(&req->agent_node, &ended);
	spin_unlock(&ended_lock);
	queue_work(umad_timer_wq, &ended_work);
	return true;
}

/**
 * umad_rmpp_shed_sent() - end messages that answer requests, and are being sent
 * @file: the file
 * @bytes: of memory that is to be given back, if they have so much; of many messages less
 * @silent: those whose receiver does not acknowledge them
 * @gone: where that goes
 *
 * A process hears of it, as of one that was not acknowledged.
 * Context: process, reclaiming memory; does not sleep.
 * Return: bytes.
 */
size_t umad_rmpp_shed_sent(struct umad_file *file, size_t bytes, bool silent,
			   struct umad_gone *gone)
{
	unsigned int evicted = 0, looked_at = 0;
	struct umad_xfer_tx *tx, *next;
	u64 now = ktime_get_ns();
	size_t freed = 0, size;

	spin_lock(&file->lock);
	if (!file->rmpp)
		goto out;
	list_for_each_entry_safe(tx, next, &file->rmpp->answers_sent, sent_node) {
		if (freed >= bytes || evicted == SHED_MOST || looked_at++ == LOOK_SENT)
			break;
		if (!umad_xfer_tx_may_go(tx) ||
		    (silent && !rmpp_tx_is_silent(&tx->engine, now)))
			continue;
		size = tx->charged - tx->shared;
		if (!evict(tx, gone))
			continue;
		freed += size;
		evicted++;
	}
out:
	spin_unlock(&file->lock);
	return freed;
}
