// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* How long a request waits for a response of several segments that has begun. */
#include <linux/types.h>
#include "request.h"

#include <linux/lockdep.h>
#include <linux/minmax.h>
#include "file.h"
#include "wait_entry.h"

/*
 * A response that has begun may take this long for each further segment, in
 * ms, if the caller's timeout is shorter: to notice a loss an in-tree sender
 * needs 2 s, OPA's fabric manager up to 5.2 s, and that may be lost again.
 */
#define SEGMENT_PATIENCE_MS	10000
/*
 * And so long in all, if the caller's timeout is shorter, with what failed before it:
 * whoever sends one now and then would have the caller wait for weeks. In-tree has 40 s
 * for any number.
 */
#define RESPONSE_PATIENCE_MS	40000
/* Besides for each segment that has come. */
#define PER_SEGMENT_MS		50

/* What is left of it; not above 0 when it has been too long. */
static ktime_t patience_left(const struct umad_request *req, ktime_t now)
{
	ktime_t all = max(req->txn.timeout, ms_to_ktime(RESPONSE_PATIENCE_MS));

	if (req->answer_begun)
		all = ktime_sub(all, ktime_sub(now, req->answer_begun));
	return ktime_sub(all, req->answer_took);
}

static bool may_expire(const struct umad_request *req)
{
	return req->txn.state == UMAD_TXN_WAIT && req->txn.timeout != UMAD_TIMEOUT_INFINITE;
}

/**
 * umad_answer_goes_on() - a segment of the response has come: wait for the next
 * @req: in state UMAD_TXN_WAIT
 * @segs: of the response, that have come
 * @now: the time
 *
 * The first puts the request's deadline off, and its further attempts.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_answer_goes_on(struct umad_request *req, u32 segs, ktime_t now)
{
	struct umad_txn *txn = &req->txn;
	ktime_t wait, left;

	lockdep_assert_held(&req->file->lock);
	if (!may_expire(req))
		return;
	req->answer_silent = false;
	if (!req->answer_begun) {
		req->answer_begun = now;
		req->retries_kept = txn->retries_left;
		/* An attempt that waits for its turn is not made. */
		req->answer_until = umad_timer_is_set(&txn->timer) ?
				    txn->timer.node.expires : ktime_add(now, txn->timeout);
	}
	left = ktime_add_ms(patience_left(req, now), (u64)PER_SEGMENT_MS * segs);
	wait = max(txn->timeout, ms_to_ktime(SEGMENT_PATIENCE_MS));
	umad_txn_put_off(&req->file->txns, txn, now, clamp_t(ktime_t, left, 0, wait));
	umad_file_arm(req->file);
	umad_wait_entry_leave_place(req);
}

/* It comes no more. False: no attempt is left, or it has taken too long. */
static bool go_back(struct umad_request *req, ktime_t now)
{
	if (!req->retries_kept || patience_left(req, now) <= 0)
		return false;
	req->answer_took = ktime_add(req->answer_took, ktime_sub(now, req->answer_begun));
	req->answer_begun = 0;
	return true;
}

/**
 * umad_answer_failed() - the response will not be completed
 * @req: the request
 *
 * It goes on with the deadline and the attempts that it had when the response began.
 * After the last attempt the response may begin again, and has the time of the first.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_answer_failed(struct umad_request *req)
{
	struct umad_txn *txn = &req->txn;
	ktime_t now = ktime_get(), expires;

	lockdep_assert_held(&req->file->lock);
	if (!may_expire(req) || !req->answer_begun)
		return;
	expires = ktime_add(now, clamp_t(ktime_t, patience_left(req, now), 0, txn->timeout));
	if (go_back(req, now))
		umad_txn_resume(&req->file->txns, txn, max(req->answer_until, now),
				req->retries_kept);
	else
		umad_txn_resume(&req->file->txns, txn, expires, 0);
	umad_file_arm(req->file);
}

/**
 * umad_answer_gives_out() - the deadline has passed: if it was put off, who answers has died
 * @req: the request; its timer is not set
 * @now: the time
 *
 * The attempts that are left are made. What has come of the response stays until another
 * begins, for its sender may only be slow.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_answer_gives_out(struct umad_request *req, ktime_t now)
{
	lockdep_assert_held(&req->file->lock);
	if (!may_expire(req) || !req->answer_begun || !go_back(req, now))
		return;
	req->txn.retries_left = req->retries_kept;
	req->answer_silent = true;
}
