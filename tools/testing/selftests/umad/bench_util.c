// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench_util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With errno, if it is not good. */
void bench_check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

/* Of doubles, for qsort(). */
int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* As tools/testing/bench/smoke.sh reads it; sorts the @n values. */
void bench_print(const char *label, const char *figure, int outstanding, double *value, int n,
		 const char *unit)
{
	qsort(value, n, sizeof(*value), bench_compare);
	printf("# bench %s %s outstanding=%d median=%.1f min=%.1f max=%.1f %s\n", label, figure,
	       outstanding, value[n / 2], value[0], value[n - 1], unit);
}
