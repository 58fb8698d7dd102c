/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The tables of verbs. */
#ifndef SIM_VERBS_H
#define SIM_VERBS_H

#include <rdma/ib_verbs.h>

extern const struct ib_device_ops sim_dev_ops;
extern const struct ib_device_ops sim_sma_ops;

#endif
