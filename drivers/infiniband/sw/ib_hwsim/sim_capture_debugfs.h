/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The ring of captured packets, and its files in debugfs. */
#ifndef SIM_CAPTURE_DEBUGFS_H
#define SIM_CAPTURE_DEBUGFS_H

struct dentry;

int sim_capture_init(struct dentry *dir);
void sim_capture_exit(void);

#endif
