// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Does one thing that a kernel complains about, when it is loaded: the
 * harness tests want to see the runner report it. "insmod splat_mod.ko
 * what=NAME"; it unloads like any module, except after what=stuck.
 */

#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>

static char *what = "warn";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "Which kind of trouble to make");

static DEFINE_MUTEX(lock_a);
static DEFINE_MUTEX(lock_b);
static DEFINE_SPINLOCK(spinlock);

static void make_warning(void)
{
	WARN(1, "splat_mod: as asked\n");
}

static void make_leak(void)
{
	char *lost = kmalloc(96, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(lost);
}

static void make_use_after_free(void)
{
	char *freed = kmalloc(64, GFP_KERNEL);

	if (!freed)
		return;
	kfree(freed);
	OPTIMIZER_HIDE_VAR(freed);
	WRITE_ONCE(*freed, 1);
}

static void make_lock_inversion(void)
{
	mutex_lock(&lock_a);
	mutex_lock(&lock_b);
	mutex_unlock(&lock_b);
	mutex_unlock(&lock_a);

	mutex_lock(&lock_b);
	mutex_lock(&lock_a);
	mutex_unlock(&lock_a);
	mutex_unlock(&lock_b);
}

static void make_sleep_in_atomic(void)
{
	spin_lock(&spinlock);
	might_sleep();
	spin_unlock(&spinlock);
}

static void make_refcount_underflow(void)
{
	refcount_t count = REFCOUNT_INIT(0);

	refcount_inc(&count);
}

static void no_expiry(struct timer_list *timer)
{
}

static void make_free_of_active_timer(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, no_expiry, 0);
	mod_timer(timer, jiffies + 3600 * HZ);
	/* DEBUG_OBJECTS_FREE takes the timer off its list. */
	kfree(timer);
}

static void make_list_corruption(void)
{
	struct list_head item;
	LIST_HEAD(one);
	LIST_HEAD(two);

	list_add(&item, &one);
	item.prev = &two;
	list_del(&item);
}

static void make_stuck(void)
{
	__module_get(THIS_MODULE);
}

static const struct {
	const char *name;
	void (*make)(void);
} troubles[] = {
	{ "warn", make_warning },
	{ "leak", make_leak },
	{ "kasan", make_use_after_free },
	{ "lockdep", make_lock_inversion },
	{ "sleep", make_sleep_in_atomic },
	{ "refcount", make_refcount_underflow },
	{ "odebug", make_free_of_active_timer },
	{ "list", make_list_corruption },
	{ "stuck", make_stuck },
};

static int __init splat_mod_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(troubles); i++) {
		if (!strcmp(what, troubles[i].name)) {
			troubles[i].make();
			return 0;
		}
	}
	return -EINVAL;
}
module_init(splat_mod_init);

static void __exit splat_mod_exit(void)
{
}
module_exit(splat_mod_exit);

MODULE_DESCRIPTION("Makes the kernel complain, for tests of the test harness");
MODULE_LICENSE("Dual BSD/GPL");
