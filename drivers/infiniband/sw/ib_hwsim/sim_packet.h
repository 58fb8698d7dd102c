/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One MAD between two ports, with its addressing. Everything is held by value, so a
 * packet may outlive its sender, its address handle and its port.
 *
 * A packet has one owner at a time. A function that takes over a packet has to free it.
 */
#ifndef SIM_PACKET_H
#define SIM_PACKET_H

#include <linux/list.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <rdma/ib_hwsim.h>

#define SIM_GRH_LEN	40
#define SIM_MAD_LEN	256

/**
 * struct sim_packet - one MAD and its addressing
 * @node: for a list of its owner
 * @medium: for the medium that it is in, see sim_medium.c
 * @device: number of the device that sent it, or received it from a program
 * @port: its port
 * @flags: IB_HWSIM_GRH: @grh is valid
 * @slid: source LID, path bits included
 * @dlid: destination LID
 * @src_qp: number of the sending QP
 * @dest_qp: number of the receiving QP
 * @qkey: Q_Key
 * @pkey: P_Key, the value
 * @sl: service level
 * @grh: global route header as on the wire
 * @len: bytes of @mad
 * @mad: the MAD as on the wire
 *
 * The fields are those of struct ib_hwsim_frame.
 */
struct sim_packet {
	struct list_head node;
	struct {
		u64 due;
		u64 seq;
		u32 behind;
	} medium;
	u32 device;
	u32 port;
	u32 flags;
	u32 slid;
	u32 dlid;
	u32 src_qp;
	u32 dest_qp;
	u32 qkey;
	u16 pkey;
	u8 sl;
	u8 grh[SIM_GRH_LEN];
	u32 len;
	u8 mad[] __aligned(8);
};

/**
 * sim_packet_alloc() - allocate a packet of zeros
 * @gfp: how to allocate
 * @len: bytes of its MAD
 *
 * Context: as @gfp allows.
 * Return: the packet, which the caller owns, or NULL.
 */
static inline struct sim_packet *sim_packet_alloc(gfp_t gfp, u32 len)
{
	struct sim_packet *packet;

	if (len > IB_HWSIM_MAX_MAD)
		return NULL;
	packet = kzalloc(struct_size(packet, mad, len), gfp);
	if (!packet)
		return NULL;
	INIT_LIST_HEAD(&packet->node);
	packet->len = len;
	return packet;
}

/**
 * sim_packet_dup() - copy a packet
 * @packet: the packet
 * @gfp: how to allocate
 *
 * Context: as @gfp allows.
 * Return: the copy, which the caller owns and which is in no list, or NULL.
 */
static inline struct sim_packet *sim_packet_dup(const struct sim_packet *packet,
						gfp_t gfp)
{
	struct sim_packet *copy;

	copy = kmemdup(packet, struct_size(packet, mad, packet->len), gfp);
	if (copy)
		INIT_LIST_HEAD(&copy->node);
	return copy;
}

/**
 * sim_packet_free() - free a packet
 * @packet: the packet, which is in no list, or NULL
 *
 * Context: any.
 */
static inline void sim_packet_free(struct sim_packet *packet)
{
	kfree(packet);
}

#endif
