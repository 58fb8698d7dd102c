/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One port of an RDMA device: from when it is shown to the last close of a file. */
#ifndef UMAD_PORT_H
#define UMAD_PORT_H

#include <linux/atomic.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
#include <linux/rbtree.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include "active_ref.h"
#include "flush.h"
#include "retry.h"
#include "rmpp/abort.h"
#include "rmpp/sched.h"
#include "rmpp/window.h"
#include "stats.h"
#include "turns.h"

struct ib_mad_agent;
struct umad_dmac_cache;
struct umad_deadline_pool;
struct workqueue_struct;

/*
 * Addresses of senders that are resolved at a time, of a port, as other ports and devices
 * are to go on: for messages, more if they are the first of their file, for strays.
 */
#define UMAD_RMPP_ADDR_WORKS	384
#define UMAD_RMPP_ADDR_FIRST	64
#define UMAD_RMPP_ADDR_REJECTS	64

/**
 * struct umad_port - one port, its umad and its issm device
 * @kref: one for the device list, for each of the two devices, for each file,
 *	in debugfs too
 * @ib_dev: the RDMA device; use it only inside @active_ref
 * @port_num: of @ib_dev, constant
 * @single_bytes: that a single MAD takes until it is sent, about; constant
 * @roce: it is one of RoCE: asked by write() without @active_ref, too; constant
 * @dev_index: RDMA netlink's number of @ib_dev, constant; a trace event may come later
 * @name_lock: protects @ib_dev_name
 * @ib_dev_name: that of @ib_dev has no lock, and is freed when that is renamed
 * @index: N of umadN and issmN, constant
 * @active_ref: to be had as long as @ib_dev is there. Nobody waits for user space with one
 * @dev: umadN
 * @cdev: its character device
 * @sm_dev: issmN
 * @sm_cdev: its character device
 * @has_issm: @sm_dev was made, constant after add
 * @files_lock: protects @files. Taken before any file's lock; held while
 *	agents are unregistered, so never taken by a handler of ib_core
 * @files: open files, &umad_file.port_node
 * @users_lock: protects the next two, and &umad_user.refs and .active
 * @users: who has opened them, &struct umad_user
 * @active_users: of those without a parent, how many have RMPP messages being reassembled
 * @sm_sem: held by who has issmN open, that is the IsSM bit; others wait for it
 * @is_sm: the IsSM bit is set; protected by @active_ref: by who has it entered with @sm_sem,
 *	and when nobody is inside
 * @sm_shutdown: the RDMA device is gone: who gets @sm_sem hands it on; set once
 * @rmpp_reassembling: RMPP messages being reassembled
 * @rmpp_reassembly_bytes: memory they take
 * @rx_window_budget: segments that their senders may send unacknowledged, in all;
 *	0 until the first agent; all who set it set the same
 * @rmpp_window: of them those that senders have been allowed to send
 * @spares: MADs that messages keep for their next segment, &umad_xfer_tx.spare
 * @aborts: ABORTs of agents that have gone away
 * @pace: how fast it sends again
 * @sched: segments of messages that are sent
 * @dmacs: on RoCE, addresses that were resolved; NULL without memory, or elsewhere;
 *	constant after add
 * @deadline_pool: for the deadlines of its files: its own, or that of all; constant
 * @deadline_turn: of its files, among the ports of @deadline_pool
 * @addr_wq: addresses of senders to be resolved, which takes a second if one is silent; those
 *	who queue them keep the bounds above, so that all run at the same time; constant
 * @addr_works: of them those for messages
 * @addr_rejects: and those for packets that are refused
 * @flush: when @ib_dev is removed
 * @stats: counters
 * @refusals: limits the messages about refused registrations
 * @debugfs: directory
 */
struct umad_port {
	struct kref kref;
	struct ib_device *ib_dev;
	u32 port_num;
	u32 single_bytes;
	bool roce;
	u32 dev_index;
	spinlock_t name_lock; /* protects the next field */
	char ib_dev_name[IB_DEVICE_NAME_MAX];
	int index;
	struct umad_active_ref active_ref;
	struct device dev;
	struct cdev cdev;
	struct device sm_dev;
	struct cdev sm_cdev;
	bool has_issm;
	struct mutex files_lock; /* protects the next field */
	struct list_head files;
	spinlock_t users_lock; /* protects the next two fields */
	struct rb_root users;
	unsigned int active_users;
	struct semaphore sm_sem;
	bool is_sm;
	bool sm_shutdown;
	atomic_t rmpp_reassembling;
	atomic64_t rmpp_reassembly_bytes;
	u32 rx_window_budget;
	struct umad_rmpp_window rmpp_window;
	atomic_t spares;
	struct umad_aborts aborts;
	struct umad_pace pace;
	struct umad_sched sched;
	struct umad_dmac_cache *dmacs;
	struct umad_deadline_pool *deadline_pool;
	struct umad_turn deadline_turn;
	struct workqueue_struct *addr_wq;
	atomic_t addr_works;
	atomic_t addr_rejects;
	struct umad_flush flush;
	struct umad_stats stats;
	struct ratelimit_state refusals;
	struct dentry *debugfs;
};

int umad_port_queues_init(struct umad_port *port);
void umad_port_get(struct umad_port *port);
void umad_port_put(struct umad_port *port);
void umad_port_get_name(struct umad_port *port, char *name, size_t size);

#endif /* UMAD_PORT_H */
