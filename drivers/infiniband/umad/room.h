/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a cgroup has room for of what its processes are sent, and send. It is charged to the cgroup;
 * what can be is given back when nothing else is left to be reclaimed (reclaim.c).
 */
#ifndef UMAD_ROOM_H
#define UMAD_ROOM_H

#include <linux/types.h>

struct umad_reserve;

/**
 * enum umad_kept - what is kept of a cgroup, whose size others decide on, or how long it stays
 * @UMAD_UNASKED_BEGINS: the first segment of a message that nobody has asked for
 * @UMAD_UNASKED_GOES_ON: another one
 * @UMAD_ANSWER: a segment of one that answers a request
 * @UMAD_UNREAD: what waits to be read
 * @UMAD_SENT: single MADs that expect no response, until the device has sent them
 * @UMAD_ASKED: requests of a single MAD
 */
enum umad_kept {
	UMAD_UNASKED_BEGINS,
	UMAD_UNASKED_GOES_ON,
	UMAD_ANSWER,
	UMAD_UNREAD,
	UMAD_SENT,
	UMAD_ASKED,
};

void umad_reserve_add(struct umad_reserve *reserve, enum umad_kept what, s64 bytes);
u64 umad_reserve_max(const struct umad_reserve *reserve);
bool umad_reserve_allows(const struct umad_reserve *reserve, u64 own, enum umad_kept what);
bool umad_reserve_leaves(struct umad_reserve *reserve, enum umad_kept what, unsigned int part);
u64 umad_reserve_kept(const struct umad_reserve *reserve);
u64 umad_reserve_part(const struct umad_reserve *reserve, unsigned int part, size_t bytes);
u64 umad_cgroup_left(u64 enough);
bool umad_reserve_is_full(const struct umad_reserve *reserve, u64 beside);

#endif /* UMAD_ROOM_H */
