/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fixture of the tests of the kernel's RMPP sender: a receiver made by
 * hand, which a message is pushed to, or that is asked, or answered.
 */
#ifndef RMPP_TX_FIXTURE_H
#define RMPP_TX_FIXTURE_H

#include "rmpp_raw_fixture.h"

FIXTURE(tx) {
	RAW_MEMBERS;		/* the peer is the receiver */
	uint32_t timeout_ms;
	uint32_t retries;	/* in-tree nothing is sent again without */
	long undelivered;
};

enum tx_kind { PUSH, ASK, ANSWER };

FIXTURE_VARIANT(tx) {
	enum tx_kind kind;
};

/* The kernel sends on its own, and expects no response. */
FIXTURE_VARIANT_ADD(tx, push) {
	.kind = PUSH,
};

/* It sends a long request, and expects a response. */
FIXTURE_VARIANT_ADD(tx, ask) {
	.kind = ASK,
};

/* It answers a plain request. */
FIXTURE_VARIANT_ADD(tx, answer) {
	.kind = ANSWER,
};

FIXTURE_SETUP(tx)
{
	RAW_OPEN(variant->kind == ANSWER);
	self->timeout_ms = variant->kind == ASK ? 10000 : 0;
	self->retries = 3;
	self->undelivered = umad_counter(&self->port, "rmpp_tx_failed");
}

FIXTURE_TEARDOWN(tx)
{
	RAW_CLOSE();
}

/* Let the kernel begin to send; the first segment has been received. */
static void tx_begin(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
		     const FIXTURE_VARIANT(tx) *variant, uint32_t tid, size_t len)
{
	struct umad_msg req;

	if (variant->kind == ANSWER) {
		msg_init(&req, &self->port, 0, CLASS_RMPP, METHOD_TABLE, tid);
		ASSERT_EQ(MSG_LEN, msg_write(self->raw.fd, &req));
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, HDR_NEW, SOON));
		rmpp_msg_reply(&self->msg, &self->got, 0, len, tid);
	} else {
		rmpp_msg_init(&self->msg, &self->port, HDR_NEW, 0, CLASS_RMPP,
			      METHOD_TABLE, tid, len, tid);
		rmpp_user_hdr(&self->msg)->timeout_ms = self->timeout_ms;
	}
	rmpp_user_hdr(&self->msg)->retries = self->retries;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	do {
		ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_DATA, 1, &self->pkt,
					  SOON));
	} while (msg_tid(&self->raw.got) != tid);
	self->raw.tid = msg_tid64(&self->raw.got);
	self->raw.seed = tid;
}

#define BEGIN(tid, segs)						\
	tx_begin(_metadata, self, variant, tid, (segs) * SEG)

/* Segments @from to @to, in this order, whatever is repeated in between. */
static void tx_take(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
		    uint32_t from, uint32_t to, uint32_t segs)
{
	uint32_t seg;

	for (seg = from; seg <= to; seg++) {
		ASSERT_EQ(0, raw_wait_seg(&self->raw, RMPP_DATA, seg,
					  &self->pkt, SOON)) {
			TH_LOG("segment %u", seg);
		}
		EXPECT_EQ(1, self->pkt.version);
		EXPECT_EQ(0, self->pkt.status);
		EXPECT_EQ(RMPP_ACTIVE | (seg == 1 ? RMPP_FIRST : 0) |
			  (seg == segs ? RMPP_LAST : 0), self->pkt.flags);
		EXPECT_TRUE(rmpp_same(self->raw.got.data + 40,
				      (seg - 1) * SEG, SEG, self->raw.seed));
	}
}

/* It was not delivered, and the program is told; in-tree without a reason. */
static inline void tx_told(struct __test_metadata *_metadata, FIXTURE_DATA(tx) *self,
			   uint8_t reason, uint8_t status)
{
	struct ib_user_mad_hdr *hdr;

	ASSERT_EQ(TIMED_OUT_LEN, rmpp_msg_read(self->fd, &self->got, HDR_NEW,
					       SOON));
	hdr = rmpp_user_hdr(&self->got);
	EXPECT_EQ(ETIMEDOUT, hdr->status);
	EXPECT_EQ(self->raw.tid, be64toh(rmpp_mad(&self->got)->tid));
	EXPECT_EQ(reason, hdr->reserved[0]);
	EXPECT_EQ(status, hdr->reserved[1]);
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

#endif /* RMPP_TX_FIXTURE_H */
