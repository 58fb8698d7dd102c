// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RMPP with peers that are frames written to the far end of a simulated port:
 * any LID and GID, at any time, and what the module sends is seen as it left.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"
#include "rmpp_util.h"

#include <stdio.h>

#define DEVICE	32
#define LID	0x20
#define PEER	0x100	/* LID of the first peer */
#define SOON	5000	/* ms; for what has to happen */
#define WHILE	300	/* ms; for what must not */
#define SEG	216
#define CREDIT	384	/* of a receive queue of 512 */

FIXTURE(peers) {
	int wire;
	int fd;			/* agent 0 serves METHOD_TABLE */
	struct ib_hwsim_frame frame, seen;
	struct rmpp_pkt pkt;
	struct rmpp_msg msg, got;
};

static int set_fail(const char *verb, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path),
		 "/sys/kernel/debug/ib_hwsim/hwsim%u/fail/%s", DEVICE, verb);
	return umad_write_sysfs(path, text);
}

FIXTURE_SETUP(peers)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.method = METHOD_TABLE,
	};

	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20"));
	self->wire = raw_attach(DEVICE, 1);
	ASSERT_LE(0, self->wire);
	self->fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, rmpp_register(self->fd, &agent));
}

FIXTURE_TEARDOWN(peers)
{
	close(self->fd);
	close(self->wire);
	EXPECT_EQ(0, hwsim_del(DEVICE));
	rmpp_msg_free(&self->msg);
	rmpp_msg_free(&self->got);
}

/* One packet from a peer; DATA has the data that belongs there. */
static int inject(FIXTURE_DATA(peers) *self, uint16_t peer, uint8_t method,
		  uint64_t tid, const struct rmpp_pkt *pkt)
{
	struct ib_hwsim_frame *frame = &self->frame;

	frame_init(frame, CLASS_RMPP, method, tid);
	frame->slid = PEER + peer;
	frame->dlid = LID;
	frame_mad(frame)->attr_id = htobe16(0x35);
	rmpp_put(frame->mad, pkt);
	frame->mad[36] = 0;
	frame->mad[37] = TEST_OUI >> 16 & 0xff;
	frame->mad[38] = TEST_OUI >> 8 & 0xff;
	frame->mad[39] = TEST_OUI & 0xff;
	if (pkt->type == RMPP_DATA && pkt->seg)
		rmpp_fill(frame->mad + 40, (pkt->seg - 1) * SEG, SEG, tid);
	return raw_write(self->wire, frame);
}

static int data(FIXTURE_DATA(peers) *self, uint16_t peer, uint8_t method,
		uint64_t tid, uint32_t seg, uint32_t segs)
{
	const struct rmpp_pkt pkt = {
		.version = 1,
		.type = RMPP_DATA,
		.flags = RMPP_ACTIVE | (seg == 1 ? RMPP_FIRST : 0) |
			 (seg == segs ? RMPP_LAST : 0),
		.seg = seg,
		.len = seg == segs ? RMPP_PAYLOAD :
		       seg == 1 ? segs * RMPP_PAYLOAD : 0,
	};

	return inject(self, peer, method, tid, &pkt);
}

/* The next packet that the module sends, of any message; its type. */
static int see(FIXTURE_DATA(peers) *self, int wait_ms)
{
	int ret = raw_read(self->wire, &self->seen, wait_ms);

	if (ret < 0)
		return ret;
	rmpp_get(self->seen.mad, &self->pkt);
	return self->pkt.type;
}

/* No more is granted than there is, whenever the ACKs go out. */
TEST_F(peers, windows_are_chosen_when_the_ACK_is_sent)
{
	uint32_t i, n = 64, sum = 0;

	/* All begin before any can be answered. */
	ASSERT_EQ(0, set_fail("create_ah", "all"));
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, data(self, i, METHOD_TABLE, i + 1, 1, 5000));
	EXPECT_EQ(-ETIME, see(self, WHILE / 10));
	ASSERT_EQ(0, set_fail("create_ah", "off"));
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, data(self, i, METHOD_TABLE, i + 1, 1, 5000));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(RMPP_ACK, see(self, SOON));
		EXPECT_EQ(1, self->pkt.seg);
		sum += self->pkt.len - self->pkt.seg;
	}
	EXPECT_GE(CREDIT + n, sum) {
		TH_LOG("%u segments", sum);
	}
	EXPECT_LE(CREDIT / 4, sum);
}

TEST_HARNESS_MAIN
