/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A ring of what was on the wire last, in the whole module. Each packet has
 * one record from when it enters the wire: made by the medium that it goes
 * through, or by sim_capture_in() for one that comes in from a raw port without
 * that. There is one more when a port cannot take it.
 */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include <linux/types.h>
#include "sim_packet.h"
#include "sim_verdict.h"

/**
 * enum sim_direction - which way, seen from the port of the record
 * @SIM_OUT: the port sends it
 * @SIM_IN: the port gets it
 */
enum sim_direction {
	SIM_OUT,
	SIM_IN,
};

/**
 * struct sim_record - what the ring has of one packet
 * @size: of the record in the ring, a multiple of 8; stands first
 * @direction: which way
 * @time: since boot, in ns
 * @device: number of the device
 * @port: its port
 * @verdict: what became of it on the wire
 * @lost: why the port did not take it, or NULL; of SIM_IN
 * @packet: a copy
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

/* What the device calls. */
void sim_capture(const struct sim_packet *packet, enum sim_direction direction,
		 const struct sim_verdict *verdict);
void sim_capture_in(const struct sim_packet *packet, u32 device, u32 port,
		    const char *lost);

/* What the files in debugfs call. */
int sim_capture_alloc(u32 bytes);
void sim_capture_free(void);
void sim_capture_clear(void);
u64 sim_capture_end(u64 *gone);
bool sim_capture_read(u64 *pos, u64 end, struct sim_record *record);

#endif
