// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A port sends packets if its state allows it, checks those that arrive, passes them
 * to its QPs, and holds completions.
 *
 * Lock: port->qp_lock keeps the QPs alive that packets are passed to.
 */
#include "sim_link.h"

#include "sim.h"
#include "sim_capture.h"
#include "sim_packet.h"
#include "sim_port.h"
#include "sim_qp.h"

/*
 * A link that is down passes nothing, and one that is not up passes SMPs only. SMPs of
 * a port whose SMA is at the far end pass in any state.
 */
static bool link_takes(struct sim_port *port, u32 qpn, enum ib_port_state up)
{
	enum ib_port_state state = sim_attrs_state(&port->attrs);

	if (!qpn)
		return state >= IB_PORT_INIT || port->sim->config.far;
	return state >= up;
}

/**
 * sim_link_send() - send a packet
 * @port: the port
 * @packet: the packet, which passes to this function
 *
 * Context: any.
 */
void sim_link_send(struct sim_port *port, struct sim_packet *packet)
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

/* Return: what the port has to count. */
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
		/* QP0 takes any P_Key (IBA 10.9.8); the index has no meaning. */
		what = sim_qp_receive(port->qp[packet->dest_qp], packet,
				      max(pkey_index, 0));
	spin_unlock_irqrestore(&port->qp_lock, flags);
	return what;
}

/**
 * sim_link_receive() - receive a packet
 * @port: the port
 * @packet: the packet, which passes to this function
 *
 * Context: process; the caller keeps the port alive.
 */
void sim_link_receive(struct sim_port *port, struct sim_packet *packet)
{
	enum sim_count what = receive(port, packet);

	sim_count(port, what);
	if (what == SIM_RX_PACKETS)
		atomic64_add(packet->len, &port->counts[SIM_RX_BYTES]);
	else
		sim_capture_in(packet, port->sim->config.id, port->num,
			       sim_count_name(what));
	sim_packet_free(packet);
}

/**
 * sim_link_set_hold() - hold send completions, or stop holding them
 * @port: the port
 * @hold: whether to hold them
 *
 * Context: process.
 */
void sim_link_set_hold(struct sim_port *port, bool hold)
{
	/* post_send reads it under qp->lock, which the release below takes. */
	WRITE_ONCE(port->hold, hold);
	if (!hold)
		sim_link_release(port, U32_MAX);
}

/**
 * sim_link_release() - complete held sends, those of QP0 first
 * @port: the port
 * @max: how many at most
 *
 * Context: process.
 * Return: how many.
 */
u32 sim_link_release(struct sim_port *port, u32 max)
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
 * sim_link_held() - count the sends whose completion is held
 * @port: the port
 *
 * Context: process.
 * Return: how many.
 */
u32 sim_link_held(struct sim_port *port)
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
