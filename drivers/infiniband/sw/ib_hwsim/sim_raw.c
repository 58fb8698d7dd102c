// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A program at the far end of a port: the queue of packets for it to read, and the
 * attachment of its file to the port.
 *
 * Locks: sim_raw_sem is held for reading while a file's port is used, and for writing
 * to attach and detach, so no file uses a port that is being detached. For senders,
 * port->far_lock keeps port->raw alive. raw->lock protects the queue.
 */
#include "sim_raw.h"

#include <linux/err.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include "sim.h"
#include "sim_packet.h"
#include "sim_sma.h"

#define SIM_RAW_QUEUE	1024

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
 * sim_raw_deliver() - queue a packet for the program at the far end
 * @port: the port that sent it
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
 * sim_raw_port_event() - tell the program that the host has changed the port
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

/**
 * sim_raw_readable() - check whether a read would return at once
 * @raw: the file
 *
 * Context: any.
 * Return: true if a packet is there, or if the port is gone.
 */
bool sim_raw_readable(struct sim_raw *raw)
{
	return !list_empty_careful(&raw->queue) || READ_ONCE(raw->dead);
}

/**
 * sim_raw_wait() - wait for a packet, and take it
 * @raw: the file
 * @max: bytes of the longest MAD that the caller takes
 * @nonblock: do not wait
 *
 * Context: process.
 * Return: the packet, which the caller owns; NULL if the port is gone; or an
 * ERR_PTR: -EAGAIN, -EMSGSIZE, -ERESTARTSYS.
 */
struct sim_packet *sim_raw_wait(struct sim_raw *raw, size_t max, bool nonblock)
{
	struct sim_packet *packet;
	bool dead;
	int ret;

	for (;;) {
		/* Read dead first: nothing is queued once it is set. */
		dead = READ_ONCE(raw->dead);
		packet = take_packet(raw, max);
		if (packet || dead)
			return packet;
		if (nonblock)
			return ERR_PTR(-EAGAIN);
		ret = wait_event_interruptible(raw->wait,
					       sim_raw_readable(raw));
		if (ret)
			return ERR_PTR(ret);
	}
}

/**
 * sim_raw_attach() - attach a file to a port
 * @raw: the file
 * @port: the port, which is not removed meanwhile: see sim_with_port()
 *
 * Context: process.
 * Return: 0; -EISCONN if the file was attached before; -EBUSY if another file
 * is attached to the port.
 */
int sim_raw_attach(struct sim_raw *raw, struct sim_port *port)
{
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

/**
 * sim_raw_with_port() - call a function with the file's port and a packet
 * @raw: the file
 * @call: the function; the port is not removed meanwhile
 * @packet: the packet, which passes to @call if this returns 0
 *
 * Context: process.
 * Return: 0; -ENOTCONN if the file is not attached; -ENODEV if its port is gone.
 */
int sim_raw_with_port(struct sim_raw *raw,
		      void (*call)(struct sim_port *port,
				   struct sim_packet *packet),
		      struct sim_packet *packet)
{
	int ret = 0;

	down_read(&sim_raw_sem);
	if (raw->port)
		call(raw->port, packet);
	else
		ret = raw->dead ? -ENODEV : -ENOTCONN;
	up_read(&sim_raw_sem);
	return ret;
}

static void detach_locked(struct sim_raw *raw)
{
	struct sim_port *port = raw->port;
	unsigned long flags;

	lockdep_assert_held_write(&sim_raw_sem);
	raw->port = NULL;
	/* After this, no packet is queued. */
	spin_lock_irqsave(&port->far_lock, flags);
	port->raw = NULL;
	spin_unlock_irqrestore(&port->far_lock, flags);
}

/**
 * sim_raw_detach() - detach the file of a port that is removed
 * @port: the port, which cannot be attached to any more
 *
 * Context: process.
 */
void sim_raw_detach(struct sim_port *port)
{
	struct sim_raw *raw;

	down_write(&sim_raw_sem);
	/* It changes only while sim_raw_sem is held for writing. */
	raw = port->raw;
	if (raw) {
		detach_locked(raw);
		WRITE_ONCE(raw->dead, true);
		wake_up_all(&raw->wait);
	}
	up_write(&sim_raw_sem);
}

/**
 * sim_raw_new() - allocate a file that is not attached
 *
 * Context: process.
 * Return: the file, which the caller owns, or NULL.
 */
struct sim_raw *sim_raw_new(void)
{
	struct sim_raw *raw;

	raw = kzalloc(sizeof(*raw), GFP_KERNEL);
	if (!raw)
		return NULL;
	spin_lock_init(&raw->lock);
	INIT_LIST_HEAD(&raw->queue);
	init_waitqueue_head(&raw->wait);
	return raw;
}

/**
 * sim_raw_free() - detach a file from its port, and free it
 * @raw: the file, which nobody else uses
 *
 * Context: process.
 */
void sim_raw_free(struct sim_raw *raw)
{
	struct sim_packet *packet;

	down_write(&sim_raw_sem);
	if (raw->port)
		detach_locked(raw);
	up_write(&sim_raw_sem);
	while ((packet = take_packet(raw, SIZE_MAX)))
		sim_packet_free(packet);
	kfree(raw);
}
