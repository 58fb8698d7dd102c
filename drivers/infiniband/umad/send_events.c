// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What becomes of a send once it is out: deadlines, answers, its agent's end. */
#include <linux/types.h>
#include "send.h"

#include <linux/workqueue.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "post.h"
#include "queues.h"
#include "wait_entry.h"

/* Transactions stepped in one go with the file's lock held. */
#define BATCH		32
/*
 * And so many in one run of the work, which then ends and is queued again: timeouts
 * may be shorter than what it takes to deal with them.
 */
#define RUN_MAX		256
/*
 * Requests of an agent that listen for a late response: ib_core keeps them.
 * They are taken back in the order in which they were posted, because ib_core
 * searches its list in that order, and RUN_MAX in one run of the work, because
 * it finds those taken back first until its own work has freed them.
 */
#define EXPIRED_MAX	8
/*
 * Of wait entries that are taken back, in one lock section: the search is long behind
 * many whose timeout is infinite.
 */
#define SEARCHES	1

/*
 * One batch under the lock. Fills in the @n agents whose gate was entered for it. True:
 * there are more.
 */
static bool collect_due(struct umad_file *file, struct umad_agent **inside,
			unsigned int *n)
{
	unsigned int looked_at = 0, searches = 0;
	struct umad_send *send;
	struct umad_txn *txn;
	ktime_t now = ktime_get();
	bool more;

	*n = 0;
	spin_lock(&file->lock);
	while (looked_at++ < BATCH && searches < SEARCHES &&
	       (txn = umad_txn_first_due(&file->txns, now))) {
		send = container_of(txn, struct umad_send, txn);
		/* Whoever has shut it cancels all that it has. */
		if (!umad_gate_enter(&send->agent->gate)) {
			umad_txn_clear_deadline(&file->txns, txn);
			continue;
		}
		inside[(*n)++] = send->agent;
		if (umad_send_step(send, UMAD_TXN_EV_DEADLINE, 0, now) ==
		    UMAD_TXN_RETRY)
			umad_send_again(send, now);
		searches += send->txn.state == UMAD_TXN_DONE;
	}
	more = umad_txn_first_due(&file->txns, now);
	umad_send_unlock(file);
	return more;
}

/* As collect_due(), for requests too many that listen for a late response. */
static bool collect_expired(struct umad_file *file, struct umad_agent **inside,
			    unsigned int *n)
{
	struct timerqueue_node *node;
	struct umad_agent *agent;
	int id;

	*n = 0;
	spin_lock(&file->lock);
	for (id = 0; id < UMAD_MAX_AGENTS; id++) {
		agent = file->agent[id];
		while (agent && *n < SEARCHES && agent->expired_count > EXPIRED_MAX &&
		       umad_gate_enter(&agent->gate)) {
			inside[(*n)++] = agent;
			node = timerqueue_getnext(&agent->expired);
			umad_send_step(container_of(node, struct umad_send,
						    expired_node),
				       UMAD_TXN_EV_CANCEL, 0, 0);
		}
	}
	umad_send_unlock(file);
	return *n == SEARCHES;
}

/* As many as fit one run; true: there are more. */
static bool settle_many(struct umad_file *file,
			bool (*collect)(struct umad_file *file,
					struct umad_agent **inside,
					unsigned int *n))
{
	struct umad_agent *inside[BATCH];
	unsigned int total = 0, n, i;
	bool more;

	do {
		more = collect(file, inside, &n);
		for (i = 0; i < n; i++)
			umad_agent_leave(inside[i]);
		cond_resched();
		/* Those of agents that go away are not among them. */
		total += n ?: BATCH;
	} while (more && total < RUN_MAX);
	return more;
}

/**
 * umad_send_again() - wait for a turn to be sent again
 * @send: a request, or a message, whose time has come; may wait already
 * @now: the time
 *
 * Context: process, &umad_file.lock held.
 */
void umad_send_again(struct umad_send *send, ktime_t now)
{
	struct umad_again *again = &send->file->again;

	lockdep_assert_held(&send->file->lock);
	if (!umad_again_waits(&send->in_line)) {
		send->again_since = now;
		umad_again_join(again, &send->in_line);
	}
	umad_again_arm(again, now);
}

/* The one whose turn it is, with a reference, inside its agent's gate. */
static struct umad_send *next_again(struct umad_file *file)
{
	struct umad_again *again = &file->again;
	struct umad_send *send, *found = NULL;
	struct umad_again_entry *entry;
	unsigned int looked_at = 0;
	ktime_t now = ktime_get();

	spin_lock(&file->lock);
	again->has_turn = false;
	/* Those of an agent that goes away count: there may be 262,144. */
	while (!found && looked_at++ < BATCH && (entry = umad_again_next(again))) {
		send = container_of(entry, struct umad_send, in_line);
		if (send->ops->wants_turn(send) && umad_gate_enter(&send->agent->gate))
			found = send;
	}
	if (found) {
		umad_send_get(found);
		found->ops->take_turn(found, now);
	}
	umad_again_arm(again, now);
	spin_unlock(&file->lock);
	return found;
}

/**
 * umad_send_again_work() - send again what has its turn
 * @work: &umad_again.work of a file
 *
 * Context: process, on the module's own queue; sleeps.
 */
void umad_send_again_work(struct work_struct *work)
{
	struct umad_file *file = container_of(work, struct umad_file, again.work);
	struct umad_send *send = next_again(file);
	struct umad_agent *agent;

	if (!send)
		return;
	agent = send->agent;
	send->ops->retransmit(send);
	umad_send_put(send);
	umad_agent_leave(agent);
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
	bool more_due, more_expired;
	ktime_t now;

	more_due = settle_many(file, collect_due);
	more_expired = settle_many(file, collect_expired);

	spin_lock(&file->lock);
	now = ktime_get();
	file->armed = KTIME_MAX;
	if (more_due || more_expired) {
		file->armed = now;
		mod_delayed_work(umad_timer_wq, &file->deadline_work,
				 more_due ? 0 : 1);
	} else {
		umad_send_arm(file, now);
	}
	spin_unlock(&file->lock);
}

/**
 * umad_send_cancel_all() - give up all that an agent has outstanding
 * @agent: dying, and nobody is inside its gate any more
 *
 * Its wait entries stay in ib_core, which flushes them when the agent is
 * unregistered. The receivers of messages on their way are sent ABORT.
 * Context: process; sleeps; hold no lock.
 */
void umad_send_cancel_all(struct umad_agent *agent)
{
	struct umad_file *file = agent->file;
	struct umad_send *batch[BATCH];
	unsigned int n, i;

	do {
		n = 0;
		spin_lock(&file->lock);
		while (n < BATCH && !list_empty(&agent->sends)) {
			batch[n] = list_first_entry(&agent->sends,
						    struct umad_send,
						    agent_node);
			if (batch[n]->txn.state != UMAD_TXN_EXPIRED)
				umad_stat_inc(&file->port->stats,
					      UMAD_STAT_SEND_CANCELED);
			umad_send_get(batch[n]);
			umad_send_step(batch[n], UMAD_TXN_EV_CANCEL, 0, 0);
			n++;
		}
		umad_send_unlock(file);
		for (i = 0; i < n; i++) {
			if (batch[i]->ops->canceled)
				batch[i]->ops->canceled(batch[i]);
			umad_send_put(batch[i]);
		}
		cond_resched();
	} while (n);
}

/*
 * The request that ib_core has matched a response with. Of a directed route SMP
 * that does not leave the host it is whatever the agent has sent: a response to
 * itself, for instance.
 */
static struct umad_send *matched_send(struct ib_mad_send_buf *buf,
				      const struct ib_mad_hdr *response)
{
	struct umad_send *send = buf ? umad_post_owner(buf) : NULL;

	if (send && !send->txn.key.response &&
	    send->txn.key.tid == response->tid &&
	    send->txn.key.mgmt_class == response->mgmt_class)
		return send;
	return NULL;
}

/**
 * umad_send_answer_lost() - a response has been received and cannot be kept
 * @buf: the MAD in ib_core that it was matched with, the receiving agent's
 * @response: its header
 *
 * Its request goes on; but one without a deadline hears now that no other
 * response will come, once ib_core has completed @buf.
 * Context: process, ib_core's receive handler; hold no lock.
 */
void umad_send_answer_lost(struct ib_mad_send_buf *buf,
			   const struct ib_mad_hdr *response)
{
	struct umad_send *send = ib_response_mad(response) ?
				 matched_send(buf, response) : NULL;

	if (!send)
		return;
	spin_lock(&send->file->lock);
	send->answer_lost = true;
	spin_unlock(&send->file->lock);
}

/**
 * umad_send_answered() - a response has been received
 * @agent: that it was routed to
 * @buf: the MAD in ib_core that it was matched with, @agent's; or NULL
 * @response: its header
 *
 * The request that waits for it is complete after this, and its TID free.
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 * Return: false when nobody waits for it.
 */
bool umad_send_answered(struct umad_agent *agent, struct ib_mad_send_buf *buf,
			const struct ib_mad_hdr *response)
{
	struct umad_send *matched = matched_send(buf, response), *send;
	struct umad_file *file = agent->file;
	ktime_t now = ktime_get();
	bool answered = false;
	struct umad_txn *txn;

	spin_lock(&file->lock);
	/* ib_core completes it now, there is nothing to take back. */
	if (matched)
		umad_wait_entry_detach(matched, buf);

	send = matched;
	if (!send || send->txn.state != UMAD_TXN_WAIT) {
		txn = umad_txn_find(&file->txns, response->tid,
				    response->mgmt_class);
		send = txn ? container_of(txn, struct umad_send, txn) : NULL;
	}
	if (send)
		answered = umad_send_step(send, UMAD_TXN_EV_RESPONSE, 0, now) ==
			   UMAD_TXN_DELIVER;
	/* One that was given up has caught it for its successor, or for none. */
	if (matched && matched != send)
		umad_send_step(matched, UMAD_TXN_EV_RESPONSE, 0, now);
	if (answered)
		umad_stat_inc(&file->port->stats, UMAD_STAT_SEND_COMPLETED);
	umad_send_unlock(file);
	return answered;
}
