// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the driver's pure files call in the kernel, where the kernel's own
 * file is not linked.
 */
#include <linux/bitmap.h>
#include <linux/bottom_half.h>
#include <linux/preempt.h>
#include <rdma/ib_mad.h>

#include "../fuzz.h"

/* IBA 13.4.4 to 13.4.6: what a class puts before its data. */
int ib_get_mad_data_offset(u8 mgmt_class)
{
	if (mgmt_class == IB_MGMT_CLASS_SUBN_ADM)
		return IB_MGMT_SA_HDR;
	if (mgmt_class == IB_MGMT_CLASS_DEVICE_MGMT ||
	    mgmt_class == IB_MGMT_CLASS_DEVICE_ADM ||
	    mgmt_class == IB_MGMT_CLASS_BIS)
		return IB_MGMT_DEVICE_HDR;
	/* Of vendors, with their OUI. */
	return mgmt_class >= 0x30 && mgmt_class <= 0x4f ? IB_MGMT_VENDOR_HDR :
							  IB_MGMT_MAD_HDR;
}

int ib_is_mad_class_rmpp(u8 mgmt_class)
{
	return ib_get_mad_data_offset(mgmt_class) != IB_MGMT_MAD_HDR;
}

void *memchr_inv(const void *start, int c, size_t bytes)
{
	const u8 *at = start;

	for (; bytes; at++, bytes--)
		if (*at != (u8)c)
			return (void *)at;
	return NULL;
}

/* Little-endian, as this machine is. */
void bitmap_from_arr32(unsigned long *bitmap, const u32 *buf,
		       unsigned int nbits)
{
	unsigned int i;

	memset(bitmap, 0, BITS_TO_LONGS(nbits) * sizeof(long));
	for (i = 0; i < nbits; i++)
		if (buf[i / 32] >> i % 32 & 1)
			__set_bit(i, bitmap);
}

void __bitmap_clear(unsigned long *map, unsigned int start, int len)
{
	while (len-- > 0)
		__clear_bit(start++, map);
}

void fortify_panic(const char *name)
{
	fuzz_failed(name, 0, "no overflow");
}

/* One thread, and no interrupts. */
int __preempt_count;

void __local_bh_enable_ip(unsigned long ip, unsigned int count)
{
	__preempt_count -= count;
}
