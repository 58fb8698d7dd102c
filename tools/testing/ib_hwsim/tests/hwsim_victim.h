/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A process of a small cgroup: what is kept of what it is sent is charged to it, and must not
 * be what has it killed.
 */
#ifndef HWSIM_VICTIM_H
#define HWSIM_VICTIM_H

#include "hwsim_peers.h"
#include "promise_cgroup.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CGROUP	"flooded"
#define BELOW	CGROUP "/below"
#define BESIDE	CGROUP "/beside"
#define LIMIT	(16 << 20)
#define OWN	(256 << 10)

/* The process that is flooded: in a cgroup with so much memory, or in one below that. */
struct victim {
	long limit;
	const char *limit_file;	/* "memory.max", if not said otherwise */
	bool below;
	bool is_protected;	/* all of that one, by memory.min */
	bool reads;		/* what comes, at once */
	unsigned int files;
	unsigned int asks;	/* requests of the last file, that are outstanding for 10 minutes */
	size_t own;		/* bytes that it uses itself, again and again; 0: OWN */
	size_t steady;		/* and those that it uses all the time */
	size_t lazy;		/* that the kernel may take from it, as page cache */
	size_t lazy_beside;	/* that it may take from another process, beside the one @below */
};

static inline void *map_private(size_t len)
{
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Memory that the kernel may take, as page cache. */
static inline void fill_lazy(void *lazy, size_t len)
{
	memset(lazy, 1, len);
	madvise(lazy, len, MADV_FREE);
}

/* Another process has that, for as long as its parent lives. */
static inline int have_lazy_beside(size_t len)
{
	int ends[2], ret = -EIO;

	if (pipe(ends))
		return -errno;
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ret = cgroup_enter(BESIDE);
		fill_lazy(map_private(len), len);
		ret = write(ends[1], &ret, sizeof(ret));
		for (;;)
			pause();
	}
	ret = read(ends[0], &ret, sizeof(ret)) == sizeof(ret) ? ret : -EIO;
	close(ends[0]);
	close(ends[1]);
	return ret;
}

/* Serves, and has page faults. Ends with its parent. */
static inline void live_in_cgroup(const struct victim *victim, int ready)
{
	size_t len = victim->own ?: OWN;
	char *own = map_private(len);
	struct test_port peer = { .lid = PEER };
	int ret = cgroup_enter(victim->below ? BELOW : CGROUP);
	static struct umad_msg msg;
	unsigned int i;

	/* One that is being made is charged, too, and the process was killed beside that. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (ret >= 0 && victim->lazy_beside)
		ret = have_lazy_beside(victim->lazy_beside);
	if (ret >= 0 && victim->lazy)
		fill_lazy(map_private(victim->lazy), victim->lazy);
	if (ret >= 0 && victim->steady)
		memset(map_private(victim->steady), 1, victim->steady);
	for (i = 0; ret >= 0 && i < victim->files; i++)
		ret = open_server(METHOD_TABLE + i);
	if (write(ready, &ret, sizeof(ret)) != sizeof(ret) || ret < 0)
		_exit(1);
	for (i = 0; i < victim->asks; i++) {
		msg_init_usual(&msg, &peer, 0, CLASS_RMPP, METHOD_TABLE, 7 + i);
		msg.hdr.timeout_ms = 600000;
		if (msg_write(ret, &msg) != MSG_LEN)
			_exit(2);
	}
	while (getppid() != 1) {
		memset(own, 1, len);
		madvise(own, len, MADV_DONTNEED);
		while (victim->reads && read(ret, &msg, sizeof(msg)) > 0)
			;
		sleep_ms(5);
	}
	_exit(0);
}

/* -EOPNOTSUPP: there are no cgroups. */
static inline pid_t start_victim(FIXTURE_DATA(peers) *self, const struct victim *victim)
{
	const char *file = victim->limit_file ?: "memory.max";
	int ready[2], ret = -EIO;
	pid_t pid;

	if (cgroup_make(CGROUP) || cgroup_set(CGROUP, file, victim->limit) ||
	    (victim->below && (cgroup_delegate(CGROUP) || cgroup_make(BELOW))) ||
	    (victim->lazy_beside && cgroup_make(BESIDE)) ||
	    (victim->is_protected && cgroup_set(BELOW, "memory.min", victim->limit)))
		return -EOPNOTSUPP;
	/* It serves what the fixture's own file did. */
	close(self->fd);
	self->fd = -1;
	if (pipe(ready))
		return -errno;
	pid = fork();
	if (!pid)
		live_in_cgroup(victim, ready[1]);
	if (read(ready[0], &ret, sizeof(ret)) != sizeof(ret))
		ret = -EIO;
	close(ready[0]);
	close(ready[1]);
	return ret < 0 ? ret : pid;
}

static inline void end_victim(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	cgroup_remove(BELOW);
	cgroup_remove(BESIDE);
	cgroup_remove(CGROUP);
}

static inline bool lives(pid_t pid)
{
	int status;

	sleep_ms(100);
	return !waitpid(pid, &status, WNOHANG);
}

#endif /* HWSIM_VICTIM_H */
