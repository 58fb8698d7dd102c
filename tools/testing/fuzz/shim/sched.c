// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Wait queues, on which nobody waits. */
#include <linux/wait.h>

#include "sched.h"

u32 fuzz_wakes;

void __init_waitqueue_head(struct wait_queue_head *head, const char *name,
			   struct lock_class_key *key)
{
	INIT_LIST_HEAD(&head->head);
}

int __wake_up(struct wait_queue_head *head, unsigned int mode, int nr,
	      void *key)
{
	fuzz_wakes++;
	return 0;
}
