/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How much of the memory of its cgroup a file may have that waits to be read. */
#ifndef UMAD_UNREAD_H
#define UMAD_UNREAD_H

#include <linux/types.h>

struct umad_file;

bool umad_unread_may_grow(struct umad_file *file, size_t bytes);
bool umad_unread_has_room(struct umad_file *file);
void umad_unread_settle(struct umad_file *file);
void umad_unread_forget(struct umad_file *file);

#endif /* UMAD_UNREAD_H */
