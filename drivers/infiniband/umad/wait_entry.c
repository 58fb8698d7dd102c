// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "wait_entry.h"

#include <linux/lockdep.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include "agent.h"
#include "file.h"
#include "hdr.h"
#include "post.h"
#include "queues.h"
#include "request.h"
#include "umad_compat.h"

/**
 * umad_wait_entry_needs_place() - does ib_core limit how many such wait entries there are?
 * @req: the request
 * @buf: the MAD that is to be the wait entry
 *
 * As is_solicited_fc_mad() of ib_core has it.
 * Context: any; does not sleep.
 * Return: true if so, and the agent has a limit.
 */
bool umad_wait_entry_needs_place(const struct umad_request *req,
				 const struct ib_mad_send_buf *buf)
{
	const struct umad_agent *agent = req->agent;

	if (!agent->flow.limit || !req->txn.timeout ||
	    !umad_mad_is_flow_controlled(req->txn.key.mgmt_class))
		return false;
	return !agent->core->rmpp_version || !umad_mad_is_rmpp_active(buf->mad);
}

/**
 * umad_wait_entry_may_kick() - does something wait, and may there be a place for it?
 * @agent: whatever it has
 *
 * That of an expired request is as good as a free one.
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true if so.
 */
bool umad_wait_entry_may_kick(const struct umad_agent *agent)
{
	lockdep_assert_held(&agent->file->lock);
	return umad_flow_has_backlog(&agent->flow) && !agent->shutdown &&
	       (!umad_flow_is_full(&agent->flow) || agent->expired_count);
}

/**
 * umad_wait_entry_kick_backlog() - see to what waits, if there may be a place for it
 * @agent: whatever it has
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_wait_entry_kick_backlog(struct umad_agent *agent)
{
	if (umad_wait_entry_may_kick(agent))
		queue_work(umad_timer_wq, &agent->file->backlog_work);
}

/**
 * umad_wait_entry_leave_place() - give the place to another, if it is not needed any more
 * @req: the request; its state or its wait entry has changed
 *
 * One that goes on and has used its wait entry up keeps the place for the next, as long
 * as its deadlines are coming; but not while its response comes, which may take any time,
 * and which it will not be sent again for.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_wait_entry_leave_place(struct umad_request *req)
{
	struct umad_agent *agent = req->agent;

	lockdep_assert_held(&agent->file->lock);
	if (!agent->flow.limit)
		return;
	if (!req->waiting && (req->txn.state != UMAD_TXN_WAIT ||
			      (req->answer_comes && !req->txn.retries_left) ||
			      req->txn.timeout == UMAD_TIMEOUT_INFINITE))
		umad_flow_leave(&agent->flow, &req->flow);
	umad_wait_entry_kick_backlog(agent);
}

/**
 * umad_wait_entry_is_full() - has another MAD to wait until one has come back?
 * @req: the request
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true if umad_wait_entry_attach() would refuse it for that.
 */
bool umad_wait_entry_is_full(const struct umad_request *req)
{
	lockdep_assert_held(&req->file->lock);
	return !req->waiting && req->waits_posted >= req->ops->waits_max;
}

/**
 * umad_wait_entry_attach() - let a MAD wait for the response, if nothing does
 * @req: the request
 * @buf: the MAD, about to be posted; umad_wait_entry_posted() has to follow
 * @done: called if it waits, when ib_core has done with it; umad_wait_entry_done() has
 *	to be called there
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true if it waits now; false if no response is expected, another does, or too
 * many have not come back.
 */
bool umad_wait_entry_attach(struct umad_request *req, struct ib_mad_send_buf *buf,
			    umad_done_fn done)
{
	lockdep_assert_held(&req->file->lock);
	if (req->waiting || req->txn.state != UMAD_TXN_WAIT ||
	    umad_wait_entry_is_full(req))
		return false;
	if (!req->flow.has_place && umad_wait_entry_needs_place(req, buf))
		umad_flow_take(&req->agent->flow, &req->flow);
	req->waits_posted++;
	umad_post_set_wait(buf);
	umad_post_set_done(buf, done);
	req->waiting = buf;
	return true;
}

/*
 * Even of a dying agent: a handler, whom only unregistering waits for, may have posted
 * it after that has flushed the others, and then waits for it, too.
 */
static void take_back(struct umad_request *req)
{
	/* -EINVAL: it is complete, and the handler is on its way. */
	if (!req->waiting || ib_modify_mad(req->waiting, 0))
		return;
	req->waiting = NULL;
	umad_wait_entry_leave_place(req);
}

/**
 * umad_wait_entry_posted() - ib_core has taken a MAD, or has not
 * @req: the request
 * @buf: the MAD; if @err is 0 it may be gone
 * @attached: it was
 * @err: what umad_post_send() returned
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_wait_entry_posted(struct umad_request *req, struct ib_mad_send_buf *buf,
			    bool attached, int err)
{
	lockdep_assert_held(&req->file->lock);
	if (err && attached)
		umad_wait_entry_done(req, buf);
	else if (!err && req->txn.state == UMAD_TXN_DONE)
		/* It has ended before ib_core knew what to take back. */
		take_back(req);
}

/**
 * umad_wait_entry_detach() - ib_core completes a MAD, or does not know it
 * @req: the request
 * @buf: the MAD, whether it waits or not
 *
 * Context: any, &umad_file.lock held; does not sleep.
 * Return: true if it was the wait entry; there is none now.
 */
bool umad_wait_entry_detach(struct umad_request *req, struct ib_mad_send_buf *buf)
{
	lockdep_assert_held(&req->file->lock);
	if (req->waiting != buf)
		return false;
	req->waiting = NULL;
	umad_wait_entry_leave_place(req);
	return true;
}

/**
 * umad_wait_entry_done() - ib_core has done with a MAD that was attached
 * @req: the request
 * @buf: the MAD
 *
 * Context: any, &umad_file.lock held; does not sleep.
 * Return: true if it was still the wait entry; there is none now.
 */
bool umad_wait_entry_done(struct umad_request *req, struct ib_mad_send_buf *buf)
{
	lockdep_assert_held(&req->file->lock);
	req->waits_posted--;
	return umad_wait_entry_detach(req, buf);
}

/**
 * umad_wait_entry_cancel() - the request has ended
 * @req: the request
 *
 * Context: any, &umad_file.lock held; does not sleep.
 */
void umad_wait_entry_cancel(struct umad_request *req)
{
	lockdep_assert_held(&req->file->lock);
	/* ib_core flushes a dying agent's all at once, without a search for each. */
	if (!req->agent->shutdown)
		take_back(req);
}
