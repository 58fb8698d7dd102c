// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * issmN: the port's IsSM capability bit is set while the file is open, and
 * one file only may be.
 */
#include "issm.h"

#include <linux/fs.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <rdma/ib_mad.h>
#include "port.h"

static int set_is_sm(struct umad_port *port, bool set)
{
	struct ib_port_modify props = {
		.set_port_cap_mask = set ? IB_PORT_SM : 0,
		.clr_port_cap_mask = set ? 0 : IB_PORT_SM,
	};

	return ib_modify_port(port->ib_dev, port->port_num, 0, &props);
}

/*
 * ABI: who waits is served in the order of coming, and not overtaken: a close
 * hands over to the first of them. So it is a semaphore, as in-tree.
 */
static int issm_acquire(struct umad_port *port, bool nonblock)
{
	if (READ_ONCE(port->sm_shutdown))
		return -ENODEV;
	if (nonblock && down_trylock(&port->sm_sem))
		return -EAGAIN;
	if (!nonblock && down_interruptible(&port->sm_sem))
		return -ERESTARTSYS;
	if (!READ_ONCE(port->sm_shutdown))
		return 0;
	/* umad_issm_shutdown() has woken us: now the next. */
	up(&port->sm_sem);
	return -ENODEV;
}

static int issm_open(struct inode *inode, struct file *filp)
{
	struct umad_port *port = container_of(inode->i_cdev, struct umad_port,
					      sm_cdev);
	int ret;

	ret = issm_acquire(port, filp->f_flags & O_NONBLOCK);
	if (ret)
		return ret;

	ret = -ENODEV;
	if (!umad_active_ref_tryget(&port->active_ref))
		goto err_up;
	ret = -EPERM;
	if (rdma_dev_access_netns(port->ib_dev, current->nsproxy->net_ns))
		ret = set_is_sm(port, true);
	port->is_sm = !ret;
	umad_active_ref_put(&port->active_ref);
	if (ret)
		goto err_up;

	umad_port_get(port);
	filp->private_data = port;
	return nonseekable_open(inode, filp);

err_up:
	up(&port->sm_sem);
	return ret;
}

static int issm_release(struct inode *inode, struct file *filp)
{
	struct umad_port *port = filp->private_data;
	int ret = 0;

	if (umad_active_ref_tryget(&port->active_ref)) {
		ret = set_is_sm(port, false);
		port->is_sm = false;
		umad_active_ref_put(&port->active_ref);
	}
	up(&port->sm_sem);
	umad_port_put(port);
	return ret;
}

const struct file_operations umad_issm_fops = {
	.owner = THIS_MODULE,
	.open = issm_open,
	.release = issm_release,
};

/**
 * umad_issm_clear() - the port is no subnet manager's any more
 * @port: whose active references are gone for good
 *
 * The device may stay, and only leave the network namespace or lose this module: then
 * nobody else would clear the bit, as close() gets no active reference.
 * Context: process; sleeps.
 */
void umad_issm_clear(struct umad_port *port)
{
	if (port->is_sm)
		set_is_sm(port, false);
	port->is_sm = false;
}

/**
 * umad_issm_shutdown() - end the wait of all openers, the device goes away
 * @port: whose device it is; called once
 *
 * Context: process; does not sleep.
 */
void umad_issm_shutdown(struct umad_port *port)
{
	WRITE_ONCE(port->sm_shutdown, true);
	/*
	 * Wakes the first, who wakes the next. Whoever gets what this gives sees
	 * the flag, by the semaphore's own lock, and holds no issmN: that there
	 * are two to be had while a holder is left does no harm.
	 */
	up(&port->sm_sem);
}
