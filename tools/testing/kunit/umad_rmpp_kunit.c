// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites: the RMPP engines of ib_umad");
MODULE_LICENSE("Dual BSD/GPL");
