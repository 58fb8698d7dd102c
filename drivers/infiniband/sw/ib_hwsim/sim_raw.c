// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * /dev/ib_hwsim: a program is the far end of a port; see ib_hwsim.h.
 *
 * Locks: sim_raw_sem is held for reading while something is done with a file's
 * port, and for writing to attach and detach: so a port that is being detached
 * is in use by no file. For who sends, port->far_lock keeps port->raw alive.
 * raw->lock protects the queue.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/poll.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "sim.h"
#include "sim_bus.h"
#include "sim_capture.h"

#define SIM_RAW_QUEUE	1024
#define SIM_RAW_HEAD	IB_HWSIM_FRAME_LEN(0)

/**
 * struct sim_raw - an open file
 * @port: what it is attached to; protected by sim_raw_sem
 * @lock: protects all below
 * @queue: packets to read
 * @count: how many
 * @dead: the port has gone away
 * @wait: for a packet, or @dead
 */
struct sim_raw {
	struct sim_port *port;
	spinlock_t lock;	/* a leaf, hard irqs off */
	struct list_head queue;
	u32 count;
	bool dead;
	wait_queue_head_t wait;
};

static DECLARE_RWSEM(sim_raw_sem);

static bool queue_packet(struct sim_raw *raw, struct sim_packet *packet)
{
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&raw->lock, flags);
	room = raw->count < SIM_RAW_QUEUE;
	if (room) {
		list_add_tail(&packet->node, &raw->queue);
		raw->count++;
	}
	spin_unlock_irqrestore(&raw->lock, flags);
	if (room)
		wake_up_interruptible(&raw->wait);
	return room;
}

/**
 * sim_raw_deliver() - give a packet to the program at the far end
 * @port: what sent it
 * @packet: the packet; passes to this function if it returns true
 *
 * Context: any.
 * Return: false if there is no such program.
 */
bool sim_raw_deliver(struct sim_port *port, struct sim_packet *packet)
{
	unsigned long flags;
	bool attached;

	spin_lock_irqsave(&port->far_lock, flags);
	attached = port->raw;
	if (attached && !queue_packet(port->raw, packet)) {
		sim_count(port, SIM_RAW_OVERFLOW);
		sim_packet_free(packet);
	}
	spin_unlock_irqrestore(&port->far_lock, flags);
	return attached;
}

/**
 * sim_raw_port_event() - tell the program that the port was changed by its host
 * @port: the port
 *
 * Context: process.
 */
void sim_raw_port_event(struct sim_port *port)
{
	struct sim_packet *packet;

	packet = sim_packet_alloc(GFP_KERNEL, SIM_SMP_LEN);
	if (!packet)
		return;
	packet->flags = IB_HWSIM_PORT_EVENT;
	packet->device = port->sim->config.id;
	packet->port = port->num;
	sim_sma_get_port_info(port, (struct ib_smp *)packet->mad);
	if (!sim_raw_deliver(port, packet))
		sim_packet_free(packet);
}

/* Return: a packet, or NULL, or an ERR_PTR if it is longer than max. */
static struct sim_packet *take_packet(struct sim_raw *raw, size_t max)
{
	struct sim_packet *packet;
	unsigned long flags;

	spin_lock_irqsave(&raw->lock, flags);
	packet = list_first_entry_or_null(&raw->queue, struct sim_packet, node);
	if (packet && packet->len > max) {
		packet = ERR_PTR(-EMSGSIZE);
	} else if (packet) {
		list_del_init(&packet->node);
		raw->count--;
	}
	spin_unlock_irqrestore(&raw->lock, flags);
	return packet;
}

static bool readable(struct sim_raw *raw)
{
	return !list_empty_careful(&raw->queue) || READ_ONCE(raw->dead);
}

/* Return: a packet, or NULL once the port has gone away, or an ERR_PTR. */
static struct sim_packet *wait_packet(struct sim_raw *raw, size_t max,
				      bool nonblock)
{
	struct sim_packet *packet;
	bool dead;
	int ret;

	for (;;) {
		/* Nothing is queued once it is dead: look in this order. */
		dead = READ_ONCE(raw->dead);
		packet = take_packet(raw, max);
		if (packet || dead)
			return packet;
		if (nonblock)
			return ERR_PTR(-EAGAIN);
		ret = wait_event_interruptible(raw->wait, readable(raw));
		if (ret)
			return ERR_PTR(ret);
	}
}

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
	packet = wait_packet(raw, count - SIM_RAW_HEAD,
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

/* Turns a request into its answer. */
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

/*
 * The packet passes to this function. Without faults it has arrived when the
 * write() returns.
 */
static void arrive(struct sim_port *port, struct sim_packet *packet)
{
	if (!sim_medium_is_idle(&port->medium_in)) {
		sim_medium_send(&port->medium_in, packet);
		return;
	}
	sim_capture_in(packet, packet->device, packet->port, NULL);
	sim_port_receive(port, packet);
}

/* The packet passes to this function. */
static void receive(struct sim_port *port, struct sim_packet *packet)
{
	packet->device = port->sim->config.id;
	packet->port = port->num;
	if (!(packet->flags & IB_HWSIM_TO_SMA))
		arrive(port, packet);
	else if (!answer(port, packet) || !sim_raw_deliver(port, packet))
		sim_packet_free(packet);
}

static ssize_t raw_write(struct file *filp, const char __user *buf,
			 size_t count, loff_t *pos)
{
	struct sim_raw *raw = filp->private_data;
	struct sim_packet *packet;
	ssize_t ret = count;

	/* No lock is held: user memory may take its time. */
	packet = packet_from_user(buf, count);
	if (IS_ERR(packet))
		return PTR_ERR(packet);

	down_read(&sim_raw_sem);
	if (raw->port) {
		receive(raw->port, packet);
	} else {
		sim_packet_free(packet);
		ret = raw->dead ? -ENODEV : -ENOTCONN;
	}
	up_read(&sim_raw_sem);
	return ret;
}

static __poll_t raw_poll(struct file *filp, struct poll_table_struct *table)
{
	struct sim_raw *raw = filp->private_data;
	__poll_t mask = EPOLLOUT | EPOLLWRNORM;

	poll_wait(filp, &raw->wait, table);
	if (readable(raw))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(raw->dead))
		mask |= EPOLLHUP;
	return mask;
}

/* The port cannot go away: see sim_with_port(). */
static int attach(struct sim_port *port, void *context)
{
	struct sim_raw *raw = context;
	unsigned long flags;
	int ret = 0;

	down_write(&sim_raw_sem);
	spin_lock_irqsave(&port->far_lock, flags);
	if (raw->port || raw->dead)
		ret = -EISCONN;
	else if (port->raw)
		ret = -EBUSY;
	else
		port->raw = raw;
	spin_unlock_irqrestore(&port->far_lock, flags);
	if (!ret)
		raw->port = port;
	up_write(&sim_raw_sem);
	return ret;
}

static void detach_locked(struct sim_raw *raw)
{
	struct sim_port *port = raw->port;
	unsigned long flags;

	lockdep_assert_held_write(&sim_raw_sem);
	raw->port = NULL;
	/* After this nobody queues a packet. */
	spin_lock_irqsave(&port->far_lock, flags);
	port->raw = NULL;
	spin_unlock_irqrestore(&port->far_lock, flags);
}

/**
 * sim_raw_detach() - the port goes away
 * @port: the port, to which nobody can attach any more
 *
 * Context: process.
 */
void sim_raw_detach(struct sim_port *port)
{
	struct sim_raw *raw;

	down_write(&sim_raw_sem);
	/* It changes with sim_raw_sem held for writing only. */
	raw = port->raw;
	if (raw) {
		detach_locked(raw);
		WRITE_ONCE(raw->dead, true);
		wake_up_all(&raw->wait);
	}
	up_write(&sim_raw_sem);
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
	struct sim_raw *raw;

	raw = kzalloc(sizeof(*raw), GFP_KERNEL);
	if (!raw)
		return -ENOMEM;
	spin_lock_init(&raw->lock);
	INIT_LIST_HEAD(&raw->queue);
	init_waitqueue_head(&raw->wait);
	filp->private_data = raw;
	return nonseekable_open(inode, filp);
}

static int raw_release(struct inode *inode, struct file *filp)
{
	struct sim_raw *raw = filp->private_data;
	struct sim_packet *packet;

	down_write(&sim_raw_sem);
	if (raw->port)
		detach_locked(raw);
	up_write(&sim_raw_sem);
	while ((packet = take_packet(raw, SIZE_MAX)))
		sim_packet_free(packet);
	kfree(raw);
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
	.llseek = no_llseek,
};

static struct miscdevice raw_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ib_hwsim",
	.fops = &raw_fops,
	.mode = 0600,
};

/**
 * sim_raw_init() - make /dev/ib_hwsim
 *
 * Context: process.
 * Return: 0 or an errno.
 */
int sim_raw_init(void)
{
	return misc_register(&raw_misc);
}

/**
 * sim_raw_exit() - take /dev/ib_hwsim away, which nobody has open
 *
 * Context: process.
 */
void sim_raw_exit(void)
{
	misc_deregister(&raw_misc);
}
