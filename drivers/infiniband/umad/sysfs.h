/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef UMAD_SYSFS_H
#define UMAD_SYSFS_H

#include <linux/device/class.h>

extern struct class umad_class;

#endif /* UMAD_SYSFS_H */
