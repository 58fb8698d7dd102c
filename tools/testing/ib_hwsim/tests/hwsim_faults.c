// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of ib_hwsim, seen from both ends of a wire: what a program sends by
 * ib_umad, and what then arrives; verbs that fail; and what is captured of it.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"

#include <stdio.h>

#define WIRE		30
#define WIRE_LID	0x20
#define PATIENCE	3000
#define SHORT		150	/* nothing comes, if it has not by then */
#define ROOT		"/sys/kernel/debug/ib_hwsim/"
#define PORT		"hwsim30/port1/"
#define SEEN		" slid=0x0020 dlid=0x0099 sqp=1 dqp=1 pkey=0xffff sl=0 len=256 "

FIXTURE(faults) {
	int fd;		/* agent 0: a client */
	int raw;
	struct umad_msg msg, got;
	struct ib_hwsim_frame frame;
	char text[4096];
	uint8_t sl;		/* of what send_one() sends */
};

FIXTURE_SETUP(faults)
{
	ASSERT_EQ(0, hwsim_new(WIRE, "lid=32"));
	self->raw = raw_attach(WIRE, 1);
	ASSERT_LE(0, self->raw);
	self->fd = hwsim_client(WIRE, 1);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(faults)
{
	close(self->fd);
	close(self->raw);
	EXPECT_EQ(0, hwsim_del(WIRE));
}

/* Returns what write() does. */
static int send_one(FIXTURE_DATA(faults) *self, uint32_t tid,
		    unsigned int timeout_ms, unsigned int retries)
{
	struct umad_msg *msg = &self->msg;

	memset(msg, 0, sizeof(*msg));
	msg->hdr.qpn = htobe32(1);
	msg->hdr.qkey = htobe32(GSI_QKEY);
	msg->hdr.lid = htobe16(0x99);
	msg->hdr.sl = self->sl;
	msg->hdr.timeout_ms = timeout_ms;
	msg->hdr.retries = retries;
	msg->mad.base_version = 1;
	msg->mad.mgmt_class = CLASS_VENDOR1;
	msg->mad.class_version = 1;
	msg->mad.method = METHOD_TEST;
	msg->mad.attr_id = htobe16(0x1234);
	msg->mad.tid = htobe64(tid);
	return msg_write(self->fd, msg);
}

static void send_range(struct __test_metadata *_metadata,
		       FIXTURE_DATA(faults) *self, uint32_t from, uint32_t to)
{
	for (; from <= to; from++)
		ASSERT_EQ(MSG_LEN, send_one(self, from, 0, 0));
}

static void come_in(struct __test_metadata *_metadata,
		    FIXTURE_DATA(faults) *self, uint32_t from, uint32_t to)
{
	for (; from <= to; from++) {
		frame_init(&self->frame, CLASS_VENDOR1, METHOD_TEST, from);
		self->frame.dlid = WIRE_LID;
		ASSERT_EQ(0, raw_write(self->raw, &self->frame));
	}
}

static uint32_t frame_tid(const struct ib_hwsim_frame *frame)
{
	uint32_t tid;

	memcpy(&tid, frame->mad + 12, sizeof(tid));
	return be32toh(tid);
}

/* These arrive, in this order, and no others; 0 ends the list. */
static void expect_tids(struct __test_metadata *_metadata,
			FIXTURE_DATA(faults) *self, const uint32_t *tids)
{
	for (; *tids; tids++) {
		ASSERT_EQ(IB_HWSIM_FRAME_LEN(MAD_LEN),
			  raw_read(self->raw, &self->frame, PATIENCE));
		EXPECT_EQ(*tids, frame_tid(&self->frame));
	}
	EXPECT_EQ(-ETIME, raw_read(self->raw, &self->frame, SHORT));
}

#define EXPECT_TIDS(...) \
	expect_tids(_metadata, self, (const uint32_t[]){ __VA_ARGS__, 0 })

static void rules(struct __test_metadata *_metadata, const char *lines)
{
	ASSERT_EQ(0, hwsim_set(WIRE, 1, "rules", lines));
}

static long medium_count(const char *name)
{
	FILE *file = fopen(ROOT PORT "medium", "re");
	char line[128], found[64];
	long value, ret = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %ld", found, &value) == 2 &&
		    !strcmp(found, name))
			ret = value;
	if (file)
		fclose(file);
	return ret;
}

/* All of a file, or as much as there is place for. */
static void read_all(const char *path, char *text, size_t len)
{
	FILE *file = fopen(path, "re");
	size_t n = 0;

	if (file) {
		n = fread(text, 1, len - 1, file);
		fclose(file);
	}
	text[n] = '\0';
}

TEST_F(faults, rules_decide)
{
	rules(_metadata, "nth=2 action=drop\n"
			 "# a comment\n\n"
			 "nth=3 action=dup copies=2\n"
			 "nth=4 action=mutate field=tid add=100\n"
			 "tid=5/0xffffffff action=reorder behind=2\n"
			 "nth=8 action=delay ms=60\n");
	send_range(_metadata, self, 1, 9);
	EXPECT_TIDS(1, 3, 3, 3, 104, 6, 7, 5, 9, 8);
	read_all(ROOT PORT "rules", self->text, sizeof(self->text));
	EXPECT_STREQ("1 matched=9 hits=1: nth=2 action=drop\n"
		     "2 matched=9 hits=1: nth=3 action=dup copies=2\n"
		     "3 matched=9 hits=1: nth=4 action=mutate field=tid add=100\n"
		     "4 matched=1 hits=1: tid=5/0xffffffff action=reorder behind=2\n"
		     "5 matched=9 hits=1: nth=8 action=delay ms=60\n",
		     self->text);
	EXPECT_EQ(9, medium_count("sent"));
	EXPECT_EQ(10, medium_count("delivered"));
	EXPECT_EQ(1, medium_count("dropped"));
	EXPECT_EQ(2, medium_count("duplicated"));
	EXPECT_EQ(1, medium_count("mutated"));
	EXPECT_EQ(1, medium_count("reordered"));
	EXPECT_EQ(1, medium_count("delayed"));

	rules(_metadata, "clear\n");
	send_range(_metadata, self, 10, 11);
	EXPECT_TIDS(10, 11);
}

/* The other way has rules and chance of its own. */
TEST_F(faults, rules_for_what_comes_in)
{
	static const uint32_t want[] = { 1, 103, 5, 4, 6, 6, 7, 0 };
	int i;

	ASSERT_EQ(1, umad_reg_server(self->fd, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(0, hwsim_set(WIRE, 1, "in/rules",
			       "nth=2 action=drop\n"
			       "nth=3 action=mutate field=tid add=100\n"
			       "nth=4 action=reorder\n"
			       "nth=6 action=dup\n"));
	come_in(_metadata, self, 1, 7);
	for (i = 0; want[i]; i++) {
		ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, PATIENCE));
		EXPECT_EQ(want[i], msg_tid(&self->got));
	}
	/* Only now: rules apply when a MAD arrives, not when it is written. */
	ASSERT_EQ(0, hwsim_set(WIRE, 1, "in/rules", "clear"));
	come_in(_metadata, self, 8, 9);
	for (i = 8; i <= 9; i++) {
		ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, PATIENCE));
		EXPECT_EQ(i, msg_tid(&self->got));
	}
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, SHORT));

	/* It is not the way out. */
	EXPECT_EQ(0, medium_count("sent"));
	ASSERT_EQ(0, hwsim_set(WIRE, 1, "in/random", "drop=100%"));
	send_range(_metadata, self, 1, 2);
	EXPECT_TIDS(1, 2);
	ASSERT_EQ(0, raw_write(self->raw, &self->frame));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, SHORT));
}

TEST_F(faults, corrupt_changes_one_byte)
{
	int i;

	rules(_metadata, "nth=1 action=corrupt byte=255 xor=0x41");
	send_range(_metadata, self, 1, 1);
	ASSERT_EQ(IB_HWSIM_FRAME_LEN(MAD_LEN),
		  raw_read(self->raw, &self->frame, PATIENCE));
	for (i = MAD_HDR_LEN; i < MAD_LEN; i++)
		EXPECT_EQ(i == 255 ? 0x41 : 0, self->frame.mad[i]);
}

TEST_F(faults, what_is_no_rule_is_refused)
{
	EXPECT_EQ(-EINVAL, hwsim_set(WIRE, 1, "rules", "action=lose"));
	EXPECT_EQ(-EINVAL, hwsim_set(WIRE, 1, "rules", "drop"));
	EXPECT_EQ(-EINVAL, hwsim_set(WIRE, 1, "random", "drop=101%"));
	EXPECT_EQ(-EINVAL, hwsim_set(WIRE, 1, "seed", "x"));
	read_all(ROOT PORT "rules", self->text, sizeof(self->text));
	EXPECT_STREQ("", self->text);
	send_range(_metadata, self, 1, 3);
	EXPECT_TIDS(1, 2, 3);
}

/* The first two are lost; the third is answered. */
TEST_F(faults, retries_get_through)
{
	struct ib_hwsim_frame *frame = &self->frame;

	rules(_metadata, "count=2 action=drop");
	ASSERT_EQ(MSG_LEN, send_one(self, 7, 100, 5));
	ASSERT_EQ(IB_HWSIM_FRAME_LEN(MAD_LEN),
		  raw_read(self->raw, frame, PATIENCE));
	EXPECT_EQ(7, frame_tid(frame));
	EXPECT_LE(2, medium_count("dropped"));
	frame_mad(frame)->method |= 0x80;
	frame->dlid = frame->slid;
	frame->slid = 0x99;
	ASSERT_EQ(0, raw_write(self->raw, frame));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, PATIENCE));
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(7, msg_tid(&self->got));
}

TEST_F(faults, nothing_gets_through)
{
	rules(_metadata, "action=drop");
	ASSERT_EQ(MSG_LEN, send_one(self, 7, 50, 3));
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->fd, &self->got, PATIENCE));
	EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
	EXPECT_EQ(4, medium_count("dropped"));
	EXPECT_EQ(-ETIME, raw_read(self->raw, &self->frame, SHORT));
}

/* The same seed loses the same ones. */
TEST_F(faults, chance_repeats_itself)
{
	static const char line[] = "drop=50% seed=11";
	uint64_t first = 0, second = 0;
	int i;

	ASSERT_EQ(0, hwsim_set(WIRE, 1, "random", line));
	send_range(_metadata, self, 1, 60);
	while (raw_read(self->raw, &self->frame, SHORT) > 0)
		first |= 1ULL << frame_tid(&self->frame);
	ASSERT_EQ(0, hwsim_set(WIRE, 1, "seed", "11"));
	send_range(_metadata, self, 1, 60);
	while (raw_read(self->raw, &self->frame, SHORT) > 0)
		second |= 1ULL << frame_tid(&self->frame);
	EXPECT_EQ(first, second);
	EXPECT_LT(12, __builtin_popcountll(first));
	EXPECT_GT(48, __builtin_popcountll(first));

	ASSERT_EQ(0, hwsim_set(WIRE, 1, "random", "drop=100%"));
	send_range(_metadata, self, 1, 20);
	EXPECT_EQ(-ETIME, raw_read(self->raw, &self->frame, SHORT));
	ASSERT_EQ(0, hwsim_set(WIRE, 1, "random", "off"));
	for (i = 1; i < 4; i++)
		send_range(_metadata, self, i, i);
	EXPECT_TIDS(1, 2, 3);
}

/* All that is slow stays in order. */
TEST_F(faults, chance_delays)
{
	uint64_t begin = now_ms();
	uint32_t i;

	ASSERT_EQ(0, hwsim_set(WIRE, 1, "random", "delay=50ms jitter=50ms"));
	send_range(_metadata, self, 1, 40);
	for (i = 1; i <= 40; i++) {
		ASSERT_EQ(IB_HWSIM_FRAME_LEN(MAD_LEN),
			  raw_read(self->raw, &self->frame, PATIENCE));
		EXPECT_EQ(i, frame_tid(&self->frame));
		/* As soon as the first one is there. */
		EXPECT_LE(50, now_ms() - begin);
	}
}

/* The device goes with packets on the way; teardown must not wait for them. */
TEST_F(faults, removal_with_packets_on_the_way)
{
	uint64_t begin;

	rules(_metadata, "count=5 action=delay ms=60000\n"
			 "count=10 action=dup copies=3 ms=60000\n");
	send_range(_metadata, self, 1, 20);
	while (raw_read(self->raw, &self->frame, SHORT) > 0)
		;
	EXPECT_EQ(5 + 10 * 3, medium_count("waiting"));
	begin = now_ms();
	EXPECT_EQ(0, hwsim_del(WIRE));
	EXPECT_GT(10000, now_ms() - begin);
	/* For teardown. */
	ASSERT_EQ(0, hwsim_new(WIRE, ""));
}

static int set_fail(const char *verb, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), ROOT "hwsim%u/fail/%s", WIRE, verb);
	return umad_write_sysfs(path, text);
}

/* One that cannot use the address handle of the last. */
static int send_elsewhere(FIXTURE_DATA(faults) *self, uint32_t tid)
{
	self->sl++;
	return send_one(self, tid, 0, 0);
}

TEST_F(faults, verbs_fail)
{
	ASSERT_EQ(0, set_fail("create_ah", "nth 2 EBUSY"));
	EXPECT_EQ(MSG_LEN, send_elsewhere(self, 1));
	EXPECT_EQ(-EBUSY, send_elsewhere(self, 2));
	EXPECT_EQ(MSG_LEN, send_elsewhere(self, 3));
	EXPECT_TIDS(1, 3);
	read_all(ROOT "hwsim30/fail/create_ah", self->text,
		 sizeof(self->text));
	EXPECT_STREQ("nth 2 EBUSY calls=3 hits=1\n", self->text);

	ASSERT_EQ(0, set_fail("create_ah", "all"));
	EXPECT_EQ(-ENOMEM, send_elsewhere(self, 4));
	ASSERT_EQ(0, set_fail("create_ah", "off"));
	EXPECT_EQ(-EINVAL, set_fail("create_ah", "maybe"));
	EXPECT_EQ(MSG_LEN, send_elsewhere(self, 5));
	EXPECT_TIDS(5);
}

/* A port that does not take the bit keeps nobody from trying again. */
TEST_F(faults, issm_cannot_be_set)
{
	char node[32];
	int fd;

	ASSERT_EQ(0, hwsim_umad(WIRE, 1, "issm", node, sizeof(node)));
	ASSERT_EQ(0, set_fail("modify_port", "nth 1"));
	EXPECT_EQ(-EIO, umad_open_node(node, O_RDWR | O_NONBLOCK));
	fd = umad_open_node(node, O_RDWR | O_NONBLOCK);
	EXPECT_LE(0, fd);
	close(fd);
}

/* A post that fails, or a completion with an error, hangs nobody. */
TEST_F(faults, sends_fail)
{
	int ret;

	ASSERT_EQ(0, set_fail("post_send", "nth 1"));
	ret = send_one(self, 1, 50, 0);
	if (ret == MSG_LEN) {
		ASSERT_LT(0, msg_read(self->fd, &self->got, PATIENCE));
		EXPECT_NE(0, self->got.hdr.status);
	} else {
		EXPECT_GT(0, ret);
	}
	EXPECT_EQ(-ETIME, raw_read(self->raw, &self->frame, SHORT));

	ASSERT_EQ(0, set_fail("send_wc", "nth 1"));
	ASSERT_EQ(MSG_LEN, send_one(self, 2, 50, 0));
	/* In-tree says nothing of this. */
	ret = msg_read(self->fd, &self->got, 1000);
	if (ret != -ETIME) {
		ASSERT_LT(0, ret);
		EXPECT_NE(0, self->got.hdr.status);
	}
	while (raw_read(self->raw, &self->frame, SHORT) > 0)
		;
	send_range(_metadata, self, 3, 3);
	EXPECT_TIDS(3);
}

/* What ib_core calls when a device comes; and then one comes. */
TEST_F(faults, new_devices_fail)
{
	static const char * const verbs[] = {
		"reg", "alloc_pd", "create_cq", "create_qp", "modify_qp",
		"post_recv", "query_port", "query_pkey", "query_gid", NULL
	};
	char path[128];
	int i, ret;

	for (i = 0; verbs[i]; i++) {
		snprintf(path, sizeof(path), ROOT "fail/%s", verbs[i]);
		ASSERT_EQ(0, umad_write_sysfs(path, "nth 1"));
		ret = hwsim_new(WIRE + 1, "");
		EXPECT_EQ(0, umad_write_sysfs(path, "off"));
		/* ib_core may put up with all but the first. */
		EXPECT_TRUE(ret || i);
		EXPECT_TRUE(ret || !hwsim_del(WIRE + 1));
	}
	ASSERT_EQ(0, hwsim_new(WIRE + 1, ""));
	EXPECT_EQ(0, hwsim_del(WIRE + 1));
}

TEST_F(faults, capture_tells)
{
	char *first, *second, *third;

	ASSERT_EQ(0, umad_write_sysfs(ROOT "capture", "clear"));
	read_all(ROOT "capture", self->text, sizeof(self->text));
	EXPECT_STREQ("", self->text);

	rules(_metadata, "nth=2 action=drop");
	send_range(_metadata, self, 1, 2);
	EXPECT_TIDS(1);
	frame_init(&self->frame, CLASS_VENDOR1, METHOD_TEST, 3);
	self->frame.dlid = WIRE_LID;
	self->frame.pkey = 0x1234;
	ASSERT_EQ(0, raw_write(self->raw, &self->frame));
	sleep_ms(SHORT);

	read_all(ROOT "capture", self->text, sizeof(self->text));
	first = strtok(self->text, "\n");
	second = strtok(NULL, "\n");
	third = strtok(NULL, "\n");
	ASSERT_NE(NULL, third);
	EXPECT_NE(NULL, strstr(first, " hwsim30/1 out pass" SEEN "class="));
	EXPECT_NE(NULL, strstr(first, " attr=0x1234 mod=0x00000000 "));
	EXPECT_NE(NULL, strstr(first, "00000001 status=0x0000"));
	EXPECT_NE(NULL, strstr(second, " hwsim30/1 out drop rule=1 slid=0x0020 "));
	EXPECT_NE(NULL, strstr(second, "00000002 status=0x0000"));
	EXPECT_NE(NULL, strstr(third, " hwsim30/1 in pass "));
	EXPECT_NE(NULL, strstr(third, " pkey=0x1234 "));
	third = strtok(NULL, "\n");
	ASSERT_NE(NULL, third);
	EXPECT_NE(NULL, strstr(third, " hwsim30/1 in rx_pkey_violation "));
	EXPECT_EQ(NULL, strtok(NULL, "\n"));
}

/* The first bytes and the size; tshark has been asked about the rest. */
TEST_F(faults, capture_files)
{
	size_t frame = 16 + 8 + 12 + 8 + MAD_LEN + 4 + 2;
	uint32_t word;
	FILE *file;

	ASSERT_EQ(0, umad_write_sysfs(ROOT "capture", "clear"));
	rules(_metadata, "nth=2 action=drop");
	send_range(_metadata, self, 1, 3);
	EXPECT_TIDS(1, 3);
	file = fopen(ROOT "capture.pcap", "re");
	ASSERT_NE(NULL, file);
	EXPECT_EQ(24 + 2 * (16 + frame), fread(self->text, 1,
					       sizeof(self->text), file));
	fclose(file);
	memcpy(&word, self->text, sizeof(word));
	EXPECT_EQ(0xa1b23c4d, word);

	file = fopen(ROOT "capture.pcapng", "re");
	ASSERT_NE(NULL, file);
	EXPECT_LT(28 + 3 * (32 + frame), fread(self->text, 1,
					       sizeof(self->text), file));
	fclose(file);
	memcpy(&word, self->text, sizeof(word));
	EXPECT_EQ(0x0a0d0d0a, word);
	EXPECT_NE(NULL, memmem(self->text, sizeof(self->text), "drop rule=1",
			       11));
	EXPECT_NE(NULL, memmem(self->text, sizeof(self->text), "hwsim30/1", 9));
}

TEST_HARNESS_MAIN
