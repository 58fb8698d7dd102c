/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A port sends and receives packets, and holds completions. */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include <linux/types.h>

struct sim_packet;
struct sim_port;

void sim_link_send(struct sim_port *port, struct sim_packet *packet);
void sim_link_receive(struct sim_port *port, struct sim_packet *packet);
void sim_link_set_hold(struct sim_port *port, bool hold);
u32 sim_link_release(struct sim_port *port, u32 max);
u32 sim_link_held(struct sim_port *port);

#endif
