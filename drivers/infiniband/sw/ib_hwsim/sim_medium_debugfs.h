/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The files of a medium in debugfs. */
#ifndef SIM_MEDIUM_DEBUGFS_H
#define SIM_MEDIUM_DEBUGFS_H

struct dentry;
struct sim_medium;

void sim_medium_debugfs(struct sim_medium *medium, struct dentry *dir);

#endif
