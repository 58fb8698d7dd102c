// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ring: records of packets in a bounded number of bytes, of which the
 * oldest make place for the newest. How they are shown is in
 * sim_capture_debugfs.c.
 *
 * A position counts all bytes ever written; modulo the ring's size it is an
 * offset. Sizes are multiples of 8 to keep records aligned.
 *
 * Locking: ring.lock, a leaf, taken in any context.
 */
#include "sim_capture.h"

#include <kunit/visibility.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>

/* The least that makes sense, if there is to be a ring at all. */
#define RING_MIN	16384

static struct {
	spinlock_t lock;	/* all below */
	u8 *data;
	u32 size;
	u64 head;		/* where the next record will be */
	u64 tail;		/* where the oldest one is */
	u64 records;		/* ever written */
	u64 gone;		/* that made place for others */
} ring = {
	.lock = __SPIN_LOCK_UNLOCKED(ring.lock),
};

static u32 offset_of(u64 pos)
{
	u32 rest;

	div_u64_rem(pos, ring.size, &rest);
	return rest;
}

static void put_bytes(u64 pos, const void *from, u32 len)
{
	u32 offset = offset_of(pos);
	u32 first = min(len, ring.size - offset);

	memcpy(ring.data + offset, from, first);
	memcpy(ring.data, from + first, len - first);
}

static void get_bytes(u64 pos, void *to, u32 len)
{
	u32 offset = offset_of(pos);
	u32 first = min(len, ring.size - offset);

	memcpy(to, ring.data + offset, first);
	memcpy(to + first, ring.data, len - first);
}

static u32 size_at(u64 pos)
{
	u32 size;

	get_bytes(pos, &size, sizeof(size));
	return size;
}

static void put_record(struct sim_record *record,
		       const struct sim_packet *packet)
{
	u32 len = struct_size(packet, mad, packet->len);
	u32 head = offsetof(struct sim_record, packet);
	unsigned long flags;

	record->size = ALIGN(head + len, 8);
	record->time = ktime_get_boottime_ns();
	spin_lock_irqsave(&ring.lock, flags);
	if (ring.data) {
		while (ring.size - (ring.head - ring.tail) < record->size) {
			ring.tail += size_at(ring.tail);
			ring.gone++;
		}
		put_bytes(ring.head, record, head);
		put_bytes(ring.head + head, packet, len);
		ring.head += record->size;
		ring.records++;
	}
	spin_unlock_irqrestore(&ring.lock, flags);
}

/**
 * sim_capture() - record a packet that goes through a medium
 * @packet: as it goes on the wire, with the port that the record names
 * @direction: seen from there
 * @verdict: what becomes of it
 *
 * Context: any.
 */
void sim_capture(const struct sim_packet *packet, enum sim_direction direction,
		 const struct sim_verdict *verdict)
{
	struct sim_record record = {
		.direction = direction,
		.device = packet->device,
		.port = packet->port,
		.verdict = *verdict,
	};

	if (READ_ONCE(ring.data))
		put_record(&record, packet);
}
EXPORT_SYMBOL_IF_KUNIT(sim_capture);

/**
 * sim_capture_in() - record a packet that comes to a port
 * @packet: the packet
 * @device: number of the device that gets it
 * @port: its port
 * @lost: a string constant that says why the port does not take it; NULL if a
 *	raw port sends it in, and only this makes it known
 *
 * Context: any.
 */
void sim_capture_in(const struct sim_packet *packet, u32 device, u32 port,
		    const char *lost)
{
	struct sim_record record = {
		.direction = SIM_IN,
		.device = device,
		.port = port,
		.lost = lost,
	};

	if (READ_ONCE(ring.data))
		put_record(&record, packet);
}
EXPORT_SYMBOL_IF_KUNIT(sim_capture_in);

/**
 * sim_capture_clear() - forget all records
 *
 * Context: any.
 */
void sim_capture_clear(void)
{
	unsigned long flags;

	spin_lock_irqsave(&ring.lock, flags);
	ring.tail = ring.head;
	ring.gone = 0;
	spin_unlock_irqrestore(&ring.lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(sim_capture_clear);

/**
 * sim_capture_end() - where the next record will be
 * @gone: set to how many made place for others
 *
 * Context: any.
 * Return: the position.
 */
u64 sim_capture_end(u64 *gone)
{
	unsigned long flags;
	u64 end;

	spin_lock_irqsave(&ring.lock, flags);
	end = ring.head;
	*gone = ring.gone;
	spin_unlock_irqrestore(&ring.lock, flags);
	return end;
}
EXPORT_SYMBOL_IF_KUNIT(sim_capture_end);

/**
 * sim_capture_read() - read one record
 * @pos: where it is, or 0; set to where it was found, as what is no longer
 *	there is passed over
 * @end: read no further than this
 * @record: SIM_RECORD_MAX bytes to copy it to
 *
 * Context: any.
 * Return: true if there was one.
 */
bool sim_capture_read(u64 *pos, u64 end, struct sim_record *record)
{
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&ring.lock, flags);
	*pos = max(*pos, ring.tail);
	found = *pos < min(end, ring.head);
	if (found)
		get_bytes(*pos, record, size_at(*pos));
	spin_unlock_irqrestore(&ring.lock, flags);
	return found;
}
EXPORT_SYMBOL_IF_KUNIT(sim_capture_read);

/**
 * sim_capture_alloc() - make the ring
 * @bytes: how many it may take; 0 for no ring
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int sim_capture_alloc(u32 bytes)
{
	unsigned long flags;
	u8 *data;

	if (!bytes)
		return 0;
	bytes = ALIGN_DOWN(clamp_t(u32, bytes, RING_MIN, SZ_1G), 8);
	data = vmalloc(bytes);
	if (!data)
		return -ENOMEM;
	spin_lock_irqsave(&ring.lock, flags);
	ring.size = bytes;
	WRITE_ONCE(ring.data, data);
	spin_unlock_irqrestore(&ring.lock, flags);
	return 0;
}

/**
 * sim_capture_free() - free the ring
 *
 * Context: process. Nothing sends any more, and the files have gone.
 */
void sim_capture_free(void)
{
	vfree(ring.data);
	ring.data = NULL;
}
