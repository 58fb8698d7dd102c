// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The life of a request: its beginning, its references, its states, the entry of its timeout. */
#include <linux/types.h>
#include "request.h"

#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/slab.h>
#include "agent.h"
#include "ah.h"
#include "charge.h"
#include "file.h"
#include "port.h"
#include "send_limits.h"
#include "trace.h"
#include "user.h"
#include "wait_entry.h"

/* Each that is outstanding takes as much, and is cleared. */
static_assert(sizeof(struct umad_request) <= 512);

static struct kmem_cache *request_cache;

/**
 * umad_request_init() - before the first request
 *
 * Context: process; sleeps.
 * Return: 0 or -ENOMEM.
 */
int umad_request_init(void)
{
	request_cache = KMEM_CACHE(umad_request, 0);
	return request_cache ? 0 : -ENOMEM;
}

/**
 * umad_request_exit() - no file is left
 *
 * Context: process; sleeps.
 */
void umad_request_exit(void)
{
	kmem_cache_destroy(request_cache);
}

/**
 * umad_request_get() - take a reference
 * @req: to be kept
 *
 * Context: any.
 */
void umad_request_get(struct umad_request *req)
{
	refcount_inc(&req->refs);
}

static void view_entry(const struct umad_rx_entry *rx_entry, struct umad_rx_view *view)
{
	const struct umad_timeout_entry *entry =
		container_of(rx_entry, struct umad_timeout_entry, rx_entry);

	view->data = &entry->mad;
	view->len = sizeof(entry->mad);
}

static void release_entry(struct umad_rxq *q, struct umad_rx_entry *rx_entry, bool here)
{
	atomic_dec(&container_of(q, struct umad_file, rxq)->user->held_requests);
	kfree(container_of(rx_entry, struct umad_timeout_entry, rx_entry));
}

static const struct umad_rx_ops entry_ops = {
	.view = view_entry,
	.release = release_entry,
};

static enum umad_send_kind kind_of(const struct umad_request_ops *ops,
				   const struct ib_user_mad_hdr *hdr)
{
	if (ops->describe)
		return UMAD_SEND_MESSAGE;
	return hdr->timeout_ms ? UMAD_SEND_TIMED : UMAD_SEND_UNTIMED;
}

/**
 * umad_request_put() - drop a reference
 * @req: consumed
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_request_put(struct umad_request *req)
{
	if (!refcount_dec_and_test(&req->refs))
		return;
	if (req->ah)
		umad_ah_put_request(req->agent, req->ah);
	if (req->ops->release)
		req->ops->release(req);
	if (req->outlet)
		umad_hidden_leave(req->outlet);
	umad_send_limits_give(req->file, kind_of(req->ops, &req->hdr));
	kfree(req->timeout_entry);
	kfree(req->mad);
	kmem_cache_free(request_cache, req);
}

/* Tell the caller that nobody answered. */
static void queue_timeout_entry(struct umad_request *req)
{
	struct umad_timeout_entry *entry = req->timeout_entry;
	struct umad_file *file = req->file;

	lockdep_assert_held(&file->lock);
	if (WARN_ON_ONCE(!entry))
		return;
	req->timeout_entry = NULL;
	entry->rx_entry.hdr = req->hdr;
	entry->rx_entry.hdr.status = ETIMEDOUT;
	if (req->outlet)
		umad_hidden_timed_out(req->agent, req->outlet, req->txn.key.tid);
	if (req->ops->describe) {
		memset(entry->rx_entry.hdr.reserved, 0,
		       sizeof(entry->rx_entry.hdr.reserved));
		req->ops->describe(req, entry->rx_entry.hdr.reserved);
	}
	/* It counts by itself: it may be read before the request has left, or long after. */
	atomic_inc(&file->user->held_requests);
	if (!umad_file_queue(file, &entry->rx_entry, UMAD_STAT_SEND_TIMED_OUT))
		release_entry(&file->rxq, &entry->rx_entry, true);
}

/**
 * umad_request_step() - step a request's transaction, report what is to be reported
 * @req: the request
 * @event: what happened
 * @wc_status: &enum ib_wc_status, or with UMAD_TXN_EV_UNDELIVERED the RMPPStatus,
 *	for the trace
 * @now: the time, of UMAD_TXN_EV_DEADLINE
 *
 * Context: process, &umad_file.lock held, until umad_request_unlock(); does not sleep.
 * Return: what umad_txn_step() returned.
 */
enum umad_txn_action umad_request_step(struct umad_request *req,
				       enum umad_txn_event event, int wc_status,
				       ktime_t now)
{
	enum umad_txn_state old = req->txn.state;
	struct umad_file *file = req->file;
	enum umad_txn_action action;

	lockdep_assert_held(&file->lock);
	action = umad_txn_step(&file->txns, &req->txn, event, now);
	trace_ib_umad_txn(file, &req->txn, old, event, wc_status);
	if (action == UMAD_TXN_REPORT)
		queue_timeout_entry(req);

	if (old == req->txn.state)
		return action;
	if (req->txn.state == UMAD_TXN_DONE) {
		list_move_tail(&req->agent_node, &file->done);
		umad_retry_queue_remove(&file->retry_queue, &req->retry);
		if (req->ops->stop)
			req->ops->stop(req);
		if (old == UMAD_TXN_EXPIRED) {
			timerqueue_del(&req->agent->expired, &req->expired_node);
			req->agent->expired_count--;
			WRITE_ONCE(file->expired, file->expired - 1);
			atomic_inc(&file->user->held_requests);
		}
		umad_wait_entry_cancel(req);
	} else if (req->txn.state == UMAD_TXN_EXPIRED) {
		timerqueue_add(&req->agent->expired, &req->expired_node);
		req->agent->expired_count++;
		WRITE_ONCE(file->expired, file->expired + 1);
		/* Few may be expired, and they are not what the process waits for. */
		atomic_dec(&file->user->held_requests);
	}
	umad_wait_entry_leave_place(req);
	return action;
}

/**
 * umad_request_retry() - wait for a turn to be sent again
 * @req: a request, or a message, whose time has come; may wait already
 * @now: the time
 *
 * Context: process, &umad_file.lock held.
 */
void umad_request_retry(struct umad_request *req, ktime_t now)
{
	struct umad_retry_queue *queue = &req->file->retry_queue;

	lockdep_assert_held(&req->file->lock);
	/* The queue has no reference: who ends a request has taken it out. */
	if (WARN_ON_ONCE(req->txn.state == UMAD_TXN_DONE))
		return;
	if (!umad_retry_is_queued(&req->retry)) {
		req->retry_since = now;
		umad_retry_queue_add(queue, &req->retry);
	}
	umad_retry_queue_arm(queue, now);
}

static struct umad_agent *deadline_enter(struct umad_timer *timer, ktime_t now)
{
	struct umad_request *req = container_of(timer, struct umad_request,
						txn.timer);

	/* Whoever has shut it cancels all that it has. */
	if (!umad_active_ref_tryget(&req->agent->active_ref))
		return NULL;
	umad_request_get(req);
	umad_answer_gives_out(req, now);
	if (umad_request_step(req, UMAD_TXN_EV_DEADLINE, 0, now) == UMAD_TXN_RETRY)
		umad_request_retry(req, now);
	return req->agent;
}

static void deadline_run(struct umad_timer *timer)
{
	umad_request_put(container_of(timer, struct umad_request, txn.timer));
}

static const struct umad_timer_ops deadline_ops = {
	.enter = deadline_enter,
	.run = deadline_run,
};

/*
 * On RoCE nothing waits for a late response: its address handle would keep the port's
 * GID in its place, when ib_core wants to make that again.
 */
static void init_txn(struct umad_request *req, const struct ib_user_mad_hdr *hdr,
		     const struct ib_mad_hdr *mad)
{
	const struct umad_port *port = req->file->port;
	const struct umad_txn_key key = {
		.tid = mad->tid,
		.mgmt_class = mad->mgmt_class,
		.response = !!ib_response_mad(mad),
	};
	struct umad_addr dest;

	umad_addr_from_hdr(&dest, hdr);
	umad_txn_init(&req->txn, &key, &dest, hdr->timeout_ms, hdr->retries);
	req->txn.no_late = port->roce;
	req->txn.timer.ops = &deadline_ops;
}

/*
 * The upper half of a request's TID routes the response back to the agent;
 * a response keeps the TID of its request.
 */
static void set_tid(struct umad_agent *agent, struct ib_mad_hdr *mad)
{
	if (!ib_response_mad(mad))
		mad->tid = umad_tid_with(agent->core, mad->tid);
}

static struct umad_timeout_entry *entry_alloc(const struct ib_mad_hdr *mad)
{
	struct umad_timeout_entry *entry = kzalloc(sizeof(*entry), UMAD_GFP_WRITE);

	if (!entry)
		return NULL;
	entry->mad = *mad;
	entry->rx_entry.ops = &entry_ops;
	return entry;
}

static struct umad_request *send_alloc(struct umad_agent *agent,
				       const struct umad_request_ops *ops,
				       const struct ib_user_mad_hdr *hdr,
				       const struct ib_mad_hdr *mad)
{
	enum umad_send_kind kind = kind_of(ops, hdr);
	struct umad_request *req;
	int ret;

	ret = umad_send_limits_take(agent->file, kind);
	if (ret)
		return ERR_PTR(ret);
	req = kmem_cache_zalloc(request_cache, UMAD_GFP_WRITE);
	if (!req)
		goto err;
	/* Nothing is said of a single MAD that expects no response. */
	if (kind != UMAD_SEND_UNTIMED) {
		req->timeout_entry = entry_alloc(mad);
		if (!req->timeout_entry)
			goto err_free;
	}
	req->ops = ops;
	refcount_set(&req->refs, 1);
	req->file = agent->file;
	req->agent = agent;
	req->hdr = *hdr;
	timerqueue_init(&req->expired_node);
	umad_flow_entry_init(&req->flow);
	init_txn(req, hdr, mad);
	umad_retry_init(&req->retry, &req->txn.dest);
	return req;

err_free:
	kmem_cache_free(request_cache, req);
err:
	umad_send_limits_give(agent->file, kind);
	return ERR_PTR(-ENOMEM);
}

/**
 * umad_request_create() - a request, with its transaction, timeout entry and address
 * @agent: caller must hold an active reference
 * @ops: what it is
 * @hdr: the process's header
 * @mad: the MAD's header; that of a request is given a TID that leads back to @agent
 *
 * Context: process; sleeps, in the resolution of an address for a second or so, but
 * never for user space.
 * Return: the request, in no table yet, with one reference; -ENOBUFS when the process holds
 * max_sends already; -ENOMEM; what umad_ah_create() has against it.
 */
struct umad_request *umad_request_create(struct umad_agent *agent,
					 const struct umad_request_ops *ops,
					 const struct ib_user_mad_hdr *hdr,
					 struct ib_mad_hdr *mad)
{
	struct umad_request *req;
	struct umad_ah *ah;

	set_tid(agent, mad);
	req = send_alloc(agent, ops, hdr, mad);
	if (IS_ERR(req))
		return req;
	/*
	 * What takes long comes last: whose agent is killed meanwhile is not in for
	 * a cgroup's reclaim after that.
	 */
	ah = umad_ah_create(agent, &req->txn.dest, true);
	if (IS_ERR(ah)) {
		umad_request_put(req);
		return ERR_CAST(ah);
	}
	req->ah = ah;
	return req;
}

/* Its first attempt waits for the response; false: and for a place before that. */
static bool first_may_go(struct umad_request *req, struct ib_mad_send_buf *buf,
			 umad_done_fn waiting_done)
{
	struct umad_agent *agent = req->agent;

	if (!umad_wait_entry_needs_place(req, buf) ||
	    umad_flow_enter(&agent->flow, &req->flow)) {
		umad_wait_entry_attach(req, buf, waiting_done);
		return true;
	}
	umad_txn_hold(&req->file->txns, &req->txn);
	req->held_buf = buf;
	umad_stat_inc(&req->file->port->stats, UMAD_STAT_SEND_BACKLOGGED);
	umad_wait_entry_kick_backlog(agent);
	return false;
}

/**
 * umad_request_insert() - into the file's table, ready to be posted
 * @req: created; after 0 the table's, and the caller has a reference of its own
 * @buf: the first attempt of a single MAD, that waits for the response, if one is
 *	expected; or NULL
 * @waiting_done: called then, when ib_core has done with @buf
 * @refuse_duplicate: not while another is outstanding with its TID and destination
 *
 * Context: process; takes &umad_file.lock; does not sleep.
 * Return: 0, and @buf is to be posted; 1: @buf was consumed, and will be when ib_core has a
 * place for it; -EINVAL for a duplicate; -EIO when the file or the agent ends.
 */
int umad_request_insert(struct umad_request *req, struct ib_mad_send_buf *buf,
			umad_done_fn waiting_done, bool refuse_duplicate)
{
	struct umad_file *file = req->file;
	/* Without a timeout nothing is timed. */
	ktime_t now = req->txn.timeout ? ktime_get() : 0;
	int ret = -EIO;

	spin_lock(&file->lock);
	if (file->shutdown || req->agent->shutdown)
		goto out;
	ret = umad_txn_add(&file->txns, &req->txn, refuse_duplicate, now);
	if (ret == -EINVAL)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_DUPLICATE);
	if (ret)
		goto out;
	list_add_tail(&req->agent_node, &req->agent->requests);
	/* No time, but the same kind of order. */
	req->expired_node.expires = req->agent->posted++;
	/* For the caller, while it posts. */
	umad_request_get(req);
	if (buf && !first_may_go(req, buf, waiting_done))
		ret = 1;
	umad_file_arm(file);
out:
	spin_unlock(&file->lock);
	return ret;
}

static struct ib_mad_send_buf *build_mad(struct umad_request *req, struct umad_post *post)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *mad;

	post->core = req->outlet ? req->outlet->core : req->agent->core;
	post->ah = req->ah;
	post->owner = req;
	buf = umad_post_build(post);
	if (IS_ERR(buf))
		return buf;
	mad = buf->mad;
	if (req->outlet)
		mad->tid = umad_tid_with(req->outlet->core, mad->tid);
	umad_request_get(req);
	return buf;
}

/**
 * umad_request_build_mad() - a MAD for ib_core, with the request's address and a reference
 * @req: caller must hold an active reference to
 *	its agent, or be in a handler of ib_core
 * @head: first bytes of the MAD
 * @head_len: of them; what follows is zero
 * @len: bytes of the MAD
 * @gfp: for its memory
 * @done: called when ib_core has done with it; umad_request_free_mad() has to follow
 *
 * Context: process; may sleep if @gfp allows it.
 * Return: the MAD, or an ERR_PTR().
 */
struct ib_mad_send_buf *umad_request_build_mad(struct umad_request *req, const void *head,
					       size_t head_len, size_t len, gfp_t gfp,
					       umad_done_fn done)
{
	struct umad_post post = {
		.to = &req->txn.dest,
		.head = head,
		.head_len = head_len,
		.len = len,
		.gfp = gfp,
		.done = done,
	};

	return build_mad(req, &post);
}

/**
 * umad_request_build_silent() - one that its node does not take, to be the wait entry
 * @req: as umad_request_build_mad() has it
 * @head: bytes of the MAD
 * @len: of them
 * @gfp: for its memory
 * @done: called when ib_core has done with it; umad_request_free_mad() has to follow
 *
 * Of where the MAD went ib_core compares neither the node nor the queue pair with a response. The
 * queue pair of multicast packets takes none that has no multicast address (IBA 9.6.1).
 * Context: process; may sleep if @gfp allows it.
 * Return: the MAD, or an ERR_PTR().
 */
struct ib_mad_send_buf *umad_request_build_silent(struct umad_request *req, const void *head,
						  size_t len, gfp_t gfp, umad_done_fn done)
{
	struct umad_addr to = req->txn.dest;
	struct umad_post post = {
		.to = &to,
		.head = head,
		.head_len = len,
		.len = len,
		.gfp = gfp,
		.done = done,
	};

	to.qpn = cpu_to_be32(IB_MULTICAST_QPN);
	return build_mad(req, &post);
}

/**
 * umad_request_free_mad() - undo umad_request_build_mad()
 * @req: the request
 * @buf: consumed; ib_core has done with it, or has not taken it
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_request_free_mad(struct umad_request *req, struct ib_mad_send_buf *buf)
{
	umad_post_free(buf, req->ah);
	umad_request_put(req);
}

/**
 * umad_request_hold_mad() - a MAD that was sent is to be sent again
 * @req: that it was built for; caller must hold an active reference to its agent
 *
 * Context: any.
 */
void umad_request_hold_mad(struct umad_request *req)
{
	umad_ah_get(req->ah);
	umad_request_get(req);
}

/**
 * umad_request_release_mad() - ib_core has done with a MAD, which is kept
 * @req: that it was built for; ib_free_send_mad() has to follow, or
 *	umad_request_hold_mad() before it is posted again
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_request_release_mad(struct umad_request *req)
{
	umad_ah_put(req->ah);
	umad_request_put(req);
}

/**
 * umad_request_put_done() - drop the table's reference
 * @req: DONE, in no list any more; consumed
 *
 * Context: process; may sleep; hold no lock; with an active reference to the agent, or in a
 * handler of ib_core.
 */
void umad_request_put_done(struct umad_request *req)
{
	/* It has ended in the backlog, where it is not any more: nobody else takes it. */
	if (req->held_buf)
		umad_request_free_mad(req, req->held_buf);
	umad_request_put(req);
}

/**
 * umad_request_unlock() - release &umad_file.lock after umad_request_step()
 * @file: whose lock is held
 *
 * The table's references to what has become DONE under it are dropped here: this may
 * be the last one of an address handle, whose end may sleep. And who waits for what has
 * been queued is woken.
 * Context: process; may sleep; hold no other lock; with active references to all agents that
 * were stepped, or in a handler of ib_core.
 */
void umad_request_unlock(struct umad_file *file) __releases(&file->lock)
{
	struct umad_request *req, *next;
	LIST_HEAD(done);

	list_splice_init(&file->done, &done);
	spin_unlock(&file->lock);
	umad_rxq_wake(&file->rxq);
	list_for_each_entry_safe(req, next, &done, agent_node)
		umad_request_put_done(req);
}

/**
 * umad_request_wait_ended() - ib_core has completed the wait entry
 * @req: the request; its wait entry is detached
 * @status: how it ended
 *
 * Context: process, &umad_file.lock held, until umad_request_unlock(); does not sleep.
 */
void umad_request_wait_ended(struct umad_request *req, enum ib_wc_status status)
{
	enum umad_txn_event event = UMAD_TXN_EV_FAILED;

	if (status == IB_WC_SUCCESS)
		event = umad_request_has_lost_answer(req) ? UMAD_TXN_EV_LOST : UMAD_TXN_EV_SENT;
	umad_request_step(req, event, status, 0);
}

/**
 * umad_request_count_failure() - count a MAD that has failed on this host
 * @req: whose it is
 * @status: how it ended; success is none
 *
 * Nor is what was taken back, by us or with its agent.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_request_count_failure(struct umad_request *req, enum ib_wc_status status)
{
	lockdep_assert_held(&req->file->lock);
	if (status == IB_WC_SUCCESS)
		return;
	if (status == IB_WC_WR_FLUSH_ERR &&
	    (req->agent->shutdown || req->txn.state == UMAD_TXN_DONE))
		return;
	umad_stat_inc(&req->file->port->stats, UMAD_STAT_SEND_FAILED);
}
