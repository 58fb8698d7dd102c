/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RMPP in the module: what connects the self-contained engines (rmpp/tx.h, rmpp/rx.h) to
 * files, agents, memory, timers and ib_core. All engine calls are made with
 * the file's lock held.
 */
#ifndef UMAD_RMPP_H
#define UMAD_RMPP_H

#include <linux/atomic.h>
#include <linux/rbtree.h>
#include <linux/timerqueue.h>
#include <linux/types.h>
#include <rdma/ib_user_mad.h>
#include "rmpp/sched.h"
#include "rmpp/window.h"
#include "rmpp/wire.h"
#include "timer.h"

struct umad_file;

/* Bytes of the longest headers before a segment's data. */
#define UMAD_RMPP_HDR_MAX	64

/**
 * struct umad_rmpp_memos - the complete messages that a file remembers, protected by
 *	&umad_file.lock
 * @by_key: struct umad_rmpp_memo
 * @oldest: the same, the one that will be forgotten first foremost, or nearly so
 * @peers: struct umad_rmpp_memo_peer, who has sent them
 * @by_count: the same, who has most first
 * @timer: when the first of @oldest is to be forgotten
 * @count: how many there are
 */
struct umad_rmpp_memos {
	struct rb_root by_key;
	struct list_head oldest;
	struct rb_root peers;
	struct rb_root_cached by_count;
	struct umad_timer timer;
	unsigned int count;
};

/**
 * struct umad_rmpp - what a file has of RMPP, protected by &umad_file.lock
 * @file: constant
 * @receivers: struct umad_xfer_rx by key
 * @peers: struct umad_rmpp_peer, who sends the messages that are being reassembled
 * @by_transfers: the same, who has begun most unsolicited ones first
 * @by_bytes: the same, whose unsolicited ones take most memory first
 * @lone: unsolicited messages of which nothing but segment 1 has come, the oldest first
 * @lone_count: how many those are
 * @begun: the other unsolicited ones, the one that has stood still for longest first
 * @answers_begun: those that answer requests, the oldest first
 * @slow: those in @begun, by when they were slow if no more had come than when that was last looked
 *	at, in ns
 * @unasked_bytes: of @reassembly_bytes, what unsolicited ones take
 * @unsolicited: how many are in @lone and @begun
 * @unresolved: those of the peers whose address is waited for, in turn
 * @resolving: works of messages under way, each for an address
 * @rejects: answers under way to packets that belong to no message; no lock
 * @answers: ACKs, STOPs and ABORTs to the senders of messages, in ib_core
 * @lingering: complete ones, the one that has been for longest first
 * @memos: of those before them, what is needed to answer
 * @reassembly_bytes: memory of messages that are being reassembled
 * @reassembling: how many those are
 * @share: of the windows, among the files of the process
 * @lingering_count: how many are in @lingering
 * @dests: struct umad_rmpp_dest, where messages are being sent to
 * @dedups: struct umad_rmpp_dedup, the data of such messages, that which was last used first
 * @answers_sent: such messages that answer requests, the oldest first
 * @sending_bytes: memory of messages that are being sent
 * @silent_failed: the device does not send what umad_request_build_silent() makes
 * @send_queue: those that have segments to send, by class
 */
struct umad_rmpp {
	struct umad_file *file;
	struct rb_root receivers;
	struct rb_root peers;
	struct rb_root_cached by_transfers;
	struct rb_root_cached by_bytes;
	struct list_head lone;
	unsigned int lone_count;
	struct list_head begun;
	struct list_head answers_begun;
	struct timerqueue_head slow;
	u64 unasked_bytes;
	unsigned int unsolicited;
	struct list_head unresolved;
	unsigned int resolving;
	atomic_t rejects;
	unsigned int answers;
	struct list_head lingering;
	struct umad_rmpp_memos memos;
	u64 reassembly_bytes;
	unsigned int reassembling;
	struct umad_share share;
	unsigned int lingering_count;
	struct rb_root dests;
	struct list_head dedups;
	struct list_head answers_sent;
	u64 sending_bytes;
	bool silent_failed;
	struct umad_sched_queue send_queue[UMAD_SCHED_CLASSES];
};

struct umad_rmpp *umad_rmpp_alloc(struct umad_file *file);
void umad_rmpp_free(struct umad_rmpp *rmpp);
void umad_rmpp_set_timer(struct umad_file *file, struct umad_timer *timer,
			 u64 deadline);

#endif /* UMAD_RMPP_H */
