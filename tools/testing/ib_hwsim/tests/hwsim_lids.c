// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Nodes with several LIDs (LMC) and GIDs: a response from another LID than was asked, and
 * a late one that comes to another address of ours than the one that is waited for.
 */
#include "hwsim_peers.h"

#define NODE_A	0x100
#define NODE_B	0x180
#define GUID_INFO	0x14
#define SECOND_GUID	"\x02\x22\x33\x44\x55\x66\x77\x88"

FIXTURE(lids) {
	int wire, fd, rmpp;
	struct ib_hwsim_frame frame, seen;
	struct umad_msg got;
	struct rmpp_msg msg, answer;
};

/* By the subnet manager's way; the table of GIDs has it a moment later. */
static int add_guid(FIXTURE_DATA(lids) *self)
{
	uint8_t gid[16];
	int i;

	frame_smp(&self->frame, METHOD_GET, GUID_INFO, 0);
	if (raw_write(self->wire, &self->frame) ||
	    raw_read(self->wire, &self->seen, SOON) < 0)
		return -EIO;
	frame_smp(&self->frame, METHOD_SET, GUID_INFO, 0);
	memcpy(self->frame.mad + SMP_DATA, self->seen.mad + SMP_DATA, 64);
	memcpy(self->frame.mad + SMP_DATA + 8, SECOND_GUID, 8);
	if (raw_write(self->wire, &self->frame) ||
	    raw_read(self->wire, &self->seen, SOON) < 0)
		return -EIO;
	for (i = 0; i < 100; i++) {
		if (!port_gid(1, gid) && !memcmp(gid + 8, SECOND_GUID, 8))
			return 0;
		sleep_ms(20);
	}
	return -ETIME;
}

FIXTURE_SETUP(lids)
{
	const struct rmpp_agent agent = { .mgmt_class = CLASS_RMPP, .rmpp_version = 1 };

	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20 lmc=2"));
	self->wire = raw_attach(DEVICE, 1);
	ASSERT_LE(0, self->wire);
	ASSERT_EQ(0, add_guid(self));
	self->fd = hwsim_client(DEVICE, 1);
	ASSERT_LE(0, self->fd);
	self->rmpp = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->rmpp);
	ASSERT_EQ(0, rmpp_register(self->rmpp, &agent));
}

FIXTURE_TEARDOWN(lids)
{
	close(self->fd);
	close(self->rmpp);
	close(self->wire);
	rmpp_msg_free(&self->msg);
	rmpp_msg_free(&self->answer);
	EXPECT_EQ(0, hwsim_del(DEVICE));
}

/* Where a request comes from: what of our addresses. */
struct ours {
	bool grh;
	int gid_index, path_bits;
};

/* One with the same TID each time; @seen is it as it has left. */
static int ask(FIXTURE_DATA(lids) *self, uint16_t lid, const struct ours *ours,
	       uint32_t timeout_ms, struct ib_hwsim_frame *seen)
{
	struct test_port node = { .lid = lid, .gid_index = ours->gid_index };
	struct umad_msg msg;

	memset(node.gid, 0xbb, 14);
	node.gid[14] = lid >> 8;
	node.gid[15] = lid;
	msg_init(&msg, &node, 0, CLASS_VENDOR1, METHOD_TEST, 77);
	msg.hdr.grh_present = ours->grh;
	msg.hdr.path_bits = ours->path_bits;
	msg.hdr.timeout_ms = timeout_ms;
	if (msg_write(self->fd, &msg) != MSG_LEN)
		return -EIO;
	return raw_read(self->wire, seen, SOON) < 0 ? -ETIME : 0;
}

/* Its response, with a byte that says who has sent it, from the LID @from further. */
static int respond(int wire, const struct ib_hwsim_frame *req, uint8_t byte, int from)
{
	struct ib_hwsim_frame frame = *req;

	frame.slid = req->dlid + from;
	frame.dlid = req->slid;
	memcpy(frame.grh + 8, req->grh + 24, 16);
	memcpy(frame.grh + 24, req->grh + 8, 16);
	frame_mad(&frame)->method |= METHOD_RESP;
	frame.mad[200] = byte;
	return raw_write(wire, &frame);
}

/* A request to A times out, one to B has its TID, and A answers late. */
static void late_response(struct __test_metadata *_metadata, FIXTURE_DATA(lids) *self,
			  const struct ours *first, const struct ours *second)
{
	struct ib_hwsim_frame at_a, at_b;

	ASSERT_EQ(0, ask(self, NODE_A, first, 100, &at_a));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, SOON));
	ASSERT_EQ(0, ask(self, NODE_B, second, SOON, &at_b));
	ASSERT_EQ(0, respond(self->wire, &at_a, 'A', 0));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
	ASSERT_EQ(0, respond(self->wire, &at_b, 'B', 0));
	EXPECT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ('B', ((uint8_t *)&self->got.mad)[200]);
}

TEST_F(lids, late_response_to_another_gid)
{
	const struct ours first = { .grh = true }, second = { .grh = true, .gid_index = 1 };

	late_response(_metadata, self, &first, &second);
}

TEST_F(lids, late_response_to_another_lid)
{
	const struct ours first = {}, second = { .path_bits = 1 };

	late_response(_metadata, self, &first, &second);
}

TEST_F(lids, late_response_without_a_grh)
{
	const struct ours first = {}, second = { .grh = true };

	late_response(_metadata, self, &first, &second);
}

/* ib_core does not compare that LID. */
TEST_F(lids, response_from_another_lid)
{
	const struct ours ours = {};
	struct ib_hwsim_frame seen;

	ASSERT_EQ(0, ask(self, NODE_A + 1, &ours, SOON, &seen));
	ASSERT_EQ(0, respond(self->wire, &seen, 'A', -1));
	EXPECT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(0, self->got.hdr.status);
}

/* The first segment of three, from node A. */
static int answer_segment(FIXTURE_DATA(lids) *self, uint64_t tid)
{
	const struct rmpp_pkt pkt = {
		.version = 1, .type = RMPP_DATA, .flags = RMPP_ACTIVE | RMPP_FIRST,
		.seg = 1, .len = 3 * RMPP_PAYLOAD,
	};

	frame_init(&self->frame, CLASS_RMPP, METHOD_TABLE | METHOD_RESP, tid);
	self->frame.slid = NODE_A;
	self->frame.dlid = LID;
	rmpp_put(self->frame.mad, &pkt);
	mad_put_oui(self->frame.mad);
	return raw_write(self->wire, &self->frame);
}

/*
 * Another node sends the first segment of a message with the TID of a request: ib_core, which
 * does not compare the LID, takes that for the response. It costs the request nothing.
 */
TEST_F(lids, segment_of_a_third_node)
{
	struct test_port node = { .lid = NODE_B };
	uint64_t tid, start;
	int i;

	for (i = 0; i < 2; i++) {
		rmpp_msg_init(&self->msg, &node, HDR_NEW, 0, CLASS_RMPP, METHOD_TABLE, i, 100, 9);
		rmpp_user_hdr(&self->msg)->grh_present = 0;
		rmpp_user_hdr(&self->msg)->timeout_ms = i ? 300 : 1000;
		/* A request that is no message. */
		rmpp_mad_bytes(&self->msg)[26] = 0;
		start = now_ms();
		ASSERT_LT(0, rmpp_msg_write(self->rmpp, &self->msg));
		ASSERT_LT(0, raw_read(self->wire, &self->seen, SOON));
		tid = be64toh(frame_mad(&self->seen)->tid);
		ASSERT_EQ(0, answer_segment(self, tid));
		sleep_ms(20);
		/* The first is answered, the second times out. */
		if (!i)
			ASSERT_EQ(0, respond(self->wire, &self->seen, 'B', 0));
		ASSERT_LT(0, rmpp_msg_read(self->rmpp, &self->answer, HDR_NEW, SOON));
		EXPECT_EQ(i ? ETIMEDOUT : 0, rmpp_user_hdr(&self->answer)->status);
		EXPECT_GT(1000, now_ms() - start);
		rmpp_msg_free(&self->msg);
		rmpp_msg_free(&self->answer);
		while (raw_read(self->wire, &self->seen, 0) > 0)
			;
	}
}

TEST_HARNESS_MAIN
