/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* RDMA devices: the module is told by ib_core when one comes and when it goes. */
#ifndef UMAD_DEVICE_H
#define UMAD_DEVICE_H

#include <linux/types.h>

struct ib_device;
struct umad_port;

int umad_chrdev_init(void);
void umad_chrdev_exit(void);
int umad_clients_register(void);
void umad_clients_unregister(void);
struct umad_port *umad_port_find(struct ib_device *ib_dev, u32 port_num);

#endif /* UMAD_DEVICE_H */
