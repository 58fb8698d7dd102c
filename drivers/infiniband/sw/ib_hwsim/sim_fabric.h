/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A fabric in the kernel. */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

struct sim_packet;
struct sim_port;

int sim_fabric_join(struct sim_port *port, const char *name);
void sim_fabric_leave(struct sim_port *port);
void sim_fabric_route(struct sim_port *port, struct sim_packet *packet);

#endif
