// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One thread: nobody waits, a mutex is free, a work is not run. Random numbers
 * are none, so that an input does the same each time.
 */
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "sched.h"

u32 fuzz_wakes;
struct workqueue_struct *system_wq;

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

bool queue_work_on(int cpu, struct workqueue_struct *wq,
		   struct work_struct *work)
{
	return true;
}

bool cancel_work_sync(struct work_struct *work)
{
	return false;
}

void __mutex_init(struct mutex *lock, const char *name,
		  struct lock_class_key *key)
{
}

void mutex_lock(struct mutex *lock)
{
}

void mutex_unlock(struct mutex *lock)
{
}

u32 get_random_u32(void)
{
	return 0x9e3779b9;
}
