/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a program can make the kernel hold, for the tests of the promises: each
 * load runs in a process of its own, which then ends as it is told to.
 */
#ifndef PROMISE_LOAD_H
#define PROMISE_LOAD_H

#include "rmpp_util.h"
#include "uffd.h"

#define LOAD_FILES	4
#define LOAD_AGENTS	32

struct load_writer {
	struct load *load;
	struct side_call call;
	int agent;
};

/* Of the process that makes the load. */
struct load {
	struct test_port port;
	int fds[LOAD_FILES];
	int n_fds;
	/* Agents to be unregistered. */
	struct {
		int fd;
		uint32_t id;
	} agents[LOAD_AGENTS];
	int n_agents;
	struct uffd_pages pages;
	struct load_writer writers[LOAD_AGENTS];
};

typedef int (*load_fn)(struct load *load);

int load_open(struct load *load, int flags);
int load_client(struct load *load, int fd);
int load_write_many(int fd, struct umad_msg *msg, int n);
int load_messages(struct load *load, int n, size_t len, uint32_t timeout_ms,
		  uint32_t retries);

int load_retries(struct load *load);
int load_one_tid(struct load *load);
int load_resolution(struct load *load);
int load_half_received(struct load *load);
int load_half_sent(struct load *load);
int load_short_messages(struct load *load);
int load_page_fault(struct load *load);

/* A process with a load, as its parent sees it. */
struct loader {
	pid_t pid;
	int to, from;
};

/* What a process is told to do; it answers with the ms of its slowest call. */
enum loader_cmd {
	LOADER_CLOSE = 'c',
	LOADER_UNREGISTER = 'u',
	LOADER_EXIT = 'x',
};

int loader_start(struct loader *loader, load_fn fn, int wait_ms);
long loader_tell(struct loader *loader, enum loader_cmd cmd, int wait_ms);
long loader_kill(struct loader *loader, int wait_ms);
bool loader_gone(struct loader *loader, int wait_ms);

#endif /* PROMISE_LOAD_H */
