// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ring: records of packets in a bounded number of bytes; new records replace the
 * oldest. sim_capture_debugfs.c shows them.
 *
 * A position counts all bytes ever written; modulo the ring's size it is an
 * offset. Sizes are multiples of 8 to keep records aligned.
 *
 * Locking: ring.lock, a leaf, taken in any context.
 */
#include "sim_capture.h"

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>
#include "sim_export.h"

/* The smallest ring, if there is one. */
#define RING_MIN	16384

static struct {
	spinlock_t lock;	/* all below */
	u8 *data;
	u32 size;
	u64 head;		/* position of the next record */
	u64 tail;		/* position of the oldest one */
	u64 records;		/* ever written */
	u64 gone;		/* replaced by others */
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
 * sim_capture() - record a packet that passes a medium
 * @packet: the packet as it enters the wire; its port is that of the record
 * @direction: seen from that port
 * @verdict: what happens to it
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
 * sim_capture_in() - record a packet that arrives at a port
 * @packet: the packet
 * @device: number of the receiving device
 * @port: its port
 * @lost: a string constant: why the port drops it; NULL if a program has
 *	written it, and it bypasses the medium
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
 * sim_capture_clear() - remove all records
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
 * sim_capture_end() - get the position of the next record
 * @gone: set to the number of records that were replaced
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
 * @pos: its position, or 0; set to the position of the record that was read, as
 *	records that were replaced are skipped
 * @end: read no record at this position or later
 * @record: SIM_RECORD_MAX bytes to copy it to
 *
 * Context: any.
 * Return: true if there was a record.
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
 * sim_capture_alloc() - allocate the ring
 * @bytes: its size; 0 for no ring
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
 * Context: process; no packet is sent any more, and the files were removed.
 */
void sim_capture_free(void)
{
	vfree(ring.data);
	ring.data = NULL;
}
