// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "poll_wake.h"

#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/time64.h>
#include <linux/workqueue.h>
#include "queues.h"
#include "rxq.h"

/* After a wake-up that took so long, the next one is this much later. */
#define LONG_WAKE_US		50
#define WAKE_PAUSE		256
#define WAKE_PAUSE_MAX_US	(10LL * USEC_PER_SEC)

/**
 * struct umad_poll_wake - what wakes the pollers of a file
 * @work: does so
 * @q: the file's queue
 * @at: when it may be done again
 */
struct umad_poll_wake {
	struct delayed_work work;
	struct umad_rxq *q;
	ktime_t at;
};

static void wake_work(struct work_struct *work)
{
	struct umad_poll_wake *wake = container_of(work, struct umad_poll_wake, work.work);
	ktime_t start = ktime_get();
	s64 took;

	umad_rxq_wake_pollers(wake->q);
	took = ktime_us_delta(ktime_get(), start);
	if (took >= LONG_WAKE_US)
		WRITE_ONCE(wake->at, ktime_add_us(start, min_t(s64, WAKE_PAUSE * took,
							       WAKE_PAUSE_MAX_US)));
}

/* Made by the first read that needs it: most files never do. NULL: there is no memory. */
static struct umad_poll_wake *wake_get(struct umad_poll_wake **place, struct umad_rxq *q)
{
	struct umad_poll_wake *wake, *old;

	/* Pairs with cmpxchg() below. */
	wake = smp_load_acquire(place);
	if (wake)
		return wake;
	wake = kzalloc(sizeof(*wake), GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN);
	if (!wake)
		return NULL;
	INIT_DELAYED_WORK(&wake->work, wake_work);
	wake->q = q;
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
 *
 * Context: process, in a call of the file; does not sleep.
 */
void umad_poll_wake_soon(struct umad_poll_wake **place, struct umad_rxq *q)
{
	struct umad_poll_wake *wake = wake_get(place, q);
	unsigned long delay = 0;
	s64 left;

	if (!wake) {
		umad_rxq_wake_pollers(q);
		return;
	}
	left = ktime_us_delta(READ_ONCE(wake->at), ktime_get());
	if (left > 0)
		delay = usecs_to_jiffies(left) + 1;
	queue_delayed_work(umad_timer_wq, &wake->work, delay);
}

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
