// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Single MADs: their attempts, from write() to ib_core. */
#include <linux/types.h>
#include "send.h"

#include <linux/err.h>
#include <linux/slab.h>
#include "agent.h"
#include "ah.h"
#include "charge.h"
#include "file.h"
#include "hdr.h"
#include "hidden.h"
#include "port.h"
#include "post.h"
#include "request.h"
#include "trace.h"
#include "umad_export.h"
#include "wait_entry.h"

/*
 * Each stray packet uses one up, and then the request is sent again: of a device that
 * stands no more than so many.
 */
#define WAITS_MAX	4
/* And in all. */
#define REARMS_MAX	64

/* Of a further attempt: it has left, or failed; the time of the next runs. */
static void attempt_done(struct umad_request *req)
{
	struct umad_file *file = req->file;
	ktime_t now = ktime_get();

	lockdep_assert_held(&file->lock);
	if (req->retry_buf)
		file->retry_queue.in_flight--;
	req->retry_buf = NULL;
	umad_txn_attempt_done(&file->txns, &req->txn, now);
	umad_file_arm(file);
	umad_retry_queue_arm(&file->retry_queue, now);
}

/* Of a further one: it has its turn, waits for that, or for an earlier attempt. */
static bool attempt_follows(const struct umad_request *req)
{
	return umad_retry_is_queued(&req->retry) || req->has_turn ||
	       req->postponed;
}

/* It may have ended since a copy of it was wanted: then nothing takes it out of the queue. */
static void rearm_turn(struct umad_request *req)
{
	if (req->rearm && req->txn.state == UMAD_TXN_WAIT && !attempt_follows(req))
		umad_request_retry(req, ktime_get());
}

/*
 * It has no wait entry: another copy is to be one, when it has a turn. But a peer may
 * answer each copy so that the wait entry is used up again. @kept: there is, or will be, what
 * it is copied from.
 */
static bool wait_entry_rearm(struct umad_request *req, bool kept)
{
	lockdep_assert_held(&req->file->lock);
	req->rearm = kept && req->rearms++ < REARMS_MAX;
	/* Else there is nothing to be copied before attempt_ended(). */
	if (req->mad || req->held_buf)
		rearm_turn(req);
	return req->rearm;
}

/* What was to take the place of the wait entry has not: once more, or never. */
static void rearm_failed(struct umad_request *req)
{
	if (req->txn.state != UMAD_TXN_WAIT || req->waiting ||
	    wait_entry_rearm(req, req->mad || req->held_buf) ||
	    req->txn.timeout != UMAD_TIMEOUT_INFINITE)
		return;
	umad_request_step(req, UMAD_TXN_EV_UNDELIVERED, 0, 0);
}

static size_t mad_len(const struct ib_mad_send_buf *buf)
{
	return buf->hdr_len + buf->data_len;
}

/* Rarely called. Once it is set it stays; another handler may set it meanwhile. */
static noinline void keep_mad(struct umad_request *req, const struct ib_mad_send_buf *used)
{
	struct umad_file *file = req->file;
	struct umad_charge charge;
	void *mad;

	if (READ_ONCE(req->mad))
		return;
	charge = umad_charge_begin(file->reserve->memcg);
	mad = kmemdup(used->mad, mad_len(used), UMAD_GFP_HANDLER);
	umad_charge_end(&charge);
	if (!mad)
		return;
	spin_lock(&file->lock);
	if (!req->mad) {
		req->mad_len = mad_len(used);
		WRITE_ONCE(req->mad, mad);
		mad = NULL;
	}
	spin_unlock(&file->lock);
	kfree(mad);
}

/*
 * The wait entry, which further attempts are copied from, is about to be freed, and the
 * request may go on. What begins a response uses it up, too, but no attempt is made until
 * that has failed.
 */
static void keep_for_attempts(struct umad_request *req, const struct ib_mad_send_buf *used)
{
	if (req->hdr.retries && READ_ONCE(req->txn.state) == UMAD_TXN_WAIT)
		keep_mad(req, used);
}

/*
 * There was no memory for a copy: then the MAD itself is kept, or there would be no
 * further attempt. umad_request_unlock() frees it. True: it is.
 */
static bool hold_mad(struct umad_request *req, struct ib_mad_send_buf *used)
{
	lockdep_assert_held(&req->file->lock);
	if (req->mad || req->held_buf || (!req->hdr.retries && !req->rearm) ||
	    req->txn.state != UMAD_TXN_WAIT)
		return false;
	req->held_buf = used;
	return true;
}

/* ib_core has done with an attempt; @waited: it was the wait entry, or had been. */
static void attempt_ended(struct ib_mad_send_buf *buf, enum ib_wc_status status,
			  bool waited)
{
	struct umad_request *req = umad_post_owner(buf);
	struct umad_file *file = req->file;
	bool ok = status == IB_WC_SUCCESS, held;

	spin_lock(&file->lock);
	held = waited && hold_mad(req, buf);
	/* This may be the first that there is to be copied. */
	if (waited && (req->mad || req->held_buf))
		rearm_turn(req);
	umad_request_count_failure(req, status);
	if ((waited && umad_wait_entry_done(req, buf)) ||
	    req->txn.state == UMAD_TXN_SEND) {
		if (ok && req->txn.state == UMAD_TXN_SEND)
			umad_stat_inc(&file->port->stats,
				      UMAD_STAT_SEND_COMPLETED);
		/*
		 * The copy in the place of one that was used up: the request has left.
		 * And waiting for its turn, it is not at its last attempt.
		 */
		if (!ok && req->rearms)
			rearm_failed(req);
		else if (ok || !attempt_follows(req))
			umad_request_wait_ended(req, status);
	}
	if (req->retry_buf == buf) {
		umad_pace_took(&file->port->pace,
			       ktime_to_ns(ktime_sub(ktime_get(), req->retry_since)));
		attempt_done(req);
	}
	if (req->postponed && !umad_wait_entry_is_full(req)) {
		req->postponed = false;
		if (req->txn.state == UMAD_TXN_WAIT)
			umad_request_retry(req, ktime_get());
	}
	umad_request_unlock(file);
	if (!held)
		umad_request_free_mad(req, buf);
}

static void send_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	attempt_ended(buf, status, false);
}

static void waiting_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	keep_for_attempts(umad_post_owner(buf), buf);
	attempt_ended(buf, status, true);
}

/*
 * What becomes of a further attempt, which is the wait entry if there is none. False:
 * it is not posted, as it is not wanted any more, or has to wait for an earlier one.
 */
static bool enter_attempt(struct umad_request *req, struct ib_mad_send_buf *buf,
			  bool *attached)
{
	struct umad_file *file = req->file;
	ktime_t now = ktime_get();

	lockdep_assert_held(&file->lock);
	req->has_turn = false;
	if (req->txn.state != UMAD_TXN_WAIT)
		return false;
	*attached = umad_wait_entry_attach(req, buf, waiting_done);
	if (*attached) {
		req->rearm = false;
		/* ib_core does not say when it has left. */
		umad_pace_unknown(&file->port->pace, now);
		if (!req->retry_buf)
			attempt_done(req);
		return true;
	}
	req->postponed = umad_wait_entry_is_full(req);
	if (req->postponed || req->retry_buf)
		return false;
	file->retry_queue.in_flight++;
	req->retry_buf = buf;
	req->retry_since = now;
	return true;
}

/* An attempt that could not be made: @buf is NULL; or was not taken by ib_core. */
static void attempt_failed(struct umad_request *req, struct ib_mad_send_buf *buf,
			   bool attached, int err)
{
	struct umad_file *file = req->file;
	bool held;

	if (attached)
		keep_for_attempts(req, buf);
	spin_lock(&file->lock);
	held = attached && hold_mad(req, buf);
	umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_FAILED);
	req->has_turn = false;
	if (buf)
		umad_wait_entry_posted(req, buf, attached, err);
	/* Not made: done, unless an earlier one is in flight, whose end does it. */
	if (req->retry_buf == buf)
		attempt_done(req);
	if (req->rearm || attached)
		rearm_failed(req);
	umad_request_unlock(file);
	if (buf && !held)
		umad_request_free_mad(req, buf);
}

/*
 * From what is kept, or else from the wait entry, which is there until that is. NULL: it is
 * not wanted any more. What is held is freed without the lock then.
 */
static struct ib_mad_send_buf *build_again(struct umad_request *req)
{
	struct ib_mad_send_buf *buf = ERR_PTR(-ENOMEM);
	struct umad_file *file = req->file;
	struct ib_mad_send_buf *from;
	size_t len = 0;
	void *mad;

	spin_lock(&file->lock);
	if (req->txn.state != UMAD_TXN_WAIT) {
		req->has_turn = false;
		buf = NULL;
		goto out;
	}
	from = req->waiting ?: req->held_buf;
	mad = req->mad;
	if (mad) {
		len = req->mad_len;
	} else if (from) {
		mad = from->mad;
		len = mad_len(from);
	}
	if (mad)
		buf = umad_request_build_mad(req, mad, len, len, UMAD_POST_NOWAIT, send_done);
out:
	spin_unlock(&file->lock);
	return buf;
}

/* A further attempt. What fails here is made good by the next, or by the deadline. */
static void mad_retransmit(struct umad_request *req)
{
	struct umad_file *file = req->file;
	bool attached = false, post;
	struct ib_mad_send_buf *buf;
	int ret;

	buf = build_again(req);
	if (!buf)
		return;
	if (IS_ERR(buf)) {
		attempt_failed(req, NULL, false, PTR_ERR(buf));
		return;
	}
	spin_lock(&file->lock);
	post = enter_attempt(req, buf, &attached);
	spin_unlock(&file->lock);
	if (!post) {
		umad_request_free_mad(req, buf);
		return;
	}
	umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_RETRIED);
	ret = umad_post_send(buf);
	if (ret) {
		attempt_failed(req, buf, attached, ret);
		return;
	}
	if (!umad_request_has_ended(req))
		return;
	spin_lock(&file->lock);
	umad_wait_entry_posted(req, buf, attached, 0);
	spin_unlock(&file->lock);
}

static bool wants_turn(const struct umad_request *req)
{
	/* A response that has begun, and goes on, needs no wait entry. */
	if (req->rearm && req->txn.state == UMAD_TXN_WAIT && !req->waiting &&
	    (!req->answer_comes || req->answer_silent))
		return true;
	return req->txn.timeout != UMAD_TIMEOUT_INFINITE &&
	       umad_txn_wants_attempt(&req->file->txns, &req->txn);
}

static void take_turn(struct umad_request *req, ktime_t now)
{
	req->has_turn = true;
}

/* The first attempt, which has waited for a place in ib_core: its time begins now. */
static void post_backlogged(struct umad_request *req, struct ib_mad_send_buf *buf)
{
	struct umad_file *file = req->file;
	ktime_t now = ktime_get();
	bool attached;
	int ret;

	spin_lock(&file->lock);
	attached = umad_wait_entry_attach(req, buf, waiting_done);
	if (attached) {
		umad_txn_attempt_done(&file->txns, &req->txn, now);
		umad_file_arm(file);
	}
	spin_unlock(&file->lock);
	if (!attached) {
		/* It has ended meanwhile. */
		umad_request_free_mad(req, buf);
		return;
	}
	ret = umad_post_send(buf);
	if (!ret && !umad_request_has_ended(req))
		return;
	if (ret)
		keep_for_attempts(req, buf);
	spin_lock(&file->lock);
	umad_wait_entry_posted(req, buf, true, ret);
	if (ret) {
		/* write() has returned long ago. */
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_FAILED);
		umad_request_step(req, UMAD_TXN_EV_FAILED, IB_WC_GENERAL_ERR, 0);
	}
	umad_request_unlock(file);
	if (ret)
		umad_request_free_mad(req, buf);
}

/* ABI: of a single MAD that was not answered all comes back as it was written. */
static const struct umad_request_ops mad_ops = {
	.wants_turn = wants_turn,
	.take_turn = take_turn,
	.retransmit = mad_retransmit,
	.post = post_backlogged,
	.waits_max = WAITS_MAX,
};

/*
 * Post the first attempt of an inserted request. Whatever happens, the request is
 * the table's and ib_core's from here on, but for the caller's reference.
 */
static int post_first(struct umad_request *req, struct ib_mad_send_buf *buf)
{
	struct umad_file *file = req->file;
	bool reported = false;
	int ret;

	umad_sched_note_single(&file->port->sched);
	ret = umad_post_send(buf);
	if (!ret && !umad_request_has_ended(req))
		return 0;
	spin_lock(&file->lock);
	umad_wait_entry_posted(req, buf, req->txn.timeout, ret);
	if (ret) {
		reported = req->txn.state == UMAD_TXN_EXPIRED ||
			   req->txn.state == UMAD_TXN_DONE;
		umad_request_step(req, UMAD_TXN_EV_CANCEL, 0, 0);
	}
	umad_request_unlock(file);

	if (ret)
		umad_request_free_mad(req, buf);
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

/*
 * Of a directed route SMP ib_core counts the hops in its buffer as it sends it (IBA 14.2.2):
 * what is sent again is not what stands there. Without retries, too: what is not the response
 * may use the wait entry up.
 */
static bool needs_copy(const struct umad_request *req, const struct ib_mad_hdr *mad)
{
	return mad->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE && req->txn.timeout;
}

static int send_single(struct umad_agent *agent,
		       const struct ib_user_mad_hdr *hdr, void *mad,
		       size_t len)
{
	struct ib_mad_send_buf *buf;
	struct umad_request *req;
	bool refuse_duplicate;
	int ret;

	ret = check_mad(agent, mad, len);
	if (ret)
		return ret;
	/* The id may have come to another agent since the process's write. */
	if (agent->kernel_rmpp && umad_mad_is_rmpp_active(mad))
		return -EINVAL;
	/* ABI: RMPP that is not active has no header. */
	if (agent->kernel_rmpp)
		memset(mad + IB_MGMT_MAD_HDR, 0, sizeof(struct ib_rmpp_hdr));
	/* Segments of a process's own RMPP all have one TID. */
	refuse_duplicate = !umad_mad_is_rmpp_active(mad);
	req = umad_request_create(agent, &mad_ops, hdr, mad);
	if (IS_ERR(req))
		return PTR_ERR(req);
	if (req->txn.timeout && !req->txn.key.response)
		req->outlet = umad_hidden_choose(agent, &req->txn.key);
	if (needs_copy(req, mad)) {
		req->mad = kmemdup(mad, len, UMAD_GFP_WRITE);
		req->mad_len = len;
		ret = -ENOMEM;
		if (!req->mad)
			goto err_send;
	}
	buf = umad_request_build_mad(req, mad, len, len, UMAD_GFP_WRITE, send_done);
	if (IS_ERR(buf)) {
		ret = PTR_ERR(buf);
		goto err_send;
	}
	ret = umad_request_insert(req, buf, waiting_done, refuse_duplicate);
	if (ret < 0)
		goto err_buf;

	umad_stat_inc(&agent->file->port->stats, UMAD_STAT_SEND_POSTED);
	ret = ret ? 0 : post_first(req, buf);
	umad_request_put(req);
	return ret;

err_buf:
	umad_request_free_mad(req, buf);
err_send:
	umad_request_put(req);
	return ret;
}

/**
 * umad_send_rearm() - what is not the response has used up the wait entry
 * @req: a request that is a single MAD
 * @used: the MAD that was the wait entry; ib_core completes it after this
 *
 * ib_core would drop the response: so the request is sent once more, when it has a
 * turn, and that copy waits.
 * Context: process, ib_core's receive handler; hold no lock.
 * Return: false when that has been so too often.
 */
bool umad_send_rearm(struct umad_request *req, const struct ib_mad_send_buf *used)
{
	struct umad_file *file = req->file;
	bool armed = true;

	keep_mad(req, used);
	spin_lock(&file->lock);
	/* Without a copy, attempt_ended() holds it. */
	if (req->txn.state == UMAD_TXN_WAIT && !req->waiting)
		armed = wait_entry_rearm(req, true);
	spin_unlock(&file->lock);
	return armed;
}

/**
 * umad_send_mad() - send a MAD for a process
 * @file: that it was written to
 * @hdr: the process's header, @id below UMAD_MAX_AGENTS
 * @mad: the MAD, 36 bytes at least; its TID is set, and what is no RMPP header cleared
 * @len: bytes that the process has written
 *
 * After 0 the file hears of it once more at the most: by the response, or by
 * this header with status ETIMEDOUT.
 * Context: process; sleeps, in the resolution of an address for a second or
 * so, but never for user space; hold no lock.
 * Return: 0; -EIO for no such agent; -EINVAL for a length or class that
 * cannot be, and for a duplicate; -ENOBUFS when the process holds max_sends
 * already; -ENOMEM; as umad_ah_enter(); what umad_ah_create() and ib_core have against it.
 */
int umad_send_mad(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		  void *mad, size_t len)
{
	struct umad_agent *agent;
	unsigned int over_high;
	int ret;

	/* Whoever has no agent does not wait for addresses of others. */
	if (!umad_agent_is_there(file, hdr->id))
		return -EIO;
	ret = umad_ah_enter(file);
	if (ret)
		return ret;
	trace_ib_umad_write(file, hdr, mad);
	over_high = umad_throttle_defer();
	ret = -EIO;
	agent = umad_agent_enter(file, hdr->id);
	if (agent) {
		ret = send_single(agent, hdr, mad, len);
		if (ret)
			umad_stat_inc(&file->port->stats,
				      UMAD_STAT_SEND_REFUSED);
		umad_agent_leave(agent);
	}
	umad_ah_leave(file);
	umad_throttle_resume(over_high);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(umad_send_mad);
