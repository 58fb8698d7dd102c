/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fixture of the tests of the kernel's RMPP receiver: a sender made by
 * hand, which pushes a message or answers a request.
 */
#ifndef RMPP_RX_FIXTURE_H
#define RMPP_RX_FIXTURE_H

#include "rmpp_raw_fixture.h"

#define PATIENT	20000	/* ms; time-out of the requests */

FIXTURE(rx) {
	RAW_MEMBERS;		/* the peer is the sender */
	long unmatched, refused, stray;
};

FIXTURE_VARIANT(rx) {
	bool response;
};

/* The sender pushes to an agent that serves the method. */
FIXTURE_VARIANT_ADD(rx, push) {
	.response = false,
};

/* The sender answers a plain request. */
FIXTURE_VARIANT_ADD(rx, response) {
	.response = true,
};

/* A message can begin; for a response: it has been asked for. */
static void rx_expect(struct __test_metadata *_metadata, FIXTURE_DATA(rx) *self,
		      bool response, uint32_t tid, uint32_t timeout_ms)
{
	self->raw.tid = tid;
	self->raw.seed = tid;
	if (!response)
		return;
	rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE, tid, SEG, tid);
	rmpp_mad_bytes(&self->msg)[26] = 0;
	rmpp_user_hdr(&self->msg)->timeout_ms = timeout_ms;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	do {
		ASSERT_EQ(0, raw_recv(&self->raw, &self->pkt, SOON));
	} while (msg_tid(&self->raw.got) != tid || self->pkt.flags);
	self->raw.tid = msg_tid64(&self->raw.got);
}

FIXTURE_SETUP(rx)
{
	RAW_OPEN(!variant->response);
	self->unmatched = umad_counter(&self->port, "recv_unmatched");
	self->refused = umad_counter(&self->port, "rmpp_refused");
	self->stray = umad_counter(&self->port, "rmpp_unmatched");
}

FIXTURE_TEARDOWN(rx)
{
	RAW_CLOSE();
}

#define EXPECT_ASKED(tid)						\
	rx_expect(_metadata, self, variant->response, tid, PATIENT)

/* Segments @from to @to; the last one ends the message of @segs. */
static int rx_send(FIXTURE_DATA(rx) *self, uint32_t from, uint32_t to, uint32_t segs)
{
	uint32_t seg, len;
	int ret;

	for (seg = from; seg <= to; seg++) {
		len = seg == 1 ? segs * RMPP_PAYLOAD : 0;
		if (seg == segs)
			len = RMPP_PAYLOAD;
		ret = raw_data(&self->raw, seg, seg == segs ? RMPP_LAST : 0,
			       len);
		if (ret)
			return ret;
		/* Not more than the receive queue has room for. */
		if (seg % 64 == 0)
			sleep_ms(20);
	}
	return 0;
}

/* The first segment, and that it is acknowledged. */
static void rx_first(struct __test_metadata *_metadata, FIXTURE_DATA(rx) *self,
		     uint32_t segs)
{
	ASSERT_EQ(0, rx_send(self, 1, 1, segs));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, 1, &self->pkt, SOON));
	ASSERT_LT(1, self->pkt.len);
}

/* A whole message is sent as it should be, and delivered. */
static void rx_whole(struct __test_metadata *_metadata, FIXTURE_DATA(rx) *self,
		     uint32_t segs)
{
	rx_first(_metadata, self, segs);
	ASSERT_EQ(0, rx_send(self, 2, segs, segs));
	ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_ACK, segs, &self->pkt,
				  SOON));
	ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, segs * SEG, self->raw.seed)) {
		TH_LOG("status %u, %zu bytes for %u",
		       rmpp_user_hdr(&self->got)->status, self->got.mad_len,
		       40 + segs * SEG);
	}
}

#define PKT(_version, _type, _flags, _status, _seg, _len)		\
	{ .version = _version, .type = _type,				\
	  .flags = RMPP_ACTIVE | (_flags), .status = _status,		\
	  .seg = _seg, .len = _len }

#endif /* RMPP_RX_FIXTURE_H */
