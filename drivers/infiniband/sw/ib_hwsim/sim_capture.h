/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A ring of the most recent packets of the module. A packet has one record from when it
 * enters the wire, made by its medium, or by sim_capture_in() for a packet of a program
 * that bypasses the medium. It has a second record if a port drops it.
 */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include <linux/types.h>
#include "sim_packet.h"
#include "sim_verdict.h"

/**
 * enum sim_direction - direction, seen from the port of the record
 * @SIM_OUT: the port sends the packet
 * @SIM_IN: the port receives the packet
 */
enum sim_direction {
	SIM_OUT,
	SIM_IN,
};

/**
 * struct sim_record - a packet in the ring
 * @size: of the record in the ring, a multiple of 8; the first field
 * @direction: of the packet
 * @time: since boot, in ns
 * @device: number of the device
 * @port: its port
 * @verdict: what happened to it on the wire
 * @lost: why the port dropped it, or NULL; of SIM_IN
 * @packet: a copy of the packet
 */
struct sim_record {
	u32 size;
	enum sim_direction direction;
	u64 time;
	u32 device;
	u32 port;
	struct sim_verdict verdict;
	const char *lost;
	struct sim_packet packet;
};

/* The longest record. */
#define SIM_RECORD_MAX	(sizeof(struct sim_record) + IB_HWSIM_MAX_MAD)

/* For packets. */
void sim_capture(const struct sim_packet *packet, enum sim_direction direction,
		 const struct sim_verdict *verdict);
void sim_capture_in(const struct sim_packet *packet, u32 device, u32 port,
		    const char *lost);

/* For the files in debugfs. */
int sim_capture_alloc(u32 bytes);
void sim_capture_free(void);
void sim_capture_clear(void);
u64 sim_capture_end(u64 *gone);
bool sim_capture_read(u64 *pos, u64 end, struct sim_record *record);

#endif
