// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The cgroup of the worker, which is at times allowed less than it has: so what the worker was
 * sent gives way.
 */
#include "race.h"
#include "promise_cgroup.h"

#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define CGROUP	"raced"
#define USED	(32 << 20)
#define FREE	(7 << 19)
#define TOO_MUCH	(1 << 20)	/* more than processors keep for what comes next */

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

/* Without cgroups there is none. */
void memory_init(void)
{
	int ready[2], ret = -EIO;

	/* That of an earlier test, whose memory may still be given back. */
	cgroup_remove(CGROUP);
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

/* Else the caller itself might reclaim, and be stopped, whatever it does next. */
void memory_leave(void)
{
	if (is_there)
		cgroup_enter("");
}

bool memory_is_limited(void)
{
	return is_there;
}

/* There is nothing else that could be reclaimed. */
void *memory_reclaim(void *arg)
{
	(void)arg;
	cgroup_set(CGROUP, "memory.high", cgroup_get(CGROUP, "memory.current") - TOO_MUCH);
	cgroup_set(CGROUP, "memory.high", LONG_MAX);
	return NULL;
}
