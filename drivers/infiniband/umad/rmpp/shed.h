/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages being received that give way when a cgroup has no memory left. */
#ifndef UMAD_RMPP_SHED_H
#define UMAD_RMPP_SHED_H

#include <linux/types.h>

struct list_head;
struct umad_file;

size_t umad_rmpp_size(const struct umad_file *file, bool answers);
size_t umad_rmpp_shed(struct umad_file *file, size_t bytes, bool answers,
		      struct list_head *gone);

#endif /* UMAD_RMPP_SHED_H */
