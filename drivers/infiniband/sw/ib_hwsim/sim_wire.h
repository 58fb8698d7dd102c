/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The two ends of a medium: a port, and its far end. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

struct sim_packet;
struct sim_port;

void sim_wire_out(void *context, struct sim_packet *packet);
void sim_wire_in(void *context, struct sim_packet *packet);
void sim_wire_write(struct sim_port *port, struct sim_packet *packet);

#endif
