/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the benchmarks have in common: they end at the first error, and print medians. */
#ifndef BENCH_UTIL_H
#define BENCH_UTIL_H

#include <stdbool.h>

void bench_check(bool good, const char *what);
int bench_compare(const void *a, const void *b);
void bench_print(const char *label, const char *figure, int outstanding, double *value, int n,
		 const char *unit);

#endif /* BENCH_UTIL_H */
