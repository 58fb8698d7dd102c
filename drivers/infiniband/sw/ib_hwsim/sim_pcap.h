/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets as frames of a link, and files that Wireshark reads.
 */
#ifndef SIM_PCAP_H
#define SIM_PCAP_H

#include <linux/types.h>
#include "sim_packet.h"

/* LRH, GRH, BTH, DETH, MAD, padding, ICRC, VCRC */
#define SIM_FRAME_MAX	(8 + 40 + 12 + 8 + IB_HWSIM_MAX_MAD + 3 + 4 + 2)
/* With what a file puts around a frame: block, ERF, flags, comment, end. */
#define SIM_BLOCK_MAX	(SIM_FRAME_MAX + 256)

u32 sim_frame(const struct sim_packet *packet, u8 *frame);

u32 sim_pcap_head(u8 *to);
u32 sim_pcap_packet(const u8 *frame, u32 len, u64 time, u8 *to);

u32 sim_pcapng_head(u8 *to);
u32 sim_pcapng_interface(const char *name, u8 *to);
u32 sim_pcapng_packet(u32 interface, const u8 *frame, u32 len, u64 time,
		      bool out, const char *comment, u8 *to);

#endif
