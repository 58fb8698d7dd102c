/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the suites do differently from kernel to kernel. */
#ifndef UMAD_KUNIT_COMPAT_H
#define UMAD_KUNIT_COMPAT_H

#include <linux/module.h>

/*
 * MODULE_IMPORT_NS() takes a word before 6.13 and a string since; this is what
 * both make of it.
 */
#define UMAD_KUNIT_IMPORT_NS() \
	MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING")

#endif /* UMAD_KUNIT_COMPAT_H */
