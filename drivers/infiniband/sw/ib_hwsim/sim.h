/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What most files of ib_hwsim share: a device, its ports and its node.
 *
 * Locks, outermost first; a lock is taken only while holding locks listed above it:
 *
 *   sim_lock           mutex: list of instances, their @dying (sim_bus.c)
 *   sim_raw_sem        rwsem: which file is attached to which port; held for
 *                      reading while a written frame is in the port (sim_raw.c)
 *   fabric->lock       spinlock: the ports of a fabric; keeps a port alive while
 *                      a packet is delivered to it (sim_fabric.c)
 *   port->qp_lock      spinlock, irqs off: keeps the port's two QPs alive
 *   qp->lock           spinlock, irqs off: state and work queues of a QP
 *   cq->lock           spinlock, irqs off: ring of completions
 *   port->far_lock     spinlock, irqs off: port->raw
 *   raw->lock          spinlock, irqs off: queue of an attached file
 *   medium->lock       spinlock, irqs off: what was sent (sim_medium.h)
 *   fail->lock         spinlock: which verbs fail (sim_fail.h)
 *   attrs->lock        spinlock, irqs off: what a subnet manager can change
 *   sim->event_lock    spinlock, irqs off: whether events may be dispatched
 *
 * Those from raw->lock on are leaves: no lock of this module is taken while one is
 * held.
 */
#ifndef SIM_H
#define SIM_H

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include "sim_attrs.h"
#include "sim_config.h"
#include "sim_fail.h"
#include "sim_medium.h"

struct dentry;
struct sim_dev;
struct sim_fabric;
struct sim_qp;
struct sim_raw;

/**
 * struct sim_node - the node that a subnet management agent answers for
 * @type: RDMA_NODE_*
 * @num_ports: physical ports
 * @guid: node GUID
 * @desc: node description
 * @attrs: attributes of port n, or NULL if there is no such port
 * @changed: called when attributes of port n were set; may be NULL
 */
struct sim_node {
	u8 type;
	u8 num_ports;
	u64 guid;
	char desc[SIM_DESC_LEN];
	struct sim_attrs *(*attrs)(struct sim_node *node, u32 n);
	void (*changed)(struct sim_node *node, u32 n,
			const struct sim_change *change);
};

/* What a port counts; names in sim_port.c. */
enum sim_count {
	SIM_TX_PACKETS,
	SIM_TX_BYTES,
	SIM_RX_PACKETS,
	SIM_RX_BYTES,
	SIM_RX_NO_QP,
	SIM_RX_NO_BUFFER,
	SIM_RX_TOO_LONG,
	SIM_RX_PKEY_VIOLATION,
	SIM_RX_QKEY_VIOLATION,
	SIM_RX_PORT_STATE,
	SIM_TX_PORT_STATE,
	SIM_NO_FAR_END,
	SIM_NO_ROUTE,
	SIM_RAW_OVERFLOW,
	SIM_SMA_ANSWERED,
	SIM_CQ_OVERFLOW,
	SIM_COUNTS
};

/**
 * struct sim_port - one port
 * @sim: its device; constant
 * @num: its number, 0 on a switch; constant
 * @attrs: what a subnet manager sees
 * @qp_lock: protects @qp, and keeps each QP in it alive
 * @qp: QP0 and QP1, or NULL
 * @medium: sends pass through it
 * @medium_in: what a program writes passes through it
 * @far_lock: protects @raw and the queue of what it points to
 * @raw: the file that is attached
 * @fabric: the fabric it is in; constant while packets can be sent
 * @slot: its port of the crossbar; constant as @fabric is
 * @hold: send completions are held; see sim_qp.c
 * @counts: see enum sim_count
 * @dir: its directory in debugfs
 */
struct sim_port {
	struct sim_dev *sim;
	u32 num;
	struct sim_attrs attrs;
	spinlock_t qp_lock;	/* hard irqs off */
	struct sim_qp *qp[2];
	struct sim_medium medium;
	struct sim_medium medium_in;
	spinlock_t far_lock;	/* hard irqs off */
	struct sim_raw *raw;
	struct sim_fabric *fabric;
	u32 slot;
	bool hold;
	atomic64_t counts[SIM_COUNTS];
	struct dentry *dir;
};

/**
 * struct sim_dev - one device
 * @ibdev: the device of ib_core
 * @config: as created; constant
 * @node: what its SMA answers for
 * @event_lock: protects @live
 * @live: the device is registered; events may be dispatched
 * @fail: which verbs fail
 * @ah_ms: milliseconds to create an address handle, if the caller may sleep
 * @n_ah: its address handles
 * @dir: its directory in debugfs
 * @n_ports: entries of @port; constant
 * @n_started: how many of them have media and have joined their fabric
 * @port: its ports
 */
struct sim_dev {
	struct ib_device ibdev;
	struct sim_config config;
	struct sim_node node;
	spinlock_t event_lock;	/* a leaf, hard irqs off */
	bool live;
	struct sim_fail fail;
	u32 ah_ms;
	atomic_t n_ah;
	struct dentry *dir;
	u32 n_ports;
	u32 n_started;
	struct sim_port *port;
};

static inline struct sim_dev *to_sim(struct ib_device *ibdev)
{
	return container_of(ibdev, struct sim_dev, ibdev);
}

static inline void sim_count(struct sim_port *port, enum sim_count what)
{
	atomic64_inc(&port->counts[what]);
}

#endif
