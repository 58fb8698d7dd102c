// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A port: what goes out, what comes in, what it counts, and what it tells
 * ib_core of.
 *
 * Locks: port->qp_lock keeps the QPs alive that packets are given to;
 * sim->event_lock keeps events from a device that is going away.
 */
#include <linux/seq_file.h>

#include "sim.h"
#include "sim_capture.h"
#include "sim_raw.h"

static const char * const count_names[SIM_COUNTS] = {
	[SIM_TX_PACKETS] = "tx_packets",
	[SIM_TX_BYTES] = "tx_bytes",
	[SIM_TX_PORT_STATE] = "tx_port_state",
	[SIM_RX_PACKETS] = "rx_packets",
	[SIM_RX_BYTES] = "rx_bytes",
	[SIM_RX_PORT_STATE] = "rx_port_state",
	[SIM_RX_NO_QP] = "rx_no_qp",
	[SIM_RX_NO_BUFFER] = "rx_no_buffer",
	[SIM_RX_TOO_LONG] = "rx_too_long",
	[SIM_RX_PKEY_VIOLATION] = "rx_pkey_violation",
	[SIM_RX_QKEY_VIOLATION] = "rx_qkey_violation",
	[SIM_NO_FAR_END] = "no_far_end",
	[SIM_NO_ROUTE] = "no_route",
	[SIM_RAW_OVERFLOW] = "raw_overflow",
	[SIM_SMA_ANSWERED] = "sma_answered",
	[SIM_CQ_OVERFLOW] = "cq_overflow",
};

/**
 * sim_port_init() - set up a port that nobody uses yet
 * @port: the port
 * @sim: its device, whose config is there
 * @num: its number
 *
 * Context: process.
 */
void sim_port_init(struct sim_port *port, struct sim_dev *sim, u32 num)
{
	port->sim = sim;
	port->num = num;
	spin_lock_init(&port->qp_lock);
	spin_lock_init(&port->far_lock);
	/* Port 0 of a switch has the GUID of its node. */
	sim_attrs_init(&port->attrs, sim->config.prefix,
		       sim->config.guid + num, sim->config.pkeys);
}

/**
 * sim_port_show_counts() - one line for each counter
 * @port: the port
 * @seq: where to
 *
 * Context: process.
 */
void sim_port_show_counts(struct sim_port *port, struct seq_file *seq)
{
	int i;

	for (i = 0; i < SIM_COUNTS; i++)
		seq_printf(seq, "%s %lld\n", count_names[i],
			   atomic64_read(&port->counts[i]));
}

/**
 * sim_port_event() - tell ib_core of something, unless the device is going away
 * @port: where it happened
 * @type: what
 *
 * Context: any.
 */
void sim_port_event(struct sim_port *port, enum ib_event_type type)
{
	struct sim_dev *sim = port->sim;
	struct ib_event event = {
		.device = &sim->ibdev,
		.element.port_num = port->num,
		.event = type,
	};
	unsigned long flags;

	spin_lock_irqsave(&sim->event_lock, flags);
	if (sim->live)
		ib_dispatch_event(&event);	/* Queues a work. */
	spin_unlock_irqrestore(&sim->event_lock, flags);
}

/**
 * sim_port_changed() - tell ib_core that attributes are others now
 * @port: whose
 * @change: what differs
 *
 * Context: any.
 */
void sim_port_changed(struct sim_port *port, const struct sim_change *change)
{
	if (change->pkeys)
		sim_port_event(port, IB_EVENT_PKEY_CHANGE);
	if (change->gids)
		sim_port_event(port, IB_EVENT_GID_CHANGE);
	if (change->lid)
		sim_port_event(port, IB_EVENT_LID_CHANGE);
	if (change->sm)
		sim_port_event(port, IB_EVENT_SM_CHANGE);
	if (change->down)
		sim_port_event(port, IB_EVENT_PORT_ERR);
	if (change->up)
		sim_port_event(port, IB_EVENT_PORT_ACTIVE);
	if (change->reregister)
		sim_port_event(port, IB_EVENT_CLIENT_REREGISTER);
}

/**
 * sim_port_set_caps() - change PortInfo:CapabilityMask, for modify_port
 * @port: the port
 * @set: bits to set
 * @clear: bits to clear
 *
 * Context: process.
 */
void sim_port_set_caps(struct sim_port *port, u32 set, u32 clear)
{
	unsigned long flags;
	__be32 old;
	bool changed;

	spin_lock_irqsave(&port->attrs.lock, flags);
	old = port->attrs.info.cap_mask;
	port->attrs.info.cap_mask |= cpu_to_be32(set);
	port->attrs.info.cap_mask &= ~cpu_to_be32(clear);
	changed = port->attrs.info.cap_mask != old;
	spin_unlock_irqrestore(&port->attrs.lock, flags);
	if (changed)
		sim_raw_port_event(port);
}

/**
 * sim_port_set_hold() - hold send completions, or hold no more
 * @port: the port
 * @hold: whether to
 *
 * Context: process.
 */
void sim_port_set_hold(struct sim_port *port, bool hold)
{
	/* Who posts reads it with qp->lock, which the release below takes. */
	WRITE_ONCE(port->hold, hold);
	if (!hold)
		sim_port_release(port, U32_MAX);
}

/**
 * sim_port_release() - complete held sends, those of QP0 first
 * @port: the port
 * @max: how many at most
 *
 * Context: process.
 * Return: how many.
 */
u32 sim_port_release(struct sim_port *port, u32 max)
{
	unsigned long flags;
	u32 done = 0;
	int i;

	spin_lock_irqsave(&port->qp_lock, flags);
	for (i = 0; i < ARRAY_SIZE(port->qp); i++)
		if (port->qp[i])
			done += sim_qp_release(port->qp[i], max - done);
	spin_unlock_irqrestore(&port->qp_lock, flags);
	return done;
}

/**
 * sim_port_held() - count the sends whose completion is held
 * @port: the port
 *
 * Context: process.
 * Return: how many.
 */
u32 sim_port_held(struct sim_port *port)
{
	unsigned long flags;
	u32 held = 0;
	int i;

	spin_lock_irqsave(&port->qp_lock, flags);
	for (i = 0; i < ARRAY_SIZE(port->qp); i++)
		if (port->qp[i])
			held += sim_qp_held(port->qp[i]);
	spin_unlock_irqrestore(&port->qp_lock, flags);
	return held;
}

/*
 * A link that is down takes nothing, and only SMPs until it is up. SMPs of a
 * port whose SMA is at the far end do not pass the link.
 */
static bool link_takes(struct sim_port *port, u32 qpn, enum ib_port_state up)
{
	enum ib_port_state state = sim_attrs_state(&port->attrs);

	if (!qpn)
		return state >= IB_PORT_INIT || port->sim->config.far;
	return state >= up;
}

/**
 * sim_port_send() - send a packet
 * @port: the port
 * @packet: the packet, which passes to this function
 *
 * Context: any.
 */
void sim_port_send(struct sim_port *port, struct sim_packet *packet)
{
	if (!link_takes(port, packet->src_qp, IB_PORT_ACTIVE)) {
		sim_count(port, SIM_TX_PORT_STATE);
		sim_packet_free(packet);
		return;
	}
	sim_count(port, SIM_TX_PACKETS);
	atomic64_add(packet->len, &port->counts[SIM_TX_BYTES]);
	sim_medium_send(&port->medium, packet);
}

/**
 * sim_port_wire() - take a packet of this port to the far end of its wire
 * @context: the port
 * @packet: the packet, which passes to this function
 *
 * Context: process, from the medium's work.
 */
void sim_port_wire(void *context, struct sim_packet *packet)
{
	struct sim_port *port = context;

	if (sim_raw_deliver(port, packet))
		return;
	if (port->fabric) {
		sim_fabric_route(port, packet);
	} else if (sim_attrs_has_lid(&port->attrs, packet->dlid)) {
		sim_port_receive(port, packet);
	} else {
		sim_count(port, SIM_NO_FAR_END);
		sim_packet_free(packet);
	}
}

/* Return: what the port counts. */
static enum sim_count receive(struct sim_port *port,
			      const struct sim_packet *packet)
{
	enum sim_count what = SIM_RX_NO_QP;
	unsigned long flags;
	int pkey_index;

	if (packet->dest_qp >= ARRAY_SIZE(port->qp))
		return SIM_RX_NO_QP;
	if (!link_takes(port, packet->dest_qp, IB_PORT_ARMED))
		return SIM_RX_PORT_STATE;
	pkey_index = sim_attrs_find_pkey(&port->attrs, packet->pkey);
	if (packet->dest_qp) {
		if (pkey_index < 0)
			return SIM_RX_PKEY_VIOLATION;
		if (packet->qkey != IB_QP1_QKEY)
			return SIM_RX_QKEY_VIOLATION;
	}

	spin_lock_irqsave(&port->qp_lock, flags);
	if (port->qp[packet->dest_qp])
		/* QP0 takes any P_Key (IBA 10.9.8), the index means nothing. */
		what = sim_qp_receive(port->qp[packet->dest_qp], packet,
				      max(pkey_index, 0));
	spin_unlock_irqrestore(&port->qp_lock, flags);
	return what;
}

/**
 * sim_port_receive() - a packet arrives
 * @port: where
 * @packet: the packet, which passes to this function
 *
 * Context: process; the caller keeps the port from going away.
 */
void sim_port_receive(struct sim_port *port, struct sim_packet *packet)
{
	enum sim_count what = receive(port, packet);

	sim_count(port, what);
	if (what == SIM_RX_PACKETS)
		atomic64_add(packet->len, &port->counts[SIM_RX_BYTES]);
	else
		sim_capture_in(packet, port->sim->config.id, port->num,
			       count_names[what]);
	sim_packet_free(packet);
}

/**
 * sim_port_arrive() - a packet arrives that a raw port sent in
 * @context: the port
 * @packet: the packet, which passes to this function
 *
 * Context: process, from the work of the medium, which goes before the port.
 */
void sim_port_arrive(void *context, struct sim_packet *packet)
{
	sim_port_receive(context, packet);
}
