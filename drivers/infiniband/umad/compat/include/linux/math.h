/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* For kernels before 5.11, which have no such header: it is searched last. */
#include <linux/kernel.h>
