/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The event loop: files that become readable or writable, and the function that
 * handles each.
 */
#ifndef HWSIM_LOOP_H
#define HWSIM_LOOP_H

#include <linux/types.h>

struct port;

/**
 * struct source - a file that the loop waits for
 * @fd: the file
 * @port: the argument of @ready
 * @ready: called when the file has one of the events that are watched
 */
struct source {
	int fd;
	struct port *port;
	void (*ready)(struct port *port);
};

int loop_init(void);
int loop_add(const struct source *source);
int loop_watch(const struct source *source, __u32 events);
void loop_once(long until);
long now_ms(void);

#endif
