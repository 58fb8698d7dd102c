/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of ib_hwsim share: instance, device, port, QP, fabric.
 *
 * Locks, outermost first; each is taken below those before it only:
 *
 *   sim_lock           mutex: list of instances, their @dying (sim_bus.c)
 *   sim_raw_sem        rwsem: which file is attached to which port; held for
 *                      reading while a written frame is in the port (sim_raw.c)
 *   fabric->lock       spinlock: who is in a fabric, and with that the life of
 *                      a port that a packet is delivered to (sim_fabric.c)
 *   port->qp_lock      spinlock, irqs off: life of the port's two QPs
 *   qp->lock           spinlock, irqs off: state and work queues of a QP
 *   cq->lock           spinlock, irqs off: ring of completions
 *   port->far_lock     spinlock, irqs off: port->raw
 *   raw->lock          spinlock, irqs off: queue of an attached file
 *   medium->lock       spinlock, irqs off: what was sent (sim_medium.h)
 *   fail->lock         spinlock: how verbs fail (sim_fail.h)
 *   attrs->lock        spinlock, irqs off: what a subnet manager can change
 *   sim->event_lock    spinlock, irqs off: may events still be dispatched?
 *
 * Those from raw->lock on are leaves: nothing of ours is taken below them.
 */
#ifndef SIM_H
#define SIM_H

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>
#include <rdma/ib_verbs.h>

#include "sim_fail.h"
#include "sim_medium.h"
#include "sim_packet.h"

#define SIM_MAX_PORTS	8
#define SIM_MAX_PKEYS	128
#define SIM_GUIDS	8
#define SIM_MAX_WR	16384
#define SIM_MAX_SGE	4
#define SIM_MAX_CQE	65536
#define SIM_NAME_LEN	32
#define SIM_DESC_LEN	64	/* NodeDescription */
#define SIM_LID_PERMISSIVE	0xffff
#define SIM_LID_MULTICAST	0xc000	/* the first of them */
#define SIM_PKEY_MEMBER		0x8000	/* full, not limited */
/* The default of a node GUID: of no vendor, with port GUIDs behind it. */
#define SIM_GUID_BASE	0x0248775300000000ULL
#define SIM_PREFIX	0xfe80000000000000ULL
#define SIM_SMP_LEN		sizeof(struct ib_smp)

struct dentry;
struct seq_file;
struct sim_dev;
struct sim_fabric;
struct sim_raw;

/**
 * struct sim_config - what a line of new_device says
 * @id: number of the device
 * @ports: how many; of a switch, the physical ones
 * @pkeys: entries of each P_Key table
 * @lid: LID of the first port, or 0
 * @lmc: LMC of all ports
 * @guid: node GUID
 * @prefix: subnet prefix
 * @is_switch: type=switch
 * @opa: link=opa
 * @far: sma=far: the far end answers SMPs, not this device
 * @desc: node description
 * @fabric: name of the fabric in the kernel, or empty
 */
struct sim_config {
	u32 id;
	u32 ports;
	u32 pkeys;
	u32 lid;
	u32 lmc;
	u64 guid;
	u64 prefix;
	bool is_switch;
	bool opa;
	bool far;
	char desc[SIM_DESC_LEN];
	char fabric[SIM_NAME_LEN];
};

/**
 * struct sim_attrs - attributes of a port that a subnet manager sees and sets
 * @lock: protects @info, @pkeys, @guids; hard irqs off
 * @info: PortInfo as on the wire
 * @n_pkeys: entries of @pkeys; constant after init
 * @pkeys: P_Key table
 * @guids: GUIDInfo; index 0 is the port's own
 */
struct sim_attrs {
	spinlock_t lock;	/* a leaf, hard irqs off */
	struct ib_port_info info;
	u16 n_pkeys;
	u16 pkeys[SIM_MAX_PKEYS];
	__be64 guids[SIM_GUIDS];
};

/**
 * struct sim_change - what differs between two states of a port's attributes
 * @lid: LID or LMC
 * @sm: LID or SL of the SM
 * @gids: subnet prefix or GUIDs
 * @pkeys: P_Key table
 * @up: the port became active
 * @down: it no longer is
 * @reregister: the SM asks clients to register again
 */
struct sim_change {
	bool lid;
	bool sm;
	bool gids;
	bool pkeys;
	bool up;
	bool down;
	bool reregister;
};

/**
 * struct sim_node - what a subnet management agent answers for
 * @type: RDMA_NODE_*
 * @num_ports: physical ports
 * @guid: node GUID
 * @desc: node description
 * @attrs: attributes of port n, or NULL if there is no such port
 * @changed: attributes of port n were set; may be NULL
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
 * @qp_lock: protects @qp, and each QP in it from its end
 * @qp: QP0 and QP1, or NULL
 * @medium: what sends pass through
 * @medium_in: what a raw port sends in passes through
 * @far_lock: protects @raw and the queue of what it points to
 * @raw: the file that is attached
 * @fabric: the fabric it is in; constant while packets can be sent
 * @slot: its place in that fabric; like @fabric
 * @hold: send completions are held; see sim_qp.c
 * @counts: see enum sim_count
 * @dir: its folder in debugfs
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
 * @ibdev: what ib_core knows
 * @config: as made; constant
 * @node: what its SMA answers for
 * @event_lock: protects @live
 * @live: ib_core takes events
 * @fail: verbs that shall fail
 * @ah_ms: how long an address handle takes to be made, if that may sleep
 * @dir: its folder in debugfs
 * @n_ports: entries of @port; constant
 * @n_started: how many of them have a medium and are in a fabric
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
	struct dentry *dir;
	u32 n_ports;
	u32 n_started;
	struct sim_port *port;
};

/**
 * struct sim_cq - a completion queue
 * @ibcq: what ib_core knows
 * @lock: protects all below
 * @ring: completions
 * @size: of @ring; constant
 * @head: where the oldest one is
 * @count: how many there are
 * @armed: the next one shall be told of
 */
struct sim_cq {
	struct ib_cq ibcq;
	spinlock_t lock;	/* a leaf, hard irqs off */
	struct ib_wc *ring;
	u32 size;
	u32 head;
	u32 count;
	bool armed;
};

/**
 * struct sim_wqe - a posted receive, or a send that waits to be completed
 * @wr_id: its owner's
 * @buffer: receive: where to
 * @len: receive: bytes there
 * @status: send: how it ended
 */
struct sim_wqe {
	u64 wr_id;
	void *buffer;
	u32 len;
	enum ib_wc_status status;
};

/**
 * struct sim_queue - work requests, the oldest first
 * @ring: them
 * @size: of @ring; constant
 * @head: where the oldest one is
 * @count: how many there are
 */
struct sim_queue {
	struct sim_wqe *ring;
	u32 size;
	u32 head;
	u32 count;
};

/**
 * struct sim_qp - QP0 or QP1 of a port
 * @ibqp: what ib_core knows
 * @port: where it is; constant
 * @lock: protects all below
 * @state: as set by modify_qp
 * @qkey: Q_Key of sends that ask for it
 * @signal_all: each send is completed; constant
 * @rq: posted receives
 * @held: sends whose completion is held
 */
struct sim_qp {
	struct ib_qp ibqp;
	struct sim_port *port;
	spinlock_t lock;	/* hard irqs off */
	enum ib_qp_state state;
	u32 qkey;
	bool signal_all;
	struct sim_queue rq;
	struct sim_queue held;
};

struct sim_pd {
	struct ib_pd ibpd;
};

struct sim_ah {
	struct ib_ah ibah;
	struct rdma_ah_attr attr;
};

static inline struct sim_dev *to_sim(struct ib_device *ibdev)
{
	return container_of(ibdev, struct sim_dev, ibdev);
}

static inline struct sim_cq *to_sim_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct sim_cq, ibcq);
}

static inline struct sim_qp *to_sim_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct sim_qp, ibqp);
}

static inline struct sim_ah *to_sim_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct sim_ah, ibah);
}

static inline enum ib_port_state sim_info_state(const struct ib_port_info *info)
{
	return info->linkspeed_portstate & 0xf;
}

static inline u8 sim_info_lmc(const struct ib_port_info *info)
{
	return info->mkeyprot_resv_lmc & 0x7;
}

static inline void sim_count(struct sim_port *port, enum sim_count what)
{
	atomic64_inc(&port->counts[what]);
}

/* sim_device.c */
struct sim_dev *sim_dev_create(const struct sim_config *config,
			       struct device *parent);
void sim_dev_destroy(struct sim_dev *sim);

/* sim_ah.c */
int sim_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		  struct ib_udata *udata);
int sim_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sim_destroy_ah(struct ib_ah *ibah, u32 flags);
int sim_ah_grh(struct sim_port *port, struct sim_ah *ah, u32 len, u8 *to);

/* sim_verbs.c */
extern const struct ib_device_ops sim_dev_ops;
extern const struct ib_device_ops sim_sma_ops;

/* sim_cq.c */
int sim_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		  struct ib_udata *udata);
int sim_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int sim_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc);
int sim_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
bool sim_cq_push(struct sim_cq *cq, const struct ib_wc *wc);
void sim_cq_notify(struct sim_cq *cq);

/* sim_qp.c */
int sim_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		  struct ib_udata *udata);
int sim_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
int sim_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_udata *udata);
int sim_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		 struct ib_qp_init_attr *init_attr);
int sim_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		  const struct ib_recv_wr **bad_wr);
enum sim_count sim_qp_receive(struct sim_qp *qp,
			      const struct sim_packet *packet, u16 pkey_index);
int sim_qp_sent(struct sim_qp *qp, u64 wr_id, bool signaled,
		enum ib_wc_status status);
u32 sim_qp_release(struct sim_qp *qp, u32 max);
u32 sim_qp_held(struct sim_qp *qp);

/* sim_send.c */
int sim_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad_wr);

/* sim_attrs.c */
void sim_attrs_init(struct sim_attrs *attrs, u64 prefix, u64 guid, u16 pkeys);
void sim_attrs_preset(struct sim_attrs *attrs, u32 lid, u32 lmc,
		      enum ib_port_state state);
u32 sim_attrs_lid(struct sim_attrs *attrs, u32 *lmc);
bool sim_attrs_has_lid(struct sim_attrs *attrs, u32 dlid);
enum ib_port_state sim_attrs_state(struct sim_attrs *attrs);
int sim_attrs_pkey(struct sim_attrs *attrs, u32 index, u16 *pkey);
int sim_attrs_find_pkey(struct sim_attrs *attrs, u16 pkey);
int sim_attrs_gid(struct sim_attrs *attrs, u32 index, union ib_gid *gid);
void sim_info_set_state(struct ib_port_info *info, enum ib_port_state state);
void sim_info_set_phys(struct ib_port_info *info,
		       enum ib_port_phys_state phys);
void sim_info_set_lmc(struct ib_port_info *info, u8 lmc);
bool sim_attrs_set_caps(struct sim_attrs *attrs, u32 set, u32 clear);
void sim_info_compare(const struct ib_port_info *old,
		      const struct ib_port_info *new,
		      struct sim_change *change);

/* sim_sma.c */
bool sim_sma_answer(struct sim_node *node, u32 in_port,
		    const struct ib_smp *in, struct ib_smp *out);
void sim_sma_get_port_info(struct sim_port *port, struct ib_smp *out);

/* sim_pma.c */
bool sim_pma_answer(struct sim_port *port, const struct ib_mad *in,
		    struct ib_mad *out);

/* sim_fabric.c */
int sim_fabric_join(struct sim_port *port, const char *name);
void sim_fabric_leave(struct sim_port *port);
void sim_fabric_route(struct sim_port *port, struct sim_packet *packet);

/* sim_debugfs.c */
struct sim_fail *sim_fail_template(void);
int sim_debugfs_init(void);
void sim_debugfs_exit(void);
void sim_debugfs_device(struct sim_dev *sim);
void sim_debugfs_port(struct sim_port *port);

#endif
