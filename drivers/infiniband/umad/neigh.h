/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How often neighbours and network interfaces have changed. */
#ifndef UMAD_NEIGH_H
#define UMAD_NEIGH_H

int umad_neigh_init(void);
void umad_neigh_exit(void);
unsigned int umad_neigh_changes(void);

#endif /* UMAD_NEIGH_H */
