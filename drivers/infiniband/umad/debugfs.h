/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef UMAD_DEBUGFS_H
#define UMAD_DEBUGFS_H

struct umad_port;

void umad_debugfs_init(void);
void umad_debugfs_exit(void);
void umad_debugfs_add_port(struct umad_port *port);
void umad_debugfs_remove_port(struct umad_port *port);

#endif /* UMAD_DEBUGFS_H */
