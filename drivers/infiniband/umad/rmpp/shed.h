/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages that give way when a cgroup has no memory left. */
#ifndef UMAD_RMPP_SHED_H
#define UMAD_RMPP_SHED_H

#include <linux/types.h>
#include "reclaim.h"

struct umad_file;

size_t umad_rmpp_size(const struct umad_file *file, enum umad_shed what);
size_t umad_rmpp_shed(struct umad_file *file, size_t bytes, enum umad_shed what,
		      struct umad_gone *gone);

/* shed_sent.c */
size_t umad_rmpp_shed_sent(struct umad_file *file, size_t bytes, bool silent,
			   struct umad_gone *gone);

#endif /* UMAD_RMPP_SHED_H */
