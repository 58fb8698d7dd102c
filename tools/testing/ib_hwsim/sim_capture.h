/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A ring of what was on the wire last, in the whole module. Each packet has
 * one record from when it enters the wire: made by the medium of the port that
 * sends it, or by sim_capture_in() for one that comes in from a raw port.
 * There is one more when a port cannot take it.
 */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include <linux/types.h>
#include "sim_packet.h"

struct dentry;
struct sim_verdict;

/**
 * enum sim_direction - which way, seen from the port of the record
 * @SIM_OUT: the port sends it
 * @SIM_IN: the port gets it
 */
enum sim_direction {
	SIM_OUT,
	SIM_IN,
};

int sim_capture_init(struct dentry *dir);
void sim_capture_exit(void);
void sim_capture_out(const struct sim_packet *packet,
		     const struct sim_verdict *verdict);
void sim_capture_in(const struct sim_packet *packet, u32 device, u32 port,
		    const char *lost);

#endif
