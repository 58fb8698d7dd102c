// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Whose segments are sent next, and how many are in ib_core at a time; see sched.h. */
#include "rmpp/sched.h"

#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "queues.h"
#include "umad_compat.h"
#include "umad_export.h"

/*
 * In ib_core: what keeps the device busy. Who comes without having been seen lately, as
 * MADs of the kernel do, waits for so many.
 */
#define GRANTED_MAX	32
/* While others are around. */
#define GRANTED_AROUND	8
/* Of so many, one turn has half. */
#define TURNS		2
/* One in so many messages that send is the one that has waited longest. */
#define IN_ORDER_EVERY	4
/* Single MADs are there for so long after one was seen; and short messages of others. */
#define SINGLES_STAY	(3 * NSEC_PER_MSEC)
#define SHORTS_STAY	(50 * NSEC_PER_MSEC)
/* And both are around for so long. */
#define OTHERS_AROUND	NSEC_PER_SEC
/* They are not noted more often. */
#define NOTED_NS	(100 * NSEC_PER_USEC)
/* A turn beside them takes so long, if a segment does not take longer than half of it. */
#define TURN_NS		(80 * NSEC_PER_USEC)
#define TURN_SEGS_MIN	1
/*
 * The pause after it takes so many times as long as its segments should have, beside single
 * MADs, or if none was seen since the last pause; beside short messages so many times as long as
 * it has taken; but not more than that.
 */
#define PAUSE_SINGLES	2
#define PAUSE_UNSEEN	1
#define PAUSE_SHORTS	8
#define PAUSE_MAX	(3 * NSEC_PER_MSEC)
/*
 * Short messages of others count in full if they have just taken so long, in ns. A fifth of what
 * passes is forgotten: one now and then does not make long ones slow.
 */
#define SHORTS_FULL	(800 * NSEC_PER_USEC)
#define SHORTS_FORGET	5
static_assert(SHORTS_FULL * SHORTS_FORGET <= SHORTS_STAY);
/* What one segment is taken to last at first, and at most. */
#define SEG_NS_FIRST	(50 * NSEC_PER_USEC)
#define SEG_NS_MAX	NSEC_PER_MSEC
/* And in the mean, while others wait all the time. */
#define MEAN_NS_MAX	((s64)4 * NSEC_PER_MSEC)
/* The time of short messages that can be saved up, and owed; three quarters of what passes are. */
#define SHORT_NS_MAX	((s64)4 * NSEC_PER_MSEC)
/* But long ones wait no longer than that. */
#define LONG_WAIT_MAX	((s64)40 * NSEC_PER_MSEC)

/* Was it so lately? It may be later than @now, as others note it without the lock. */
static bool is_within(s64 at, s64 ns, ktime_t now)
{
	return ktime_to_ns(now) - at < ns;
}

static bool singles_are_there(const struct umad_sched *sched, ktime_t now)
{
	return is_within(READ_ONCE(sched->single_at), SINGLES_STAY, now);
}

static bool others_are_there(const struct umad_sched *sched, ktime_t now)
{
	return singles_are_there(sched, now) ||
	       is_within(sched->other_short_at, SHORTS_STAY, now);
}

static unsigned int granted_max(const struct umad_sched *sched, ktime_t now)
{
	if (is_within(READ_ONCE(sched->single_at), OTHERS_AROUND, now) ||
	    is_within(sched->other_short_at, OTHERS_AROUND, now))
		return GRANTED_AROUND;
	return GRANTED_MAX;
}

/* The time that short messages of others have taken lately. */
static s64 others_took(const struct umad_sched *sched, ktime_t now)
{
	return max_t(s64, 0, sched->others_ns -
			     div_s64(ktime_to_ns(now) - sched->other_short_at, SHORTS_FORGET));
}

/* After the segments of a turn have left. */
static s64 pause_after(struct umad_sched *sched, ktime_t now)
{
	bool seen = READ_ONCE(sched->single_at) >= sched->looked_at;
	s64 pause = (seen ? PAUSE_SINGLES : PAUSE_UNSEEN) * sched->busy_segs * sched->seg_ns;
	s64 shorts = PAUSE_SHORTS * ktime_to_ns(ktime_sub(now, sched->busy_since));

	/* Of what others took SHORTS_STAY ago nothing is left. */
	shorts = div_s64(min_t(s64, shorts, PAUSE_MAX) *
			 div_s64(others_took(sched, now), NSEC_PER_USEC),
			 SHORTS_FULL / NSEC_PER_USEC);
	sched->looked_at = ktime_to_ns(now);
	return min_t(s64, max(pause, shorts), PAUSE_MAX);
}

static unsigned int turn_segs_beside(const struct umad_sched *sched)
{
	return clamp_t(s64, div64_s64(TURN_NS, sched->seg_ns), TURN_SEGS_MIN,
		       GRANTED_AROUND / TURNS);
}

/* Have short messages time left that they need not wait for? */
static bool short_has_time(struct umad_sched *sched, ktime_t now)
{
	s64 passed = ktime_to_ns(ktime_sub(now, sched->short_at));

	lockdep_assert_held(&sched->lock);
	sched->short_ns = min_t(s64, sched->short_ns + passed / 4 * 3, SHORT_NS_MAX);
	sched->short_at = now;
	return sched->short_ns >= sched->mean_ns;
}

/* Which class has the next turn: short messages in their time, else in turn. */
static enum umad_sched_class next_class(const struct umad_sched *sched, bool short_first,
					ktime_t now)
{
	if (!umad_turn_is_awaited(&sched->root[UMAD_SCHED_LONG]))
		return UMAD_SCHED_SHORT;
	if (!umad_turn_is_awaited(&sched->root[UMAD_SCHED_SHORT]))
		return UMAD_SCHED_LONG;
	if (sched->last_class == UMAD_SCHED_LONG)
		return UMAD_SCHED_SHORT;
	if (short_first && is_within(sched->long_waits_since, LONG_WAIT_MAX, now))
		return UMAD_SCHED_SHORT;
	return UMAD_SCHED_LONG;
}

/* Segments of the next turn, of a class; 0: it is not given now. */
static unsigned int turn_segs(const struct umad_sched *sched, enum umad_sched_class class,
			      bool short_first, ktime_t now)
{
	unsigned int max = granted_max(sched, now), segs = max / TURNS;

	lockdep_assert_held(&sched->lock);
	if (class == UMAD_SCHED_SHORT && short_first) {
		/* One of them in a turn, unless single MADs would wait for it. */
		segs = singles_are_there(sched, now) ? turn_segs_beside(sched) :
						       UMAD_SCHED_SHORT_SEGS;
		max = TURNS * segs;
	} else if (others_are_there(sched, now)) {
		segs = turn_segs_beside(sched);
		max = ktime_before(now, sched->next) ? 0 : segs;
	}
	return sched->granted + segs <= max ? segs : 0;
}

static void sample_begin(struct umad_sched *sched, ktime_t now)
{
	sched->sample_since = now;
	sched->sample_segs = 0;
	sched->sample_unseen = 0;
}

/*
 * What has left since the sample began tells how long one segment takes: at least, if
 * nothing is on the way now; and in the mean, if something was all the time.
 */
static void sample_end(struct umad_sched *sched, ktime_t now)
{
	s64 took = ktime_to_ns(ktime_sub(now, sched->sample_since)), mean;

	/* Those of which ib_core does not say when they leave may leave long after it. */
	if (sched->sample_segs && sched->sample_unseen <= sched->sample_segs) {
		took = div_s64(took, sched->sample_segs);
		mean = sched->granted ? min(took, MEAN_NS_MAX) : sched->seg_ns;
		sched->mean_ns = (3 * sched->mean_ns + mean) / 4;
		/* Mostly it took longer than sending does, as the processor did other things. */
		if (took < sched->seg_ns)
			took = (sched->seg_ns + took) / 2;
		else
			took = (15 * sched->seg_ns + took) / 16;
		sched->seg_ns = clamp_t(s64, took, 1, SEG_NS_MAX);
	}
	sample_begin(sched, now);
}

/* A turn of a file begins. */
static void grant(struct umad_sched_queue *queue, unsigned int segs, ktime_t now)
{
	struct umad_sched *sched = queue->sched;

	lockdep_assert_held(&sched->lock);
	if (!sched->granted) {
		sched->busy_since = now;
		sched->busy_long = false;
		sample_begin(sched, now);
	}
	sched->granted += segs;
	sched->turns++;
	sched->last_class = queue->class;
	if (queue->class == UMAD_SCHED_LONG) {
		sched->busy_long = true;
		sched->long_process = queue->process;
		sched->long_at = ktime_to_ns(now);
		sched->long_waits_since = ktime_to_ns(now);
	} else if (queue->process != sched->long_process &&
		   is_within(sched->long_at, OTHERS_AROUND, now)) {
		sched->others_ns = others_took(sched, now);
		sched->other_short_at = ktime_to_ns(now);
	}
}

/* What was granted has left, or is in ib_core without end, or will not be sent. */
static void take_back(struct umad_sched *sched, unsigned int left, unsigned int unseen,
		      unsigned int unused)
{
	ktime_t now;

	lockdep_assert_held(&sched->lock);
	WARN_ON_ONCE(sched->granted < left + unseen + unused);
	sched->granted -= left + unseen + unused;
	sched->busy_segs += left + unseen;
	sched->sample_segs += left;
	sched->sample_unseen += unseen;
	if (sched->granted && sched->sample_segs + sched->sample_unseen < GRANTED_MAX)
		return;
	now = ktime_get();
	if (!sched->granted) {
		/* What only short ones have taken does not put off the end of a pause. */
		if (sched->busy_segs && sched->busy_long)
			sched->next = ktime_add_ns(now, pause_after(sched, now));
		sched->busy_segs = 0;
	}
	sample_end(sched, now);
}

static bool is_awaited(const struct umad_sched *sched)
{
	return umad_turn_is_awaited(&sched->root[UMAD_SCHED_SHORT]) ||
	       umad_turn_is_awaited(&sched->root[UMAD_SCHED_LONG]);
}

static void give_turns(struct umad_sched *sched)
{
	struct umad_sched_queue *queue;
	enum umad_sched_class class;
	unsigned int segs;
	bool short_first;
	ktime_t now;

	lockdep_assert_held(&sched->lock);
	while (is_awaited(sched)) {
		now = ktime_get();
		short_first = short_has_time(sched, now);
		class = next_class(sched, short_first, now);
		segs = turn_segs(sched, class, short_first, now);
		if (!segs)
			break;
		queue = container_of(umad_turn_take(&sched->root[class]),
				     struct umad_sched_queue, turn);
		grant(queue, segs, now);
		queue->grant = segs;
		queue_work(umad_timer_wq, &queue->work);
	}
	/* What is granted gives turns when it comes back. */
	if (!sched->granted && is_awaited(sched))
		hrtimer_start(&sched->timer, sched->next, HRTIMER_MODE_ABS);
}

static enum hrtimer_restart pause_is_over(struct hrtimer *timer)
{
	struct umad_sched *sched = container_of(timer, struct umad_sched, timer);
	unsigned long flags;

	spin_lock_irqsave(&sched->lock, flags);
	give_turns(sched);
	spin_unlock_irqrestore(&sched->lock, flags);
	return HRTIMER_NORESTART;
}

/**
 * umad_sched_init() - nothing is sent
 * @sched: of a new port
 *
 * Context: any.
 */
void umad_sched_init(struct umad_sched *sched)
{
	unsigned int class;

	spin_lock_init(&sched->lock);
	for (class = 0; class < UMAD_SCHED_CLASSES; class++)
		umad_turn_init(&sched->root[class], NULL);
	sched->granted = 0;
	sched->turns = 0;
	sched->single_at = ktime_get_ns() - OTHERS_AROUND;
	sched->other_short_at = sched->single_at;
	sched->others_ns = 0;
	sched->long_process = NULL;
	sched->last_class = UMAD_SCHED_LONG;
	sched->long_at = sched->single_at;
	sched->long_waits_since = 0;
	sched->busy_segs = 0;
	sched->looked_at = 0;
	sched->busy_long = false;
	sample_begin(sched, 0);
	sched->seg_ns = SEG_NS_FIRST;
	sched->mean_ns = SEG_NS_FIRST;
	sched->next = 0;
	sched->short_ns = SHORT_NS_MAX;
	sched->short_at = ktime_get();
	hrtimer_setup(&sched->timer, pause_is_over, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
EXPORT_SYMBOL_IF_KUNIT(umad_sched_init);

/**
 * umad_sched_destroy() - check that all was given back
 * @sched: of a port without files
 *
 * Context: process.
 */
void umad_sched_destroy(struct umad_sched *sched)
{
	WARN_ON_ONCE(sched->granted || sched->turns || is_awaited(sched));
	hrtimer_cancel(&sched->timer);
}
EXPORT_SYMBOL_IF_KUNIT(umad_sched_destroy);

/**
 * umad_sched_note_single() - a single MAD was sent or received
 * @sched: of the port
 *
 * Context: any.
 */
void umad_sched_note_single(struct umad_sched *sched)
{
	ktime_t now = ktime_get();

	/* Mostly it is known, and then no other processor has to read it again. */
	if (!is_within(READ_ONCE(sched->single_at), NOTED_NS, now))
		WRITE_ONCE(sched->single_at, ktime_to_ns(now));
}
EXPORT_SYMBOL_IF_KUNIT(umad_sched_note_single);

/* A file has something to send. */
static void await_turn(struct umad_sched_queue *queue)
{
	struct umad_sched *sched = queue->sched;

	lockdep_assert_held(&sched->lock);
	if (queue->class == UMAD_SCHED_LONG &&
	    !umad_turn_is_awaited(&sched->root[UMAD_SCHED_LONG]))
		sched->long_waits_since = ktime_get_ns();
	umad_turn_wait(&queue->turn);
}

/**
 * umad_sched_put() - a segment does not keep others waiting any more
 * @sched: of the port
 * @left: it has left just now; false: it has not, or ib_core will not say when it has
 *
 * Context: process; does not sleep.
 */
void umad_sched_put(struct umad_sched *sched, bool left)
{
	unsigned long flags;

	spin_lock_irqsave(&sched->lock, flags);
	take_back(sched, left, !left, 0);
	give_turns(sched);
	spin_unlock_irqrestore(&sched->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(umad_sched_put);

/**
 * umad_sched_queue_init() - nothing is to be sent
 * @queue: of a new file
 * @sched: of its port
 * @class: of the segments
 * @process: that has opened it, in the turns of each class
 * @send: sends at most &umad_sched_queue.grant segments, and calls
 *	umad_sched_queue_end_turn()
 *
 * Context: any.
 */
void umad_sched_queue_init(struct umad_sched_queue *queue, struct umad_sched *sched,
			   enum umad_sched_class class,
			   struct umad_turn process[UMAD_SCHED_CLASSES], work_func_t send)
{
	queue->sched = sched;
	queue->class = class;
	queue->process = process;
	umad_turn_init(&queue->turn, &process[class]);
	INIT_LIST_HEAD(&queue->ready);
	timerqueue_init_head(&queue->shortest);
	queue->takes = 0;
	queue->has_turn = false;
	queue->grant = 0;
	INIT_WORK(&queue->work, send);
}
EXPORT_SYMBOL_IF_KUNIT(umad_sched_queue_init);

/* What a turn has used; the rest of it may be used by others. */
static void end_turn(struct umad_sched_queue *queue, unsigned int unused)
{
	struct umad_sched *sched = queue->sched;
	s64 took = (queue->grant - unused) * sched->mean_ns;

	lockdep_assert_held(&sched->lock);
	sched->turns--;
	if (queue->class == UMAD_SCHED_SHORT) {
		sched->short_ns = max_t(s64, -SHORT_NS_MAX, sched->short_ns - took);
		/* If none of others has had a turn lately, it does not matter. */
		if (queue->process != sched->long_process)
			sched->others_ns = min_t(s64, SHORTS_FULL, sched->others_ns + took);
	}
	take_back(sched, 0, 0, unused);
	give_turns(sched);
}

/**
 * umad_sched_queue_destroy() - the work does not run any more
 * @queue: nothing is to be sent, nor will be
 *
 * Context: process; sleeps.
 */
void umad_sched_queue_destroy(struct umad_sched_queue *queue)
{
	struct umad_sched *sched = queue->sched;
	unsigned long flags;

	WARN_ON_ONCE(!list_empty(&queue->ready));
	spin_lock_irqsave(&sched->lock, flags);
	umad_turn_leave(&queue->turn);
	spin_unlock_irqrestore(&sched->lock, flags);
	if (!cancel_work_sync(&queue->work))
		return;
	spin_lock_irqsave(&sched->lock, flags);
	end_turn(queue, queue->grant);
	spin_unlock_irqrestore(&sched->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(umad_sched_queue_destroy);

/**
 * umad_sched_queue_add() - a message has a segment to be sent
 * @queue: of its file
 * @entry: the message's, not ready
 * @left: segments of it that have not been sent yet
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_sched_queue_add(struct umad_sched_queue *queue, struct umad_sched_entry *entry,
			  u32 left)
{
	entry->queue = queue;
	entry->by_left.expires = left;
	list_add_tail(&entry->node, &queue->ready);
	timerqueue_add(&queue->shortest, &entry->by_left);
}
EXPORT_SYMBOL_IF_KUNIT(umad_sched_queue_add);

/**
 * umad_sched_queue_del() - a message does not wait for a turn any more
 * @entry: the message's, whether it does or not
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_sched_queue_del(struct umad_sched_entry *entry)
{
	if (!umad_sched_entry_is_ready(entry))
		return;
	list_del_init(&entry->node);
	timerqueue_del(&entry->queue->shortest, &entry->by_left);
}
EXPORT_SYMBOL_IF_KUNIT(umad_sched_queue_del);

/**
 * umad_sched_queue_take() - the message that is the next to send
 * @queue: of its file
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: the message's, no more ready; NULL if there is none.
 */
struct umad_sched_entry *umad_sched_queue_take(struct umad_sched_queue *queue)
{
	struct umad_sched_entry *entry;

	entry = list_first_entry_or_null(&queue->ready, struct umad_sched_entry, node);
	if (!entry)
		return NULL;
	if (++queue->takes % IN_ORDER_EVERY)
		entry = container_of(timerqueue_getnext(&queue->shortest),
				     struct umad_sched_entry, by_left);
	umad_sched_queue_del(entry);
	return entry;
}
EXPORT_SYMBOL_IF_KUNIT(umad_sched_queue_take);

/**
 * umad_sched_queue_wait() - wait for a turn, if the file does not
 * @queue: of the file
 *
 * Context: process, &umad_file.lock held.
 */
void umad_sched_queue_wait(struct umad_sched_queue *queue)
{
	struct umad_sched *sched = queue->sched;
	unsigned long flags;

	if (queue->has_turn)
		return;
	queue->has_turn = true;
	spin_lock_irqsave(&sched->lock, flags);
	await_turn(queue);
	give_turns(sched);
	spin_unlock_irqrestore(&sched->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(umad_sched_queue_wait);

/**
 * umad_sched_queue_end_turn() - the work has sent what it may, or all there is
 * @queue: of the file; waits for its next turn if something is ready
 * @unused: segments of the turn that were not sent
 *
 * Context: process, &umad_file.lock held.
 */
void umad_sched_queue_end_turn(struct umad_sched_queue *queue, unsigned int unused)
{
	struct umad_sched *sched = queue->sched;
	unsigned long flags;

	queue->has_turn = !list_empty(&queue->ready);
	spin_lock_irqsave(&sched->lock, flags);
	if (queue->has_turn)
		await_turn(queue);
	end_turn(queue, unused);
	spin_unlock_irqrestore(&sched->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(umad_sched_queue_end_turn);
