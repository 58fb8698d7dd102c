// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RMPP packets as bytes: what is written is read again, nothing else of the
 * MAD changes, and the layouts' sums are right. And a packet that may begin a
 * message is one that the message's receiver takes, and the other way round.
 */
#include "fuzz.h"
#include "rmpp/rx.h"

static void check_bytes(struct input *in)
{
	struct ib_rmpp_mad *mad = fuzz_alloc(sizeof(*mad));
	struct rmpp_packet packet, again;
	u8 before[sizeof(*mad)];

	take_bytes(in, mad, sizeof(*mad));
	rmpp_parse(mad, &packet);
	MUST(!(packet.flags & ~RMPP_FLAGS));

	memcpy(before, mad, sizeof(before));
	rmpp_format(mad, &packet);
	rmpp_parse(mad, &again);
	packet.flags |= IB_MGMT_RMPP_FLAG_ACTIVE;
	MUST(!memcmp(&packet, &again, sizeof(packet)));
	/* RRespTime and the flags share a byte; the rest is as it was. */
	before[26] = IB_MGMT_RMPP_NO_RESPTIME << 3 | packet.flags;
	MUST(!memcmp(before, mad, sizeof(before)));
	MUST(before[24] == packet.version && before[25] == packet.type);
	MUST(before[27] == packet.status);
	fuzz_free(mad);
}

static void check_layout(struct input *in)
{
	u32 mad_size = take(in) & 1 ? 2048 : 256;
	struct rmpp_layout layout = rmpp_layout_of(take(in), mad_size);
	u32 len = take32(in);
	u64 segs = rmpp_segments(&layout, len);

	MUST(layout.hdr >= IB_MGMT_MAD_HDR && layout.hdr <= IB_MGMT_DEVICE_HDR);
	MUST(layout.hdr + layout.data == mad_size);
	MUST(rmpp_payload_max(&layout) == mad_size - 36);
	/* As long as a message may be; see rmpp_max_message. */
	len &= S32_MAX;
	segs = rmpp_segments(&layout, len);
	MUST(segs * layout.data >= len);
	MUST(segs == 1 || (segs - 1) * layout.data < len);
}

static void check_start(struct input *in)
{
	struct rmpp_layout layout = rmpp_layout_of(IB_MGMT_CLASS_SUBN_ADM, 256);
	enum rmpp_rx_verdict start, verdict;
	struct rmpp_packet packet;
	struct rmpp_rx rx;
	u8 status = 0;

	packet.version = take(in) % 8 ? IB_MGMT_RMPP_VERSION : take(in);
	packet.type = take(in) % 8 ? IB_MGMT_RMPP_TYPE_DATA : take(in);
	packet.flags = (take(in) & RMPP_FLAGS) | IB_MGMT_RMPP_FLAG_ACTIVE;
	packet.status = take(in) % 8 ? 0 : take(in);
	packet.seg = take(in) % 4 ? 1 : take32(in);
	packet.len = take32(in);
	rmpp_rx_init(&rx, &layout, take32(in), 1, 0);
	start = rmpp_rx_check_start(&packet, &status);
	verdict = rmpp_rx_receive(&rx, &packet, 0);
	switch (start) {
	case RMPP_RX_STORE:
		MUST(verdict == RMPP_RX_STORE || verdict == RMPP_RX_STOP);
		MUST(packet.seg == 1 && packet.type == IB_MGMT_RMPP_TYPE_DATA);
		break;
	case RMPP_RX_ABORT:
		MUST(verdict == RMPP_RX_ABORT);
		MUST(status && status == rx.status);
		break;
	default:
		MUST(start == RMPP_RX_DROP && verdict != RMPP_RX_STORE);
		break;
	}
}

void fuzz_one(const u8 *data, size_t size)
{
	struct input in = { data, size };

	check_start(&in);
	check_layout(&in);
	check_bytes(&in);
}
