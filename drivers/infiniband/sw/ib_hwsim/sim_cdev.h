/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* /dev/ib_hwsim */
#ifndef SIM_CDEV_H
#define SIM_CDEV_H

int sim_cdev_init(void);
void sim_cdev_exit(void);

#endif
