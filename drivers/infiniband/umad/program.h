/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What programs have to share with each other on a port goes by program, however many
 * files that has opened.
 */
#ifndef UMAD_PROGRAM_H
#define UMAD_PROGRAM_H

#include <linux/atomic.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include "again.h"

struct umad_port;

/**
 * struct umad_program - who has opened files of a port
 * @node: in &umad_port.programs
 * @port: that has it; each of @files keeps it
 * @pid: of the thread group that has opened them
 * @files: that have it, protected by &umad_port.programs_lock
 * @again: those of its files that have something to send again
 * @joining: RMPP messages being joined for it
 * @joining_bytes: memory they take
 */
struct umad_program {
	struct rb_node node;
	struct umad_port *port;
	pid_t pid;
	unsigned int files;
	struct umad_again_program again;
	atomic_t joining;
	atomic64_t joining_bytes;
};

struct umad_program *umad_program_get(struct umad_port *port);
void umad_program_put(struct umad_program *program);

#endif /* UMAD_PROGRAM_H */
