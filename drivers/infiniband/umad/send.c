// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "send.h"

#include <kunit/visibility.h>
#include <linux/err.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "agent.h"
#include "ah.h"
#include "charge.h"
#include "port.h"
#include "file.h"
#include "hdr.h"
#include "post.h"
#include "queues.h"
#include "rmpp_send.h"
#include "trace.h"

static unsigned int max_sends = 262144;
module_param(max_sends, uint, 0644);
MODULE_PARM_DESC(max_sends,
		 "Sends a file may have outstanding, with unread time-outs; write() then fails with ENOBUFS (default: 262144)");

/*
 * What a file holds of sends and of unread time-outs is bounded. A send counts until
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

/* Of a further attempt: it has left, or failed; the time of the next runs. */
static void attempt_done(struct umad_send *send)
{
	struct umad_file *file = send->file;
	ktime_t now = ktime_get();

	lockdep_assert_held(&file->lock);
	if (send->again)
		file->again.in_flight--;
	send->again = NULL;
	umad_txn_attempt_done(&file->txns, &send->txn, now);
	umad_send_arm(file, now);
	umad_again_arm(&file->again, now);
}

static enum umad_txn_event done_event(const struct umad_send *send, bool ok)
{
	if (!ok)
		return UMAD_TXN_EV_FAILED;
	return send->answer_lost ? UMAD_TXN_EV_LOST : UMAD_TXN_EV_SENT;
}

/* ib_core has done with an attempt. */
static void send_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_send *send = umad_post_owner(buf);
	struct umad_stats *stats = &send->file->port->stats;
	struct umad_file *file = send->file;
	bool ok = status == IB_WC_SUCCESS;
	bool finish = false, turn = false, flushed;
	ktime_t took;

	spin_lock(&file->lock);
	flushed = status == IB_WC_WR_FLUSH_ERR &&
		  (send->agent->dying || send->txn.state == UMAD_TXN_DONE);
	if (send->waiting == buf || send->txn.state == UMAD_TXN_SEND) {
		send->waiting = NULL;
		if (ok && send->txn.state == UMAD_TXN_SEND)
			umad_stat_inc(stats, UMAD_STAT_SEND_COMPLETED);
		/* Waiting for its turn, a request is not at its last attempt. */
		if (ok || send->rmpp ||
		    (!umad_again_waits(&send->in_line) && !send->has_turn))
			umad_send_step(send, done_event(send, ok), status,
				       ktime_get(), &finish);
	}
	if (send->again == buf) {
		took = ktime_sub(ktime_get(), send->again_since);
		umad_pace_took(&file->port->pace, ktime_to_ns(took));
		attempt_done(send);
	}
	if (send->rmpp)
		turn = umad_rmpp_turn_done(send);
	if (!ok && !flushed)
		umad_stat_inc(stats, UMAD_STAT_SEND_FAILED);
	spin_unlock(&file->lock);

	if (finish)
		umad_send_finish(send);
	if (turn)
		umad_rmpp_turn_around(send);
	umad_post_free(buf, send->ah);
	umad_send_put(send);
}

/* A MAD for ib_core with the send's bytes, its address and a reference. */
static struct ib_mad_send_buf *build(struct umad_send *send, const void *mad,
				     size_t len, gfp_t gfp)
{
	const struct umad_post post = {
		.core = send->agent->core,
		.ah = send->ah,
		.qpn = be32_to_cpu(send->hdr.qpn),
		.pkey_index = send->hdr.pkey_index,
		.head = mad,
		.head_len = len,
		.len = len,
		.gfp = gfp,
		.done = send_done,
		.owner = send,
	};
	struct ib_mad_send_buf *buf;

	buf = umad_post_build(&post);
	if (!IS_ERR(buf))
		umad_send_get(send);
	return buf;
}

/* Undo build(), when ib_core has done with it or has not taken it. */
static void unbuild(struct umad_send *send, struct ib_mad_send_buf *buf)
{
	umad_post_free(buf, send->ah);
	umad_send_put(send);
}

/**
 * umad_send_post() - post a MAD for a send, after the first
 * @send: inside its agent's gate, or in a handler of ib_core
 * @mad: the MAD
 * @len: bytes of it
 * @again: a further attempt, whose turn it is, of a request that
 *	has no deadline until this one has left the send queue; else a turn-around
 *	ACK
 *
 * It becomes the placeholder if there is none and a response is waited for. What
 * fails here is made good by the next attempt, or by the deadline.
 * Context: process; waits for no memory, but may give back an address; hold no
 * lock.
 * Return: 0 if it was posted, or an errno.
 */
int umad_send_post(struct umad_send *send, const void *mad, size_t len,
		   bool again)
{
	struct umad_stats *stats = &send->file->port->stats;
	struct umad_file *file = send->file;
	struct ib_mad_send_buf *buf;
	ktime_t now = ktime_get();
	bool waits;
	int ret;

	buf = build(send, mad, len, UMAD_POST_NOWAIT);
	ret = PTR_ERR_OR_ZERO(buf);
	spin_lock(&file->lock);
	waits = !ret && !send->waiting && send->txn.state == UMAD_TXN_WAIT;
	if (waits) {
		umad_post_wait_for_ever(buf);
		send->waiting = buf;
	}
	if (again)
		send->has_turn = false;
	/* ib_core does not say when one that waits there has left. */
	if (again && waits)
		umad_pace_unknown(&file->port->pace, now);
	if (again && (ret || waits)) {
		attempt_done(send);
	} else if (again) {
		file->again.in_flight++;
		send->again = buf;
		send->again_since = now;
	}
	spin_unlock(&file->lock);
	if (ret)
		goto err_count;

	ret = ib_post_send_mad(buf, NULL);
	spin_lock(&file->lock);
	if (ret && send->waiting == buf)
		send->waiting = NULL;
	if (ret && send->again == buf)
		attempt_done(send);
	/* It may have ended before ib_core knew what to take back. */
	if (!ret && send->txn.state == UMAD_TXN_DONE)
		umad_send_take_back(send);
	spin_unlock(&file->lock);
	if (!ret)
		return 0;
	unbuild(send, buf);
err_count:
	umad_stat_inc(stats, UMAD_STAT_SEND_FAILED);
	return ret;
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
	refcount_set(&send->refs, 1);
	send->file = agent->file;
	send->agent = agent;
	send->hdr = *hdr;
	send->report = report;
	timerqueue_init(&send->late_node);
	report->file = agent->file;
	report->mad = *mad;
	report->msg.data = &report->mad;
	report->msg.len = sizeof(report->mad);
	report->msg.release = umad_send_release_report;
	init_txn(send, hdr, mad);
	umad_again_entry_init(&send->in_line, &send->txn.dest);
	return send;
}

/*
 * Enter it in the file's table, ready to be posted. The first attempt, if it
 * is a single MAD, becomes the placeholder.
 */
static int enter(struct umad_send *send, struct ib_mad_send_buf *buf,
		 bool refuse_duplicate)
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
	send->late_node.expires = send->agent->posted++;
	/* For the caller, while it posts. */
	umad_send_get(send);
	if (buf && send->txn.state == UMAD_TXN_WAIT) {
		umad_post_wait_for_ever(buf);
		send->waiting = buf;
	}
	umad_send_arm(file, now);
out:
	spin_unlock(&file->lock);
	return ret;
}

/*
 * Post the first attempt of an entered send. Whatever happens, the send is
 * the table's and ib_core's from here on, but for the caller's reference.
 */
static int post_first(struct umad_send *send, struct ib_mad_send_buf *buf)
{
	bool finish = false, reported = false;
	struct umad_file *file = send->file;
	int ret;

	ret = ib_post_send_mad(buf, NULL);
	spin_lock(&file->lock);
	if (ret) {
		send->waiting = NULL;
		reported = send->txn.state == UMAD_TXN_LATE ||
			   send->txn.state == UMAD_TXN_DONE;
		umad_send_step(send, UMAD_TXN_EV_CANCEL, 0, ktime_get(), &finish);
	} else if (send->txn.state == UMAD_TXN_DONE) {
		/* Ended before ib_core knew what to take back. */
		umad_send_stop_waiting(send);
	}
	spin_unlock(&file->lock);

	if (ret)
		unbuild(send, buf);
	if (finish)
		umad_send_finish(send);
	/* What the caller hears by read() it does not hear by write() too. */
	return reported ? 0 : ret;
}

static int check_mad(struct umad_agent *agent, const struct ib_mad_hdr *mad,
		     size_t len)
{
	struct umad_port *port = agent->file->port;

	/* ABI: such an agent sends its own kind of class only. */
	if (agent->rmpp && !ib_is_mad_class_rmpp(mad->mgmt_class))
		return -EINVAL;
	return umad_mad_check_len(mad, len,
				  rdma_cap_opa_mad(port->ib_dev,
						   port->port_num));
}

static bool may_retry(const struct umad_send *send)
{
	return send->txn.timeout && send->txn.timeout != UMAD_TXN_FOREVER &&
	       send->txn.retries_left;
}

/* The address, the transaction and the report of a MAD. */
static struct umad_send *prepare(struct umad_agent *agent,
				 const struct ib_user_mad_hdr *hdr,
				 struct ib_mad_hdr *mad)
{
	struct umad_send *send;
	struct umad_ah *ah;

	set_tid(agent, mad);
	send = send_alloc(agent, hdr, mad);
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

static int send_single(struct umad_agent *agent,
		       const struct ib_user_mad_hdr *hdr, void *mad,
		       size_t len)
{
	struct ib_mad_send_buf *buf;
	struct umad_send *send;
	bool refuse_duplicate;
	int ret;

	ret = check_mad(agent, mad, len);
	if (ret)
		return ret;
	/* ABI: RMPP that is not active has no header. */
	if (agent->kernel_rmpp)
		memset(mad + IB_MGMT_MAD_HDR, 0, sizeof(struct ib_rmpp_hdr));
	/* Segments of a program's own RMPP all have one TID. */
	refuse_duplicate = !umad_mad_is_rmpp_active(mad);
	send = prepare(agent, hdr, mad);
	if (IS_ERR(send))
		return PTR_ERR(send);
	if (may_retry(send)) {
		send->mad = kmemdup(mad, len, GFP_KERNEL_ACCOUNT);
		send->mad_len = len;
		ret = -ENOMEM;
		if (!send->mad)
			goto err_send;
	}
	buf = build(send, mad, len, GFP_KERNEL_ACCOUNT);
	if (IS_ERR(buf)) {
		ret = PTR_ERR(buf);
		goto err_send;
	}
	ret = enter(send, buf, refuse_duplicate);
	if (ret)
		goto err_buf;

	umad_stat_inc(&agent->file->port->stats, UMAD_STAT_SEND_POSTED);
	ret = post_first(send, buf);
	umad_send_put(send);
	return ret;

err_buf:
	unbuild(send, buf);
err_send:
	umad_send_finish(send);
	return ret;
}

static int send_message(struct umad_agent *agent,
			const struct ib_user_mad_hdr *hdr,
			struct umad_rmpp_tx *tx)
{
	struct umad_send *send;
	int ret;

	/* The id may have come to another agent since the program's write. */
	send = agent->kernel_rmpp ? prepare(agent, hdr, umad_rmpp_tx_mad(tx)) :
				    ERR_PTR(-EINVAL);
	if (IS_ERR(send)) {
		umad_rmpp_tx_free(tx);
		return PTR_ERR(send);
	}
	send->rmpp = tx;
	send->txn.held = true;
	umad_rmpp_tx_start(send);
	ret = enter(send, NULL, true);
	if (ret) {
		umad_send_finish(send);
		return ret;
	}
	umad_stat_inc(&agent->file->port->stats, UMAD_STAT_SEND_POSTED);
	umad_rmpp_tx_pump(send);
	umad_send_put(send);
	return 0;
}

/**
 * umad_send_mad() - send a MAD for a program
 * @file: that it was written to
 * @hdr: the program's header, @id below UMAD_MAX_AGENTS
 * @mad: kmalloc()ed, with 36 bytes at least behind it; consumed
 * @len: bytes that the program has written
 *
 * After 0 the file hears of it once more at the most: by the response, or by
 * this header with status ETIMEDOUT.
 * Context: process; sleeps, in the resolution of an address for a second or
 * so, but never for user space; hold no lock.
 * Return: 0; -EIO for no such agent; -EINVAL for a length or class that
 * cannot be, and for a duplicate; -ENOBUFS when the file holds max_sends
 * already; -ENOMEM; what umad_ah_create() and ib_core have against it.
 */
int umad_send_mad(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		  void *mad, size_t len)
{
	unsigned int over_high = umad_throttle_defer();
	struct umad_agent *agent;
	int ret = -EIO;

	trace_ib_umad_write(file, hdr, mad);
	agent = umad_agent_enter(file, hdr->id);
	if (agent) {
		ret = send_single(agent, hdr, mad, len);
		if (ret)
			umad_stat_inc(&file->port->stats,
				      UMAD_STAT_SEND_REFUSED);
		umad_agent_leave(agent);
	}
	umad_throttle_resume(over_high);
	kfree(mad);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(umad_send_mad);

/**
 * umad_send_message() - send a message of several segments for a program
 * @file: that it was written to
 * @hdr: the program's header, @id below UMAD_MAX_AGENTS
 * @tx: the message; consumed
 *
 * After 0 the file hears of it once more at the most: by the response, or by
 * this header with status ETIMEDOUT, also if no response was expected but the
 * message was not delivered.
 * Context: as umad_send_mad().
 * Return: as umad_send_mad().
 */
int umad_send_message(struct umad_file *file,
		      const struct ib_user_mad_hdr *hdr,
		      struct umad_rmpp_tx *tx)
{
	struct umad_agent *agent;
	unsigned int over_high;
	int ret;

	trace_ib_umad_write(file, hdr, umad_rmpp_tx_mad(tx));
	agent = umad_agent_enter(file, hdr->id);
	if (!agent) {
		umad_rmpp_tx_free(tx);
		return -EIO;
	}
	over_high = umad_throttle_defer();
	ret = send_message(agent, hdr, tx);
	if (ret)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_REFUSED);
	umad_agent_leave(agent);
	umad_throttle_resume(over_high);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(umad_send_message);
