// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What becomes of a request once it is out: attempts, answers, its agent's end. */
#include <linux/types.h>
#include "request.h"

#include <linux/workqueue.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "post.h"
#include "wait_entry.h"

/* Requests looked at in one go with the file's lock held. */
#define BATCH		32

/* The one whose turn it is, with a reference, and an active one to its agent. */
static struct umad_request *retry_next(struct umad_file *file)
{
	struct umad_retry_queue *queue = &file->retry_queue;
	struct umad_request *req, *found = NULL;
	struct umad_retry *entry;
	unsigned int looked_at = 0;
	ktime_t now = ktime_get();

	spin_lock(&file->lock);
	queue->has_turn = false;
	/* Those of an agent that goes away count: there may be 262,144. */
	while (!found && looked_at++ < BATCH && (entry = umad_retry_queue_next(queue))) {
		req = container_of(entry, struct umad_request, retry);
		if (req->ops->wants_turn(req) && umad_active_ref_tryget(&req->agent->active_ref))
			found = req;
	}
	if (found) {
		umad_request_get(found);
		found->ops->take_turn(found, now);
	}
	umad_retry_queue_arm(queue, now);
	spin_unlock(&file->lock);
	return found;
}

/**
 * umad_request_retry_work() - send again what has its turn
 * @work: &umad_retry_queue.work of a file
 *
 * Context: process, on the module's own queue; sleeps.
 */
void umad_request_retry_work(struct work_struct *work)
{
	struct umad_file *file = container_of(work, struct umad_file, retry_queue.work);
	struct umad_request *req = retry_next(file);
	struct umad_agent *agent;

	if (!req)
		return;
	agent = req->agent;
	req->ops->retransmit(req);
	umad_request_put(req);
	umad_agent_leave(agent);
}

/*
 * The first of an agent that waits for a place, if there is one. An expired request that
 * listens for a late response matters less; the first of those may have no place.
 */
static struct umad_request *backlog_take(struct umad_agent *agent)
{
	struct umad_flow_entry *entry;
	struct umad_request *expired;
	unsigned int looked_at = 0;

	lockdep_assert_held(&agent->file->lock);
	while (umad_flow_is_full(&agent->flow) && agent->expired_count &&
	       looked_at++ < BATCH) {
		expired = container_of(timerqueue_getnext(&agent->expired),
				       struct umad_request, expired_node);
		umad_request_step(expired, UMAD_TXN_EV_CANCEL, 0, 0);
	}
	entry = umad_flow_next(&agent->flow);
	return entry ? container_of(entry, struct umad_request, flow) : NULL;
}

/* The next of a file for which there may be a place, with an active reference. */
static struct umad_agent *backlog_agent(struct umad_file *file, unsigned int *id)
{
	struct umad_agent *agent;
	unsigned int looked_at;

	lockdep_assert_held(&file->lock);
	for (looked_at = 0; looked_at < file->slots; looked_at++) {
		*id = (*id + 1) % file->slots;
		agent = umad_file_agent(file, *id);
		if (agent && umad_wait_entry_may_kick(agent) &&
		    umad_active_ref_tryget(&agent->active_ref))
			return agent;
	}
	return NULL;
}

/*
 * The next of a file that has a place, its first attempt, a reference, and an active one
 * to its agent. The agents take turns, from @id on. One whose expired requests gave way in
 * vain is left only after these have been dropped: their addresses are the device's.
 */
static struct umad_request *backlog_next(struct umad_file *file, unsigned int *id,
					 struct ib_mad_send_buf **buf)
{
	struct umad_request *req = NULL;
	struct umad_agent *agent;

	do {
		spin_lock(&file->lock);
		agent = backlog_agent(file, id);
		if (agent)
			req = backlog_take(agent);
		if (req) {
			umad_request_get(req);
			*buf = req->held_buf;
			req->held_buf = NULL;
		}
		umad_request_unlock(file);
		if (agent && !req)
			umad_agent_leave(agent);
	} while (agent && !req);
	return req;
}

/**
 * umad_request_backlog_work() - post what waits for a place in ib_core, as far as there are
 * @work: &umad_file.backlog_work
 *
 * Context: process, on the module's own queue; sleeps.
 */
void umad_request_backlog_work(struct work_struct *work)
{
	struct umad_file *file = container_of(work, struct umad_file, backlog_work);
	struct ib_mad_send_buf *buf;
	struct umad_request *req;
	struct umad_agent *agent;
	unsigned int id = 0;

	while ((req = backlog_next(file, &id, &buf))) {
		agent = req->agent;
		req->ops->post(req, buf);
		umad_request_put(req);
		umad_agent_leave(agent);
		cond_resched();
	}
}

/**
 * umad_request_cancel_all() - give up all that an agent has outstanding
 * @agent: dying, without active references
 *
 * Its wait entries stay in ib_core, which flushes them when the agent is
 * unregistered. The receivers of messages on their way are sent ABORT.
 * Context: process; sleeps; hold no lock.
 */
void umad_request_cancel_all(struct umad_agent *agent)
{
	struct umad_file *file = agent->file;
	struct umad_request *batch[BATCH];
	unsigned int n, i;

	do {
		n = 0;
		spin_lock(&file->lock);
		while (n < BATCH && !list_empty(&agent->requests)) {
			batch[n] = list_first_entry(&agent->requests,
						    struct umad_request,
						    agent_node);
			if (batch[n]->txn.state != UMAD_TXN_EXPIRED)
				umad_stat_inc(&file->port->stats,
					      UMAD_STAT_SEND_CANCELED);
			umad_request_get(batch[n]);
			umad_request_step(batch[n], UMAD_TXN_EV_CANCEL, 0, 0);
			n++;
		}
		umad_request_unlock(file);
		for (i = 0; i < n; i++) {
			if (batch[i]->ops->cancel)
				batch[i]->ops->cancel(batch[i]);
			umad_request_put(batch[i]);
		}
		cond_resched();
	} while (n);
}

/*
 * The request that ib_core has matched a response with. Of a directed route SMP
 * that does not leave the host it is whatever the agent has sent: a response to
 * itself, for instance.
 */
static struct umad_request *matched_send(struct ib_mad_send_buf *buf,
					 const struct ib_mad_hdr *response)
{
	struct umad_request *req = buf ? umad_post_owner(buf) : NULL;

	if (req && !req->txn.key.response &&
	    req->txn.key.tid == response->tid &&
	    req->txn.key.mgmt_class == response->mgmt_class)
		return req;
	return NULL;
}

/*
 * Do responses to the two come to different addresses of ours? With a GRH ib_core compares
 * the GID, else the bits of the LID (rcv_has_same_gid()).
 */
static bool from_others(const struct umad_addr *a, const struct umad_addr *b)
{
	if (a->grh != b->grh)
		return true;
	return a->grh ? a->gid_index != b->gid_index : a->path_bits != b->path_bits;
}

/*
 * Who waits for a response that ib_core has matched with @matched, which has ended, or with
 * nothing of ours. Another request may have the TID, to another node: it goes on if @matched's
 * node has sent this. ib_core may take the response of the other for one to @matched. If
 * both were asked from the same address of ours, ib_core would not tell them apart without
 * @matched either, and the other LID may be one more of the same node.
 */
static struct umad_request *other_request(struct umad_agent *agent,
					  const struct umad_request *matched,
					  const struct ib_mad_hdr *response,
					  const struct ib_user_mad_hdr *hdr)
{
	struct umad_addr from;
	struct umad_txn *txn = umad_txn_find(&agent->file->txns, response->tid,
					     response->mgmt_class);

	if (!txn)
		return NULL;
	umad_addr_from_hdr(&from, hdr);
	if (matched && from_others(&matched->txn.dest, &txn->dest) &&
	    umad_addr_likeness(&matched->txn.dest, &from) &&
	    !umad_addr_likeness(&txn->dest, &from))
		return NULL;
	return container_of(txn, struct umad_request, txn);
}

/**
 * umad_request_fail_infinite() - no response can come any more
 * @req: the request
 * @status: RMPPStatus, for the trace
 *
 * With a deadline it ends by that, and may be answered until then; without one it hears
 * it now.
 * Context: process, &umad_file.lock held, until umad_request_unlock(); does not sleep.
 */
void umad_request_fail_infinite(struct umad_request *req, u8 status)
{
	lockdep_assert_held(&req->file->lock);
	if (req->txn.state == UMAD_TXN_WAIT &&
	    req->txn.timeout == UMAD_TIMEOUT_INFINITE)
		umad_request_step(req, UMAD_TXN_EV_UNDELIVERED, status, 0);
}

/*
 * A response has been lost that ib_core has matched with @matched, which has ended. It is not
 * that of what has not been sent whole, nor of what is being answered; nor if @matched's node
 * has sent it, which the other request was not sent to: what waits for the response to that
 * is in ib_core still.
 */
static void fail_other(struct umad_agent *agent, const struct umad_request *matched,
		       const struct ib_mad_hdr *response, const struct ib_user_mad_hdr *hdr)
{
	struct umad_request *req = other_request(agent, matched, response, hdr);
	struct umad_addr from;

	if (!req || !req->waiting || req->answer_comes)
		return;
	umad_addr_from_hdr(&from, hdr);
	if (umad_addr_likeness(&matched->txn.dest, &from) <=
	    umad_addr_likeness(&req->txn.dest, &from))
		umad_request_fail_infinite(req, 0);
}

/**
 * umad_request_answer_lost() - a response has been received and cannot be kept
 * @agent: that it was routed to
 * @buf: the MAD in ib_core that it was matched with, @agent's
 * @response: its header
 * @hdr: where it came from, or NULL if that is not known
 *
 * Its request goes on; but one without a deadline hears that no other response
 * will come: once ib_core has completed @buf, or now if it is not @buf's.
 * Context: process, ib_core's receive handler; hold no lock.
 */
void umad_request_answer_lost(struct umad_agent *agent, struct ib_mad_send_buf *buf,
			      const struct ib_mad_hdr *response,
			      const struct ib_user_mad_hdr *hdr)
{
	struct umad_request *matched = ib_response_mad(response) ?
				       matched_send(buf, response) : NULL;
	struct umad_file *file = agent->file;

	if (!matched)
		return;
	spin_lock(&file->lock);
	matched->answer_lost = true;
	if (hdr && matched->txn.state != UMAD_TXN_WAIT)
		fail_other(agent, matched, response, hdr);
	umad_request_unlock(file);
}

/**
 * umad_request_answered() - a response has been received
 * @agent: that it was routed to
 * @buf: the MAD in ib_core that it was matched with, @agent's; or NULL
 * @response: its header
 * @hdr: where it came from
 *
 * The request that waits for it is complete after this, and its TID free.
 * Context: process, ib_core's receive handler; &umad_file.lock held, until
 * umad_request_unlock(); does not sleep.
 * Return: false when nobody waits for it.
 */
bool umad_request_answered(struct umad_agent *agent, struct ib_mad_send_buf *buf,
			   const struct ib_mad_hdr *response,
			   const struct ib_user_mad_hdr *hdr)
{
	struct umad_request *matched = matched_send(buf, response), *req;
	struct umad_file *file = agent->file;
	bool answered = false;

	lockdep_assert_held(&file->lock);
	/* ib_core completes it now, there is nothing to take back. */
	if (matched)
		umad_wait_entry_detach(matched, buf);

	req = matched;
	if (!req || req->txn.state != UMAD_TXN_WAIT)
		req = other_request(agent, matched, response, hdr);
	if (req)
		answered = umad_request_step(req, UMAD_TXN_EV_RESPONSE, 0, 0) ==
			   UMAD_TXN_DELIVER;
	/* One that was given up has caught it for its successor, or for none. */
	if (matched && matched != req)
		umad_request_step(matched, UMAD_TXN_EV_RESPONSE, 0, 0);
	if (answered)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_COMPLETED);
	return answered;
}
