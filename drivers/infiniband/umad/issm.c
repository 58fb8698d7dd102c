// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * issmN: the port's IsSM capability bit is set while the file is open, and
 * one file only may be.
 */
#include "issm.h"

#include <linux/fs.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <rdma/ib_mad.h>
#include "device.h"

static int set_is_sm(struct umad_port *port, bool set)
{
	struct ib_port_modify props = {
		.set_port_cap_mask = set ? IB_PORT_SM : 0,
		.clr_port_cap_mask = set ? 0 : IB_PORT_SM,
	};

	return ib_modify_port(port->ib_dev, port->port_num, 0, &props);
}

/* Ends the wait of an opener: 0 with the slot taken, or an errno. */
static int try_take(struct umad_port *port)
{
	if (test_bit(UMAD_SM_DEAD, &port->sm_flags))
		return -ENODEV;
	return test_and_set_bit(UMAD_SM_BUSY, &port->sm_flags) ? -EAGAIN : 0;
}

static void give_back(struct umad_port *port)
{
	clear_bit_unlock(UMAD_SM_BUSY, &port->sm_flags);
	/* Pairs with the barrier in the waiter's set_current_state(). */
	smp_mb__after_atomic();
	wake_up_interruptible(&port->sm_wait);
}

static int take(struct umad_port *port, bool nonblock)
{
	int taken;
	int ret;

	if (nonblock)
		return try_take(port);
	ret = wait_event_interruptible(port->sm_wait,
				       (taken = try_take(port)) != -EAGAIN);
	return ret ?: taken;
}

static int issm_open(struct inode *inode, struct file *filp)
{
	struct umad_port *port = container_of(inode->i_cdev, struct umad_port,
					      sm_cdev);
	int ret;

	ret = take(port, filp->f_flags & O_NONBLOCK);
	if (ret)
		return ret;

	ret = -ENODEV;
	if (!umad_gate_enter(&port->gate))
		goto err_give_back;
	ret = -EPERM;
	if (rdma_dev_access_netns(port->ib_dev, current->nsproxy->net_ns))
		ret = set_is_sm(port, true);
	umad_gate_leave(&port->gate);
	if (ret)
		goto err_give_back;

	umad_port_get(port);
	filp->private_data = port;
	return nonseekable_open(inode, filp);

err_give_back:
	give_back(port);
	return ret;
}

static int issm_release(struct inode *inode, struct file *filp)
{
	struct umad_port *port = filp->private_data;
	int ret = 0;

	if (umad_gate_enter(&port->gate)) {
		ret = set_is_sm(port, false);
		umad_gate_leave(&port->gate);
	}
	give_back(port);
	umad_port_put(port);
	return ret;
}

const struct file_operations umad_issm_fops = {
	.owner = THIS_MODULE,
	.open = issm_open,
	.release = issm_release,
};

/**
 * umad_issm_kill() - end the wait of all openers, the device goes away
 * @port: whose device it is
 *
 * Context: process.
 */
void umad_issm_kill(struct umad_port *port)
{
	set_bit(UMAD_SM_DEAD, &port->sm_flags);
	wake_up_all(&port->sm_wait);
}
