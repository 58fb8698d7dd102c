// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "compat.h"

MODULE_DESCRIPTION("KUnit suites: the RMPP engines of ib_umad");
MODULE_LICENSE("Dual BSD/GPL");
UMAD_KUNIT_IMPORT_NS();
