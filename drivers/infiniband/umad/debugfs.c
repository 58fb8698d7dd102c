// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * /sys/kernel/debug/ib_umad/umadN/counters: lines of name and value.
 * /sys/kernel/debug/ib_umad/umadN/files: who has the port open, and what
 * they have outstanding and unread.
 */
#include "debugfs.h"

#include <linux/build_bug.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include "file.h"
#include "port.h"

/* A counter without a unit or a meaning does not compile. */
static const char * const stat_names[UMAD_STAT_COUNT] = {
#define UMAD_COUNTER(stat, name, unit, meaning) \
	[UMAD_STAT_##stat] = &#name[BUILD_BUG_ON_ZERO(sizeof(unit) < 2 || \
						      sizeof(meaning) < 2)],
#include "counters.h"
#undef UMAD_COUNTER
};

static struct dentry *debugfs_root;

/*
 * Removal of the device must not wait for a reader's page faults. With the
 * proxies of debugfs it would, for as long as read() copies to user space; so
 * there are none, and an open file keeps the port, by a reference.
 */
static int port_open(struct inode *inode, struct file *filp,
		     int (*show)(struct seq_file *s, void *unused))
{
	struct umad_port *port = inode->i_private;
	int ret;

	/* debugfs keeps it until then: removal waits for open(). */
	umad_port_get(port);
	ret = single_open(filp, show, port);
	if (ret)
		umad_port_put(port);
	return ret;
}

static int port_release(struct inode *inode, struct file *filp,
			int (*release)(struct inode *inode, struct file *filp))
{
	struct seq_file *s = filp->private_data;
	struct umad_port *port = s->private;
	int ret = release(inode, filp);

	umad_port_put(port);
	return ret;
}

static int counters_show(struct seq_file *s, void *unused)
{
	struct umad_port *port = s->private;
	int i;

	for (i = 0; i < UMAD_STAT_COUNT; i++)
		seq_printf(s, "%s %lu\n", stat_names[i],
			   umad_stat_read(&port->stats, i));
	return 0;
}

static int counters_open(struct inode *inode, struct file *filp)
{
	return port_open(inode, filp, counters_show);
}

static int counters_release(struct inode *inode, struct file *filp)
{
	return port_release(inode, filp, single_release);
}

static const struct file_operations counters_fops = {
	.owner = THIS_MODULE,
	.open = counters_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = counters_release,
};

/*
 * Some files for each read(), as open() and close() of others wait meanwhile, and nobody else
 * has the processor. One that closes between two reads can hide the next.
 */
static void *files_start(struct seq_file *s, loff_t *pos)
{
	struct umad_port *port = s->private;

	mutex_lock(&port->files_lock);
	return seq_list_start(&port->files, *pos);
}

static void *files_next(struct seq_file *s, void *v, loff_t *pos)
{
	struct umad_port *port = s->private;

	return seq_list_next(v, &port->files, pos);
}

static void files_stop(struct seq_file *s, void *v)
{
	struct umad_port *port = s->private;

	mutex_unlock(&port->files_lock);
	cond_resched();
}

static int files_show(struct seq_file *s, void *v)
{
	umad_file_show(list_entry(v, struct umad_file, port_node), s);
	return 0;
}

static const struct seq_operations files_seq = {
	.start = files_start,
	.next = files_next,
	.stop = files_stop,
	.show = files_show,
};

static int files_open(struct inode *inode, struct file *filp)
{
	struct umad_port *port = inode->i_private;
	struct seq_file *s;
	int ret = seq_open(filp, &files_seq);

	if (ret)
		return ret;
	s = filp->private_data;
	s->private = port;
	umad_port_get(port);
	/* At an offset seq_file would look for it through all files at a stretch. */
	return nonseekable_open(inode, filp);
}

static int files_release(struct inode *inode, struct file *filp)
{
	return port_release(inode, filp, seq_release);
}

static const struct file_operations files_fops = {
	.owner = THIS_MODULE,
	.open = files_open,
	.read = seq_read,
	.release = files_release,
};

/**
 * umad_debugfs_init() - make the module's debugfs directory
 *
 * Context: process. Without debugfs, nothing is made and nothing fails.
 */
void umad_debugfs_init(void)
{
	debugfs_root = debugfs_create_dir("ib_umad", NULL);
}

/**
 * umad_debugfs_exit() - remove the module's debugfs directory
 *
 * Context: process.
 */
void umad_debugfs_exit(void)
{
	debugfs_remove_recursive(debugfs_root);
}

/**
 * umad_debugfs_add_port() - show a port
 * @port: that has its name
 *
 * Context: process.
 */
void umad_debugfs_add_port(struct umad_port *port)
{
	port->debugfs = debugfs_create_dir(dev_name(&port->dev), debugfs_root);
	debugfs_create_file_unsafe("counters", 0444, port->debugfs, port,
				   &counters_fops);
	debugfs_create_file_unsafe("files", 0400, port->debugfs, port,
				   &files_fops);
}

/**
 * umad_debugfs_remove_port() - stop showing a port
 * @port: that was shown; who has a file of it open keeps a reference
 *
 * Context: process; sleeps for who opens a file, or reads the directory.
 */
void umad_debugfs_remove_port(struct umad_port *port)
{
	debugfs_remove_recursive(port->debugfs);
}
