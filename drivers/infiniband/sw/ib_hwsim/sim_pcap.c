// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A packet as a frame of an InfiniBand link: LRH, GRH, BTH, DETH, MAD and both
 * CRCs (IBA 7.7, 8.3, 9.2, 9.3.3, 7.8), and what a pcap or pcapng file puts around it.
 * Both use records of ERF type 21, as Wireshark 4.0 does not know LINKTYPE_INFINIBAND.
 * Self-contained.
 */
#include "sim_pcap.h"

#include <linux/bits.h>
#include <linux/crc32.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "sim_compat.h"
#include "sim_export.h"

#define LINKTYPE_ERF		197
#define ERF_LEN			16
#define ERF_INFINIBAND		21
#define ERF_VARYING		BIT(2)

#define LRH_LEN		8
#define BTH_LEN		12
#define DETH_LEN	8
#define ICRC_LEN	4
#define VCRC_LEN	2
#define LNH_BTH		2
#define LNH_GRH		3
#define VL_SMP		15
#define GRH_NEXT_BTH	0x1b
#define OPCODE_UD_SEND	0x64
#define BTH_MIGRATED	BIT(6)

static u8 *put_lrh(const struct sim_packet *packet, u32 words, u8 *at)
{
	bool grh = packet->flags & IB_HWSIM_GRH;

	at[0] = packet->dest_qp == 0 ? VL_SMP << 4 : 0;
	at[1] = (packet->sl & 0xf) << 4 | (grh ? LNH_GRH : LNH_BTH);
	put_unaligned_be16(packet->dlid, at + 2);
	put_unaligned_be16(words & 0x7ff, at + 4);
	put_unaligned_be16(packet->slid, at + 6);
	return at + LRH_LEN;
}

/* The sender's GRH, with the fields that its port fills in. */
static u8 *put_grh(const struct sim_packet *packet, u32 payload, u8 *at)
{
	if (!(packet->flags & IB_HWSIM_GRH))
		return at;
	memcpy(at, packet->grh, SIM_GRH_LEN);
	put_unaligned_be16(payload, at + 4);
	at[6] = GRH_NEXT_BTH;
	return at + SIM_GRH_LEN;
}

static u8 *put_bth(const struct sim_packet *packet, u32 pad, u8 *at)
{
	at[0] = OPCODE_UD_SEND;
	at[1] = BTH_MIGRATED | pad << 4;
	put_unaligned_be16(packet->pkey, at + 2);
	put_unaligned_be32(packet->dest_qp & 0xffffff, at + 4);
	put_unaligned_be32(0, at + 8);
	return at + BTH_LEN;
}

static u8 *put_deth(const struct sim_packet *packet, u8 *at)
{
	put_unaligned_be32(packet->qkey, at);
	put_unaligned_be32(packet->src_qp & 0xffffff, at + 4);
	return at + DETH_LEN;
}

/* Over the frame, with ones where a switch or router may write (IBA 7.8.1). */
static u32 icrc(const struct sim_packet *packet, const u8 *frame, u32 len)
{
	u8 head[LRH_LEN + SIM_GRH_LEN + BTH_LEN];
	bool grh = packet->flags & IB_HWSIM_GRH;
	u32 head_len = LRH_LEN + (grh ? SIM_GRH_LEN : 0) + BTH_LEN;
	u8 *bth = head + head_len - BTH_LEN;
	u32 crc;

	memcpy(head, frame, head_len);
	if (grh) {
		memset(head, 0xff, LRH_LEN);
		/* Traffic class, flow label; hop limit */
		head[LRH_LEN] |= 0x0f;
		memset(head + LRH_LEN + 1, 0xff, 3);
		head[LRH_LEN + 7] = 0xff;
	} else {
		head[0] |= 0xf0;
	}
	bth[4] = 0xff;
	crc = crc32_le(~0, head, head_len);
	return ~crc32_le(crc, frame + head_len, len - head_len);
}

/* x^16 + x^12 + x^3 + x + 1, the least significant bit first (IBA 7.8.2). */
static u16 vcrc(const u8 *frame, u32 len)
{
	u16 crc = 0xffff;
	int bit;

	while (len--) {
		crc ^= *frame++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xd008 : 0);
	}
	return ~crc;
}

/**
 * sim_frame() - make the frame of a packet
 * @packet: the packet
 * @frame: at least SIM_FRAME_MAX bytes to write to
 *
 * Context: any.
 * Return: bytes of the frame.
 */
u32 sim_frame(const struct sim_packet *packet, u8 *frame)
{
	u32 pad = -packet->len & 3;
	u32 payload = BTH_LEN + DETH_LEN + packet->len + pad + ICRC_LEN;
	u32 grh_len = packet->flags & IB_HWSIM_GRH ? SIM_GRH_LEN : 0;
	u8 *at;

	/* PktLen: words from the LRH to the ICRC */
	at = put_lrh(packet, (LRH_LEN + grh_len + payload) / 4, frame);
	at = put_grh(packet, payload, at);
	at = put_bth(packet, pad, at);
	at = put_deth(packet, at);
	memcpy(at, packet->mad, packet->len);
	at += packet->len;
	memset(at, 0, pad);
	at += pad;
	put_unaligned_le32(icrc(packet, frame, at - frame), at);
	at += ICRC_LEN;
	put_unaligned_le16(vcrc(frame, at - frame), at);
	return at + VCRC_LEN - frame;
}
EXPORT_SYMBOL_IF_KUNIT(sim_frame);

/* Both formats are in the byte order of the writer. */
static u8 *put_u32(u8 *at, u32 value)
{
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static u8 *put_u16(u8 *at, u16 value)
{
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

/* Pad @len bytes to a multiple of 4. */
static u8 *put_padding(u8 *at, u32 len)
{
	memset(at, 0, -len & 3);
	return at + (-len & 3);
}

/* The time, in units of 2^-32 s, is the only little endian number of ERF. */
static u8 *put_erf(u8 *at, const u8 *frame, u32 len, u64 time)
{
	u32 ns;
	u64 sec = div_u64_rem(time, NSEC_PER_SEC, &ns);

	put_unaligned_le64(sec << 32 | div_u64((u64)ns << 32, NSEC_PER_SEC),
			   at);
	at[8] = ERF_INFINIBAND;
	at[9] = ERF_VARYING;
	put_unaligned_be16(ERF_LEN + len, at + 10);
	put_unaligned_be16(0, at + 12);
	put_unaligned_be16(len, at + 14);
	memcpy(at + ERF_LEN, frame, len);
	return at + ERF_LEN + len;
}

/**
 * sim_pcap_head() - make the head of a pcap file
 * @to: at least SIM_BLOCK_MAX bytes to write to, as for all of these
 *
 * Context: any.
 * Return: bytes written.
 */
u32 sim_pcap_head(u8 *to)
{
	u8 *at = to;

	at = put_u32(at, 0xa1b23c4d);	/* times in ns */
	at = put_u16(at, 2);
	at = put_u16(at, 4);
	at = put_u32(at, 0);
	at = put_u32(at, 0);
	at = put_u32(at, ERF_LEN + SIM_FRAME_MAX);
	at = put_u32(at, LINKTYPE_ERF);
	return at - to;
}

/**
 * sim_pcap_packet() - make the record of a packet in a pcap file
 * @frame: its frame
 * @len: bytes of that
 * @time: in ns since 1970
 * @to: to write to
 *
 * Context: any.
 * Return: bytes written.
 */
u32 sim_pcap_packet(const u8 *frame, u32 len, u64 time, u8 *to)
{
	u32 ns;
	u8 *at = to;

	at = put_u32(at, div_u64_rem(time, NSEC_PER_SEC, &ns));
	at = put_u32(at, ns);
	at = put_u32(at, ERF_LEN + len);
	at = put_u32(at, ERF_LEN + len);
	return put_erf(at, frame, len, time) - to;
}

/* pcapng: a block has its length at both ends. */
static u8 *begin_block(u8 *to, u32 type)
{
	return put_u32(put_u32(to, type), 0);
}

static u32 end_block(u8 *to, u8 *at)
{
	u32 len = at + 4 - to;

	put_u32(to + 4, len);
	put_u32(at, len);
	return len;
}

static u8 *put_option(u8 *at, u16 code, const void *data, u16 len)
{
	at = put_u16(at, code);
	at = put_u16(at, len);
	if (len)
		memcpy(at, data, len);
	return put_padding(at + len, len);
}

/**
 * sim_pcapng_head() - make the head of a pcapng file
 * @to: to write to
 *
 * Context: any.
 * Return: bytes written.
 */
u32 sim_pcapng_head(u8 *to)
{
	u8 *at = begin_block(to, 0x0a0d0d0a);

	at = put_u32(at, 0x1a2b3c4d);
	at = put_u16(at, 1);
	at = put_u16(at, 0);
	/* Length of the section: not known */
	at = put_u32(at, U32_MAX);
	at = put_u32(at, U32_MAX);
	return end_block(to, at);
}

/**
 * sim_pcapng_interface() - make the block of an interface; they count from 0
 * @name: its name, of up to 63 bytes
 * @to: to write to
 *
 * Context: any.
 * Return: bytes written.
 */
u32 sim_pcapng_interface(const char *name, u8 *to)
{
	static const u8 nanoseconds = 9;
	u8 *at = begin_block(to, 1);

	at = put_u16(at, LINKTYPE_ERF);
	at = put_u16(at, 0);
	at = put_u32(at, ERF_LEN + SIM_FRAME_MAX);
	at = put_option(at, 2, name, strnlen(name, 63));
	at = put_option(at, 9, &nanoseconds, 1);
	at = put_option(at, 0, NULL, 0);
	return end_block(to, at);
}

/**
 * sim_pcapng_packet() - make the block of a packet in a pcapng file
 * @interface: the interface on which it was seen
 * @frame: its frame
 * @len: bytes of that
 * @time: in ns since 1970
 * @out: the interface sent it
 * @comment: a comment of up to 127 bytes, or empty
 * @to: to write to
 *
 * Context: any.
 * Return: bytes written.
 */
u32 sim_pcapng_packet(u32 interface, const u8 *frame, u32 len, u64 time,
		      bool out, const char *comment, u8 *to)
{
	u32 flags = out ? 2 : 1;
	u8 *at = begin_block(to, 6);

	at = put_u32(at, interface);
	at = put_u32(at, upper_32_bits(time));
	at = put_u32(at, lower_32_bits(time));
	at = put_u32(at, ERF_LEN + len);
	at = put_u32(at, ERF_LEN + len);
	at = put_erf(at, frame, len, time);
	at = put_padding(at, ERF_LEN + len);
	at = put_option(at, 2, &flags, sizeof(flags));
	if (*comment)
		at = put_option(at, 1, comment, strnlen(comment, 127));
	at = put_option(at, 0, NULL, 0);
	return end_block(to, at);
}
