/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Buffers of user space. */
#ifndef UMAD_ITER_H
#define UMAD_ITER_H

#include <linux/uio.h>

/* Before 5.16 there is nothing that does it. Remove when these are dropped. */
static inline void umad_fault_in_writeable(struct iov_iter *to, size_t len)
{
#ifndef UMAD_LACKS_FAULT_IN
	fault_in_iov_iter_writeable(to, len);
#endif
}

#endif /* UMAD_ITER_H */
