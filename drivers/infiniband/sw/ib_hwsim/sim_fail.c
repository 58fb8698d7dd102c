// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which calls of a verb fail, and with which error: a file for each verb in the device's
 * directory "fail" in debugfs, and the attributes of the kernel's fault injection, if it
 * has that, in the directory "attr" there.
 */
#include "sim_fail.h"

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/math64.h>
#include <linux/ratelimit.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "sim_export.h"

#define WRITE_MAX	256

/**
 * struct verb_spec - properties of a verb
 * @name: of its file
 * @error: -errno that it fails with by default
 */
struct verb_spec {
	const char *name;
	int error;
};

static const struct verb_spec verbs[SIM_VERBS] = {
	[SIM_VERB_REG] = { "reg", -ENOMEM },
	[SIM_VERB_QUERY_DEVICE] = { "query_device", -EIO },
	[SIM_VERB_QUERY_PORT] = { "query_port", -EIO },
	[SIM_VERB_QUERY_PKEY] = { "query_pkey", -EIO },
	[SIM_VERB_QUERY_GID] = { "query_gid", -EIO },
	[SIM_VERB_MODIFY_PORT] = { "modify_port", -EIO },
	[SIM_VERB_ALLOC_PD] = { "alloc_pd", -ENOMEM },
	[SIM_VERB_CREATE_CQ] = { "create_cq", -ENOMEM },
	[SIM_VERB_CREATE_QP] = { "create_qp", -ENOMEM },
	[SIM_VERB_MODIFY_QP] = { "modify_qp", -EINVAL },
	[SIM_VERB_CREATE_AH] = { "create_ah", -ENOMEM },
	[SIM_VERB_POST_SEND] = { "post_send", -ENOMEM },
	[SIM_VERB_POST_RECV] = { "post_recv", -ENOMEM },
	[SIM_VERB_REQ_NOTIFY] = { "req_notify", -EIO },
	[SIM_VERB_PROCESS_MAD] = { "process_mad", -EIO },
	[SIM_VERB_SEND_WC] = { "send_wc", -EIO },
};

struct errno_name {
	const char *name;
	int error;
};

static const struct errno_name errno_names[] = {
	{ "EPERM", -EPERM }, { "ENOENT", -ENOENT }, { "EINTR", -EINTR },
	{ "EIO", -EIO }, { "EAGAIN", -EAGAIN }, { "ENOMEM", -ENOMEM },
	{ "EACCES", -EACCES }, { "EFAULT", -EFAULT }, { "EBUSY", -EBUSY },
	{ "ENODEV", -ENODEV }, { "EINVAL", -EINVAL }, { "ENOSPC", -ENOSPC },
	{ "EOPNOTSUPP", -EOPNOTSUPP }, { "ETIMEDOUT", -ETIMEDOUT },
	{ "EHOSTUNREACH", -EHOSTUNREACH }, { "EADDRNOTAVAIL", -EADDRNOTAVAIL },
};

/* "ENOMEM", "12" or "-12". */
static int parse_error(const char *text, int *error)
{
	int value;
	int i;

	for (i = 0; i < ARRAY_SIZE(errno_names); i++) {
		if (!strcmp(errno_names[i].name, text)) {
			*error = errno_names[i].error;
			return 0;
		}
	}
	if (kstrtoint(text, 10, &value) || !value || abs(value) > MAX_ERRNO)
		return -EINVAL;
	*error = -abs(value);
	return 0;
}

static const char *next_word(char **rest)
{
	char *word;

	while ((word = strsep(rest, " \t\n")))
		if (*word)
			return word;
	return NULL;
}

/* Set mode, n and error of @verb only. */
static int parse(struct sim_fail_verb *verb, char *text)
{
	const char *word = next_word(&text);

	verb->n = 0;
	if (!word)
		return -EINVAL;
	if (!strcmp(word, "off"))
		verb->mode = SIM_FAIL_OFF;
	else if (!strcmp(word, "all"))
		verb->mode = SIM_FAIL_ALL;
	else if (!strcmp(word, "nth"))
		verb->mode = SIM_FAIL_NTH;
	else if (!strcmp(word, "every"))
		verb->mode = SIM_FAIL_EVERY;
	else
		return -EINVAL;

	word = next_word(&text);
	if (verb->mode == SIM_FAIL_NTH || verb->mode == SIM_FAIL_EVERY) {
		if (!word || kstrtou64(word, 0, &verb->n) || !verb->n)
			return -EINVAL;
		word = next_word(&text);
	}
	if (!word)
		return 0;
	if (verb->mode == SIM_FAIL_OFF || parse_error(word, &verb->error))
		return -EINVAL;
	return next_word(&text) ? -EINVAL : 0;
}

static bool is_due(const struct sim_fail_verb *verb)
{
	u64 rest;

	switch (verb->mode) {
	case SIM_FAIL_NTH:
		return verb->calls == verb->n;
	case SIM_FAIL_EVERY:
		div64_u64_rem(verb->calls, verb->n, &rest);
		return !rest;
	case SIM_FAIL_ALL:
		return true;
	default:
		return false;
	}
}

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
static void attr_init(struct sim_fail_verb *verb)
{
	static const DECLARE_FAULT_ATTR(attr);

	verb->attr = attr;
	/* Log one line for each, without the stack. */
	verb->attr.verbose = 1;
	/* The lock of the copy must be initialised: it is not static. */
	ratelimit_state_init(&verb->attr.ratelimit_state, 0,
			     DEFAULT_RATELIMIT_BURST);
}

static bool attr_hit(struct sim_fail_verb *verb)
{
	return should_fail(&verb->attr, 1);
}

/* The kernel's fault injection, in a directory "attr" beside the files. */
static void attr_debugfs(struct sim_fail *fail, struct dentry *dir)
{
	int i;

	dir = debugfs_create_dir("attr", dir);
	if (IS_ERR(dir))
		return;
	for (i = 0; i < SIM_VERBS; i++)
		fault_create_debugfs_attr(verbs[i].name, dir,
					  &fail->verb[i].attr);
}
#else
static void attr_init(struct sim_fail_verb *verb)
{
}

static bool attr_hit(struct sim_fail_verb *verb)
{
	return false;
}

static void attr_debugfs(struct sim_fail *fail, struct dentry *dir)
{
}
#endif

/**
 * sim_fail_init() - set up the failing verbs of a device
 * @fail: the failing verbs
 * @like: copied, without its counters; NULL: no verb fails
 *
 * Context: any.
 */
void sim_fail_init(struct sim_fail *fail, struct sim_fail *like)
{
	struct sim_fail_verb *verb;
	unsigned long flags;
	int i;

	memset(fail, 0, sizeof(*fail));
	spin_lock_init(&fail->lock);
	for (i = 0; i < SIM_VERBS; i++) {
		verb = &fail->verb[i];
		verb->fail = fail;
		verb->error = verbs[i].error;
		attr_init(verb);
		if (!like)
			continue;
		spin_lock_irqsave(&like->lock, flags);
		verb->mode = like->verb[i].mode;
		verb->n = like->verb[i].n;
		verb->error = like->verb[i].error;
		spin_unlock_irqrestore(&like->lock, flags);
	}
}
EXPORT_SYMBOL_IF_KUNIT(sim_fail_init);

/**
 * sim_fail_hit() - count a call, and decide whether it fails
 * @fail: of the device
 * @what: the verb that is called
 *
 * Context: any.
 * Return: 0, or the -errno to fail with.
 */
int sim_fail_hit(struct sim_fail *fail, enum sim_verb what)
{
	struct sim_fail_verb *verb = &fail->verb[what];
	unsigned long flags;
	int error = 0;
	bool by_attr;

	/* Without the lock: it logs, and walks the stack. */
	by_attr = attr_hit(verb);
	spin_lock_irqsave(&fail->lock, flags);
	verb->calls++;
	if (is_due(verb) || by_attr) {
		verb->hits++;
		error = verb->error;
	}
	spin_unlock_irqrestore(&fail->lock, flags);
	return error;
}
EXPORT_SYMBOL_IF_KUNIT(sim_fail_hit);

/**
 * sim_fail_set() - set which calls fail
 * @fail: of the device
 * @what: the verb
 * @text: as written to its file
 *
 * Context: process.
 * Return: 0; -EINVAL if the text is not valid; -ENOMEM.
 */
int sim_fail_set(struct sim_fail *fail, enum sim_verb what, const char *text)
{
	struct sim_fail_verb *verb = &fail->verb[what];
	struct sim_fail_verb new = { .error = verbs[what].error };
	unsigned long flags;
	char *words;
	int ret;

	words = kstrdup(text, GFP_KERNEL);
	if (!words)
		return -ENOMEM;
	ret = parse(&new, words);
	kfree(words);
	if (ret)
		return ret;
	spin_lock_irqsave(&fail->lock, flags);
	verb->mode = new.mode;
	verb->n = new.n;
	verb->error = new.error;
	verb->calls = 0;
	verb->hits = 0;
	spin_unlock_irqrestore(&fail->lock, flags);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sim_fail_set);

static void print_error(struct seq_file *s, int error)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(errno_names); i++) {
		if (errno_names[i].error == error) {
			seq_printf(s, " %s", errno_names[i].name);
			return;
		}
	}
	seq_printf(s, " %d", -error);
}

static int verb_show(struct seq_file *s, void *unused)
{
	struct sim_fail_verb *verb = s->private;
	unsigned long flags;

	spin_lock_irqsave(&verb->fail->lock, flags);
	switch (verb->mode) {
	case SIM_FAIL_OFF:
		seq_puts(s, "off");
		break;
	case SIM_FAIL_NTH:
		seq_printf(s, "nth %llu", verb->n);
		break;
	case SIM_FAIL_EVERY:
		seq_printf(s, "every %llu", verb->n);
		break;
	case SIM_FAIL_ALL:
		seq_puts(s, "all");
		break;
	}
	if (verb->mode != SIM_FAIL_OFF)
		print_error(s, verb->error);
	seq_printf(s, " calls=%llu hits=%llu\n", verb->calls, verb->hits);
	spin_unlock_irqrestore(&verb->fail->lock, flags);
	return 0;
}

static int verb_open(struct inode *inode, struct file *file)
{
	return single_open(file, verb_show, inode->i_private);
}

static ssize_t verb_write(struct file *file, const char __user *buf,
			  size_t len, loff_t *pos)
{
	struct seq_file *s = file->private_data;
	struct sim_fail_verb *verb = s->private;
	char *text;
	int ret;

	if (len > WRITE_MAX)
		return -E2BIG;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = sim_fail_set(verb->fail, verb - verb->fail->verb, text);
	kfree(text);
	return ret ?: len;
}

static const struct file_operations verb_fops = {
	.owner = THIS_MODULE,
	.open = verb_open,
	.read = seq_read,
	.write = verb_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/**
 * sim_fail_debugfs() - create the directory "fail" with its files
 * @fail: set up; the caller removes the files before it frees this
 * @dir: the parent directory, or NULL for none
 *
 * Context: process.
 */
void sim_fail_debugfs(struct sim_fail *fail, struct dentry *dir)
{
	struct dentry *fail_dir;
	int i;

	if (IS_ERR_OR_NULL(dir))
		return;
	fail_dir = debugfs_create_dir("fail", dir);
	for (i = 0; i < SIM_VERBS; i++)
		debugfs_create_file(verbs[i].name, 0600, fail_dir,
				    &fail->verb[i], &verb_fops);
	attr_debugfs(fail, fail_dir);
}
