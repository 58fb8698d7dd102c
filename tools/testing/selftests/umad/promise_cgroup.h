/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory control groups, for the tests of the promises. Files are named as in version 2.
 */
#ifndef PROMISE_CGROUP_H
#define PROMISE_CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

bool cgroup_is_v1(void);
int cgroup_make(const char *name);
int cgroup_delegate(const char *name);
int cgroup_enter(const char *name);
int cgroup_set(const char *name, const char *file, long value);
long cgroup_get(const char *name, const char *file);
void cgroup_remove(const char *name);

#endif /* PROMISE_CGROUP_H */
