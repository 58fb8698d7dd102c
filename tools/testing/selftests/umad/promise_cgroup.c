// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory control groups. See promise_cgroup.h.
 */
#include "promise_cgroup.h"
#include "umad_util.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT	"/sys/fs/cgroup"

static const struct {
	const char *file, *of_v1;
} names[] = {
	{ "memory.max", "memory.limit_in_bytes" },
	{ "memory.current", "memory.usage_in_bytes" },
	{ "memory.swap.max", "memory.memsw.limit_in_bytes" },
};

/* Version 1 has the memory controller in a hierarchy of its own. */
bool cgroup_is_v1(void)
{
	return !access(ROOT "/memory.limit_in_bytes", F_OK);
}

static const char *name_of(const char *file)
{
	size_t i;

	for (i = 0; cgroup_is_v1() && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(file, names[i].file))
			return names[i].of_v1;
	return file;
}

static void cgroup_path(char *path, size_t len, const char *name,
			const char *file)
{
	snprintf(path, len, ROOT "/%s%s%s", name, file ? "/" : "",
		 file ? name_of(file) : "");
}

static int cgroup_write(const char *name, const char *file, const char *text)
{
	char path[128];
	int ret;

	cgroup_path(path, sizeof(path), name, file);
	ret = umad_write_sysfs(path, text);
	return ret < 0 ? ret : 0;
}

/* Cgroups below it may have limits of their own. */
int cgroup_delegate(const char *name)
{
	return cgroup_is_v1() ? 0 : cgroup_write(name, "cgroup.subtree_control", "+memory");
}

int cgroup_make(const char *name)
{
	char path[128];
	int ret = cgroup_delegate("");

	if (ret < 0)
		return ret;
	cgroup_path(path, sizeof(path), name, NULL);
	return mkdir(path, 0755) && errno != EEXIST ? -errno : 0;
}

/* The calling process is in it from now on. */
int cgroup_enter(const char *name)
{
	return cgroup_write(name, "cgroup.procs", "0");
}

int cgroup_set(const char *name, const char *file, long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", value);
	return cgroup_write(name, file, text);
}

long cgroup_get(const char *name, const char *file)
{
	char path[128], text[32];
	int ret;

	cgroup_path(path, sizeof(path), name, file);
	ret = umad_read_sysfs(path, text, sizeof(text));
	return ret ? ret : atol(text);
}

/* Once its processes have gone. */
void cgroup_remove(const char *name)
{
	char path[128];
	int i;

	cgroup_path(path, sizeof(path), name, NULL);
	for (i = 0; i < 100 && rmdir(path) && errno == EBUSY; i++)
		sleep_ms(20);
}
