/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A port: its counters, and its events for ib_core. */
#ifndef SIM_PORT_H
#define SIM_PORT_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include "sim.h"

struct seq_file;

struct sim_port *sim_dev_port(struct sim_dev *sim, u32 num);
const char *sim_count_name(enum sim_count what);
void sim_port_init(struct sim_port *port, struct sim_dev *sim, u32 num);
void sim_port_show_counts(struct sim_port *port, struct seq_file *seq);
void sim_port_event(struct sim_port *port, enum ib_event_type type);
void sim_port_changed(struct sim_port *port, const struct sim_change *change);

#endif
