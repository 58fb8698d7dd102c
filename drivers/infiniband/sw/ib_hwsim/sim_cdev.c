// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * /dev/ib_hwsim: the system calls of a program at the far end of a port; see
 * <rdma/ib_hwsim.h>.
 */
#include "sim_cdev.h"

#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "sim.h"
#include "sim_bus.h"
#include "sim_packet.h"
#include "sim_pma.h"
#include "sim_raw.h"
#include "sim_sma.h"
#include "sim_wire.h"

#define SIM_RAW_HEAD	IB_HWSIM_FRAME_LEN(0)

static void packet_to_frame(struct ib_hwsim_frame *frame,
			    const struct sim_packet *packet)
{
	frame->len = packet->len;
	frame->flags = packet->flags;
	frame->slid = packet->slid;
	frame->dlid = packet->dlid;
	frame->src_qp = packet->src_qp;
	frame->dest_qp = packet->dest_qp;
	frame->qkey = packet->qkey;
	frame->pkey = packet->pkey;
	frame->sl = packet->sl;
	frame->reserved = 0;
	memcpy(frame->grh, packet->grh, sizeof(frame->grh));
	memcpy(frame->mad, packet->mad, packet->len);
}

static struct sim_packet *frame_to_packet(const struct ib_hwsim_frame *frame)
{
	struct sim_packet *packet = sim_packet_alloc(GFP_KERNEL, frame->len);

	if (!packet)
		return NULL;
	packet->flags = frame->flags;
	packet->slid = frame->slid;
	packet->dlid = frame->dlid;
	packet->src_qp = frame->src_qp;
	packet->dest_qp = frame->dest_qp;
	packet->qkey = frame->qkey;
	packet->pkey = frame->pkey;
	packet->sl = frame->sl;
	memcpy(packet->grh, frame->grh, sizeof(packet->grh));
	memcpy(packet->mad, frame->mad, packet->len);
	return packet;
}

static ssize_t raw_read(struct file *filp, char __user *buf, size_t count,
			loff_t *pos)
{
	struct sim_raw *raw = filp->private_data;
	struct ib_hwsim_frame *frame;
	struct sim_packet *packet;
	ssize_t ret;

	if (count < SIM_RAW_HEAD)
		return -EINVAL;
	frame = kmalloc(sizeof(*frame), GFP_KERNEL);
	if (!frame)
		return -ENOMEM;
	packet = sim_raw_wait(raw, count - SIM_RAW_HEAD,
			      filp->f_flags & O_NONBLOCK);
	ret = packet ? PTR_ERR_OR_ZERO(packet) : -ENODEV;
	if (ret)
		goto out_free;
	packet_to_frame(frame, packet);
	ret = IB_HWSIM_FRAME_LEN(packet->len);
	sim_packet_free(packet);
	if (copy_to_user(buf, frame, ret))
		ret = -EFAULT;
out_free:
	kfree(frame);
	return ret;
}

static bool is_valid(const struct ib_hwsim_frame *frame, size_t count)
{
	return frame->len && count == SIM_RAW_HEAD + frame->len &&
	       !frame->reserved &&
	       !(frame->flags & ~(IB_HWSIM_GRH | IB_HWSIM_TO_SMA));
}

static struct sim_packet *packet_from_user(const char __user *buf, size_t count)
{
	struct ib_hwsim_frame *frame;
	struct sim_packet *packet;

	if (count < SIM_RAW_HEAD || count > sizeof(*frame))
		return ERR_PTR(-EINVAL);
	frame = memdup_user(buf, count);
	if (IS_ERR(frame))
		return ERR_CAST(frame);
	if (is_valid(frame, count))
		packet = frame_to_packet(frame) ?: ERR_PTR(-ENOMEM);
	else
		packet = ERR_PTR(-EINVAL);
	kfree(frame);
	return packet;
}

/* Turn a request into the response of an agent; false if there is none. */
static bool answer(struct sim_port *port, struct sim_packet *packet)
{
	struct sim_node *node = &port->sim->node;
	union {
		struct ib_mad mad;
		struct ib_smp smp;
	} out;
	struct ib_mad *in = (struct ib_mad *)packet->mad;
	bool answered;

	if (packet->len != SIM_MAD_LEN)
		return false;
	if (in->mad_hdr.mgmt_class == IB_MGMT_CLASS_PERF_MGMT)
		answered = sim_pma_answer(port, in, &out.mad);
	else
		answered = sim_sma_answer(node, port->num ?: 1,
					  (struct ib_smp *)in, &out.smp);
	if (!answered)
		return false;
	memcpy(packet->mad, &out, sizeof(out));
	swap(packet->slid, packet->dlid);
	swap(packet->src_qp, packet->dest_qp);
	packet->flags = IB_HWSIM_FROM_SMA;
	sim_count(port, SIM_SMA_ANSWERED);
	return true;
}

/* The packet passes to this function. */
static void receive(struct sim_port *port, struct sim_packet *packet)
{
	packet->device = port->sim->config.id;
	packet->port = port->num;
	if (!(packet->flags & IB_HWSIM_TO_SMA))
		sim_wire_write(port, packet);
	else if (!answer(port, packet) || !sim_raw_deliver(port, packet))
		sim_packet_free(packet);
}

static ssize_t raw_write(struct file *filp, const char __user *buf,
			 size_t count, loff_t *pos)
{
	struct sim_packet *packet;
	int ret;

	/* Holds no lock: a page fault may take any time. */
	packet = packet_from_user(buf, count);
	if (IS_ERR(packet))
		return PTR_ERR(packet);
	ret = sim_raw_with_port(filp->private_data, receive, packet);
	if (ret)
		sim_packet_free(packet);
	return ret ?: count;
}

static __poll_t raw_poll(struct file *filp, struct poll_table_struct *table)
{
	struct sim_raw *raw = filp->private_data;
	__poll_t mask = EPOLLOUT | EPOLLWRNORM;

	poll_wait(filp, &raw->wait, table);
	if (sim_raw_readable(raw))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(raw->dead))
		mask |= EPOLLHUP;
	return mask;
}

static int attach(struct sim_port *port, void *context)
{
	return sim_raw_attach(context, port);
}

static long raw_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct ib_hwsim_attach which;

	if (cmd != IB_HWSIM_ATTACH)
		return -ENOTTY;
	if (copy_from_user(&which, (void __user *)arg, sizeof(which)))
		return -EFAULT;
	return sim_with_port(which.device, which.port, attach,
			     filp->private_data);
}

static int raw_open(struct inode *inode, struct file *filp)
{
	filp->private_data = sim_raw_new();
	if (!filp->private_data)
		return -ENOMEM;
	return nonseekable_open(inode, filp);
}

static int raw_release(struct inode *inode, struct file *filp)
{
	sim_raw_free(filp->private_data);
	return 0;
}

static const struct file_operations raw_fops = {
	.owner = THIS_MODULE,
	.open = raw_open,
	.release = raw_release,
	.read = raw_read,
	.write = raw_write,
	.poll = raw_poll,
	.unlocked_ioctl = raw_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice raw_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ib_hwsim",
	.fops = &raw_fops,
	.mode = 0600,
};

/**
 * sim_cdev_init() - register /dev/ib_hwsim
 *
 * Context: process.
 * Return: 0 or an errno.
 */
int sim_cdev_init(void)
{
	return misc_register(&raw_misc);
}

/**
 * sim_cdev_exit() - remove /dev/ib_hwsim, which is not open
 *
 * Context: process.
 */
void sim_cdev_exit(void)
{
	misc_deregister(&raw_misc);
}
