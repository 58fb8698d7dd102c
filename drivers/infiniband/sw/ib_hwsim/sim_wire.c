// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where a packet goes that has passed a medium: to the far end of the wire, or
 * to the port.
 */
#include "sim_wire.h"

#include "sim.h"
#include "sim_capture.h"
#include "sim_fabric.h"
#include "sim_link.h"
#include "sim_packet.h"
#include "sim_raw.h"

/**
 * sim_wire_out() - take a packet of this port to the far end of its wire
 * @context: the port
 * @packet: the packet, which passes to this function
 *
 * Context: process, from the medium's work.
 */
void sim_wire_out(void *context, struct sim_packet *packet)
{
	struct sim_port *port = context;

	if (sim_raw_deliver(port, packet))
		return;
	if (port->fabric) {
		sim_fabric_route(port, packet);
	} else if (sim_attrs_has_lid(&port->attrs, packet->dlid)) {
		sim_link_receive(port, packet);
	} else {
		sim_count(port, SIM_NO_FAR_END);
		sim_packet_free(packet);
	}
}

/**
 * sim_wire_in() - take a packet that a program has written to the port
 * @context: the port
 * @packet: the packet, which passes to this function
 *
 * Context: process, from the work of the medium, which goes before the port.
 */
void sim_wire_in(void *context, struct sim_packet *packet)
{
	sim_link_receive(context, packet);
}

/**
 * sim_wire_write() - a program writes a packet to the port
 * @port: the port
 * @packet: the packet, which passes to this function
 *
 * Without faults it has arrived when this returns.
 *
 * Context: process; the caller keeps the port from going away.
 */
void sim_wire_write(struct sim_port *port, struct sim_packet *packet)
{
	if (!sim_medium_is_idle(&port->medium_in)) {
		sim_medium_send(&port->medium_in, packet);
		return;
	}
	sim_capture_in(packet, packet->device, packet->port, NULL);
	sim_link_receive(port, packet);
}
