// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Single MADs: their attempts, from write() to ib_core. */
#include <linux/types.h>
#include "send.h"

#include <kunit/visibility.h>
#include <linux/err.h>
#include <linux/slab.h>
#include "agent.h"
#include "charge.h"
#include "port.h"
#include "file.h"
#include "hdr.h"
#include "post.h"
#include "trace.h"
#include "wait_entry.h"

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

/* ib_core has done with an attempt. */
static void send_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_send *send = umad_post_owner(buf);
	struct umad_file *file = send->file;
	bool ok = status == IB_WC_SUCCESS;
	ktime_t took;

	spin_lock(&file->lock);
	umad_send_count_failure(send, status);
	if (umad_wait_entry_detach(send, buf) || send->txn.state == UMAD_TXN_SEND) {
		if (ok && send->txn.state == UMAD_TXN_SEND)
			umad_stat_inc(&file->port->stats,
				      UMAD_STAT_SEND_COMPLETED);
		/* Waiting for its turn, a request is not at its last attempt. */
		if (ok || (!umad_again_waits(&send->in_line) && !send->has_turn))
			umad_send_wait_ended(send, status);
	}
	if (send->again == buf) {
		took = ktime_sub(ktime_get(), send->again_since);
		umad_pace_took(&file->port->pace, ktime_to_ns(took));
		attempt_done(send);
	}
	umad_send_unlock(file);
	umad_send_unbuild(send, buf);
}

/* A further attempt. What fails here is made good by the next, or by the deadline. */
static void retransmit(struct umad_send *send)
{
	struct umad_stats *stats = &send->file->port->stats;
	struct umad_file *file = send->file;
	struct ib_mad_send_buf *buf;
	ktime_t now = ktime_get();
	bool waits;
	int ret;

	umad_stat_inc(stats, UMAD_STAT_SEND_RETRIED);
	buf = umad_send_build(send, send->mad, send->mad_len, send->mad_len,
			      UMAD_POST_NOWAIT, send_done);
	ret = PTR_ERR_OR_ZERO(buf);
	spin_lock(&file->lock);
	waits = !ret && umad_wait_entry_attach(send, buf);
	send->has_turn = false;
	/* ib_core does not say when one that waits there has left. */
	if (waits)
		umad_pace_unknown(&file->port->pace, now);
	if (ret || waits) {
		attempt_done(send);
	} else {
		file->again.in_flight++;
		send->again = buf;
		send->again_since = now;
	}
	spin_unlock(&file->lock);
	if (ret)
		goto err_count;

	ret = ib_post_send_mad(buf, NULL);
	spin_lock(&file->lock);
	if (ret && send->again == buf)
		attempt_done(send);
	umad_wait_entry_posted(send, buf, ret);
	spin_unlock(&file->lock);
	if (!ret)
		return;
	umad_send_unbuild(send, buf);
err_count:
	umad_stat_inc(stats, UMAD_STAT_SEND_FAILED);
}

static bool wants_turn(const struct umad_send *send)
{
	return umad_txn_wants_attempt(&send->file->txns, &send->txn);
}

static void take_turn(struct umad_send *send, ktime_t now)
{
	send->has_turn = true;
}

/* ABI: of a single MAD that was not answered all comes back as it was written. */
static const struct umad_send_ops mad_ops = {
	.wants_turn = wants_turn,
	.take_turn = take_turn,
	.retransmit = retransmit,
};

/*
 * Post the first attempt of an entered send. Whatever happens, the send is
 * the table's and ib_core's from here on, but for the caller's reference.
 */
static int post_first(struct umad_send *send, struct ib_mad_send_buf *buf)
{
	struct umad_file *file = send->file;
	bool reported = false;
	int ret;

	ret = ib_post_send_mad(buf, NULL);
	spin_lock(&file->lock);
	umad_wait_entry_posted(send, buf, ret);
	if (ret) {
		reported = send->txn.state == UMAD_TXN_LATE ||
			   send->txn.state == UMAD_TXN_DONE;
		umad_send_step(send, UMAD_TXN_EV_CANCEL, 0, ktime_get());
	}
	umad_send_unlock(file);

	if (ret)
		umad_send_unbuild(send, buf);
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
	send = umad_send_create(agent, &mad_ops, hdr, mad);
	if (IS_ERR(send))
		return PTR_ERR(send);
	if (may_retry(send)) {
		send->mad = kmemdup(mad, len, GFP_KERNEL_ACCOUNT);
		send->mad_len = len;
		ret = -ENOMEM;
		if (!send->mad)
			goto err_send;
	}
	buf = umad_send_build(send, mad, len, len, GFP_KERNEL_ACCOUNT, send_done);
	if (IS_ERR(buf)) {
		ret = PTR_ERR(buf);
		goto err_send;
	}
	ret = umad_send_enter(send, buf, refuse_duplicate);
	if (ret)
		goto err_buf;

	umad_stat_inc(&agent->file->port->stats, UMAD_STAT_SEND_POSTED);
	ret = post_first(send, buf);
	umad_send_put(send);
	return ret;

err_buf:
	umad_send_unbuild(send, buf);
err_send:
	umad_send_put(send);
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
