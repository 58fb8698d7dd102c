// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages of several segments between two OPA ports: with base version 0x80 a
 * segment has 2,048 bytes, with base version 1 it has 256.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"
#include "rmpp_util.h"

#include <stdio.h>

#define LEFT		50
#define RIGHT		51
#define RIGHT_LID	0x20
#define SOON		20000	/* ms; for what has to happen */
#define WHILE		300	/* ms; for what must not */
#define OPA_SEGMENT	2048
#define BUFFER		(1 << 20)
#define RMPP_VENDOR_HDR	40	/* MAD, RMPP and vendor header */
#define RMPP_SA_HDR	56	/* MAD, RMPP and SA header */

FIXTURE(opa) {
	struct test_port path;	/* from left to right */
	int left;		/* agent 0: a client */
	int right;		/* agent 0: METHOD_TABLE */
	struct rmpp_msg msg, got, reply;
};

FIXTURE_VARIANT(opa) {
	uint8_t version;
	unsigned int segment;
};

FIXTURE_VARIANT_ADD(opa, of_opa) {
	.version = 0x80,
	.segment = OPA_SEGMENT,
};

FIXTURE_VARIANT_ADD(opa, of_infiniband) {
	.version = 1,
	.segment = MAD_LEN,
};

FIXTURE_SETUP(opa)
{
	struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP,
		.rmpp_version = 1,
	};

	ASSERT_EQ(0, hwsim_new(LEFT, "link=opa fabric=opa lid=0x10"));
	ASSERT_EQ(0, hwsim_new(RIGHT, "link=opa fabric=opa lid=0x20"));
	self->left = hwsim_open(LEFT, 1, O_RDWR | O_NONBLOCK);
	self->right = hwsim_open(RIGHT, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->left);
	ASSERT_LE(0, self->right);
	ASSERT_EQ(0, rmpp_register(self->left, &agent));
	agent.method = METHOD_TABLE;
	ASSERT_EQ(0, rmpp_register(self->right, &agent));
	self->path.lid = RIGHT_LID;
}

FIXTURE_TEARDOWN(opa)
{
	close(self->left);
	close(self->right);
	rmpp_msg_free(&self->msg);
	rmpp_msg_free(&self->got);
	rmpp_msg_free(&self->reply);
	EXPECT_EQ(0, hwsim_del(LEFT));
	EXPECT_EQ(0, hwsim_del(RIGHT));
}

static void init(FIXTURE_DATA(opa) *self, const FIXTURE_VARIANT(opa) *variant,
		 size_t len, uint32_t seed)
{
	rmpp_msg_init(&self->msg, &self->path, HDR_NEW, 0, CLASS_RMPP,
		      METHOD_TABLE, seed, len, seed);
	rmpp_user_hdr(&self->msg)->grh_present = 0;
	rmpp_mad(&self->msg)->base_version = variant->version;
}

/* As rmpp_msg_read(), whose buffer is too small for a segment of OPA. */
static int read_msg(int fd, struct rmpp_msg *msg)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	ssize_t n;

	msg->hdr_len = HDR_NEW;
	if (!msg->buf) {
		msg->size = BUFFER;
		msg->buf = malloc(msg->size);
	}
	if (poll(&pfd, 1, SOON) != 1)
		return -ETIME;
	n = read(fd, msg->buf, msg->size);
	if (n < 0)
		return -errno;
	msg->mad_len = n - HDR_NEW;
	return n;
}

/* All packets but the last are full; some may go out again on a busy machine. */
static bool are_enough(const FIXTURE_VARIANT(opa) *variant, size_t len,
		       long sent)
{
	size_t data = variant->segment - RMPP_VENDOR_HDR;
	long packets = (len + data - 1) / data;

	return sent >= packets && sent <= 2 * packets + 4;
}

TEST_F_TIMEOUT(opa, messages_arrive_in_as_many_segments_as_they_need, 120)
{
	size_t data = variant->segment - RMPP_VENDOR_HDR;
	size_t sizes[] = {
		1, data - 1, data, data + 1, 2 * data, 2 * data + 1,
		64 * data, 65 * data + 7, 300000,
	};
	long before, sent;
	int i, n;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		before = hwsim_counter(LEFT, 1, "tx_packets");
		init(self, variant, sizes[i], 100 + i);
		n = HDR_NEW + self->msg.mad_len;
		ASSERT_EQ(n, rmpp_msg_write(self->left, &self->msg));
		ASSERT_EQ(n, read_msg(self->right, &self->got)) {
			TH_LOG("%zu bytes", sizes[i]);
		}
		EXPECT_TRUE(rmpp_msg_has(&self->got, sizes[i], 100 + i));
		sent = hwsim_counter(LEFT, 1, "tx_packets") - before;
		EXPECT_TRUE(are_enough(variant, sizes[i], sent)) {
			TH_LOG("%zu bytes in %ld packets", sizes[i], sent);
		}
	}
}

TEST_F_TIMEOUT(opa, request_gets_a_table, 120)
{
	size_t len = 200000;
	long sent;

	init(self, variant, 100, 1);
	rmpp_user_hdr(&self->msg)->timeout_ms = SOON;
	ASSERT_LT(0, rmpp_msg_write(self->left, &self->msg));
	ASSERT_LT(0, read_msg(self->right, &self->got));
	rmpp_msg_reply(&self->reply, &self->got, 0, len, 2);
	rmpp_mad(&self->reply)->base_version = variant->version;
	ASSERT_LT(0, rmpp_msg_write(self->right, &self->reply));
	ASSERT_LT(0, read_msg(self->left, &self->got));
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
	EXPECT_TRUE(rmpp_msg_has(&self->got, len, 2));
	sent = hwsim_counter(RIGHT, 1, "tx_packets");
	EXPECT_TRUE(are_enough(variant, len, sent)) {
		TH_LOG("%zu bytes in %ld packets", len, sent);
	}
}

/* The far end of a port, from which frames come of any node. */
#define FAR		52
#define FAR_DATA	(MAD_LEN - RMPP_VENDOR_HDR)

FIXTURE(far) {
	int wire;
	int fd;		/* agent 0 serves METHOD_TABLE */
	struct ib_hwsim_frame frame;
	struct rmpp_pkt pkt;
	uint8_t version;
	struct rmpp_msg got;
};

FIXTURE_SETUP(far)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TABLE,
	};

	self->version = 1;
	ASSERT_EQ(0, hwsim_new(FAR, "lid=0x20 link=opa"));
	self->wire = raw_attach(FAR, 1);
	self->fd = hwsim_open(FAR, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->wire);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, rmpp_register(self->fd, &agent));
}

FIXTURE_TEARDOWN(far)
{
	close(self->fd);
	close(self->wire);
	rmpp_msg_free(&self->got);
	EXPECT_EQ(0, hwsim_del(FAR));
}

/*
 * Of a message of two segments, from a node. OPA's may be short. Return: what is answered
 * meanwhile, or an errno.
 */
static int far_segment(FIXTURE_DATA(far) *self, uint8_t mgmt_class, uint32_t slid,
		       uint32_t seg, uint32_t len)
{
	const struct rmpp_pkt pkt = {
		.version = self->version,
		.type = RMPP_DATA,
		.flags = RMPP_ACTIVE | (seg == 1 ? RMPP_FIRST : RMPP_LAST),
		.seg = seg,
		.len = seg == 1 ? 2 * RMPP_PAYLOAD : RMPP_PAYLOAD,
	};
	struct ib_hwsim_frame *frame = &self->frame;
	int ret;

	frame_init(frame, mgmt_class, METHOD_TABLE, 77);
	frame_mad(frame)->class_version = mgmt_class == CLASS_SA ? 2 : 1;
	/* Of the other base version ib_core takes all for 256 bytes. */
	if (len < MAD_LEN)
		frame_mad(frame)->base_version = 0x80;
	frame->len = len;
	frame->slid = slid;
	frame->dlid = 0x20;
	rmpp_put(frame->mad, &pkt);
	frame->mad[36] = 0;
	mad_put_oui(frame->mad);
	rmpp_fill(frame->mad + RMPP_VENDOR_HDR, (seg - 1) * FAR_DATA, FAR_DATA, slid);
	ret = raw_write(self->wire, frame);
	if (!ret)
		ret = raw_read(self->wire, frame, WHILE);
	if (ret < 0)
		return ret;
	rmpp_get(frame->mad, &self->pkt);
	return self->pkt.type;
}

/* Two nodes whose LIDs differ in the upper half only, and whose TIDs are equal. */
TEST_F(far, messages_of_two_long_LIDs_are_not_joined)
{
	const uint32_t slids[] = { 0x100, 0x10100 };
	int n;

	/* The first has sent one segment of two when the second sends its two. */
	far_segment(self, CLASS_RMPP, slids[0], 1, MAD_LEN);
	far_segment(self, CLASS_RMPP, slids[1], 1, MAD_LEN);
	far_segment(self, CLASS_RMPP, slids[1], 2, MAD_LEN);
	for (n = 0; rmpp_msg_read(self->fd, &self->got, HDR_NEW, WHILE) > 0; n++)
		EXPECT_TRUE(rmpp_msg_has(&self->got, 2 * FAR_DATA, slids[1])) {
			TH_LOG("joined of two");
		}
	EXPECT_EQ(1, n);
}

/* What a buffer has held before does not become data. */
TEST_F(far, segment_that_ends_before_its_data_is_lost)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_SA, .rmpp_version = 1, .method = METHOD_TABLE,
	};

	ASSERT_EQ(1, rmpp_register(self->fd, &agent));
	EXPECT_EQ(-ETIME, far_segment(self, CLASS_SA, 0x100, 1, RMPP_SA_HDR - 1));
	EXPECT_EQ(RMPP_ACK, far_segment(self, CLASS_SA, 0x100, 1, RMPP_SA_HDR + 8));
}

/* Nor is it sent to who has asked for it with a packet that is too short. */
TEST_F(far, packet_that_ends_before_its_data_has_no_answer)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_SA, .rmpp_version = 1, .method = METHOD_TABLE,
	};

	ASSERT_EQ(1, rmpp_register(self->fd, &agent));
	self->version = 2;
	EXPECT_EQ(-ETIME, far_segment(self, CLASS_SA, 0x100, 1, RMPP_SA_HDR - 20));
	EXPECT_EQ(RMPP_ABORT, far_segment(self, CLASS_SA, 0x100, 1, RMPP_SA_HDR));
}

TEST_HARNESS_MAIN
