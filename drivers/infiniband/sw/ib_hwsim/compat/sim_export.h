/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the KUnit suites call. kunit/visibility.h is of 6.2, and exports where the
 * kernel has KUnit, as many distributions' have: this does in a build for tests only.
 */
#ifndef SIM_EXPORT_H
#define SIM_EXPORT_H

#include <linux/export.h>

#ifdef SIM_KUNIT
#define EXPORT_SYMBOL_IF_KUNIT(symbol) EXPORT_SYMBOL_GPL(symbol)
#else
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#endif

#endif /* SIM_EXPORT_H */
