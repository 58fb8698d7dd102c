/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Lets the KUnit suites call what the module keeps to itself. */
#ifndef UMAD_EXPORT_H
#define UMAD_EXPORT_H

#include <kunit/visibility.h>

/* On a kernel without CONFIG_KUNIT nothing is exported. */
#define UMAD_EXPORT_FOR_KUNIT(symbol) EXPORT_SYMBOL_IF_KUNIT(symbol)

#endif /* UMAD_EXPORT_H */
