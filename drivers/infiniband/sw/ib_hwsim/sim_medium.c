// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The path from a port to its far end.
 *
 * sim_medium_send() only puts a packet into a list. One work does everything else; it
 * never runs concurrently with itself, and so needs no lock for what it alone uses. It
 * judges the packets in the order of sending, keeps those that arrive later in one of
 * three lists, and delivers those that are due. A timer queues it again when the next
 * packet is due.
 *
 * Locking: medium->lock, see sim_medium.h. It is not held while rules judge, while a
 * packet is captured, or while it is delivered.
 */
#include "sim_medium.h"

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/time64.h>
#include "sim_capture.h"
#include "sim_compat.h"
#include "sim_export.h"

/* Limit of packets in a medium; bounds the memory of long delays. */
#define WAITING_MAX	65536
/* A packet that waits to be overtaken is delivered after this at the latest. */
#define OVERTAKEN_MAX_NS (100 * NSEC_PER_MSEC)

static void count(struct sim_medium *medium, enum sim_medium_count what)
{
	atomic64_inc(&medium->counts[what]);
}

static void free_list(struct list_head *list)
{
	struct sim_packet *packet, *next;

	list_for_each_entry_safe(packet, next, list, node) {
		list_del(&packet->node);
		sim_packet_free(packet);
	}
}

/* Account one more packet. Concurrent senders may exceed the limit by one each. */
static bool may_enter(struct sim_medium *medium)
{
	if (atomic_read(&medium->inside) >= WAITING_MAX) {
		count(medium, SIM_MEDIUM_OVERFLOW);
		return false;
	}
	atomic_inc(&medium->inside);
	return true;
}

/* Deliver at @due, but after all packets that are in the lane already. */
static void put_in_lane(struct sim_medium *medium, struct sim_packet *packet,
			u64 due)
{
	medium->lane_due = max(medium->lane_due, due);
	packet->medium.due = medium->lane_due;
	list_add_tail(&packet->node, &medium->lane);
}

/* Deliver at @due, regardless of other packets. */
static void put_late(struct sim_medium *medium, struct sim_packet *packet,
		     u64 due)
{
	struct list_head *before;

	packet->medium.due = due;
	/* If none is due earlier, "before" is the list's head. */
	list_for_each_prev(before, &medium->late)
		if (list_entry(before, struct sim_packet, node)->medium.due <=
		    due)
			break;
	list_add(&packet->node, before);
}

/* Deliver after @behind packets that were sent later, or soon after @due. */
static void put_behind(struct sim_medium *medium, struct sim_packet *packet,
		       u32 behind, u64 due)
{
	packet->medium.behind = behind;
	packet->medium.due = due + OVERTAKEN_MAX_NS;
	list_add_tail(&packet->node, &medium->overtaken);
}

/* Copies arrive with the packet, or @delay_ns later if that is not 0. */
static void put_copies(struct sim_medium *medium, struct sim_packet *packet,
		       u32 copies, u64 due, u64 delay_ns)
{
	struct sim_packet *copy;

	while (copies--) {
		if (!may_enter(medium))
			return;
		copy = sim_packet_dup(packet, GFP_KERNEL);
		if (!copy) {
			atomic_dec(&medium->inside);
			count(medium, SIM_MEDIUM_NO_MEMORY);
			return;
		}
		count(medium, SIM_MEDIUM_DUPLICATED);
		if (delay_ns)
			put_late(medium, copy, due + delay_ns);
		else
			put_in_lane(medium, copy, due);
	}
}

/*
 * Random delays keep the order, as a slow path does; the delay of a rule applies to the
 * packet, or its copies, only.
 */
static void put(struct sim_medium *medium, struct sim_packet *packet,
		const struct sim_verdict *verdict)
{
	u64 delay = (u64)verdict->delay_us * NSEC_PER_USEC;
	u64 due = ktime_get_ns();

	if (!verdict->rule) {
		due += delay;
		if (delay)
			count(medium, SIM_MEDIUM_DELAYED);
		delay = 0;
	}
	switch (verdict->action) {
	case SIM_DROP:
		count(medium, SIM_MEDIUM_DROPPED);
		sim_packet_free(packet);
		atomic_dec(&medium->inside);
		return;
	case SIM_DELAY:
		count(medium, SIM_MEDIUM_DELAYED);
		put_late(medium, packet, due + delay);
		return;
	case SIM_REORDER:
		count(medium, SIM_MEDIUM_REORDERED);
		put_behind(medium, packet, verdict->behind, due);
		return;
	case SIM_DUP:
		put_copies(medium, packet, verdict->copies, due, delay);
		break;
	case SIM_CORRUPT:
		count(medium, SIM_MEDIUM_CORRUPTED);
		break;
	case SIM_MUTATE:
		count(medium, SIM_MEDIUM_MUTATED);
		break;
	default:
		break;
	}
	put_in_lane(medium, packet, due);
}

static void judge(struct sim_medium *medium, struct sim_packet *packet)
{
	struct sim_verdict verdict;

	packet->medium.seq = ++medium->seq;
	count(medium, SIM_MEDIUM_SENT);
	if (!sim_rules_judge(medium->rules, packet, &verdict))
		sim_random_judge(&medium->random, &verdict);
	sim_capture(packet, medium->direction, &verdict);
	put(medium, packet, &verdict);
}

static void judge_what_was_sent(struct sim_medium *medium)
{
	struct sim_packet *packet, *next;
	LIST_HEAD(in);

	spin_lock_irq(&medium->lock);
	list_splice_init(&medium->in, &in);
	spin_unlock_irq(&medium->lock);
	list_for_each_entry_safe(packet, next, &in, node) {
		list_del(&packet->node);
		judge(medium, packet);
	}
}

/* Packets that wait to be overtaken count @packet if it was sent later. */
static void pass(struct sim_medium *medium, const struct sim_packet *packet)
{
	struct sim_packet *other;

	list_for_each_entry(other, &medium->overtaken, node)
		if (other->medium.behind &&
		    other->medium.seq < packet->medium.seq)
			other->medium.behind--;
}

static struct sim_packet *take(struct sim_medium *medium,
			       struct sim_packet *packet)
{
	list_del(&packet->node);
	pass(medium, packet);
	return packet;
}

/* The next packet to deliver, if it is due. */
static struct sim_packet *take_next(struct sim_medium *medium, u64 now)
{
	struct sim_packet *packet, *late;

	list_for_each_entry(packet, &medium->overtaken, node)
		if (!packet->medium.behind || packet->medium.due <= now)
			return take(medium, packet);
	packet = list_first_entry_or_null(&medium->lane, struct sim_packet,
					  node);
	late = list_first_entry_or_null(&medium->late, struct sim_packet, node);
	if (late && (!packet || late->medium.due < packet->medium.due))
		packet = late;
	if (packet && packet->medium.due <= now)
		return take(medium, packet);
	return NULL;
}

/* When the next packet is due; U64_MAX if there is none. */
static u64 next_due(struct sim_medium *medium)
{
	const struct sim_packet *packet;
	u64 due = U64_MAX;

	packet = list_first_entry_or_null(&medium->lane, struct sim_packet,
					  node);
	if (packet)
		due = packet->medium.due;
	packet = list_first_entry_or_null(&medium->late, struct sim_packet,
					  node);
	if (packet)
		due = min(due, packet->medium.due);
	list_for_each_entry(packet, &medium->overtaken, node)
		due = min(due, packet->medium.due);
	return due;
}

static void medium_work(struct work_struct *work)
{
	struct sim_medium *medium =
		container_of(work, struct sim_medium, work);
	struct sim_packet *packet;
	u64 due;

	judge_what_was_sent(medium);
	while ((packet = take_next(medium, ktime_get_ns()))) {
		count(medium, SIM_MEDIUM_DELIVERED);
		medium->deliver(medium->ctx, packet);
		/* Pairs with sim_medium_is_idle(). */
		atomic_dec_return_release(&medium->inside);
		cond_resched();
	}
	due = next_due(medium);
	/* Pairs with sim_medium_exit(), which waits for us after it wrote. */
	if (due != U64_MAX && !READ_ONCE(medium->dead))
		hrtimer_start(&medium->timer, ns_to_ktime(due),
			      HRTIMER_MODE_ABS);
}

static enum hrtimer_restart medium_timer(struct hrtimer *timer)
{
	struct sim_medium *medium =
		container_of(timer, struct sim_medium, timer);

	queue_work(system_highpri_wq, &medium->work);
	return HRTIMER_NORESTART;
}

/**
 * sim_medium_init() - set up a medium
 * @medium: the medium
 * @direction: of the packets, seen from the port
 * @deliver: takes over each packet that arrives; called in process context,
 *	without any lock, one call at a time
 * @ctx: argument of @deliver
 *
 * Context: process.
 * Return: 0, or -ENOMEM; nothing has to be undone then.
 */
int sim_medium_init(struct sim_medium *medium, enum sim_direction direction,
		    void (*deliver)(void *ctx, struct sim_packet *packet),
		    void *ctx)
{
	memset(medium, 0, sizeof(*medium));
	medium->rules = sim_rules_new();
	if (!medium->rules)
		return -ENOMEM;
	medium->direction = direction;
	medium->deliver = deliver;
	medium->ctx = ctx;
	sim_random_init(&medium->random);
	spin_lock_init(&medium->lock);
	INIT_LIST_HEAD(&medium->in);
	INIT_LIST_HEAD(&medium->lane);
	INIT_LIST_HEAD(&medium->late);
	INIT_LIST_HEAD(&medium->overtaken);
	INIT_WORK(&medium->work, medium_work);
	hrtimer_setup(&medium->timer, medium_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sim_medium_init);

/**
 * sim_medium_exit() - stop a medium, and free the packets in it
 * @medium: the medium, whose files in debugfs were removed
 *
 * Nothing is delivered after this returns.
 *
 * Context: process; may wait for a delivery.
 */
void sim_medium_exit(struct sim_medium *medium)
{
	spin_lock_irq(&medium->lock);
	/* Pairs with medium_work(). */
	WRITE_ONCE(medium->dead, true);
	spin_unlock_irq(&medium->lock);
	/* From here on, only the timer queues the work; */
	cancel_work_sync(&medium->work);
	/* and now nothing starts the timer, */
	hrtimer_cancel(&medium->timer);
	/* so this is the last run of the work. */
	cancel_work_sync(&medium->work);
	free_list(&medium->in);
	free_list(&medium->lane);
	free_list(&medium->late);
	free_list(&medium->overtaken);
	sim_rules_free(medium->rules);
	medium->rules = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(sim_medium_exit);

/**
 * sim_medium_send() - send a packet
 * @medium: the medium
 * @packet: the packet, which passes to this function
 *
 * Context: any, also with locks held that delivery does not take.
 */
void sim_medium_send(struct sim_medium *medium, struct sim_packet *packet)
{
	unsigned long flags;
	bool taken;

	spin_lock_irqsave(&medium->lock, flags);
	taken = !medium->dead && may_enter(medium);
	if (taken) {
		list_add_tail(&packet->node, &medium->in);
		queue_work(system_highpri_wq, &medium->work);
	}
	spin_unlock_irqrestore(&medium->lock, flags);
	if (!taken)
		sim_packet_free(packet);
}
EXPORT_SYMBOL_IF_KUNIT(sim_medium_send);

/**
 * sim_medium_is_idle() - check whether a packet may bypass the medium
 * @medium: the medium
 *
 * Context: any.
 * Return: true if the medium has neither faults nor packets.
 */
bool sim_medium_is_idle(struct sim_medium *medium)
{
	/* Pairs with medium_work(): the last packet has been delivered. */
	return !atomic_read_acquire(&medium->inside) &&
	       sim_rules_are_none(medium->rules) &&
	       !sim_random_is_on(&medium->random);
}
