// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The two ends of a medium: packets that have passed it go to the far end, or to the
 * port.
 */
#include "sim_wire.h"

#include "sim.h"
#include "sim_capture.h"
#include "sim_fabric.h"
#include "sim_link.h"
#include "sim_packet.h"
#include "sim_raw.h"

/**
 * sim_wire_out() - deliver a packet of a port to the far end
 * @context: the port
 * @packet: the packet, which passes to this function
 *
 * Context: process, from the work of the medium.
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
 * sim_wire_in() - deliver a packet that a program has written to a port
 * @context: the port
 * @packet: the packet, which passes to this function
 *
 * Context: process, from the work of the medium, which ends before the port does.
 */
void sim_wire_in(void *context, struct sim_packet *packet)
{
	sim_link_receive(context, packet);
}

/**
 * sim_wire_write() - send a packet that a program writes to a port
 * @port: the port
 * @packet: the packet, which passes to this function
 *
 * Without faults it has arrived when this returns.
 *
 * Context: process; the caller keeps the port alive.
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
