// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/sched.h>
#include "program.h"

#include <linux/slab.h>
#include "port.h"

static int compare(struct rb_node *node, const struct rb_node *other)
{
	pid_t a = rb_entry(node, struct umad_program, node)->pid;
	pid_t b = rb_entry(other, struct umad_program, node)->pid;

	return a < b ? -1 : a > b;
}

/**
 * umad_program_get() - the caller's program, for one file more
 * @port: that the file is opened on; the file will keep it
 *
 * A file may outlive the process that has opened it, and another may get that one's
 * pid: then they share.
 * Context: process; may sleep.
 * Return: the program, or NULL without memory.
 */
struct umad_program *umad_program_get(struct umad_port *port)
{
	struct umad_program *program, *fresh;
	struct rb_node *found;

	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return NULL;
	fresh->port = port;
	fresh->pid = task_tgid_nr(current);
	umad_again_program_init(&fresh->again, &port->pace);
	spin_lock(&port->programs_lock);
	found = rb_find_add(&fresh->node, &port->programs, compare);
	program = found ? rb_entry(found, struct umad_program, node) : fresh;
	program->files++;
	spin_unlock(&port->programs_lock);
	if (found)
		kfree(fresh);
	return program;
}

/**
 * umad_program_put() - a file is no more
 * @program: consumed; the caller keeps its port
 *
 * Context: process; does not sleep.
 */
void umad_program_put(struct umad_program *program)
{
	struct umad_port *port = program->port;
	bool last;

	spin_lock(&port->programs_lock);
	last = !--program->files;
	if (last)
		rb_erase(&program->node, &port->programs);
	spin_unlock(&port->programs_lock);
	if (last)
		kfree(program);
}
