/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory control groups (cgroup v2), for the tests of the promises.
 */
#ifndef PROMISE_CGROUP_H
#define PROMISE_CGROUP_H

#include <sys/types.h>

int cgroup_make(const char *name);
int cgroup_delegate(const char *name);
int cgroup_enter(const char *name);
int cgroup_set(const char *name, const char *file, long value);
long cgroup_get(const char *name, const char *file);
void cgroup_remove(const char *name);

#endif /* PROMISE_CGROUP_H */
