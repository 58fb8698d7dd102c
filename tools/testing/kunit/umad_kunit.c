// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites: the parts of ib_umad that need no device");
MODULE_LICENSE("Dual BSD/GPL");
