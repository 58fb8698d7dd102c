// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites: ib_umad on a soft-RoCE device");
MODULE_LICENSE("Dual BSD/GPL");
