// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "poll_wake.h"

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/workqueue.h>
#include "queues.h"
#include "rxq.h"
#include "umad_export.h"

/*
 * What a process has of the processor for that: one part in so many, of all its files; so
 * much at once, after it had nothing for long enough. No wake-up comes later than that.
 */
#define WAKE_PARTS		256
#define WAKE_AT_ONCE_US		50LL
#define WAKE_LATE_MAX_US	(10LL * USEC_PER_SEC)

/**
 * struct umad_poll_wake - what wakes the pollers of a file
 * @work: does so
 * @q: the file's queue
 * @paid_at: of the process: when it has paid for what was done, and is to be, in us
 * @took: what it took the last time, in us
 */
struct umad_poll_wake {
	struct delayed_work work;
	struct umad_rxq *q;
	atomic64_t *paid_at;
	s64 took;
};

static s64 now_us(void)
{
	return ktime_to_us(ktime_get());
}

/*
 * How long did it take, in us? Who is woken may run at once in place of this thread, for as long
 * as he likes: that is not what it took. Its own time is known to the last switch then.
 */
static s64 wake_pollers(struct umad_rxq *q)
{
	unsigned long switches = current->nvcsw + current->nivcsw;
	u64 ran = current->se.sum_exec_runtime;
	s64 start = now_us();

	umad_rxq_wake_pollers(q);
	if (current->nvcsw + current->nivcsw == switches)
		return now_us() - start;
	return div_u64(current->se.sum_exec_runtime - ran, NSEC_PER_USEC);
}

static void wake_work(struct work_struct *work)
{
	struct umad_poll_wake *wake = container_of(work, struct umad_poll_wake, work.work);
	s64 before = READ_ONCE(wake->took), took = wake_pollers(wake->q);

	WRITE_ONCE(wake->took, took);
	atomic64_add(WAKE_PARTS * (took - before), wake->paid_at);
}

/* When may it be done, from now on? Others of the process come after that. In us. */
static s64 wake_delay(struct umad_poll_wake *wake)
{
	s64 now = now_us(), at, paid_at = atomic64_read(wake->paid_at);

	do {
		at = clamp_t(s64, paid_at, now - WAKE_PARTS * WAKE_AT_ONCE_US,
			     now + WAKE_LATE_MAX_US);
	} while (!atomic64_try_cmpxchg(wake->paid_at, &paid_at,
				       at + WAKE_PARTS * READ_ONCE(wake->took)));
	return at - now;
}

/* Made by the first read that needs it: most files never do. NULL: there is no memory. */
static struct umad_poll_wake *wake_get(struct umad_poll_wake **place, struct umad_rxq *q,
				       atomic64_t *paid_at)
{
	struct umad_poll_wake *wake, *old;

	/* Pairs with cmpxchg() below. */
	wake = smp_load_acquire(place);
	if (wake)
		return wake;
	wake = kzalloc(sizeof(*wake), GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN);
	/* A cgroup at its limit would have pollers woken at once each time. A file has one. */
	if (!wake)
		wake = kzalloc(sizeof(*wake), GFP_NOWAIT | __GFP_NOWARN);
	if (!wake)
		return NULL;
	INIT_DELAYED_WORK(&wake->work, wake_work);
	wake->q = q;
	wake->paid_at = paid_at;
	old = cmpxchg(place, NULL, wake);
	if (!old)
		return wake;
	kfree(wake);
	return old;
}

/**
 * umad_poll_wake_soon() - wake the pollers of a file, later if there are very many
 * @place: the file's
 * @q: the file's queue: umad_rxq_put_back() has asked for it
 * @paid_at: of the process that has opened it, kept by the file
 *
 * Context: process, in a call of the file; does not sleep.
 */
void umad_poll_wake_soon(struct umad_poll_wake **place, struct umad_rxq *q,
			 atomic64_t *paid_at)
{
	struct umad_poll_wake *wake = wake_get(place, q, paid_at);
	s64 delay;

	if (!wake) {
		umad_rxq_wake_pollers(q);
		return;
	}
	delay = wake_delay(wake);
	queue_delayed_work(umad_timer_wq, &wake->work,
			   delay > 0 ? usecs_to_jiffies(delay) + 1 : 0);
}
EXPORT_SYMBOL_IF_KUNIT(umad_poll_wake_soon);

/**
 * umad_poll_wake_free() - nobody waits any more
 * @wake: of a file that is in no call, consumed; NULL is nothing
 *
 * Context: process; sleeps.
 */
void umad_poll_wake_free(struct umad_poll_wake *wake)
{
	if (!wake)
		return;
	cancel_delayed_work_sync(&wake->work);
	kfree(wake);
}
EXPORT_SYMBOL_IF_KUNIT(umad_poll_wake_free);
