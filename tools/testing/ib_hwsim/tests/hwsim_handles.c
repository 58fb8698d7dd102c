// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The address handle of an agent's last MAD, which another MAD to the same place may use:
 * whatever changes from one to the next is seen in the packet.
 */
#include "hwsim_peers.h"

FIXTURE(handles) {
	int wire, fd;
	struct ib_hwsim_frame seen;
};

FIXTURE_SETUP(handles)
{
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20 lmc=2"));
	self->wire = raw_attach(DEVICE, 1);
	ASSERT_LE(0, self->wire);
	self->fd = hwsim_client(DEVICE, 1);
	ASSERT_LE(0, self->fd);
}

/* A handle that is left over is seen when the device goes. */
FIXTURE_TEARDOWN(handles)
{
	close(self->fd);
	close(self->wire);
	EXPECT_EQ(0, hwsim_del(DEVICE));
}

/* What stands in the header of a packet, or in its GRH. */
struct place {
	uint16_t lid;
	uint8_t sl, path_bits;
	uint8_t guid;		/* the last byte of the GID, or 0 for no GRH */
};

static void place_msg(struct umad_msg *msg, const struct place *place, uint64_t tid)
{
	struct test_port node = { .lid = place->lid };

	memset(node.gid, 0xbb, 15);
	node.gid[15] = place->guid;
	msg_init(msg, &node, 0, CLASS_VENDOR1, METHOD_TEST, tid);
	msg->hdr.grh_present = !!place->guid;
	msg->hdr.sl = place->sl;
	msg->hdr.path_bits = place->path_bits;
}

/* An outstanding request to there; 0 if it goes there. */
static int ask(FIXTURE_DATA(handles) *self, const struct place *place, uint64_t tid)
{
	const struct ib_hwsim_frame *seen = &self->seen;
	struct umad_msg msg;

	place_msg(&msg, place, tid);
	msg.hdr.timeout_ms = -1;
	if (msg_write(self->fd, &msg) != MSG_LEN || raw_read(self->wire, &self->seen, SOON) < 0)
		return -EIO;
	if (seen->dlid != place->lid || seen->sl != place->sl ||
	    seen->slid != LID + place->path_bits)
		return -EBADMSG;
	if (!place->guid)
		return seen->flags & IB_HWSIM_GRH ? -EBADMSG : 0;
	return seen->grh[39] == place->guid ? 0 : -EBADMSG;
}

TEST_F(handles, goes_where_it_says)
{
	static const struct place places[] = {
		{ .lid = 0x100 }, { .lid = 0x101 }, { .lid = 0x100 }, { .lid = 0x100, .sl = 3 },
		{ .lid = 0x100 }, { .lid = 0x100, .path_bits = 2 }, { .lid = 0x100 },
		{ .lid = 0x100, .guid = 1 }, { .lid = 0x100, .guid = 2 }, { .lid = 0x100 },
	};
	uint64_t tid = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		EXPECT_EQ(0, ask(self, &places[i], ++tid));
		EXPECT_EQ(0, ask(self, &places[i], ++tid));
	}
}

TEST_F(handles, one_for_many_to_the_same_place)
{
	const struct place place = { .lid = 0x100 };
	long before = address_handles(0);
	uint64_t tid;

	for (tid = 1; tid <= 100; tid++)
		ASSERT_EQ(0, ask(self, &place, tid));
	EXPECT_GE(before + 1, address_handles(before + 1));
	/* Nor is it kept longer than its agent. */
	ASSERT_EQ(0, umad_unreg(self->fd, 0));
	EXPECT_GE(before, address_handles(before));
}

/* A device may look up what belongs to the SL, and the SM may have changed that. */
TEST_F(handles, is_made_again_after_a_second)
{
	const struct place place = { .lid = 0x100 };
	long before = address_handles(0);

	ASSERT_EQ(0, ask(self, &place, 1));
	sleep_ms(1100);
	ASSERT_EQ(0, ask(self, &place, 2));
	EXPECT_EQ(before + 2, address_handles(before + 1));
}

/* In-tree it is the same: the source's LID is the port's at the moment. */
TEST_F(handles, lid_of_ours_changes)
{
	const struct place place = { .lid = 0x100 };
	struct ib_hwsim_frame frame;
	uint16_t lid = htobe16(0x30);

	ASSERT_EQ(0, ask(self, &place, 1));
	frame_smp(&frame, METHOD_GET, ATTR_PORT_INFO, 0);
	ASSERT_EQ(0, raw_write(self->wire, &frame));
	ASSERT_LE(0, raw_read(self->wire, &self->seen, SOON));
	frame_smp(&frame, METHOD_SET, ATTR_PORT_INFO, 0);
	memcpy(frame.mad + SMP_DATA, self->seen.mad + SMP_DATA, 64);
	memcpy(frame.mad + SMP_DATA + 16, &lid, sizeof(lid));
	ASSERT_EQ(0, raw_write(self->wire, &frame));
	ASSERT_LE(0, raw_read(self->wire, &self->seen, SOON));
	EXPECT_EQ(-EBADMSG, ask(self, &place, 2));
	EXPECT_EQ(0x30, self->seen.slid);
	EXPECT_EQ(place.lid, self->seen.dlid);
}

TEST_F(handles, device_goes_with_one_kept)
{
	const struct place place = { .lid = 0x100 };
	uint64_t tid;

	for (tid = 1; tid <= 3; tid++)
		ASSERT_EQ(0, ask(self, &place, tid));
	/* The kernel warns if it is there still. */
	EXPECT_EQ(0, hwsim_del(DEVICE));
	EXPECT_EQ(0, hwsim_new(DEVICE, "lid=0x20"));
}

TEST_HARNESS_MAIN
