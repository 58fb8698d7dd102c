/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Between the two sides: the targets with the kernel's headers, and host.c
 * with those of the C library. Each includes its types first.
 */
#ifndef UMAD_FUZZ_HOST_H
#define UMAD_FUZZ_HOST_H

/* In host.c. The first ends the program. */
void fuzz_failed(const char *file, int line, const char *what)
	__attribute__((__noreturn__));
void *fuzz_alloc(size_t size);
void *fuzz_zalloc(size_t size);
void fuzz_free(void *memory);

/* Each target's own: one input, from beginning to end. */
void fuzz_one(const unsigned char *data, size_t size);

/* What the kernel and the sanitizers call, or have. */
int _printk(const char *format, ...);
void __warn_printk(const char *format, ...);
void __asan_poison_memory_region(const void *memory, size_t size);
void __asan_unpoison_memory_region(const void *memory, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

#endif /* UMAD_FUZZ_HOST_H */
