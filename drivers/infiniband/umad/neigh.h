/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How often neighbours have changed, of any network interface. */
#ifndef UMAD_NEIGH_H
#define UMAD_NEIGH_H

void umad_neigh_init(void);
void umad_neigh_exit(void);
unsigned int umad_neigh_changes(void);

#endif /* UMAD_NEIGH_H */
