// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The far end of a port, its agent, and what ib_core and ib_umad make of
 * changes; switches, and OPA ports with their MADs of 2,048 bytes.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"

#include <stdio.h>
#include <stdlib.h>

#define DEVICE		30
#define LID		0x20
#define PATIENCE	3000
#define OPA_VERSION	0x80
#define OPA_MAD_LEN	2048
/* Offsets in PortInfo (IBA 14.2.5.6). */
#define INFO_PREFIX	8
#define INFO_LID	16
#define INFO_SM_LID	18
#define INFO_CAPS	20
#define INFO_STATE	32
#define INFO_PHYS	33
#define INFO_LMC	34
#define INFO_SM_SL	36
#define INFO_REREGISTER	51
#define IS_SM		2

static uint16_t get16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

/* Until a file in sysfs says so. */
static bool becomes(unsigned int port, const char *file, const char *text)
{
	char now[64];
	int i;

	for (i = 0; i < 100; i++) {
		if (!hwsim_sysfs(DEVICE, port, file, now, sizeof(now)) &&
		    !strcmp(now, text))
			return true;
		sleep_ms(20);
	}
	fprintf(stderr, "%s is '%s', not '%s'\n", file, now, text);
	return false;
}

FIXTURE(raw) {
	int raw;
	struct ib_hwsim_frame frame, got;
};

FIXTURE_SETUP(raw)
{
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20 sma=far"));
	self->raw = raw_attach(DEVICE, 1);
	ASSERT_LE(0, self->raw);
}

FIXTURE_TEARDOWN(raw)
{
	close(self->raw);
	EXPECT_EQ(0, hwsim_del(DEVICE));
}

TEST_F(raw, one_attachment_per_port)
{
	struct ib_hwsim_attach which = { .device = DEVICE, .port = 1 };

	EXPECT_EQ(-EBUSY, raw_attach(DEVICE, 1));
	EXPECT_EQ(-ENODEV, raw_attach(DEVICE, 2));
	EXPECT_EQ(-ENODEV, raw_attach(DEVICE, 0));
	EXPECT_EQ(-ENODEV, raw_attach(DEVICE + 1, 1));
	EXPECT_EQ(-EISCONN, umad_ioctl(self->raw, IB_HWSIM_ATTACH, &which));
	EXPECT_EQ(-ENOTTY, umad_ioctl(self->raw, IB_USER_MAD_ENABLE_PKEY,
				      NULL));
	close(self->raw);
	self->raw = raw_attach(DEVICE, 1);
	EXPECT_LE(0, self->raw);
}

TEST_F(raw, bad_frames_are_EINVAL)
{
	int other = open("/dev/ib_hwsim", O_RDWR | O_CLOEXEC);

	frame_init(&self->frame, CLASS_VENDOR1, METHOD_TEST, 1);
	EXPECT_EQ(-ENOTCONN, raw_write(other, &self->frame));
	close(other);
	EXPECT_EQ(0, raw_write(self->raw, &self->frame));
	self->frame.reserved = 1;
	EXPECT_EQ(-EINVAL, raw_write(self->raw, &self->frame));
	self->frame.reserved = 0;
	self->frame.flags = IB_HWSIM_FROM_SMA;
	EXPECT_EQ(-EINVAL, raw_write(self->raw, &self->frame));
	self->frame.flags = 0;
	self->frame.len = 0;
	EXPECT_EQ(-EINVAL, raw_write(self->raw, &self->frame));
	self->frame.len = IB_HWSIM_MAX_MAD + 1;
	EXPECT_EQ(-EINVAL, raw_write(self->raw, &self->frame));
	self->frame.len = MAD_LEN;
	EXPECT_EQ(-1, write(self->raw, &self->frame, sizeof(self->frame)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(self->raw, &self->frame, 10));
	EXPECT_EQ(EINVAL, errno);
}

static void ask(struct __test_metadata *_metadata, FIXTURE_DATA(raw) *self)
{
	ASSERT_EQ(0, raw_write(self->raw, &self->frame));
	ASSERT_EQ(IB_HWSIM_FRAME_LEN(MAD_LEN),
		  raw_read(self->raw, &self->got, PATIENCE));
	EXPECT_EQ(IB_HWSIM_FROM_SMA, self->got.flags);
	EXPECT_EQ(METHOD_GET_RESP, frame_mad(&self->got)->method);
	/* But for the direction of a directed route. */
	EXPECT_EQ(0, be16toh(frame_mad(&self->got)->status) & 0x7fff);
}

TEST_F(raw, agent_answers_and_changes_the_port)
{
	uint8_t *info = self->frame.mad + SMP_DATA;

	frame_smp(&self->frame, METHOD_GET, ATTR_NODE_INFO, 0);
	self->frame.slid = 7;
	self->frame.dlid = LID;
	ask(_metadata, self);
	EXPECT_EQ(LID, self->got.slid);
	EXPECT_EQ(7, self->got.dlid);
	EXPECT_EQ(1, self->got.mad[SMP_DATA + 2]);	/* a CA */
	EXPECT_EQ(1, self->got.mad[SMP_DATA + 3]);	/* of one port */

	frame_smp(&self->frame, METHOD_GET, ATTR_PORT_INFO, 1);
	ask(_metadata, self);
	EXPECT_EQ(LID, get16(self->got.mad + SMP_DATA + INFO_LID));

	memcpy(info, self->got.mad + SMP_DATA, 64);
	frame_mad(&self->frame)->method = METHOD_SET;
	put16(info + INFO_LID, 0x70);
	put16(info + INFO_SM_LID, 0x71);
	info[INFO_PREFIX] = 0xfd;
	info[INFO_PREFIX + 1] = 0;
	info[INFO_SM_SL] = (info[INFO_SM_SL] & 0xf0) | 3;
	info[INFO_LMC] = 2;
	info[INFO_STATE] &= 0xf0;	/* stays as it is */
	info[INFO_PHYS] = 0;
	ask(_metadata, self);
	EXPECT_TRUE(becomes(1, "lid", "0x70"));
	EXPECT_TRUE(becomes(1, "lid_mask_count", "2"));
	EXPECT_TRUE(becomes(1, "sm_lid", "0x71"));
	EXPECT_TRUE(becomes(1, "sm_sl", "3"));
	EXPECT_TRUE(becomes(1, "state", "4: ACTIVE"));
	EXPECT_TRUE(becomes(1, "gids/0",
			    "fd00:0000:0000:0000:0248:7753:0000:1e01"));

	/* Down, and the link trains again. */
	info[INFO_STATE] = (info[INFO_STATE] & 0xf0) | 1;
	ask(_metadata, self);
	EXPECT_TRUE(becomes(1, "state", "2: INIT"));
	info[INFO_STATE] = (info[INFO_STATE] & 0xf0) | 3;
	ask(_metadata, self);
	EXPECT_TRUE(becomes(1, "state", "3: ARMED"));
	info[INFO_STATE] = (info[INFO_STATE] & 0xf0) | 4;
	info[INFO_REREGISTER] |= 0x80;
	ask(_metadata, self);
	EXPECT_EQ(0x80, self->got.mad[SMP_DATA + INFO_REREGISTER] & 0x80);
	EXPECT_TRUE(becomes(1, "state", "4: ACTIVE"));
	frame_smp(&self->frame, METHOD_GET, ATTR_PORT_INFO, 1);
	ask(_metadata, self);
	EXPECT_EQ(0, self->got.mad[SMP_DATA + INFO_REREGISTER] & 0x80);
}

TEST_F(raw, agent_changes_the_P_Key_table)
{
	uint8_t *table = self->frame.mad + SMP_DATA;

	frame_smp(&self->frame, METHOD_GET, ATTR_PKEY_TABLE, 0);
	ask(_metadata, self);
	EXPECT_EQ(0xffff, get16(self->got.mad + SMP_DATA));
	EXPECT_EQ(0, get16(self->got.mad + SMP_DATA + 2));

	frame_smp(&self->frame, METHOD_SET, ATTR_PKEY_TABLE, 0);
	put16(table, 0x7fff);
	put16(table + 2, 0x8123);
	put16(table + 30, 0x0456);
	put16(table + 32, 0x8789);	/* behind the end of the table */
	ask(_metadata, self);
	EXPECT_EQ(0x8123, get16(self->got.mad + SMP_DATA + 2));
	EXPECT_EQ(0, get16(self->got.mad + SMP_DATA + 32));
	EXPECT_TRUE(becomes(1, "pkeys/0", "0x7fff"));
	EXPECT_TRUE(becomes(1, "pkeys/1", "0x8123"));
	EXPECT_TRUE(becomes(1, "pkeys/15", "0x0456"));

	/* There is no second block. */
	frame_smp(&self->frame, METHOD_GET, ATTR_PKEY_TABLE, 1);
	ASSERT_EQ(0, raw_write(self->raw, &self->frame));
	ASSERT_EQ(IB_HWSIM_FRAME_LEN(MAD_LEN),
		  raw_read(self->raw, &self->got, PATIENCE));
	EXPECT_EQ(0x1c, be16toh(frame_mad(&self->got)->status));
}

/* Opening issm sets the IsSM bit, and the far end is told. */
TEST_F(raw, issm_is_seen_at_the_far_end)
{
	char node[32];
	int fd, set;

	ASSERT_EQ(0, hwsim_umad(DEVICE, 1, "issm", node, sizeof(node)));
	fd = umad_open_node(node, O_RDWR);
	ASSERT_LE(0, fd);
	for (set = 1; set >= 0; set--) {
		ASSERT_EQ(IB_HWSIM_FRAME_LEN(MAD_LEN),
			  raw_read(self->raw, &self->got, PATIENCE));
		EXPECT_EQ(IB_HWSIM_PORT_EVENT, self->got.flags);
		EXPECT_EQ(set ? IS_SM : 0,
			  self->got.mad[SMP_DATA + INFO_CAPS + 3] & IS_SM);
		frame_smp(&self->frame, METHOD_GET, ATTR_PORT_INFO, 1);
		ask(_metadata, self);
		EXPECT_EQ(set ? IS_SM : 0,
			  self->got.mad[SMP_DATA + INFO_CAPS + 3] & IS_SM);
		if (set)
			close(fd);
	}
}

/* With sma=far even SMPs for this node itself go out. */
TEST_F(raw, SMP_for_oneself_goes_out_and_is_answered)
{
	struct umad_msg msg = { 0 }, got;
	struct ib_user_mad_reg_req2 req;
	int fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);

	ASSERT_LE(0, fd);
	reg_init(&req, CLASS_SMI_DR, 1);
	req.qpn = 0;
	ASSERT_EQ(0, umad_reg2(fd, &req));
	msg.hdr.timeout_ms = PATIENCE;
	msg.hdr.lid = 0xffff;
	msg.mad.base_version = 1;
	msg.mad.mgmt_class = CLASS_SMI_DR;
	msg.mad.class_version = 1;
	msg.mad.method = METHOD_GET;
	msg.mad.tid = htobe64(77);
	msg.mad.attr_id = htobe16(ATTR_NODE_INFO);
	memset(msg.data + 32, 0xff, 4);		/* DrSLID, DrDLID */
	ASSERT_EQ(MSG_LEN, msg_write(fd, &msg));

	ASSERT_EQ(IB_HWSIM_FRAME_LEN(MAD_LEN),
		  raw_read(self->raw, &self->frame, PATIENCE));
	EXPECT_EQ(0, self->frame.flags);
	EXPECT_EQ(PERMISSIVE, self->frame.slid);
	EXPECT_EQ(PERMISSIVE, self->frame.dlid);
	EXPECT_EQ(0, self->frame.dest_qp);
	/* Have the port's own agent answer, and bring the answer back. */
	self->frame.flags = IB_HWSIM_TO_SMA;
	ask(_metadata, self);
	self->got.flags = 0;
	self->got.mad[6] = 0;			/* hop pointer */
	ASSERT_EQ(0, raw_write(self->raw, &self->got));
	ASSERT_EQ(MSG_LEN, msg_read(fd, &got, PATIENCE));
	EXPECT_EQ(0, got.hdr.status);
	EXPECT_EQ(77, msg_tid(&got));
	EXPECT_EQ(1, got.data[SMP_DATA + 2]);
	close(fd);
}

TEST_F(raw, what_nobody_reads_is_dropped_and_counted)
{
	struct ib_user_mad_reg_req2 req;
	struct umad_msg msg = { 0 };
	int fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	int i;

	ASSERT_LE(0, fd);
	reg_init(&req, 0, 0);
	ASSERT_EQ(0, umad_reg2(fd, &req));
	msg.hdr.qpn = htobe32(1);
	msg.hdr.qkey = htobe32(GSI_QKEY);
	msg.hdr.lid = htobe16(5);
	msg.mad.base_version = 1;
	msg.mad.mgmt_class = CLASS_VENDOR1;
	msg.mad.class_version = 1;
	msg.mad.method = METHOD_SEND;
	for (i = 0; i < 1100; i++) {
		msg.mad.tid = htobe64(i + 1);
		ASSERT_EQ(MSG_LEN, msg_write(fd, &msg));
	}
	for (i = 0; i < 100 &&
	     hwsim_counter(DEVICE, 1, "raw_overflow") < 76; i++)
		sleep_ms(20);
	EXPECT_EQ(1100 - 1024, hwsim_counter(DEVICE, 1, "raw_overflow"));
	EXPECT_EQ(1100, hwsim_counter(DEVICE, 1, "tx_packets"));
	for (i = 0; i < 1024; i++) {
		ASSERT_EQ(IB_HWSIM_FRAME_LEN(MAD_LEN),
			  raw_read(self->raw, &self->got, PATIENCE));
		ASSERT_EQ(i + 1, (uint32_t)be64toh(frame_mad(&self->got)->tid));
	}
	EXPECT_EQ(-ETIME, raw_read(self->raw, &self->got, 100));
	close(fd);
}

FIXTURE(opa) {
	int raw;
	int fd;
	uint8_t out[HDR_NEW + OPA_MAD_LEN];
	uint8_t in[HDR_NEW + OPA_MAD_LEN];
	struct ib_hwsim_frame frame;
};

FIXTURE_SETUP(opa)
{
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20 link=opa"));
	self->raw = raw_attach(DEVICE, 1);
	ASSERT_LE(0, self->raw);
	self->fd = hwsim_client(DEVICE, 1);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(1, umad_reg_server(self->fd, CLASS_VENDOR1, METHOD_TEST));
}

FIXTURE_TEARDOWN(opa)
{
	close(self->fd);
	close(self->raw);
	EXPECT_EQ(0, hwsim_del(DEVICE));
}

/* A MAD of len bytes goes out and comes back. */
static void there_and_back(struct __test_metadata *_metadata,
			   FIXTURE_DATA(opa) *self, uint8_t version,
			   unsigned int len, unsigned int expected)
{
	struct umad_msg *msg = (struct umad_msg *)self->out;
	unsigned int i;
	ssize_t n;
	struct pollfd pfd = { .fd = self->fd, .events = POLLIN };

	memset(self->out, 0, sizeof(self->out));
	msg->hdr.qpn = htobe32(1);
	msg->hdr.qkey = htobe32(GSI_QKEY);
	msg->hdr.lid = htobe16(5);
	msg->mad.base_version = version;
	msg->mad.mgmt_class = CLASS_VENDOR1;
	msg->mad.class_version = 1;
	msg->mad.method = METHOD_TEST;
	msg->mad.tid = htobe64(len);
	for (i = HDR_NEW + MAD_HDR_LEN; i < HDR_NEW + len; i++)
		self->out[i] = i * 11;
	ASSERT_EQ(HDR_NEW + len, write(self->fd, self->out, HDR_NEW + len));
	ASSERT_EQ(IB_HWSIM_FRAME_LEN(expected),
		  raw_read(self->raw, &self->frame, PATIENCE));
	EXPECT_EQ(0, memcmp(self->frame.mad + MAD_HDR_LEN,
			    self->out + HDR_NEW + MAD_HDR_LEN,
			    len - MAD_HDR_LEN));

	self->frame.slid = 5;
	self->frame.dlid = LID;
	ASSERT_EQ(0, raw_write(self->raw, &self->frame));
	ASSERT_EQ(1, poll(&pfd, 1, PATIENCE));
	memset(self->in, 0, sizeof(self->in));
	n = read(self->fd, self->in, sizeof(self->in));
	EXPECT_EQ(HDR_NEW + expected, n);
	EXPECT_EQ(0, memcmp(self->in + HDR_NEW, self->frame.mad, expected));
}

TEST_F(opa, MAD_of_2048_bytes)
{
	there_and_back(_metadata, self, OPA_VERSION, OPA_MAD_LEN, OPA_MAD_LEN);
}

TEST_F(opa, MAD_of_1000_bytes)
{
	there_and_back(_metadata, self, OPA_VERSION, 1000, 1000);
}

TEST_F(opa, MAD_of_InfiniBand)
{
	there_and_back(_metadata, self, 1, MAD_LEN, MAD_LEN);
}

/* A switch has port 0 only, and it answers. */
TEST(switch_has_one_umad_and_one_issm)
{
	char node[32], text[64];

	ASSERT_EQ(0, hwsim_new(DEVICE, "type=switch ports=8 lid=9"));
	EXPECT_EQ(0, hwsim_umad(DEVICE, 0, "umad", node, sizeof(node)));
	EXPECT_EQ(0, hwsim_umad(DEVICE, 0, "issm", node, sizeof(node)));
	EXPECT_EQ(-ENODEV, hwsim_umad(DEVICE, 1, "umad", node, sizeof(node)));
	EXPECT_EQ(0, hwsim_sysfs(DEVICE, 0, "lid", text, sizeof(text)));
	EXPECT_STREQ("0x9", text);
	EXPECT_EQ(0, hwsim_del(DEVICE));
}

TEST(bad_devices_are_refused)
{
	EXPECT_EQ(-EINVAL, hwsim_new(DEVICE, "type=router"));
	EXPECT_EQ(-EINVAL, hwsim_new(DEVICE, "colour=red"));
	EXPECT_EQ(-EINVAL, hwsim_new(DEVICE, "ports"));
	EXPECT_EQ(-ERANGE, hwsim_new(DEVICE, "ports=0"));
	EXPECT_EQ(-ERANGE, hwsim_new(DEVICE, "pkeys=129"));
	EXPECT_EQ(-ERANGE, hwsim_new(DEVICE, "lid=0xbfff lmc=7"));
	EXPECT_EQ(-ENODEV, hwsim_del(DEVICE));
	EXPECT_EQ(0, hwsim_new(DEVICE, ""));
	EXPECT_EQ(-EEXIST, hwsim_new(DEVICE, ""));
	EXPECT_EQ(0, hwsim_del(DEVICE));
	EXPECT_EQ(-ENODEV, hwsim_del(DEVICE));
}

static bool dares(const char *what)
{
	const char *dare = getenv("UMAD_DARE");

	return dare && !strcmp(dare, what);
}

/*
 * What any node of the fabric can do to a host whose SMPs ib_core answers: the answer
 * to a request without hops stays on the host, and goes to whoever its TID names.
 * With the SA's client named the kernel panics: ib_core's own, whatever ib_umad.
 */
TEST(request_without_hops_for_an_agent_of_the_kernel)
{
	struct ib_hwsim_frame frame;
	uint64_t hi;
	int raw;

	if (!dares("panic"))
		SKIP(return, "the kernel panics");
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20"));
	raw = raw_attach(DEVICE, 1);
	ASSERT_LE(0, raw);
	for (hi = 1; hi < 64; hi++) {
		frame_smp(&frame, METHOD_GET, ATTR_NODE_INFO, 0);
		frame.flags = 0;
		frame.dlid = LID;
		frame_mad(&frame)->mgmt_class = CLASS_SMI_DR;
		frame_mad(&frame)->tid = htobe64(hi << 32 | 1);
		memset(frame.mad + 32, 0xff, 4);
		ASSERT_EQ(0, raw_write(raw, &frame));
		sleep_ms(5);
	}
	close(raw);
	EXPECT_EQ(0, hwsim_del(DEVICE));
}

/*
 * And what any node can do to a host: a segment of a response whose TID names the SA's
 * client is kept for ever, as that does not free what it has not asked for. ib_core's
 * own; kmemleak tells, after the test.
 */
TEST(segments_for_an_agent_of_the_kernel)
{
	struct ib_hwsim_frame frame;
	uint64_t hi;
	int raw;

	if (!dares("leak"))
		SKIP(return, "the kernel leaks");
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20"));
	raw = raw_attach(DEVICE, 1);
	ASSERT_LE(0, raw);
	for (hi = 1; hi < 1024; hi++) {
		frame_init(&frame, CLASS_SA, METHOD_GET_RESP, hi << 32 | 1);
		frame.dlid = LID;
		frame.mad[26] = 1;	/* RMPPFlags: Active */
		ASSERT_EQ(0, raw_write(raw, &frame));
		if (hi % 16 == 0)
			sleep_ms(5);
	}
	close(raw);
	EXPECT_EQ(0, hwsim_del(DEVICE));
}

TEST_HARNESS_MAIN
