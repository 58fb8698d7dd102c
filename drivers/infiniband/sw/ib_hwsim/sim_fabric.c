// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A fabric in the kernel: one crossbar with one port of a device at each of its ports.
 * It forwards packets by LID, without a table, and by directed route. Its agent answers
 * what a subnet manager asks a switch, so the diagnostics find it.
 *
 * Locks: fabrics_lock, a mutex, protects the list of fabrics and their users.
 * fabric->lock protects the slots; a port cannot leave while a packet is delivered to
 * it.
 */
#include "sim_fabric.h"

#include <linux/mutex.h>
#include <linux/slab.h>
#include "sim.h"
#include "sim_link.h"
#include "sim_packet.h"
#include "sim_sma.h"

#define SIM_FABRIC_PORTS	64

/**
 * struct sim_fabric - a fabric
 * @list: in fabrics
 * @users: ports in it; protected by fabrics_lock
 * @name: its name; constant
 * @lock: protects @slot
 * @node: the node that its agent answers for
 * @attrs: attributes of its ports; port 0 is the agent's
 * @slot: the port of a device at each port of the crossbar
 */
struct sim_fabric {
	struct list_head list;
	u32 users;
	char name[SIM_NAME_LEN];
	spinlock_t lock;	/* process context only */
	struct sim_node node;
	struct sim_attrs attrs[SIM_FABRIC_PORTS + 1];
	struct sim_port *slot[SIM_FABRIC_PORTS + 1];
};

static DEFINE_MUTEX(fabrics_lock);
static LIST_HEAD(fabrics);

static struct sim_attrs *crossbar_attrs(struct sim_node *node, u32 n)
{
	struct sim_fabric *fabric = container_of(node, struct sim_fabric, node);

	return n <= SIM_FABRIC_PORTS ? &fabric->attrs[n] : NULL;
}

static struct sim_fabric *fabric_new(const char *name)
{
	struct sim_fabric *fabric;
	u32 i;

	fabric = kvzalloc(sizeof(*fabric), GFP_KERNEL);
	if (!fabric)
		return NULL;
	strscpy(fabric->name, name, sizeof(fabric->name));
	spin_lock_init(&fabric->lock);
	fabric->node.type = RDMA_NODE_IB_SWITCH;
	fabric->node.num_ports = SIM_FABRIC_PORTS;
	/* From a hash of the name: not the GUID of a device or of another fabric. */
	fabric->node.guid = SIM_GUID_BASE | (u64)BIT(31) |
			    (hashlen_hash(hashlen_string(NULL, name)) & ~0xff);
	snprintf(fabric->node.desc, sizeof(fabric->node.desc),
		 "ib_hwsim fabric %s", name);
	fabric->node.attrs = crossbar_attrs;
	for (i = 0; i <= SIM_FABRIC_PORTS; i++)
		sim_attrs_init(&fabric->attrs[i], SIM_PREFIX,
			       fabric->node.guid, 1);
	sim_attrs_preset(&fabric->attrs[0], 0, 0, IB_PORT_ACTIVE);
	return fabric;
}

static struct sim_fabric *find_or_add_locked(const char *name)
{
	struct sim_fabric *fabric;

	lockdep_assert_held(&fabrics_lock);
	list_for_each_entry(fabric, &fabrics, list)
		if (!strcmp(fabric->name, name))
			return fabric;
	fabric = fabric_new(name);
	if (fabric)
		list_add_tail(&fabric->list, &fabrics);
	return fabric;
}

static void put_locked(struct sim_fabric *fabric)
{
	lockdep_assert_held(&fabrics_lock);
	if (fabric->users)
		return;
	list_del(&fabric->list);
	kvfree(fabric);
}

static int join(struct sim_fabric *fabric, struct sim_port *port)
{
	u32 i;

	spin_lock(&fabric->lock);
	for (i = 1; i <= SIM_FABRIC_PORTS; i++) {
		if (fabric->slot[i])
			continue;
		fabric->slot[i] = port;
		sim_attrs_preset(&fabric->attrs[i], 0, 0, IB_PORT_ACTIVE);
		spin_unlock(&fabric->lock);
		port->slot = i;
		return 0;
	}
	spin_unlock(&fabric->lock);
	return -ENOSPC;
}

/**
 * sim_fabric_join() - connect a port to a fabric
 * @port: the port, which sends nothing yet
 * @name: name of the fabric, which is created if it does not exist
 *
 * Context: process.
 * Return: 0 or an errno.
 */
int sim_fabric_join(struct sim_port *port, const char *name)
{
	struct sim_fabric *fabric;
	int ret = -ENOMEM;

	mutex_lock(&fabrics_lock);
	fabric = find_or_add_locked(name);
	if (fabric) {
		port->fabric = fabric;
		ret = join(fabric, port);
		if (!ret)
			fabric->users++;
		else
			put_locked(fabric);
	}
	mutex_unlock(&fabrics_lock);
	return ret;
}

/**
 * sim_fabric_leave() - disconnect a port
 * @port: the port, which sends nothing any more
 *
 * Nothing is delivered to it after this returns.
 *
 * Context: process.
 */
void sim_fabric_leave(struct sim_port *port)
{
	struct sim_fabric *fabric = port->fabric;

	spin_lock(&fabric->lock);
	fabric->slot[port->slot] = NULL;
	spin_unlock(&fabric->lock);
	sim_attrs_preset(&fabric->attrs[port->slot], 0, 0, IB_PORT_DOWN);
	port->fabric = NULL;

	mutex_lock(&fabrics_lock);
	fabric->users--;
	put_locked(fabric);
	mutex_unlock(&fabrics_lock);
}

static void deliver_locked(struct sim_fabric *fabric, struct sim_port *from,
			   struct sim_port *to, struct sim_packet *packet)
{
	lockdep_assert_held(&fabric->lock);
	if (to) {
		sim_link_receive(to, packet);
		return;
	}
	sim_count(from, SIM_NO_ROUTE);
	sim_packet_free(packet);
}

static struct sim_port *in_slot_locked(struct sim_fabric *fabric, u32 slot)
{
	lockdep_assert_held(&fabric->lock);
	return slot <= SIM_FABRIC_PORTS ? fabric->slot[slot] : NULL;
}

/* The crossbar's agent answers; the packet becomes the response. */
static void answer_locked(struct sim_fabric *fabric, struct sim_port *from,
			  struct sim_packet *packet)
{
	struct ib_smp *smp = (struct ib_smp *)packet->mad;
	struct ib_smp out;

	lockdep_assert_held(&fabric->lock);
	if (packet->len != SIM_SMP_LEN || packet->dest_qp ||
	    !sim_sma_answer(&fabric->node, from->slot, smp, &out)) {
		deliver_locked(fabric, from, NULL, packet);
		return;
	}
	memcpy(smp, &out, sizeof(out));
	swap(packet->slid, packet->dlid);
	swap(packet->src_qp, packet->dest_qp);
	packet->flags = 0;
	sim_link_receive(from, packet);
}

static void route_by_lid_locked(struct sim_fabric *fabric,
				struct sim_port *from,
				struct sim_packet *packet)
{
	u32 i;

	lockdep_assert_held(&fabric->lock);
	for (i = 1; i <= SIM_FABRIC_PORTS; i++) {
		if (fabric->slot[i] &&
		    sim_attrs_has_lid(&fabric->slot[i]->attrs, packet->dlid)) {
			deliver_locked(fabric, from, fabric->slot[i], packet);
			return;
		}
	}
	if (sim_attrs_has_lid(&fabric->attrs[0], packet->dlid))
		answer_locked(fabric, from, packet);
	else
		deliver_locked(fabric, from, NULL, packet);
}

/*
 * A directed route goes from an HCA to the crossbar (hop 1), and from there to an HCA
 * (hop 2); a response goes from hop 2 to hop 1. Each node updates the hop pointer (IBA
 * 14.2.2); the sending HCA has already done so for hop 1.
 */
static void route_directed_locked(struct sim_fabric *fabric,
				  struct sim_port *from,
				  struct sim_packet *packet)
{
	struct ib_smp *smp = (struct ib_smp *)packet->mad;
	struct sim_port *to = NULL;

	lockdep_assert_held(&fabric->lock);
	if (ib_get_smp_direction(smp)) {
		if (smp->hop_cnt == 2 && smp->hop_ptr == 2) {
			smp->hop_ptr--;
			to = in_slot_locked(fabric, smp->return_path[1]);
		} else if (!smp->hop_cnt && !smp->hop_ptr) {
			to = from;
		}
		deliver_locked(fabric, from, to, packet);
		return;
	}

	if (!smp->hop_cnt) {
		/* To itself, by a device without process_mad. */
		to = from;
	} else if (smp->hop_ptr == 1 && smp->hop_cnt == 1) {
		smp->return_path[1] = from->slot;
		answer_locked(fabric, from, packet);
		return;
	} else if (smp->hop_ptr == 1 && smp->hop_cnt == 2) {
		smp->return_path[1] = from->slot;
		smp->hop_ptr++;
		to = in_slot_locked(fabric, smp->initial_path[2]);
	}
	deliver_locked(fabric, from, to, packet);
}

/**
 * sim_fabric_route() - forward a packet
 * @port: the port that sent it, which is in a fabric
 * @packet: the packet, which passes to this function
 *
 * Context: process.
 */
void sim_fabric_route(struct sim_port *port, struct sim_packet *packet)
{
	struct sim_fabric *fabric = port->fabric;
	struct ib_smp *smp = (struct ib_smp *)packet->mad;

	spin_lock(&fabric->lock);
	if (packet->len == SIM_SMP_LEN && !packet->dest_qp &&
	    smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE &&
	    packet->dlid == SIM_LID_PERMISSIVE)
		route_directed_locked(fabric, port, packet);
	else
		route_by_lid_locked(fabric, port, packet);
	spin_unlock(&fabric->lock);
}
