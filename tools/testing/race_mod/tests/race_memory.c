// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The cgroup of the worker, which has a process that uses nearly all that it may have: so what
 * the worker was sent gives way whenever memory is reclaimed there.
 */
#include "race.h"
#include "promise_cgroup.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define CGROUP	"raced"
#define USED	(32 << 20)
#define FREE	(7 << 19)	/* less than 4 MiB: it is as good as full */

static bool is_there;

static void use(int ready)
{
	char *used = mmap(NULL, USED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret = cgroup_enter(CGROUP);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (used != MAP_FAILED && ret >= 0)
		memset(used, 1, USED);
	if (write(ready, &ret, sizeof(ret)) == sizeof(ret))
		pause();
	_exit(0);
}

/* Without cgroups, or memory.reclaim of 5.19, there is none. */
void memory_init(void)
{
	int ready[2], ret = -EIO;

	if (cgroup_make(CGROUP) || cgroup_get(CGROUP, "memory.current") < 0 || pipe(ready))
		return;
	if (!fork())
		use(ready[1]);
	if (read(ready[0], &ret, sizeof(ret)) != sizeof(ret) || ret < 0)
		return;
	is_there = !cgroup_set(CGROUP, "memory.max",
			       cgroup_get(CGROUP, "memory.current") + FREE);
}

void memory_enter(void)
{
	if (is_there)
		cgroup_enter(CGROUP);
}

bool memory_is_limited(void)
{
	return is_there;
}

/* There is nothing else: it fails, or not. */
void *memory_reclaim(void *arg)
{
	(void)arg;
	cgroup_set(CGROUP, "memory.reclaim", USED);
	return NULL;
}
