/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bitmaps made of 64-bit words, which <linux/bitmap.h> has since 5.19. */
#ifndef UMAD_BITMAP_H
#define UMAD_BITMAP_H

#include <linux/bitmap.h>
#include <linux/types.h>

/* Remove when kernels before 5.19 are dropped. */
#ifdef UMAD_LACKS_BITMAP_ARR64
static inline void bitmap_from_arr64(unsigned long *bitmap, const u64 *words,
				     unsigned int nbits)
{
	unsigned int bit;

	bitmap_zero(bitmap, nbits);
	for (bit = 0; bit < nbits; bit++)
		if (words[bit / 64] >> (bit % 64) & 1)
			__set_bit(bit, bitmap);
}
#endif

#endif /* UMAD_BITMAP_H */
