// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The event loop, by epoll. */
#include <sys/epoll.h>
#include <time.h>

#include "loop.h"

#define BATCH	16	/* events taken at a time */

static int poller;

/**
 * now_ms() - get the time
 *
 * Return: milliseconds of a monotonic clock.
 */
long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/**
 * loop_init() - set up the loop
 *
 * Return: 0, or -1 with errno set.
 */
int loop_init(void)
{
	poller = epoll_create1(EPOLL_CLOEXEC);
	return poller < 0 ? -1 : 0;
}

static int control(const struct source *source, int op, __u32 events)
{
	struct epoll_event event = {
		.events = events, .data = { .ptr = (void *)source },
	};

	return epoll_ctl(poller, op, source->fd, &event);
}

/**
 * loop_add() - wait until a file is readable
 * @source: the file; this structure must stay. Closing the file removes it
 *
 * Return: 0, or -1 with errno set.
 */
int loop_add(const struct source *source)
{
	return control(source, EPOLL_CTL_ADD, EPOLLIN);
}

/**
 * loop_watch() - wait for other events of a file
 * @source: the file, which was added
 * @events: EPOLLIN, EPOLLOUT, or none
 *
 * Return: 0, or -1 with errno set.
 */
int loop_watch(const struct source *source, __u32 events)
{
	return control(source, EPOLL_CTL_MOD, events);
}

/**
 * loop_once() - wait for events, and handle them
 * @until: do not wait longer than until that time of now_ms()
 *
 * A handler may close a file that has an event in the same batch. The handler of that
 * file must check it.
 */
void loop_once(long until)
{
	struct epoll_event events[BATCH];
	const struct source *source;
	long wait = until - now_ms();
	int i, count;

	count = epoll_wait(poller, events, BATCH, wait > 0 ? wait : 0);
	for (i = 0; i < count; i++) {
		source = events[i].data.ptr;
		source->ready(source->port);
	}
}
