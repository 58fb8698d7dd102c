// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The side of the C library: libFuzzer's entry, memory, and the end of a
 * target that has found something.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "host.h"

void fuzz_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
	abort();
}

void *fuzz_alloc(size_t size)
{
	return malloc(size);
}

void *fuzz_zalloc(size_t size)
{
	return calloc(1, size);
}

void fuzz_free(void *memory)
{
	free(memory);
}

/* The first two bytes of a kernel message are its level. */
int _printk(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	return 0;
}

/* Before a WARN(), which itself is an instruction that ends the program. */
void __warn_printk(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_one(data, size);
	return 0;
}
