/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the tests ask of the rest of the kernel: rxe links that come and go,
 * character device lookup, routes and neighbours. All by netlink, so that the
 * static binaries need no tool in the guest.
 */
#ifndef RDMA_LINK_H
#define RDMA_LINK_H

#include <stdbool.h>
#include <stdint.h>

int rdma_link_index(const char *ibdev);
int rdma_link_add(const char *ibdev, const char *netdev);
int rdma_link_del(const char *ibdev);
int rdma_link_rename(const char *ibdev, const char *name);

struct rdma_chardev {
	uint64_t abi;
	uint64_t dev;
	char name[64];
};

int rdma_get_chardev(const char *ibdev, uint32_t port, const char *type,
		     struct rdma_chardev *cdev);
int rdma_set_netns_exclusive(bool exclusive);
int rdma_link_set_netns(const char *ibdev, int netns_fd);

int route6(bool add, const char *prefix, int len, const char *netdev);
/* It is there for so long. */
int route6_until(const char *prefix, int len, const char *netdev, uint32_t seconds);
/* By a nexthop object; a nexthop without a netdev is a black hole. */
int route6_by_nexthop(const char *prefix, int len, uint32_t nexthop);
int nexthop6(uint32_t nexthop, const char *netdev);
int nexthop_del(uint32_t nexthop);
int neigh6(bool add, const char *addr, const char *netdev);
int netdev_arp(const char *netdev, bool arp);

#endif /* RDMA_LINK_H */
