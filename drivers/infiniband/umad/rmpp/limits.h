/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bounds of messages of several segments. */
#ifndef UMAD_RMPP_LIMITS_H
#define UMAD_RMPP_LIMITS_H

#include <linux/types.h>

struct umad_file;
struct umad_xfer_rx;

size_t umad_rmpp_max_message(void);
bool umad_rmpp_is_crowded(const struct umad_file *file);
bool umad_rmpp_may_begin(struct umad_xfer_rx *rx, bool whole, u64 now,
			 struct umad_xfer_rx **victim);
bool umad_rmpp_may_grow(struct umad_xfer_rx *rx, u64 now,
			struct umad_xfer_rx **victim);

#endif /* UMAD_RMPP_LIMITS_H */
