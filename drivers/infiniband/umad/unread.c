// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "unread.h"

#include <linux/math.h>
#include "file.h"
#include "room.h"

/* What a file may have without being counted: who reads what comes has no more. */
#define UNREAD_FREE	4096
/* The rest is counted in such steps, and given back when there are so many too many. */
#define UNREAD_STEP	4096
#define STEPS_KEPT	2

static s64 to_be_counted(size_t charged)
{
	return charged <= UNREAD_FREE ? 0 : round_up(charged - UNREAD_FREE, UNREAD_STEP);
}

/* If another has been quicker, that is as good: the next one makes up for the difference. */
static void count(struct umad_file *file, s64 from, s64 to)
{
	if (atomic64_cmpxchg(&file->unread, from, to) == from)
		umad_reserve_add(file->reserve, UMAD_UNREAD, to - from);
}

/**
 * umad_unread_may_grow() - may a file have more that waits to be read?
 * @file: the file
 * @bytes: more
 *
 * Context: any.
 * Return: false if its cgroup, or one above that, has too much; else it is counted.
 */
bool umad_unread_may_grow(struct umad_file *file, size_t bytes)
{
	/* First: who reads all meanwhile changes it. */
	s64 counted = atomic64_read_acquire(&file->unread);
	size_t charged = umad_rxq_charged(&file->rxq) + bytes;

	if (to_be_counted(charged) <= counted)
		return true;
	if (!umad_reserve_allows(file->reserve, charged, UMAD_UNREAD))
		return false;
	count(file, counted, to_be_counted(charged));
	return true;
}

/**
 * umad_unread_has_room() - may a message begin?
 * @file: that it is for
 *
 * Context: any.
 * Return: false if the file's cgroup, or one above that, has too much that waits to be read.
 */
bool umad_unread_has_room(struct umad_file *file)
{
	size_t charged = umad_rxq_charged(&file->rxq);

	return charged <= UNREAD_FREE ||
	       umad_reserve_allows(file->reserve, charged, UMAD_UNREAD);
}

/**
 * umad_unread_settle() - count what waits to be read now
 * @file: of which something was read, or that was given a message
 *
 * Context: any.
 */
void umad_unread_settle(struct umad_file *file)
{
	/* First, as above. */
	s64 counted = atomic64_read_acquire(&file->unread);
	s64 now = to_be_counted(umad_rxq_charged(&file->rxq));

	if (counted < now || counted > now + (now ? STEPS_KEPT * UNREAD_STEP : 0))
		count(file, counted, now);
}

/**
 * umad_unread_forget() - nothing will be read any more
 * @file: whose queue is shut down, without agents
 *
 * Context: process.
 */
void umad_unread_forget(struct umad_file *file)
{
	umad_reserve_add(file->reserve, UMAD_UNREAD, -atomic64_xchg(&file->unread, 0));
}
