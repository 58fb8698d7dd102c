/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Where a packet goes that has passed a medium. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

struct sim_packet;
struct sim_port;

void sim_wire_out(void *context, struct sim_packet *packet);
void sim_wire_in(void *context, struct sim_packet *packet);
void sim_wire_write(struct sim_port *port, struct sim_packet *packet);

#endif
