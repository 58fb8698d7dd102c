// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The files of a medium in its port's directory in debugfs, or, for the direction "in",
 * in the directory "in" there: rules, random and seed can be written and read, medium
 * has the counters.
 */
#include "sim_medium_debugfs.h"

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kstrtox.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "sim_medium.h"

#define WRITE_MAX	65536

static const char * const count_names[SIM_MEDIUM_COUNTS] = {
	[SIM_MEDIUM_SENT] = "sent",
	[SIM_MEDIUM_DELIVERED] = "delivered",
	[SIM_MEDIUM_DROPPED] = "dropped",
	[SIM_MEDIUM_DUPLICATED] = "duplicated",
	[SIM_MEDIUM_DELAYED] = "delayed",
	[SIM_MEDIUM_REORDERED] = "reordered",
	[SIM_MEDIUM_CORRUPTED] = "corrupted",
	[SIM_MEDIUM_MUTATED] = "mutated",
	[SIM_MEDIUM_OVERFLOW] = "overflow",
	[SIM_MEDIUM_NO_MEMORY] = "no_memory",
};

static int rules_line(struct sim_medium *medium, char *line)
{
	line = strim(line);
	if (!*line || *line == '#')
		return 0;
	if (!strcmp(line, "clear")) {
		sim_rules_clear(medium->rules);
		return 0;
	}
	return sim_rules_add(medium->rules, line);
}

/* Apply each line, up to the first one that fails. */
static int rules_store(struct sim_medium *medium, char *text)
{
	char *line;
	int ret = 0;

	while (!ret && (line = strsep(&text, "\n")))
		ret = rules_line(medium, line);
	return ret;
}

static int rules_show(struct seq_file *s, void *unused)
{
	struct sim_medium *medium = s->private;

	return sim_rules_show(medium->rules, s);
}

static int random_store(struct sim_medium *medium, char *text)
{
	return sim_random_set(&medium->random, text);
}

static int random_show(struct seq_file *s, void *unused)
{
	struct sim_medium *medium = s->private;

	return sim_random_show(&medium->random, s);
}

static int seed_store(struct sim_medium *medium, char *text)
{
	u32 seed;
	int ret;

	ret = kstrtou32(strim(text), 0, &seed);
	if (!ret)
		sim_random_reseed(&medium->random, seed);
	return ret;
}

static int seed_show(struct seq_file *s, void *unused)
{
	struct sim_medium *medium = s->private;

	seq_printf(s, "%u\n", sim_random_seed(&medium->random));
	return 0;
}

static int medium_show(struct seq_file *s, void *unused)
{
	struct sim_medium *medium = s->private;
	int i;

	for (i = 0; i < SIM_MEDIUM_COUNTS; i++)
		seq_printf(s, "%s %lld\n", count_names[i],
			   atomic64_read(&medium->counts[i]));
	seq_printf(s, "waiting %d\n", atomic_read(&medium->inside));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(medium);

static ssize_t store(struct file *file, const char __user *buf, size_t len,
		     int (*what)(struct sim_medium *medium, char *text))
{
	struct seq_file *s = file->private_data;
	char *text;
	int ret;

	if (len > WRITE_MAX)
		return -E2BIG;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = what(s->private, text);
	kfree(text);
	return ret ?: len;
}

#define MEDIUM_FILE(name)						\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return single_open(file, name##_show, inode->i_private);	\
}									\
									\
static ssize_t name##_write(struct file *file, const char __user *buf,	\
			    size_t len, loff_t *pos)			\
{									\
	return store(file, buf, len, name##_store);			\
}									\
									\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = name##_open,						\
	.read = seq_read,						\
	.write = name##_write,						\
	.llseek = seq_lseek,						\
	.release = single_release,					\
}

MEDIUM_FILE(rules);
MEDIUM_FILE(random);
MEDIUM_FILE(seed);

/**
 * sim_medium_debugfs() - create the files of a medium
 * @medium: the medium
 * @dir: the port's directory; the caller removes it, and all that is in it, before
 *	sim_medium_exit()
 *
 * Context: process.
 */
void sim_medium_debugfs(struct sim_medium *medium, struct dentry *dir)
{
	if (IS_ERR_OR_NULL(dir))
		return;
	if (medium->direction == SIM_IN)
		dir = debugfs_create_dir("in", dir);
	debugfs_create_file("rules", 0600, dir, medium, &rules_fops);
	debugfs_create_file("random", 0600, dir, medium, &random_fops);
	debugfs_create_file("seed", 0600, dir, medium, &seed_fops);
	debugfs_create_file("medium", 0400, dir, medium, &medium_fops);
}
