// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Wait queues, on which nobody waits; locks, for which nobody does; and the only task. */
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "../fuzz.h"
#include "sched.h"

u32 fuzz_wakes;

static struct task_struct worker __aligned(64);
struct task_struct *fuzz_current = &worker;

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

void __raw_spin_lock_init(raw_spinlock_t *lock, const char *name,
			  struct lock_class_key *key, short inner)
{
	*lock = (raw_spinlock_t){ .raw_lock.slock = 1 };
}

static void take_lock(raw_spinlock_t *lock)
{
	/* Again by the one thread: never. */
	MUST(lock->raw_lock.slock == 1);
	lock->raw_lock.slock = 0;
}

static void give_lock(raw_spinlock_t *lock)
{
	MUST(!lock->raw_lock.slock);
	lock->raw_lock.slock = 1;
}

void _raw_spin_lock(raw_spinlock_t *lock)
{
	take_lock(lock);
}

void _raw_spin_lock_bh(raw_spinlock_t *lock)
{
	take_lock(lock);
}

void _raw_spin_lock_irq(raw_spinlock_t *lock)
{
	take_lock(lock);
}

unsigned long _raw_spin_lock_irqsave(raw_spinlock_t *lock)
{
	take_lock(lock);
	return 0;
}

void _raw_spin_unlock(raw_spinlock_t *lock)
{
	give_lock(lock);
}

void _raw_spin_unlock_bh(raw_spinlock_t *lock)
{
	give_lock(lock);
}

void _raw_spin_unlock_irq(raw_spinlock_t *lock)
{
	give_lock(lock);
}

void _raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags)
{
	give_lock(lock);
}
