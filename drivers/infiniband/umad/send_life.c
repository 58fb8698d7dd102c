// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The life of a send: its beginning, its references, its states, the report of its end. */
#include <linux/types.h>
#include "send.h"

#include <linux/err.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "agent.h"
#include "ah.h"
#include "file.h"
#include "port.h"
#include "queues.h"
#include "trace.h"
#include "wait_entry.h"

/**
 * umad_send_get() - take a reference
 * @send: to be kept
 *
 * Context: any.
 */
void umad_send_get(struct umad_send *send)
{
	refcount_inc(&send->refs);
}

static void release_report(struct umad_msg *msg)
{
	struct umad_report *report = container_of(msg, struct umad_report, msg);

	atomic_dec(&report->file->held_sends);
	kfree(report);
}

/**
 * umad_send_put() - drop a reference
 * @send: consumed
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_send_put(struct umad_send *send)
{
	if (!refcount_dec_and_test(&send->refs))
		return;
	if (send->ah)
		umad_ah_put(send->ah);
	if (send->ops->release)
		send->ops->release(send);
	atomic_dec(&send->file->held_sends);
	kfree(send->report);
	kfree(send->mad);
	kfree(send);
}

/**
 * umad_send_arm() - run the work at the first deadline, unless it will before
 * @file: whose deadlines have changed
 * @now: the time
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_send_arm(struct umad_file *file, ktime_t now)
{
	ktime_t next = umad_txn_next_deadline(&file->txns);
	s64 ns;

	lockdep_assert_held(&file->lock);
	if (next >= file->armed)
		return;
	file->armed = next;
	ns = max_t(s64, ktime_sub(next, now), 0);
	/* Round up: before the deadline there would be nothing to do. */
	mod_delayed_work(umad_timer_wq, &file->deadline_work,
			 nsecs_to_jiffies(ns) + 1);
}

static unsigned int max_sends = 262144;
module_param(max_sends, uint, 0644);
MODULE_PARM_DESC(max_sends,
		 "Sends a file may have outstanding, with unread timeouts; write() then fails with ENOBUFS (default: 262144)");

/*
 * What a file holds of sends and of unread timeouts is bounded. A send counts until
 * ib_core has done with all its MADs: a program whose requests time out before they
 * leave a slow device's send queue would fill that without end.
 */
static bool may_hold_another(struct umad_file *file)
{
	if (atomic_inc_return(&file->held_sends) <= READ_ONCE(max_sends))
		return true;
	atomic_dec(&file->held_sends);
	umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_OVER_LIMIT);
	return false;
}

static void init_txn(struct umad_send *send, const struct ib_user_mad_hdr *hdr,
		     const struct ib_mad_hdr *mad)
{
	const struct umad_txn_key key = {
		.tid = mad->tid,
		.mgmt_class = mad->mgmt_class,
		.response = !!ib_response_mad(mad),
	};
	struct umad_txn_dest dest;

	umad_hdr_to_dest(hdr, &dest);
	umad_txn_init(&send->txn, &key, &dest, hdr->timeout_ms, hdr->retries);
}

/*
 * The upper half of a request's TID routes the response back to the agent;
 * a response keeps the TID of its request.
 */
static void set_tid(struct umad_agent *agent, struct ib_mad_hdr *mad)
{
	if (!ib_response_mad(mad))
		mad->tid = cpu_to_be64((u64)agent->core->hi_tid << 32 |
				       lower_32_bits(be64_to_cpu(mad->tid)));
}

static struct umad_send *send_alloc(struct umad_agent *agent,
				    const struct umad_send_ops *ops,
				    const struct ib_user_mad_hdr *hdr,
				    const struct ib_mad_hdr *mad)
{
	struct umad_report *report;
	struct umad_send *send;

	if (!may_hold_another(agent->file))
		return ERR_PTR(-ENOBUFS);
	send = kzalloc(sizeof(*send), GFP_KERNEL_ACCOUNT);
	report = kzalloc(sizeof(*report), GFP_KERNEL_ACCOUNT);
	if (!send || !report) {
		kfree(report);
		kfree(send);
		atomic_dec(&agent->file->held_sends);
		return ERR_PTR(-ENOMEM);
	}
	send->ops = ops;
	refcount_set(&send->refs, 1);
	send->file = agent->file;
	send->agent = agent;
	send->hdr = *hdr;
	send->report = report;
	timerqueue_init(&send->expired_node);
	report->file = agent->file;
	report->mad = *mad;
	report->msg.data = &report->mad;
	report->msg.len = sizeof(report->mad);
	report->msg.release = release_report;
	init_txn(send, hdr, mad);
	umad_again_entry_init(&send->in_line, &send->txn.dest);
	return send;
}

/**
 * umad_send_create() - a send, with its transaction, its report and its address
 * @agent: inside its gate
 * @ops: what it is
 * @hdr: the program's header
 * @mad: the MAD's header; that of a request is given a TID that leads back to @agent
 *
 * Context: process; sleeps, in the resolution of an address for a second or so, but
 * never for user space.
 * Return: the send, in no table yet, with one reference; -ENOBUFS when the file holds
 * max_sends already; -ENOMEM; what umad_ah_create() has against it.
 */
struct umad_send *umad_send_create(struct umad_agent *agent,
				   const struct umad_send_ops *ops,
				   const struct ib_user_mad_hdr *hdr,
				   struct ib_mad_hdr *mad)
{
	struct umad_send *send;
	struct umad_ah *ah;

	set_tid(agent, mad);
	send = send_alloc(agent, ops, hdr, mad);
	if (IS_ERR(send))
		return send;
	/*
	 * What takes long comes last: whose gate is shut meanwhile is not in for
	 * a cgroup's reclaim after that.
	 */
	ah = umad_ah_create(agent->core->qp->pd, agent->file->port->port_num,
			    hdr);
	if (IS_ERR(ah)) {
		umad_send_put(send);
		return ERR_CAST(ah);
	}
	send->ah = ah;
	return send;
}

/**
 * umad_send_enter() - into the file's table, ready to be posted
 * @send: created; after 0 the table's, and the caller has a reference of its own
 * @buf: the first attempt of a single MAD, that waits for the response, if one is
 *	expected; or NULL
 * @waiting_done: called then, when ib_core has done with @buf
 * @refuse_duplicate: not while another is outstanding with its TID and destination
 *
 * Context: process; takes &umad_file.lock; does not sleep.
 * Return: 0; -EINVAL for a duplicate; -EIO when the file or the agent ends.
 */
int umad_send_enter(struct umad_send *send, struct ib_mad_send_buf *buf,
		    umad_done_fn waiting_done, bool refuse_duplicate)
{
	struct umad_file *file = send->file;
	ktime_t now = ktime_get();
	int ret = -EIO;

	spin_lock(&file->lock);
	if (file->dead || send->agent->dying)
		goto out;
	ret = umad_txn_add(&file->txns, &send->txn, refuse_duplicate, now);
	if (ret == -EINVAL)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_DUPLICATE);
	if (ret)
		goto out;
	list_add_tail(&send->agent_node, &send->agent->sends);
	/* No time, but the same kind of order. */
	send->expired_node.expires = send->agent->posted++;
	/* For the caller, while it posts. */
	umad_send_get(send);
	if (buf)
		umad_wait_entry_attach(send, buf, waiting_done);
	umad_send_arm(file, now);
out:
	spin_unlock(&file->lock);
	return ret;
}

/**
 * umad_send_build() - a MAD for ib_core, with the send's address and a reference
 * @send: inside its agent's gate, or in a handler of ib_core
 * @head: first bytes of the MAD
 * @head_len: of them; what follows is zero
 * @len: bytes of the MAD
 * @gfp: for its memory
 * @done: called when ib_core has done with it; umad_send_unbuild() has to follow
 *
 * Context: process; may sleep if @gfp allows it.
 * Return: the MAD, or an ERR_PTR().
 */
struct ib_mad_send_buf *umad_send_build(struct umad_send *send, const void *head,
					size_t head_len, size_t len, gfp_t gfp,
					umad_done_fn done)
{
	const struct umad_post post = {
		.core = send->agent->core,
		.ah = send->ah,
		.qpn = be32_to_cpu(send->hdr.qpn),
		.pkey_index = send->hdr.pkey_index,
		.head = head,
		.head_len = head_len,
		.len = len,
		.gfp = gfp,
		.done = done,
		.owner = send,
	};
	struct ib_mad_send_buf *buf;

	buf = umad_post_build(&post);
	if (!IS_ERR(buf))
		umad_send_get(send);
	return buf;
}

/**
 * umad_send_unbuild() - undo umad_send_build()
 * @send: the send
 * @buf: consumed; ib_core has done with it, or has not taken it
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_send_unbuild(struct umad_send *send, struct ib_mad_send_buf *buf)
{
	umad_post_free(buf, send->ah);
	umad_send_put(send);
}

/* Tell the caller that nobody answered. */
static void report(struct umad_send *send)
{
	struct umad_report *report = send->report;
	struct umad_file *file = send->file;

	lockdep_assert_held(&file->lock);
	send->report = NULL;
	report->msg.hdr = send->hdr;
	report->msg.hdr.status = ETIMEDOUT;
	if (send->ops->describe) {
		memset(report->msg.hdr.reserved, 0,
		       sizeof(report->msg.hdr.reserved));
		send->ops->describe(send, report->msg.hdr.reserved);
	}
	/* It counts by itself: it may be read before the send has left, or long after. */
	atomic_inc(&file->held_sends);
	if (!umad_file_queue(file, &report->msg, UMAD_STAT_SEND_TIMED_OUT))
		release_report(&report->msg);
}

/**
 * umad_send_step() - step a send's transaction, report what is to be reported
 * @send: the send
 * @event: what happened
 * @wc_status: &enum ib_wc_status, or with UMAD_TXN_EV_UNDELIVERED the RMPPStatus,
 *	for the trace
 * @now: the time
 *
 * Context: process, &umad_file.lock held, until umad_send_unlock(); does not sleep.
 * Return: what umad_txn_step() returned.
 */
enum umad_txn_action umad_send_step(struct umad_send *send,
				    enum umad_txn_event event, int wc_status,
				    ktime_t now)
{
	enum umad_txn_state old = send->txn.state;
	struct umad_file *file = send->file;
	enum umad_txn_action action;

	lockdep_assert_held(&file->lock);
	action = umad_txn_step(&file->txns, &send->txn, event, now);
	trace_ib_umad_txn(file, &send->txn, old, event, wc_status);
	if (action == UMAD_TXN_REPORT)
		report(send);

	if (old != UMAD_TXN_DONE && send->txn.state == UMAD_TXN_DONE) {
		list_move_tail(&send->agent_node, &file->done);
		umad_again_leave(&file->again, &send->in_line);
		if (send->ops->stop)
			send->ops->stop(send);
		if (old == UMAD_TXN_EXPIRED) {
			timerqueue_del(&send->agent->expired, &send->expired_node);
			send->agent->expired_count--;
			atomic_inc(&file->held_sends);
		}
		umad_wait_entry_cancel(send);
	} else if (old != UMAD_TXN_EXPIRED && send->txn.state == UMAD_TXN_EXPIRED) {
		timerqueue_add(&send->agent->expired, &send->expired_node);
		send->agent->expired_count++;
		/* Few may be expired, and they are not what the program waits for. */
		atomic_dec(&file->held_sends);
	}
	return action;
}

/**
 * umad_send_unlock() - release &umad_file.lock after umad_send_step()
 * @file: whose lock is held
 *
 * The table's references to what has become DONE under it are dropped here: this may
 * be the last one of an address handle, whose end may sleep.
 * Context: process; may sleep; hold no other lock; inside the gates of all agents that
 * were stepped, or in a handler of ib_core.
 */
void umad_send_unlock(struct umad_file *file) __releases(&file->lock)
{
	struct umad_send *send, *next;
	LIST_HEAD(done);

	list_splice_init(&file->done, &done);
	spin_unlock(&file->lock);
	list_for_each_entry_safe(send, next, &done, agent_node)
		umad_send_put(send);
}

/**
 * umad_send_wait_ended() - ib_core has completed the wait entry
 * @send: the request; its wait entry is detached
 * @status: how it ended
 *
 * Context: process, &umad_file.lock held, until umad_send_unlock(); does not sleep.
 */
void umad_send_wait_ended(struct umad_send *send, enum ib_wc_status status)
{
	enum umad_txn_event event = UMAD_TXN_EV_FAILED;

	if (status == IB_WC_SUCCESS)
		event = send->answer_lost ? UMAD_TXN_EV_LOST : UMAD_TXN_EV_SENT;
	umad_send_step(send, event, status, ktime_get());
}

/**
 * umad_send_count_failure() - count a MAD that has failed on this host
 * @send: whose it is
 * @status: how it ended; success is none
 *
 * Nor is what was taken back, by us or with its agent.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_send_count_failure(struct umad_send *send, enum ib_wc_status status)
{
	lockdep_assert_held(&send->file->lock);
	if (status == IB_WC_SUCCESS)
		return;
	if (status == IB_WC_WR_FLUSH_ERR &&
	    (send->agent->dying || send->txn.state == UMAD_TXN_DONE))
		return;
	umad_stat_inc(&send->file->port->stats, UMAD_STAT_SEND_FAILED);
}
