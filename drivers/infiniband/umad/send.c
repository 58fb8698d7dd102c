// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "send.h"

#include <linux/err.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "agent.h"
#include "ah.h"
#include "device.h"
#include "export.h"
#include "file.h"
#include "trace.h"

/* Transactions stepped in one go with the file's lock held. */
#define BATCH		32
/*
 * Deadlines handled in one run of the work. Taking a placeholder back makes
 * ib_core search its list past those taken back before, until its own work
 * has freed them: give it the time.
 */
#define RUN_MAX		512
/* Requests of an agent that listen for a late response: ib_core keeps them. */
#define LATE_MAX	8

static struct workqueue_struct *deadline_wq;

/**
 * umad_send_init() - make what all files' sends share
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int umad_send_init(void)
{
	deadline_wq = alloc_workqueue("ib_umad", WQ_UNBOUND, 0);
	return deadline_wq ? 0 : -ENOMEM;
}

/**
 * umad_send_exit() - give back what all files' sends share
 *
 * Context: process; no file is left.
 */
void umad_send_exit(void)
{
	destroy_workqueue(deadline_wq);
}

static void send_put(struct umad_send *send)
{
	if (!refcount_dec_and_test(&send->refs))
		return;
	kfree(send->mad);
	kfree(send);
}

static void release_msg(struct umad_msg *msg)
{
	send_put(container_of(msg, struct umad_send, msg));
}

/* What a send that has just become DONE held; not under a lock. */
static void send_finish(struct umad_send *send)
{
	umad_ah_put(send->ah);
	send_put(send);
}

/* Run the work when the first deadline is due, if it is not to run before. */
static void arm(struct umad_file *file, ktime_t now)
{
	ktime_t next = umad_txn_next_deadline(&file->txns);
	s64 ns;

	lockdep_assert_held(&file->lock);
	if (next >= file->armed)
		return;
	file->armed = next;
	ns = max_t(s64, ktime_sub(next, now), 0);
	/* Round up: before the deadline there would be nothing to do. */
	mod_delayed_work(deadline_wq, &file->deadline_work,
			 nsecs_to_jiffies(ns) + 1);
}

/* ib_core need not wait for a response to it any more. */
static void stop_waiting(struct umad_send *send)
{
	lockdep_assert_held(&send->file->lock);
	/*
	 * ib_core flushes a dying agent's all at once, without a search for
	 * each. -EINVAL: it is complete, and the handler is on its way.
	 */
	if (send->waiting && !send->agent->dying)
		ib_modify_mad(send->waiting, 0);
}

/* Tell the caller that nobody answered. */
static void report(struct umad_send *send)
{
	struct umad_file *file = send->file;

	send->msg.hdr.status = ETIMEDOUT;
	refcount_inc(&send->refs);
	if (umad_rxq_push(&file->rxq, &send->msg))
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_TIMED_OUT);
	else
		send_put(send);
}

/*
 * Step a send's transaction and keep the agent's lists right. The caller
 * calls send_finish() if @finish is set, after it has dropped the lock.
 */
static enum umad_txn_action step(struct umad_send *send,
				 enum umad_txn_event event, int wc_status,
				 ktime_t now, bool *finish)
{
	enum umad_txn_state old = send->txn.state;
	struct umad_file *file = send->file;
	enum umad_txn_action action;

	lockdep_assert_held(&file->lock);
	action = umad_txn_step(&file->txns, &send->txn, event, now);
	trace_ib_umad_txn(file, &send->txn, old, event, wc_status);
	if (action == UMAD_TXN_REPORT)
		report(send);

	*finish = old != UMAD_TXN_DONE && send->txn.state == UMAD_TXN_DONE;
	if (*finish) {
		list_del(&send->agent_node);
		if (old == UMAD_TXN_LATE) {
			list_del(&send->late_node);
			send->agent->late_count--;
		}
		stop_waiting(send);
	} else if (old != UMAD_TXN_LATE && send->txn.state == UMAD_TXN_LATE) {
		list_add_tail(&send->late_node, &send->agent->late);
		send->agent->late_count++;
	}
	return action;
}

/* A MAD for ib_core with the send's bytes, its address and a reference. */
static struct ib_mad_send_buf *build(struct umad_send *send, const void *mad,
				     size_t len)
{
	const struct ib_mad_hdr *mad_hdr = mad;
	struct ib_mad_send_buf *buf;
	int hdr_len = ib_get_mad_data_offset(mad_hdr->mgmt_class);

	buf = ib_create_send_mad(send->agent->core,
				 be32_to_cpu(send->msg.hdr.qpn),
				 send->msg.hdr.pkey_index, 0, hdr_len,
				 len - hdr_len, GFP_KERNEL,
				 mad_hdr->base_version);
	if (IS_ERR(buf))
		return buf;

	memcpy(buf->mad, mad, len);
	umad_ah_get(send->ah);
	buf->ah = umad_ah_verbs(send->ah);
	refcount_inc(&send->refs);
	buf->context[0] = send;
	return buf;
}

/* Undo build(), when ib_core has done with it or has not taken it. */
static void unbuild(struct umad_send *send, struct ib_mad_send_buf *buf)
{
	ib_free_send_mad(buf);
	umad_ah_put(send->ah);
	send_put(send);
}

/* ib_core takes an int, and a negative one for ever. */
static void wait_for_ever(struct ib_mad_send_buf *buf)
{
	buf->timeout_ms = -1;
	buf->retries = 0;
}

/**
 * umad_send_handler() - ib_core has done with a MAD
 * @core: ib_core's agent
 * @wc: which one, and how it ended
 *
 * Context: process: the CQ's work, ib_core's work, or a thread that
 * unregisters the agent. Does not wait for user space.
 */
void umad_send_handler(struct ib_mad_agent *core, struct ib_mad_send_wc *wc)
{
	struct umad_send *send = wc->send_buf->context[0];
	struct umad_stats *stats = &send->file->port->stats;
	struct umad_file *file = send->file;
	bool ok = wc->status == IB_WC_SUCCESS;
	bool finish = false, flushed;

	spin_lock(&file->lock);
	flushed = wc->status == IB_WC_WR_FLUSH_ERR &&
		  (send->agent->dying || send->txn.state == UMAD_TXN_DONE);
	if (send->waiting == wc->send_buf || send->txn.state == UMAD_TXN_SEND) {
		send->waiting = NULL;
		if (ok && send->txn.state == UMAD_TXN_SEND)
			umad_stat_inc(stats, UMAD_STAT_SEND_COMPLETED);
		step(send, ok ? UMAD_TXN_EV_SENT : UMAD_TXN_EV_FAILED,
		     wc->status, ktime_get(), &finish);
	}
	if (!ok && !flushed)
		umad_stat_inc(stats, UMAD_STAT_SEND_FAILED);
	spin_unlock(&file->lock);

	if (finish)
		send_finish(send);
	unbuild(send, wc->send_buf);
}

/* Post an attempt after the first; what fails is made good by the next. */
static void post_again(struct umad_send *send)
{
	struct umad_stats *stats = &send->file->port->stats;
	struct umad_file *file = send->file;
	struct ib_mad_send_buf *buf;
	bool placeholder;

	buf = build(send, send->mad, send->mad_len);
	if (IS_ERR(buf)) {
		umad_stat_inc(stats, UMAD_STAT_SEND_FAILED);
		return;
	}
	spin_lock(&file->lock);
	/* One that failed or was used up is followed by a new placeholder. */
	placeholder = !send->waiting && send->txn.state == UMAD_TXN_WAIT;
	if (placeholder) {
		wait_for_ever(buf);
		send->waiting = buf;
	}
	spin_unlock(&file->lock);

	umad_stat_inc(stats, UMAD_STAT_SEND_RETRIED);
	if (!ib_post_send_mad(buf, NULL))
		goto check;

	umad_stat_inc(stats, UMAD_STAT_SEND_FAILED);
	spin_lock(&file->lock);
	if (placeholder)
		send->waiting = NULL;
	spin_unlock(&file->lock);
	unbuild(send, buf);
	return;

check:
	/* It may have ended before ib_core knew what to take back. */
	spin_lock(&file->lock);
	if (send->txn.state == UMAD_TXN_DONE)
		stop_waiting(send);
	spin_unlock(&file->lock);
}

/* What is to be done about a deadline without the lock. */
struct due {
	struct umad_send *send;
	bool retry;
	bool finish;
};

/* One batch under the lock; returns how many, fills in what is left to do. */
static unsigned int collect_due(struct umad_file *file, struct due *due)
{
	struct umad_agent *agent;
	struct umad_send *send;
	struct umad_txn *txn;
	unsigned int n = 0;
	ktime_t now = ktime_get();

	spin_lock(&file->lock);
	while (n < BATCH && (txn = umad_txn_expired(&file->txns, now))) {
		send = container_of(txn, struct umad_send, txn);
		agent = send->agent;
		due[n].send = send;
		due[n].retry = step(send, UMAD_TXN_EV_DEADLINE, 0, now,
				    &due[n].finish) == UMAD_TXN_RETRY &&
			       umad_gate_enter(&agent->gate);
		if (due[n].retry)
			refcount_inc(&send->refs);
		n++;

		/* Listen for the late responses of the last few only. */
		if (n < BATCH && agent->late_count > LATE_MAX) {
			send = list_first_entry(&agent->late, struct umad_send,
						late_node);
			due[n].send = send;
			due[n].retry = false;
			step(send, UMAD_TXN_EV_CANCEL, 0, now, &due[n].finish);
			n++;
		}
	}
	spin_unlock(&file->lock);
	return n;
}

static void settle_due(const struct due *due)
{
	struct umad_agent *agent = due->send->agent;

	if (due->retry) {
		post_again(due->send);
		send_put(due->send);
		umad_agent_leave(agent);
	} else if (due->finish) {
		send_finish(due->send);
	}
}

/**
 * umad_send_deadline_work() - deal with the deadlines that have passed
 * @work: &umad_file.deadline_work
 *
 * Context: process, on the module's own queue; sleeps.
 */
void umad_send_deadline_work(struct work_struct *work)
{
	struct umad_file *file = container_of(work, struct umad_file,
					      deadline_work.work);
	unsigned int done = 0, n, i;
	struct due due[BATCH];

	do {
		n = collect_due(file, due);
		for (i = 0; i < n; i++)
			settle_due(&due[i]);
		done += n;
		cond_resched();
	} while (n && done < RUN_MAX);

	spin_lock(&file->lock);
	file->armed = KTIME_MAX;
	arm(file, ktime_get());
	spin_unlock(&file->lock);
}

static void init_txn(struct umad_send *send, const struct ib_user_mad_hdr *hdr)
{
	const struct umad_txn_key key = {
		.tid = send->mad_hdr.tid,
		.mgmt_class = send->mad_hdr.mgmt_class,
		.response = !!ib_response_mad(&send->mad_hdr),
	};
	struct umad_txn_dest dest = { .lid = hdr->lid };

	dest.grh = hdr->grh_present;
	memcpy(dest.gid, hdr->gid, sizeof(dest.gid));
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
				    struct ib_mad_hdr *mad)
{
	struct umad_send *send;

	send = kzalloc(sizeof(*send), GFP_KERNEL_ACCOUNT);
	if (!send)
		return NULL;
	refcount_set(&send->refs, 1);
	send->file = agent->file;
	send->agent = agent;
	send->mad_hdr = *mad;
	send->msg.hdr = *hdr;
	send->msg.data = &send->mad_hdr;
	send->msg.len = sizeof(send->mad_hdr);
	send->msg.release = release_msg;
	init_txn(send, hdr);
	return send;
}

/* Enter it in the file's table, ready to be posted; the buffer is attached. */
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
	if (ret) {
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_DUPLICATE);
		goto out;
	}
	list_add_tail(&send->agent_node, &send->agent->sends);
	/* For the caller, while it posts. */
	refcount_inc(&send->refs);
	if (send->txn.state == UMAD_TXN_WAIT) {
		wait_for_ever(buf);
		send->waiting = buf;
	}
	arm(file, now);
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
		step(send, UMAD_TXN_EV_CANCEL, 0, ktime_get(), &finish);
	} else if (send->txn.state == UMAD_TXN_DONE) {
		/* Ended before ib_core knew what to take back. */
		stop_waiting(send);
	}
	spin_unlock(&file->lock);

	if (ret)
		unbuild(send, buf);
	if (finish)
		send_finish(send);
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

/* As umad_send_mad(), inside the agent's gate. */
static int send_mad(struct umad_agent *agent,
		    const struct ib_user_mad_hdr *hdr, void *mad, size_t len)
{
	struct ib_mad_send_buf *buf;
	struct umad_send *send;
	struct umad_ah *ah;
	bool raw;
	int ret;

	ret = check_mad(agent, mad, len);
	if (ret)
		goto err_mad;
	ah = umad_ah_create(agent->core->qp->pd, agent->file->port->port_num,
			    hdr);
	if (IS_ERR(ah)) {
		ret = PTR_ERR(ah);
		goto err_mad;
	}
	set_tid(agent, mad);
	ret = -ENOMEM;
	send = send_alloc(agent, hdr, mad);
	if (!send)
		goto err_ah;
	send->ah = ah;
	buf = build(send, mad, len);
	if (IS_ERR(buf)) {
		ret = PTR_ERR(buf);
		goto err_send;
	}
	/* Segments of a program's own RMPP all have one TID. */
	raw = umad_mad_is_rmpp_active(mad);
	if (may_retry(send)) {
		send->mad = mad;
		send->mad_len = len;
	} else {
		kfree(mad);
	}
	mad = NULL;
	ret = enter(send, buf, !raw);
	if (ret)
		goto err_buf;

	umad_stat_inc(&agent->file->port->stats, UMAD_STAT_SEND_POSTED);
	ret = post_first(send, buf);
	send_put(send);
	return ret;

err_buf:
	unbuild(send, buf);
err_send:
	send_put(send);
err_ah:
	umad_ah_put(ah);
err_mad:
	kfree(mad);
	return ret;
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
 * cannot be, and for a duplicate; -ENOMEM; what umad_ah_create() and ib_core
 * have against it.
 */
int umad_send_mad(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		  void *mad, size_t len)
{
	struct umad_agent *agent;
	int ret;

	trace_ib_umad_write(file, hdr, mad);
	agent = umad_agent_enter(file, hdr->id);
	if (!agent) {
		kfree(mad);
		return -EIO;
	}
	ret = send_mad(agent, hdr, mad, len);
	if (ret)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_REFUSED);
	umad_agent_leave(agent);
	return ret;
}
UMAD_EXPORT_FOR_KUNIT(umad_send_mad);

/**
 * umad_send_cancel_all() - give up all that an agent has outstanding
 * @agent: dying, and nobody is inside its gate any more
 *
 * Its placeholders stay in ib_core, which flushes them when the agent is
 * unregistered.
 * Context: process; sleeps.
 */
void umad_send_cancel_all(struct umad_agent *agent)
{
	struct umad_file *file = agent->file;
	struct umad_send *batch[BATCH];
	unsigned int n, i;
	bool finish;

	do {
		n = 0;
		spin_lock(&file->lock);
		while (n < BATCH && !list_empty(&agent->sends)) {
			batch[n] = list_first_entry(&agent->sends,
						    struct umad_send,
						    agent_node);
			if (batch[n]->txn.state != UMAD_TXN_LATE)
				umad_stat_inc(&file->port->stats,
					      UMAD_STAT_SEND_CANCELED);
			step(batch[n], UMAD_TXN_EV_CANCEL, 0, 0, &finish);
			n++;
		}
		spin_unlock(&file->lock);
		for (i = 0; i < n; i++)
			send_finish(batch[i]);
		cond_resched();
	} while (n);
}

/**
 * umad_send_answered() - a response has been received
 * @agent: that it was routed to
 * @buf: the MAD in ib_core that it was matched with, or NULL
 * @response: its header
 *
 * The request that waits for it is complete after this, and its TID free.
 * Context: process, ib_core's receive handler; does not sleep.
 * Return: false when nobody waits for it.
 */
bool umad_send_answered(struct umad_agent *agent, struct ib_mad_send_buf *buf,
			const struct ib_mad_hdr *response)
{
	struct umad_send *matched = buf ? buf->context[0] : NULL, *send;
	bool finish = false, finish_matched = false;
	struct umad_file *file = agent->file;
	ktime_t now = ktime_get();
	bool answered = false;
	struct umad_txn *txn;

	spin_lock(&file->lock);
	/* ib_core completes it now, there is nothing to take back. */
	if (matched && matched->waiting == buf)
		matched->waiting = NULL;

	send = matched;
	if (!send || send->txn.state != UMAD_TXN_WAIT) {
		txn = umad_txn_find(&file->txns, response->tid,
				    response->mgmt_class);
		send = txn ? container_of(txn, struct umad_send, txn) : NULL;
	}
	if (send)
		answered = step(send, UMAD_TXN_EV_RESPONSE, 0, now,
				&finish) == UMAD_TXN_DELIVER;
	/* One that was given up has caught it for its successor, or for none. */
	if (matched && matched != send)
		step(matched, UMAD_TXN_EV_RESPONSE, 0, now, &finish_matched);
	if (answered)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_COMPLETED);
	spin_unlock(&file->lock);

	if (finish)
		send_finish(send);
	if (finish_matched)
		send_finish(matched);
	return answered;
}
