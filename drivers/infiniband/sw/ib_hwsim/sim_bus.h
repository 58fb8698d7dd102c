/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The bus by which devices are created and removed. */
#ifndef SIM_BUS_H
#define SIM_BUS_H

#include <linux/types.h>

struct sim_port;

int sim_bus_init(void);
void sim_bus_open(void);
void sim_bus_exit(void);
int sim_with_port(u32 id, u32 num,
		  int (*call)(struct sim_port *port, void *context),
		  void *context);

#endif
