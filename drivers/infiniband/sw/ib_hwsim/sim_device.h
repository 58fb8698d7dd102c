/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The life of a device. */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

struct device;
struct sim_config;
struct sim_dev;

struct sim_dev *sim_dev_create(const struct sim_config *config,
			       struct device *parent);
void sim_dev_destroy(struct sim_dev *sim);

#endif
