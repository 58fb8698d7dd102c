// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "compat.h"

MODULE_DESCRIPTION("KUnit suites: ib_umad on a soft-RoCE device");
MODULE_LICENSE("Dual BSD/GPL");
UMAD_KUNIT_IMPORT_NS();
