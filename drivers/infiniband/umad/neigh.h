/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How often neighbours, network interfaces and routes have changed. */
#ifndef UMAD_NEIGH_H
#define UMAD_NEIGH_H

#include <linux/types.h>

struct net;
union ib_gid;

int umad_neigh_init(void);
void umad_neigh_exit(void);
unsigned int umad_neigh_changes(void);
bool umad_neigh_is_settled(const struct net *net);
bool umad_neigh_route_lasts(int ifindex, const union ib_gid *sgid, const union ib_gid *dgid);

#endif /* UMAD_NEIGH_H */
