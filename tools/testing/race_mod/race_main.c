// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Stops: files of debugfs that take "FUNCTION WHERE", and the task that comes
 * there next is stopped, until it is released, is killed, or a time is over.
 *
 * A probe's handler cannot sleep. So it makes the task go on in race_stub(),
 * which sleeps as a part of the task itself, then goes back to the instruction:
 * the stop has been used up and lets it pass.
 */
#include "race.h"

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define CALL_LEN	5
#define ATOMIC_MS	20	/* at most, where it cannot sleep */

static unsigned int timeout_ms = 500;
module_param(timeout_ms, uint, 0644);
MODULE_PARM_DESC(timeout_ms, "How long a task is stopped at most (default: 500)");

enum race_state {
	IDLE, ARMED, TAKEN, PARKED, OVER,
};

static const char *const state_names[] = {
	"idle", "armed", "taken", "parked", "over",
};

/**
 * struct race_stop - one stop
 * @lock: protects the rest; taken by probes' handlers, so lockdep must not see it
 * @state: of it
 * @point: where, or NULL
 * @task: the one that is stopped; compared, not followed
 * @pid: of it
 * @comm: of it
 * @resume: where it goes on
 * @fails: it is spared the call
 * @value: what the call is to return then
 * @ms: how long it is stopped at most
 * @go: it is released
 * @how: it went on
 */
struct race_stop {
	arch_spinlock_t lock; /* protects the rest */
	enum race_state state;
	const struct race_point *point;
	struct task_struct *task;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	unsigned long resume;
	bool fails;
	long value;
	unsigned int ms;
	bool go;
	const char *how;
};

static struct race_stop stops[RACE_STOPS];

/* What a line says behind the point. */
struct race_option {
	bool fails;
	long value;
	unsigned int ms;
};

static struct dentry *folder;

/* No probe is hit while it is held. */
static unsigned long stop_lock(struct race_stop *stop)
{
	unsigned long flags;

	local_irq_save(flags);
	arch_spin_lock(&stop->lock);
	return flags;
}

static void stop_unlock(struct race_stop *stop, unsigned long flags)
{
	arch_spin_unlock(&stop->lock);
	local_irq_restore(flags);
}

/* With the stop's lock: where the task is to go, and how it gets there. */
static int take(struct race_stop *stop, struct race_point *point,
		struct pt_regs *regs)
{
	unsigned long *ret = (unsigned long *)regs->sp;

	WRITE_ONCE(stop->state, TAKEN);
	WRITE_ONCE(stop->task, current);
	stop->pid = current->pid;
	memcpy(stop->comm, current->comm, sizeof(stop->comm));
	/* The task is on its way through our code from now on. */
	__module_get(THIS_MODULE);
	if (point->kind == RACE_RETURN) {
		stop->resume = *ret;
		*ret = (unsigned long)race_stub;
		return 0;
	}
	stop->resume = (unsigned long)point->kp.addr;
	if (stop->fails)
		stop->resume += CALL_LEN;
	regs->ip = (unsigned long)race_stub;
	return 1;
}

/**
 * race_hit() - a task has come to a point
 * @kp: the point's
 * @regs: of the task
 *
 * Context: a breakpoint.
 * Return: 1 when it goes on somewhere else.
 */
int race_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct race_point *point = container_of(kp, struct race_point, kp);
	int ret = 0, i;

	WRITE_ONCE(point->hits, READ_ONCE(point->hits) + 1);
	for (i = 0; i < RACE_STOPS && !ret; i++) {
		struct race_stop *stop = &stops[i];

		if (READ_ONCE(stop->point) != point)
			continue;
		arch_spin_lock(&stop->lock);
		if (stop->point == point && stop->state == ARMED) {
			ret = take(stop, point, regs);
			arch_spin_unlock(&stop->lock);
			break;
		}
		arch_spin_unlock(&stop->lock);
	}
	return ret;
}

NOKPROBE_SYMBOL(race_hit);

static bool may_sleep(void)
{
#ifdef CONFIG_PREEMPT_RCU
	if (current->rcu_read_lock_nesting)
		return false;
#endif
	return preemptible();
}

/* Without wait queues: the task may be just about to sleep on another one. */
static const char *park(struct race_stop *stop)
{
	bool sleep = may_sleep();
	unsigned int ms = sleep ? stop->ms : min(stop->ms, ATOMIC_MS + 0U);
	ktime_t end = ktime_add_ms(ktime_get(), ms);
	ktime_t nap = 100 * NSEC_PER_USEC;

	while (!READ_ONCE(stop->go)) {
		if (ktime_after(ktime_get(), end))
			return sleep ? "late" : "atomic";
		if (!sleep) {
			cpu_relax();
			continue;
		}
		if (fatal_signal_pending(current))
			return "killed";
		set_current_state(TASK_KILLABLE);
		schedule_hrtimeout(&nap, HRTIMER_MODE_REL);
	}
	return sleep ? "released" : "released-atomic";
}

/**
 * race_stopped() - a stopped task is here
 * @frame: what the stub has saved, and will restore
 *
 * Context: that of the point.
 */
void race_stopped(struct race_frame *frame)
{
	struct race_stop *stop = NULL;
	unsigned long flags;
	const char *how;
	int i;

	for (i = 0; i < RACE_STOPS; i++) {
		stop = &stops[i];
		if (READ_ONCE(stop->task) == current &&
		    READ_ONCE(stop->state) == TAKEN)
			break;
	}
	/* Nobody comes here but by take(); and there would be no way back. */
	if (i == RACE_STOPS)
		panic("ib_umad_race: who is this?\n");

	WRITE_ONCE(stop->state, PARKED);
	how = park(stop);
	flags = stop_lock(stop);
	frame->ip = stop->resume;
	if (stop->fails)
		frame->ax = stop->value;
	stop->how = how;
	WRITE_ONCE(stop->task, NULL);
	WRITE_ONCE(stop->state, OVER);
	stop_unlock(stop, flags);
	module_put(THIS_MODULE);
}

/**
 * race_forget() - a point is about to go
 * @point: nobody is to be stopped there any more
 */
void race_forget(const struct race_point *point)
{
	unsigned long flags;
	int i;

	for (i = 0; i < RACE_STOPS; i++) {
		flags = stop_lock(&stops[i]);
		if (stops[i].point == point) {
			stops[i].point = NULL;
			if (stops[i].state == ARMED)
				stops[i].state = IDLE;
		}
		stop_unlock(&stops[i], flags);
	}
}

/* A symbol that is not exported: a probe knows where it is. */
unsigned long race_lookup(const char *symbol)
{
	static unsigned long (*lookup)(const char *name);
	struct kprobe kp = { .symbol_name = "kallsyms_lookup_name" };

	if (!lookup) {
		if (register_kprobe(&kp))
			return 0;
		lookup = (void *)kp.addr;
		unregister_kprobe(&kp);
	}
	return lookup(symbol);
}

static int stop_show(struct seq_file *s, void *unused)
{
	struct race_stop *stop = s->private, copy;
	unsigned long flags;

	flags = stop_lock(stop);
	/* With what has no lock, and is not shown. */
	copy = data_race(*stop);
	stop_unlock(stop, flags);
	seq_printf(s, "%s %s %d %s\n", state_names[copy.state],
		   copy.how ?: "-", copy.pid, copy.comm);
	return 0;
}

static int stop_open(struct inode *inode, struct file *file)
{
	return single_open(file, stop_show, inode->i_private);
}

/* Let go who is stopped, stop nobody. */
static void stop_off(struct race_stop *stop)
{
	unsigned long flags;

	flags = stop_lock(stop);
	WRITE_ONCE(stop->go, true);
	WRITE_ONCE(stop->point, NULL);
	if (stop->state == ARMED)
		WRITE_ONCE(stop->state, IDLE);
	stop_unlock(stop, flags);
}

static int stop_arm(struct race_stop *stop, const char *function,
		    const char *where, const struct race_option *option)
{
	struct race_point *point;
	unsigned long flags;
	int ret = 0;

	point = race_point_get(function, where);
	if (IS_ERR(point))
		return PTR_ERR(point);
	if (option->fails && point->kind != RACE_CALL)
		return -EINVAL;
	flags = stop_lock(stop);
	if (stop->state == TAKEN || stop->state == PARKED) {
		ret = -EBUSY;
	} else {
		WRITE_ONCE(stop->state, ARMED);
		WRITE_ONCE(stop->point, point);
		WRITE_ONCE(stop->task, NULL);
		stop->pid = 0;
		stop->comm[0] = '\0';
		stop->fails = option->fails;
		stop->value = option->value;
		stop->ms = option->ms;
		WRITE_ONCE(stop->go, false);
		stop->how = NULL;
	}
	stop_unlock(stop, flags);
	return ret;
}

static int parse_options(char *at, struct race_option *option)
{
	char *word;

	while ((word = strsep(&at, " "))) {
		if (!strncmp(word, "fail=", 5)) {
			option->fails = true;
			if (kstrtol(word + 5, 0, &option->value))
				return -EINVAL;
		} else if (strncmp(word, "ms=", 3) ||
			   kstrtouint(word + 3, 0, &option->ms)) {
			return -EINVAL;
		}
	}
	return 0;
}

/* "FUNCTION WHERE [fail=VALUE] [ms=NUMBER]", or "go" */
static ssize_t stop_write(struct file *file, const char __user *buf,
			  size_t count, loff_t *pos)
{
	struct race_stop *stop = ((struct seq_file *)file->private_data)->private;
	struct race_option option = { .ms = READ_ONCE(timeout_ms) };
	char line[160], *at = line, *function, *where;
	int ret;

	if (count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, count))
		return -EFAULT;
	line[count] = '\0';
	at = strim(line);
	function = strsep(&at, " ");
	where = strsep(&at, " ");
	if (!where) {
		stop_off(stop);
		return count;
	}
	ret = parse_options(at, &option);
	if (!ret)
		ret = stop_arm(stop, function, where, &option);
	return ret ?: count;
}

static const struct file_operations stop_fops = {
	.owner = THIS_MODULE,
	.open = stop_open,
	.read = seq_read,
	.write = stop_write,
	.llseek = seq_lseek,
	.release = single_release,
};

DEFINE_SHOW_ATTRIBUTE(race_points);

static int __init race_init(void)
{
	char name[16];
	int i, ret;

	for (i = 0; i < RACE_STOPS; i++)
		stops[i].lock = (arch_spinlock_t)__ARCH_SPIN_LOCK_UNLOCKED;
	ret = race_points_init();
	if (ret)
		return ret;
	folder = debugfs_create_dir("ib_umad_race", NULL);
	debugfs_create_file("points", 0400, folder, NULL, &race_points_fops);
	for (i = 0; i < RACE_STOPS; i++) {
		scnprintf(name, sizeof(name), "stop%d", i);
		debugfs_create_file(name, 0600, folder, &stops[i], &stop_fops);
	}
	return 0;
}

static void __exit race_exit(void)
{
	debugfs_remove(folder);
	race_points_exit();
	/* Who gave back the module's last reference may still be in the stub. */
	synchronize_rcu_tasks();
	msleep(50);
}

module_init(race_init);
module_exit(race_exit);

MODULE_DESCRIPTION("Stops tasks inside ib_umad, for tests");
MODULE_LICENSE("Dual BSD/GPL");
