/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the targets share: the fuzzer's input, read piece by piece, and how a
 * target says that something is wrong. They are compiled with the kernel's
 * headers, as the driver is.
 */
#ifndef UMAD_FUZZ_H
#define UMAD_FUZZ_H

#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#include "host.h"

#define MUST(condition)							\
	do {								\
		if (!(condition))					\
			fuzz_failed(__FILE__, __LINE__, #condition);	\
	} while (0)

/**
 * struct input - what is left of the fuzzer's input
 * @at: the next byte
 * @left: bytes from there on
 */
struct input {
	const u8 *at;
	size_t left;
};

/* After the end of the input all is 0. */
static inline u8 take(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static inline u32 take16(struct input *in)
{
	u32 high = take(in);

	return high << 8 | take(in);
}

static inline u32 take32(struct input *in)
{
	u32 high = take16(in);

	return high << 16 | take16(in);
}

static inline u64 take64(struct input *in)
{
	u64 high = take32(in);

	return high << 32 | take32(in);
}

static inline void take_bytes(struct input *in, void *to, size_t len)
{
	u8 *byte = to;

	while (len--)
		*byte++ = take(in);
}

/* A duration: from 1 us on, twice as long from one to the next but one. */
static inline u64 take_time(struct input *in)
{
	u8 byte = take(in);
	u32 power = byte / 4 % 32;

	if (!byte)
		return 0;
	return (1000ULL << power) + (byte % 4) * (250ULL << power);
}

#endif /* UMAD_FUZZ_H */
