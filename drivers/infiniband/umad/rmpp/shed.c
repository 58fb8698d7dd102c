// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp/shed.h"

#include <linux/list.h>
#include <linux/workqueue.h>
#include "agent.h"
#include "file.h"
#include "queues.h"
#include "request.h"
#include "rmpp/peer.h"
#include "rmpp/reassembly.h"
#include "rmpp/xfer_rx.h"

/* Messages that are ended at a time: a port's others wait for the lock. */
#define SHED_MOST	64
/* Peers that are looked at, and messages of each. */
#define LOOK_PEERS	8
#define LOOK_MESSAGES	8
/* Messages of one segment, as many of them. */
#define LOOK_LONE	(LOOK_PEERS * LOOK_MESSAGES)
/* Answers of an agent, with complete messages that linger. */
#define LOOK_ANSWERS	256

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

/* Who has another reference may be writing to its pages. */
static bool may_go(const struct umad_xfer_rx *rx)
{
	return refcount_read(&rx->refs) == 1;
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

/* It need not be reported, but times out. */
static bool may_time_out(const struct umad_xfer_rx *rx)
{
	return rx->solicited && rx->engine.state == RMPP_RX_REASSEMBLING &&
	       rx->req->txn.timeout != UMAD_TIMEOUT_INFINITE && may_go(rx);
}

/* Of some of an agent's the largest, if it is larger. */
static struct umad_xfer_rx *larger_of(const struct umad_agent *agent, struct umad_xfer_rx *largest)
{
	unsigned int looked_at = 0;
	struct umad_xfer_rx *rx;

	list_for_each_entry(rx, &agent->receivers, agent_node) {
		if (may_time_out(rx) && (!largest || rx->charged > largest->charged))
			largest = rx;
		if (++looked_at == LOOK_ANSWERS)
			break;
	}
	return largest;
}

static struct umad_xfer_rx *next_answer(const struct umad_file *file)
{
	struct umad_xfer_rx *largest = NULL;
	struct umad_agent *agent;
	unsigned int id;

	for (id = 0; id < file->slots; id++) {
		agent = umad_file_agent(file, id);
		if (agent)
			largest = larger_of(agent, largest);
	}
	return largest;
}

static bool evict(struct umad_xfer_rx *rx, struct list_head *gone)
{
	if (!umad_xfer_rx_evict(rx))
		return false;
	list_add(&rx->entry->rx_entry.node, gone);
	rx->entry = NULL;
	spin_lock(&evicted_lock);
	list_add_tail(&rx->linger_node, &evicted);
	spin_unlock(&evicted_lock);
	queue_work(umad_timer_wq, &evicted_work);
	return true;
}

static struct umad_xfer_rx *next_of(const struct umad_file *file, bool answers)
{
	if (!file->rmpp)
		return NULL;
	return answers ? next_answer(file) : next_to_go(file->rmpp);
}

/**
 * umad_rmpp_size() - what a file has of messages that are being received
 * @file: that receives them
 * @answers: those that answer requests; false: those that nobody has asked for
 *
 * Context: any; without the lock, so it may be another number by then.
 * Return: bytes.
 */
size_t umad_rmpp_size(const struct umad_file *file, bool answers)
{
	const struct umad_rmpp *rmpp = READ_ONCE(file->rmpp);
	u64 unasked;

	if (!rmpp)
		return 0;
	unasked = READ_ONCE(rmpp->unasked_bytes);
	if (answers)
		return READ_ONCE(rmpp->reassembly_bytes) - unasked;
	return unasked + READ_ONCE(rmpp->unsolicited) * UMAD_RX_BYTES;
}

/**
 * umad_rmpp_shed() - end messages that are being received
 * @file: that receives them
 * @bytes: of memory that is to be given back, if they have so much; of many messages less
 * @answers: those that answer requests; false: those that nobody has asked for
 * @gone: where that goes, &umad_rx_entry.node, for &umad_rx_ops.release without a queue
 *
 * Context: process, reclaiming memory; does not sleep.
 * Return: bytes.
 */
size_t umad_rmpp_shed(struct umad_file *file, size_t bytes, bool answers,
		      struct list_head *gone)
{
	unsigned int ended = 0;
	struct umad_xfer_rx *rx;
	size_t freed = 0, size;

	spin_lock(&file->lock);
	while (freed < bytes && ended++ < SHED_MOST && (rx = next_of(file, answers))) {
		size = rx->charged + UMAD_RX_BYTES;
		if (!evict(rx, gone))
			break;
		freed += size;
	}
	spin_unlock(&file->lock);
	return freed;
}
