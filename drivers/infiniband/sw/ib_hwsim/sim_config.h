/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reads what is written to new_device. */
#ifndef SIM_CONFIG_H
#define SIM_CONFIG_H

struct sim_config;

int sim_config_parse(struct sim_config *config, const char *line);

#endif
