/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The files of the module, a device and a port in debugfs. */
#ifndef SIM_DEBUGFS_H
#define SIM_DEBUGFS_H

struct sim_dev;
struct sim_fail;
struct sim_port;

struct sim_fail *sim_fail_template(void);
int sim_debugfs_init(void);
void sim_debugfs_exit(void);
void sim_debugfs_device(struct sim_dev *sim);
void sim_debugfs_port(struct sim_port *port);

#endif
