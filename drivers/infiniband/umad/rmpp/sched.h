/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Schedules the segments of a port's messages. All MADs of a port go through its send
 * queue in the order in which they were posted, so a few long messages would keep all
 * others waiting: short ones, single MADs, and those of the kernel. So ib_core has a
 * limited number of segments of a port at a time, and files take turns (turns.h), each for
 * some segments.
 *
 * Of the messages of a file the one with the fewest segments to be sent comes first: if all had an
 * equal share, those that begin together would end together, as late as the last one could,
 * and an in-tree receiver gives up 40 s after the first segment whatever it has. But each
 * fourth time it is the one that has waited longest, so that many short ones do not keep a
 * long one for more than four times as long as an equal share would.
 *
 * While others are there, that is single MADs (and messages of one segment, which wait for
 * no turn either) or short messages of another process, a turn is so short that they can
 * wait for it, and a pause follows. Short messages come first and do not wait for that, as
 * long as all of them together take at most three quarters of the time; then they take
 * turns with long ones. A process that is sending many of them at a time is one that sends
 * a long one (segment.c).
 */
#ifndef UMAD_RMPP_SCHED_H
#define UMAD_RMPP_SCHED_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "turns.h"

/* A short message has so many segments at most. */
#define UMAD_SCHED_SHORT_SEGS	32

/**
 * enum umad_sched_class - which messages
 * @UMAD_SCHED_SHORT: of at most UMAD_SCHED_SHORT_SEGS segments, few at a time
 * @UMAD_SCHED_LONG: the others
 * @UMAD_SCHED_CLASSES: number of classes
 */
enum umad_sched_class {
	UMAD_SCHED_SHORT,
	UMAD_SCHED_LONG,
	UMAD_SCHED_CLASSES,
};

/**
 * struct umad_sched - the segments of a port
 * @lock: protects the rest but @single_at; taken inside &umad_file.lock, and by a timer
 * @root: of each class, the files that wait for a turn
 * @granted: segments that are in ib_core, or may be handed to it
 * @turns: turns that have been given and have not ended
 * @single_at: when a single MAD was last sent or received, ns; no lock
 * @other_short_at: when a short message of another process than @long_process had a turn, ns
 * @others_ns: what short messages of others had taken lately at @other_short_at
 * @long_process: whose turn the last one of UMAD_SCHED_LONG was; compared, not followed
 * @long_at: when that was, ns
 * @long_waits_since: a file waits for a turn of UMAD_SCHED_LONG, and none had one, ns
 * @busy_since: when @granted became more than 0
 * @busy_segs: segments that have left since
 * @looked_at: when a pause was last asked for, ns
 * @busy_long: a turn of long messages was given since
 * @sample_since: what is known of @seg_ns is measured from then on
 * @sample_segs: segments that have left since
 * @sample_unseen: of which ib_core does not say when
 * @last_class: of the last turn
 * @seg_ns: what one takes at least, from when it is granted until it has left
 * @mean_ns: what it takes in the mean, if the next is always on the way; else as @seg_ns
 * @next: the pause after a turn ends then
 * @short_ns: time that short messages may take without waiting for a pause, as of
 *	@short_at
 * @short_at: when that was
 * @timer: gives the turns that wait for @next
 */
struct umad_sched {
	spinlock_t lock; /* protects the rest but single_at */
	struct umad_turn root[UMAD_SCHED_CLASSES];
	unsigned int granted;
	unsigned int turns;
	s64 single_at;
	s64 other_short_at;
	s64 others_ns;
	const struct umad_turn *long_process;
	s64 long_at;
	s64 long_waits_since;
	ktime_t busy_since;
	unsigned int busy_segs;
	s64 looked_at;
	bool busy_long;
	ktime_t sample_since;
	unsigned int sample_segs;
	unsigned int sample_unseen;
	enum umad_sched_class last_class;
	s64 seg_ns;
	s64 mean_ns;
	ktime_t next;
	s64 short_ns;
	ktime_t short_at;
	struct hrtimer timer;
};

/**
 * struct umad_sched_queue - what a file has to send of one class
 * @sched: of its port, constant
 * @class: of the segments, constant
 * @process: that has opened it, constant
 * @turn: among the files of its process; protected by &umad_sched.lock
 * @ready: messages with a segment to be sent, &umad_sched_entry.node, the one that has
 *	waited longest first; protected by &umad_file.lock
 * @shortest: the same, &umad_sched_entry.by_left; protected by &umad_file.lock
 * @takes: how many have been taken out of these; protected by &umad_file.lock
 * @has_turn: @turn waits, or @work is queued or running; protected by &umad_file.lock
 * @grant: segments that @work may send; written before it is queued
 * @work: sends them
 */
struct umad_sched_queue {
	struct umad_sched *sched;
	enum umad_sched_class class;
	const struct umad_turn *process;
	struct umad_turn turn;
	struct list_head ready;
	struct timerqueue_head shortest;
	unsigned int takes;
	bool has_turn;
	unsigned int grant;
	struct work_struct work;
};

/**
 * struct umad_sched_entry - a message that may have a segment to be sent; protected by
 *	&umad_file.lock
 * @node: in &umad_sched_queue.ready, while it has one
 * @by_left: in &umad_sched_queue.shortest meanwhile; @expires is no time, but segments
 * @queue: which that is
 */
struct umad_sched_entry {
	struct list_head node;
	struct timerqueue_node by_left;
	struct umad_sched_queue *queue;
};

/**
 * umad_sched_entry_init() - nothing is to be sent yet
 * @entry: of a new message
 *
 * Context: any.
 */
static inline void umad_sched_entry_init(struct umad_sched_entry *entry)
{
	INIT_LIST_HEAD(&entry->node);
	timerqueue_init(&entry->by_left);
}

/**
 * umad_sched_entry_is_ready() - does it wait for a turn?
 * @entry: of a message
 *
 * Context: any, &umad_file.lock held.
 * Return: true if so.
 */
static inline bool umad_sched_entry_is_ready(const struct umad_sched_entry *entry)
{
	return !list_empty(&entry->node);
}

void umad_sched_init(struct umad_sched *sched);
void umad_sched_destroy(struct umad_sched *sched);
void umad_sched_note_single(struct umad_sched *sched);
void umad_sched_put(struct umad_sched *sched, bool left);
void umad_sched_queue_init(struct umad_sched_queue *queue, struct umad_sched *sched,
			   enum umad_sched_class class,
			   struct umad_turn process[UMAD_SCHED_CLASSES], work_func_t send);
void umad_sched_queue_destroy(struct umad_sched_queue *queue);
void umad_sched_queue_add(struct umad_sched_queue *queue, struct umad_sched_entry *entry,
			  u32 left);
void umad_sched_queue_del(struct umad_sched_entry *entry);
struct umad_sched_entry *umad_sched_queue_take(struct umad_sched_queue *queue);
void umad_sched_queue_wait(struct umad_sched_queue *queue);
void umad_sched_queue_end_turn(struct umad_sched_queue *queue, unsigned int unused);

#endif /* UMAD_RMPP_SCHED_H */
