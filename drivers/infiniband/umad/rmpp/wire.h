/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RMPP packets: where the fields stand (IBA 13.6.2) and what they may hold.
 * Inside the engines everything is in host order, and segments count from 1.
 */
#ifndef UMAD_RMPP_WIRE_H
#define UMAD_RMPP_WIRE_H

#include <linux/build_bug.h>
#include <linux/math.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <rdma/ib_mad.h>

/* RMPPFlags share a byte with RRespTime, the five bits above. */
#define RMPP_FLAGS	(IB_MGMT_RMPP_FLAG_ACTIVE | IB_MGMT_RMPP_FLAG_FIRST | \
			 IB_MGMT_RMPP_FLAG_LAST)

static_assert(sizeof(struct ib_rmpp_hdr) == 12);
static_assert(offsetof(struct ib_rmpp_mad, rmpp_hdr) == 24);
static_assert(offsetof(struct ib_rmpp_mad, data) == IB_MGMT_RMPP_HDR);

/**
 * struct rmpp_packet - the RMPP header of one packet
 * @version: RMPPVersion
 * @type: RMPPType, IB_MGMT_RMPP_TYPE_*
 * @flags: RMPPFlags, IB_MGMT_RMPP_FLAG_*
 * @status: RMPPStatus, IB_MGMT_RMPP_STATUS_*
 * @seg: SegmentNumber, of DATA and ACK
 * @len: PayloadLength of DATA in bytes, NewWindowLast of ACK
 */
struct rmpp_packet {
	u8 version;
	u8 type;
	u8 flags;
	u8 status;
	u32 seg;
	u32 len;
};

/**
 * rmpp_is_whole() - is it all of a message of one segment?
 * @packet: parsed
 *
 * Context: any.
 * Return: true if so.
 */
static inline bool rmpp_is_whole(const struct rmpp_packet *packet)
{
	const u8 both = IB_MGMT_RMPP_FLAG_FIRST | IB_MGMT_RMPP_FLAG_LAST;

	return packet->type == IB_MGMT_RMPP_TYPE_DATA && (packet->flags & both) == both;
}

/**
 * struct rmpp_layout - how the segments of a class are cut
 * @hdr: bytes before the data of each segment: MAD, RMPP and class header
 * @data: bytes of data in each segment but the last
 */
struct rmpp_layout {
	u32 hdr;
	u32 data;
};

/**
 * rmpp_layout_of() - the layout of a class
 * @mgmt_class: with an RMPP header
 * @mad_size: bytes of a whole MAD
 *
 * Context: any.
 * Return: the layout.
 */
static inline struct rmpp_layout rmpp_layout_of(u8 mgmt_class, u32 mad_size)
{
	u32 hdr = ib_get_mad_data_offset(mgmt_class);

	return (struct rmpp_layout){ .hdr = hdr, .data = mad_size - hdr };
}

/**
 * rmpp_payload_max() - PayloadLength of a full segment
 * @layout: of the class
 *
 * It counts what follows the RMPP header, so the class header too (IBA
 * 13.6.2.3): 220 in a MAD of 256 bytes.
 * Context: any.
 * Return: bytes.
 */
static inline u32 rmpp_payload_max(const struct rmpp_layout *layout)
{
	return layout->hdr + layout->data - IB_MGMT_RMPP_HDR;
}

/**
 * rmpp_segments() - how many segments carry so many bytes of data
 * @layout: of the class
 * @data_len: bytes of data, without any header
 *
 * Context: any.
 * Return: segments, at least one.
 */
static inline u32 rmpp_segments(const struct rmpp_layout *layout, u32 data_len)
{
	return data_len ? DIV_ROUND_UP(data_len, layout->data) : 1;
}

/**
 * rmpp_parse() - read the RMPP header of a MAD
 * @mad: in a class that has one
 * @packet: filled in
 *
 * Context: any.
 */
static inline void rmpp_parse(const struct ib_rmpp_mad *mad,
			      struct rmpp_packet *packet)
{
	const struct ib_rmpp_hdr *hdr = &mad->rmpp_hdr;

	packet->version = hdr->rmpp_version;
	packet->type = hdr->rmpp_type;
	packet->flags = hdr->rmpp_rtime_flags & RMPP_FLAGS;
	packet->status = hdr->rmpp_status;
	packet->seg = be32_to_cpu(hdr->seg_num);
	packet->len = be32_to_cpu(hdr->paylen_newwin);
}

/**
 * rmpp_format() - write the RMPP header of a MAD
 * @mad: in a class that has one
 * @packet: what to write; the Active flag is set, RRespTime says that no
 *	value is given
 *
 * Context: any.
 */
static inline void rmpp_format(struct ib_rmpp_mad *mad,
			       const struct rmpp_packet *packet)
{
	struct ib_rmpp_hdr *hdr = &mad->rmpp_hdr;

	hdr->rmpp_version = packet->version;
	hdr->rmpp_type = packet->type;
	hdr->rmpp_rtime_flags = IB_MGMT_RMPP_NO_RESPTIME << 3 |
				IB_MGMT_RMPP_FLAG_ACTIVE | packet->flags;
	hdr->rmpp_status = packet->status;
	hdr->seg_num = cpu_to_be32(packet->seg);
	hdr->paylen_newwin = cpu_to_be32(packet->len);
}

#endif /* UMAD_RMPP_WIRE_H */
