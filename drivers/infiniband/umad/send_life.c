// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The life of a send: its references, its states, and the report of its end. */
#include <linux/types.h>
#include "send.h"

#include <linux/slab.h>
#include <linux/workqueue.h>
#include "agent.h"
#include "ah.h"
#include "port.h"
#include "file.h"
#include "queues.h"
#include "rmpp_send.h"
#include "trace.h"

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

/**
 * umad_send_release_report() - give back a record that read() would return
 * @msg: in a &struct umad_report; consumed
 *
 * Context: process; does not sleep.
 */
void umad_send_release_report(struct umad_msg *msg)
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
	umad_rmpp_tx_free(send->rmpp);
	atomic_dec(&send->file->held_sends);
	kfree(send->report);
	kfree(send->mad);
	kfree(send);
}

/**
 * umad_send_finish() - give back what a send held that has become DONE
 * @send: of which umad_send_step() said so, or that was never in a table
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_send_finish(struct umad_send *send)
{
	umad_rmpp_tx_stop(send);
	umad_send_put(send);
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

/**
 * umad_send_take_back() - a placeholder that was posted for a send that has ended
 * @send: DONE
 *
 * Even of a dying agent: a handler, whom only unregistering waits for, may have
 * posted it after that has flushed the others, and then waits for it, too.
 * Context: any, &umad_file.lock held.
 */
void umad_send_take_back(struct umad_send *send)
{
	lockdep_assert_held(&send->file->lock);
	/* -EINVAL: it is complete, and the handler is on its way. */
	if (send->waiting && !ib_modify_mad(send->waiting, 0))
		send->waiting = NULL;
}

/**
 * umad_send_stop_waiting() - ib_core need not wait for a response any more
 * @send: the request; its placeholder, if it has one, is taken back
 *
 * Context: any, &umad_file.lock held.
 */
void umad_send_stop_waiting(struct umad_send *send)
{
	lockdep_assert_held(&send->file->lock);
	/* ib_core flushes a dying agent's all at once, without a search for each. */
	if (!send->agent->dying)
		umad_send_take_back(send);
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
	umad_rmpp_tx_explain(send, report->msg.hdr.reserved);
	/* It counts by itself: it may be read before the send has left, or long after. */
	atomic_inc(&file->held_sends);
	if (!umad_file_queue(file, &report->msg, UMAD_STAT_SEND_TIMED_OUT))
		umad_send_release_report(&report->msg);
}

/**
 * umad_send_step() - step a send's transaction, report what is to be reported
 * @send: the send
 * @event: what happened
 * @wc_status: &enum ib_wc_status, or with UMAD_TXN_EV_UNDELIVERED the RMPPStatus,
 *	for the trace
 * @now: the time
 * @finish: set to: call umad_send_finish() without the lock
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: what umad_txn_step() returned.
 */
enum umad_txn_action umad_send_step(struct umad_send *send,
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
		umad_again_leave(&file->again, &send->in_line);
		if (old == UMAD_TXN_LATE) {
			timerqueue_del(&send->agent->late, &send->late_node);
			send->agent->late_count--;
			atomic_inc(&file->held_sends);
		}
		umad_send_stop_waiting(send);
	} else if (old != UMAD_TXN_LATE && send->txn.state == UMAD_TXN_LATE) {
		timerqueue_add(&send->agent->late, &send->late_node);
		send->agent->late_count++;
		/* Few may be late, and they are not what the program waits for. */
		atomic_dec(&file->held_sends);
	}
	return action;
}
