// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* When a file may send a request again; see again.h. */
#include "again.h"

#include <kunit/visibility.h>
#include "queues.h"
#include "umad_compat.h"

/* Of the pause; one that is stuck behind a device for long does not stop the file. */
#define PAUSE_MAX	NSEC_PER_MSEC

static enum hrtimer_restart queue_again_work(struct hrtimer *timer)
{
	struct umad_again *again = container_of(timer, struct umad_again, timer);

	queue_work(umad_timer_wq, &again->work);
	return HRTIMER_NORESTART;
}

/**
 * umad_again_init() - nothing waits, and the first may be posted
 * @again: of a new file
 * @post_next: begins the first of those that wait
 *
 * Context: any.
 */
void umad_again_init(struct umad_again *again, work_func_t post_next)
{
	INIT_LIST_HEAD(&again->waiting);
	again->posted = false;
	again->from = 0;
	INIT_WORK(&again->work, post_next);
	hrtimer_setup(&again->timer, queue_again_work, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
EXPORT_SYMBOL_IF_KUNIT(umad_again_init);

/**
 * umad_again_destroy() - the work does not run any more
 * @again: nothing waits, and nothing will
 *
 * Context: process; sleeps.
 */
void umad_again_destroy(struct umad_again *again)
{
	WARN_ON_ONCE(!list_empty(&again->waiting));
	hrtimer_cancel(&again->timer);
	cancel_work_sync(&again->work);
}
EXPORT_SYMBOL_IF_KUNIT(umad_again_destroy);

/**
 * umad_again_may_begin() - may an attempt be posted?
 * @again: of its file
 * @now: the time
 *
 * Context: any, &umad_file.lock held.
 * Return: false: not before the other is done, and the pause over.
 */
bool umad_again_may_begin(const struct umad_again *again, ktime_t now)
{
	return !again->posted && !ktime_before(now, again->from);
}
EXPORT_SYMBOL_IF_KUNIT(umad_again_may_begin);

/**
 * umad_again_begin() - an attempt is about to be posted
 * @again: whose turn it is
 * @now: the time
 *
 * Context: any, &umad_file.lock held.
 */
void umad_again_begin(struct umad_again *again, ktime_t now)
{
	again->posted = true;
	again->since = now;
}
EXPORT_SYMBOL_IF_KUNIT(umad_again_begin);

/**
 * umad_again_done() - the attempt has left, or failed, or was not made
 * @again: of its file
 * @now: the time
 *
 * Context: any, &umad_file.lock held.
 */
void umad_again_done(struct umad_again *again, ktime_t now)
{
	s64 took = ktime_to_ns(ktime_sub(now, again->since));

	again->posted = false;
	again->from = ktime_add_ns(now, clamp_t(s64, 2 * took, 0, PAUSE_MAX));
	umad_again_arm(again);
}
EXPORT_SYMBOL_IF_KUNIT(umad_again_done);

/**
 * umad_again_arm() - see to the next in turn, if there is one
 * @again: of its file
 *
 * Context: any, &umad_file.lock held.
 */
void umad_again_arm(struct umad_again *again)
{
	if (!again->posted && !list_empty(&again->waiting))
		hrtimer_start(&again->timer, again->from, HRTIMER_MODE_ABS);
}
EXPORT_SYMBOL_IF_KUNIT(umad_again_arm);
