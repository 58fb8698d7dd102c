/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a file gives back when its cgroup has no memory left. */
#ifndef UMAD_SHED_H
#define UMAD_SHED_H

int umad_shed_init(void);

#endif /* UMAD_SHED_H */
