/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An open umadN: its agents, its outstanding requests, its unread MADs.
 *
 * Locks, in the order they may be taken:
 *	umad_port.files_lock	mutex: open, close, removal of the device
 *	umad_reserves_lock	spinlock, process context only: who needs memory holds it
 *	umad_file.lock		spinlock, process context only
 *	umad_rmpp_window.lock	spinlock, process context only
 *	umad_rxq.lock		spinlock, process context only
 *	umad_port.users_lock	spinlock, process context only
 *	umad_sched.lock		spinlock, a timer takes it, too
 *	umad_pace.lock		spinlock, a timer takes it, too
 *	umad_deadline_pool.lock	spinlock, a timer takes it, too
 * ib_core's handlers take the spinlocks and no mutex. No lock is held
 * across a copy from or to user space, an allocation that may sleep, the
 * resolution of an address or the (un)registration of an agent, but for
 * files_lock across the last.
 */
#ifndef UMAD_FILE_H
#define UMAD_FILE_H

#include <linux/list.h>
#include <linux/nospec.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "charge.h"
#include "deadlines.h"
#include "hdr.h"
#include "retry.h"
#include "rmpp/rmpp.h"
#include "rxq.h"
#include "stats.h"
#include "timer.h"
#include "txn.h"
#include "user.h"

struct seq_file;
struct umad_agent;
struct umad_poll_wake;
struct umad_port;

/* Few files have more: a program's for SMPs of both kinds, the SA and performance management. */
#define UMAD_FILE_AGENTS	4

/**
 * struct umad_file - one open file
 * @port: that it is open on, a reference is held
 * @port_node: in &umad_port.files, protected by &umad_port.files_lock
 * @user: the process that has opened it
 * @guests: other processes that write to it
 * @comm: of the opener, for people
 * @lock: protects the rest but @rxq; see above
 * @agent: the first ones by id, NULL for a free slot; see umad_file_agent()
 * @more_agents: those behind them, NULL before there is one
 * @slots: those that have ever been taken, all before the others
 * @shutdown: the RDMA device is gone, or the file is being closed
 * @used: an agent has been registered: the header's layout is fixed
 * @pkey_hdr: the header is &struct ib_user_mad_hdr, not the old one
 * @timers: all deadlines, of requests and of messages
 * @deadlines: the turns that begin at the first of them
 * @armed: when that is, or KTIME_MAX
 * @expired: requests of @agent that have expired and listen for a late response
 * @txns: outstanding requests
 * @done: sends that have become DONE since @lock was taken, &umad_request.agent_node
 * @retry_queue: what waits for its turn to be sent again
 * @backlog_work: posts what waits for a place in ib_core
 * @rmpp: messages of several segments, NULL before the first agent that has RMPP done here
 * @reserve: of the opener's cgroup, which is charged for what is received
 * @reserve_used: bytes of it
 * @reserve_node: in &umad_reserve.file_list
 * @unread: bytes that wait to be read, as counted for the cgroup; unread.c alone
 * @rxq: what read() will return, has its own lock
 * @poll_wake: wakes its pollers after a read() that has failed; set once, by the first
 */
struct umad_file {
	struct umad_port *port;
	struct list_head port_node;
	struct umad_user *user;
	struct umad_resolver guests;
	char comm[TASK_COMM_LEN];

	spinlock_t lock; /* protects all up to @rmpp */
	struct umad_agent *agent[UMAD_FILE_AGENTS];
	struct umad_agent **more_agents;
	unsigned int slots;
	bool shutdown;
	bool used;
	bool pkey_hdr;
	struct umad_timers timers;
	struct umad_deadlines deadlines;
	ktime_t armed;
	unsigned int expired;
	struct umad_txn_table txns;
	struct list_head done;
	struct umad_retry_queue retry_queue;
	struct work_struct backlog_work;
	struct umad_rmpp *rmpp;

	struct umad_reserve *reserve;
	atomic_t reserve_used;
	struct list_head reserve_node;
	atomic64_t unread;
	struct umad_rxq rxq;
	struct umad_poll_wake *poll_wake;
};

/**
 * umad_file_agent() - the agent of a slot
 * @file: that has it
 * @id: below UMAD_MAX_AGENTS
 *
 * Context: any; without &umad_file.lock the answer is of a moment, and must not be followed.
 * Return: it, or NULL.
 */
static inline struct umad_agent *umad_file_agent(const struct umad_file *file, u32 id)
{
	struct umad_agent **more;

	if (id < UMAD_FILE_AGENTS)
		return READ_ONCE(file->agent[array_index_nospec(id, UMAD_FILE_AGENTS)]);
	id = array_index_nospec(id - UMAD_FILE_AGENTS, UMAD_MAX_AGENTS - UMAD_FILE_AGENTS);
	more = READ_ONCE(file->more_agents);
	return more ? READ_ONCE(more[id]) : NULL;
}

void umad_file_set_agent(struct umad_file *file, u32 id, struct umad_agent *agent);
void umad_file_arm(struct umad_file *file);
size_t umad_file_hdr_size(struct umad_file *file);
bool __must_check umad_file_queue(struct umad_file *file, struct umad_rx_entry *entry,
				  enum umad_stat stat);
void umad_file_show(struct umad_file *file, struct seq_file *s);

#endif /* UMAD_FILE_H */
