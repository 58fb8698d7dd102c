// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * /sys/kernel/debug/ib_hwsim/hwsimN/ and its portP/: show and change a device or a
 * port. README.rst lists the files. sim_medium_debugfs.c, sim_fail.c and
 * sim_capture_debugfs.c make those of faults and of the capture.
 *
 * A file is removed before the object that it shows; the removal waits for its users.
 */
#include "sim_debugfs.h"

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "sim.h"
#include "sim_capture_debugfs.h"
#include "sim_link.h"
#include "sim_port.h"

#define WRITE_MAX	4096

static struct dentry *root;
static struct sim_fail fail_template;

/**
 * sim_fail_template() - get the initial state of failing verbs of new devices
 *
 * Context: any.
 * Return: the state; always the same.
 */
struct sim_fail *sim_fail_template(void)
{
	return &fail_template;
}

/* Numbers of PortInfo: NAME_read() and NAME_write(). */

static int info_get(struct sim_port *port, u64 *value,
		    u64 (*get)(const struct ib_port_info *info))
{
	unsigned long flags;

	spin_lock_irqsave(&port->attrs.lock, flags);
	*value = get(&port->attrs.info);
	spin_unlock_irqrestore(&port->attrs.lock, flags);
	return 0;
}

static int info_set(struct sim_port *port, u64 value, u64 max,
		    void (*set)(struct ib_port_info *info, u64 value))
{
	struct sim_change change = {};
	struct ib_port_info old;
	unsigned long flags;

	if (value > max)
		return -ERANGE;
	spin_lock_irqsave(&port->attrs.lock, flags);
	old = port->attrs.info;
	set(&port->attrs.info, value);
	sim_info_compare(&old, &port->attrs.info, &change);
	spin_unlock_irqrestore(&port->attrs.lock, flags);
	sim_port_changed(port, &change);
	return 0;
}

#define INFO_FILE(name, max, format, read, write)			\
static u64 name ## _read(const struct ib_port_info *info)		\
{									\
	return read;							\
}									\
static void name ## _write(struct ib_port_info *info, u64 value)	\
{									\
	write;								\
}									\
static int name ## _get(void *data, u64 *value)				\
{									\
	return info_get(data, value, name ## _read);			\
}									\
static int name ## _set(void *data, u64 value)				\
{									\
	return info_set(data, value, max, name ## _write);		\
}									\
DEFINE_DEBUGFS_ATTRIBUTE(name ## _fops, name ## _get, name ## _set, format)

INFO_FILE(lid, SIM_LID_MULTICAST - 1, "%llu\n", be16_to_cpu(info->lid),
	  info->lid = cpu_to_be16(value));
INFO_FILE(lmc, 7, "%llu\n", sim_info_lmc(info), sim_info_set_lmc(info, value));
INFO_FILE(sm_lid, U16_MAX, "%llu\n", be16_to_cpu(info->sm_lid),
	  info->sm_lid = cpu_to_be16(value));
INFO_FILE(sm_sl, 15, "%llu\n", info->neighbormtu_mastersmsl & 0xf,
	  info->neighbormtu_mastersmsl =
		(info->neighbormtu_mastersmsl & 0xf0) | value);
INFO_FILE(state, IB_PORT_ACTIVE, "%llu\n", sim_info_state(info),
	  sim_info_set_state(info, value));
INFO_FILE(phys_state, 7, "%llu\n", info->portphysstate_linkdown >> 4,
	  sim_info_set_phys(info, value));
INFO_FILE(prefix, U64_MAX, "0x%016llx\n", be64_to_cpu(info->gid_prefix),
	  info->gid_prefix = cpu_to_be64(value));
INFO_FILE(cap_mask, U32_MAX, "0x%08llx\n", be32_to_cpu(info->cap_mask),
	  info->cap_mask = cpu_to_be32(value));

static int hold_get(void *data, u64 *value)
{
	struct sim_port *port = data;

	*value = READ_ONCE(port->hold);
	return 0;
}

static int hold_set(void *data, u64 value)
{
	sim_link_set_hold(data, value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(hold_fops, hold_get, hold_set, "%llu\n");

static int release_get(void *data, u64 *value)
{
	*value = sim_link_held(data);
	return 0;
}

static int release_set(void *data, u64 value)
{
	sim_link_release(data, min_t(u64, value, U32_MAX));
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(release_fops, release_get, release_set, "%llu\n");

static int event_set(void *data, u64 value)
{
	if (value > IB_EVENT_WQ_FATAL)
		return -ERANGE;
	sim_port_event(data, value);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(event_fops, NULL, event_set, "%llu\n");

static int counters_show(struct seq_file *seq, void *unused)
{
	sim_port_show_counts(seq->private, seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int pkeys_show(struct seq_file *seq, void *unused)
{
	struct sim_port *port = seq->private;
	u16 pkey;
	u32 i;

	for (i = 0; !sim_attrs_pkey(&port->attrs, i, &pkey); i++)
		seq_printf(seq, "%u 0x%04x\n", i, pkey);
	return 0;
}

static int pkeys_open(struct inode *inode, struct file *filp)
{
	return single_open(filp, pkeys_show, inode->i_private);
}

/* Lines as they are read: "INDEX PKEY". All of them are set, or none. */
static int parse_pkeys(char *text, u16 *pkeys, u32 n_pkeys)
{
	unsigned int index, pkey;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		if (sscanf(line, "%u %x", &index, &pkey) != 2 ||
		    pkey > U16_MAX)
			return -EINVAL;
		if (index >= n_pkeys)
			return -ERANGE;
		pkeys[index] = pkey;
	}
	return 0;
}

static int write_pkeys(struct sim_attrs *attrs, char *text,
		       struct sim_change *change)
{
	u16 pkeys[SIM_MAX_PKEYS];
	size_t size = attrs->n_pkeys * sizeof(*pkeys);
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&attrs->lock, flags);
	memcpy(pkeys, attrs->pkeys, size);
	ret = parse_pkeys(text, pkeys, attrs->n_pkeys);
	if (!ret) {
		change->pkeys = memcmp(attrs->pkeys, pkeys, size);
		memcpy(attrs->pkeys, pkeys, size);
	}
	spin_unlock_irqrestore(&attrs->lock, flags);
	return ret;
}

static ssize_t pkeys_write(struct file *filp, const char __user *buf,
			   size_t count, loff_t *pos)
{
	struct seq_file *seq = filp->private_data;
	struct sim_port *port = seq->private;
	struct sim_change change = {};
	char *text;
	int ret;

	if (count > WRITE_MAX)
		return -E2BIG;
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	ret = write_pkeys(&port->attrs, text, &change);
	kfree(text);
	if (ret)
		return ret;
	sim_port_changed(port, &change);
	return count;
}

static const struct file_operations pkeys_fops = {
	.owner = THIS_MODULE,
	.open = pkeys_open,
	.read = seq_read,
	.write = pkeys_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static const struct {
	const char *name;
	umode_t mode;
	const struct file_operations *fops;
} port_files[] = {
	{ "lid", 0600, &lid_fops },
	{ "lmc", 0600, &lmc_fops },
	{ "sm_lid", 0600, &sm_lid_fops },
	{ "sm_sl", 0600, &sm_sl_fops },
	{ "state", 0600, &state_fops },
	{ "phys_state", 0600, &phys_state_fops },
	{ "prefix", 0600, &prefix_fops },
	{ "cap_mask", 0600, &cap_mask_fops },
	{ "pkeys", 0600, &pkeys_fops },
	{ "counters", 0400, &counters_fops },
	{ "hold_completions", 0600, &hold_fops },
	{ "release", 0600, &release_fops },
	{ "event", 0200, &event_fops },
};

/**
 * sim_debugfs_port() - create the directory of a port
 * @port: the port, whose device has a directory
 *
 * Context: process.
 */
void sim_debugfs_port(struct sim_port *port)
{
	char name[16];
	int i;

	snprintf(name, sizeof(name), "port%u", port->num);
	port->dir = debugfs_create_dir(name, port->sim->dir);
	for (i = 0; i < ARRAY_SIZE(port_files); i++)
		debugfs_create_file(port_files[i].name, port_files[i].mode,
				    port->dir, port, port_files[i].fops);
}

/**
 * sim_debugfs_device() - create the directory of a device
 * @sim: the device
 *
 * Context: process.
 */
void sim_debugfs_device(struct sim_dev *sim)
{
	char name[IB_DEVICE_NAME_MAX];

	snprintf(name, sizeof(name), "hwsim%u", sim->config.id);
	sim->dir = debugfs_create_dir(name, root);
	debugfs_create_u32("ah_ms", 0600, sim->dir, &sim->ah_ms);
	debugfs_create_atomic_t("ahs", 0400, sim->dir, &sim->n_ah);
	sim_fail_debugfs(&sim->fail, sim->dir);
}

/**
 * sim_debugfs_init() - create the directory of the module
 *
 * Context: process.
 * Return: 0 or an errno.
 */
int sim_debugfs_init(void)
{
	int ret;

	root = debugfs_create_dir("ib_hwsim", NULL);
	sim_fail_init(&fail_template, NULL);
	sim_fail_debugfs(&fail_template, root);
	ret = sim_capture_init(root);
	if (ret)
		debugfs_remove_recursive(root);
	return ret;
}

/**
 * sim_debugfs_exit() - remove the directory of the module, the only one left
 *
 * Context: process.
 */
void sim_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
	sim_capture_exit();
}
