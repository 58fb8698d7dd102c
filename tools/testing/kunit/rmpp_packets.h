/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Packets for the RMPP suites, as rmpp_parse() would give them. */
#ifndef UMAD_KUNIT_RMPP_PACKETS_H
#define UMAD_KUNIT_RMPP_PACKETS_H

#include <linux/time64.h>
#include "rmpp/wire.h"

#define MS	((u64)NSEC_PER_MSEC)

static inline struct rmpp_packet rmpp_packet(u8 type, u8 flags, u32 seg,
					     u32 len)
{
	return (struct rmpp_packet){
		.version = IB_MGMT_RMPP_VERSION,
		.type = type,
		.flags = flags | IB_MGMT_RMPP_FLAG_ACTIVE,
		.seg = seg,
		.len = len,
	};
}

static inline struct rmpp_packet ack_packet(u32 seg, u32 window_last)
{
	return rmpp_packet(IB_MGMT_RMPP_TYPE_ACK, 0, seg, window_last);
}

/* STOP or ABORT. */
static inline struct rmpp_packet end_packet(u8 type, u8 status)
{
	struct rmpp_packet packet = rmpp_packet(type, 0, 0, 0);

	packet.status = status;
	return packet;
}

/* Segment @seg of @segs, the last of them with @last_len. */
static inline struct rmpp_packet data_packet(u32 seg, u32 segs, u32 last_len)
{
	u8 flags = 0;
	u32 len = 0;

	if (seg == 1)
		flags |= IB_MGMT_RMPP_FLAG_FIRST;
	if (seg == segs) {
		flags |= IB_MGMT_RMPP_FLAG_LAST;
		len = last_len;
	}
	return rmpp_packet(IB_MGMT_RMPP_TYPE_DATA, flags, seg, len);
}

#endif /* UMAD_KUNIT_RMPP_PACKETS_H */
