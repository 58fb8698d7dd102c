// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What leaves is what arrives: P_Key index, GRH, path bits and service level,
 * from a program by ib_umad to the wire, from the wire to a program, and
 * between two devices; with both layouts of the header.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"

#include <stdio.h>

#define WIRE	20	/* its far end is this test */
#define LEFT	21	/* these two have a fabric */
#define RIGHT	22
#define PKEYS	8
#define LMC	3
#define LIDS	(1 << LMC)
#define WIRE_LID	0x20
#define LEFT_LID	0x40
#define RIGHT_LID	0x80
#define PATIENCE	3000
#define WHILE		300
#define CASES	6	/* of membership_decides_which_P_Key_is_taken */

static const uint16_t pkeys[PKEYS] = {
	0xffff, 0x8001, 0x0002, 0xa003, 0x2004, 0x8005, 0xfff6, 0x0007,
};

static int set_up(unsigned int id, unsigned int lid, const char *fabric)
{
	char text[256], *at = text;
	int ret, i;

	snprintf(text, sizeof(text),
		 "lid=%u lmc=%u pkeys=%u prefix=0xfd00000000000000 %s", lid,
		 LMC, PKEYS, fabric);
	ret = hwsim_new(id, text);
	if (ret)
		return ret;
	for (i = 0; i < PKEYS; i++)
		at += sprintf(at, "%d 0x%04x\n", i, pkeys[i]);
	return hwsim_set(id, 1, "pkeys", text);
}

static int read_gid(unsigned int id, int index, uint8_t gid[16])
{
	unsigned int word[8];
	char file[32], text[64];
	int ret, i;

	snprintf(file, sizeof(file), "gids/%d", index);
	ret = hwsim_sysfs(id, 1, file, text, sizeof(text));
	if (ret)
		return ret;
	if (sscanf(text, "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x", &word[0], &word[1],
		   &word[2], &word[3], &word[4], &word[5], &word[6],
		   &word[7]) != 8)
		return -EINVAL;
	for (i = 0; i < 8; i++) {
		gid[2 * i] = word[i] >> 8;
		gid[2 * i + 1] = word[i];
	}
	return 0;
}

/* ib_core learns of a change by a work of its own. */
static bool pkeys_known(unsigned int id)
{
	char file[32], text[32];
	int i, tries;

	snprintf(file, sizeof(file), "pkeys/%d", PKEYS - 1);
	for (tries = 0; tries < 100; tries++) {
		for (i = 0; i < PKEYS; i++) {
			snprintf(file, sizeof(file), "pkeys/%d", i);
			if (hwsim_sysfs(id, 1, file, text, sizeof(text)) ||
			    strtoul(text, NULL, 0) != pkeys[i])
				break;
		}
		if (i == PKEYS)
			return true;
		sleep_ms(20);
	}
	return false;
}

/* How a MAD is sent, number n of all ways worth a try. */
struct way {
	unsigned int pkey_index;
	unsigned int sl;
	unsigned int path_bits;
	bool grh;
};

#define WAYS (PKEYS * 2 * 4)

static struct way nth_way(unsigned int n)
{
	struct way way = {
		.pkey_index = n % PKEYS,
		.grh = n / PKEYS & 1,
		.sl = (n * 5 + n / PKEYS) % 16,
		.path_bits = (n * 3 + n / PKEYS) % LIDS,
	};

	return way;
}

static void set_way(struct umad_msg *msg, struct way way, unsigned int dlid,
		    const uint8_t *dgid)
{
	msg->hdr.lid = htobe16(dlid);
	msg->hdr.sl = way.sl;
	msg->hdr.path_bits = way.path_bits;
	msg->hdr.pkey_index = way.pkey_index;
	msg->hdr.grh_present = way.grh;
	if (!way.grh)
		return;
	msg->hdr.gid_index = 0;
	msg->hdr.hop_limit = 17;
	msg->hdr.traffic_class = 0xa5;
	msg->hdr.flow_label = htobe32(0xabcde);
	memcpy(msg->hdr.gid, dgid, 16);
}

static void fill(struct umad_msg *msg, uint64_t tid)
{
	int i;

	memset(msg, 0, sizeof(*msg));
	msg->hdr.qpn = htobe32(1);
	msg->hdr.qkey = htobe32(GSI_QKEY);
	msg->mad.base_version = 1;
	msg->mad.mgmt_class = CLASS_VENDOR1;
	msg->mad.class_version = 1;
	msg->mad.method = METHOD_TEST;
	msg->mad.tid = htobe64(tid);
	for (i = MAD_HDR_LEN; i < MAD_LEN; i++)
		msg->data[i] = i * 3 + tid;
}

/* Turns a message with the new header into one with the old header. */
static void to_old(uint8_t *old, const struct umad_msg *msg)
{
	memcpy(old, &msg->hdr, HDR_OLD);
	memcpy(old + HDR_OLD, msg->data, MAD_LEN);
}

FIXTURE(wire) {
	int fd;		/* agent 0: a client; agent 1: METHOD_TEST */
	int raw;
	uint8_t gid[16];
	uint8_t far_gid[16];
	struct umad_msg msg, got;
	struct ib_hwsim_frame frame;
};

FIXTURE_SETUP(wire)
{
	ASSERT_EQ(0, set_up(WIRE, WIRE_LID, ""));
	ASSERT_TRUE(pkeys_known(WIRE));
	ASSERT_EQ(0, read_gid(WIRE, 0, self->gid));
	memcpy(self->far_gid, self->gid, 16);
	self->far_gid[15] ^= 0x55;
	self->raw = raw_attach(WIRE, 1);
	ASSERT_LE(0, self->raw);
	self->fd = hwsim_open(WIRE, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(wire)
{
	close(self->fd);
	close(self->raw);
	EXPECT_EQ(0, hwsim_del(WIRE));
}

static void register_both(struct __test_metadata *_metadata, int fd)
{
	ASSERT_EQ(0, umad_reg_client(fd));
	ASSERT_EQ(1, umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST));
}

/* By the ioctl that leaves the old header in force. */
static int register_old(int fd, uint8_t mgmt_class, unsigned int method)
{
	struct ib_user_mad_reg_req req = {
		.qpn = 1,
		.mgmt_class = mgmt_class,
		.mgmt_class_version = mgmt_class ? 1 : 0,
	};
	int ret;

	if (mgmt_class)
		mask_set((uint64_t *)req.method_mask, method);
	ret = umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req);
	return ret ? ret : (int)req.id;
}

static void register_both_old(struct __test_metadata *_metadata, int fd)
{
	ASSERT_EQ(0, register_old(fd, 0, 0));
	ASSERT_EQ(1, register_old(fd, CLASS_VENDOR1, METHOD_TEST));
}

/* A GRH as the wire has it (IBA 8.3). */
static void expect_grh(struct __test_metadata *_metadata, const uint8_t *grh,
		       const uint8_t *sgid, const uint8_t *dgid)
{
	EXPECT_EQ(0x6a, grh[0]);
	EXPECT_EQ(0x5a, grh[1]);
	EXPECT_EQ(0xbc, grh[2]);
	EXPECT_EQ(0xde, grh[3]);
	EXPECT_EQ(MAD_LEN + 12 + 8 + 4, grh[4] << 8 | grh[5]);
	EXPECT_EQ(0x1b, grh[6]);
	EXPECT_EQ(17, grh[7]);
	EXPECT_EQ(0, memcmp(grh + 8, sgid, 16));
	EXPECT_EQ(0, memcmp(grh + 24, dgid, 16));
}

static void expect_frame(struct __test_metadata *_metadata,
			 FIXTURE_DATA(wire) *self, struct way way,
			 unsigned int pkey_index)
{
	struct ib_hwsim_frame *frame = &self->frame;

	ASSERT_EQ(IB_HWSIM_FRAME_LEN(MAD_LEN),
		  raw_read(self->raw, frame, PATIENCE));
	EXPECT_EQ(MAD_LEN, frame->len);
	EXPECT_EQ(way.grh ? IB_HWSIM_GRH : 0, frame->flags);
	EXPECT_EQ(WIRE_LID + way.path_bits, frame->slid);
	EXPECT_EQ(0x99, frame->dlid);
	EXPECT_EQ(way.sl, frame->sl);
	EXPECT_EQ(pkeys[pkey_index], frame->pkey);
	EXPECT_EQ(1, frame->src_qp);
	EXPECT_EQ(1, frame->dest_qp);
	EXPECT_EQ(GSI_QKEY, frame->qkey);
	if (way.grh)
		expect_grh(_metadata, frame->grh, self->gid, self->far_gid);
	/* The upper half of the transaction ID is ib_core's. */
	EXPECT_EQ(0, memcmp(frame->mad, self->msg.data, 8));
	EXPECT_EQ(0, memcmp(frame->mad + 12, self->msg.data + 12,
			    MAD_LEN - 12));
}

TEST_F(wire, sends_go_out_as_asked)
{
	struct way way;
	unsigned int n;

	ASSERT_EQ(0, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	register_both(_metadata, self->fd);
	for (n = 0; n < WAYS; n++) {
		way = nth_way(n);
		fill(&self->msg, n + 1);
		set_way(&self->msg, way, 0x99, self->far_gid);
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
		expect_frame(_metadata, self, way, way.pkey_index);
	}
}

TEST_F(wire, sends_with_the_old_header_have_P_Key_index_0)
{
	uint8_t old[HDR_OLD + MAD_LEN];
	struct way way;
	unsigned int n;

	register_both_old(_metadata, self->fd);
	for (n = 0; n < WAYS; n++) {
		way = nth_way(n);
		fill(&self->msg, n + 1);
		set_way(&self->msg, way, 0x99, self->far_gid);
		to_old(old, &self->msg);
		ASSERT_EQ(sizeof(old), write(self->fd, old, sizeof(old)));
		expect_frame(_metadata, self, way, 0);
	}
}

/* What comes in the way that nth_way(n) says. */
static void receive(struct __test_metadata *_metadata,
		    FIXTURE_DATA(wire) *self, struct way way, unsigned int n)
{
	struct ib_hwsim_frame *frame = &self->frame;

	frame_init(frame, CLASS_VENDOR1, METHOD_TEST, n + 1);
	frame->slid = 0x99 + n;
	frame->dlid = WIRE_LID + way.path_bits;
	frame->sl = way.sl;
	frame->pkey = pkeys[way.pkey_index];
	if (way.grh) {
		frame->flags = IB_HWSIM_GRH;
		memcpy(frame->grh, "\x6a\x5a\xbc\xde\x01\x18\x1b\x11", 8);
		memcpy(frame->grh + 8, self->far_gid, 16);
		memcpy(frame->grh + 24, self->gid, 16);
	}
	ASSERT_EQ(0, raw_write(self->raw, frame));
}

static void expect_hdr(struct __test_metadata *_metadata,
		       FIXTURE_DATA(wire) *self,
		       const struct ib_user_mad_hdr *hdr, struct way way,
		       unsigned int n)
{
	EXPECT_EQ(1, hdr->id);
	EXPECT_EQ(0, hdr->status);
	EXPECT_EQ(1, be32toh(hdr->qpn));
	EXPECT_EQ(0x99 + n, be16toh(hdr->lid));
	EXPECT_EQ(way.sl, hdr->sl);
	EXPECT_EQ(way.path_bits, hdr->path_bits);
	EXPECT_EQ(way.grh, hdr->grh_present);
	if (way.grh) {
		EXPECT_EQ(0, hdr->gid_index);
		/* That of an answer; ib_core does not say what came. */
		EXPECT_EQ(255, hdr->hop_limit);
		EXPECT_EQ(0xa5, hdr->traffic_class);
		EXPECT_EQ(0xabcde, be32toh(hdr->flow_label));
		EXPECT_EQ(0, memcmp(hdr->gid, self->far_gid, 16));
	}
}

TEST_F(wire, receives_come_in_as_sent)
{
	struct way way;
	unsigned int n;

	ASSERT_EQ(0, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	register_both(_metadata, self->fd);
	for (n = 0; n < WAYS; n++) {
		way = nth_way(n);
		receive(_metadata, self, way, n);
		ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, PATIENCE));
		expect_hdr(_metadata, self, &self->got.hdr, way, n);
		EXPECT_EQ(way.pkey_index, self->got.hdr.pkey_index);
		EXPECT_EQ(0, memcmp(self->frame.mad, self->got.data, MAD_LEN));
	}
}

/* The SA is addressed by a GUID that no port has (IBA 13.5.4.4): its GID is the first. */
TEST_F(wire, receives_by_the_GUID_of_every_SA)
{
	struct way way = { .grh = true };

	ASSERT_EQ(0, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	register_both(_metadata, self->fd);
	memcpy(self->gid + 8, "\x02\0\0\0\0\0\0\x02", 8);
	receive(_metadata, self, way, 0);
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, PATIENCE));
	expect_hdr(_metadata, self, &self->got.hdr, way, 0);
	/* And by that of nobody it does not come in. */
	self->gid[15]++;
	receive(_metadata, self, way, 1);
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
}

TEST_F(wire, receives_come_in_with_the_old_header)
{
	struct pollfd pfd = { .fd = self->fd, .events = POLLIN };
	uint8_t old[HDR_OLD + MAD_LEN];
	struct way way;
	unsigned int n;

	register_both_old(_metadata, self->fd);
	for (n = 0; n < WAYS; n++) {
		way = nth_way(n);
		receive(_metadata, self, way, n);
		ASSERT_EQ(1, poll(&pfd, 1, PATIENCE));
		ASSERT_EQ(sizeof(old), read(self->fd, old, sizeof(old)));
		expect_hdr(_metadata, self, (void *)old, way, n);
		EXPECT_EQ(0, memcmp(self->frame.mad, old + HDR_OLD, MAD_LEN));
	}
}

TEST_F(wire, membership_decides_which_P_Key_is_taken)
{
	static const struct {
		uint16_t pkey;
		int index;	/* -1: violation */
	} cases[CASES] = {
		{ 0x7fff, 0 },	/* limited, of our full one */
		{ 0x0001, 1 },
		{ 0x8002, 2 },	/* full, of our limited one */
		{ 0x8111, -1 },
		{ 0x0000, -1 },
		{ 0x8000, -1 },
	};
	long before;
	int i;

	ASSERT_EQ(0, umad_ioctl(self->fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	register_both(_metadata, self->fd);
	for (i = 0; i < CASES; i++) {
		before = hwsim_counter(WIRE, 1, "rx_pkey_violation");
		frame_init(&self->frame, CLASS_VENDOR1, METHOD_TEST, i + 1);
		self->frame.dlid = WIRE_LID;
		self->frame.pkey = cases[i].pkey;
		ASSERT_EQ(0, raw_write(self->raw, &self->frame));
		if (cases[i].index < 0) {
			EXPECT_EQ(before + 1, hwsim_counter(WIRE, 1,
							    "rx_pkey_violation"));
			continue;
		}
		ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, PATIENCE));
		EXPECT_EQ(i + 1, msg_tid64(&self->got));
		EXPECT_EQ(cases[i].index, self->got.hdr.pkey_index);
	}
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 100));
}

TEST_F(wire, wrong_Q_Key_is_not_taken)
{
	register_both(_metadata, self->fd);
	frame_init(&self->frame, CLASS_VENDOR1, METHOD_TEST, 1);
	self->frame.dlid = WIRE_LID;
	self->frame.qkey = 0x1234;
	ASSERT_EQ(0, raw_write(self->raw, &self->frame));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 200));
	EXPECT_EQ(1, hwsim_counter(WIRE, 1, "rx_qkey_violation"));
}

FIXTURE(pair) {
	int left;	/* agent 0: a client */
	int right;	/* agent 0: METHOD_TEST */
	uint8_t left_gid[16];
	uint8_t right_gid[16];
	struct umad_msg msg, got;
};

FIXTURE_SETUP(pair)
{
	ASSERT_EQ(0, set_up(LEFT, LEFT_LID, "fabric=pair"));
	ASSERT_EQ(0, set_up(RIGHT, RIGHT_LID, "fabric=pair"));
	ASSERT_TRUE(pkeys_known(LEFT));
	ASSERT_TRUE(pkeys_known(RIGHT));
	ASSERT_EQ(0, read_gid(LEFT, 0, self->left_gid));
	ASSERT_EQ(0, read_gid(RIGHT, 0, self->right_gid));
	self->left = hwsim_client(LEFT, 1);
	self->right = hwsim_open(RIGHT, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->left);
	ASSERT_LE(0, self->right);
	ASSERT_EQ(0, umad_ioctl(self->right, IB_USER_MAD_ENABLE_PKEY, NULL));
	ASSERT_EQ(0, umad_reg_server(self->right, CLASS_VENDOR1, METHOD_TEST));
}

FIXTURE_TEARDOWN(pair)
{
	close(self->left);
	close(self->right);
	EXPECT_EQ(0, hwsim_del(LEFT));
	EXPECT_EQ(0, hwsim_del(RIGHT));
}

static void expect_there(struct __test_metadata *_metadata,
			 FIXTURE_DATA(pair) *self, struct way way)
{
	ASSERT_EQ(MSG_LEN, msg_read(self->right, &self->got, PATIENCE));
	EXPECT_EQ(LEFT_LID + way.path_bits, be16toh(self->got.hdr.lid));
	EXPECT_EQ(way.sl, self->got.hdr.sl);
	/* The destination has the same bits, see below. */
	EXPECT_EQ(way.path_bits, self->got.hdr.path_bits);
	EXPECT_EQ(way.pkey_index, self->got.hdr.pkey_index);
	EXPECT_EQ(way.grh, self->got.hdr.grh_present);
	if (way.grh) {
		EXPECT_EQ(255, self->got.hdr.hop_limit);
		EXPECT_EQ(0xa5, self->got.hdr.traffic_class);
		EXPECT_EQ(0xabcde, be32toh(self->got.hdr.flow_label));
		EXPECT_EQ(0, memcmp(self->got.hdr.gid, self->left_gid, 16));
	}
	EXPECT_EQ(0, memcmp(self->got.data + 12, self->msg.data + 12,
			    MAD_LEN - 12));
}

TEST_F(pair, requests_and_responses_arrive_as_sent)
{
	struct way way;
	unsigned int n;

	for (n = 0; n < WAYS; n++) {
		way = nth_way(n);
		fill(&self->msg, n + 1);
		set_way(&self->msg, way, RIGHT_LID + way.path_bits,
			self->right_gid);
		self->msg.hdr.timeout_ms = PATIENCE;
		ASSERT_EQ(MSG_LEN, msg_write(self->left, &self->msg));
		expect_there(_metadata, self, way);
		/* Back the same way, with what its header said. */
		msg_reply(&self->msg, &self->got, 0);
		ASSERT_EQ(MSG_LEN, msg_write(self->right, &self->msg));
		ASSERT_EQ(MSG_LEN, msg_read(self->left, &self->got, PATIENCE));
		EXPECT_EQ(0, self->got.hdr.status);
		EXPECT_EQ(n + 1, msg_tid(&self->got));
		EXPECT_EQ(RIGHT_LID + way.path_bits,
			  be16toh(self->got.hdr.lid));
		EXPECT_EQ(way.path_bits, self->got.hdr.path_bits);
		EXPECT_EQ(way.sl, self->got.hdr.sl);
		EXPECT_EQ(way.pkey_index, self->got.hdr.pkey_index);
		EXPECT_EQ(way.grh, self->got.hdr.grh_present);
	}
}

TEST_HARNESS_MAIN
