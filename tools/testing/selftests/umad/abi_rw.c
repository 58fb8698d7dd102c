// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * read() and write(): which bytes mean what, every errno, the transaction ID.
 * Built for 32 bits too.
 */
#include "pair_fixture.h"

FIXTURE(rw) {
	PAIR_MEMBERS;		/* the peer serves a second class, agent 1 */
};

FIXTURE_SETUP(rw)
{
	PAIR_OPEN(O_RDWR | O_NONBLOCK);
	ASSERT_EQ(1, umad_reg_server(self->peer, CLASS_VENDOR2, METHOD_TEST));
}

FIXTURE_TEARDOWN(rw)
{
	close(self->fd);
	close(self->peer);
}

TEST_F(rw, write_below_header_plus_36_is_EINVAL)
{
	EXPECT_EQ(-EINVAL, msg_write_len(self->fd, &self->msg, 0));
	EXPECT_EQ(-EINVAL, msg_write_len(self->fd, &self->msg, HDR_NEW - 1));
	EXPECT_EQ(-EINVAL, msg_write_len(self->fd, &self->msg, HDR_NEW + 35));
	EXPECT_EQ(HDR_NEW + 36,
		  msg_write_len(self->fd, &self->msg, HDR_NEW + 36));
	EXPECT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
}

/* CVE-2026-23243: what is between 36 bytes and the class header. */
TEST_F(rw, write_below_the_class_header_is_EINVAL)
{
	static const struct {
		uint8_t mgmt_class;
		int header;
	} classes[] = {
		{ 0x03, 56 }, { 0x06, 64 }, { 0x10, 64 }, { 0x12, 64 },
		{ 0x30, 40 }, { 0x3a, 40 }, { 0x4f, 40 },
	};
	unsigned int i, active;
	int len;

	for (i = 0; i < ARRAY_SIZE(classes); i++)
		for (active = 0; active < 2; active++) {
			msg_init(&self->msg, &self->port, 0,
				 classes[i].mgmt_class, METHOD_NOBODY, 7);
			self->msg.data[24] = 1;		/* RMPPVersion */
			self->msg.data[25] = 1;		/* DATA */
			self->msg.data[26] = active * 7; /* Active First Last */
			for (len = 36; len < classes[i].header; len++)
				EXPECT_EQ(-EINVAL,
					  msg_write_len(self->fd, &self->msg,
							HDR_NEW + len));
			self->msg.mad.tid = htobe64(active);
			EXPECT_EQ(HDR_NEW + len,
				  msg_write_len(self->fd, &self->msg,
						HDR_NEW + len));
		}
}

TEST_F(rw, write_above_256_bytes_of_mad_is_EINVAL)
{
	EXPECT_EQ(-EINVAL, msg_write_len(self->fd, &self->msg, MSG_LEN + 1));
	EXPECT_EQ(-EINVAL, msg_write_len(self->fd, &self->msg,
					 sizeof(self->msg)));
	/* An Active segment of a raw agent is one MAD too. */
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR2, METHOD_TEST, 1);
	self->msg.data[24] = 1;
	self->msg.data[25] = 1;
	self->msg.data[26] = 7;
	EXPECT_EQ(-EINVAL, msg_write_len(self->fd, &self->msg, MSG_LEN + 1));
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
}

TEST_F(rw, write_of_huge_counts_is_EINVAL)
{
	/* Static: behind a stack address the kernel sees no 2 GB. */
	static struct umad_msg msg;

	msg = self->msg;
	EXPECT_EQ(-EINVAL, msg_write_len(self->fd, &msg, 0x7ffff000));
	EXPECT_EQ(-EINVAL, msg_write_len(self->fd, &msg, 0x10000 + MSG_LEN));
}

TEST_F(rw, write_id_of_32_and_up_is_EINVAL)
{
	self->msg.hdr.id = MAX_AGENTS;
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
	self->msg.hdr.id = 0xffffffff;
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
}

TEST_F(rw, write_to_an_empty_slot_is_EIO)
{
	self->msg.hdr.id = 1;
	EXPECT_EQ(-EIO, msg_write(self->fd, &self->msg));
	self->msg.hdr.id = MAX_AGENTS - 1;
	EXPECT_EQ(-EIO, msg_write(self->fd, &self->msg));
}

TEST_F(rw, write_from_bad_memory_is_EFAULT)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *mem = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const int there[] = { 0, 30, HDR_NEW, HDR_NEW + 30,
				     HDR_NEW + 100, MSG_LEN - 1 };
	unsigned int i;
	ssize_t n;

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, munmap(mem + page, page));
	for (i = 0; i < ARRAY_SIZE(there); i++) {
		memcpy(mem + page - there[i], &self->msg, there[i]);
		n = write(self->fd, mem + page - there[i], MSG_LEN);
		EXPECT_EQ(-1, n);
		EXPECT_EQ(EFAULT, errno);
	}
	/* The header is looked at before the MAD. */
	self->msg.hdr.id = MAX_AGENTS;
	memcpy(mem + page - HDR_NEW, &self->msg, HDR_NEW);
	EXPECT_EQ(-1, write(self->fd, mem + page - HDR_NEW, MSG_LEN));
	EXPECT_EQ(EINVAL, errno);
	self->msg.hdr.id = 0;
	/* Nothing went out, and the TID is still free. */
	EXPECT_EQ(-ETIME, msg_read(self->peer, &self->got, 300));
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
}

TEST_F(rw, write_gid_index_without_gid_is_ENODATA)
{
	self->msg.hdr.gid_index = 200;
	EXPECT_EQ(-ENODATA, msg_write(self->fd, &self->msg));
}

TEST_F(rw, write_without_grh_on_roce_is_EINVAL)
{
	self->msg.hdr.grh_present = 0;
	self->msg.hdr.lid = htobe16(1);
	EXPECT_EQ(-EINVAL, msg_write(self->fd, &self->msg));
}

TEST_F(rw, write_to_the_zero_gid_is_ENETUNREACH)
{
	memset(self->msg.hdr.gid, 0, 16);
	EXPECT_EQ(-ENETUNREACH, msg_write(self->fd, &self->msg));
}

TEST_F(rw, failed_write_leaves_nothing_outstanding)
{
	self->msg.hdr.timeout_ms = 60000;
	self->msg.hdr.gid_index = 200;
	EXPECT_EQ(-ENODATA, msg_write(self->fd, &self->msg));
	self->msg.hdr.gid_index = self->port.gid_index;
	EXPECT_EQ(-EINVAL, msg_write_len(self->fd, &self->msg, MSG_LEN + 1));
	/* The same TID is no duplicate. */
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
}

TEST_F(rw, write_accepts_sl_qpn_pkey_index_out_of_range)
{
	self->msg.hdr.sl = 255;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	self->msg.hdr.sl = 0;
	self->msg.mad.tid = htobe64(2);
	self->msg.hdr.pkey_index = 0x7fff;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	self->msg.hdr.pkey_index = 0;
	self->msg.mad.tid = htobe64(3);
	self->msg.hdr.qpn = htobe32(0xff000001);
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
}

TEST_F(rw, grh_present_is_a_boolean)
{
	self->msg.hdr.grh_present = 0x80;
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	EXPECT_EQ(1, self->got.hdr.grh_present);
}

TEST_F(rw, received_header_fields)
{
	uint8_t zero[6] = { 0 };

	self->msg.hdr.traffic_class = 0x48;
	self->msg.hdr.hop_limit = 17;
	self->msg.hdr.flow_label = htobe32(0x12345);
	self->msg.hdr.timeout_ms = 20000;
	self->msg.hdr.retries = 3;
	self->msg.hdr.status = 77;
	self->msg.hdr.length = 4321;
	memset(self->msg.data + MAD_HDR_LEN, 0xa5, MAD_LEN - MAD_HDR_LEN);
	memset(&self->got, 0xff, sizeof(self->got));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	EXPECT_EQ(0, self->got.hdr.id);
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(0, self->got.hdr.timeout_ms);
	EXPECT_EQ(0, self->got.hdr.retries);
	EXPECT_EQ(MSG_LEN, self->got.hdr.length);
	EXPECT_EQ(1, be32toh(self->got.hdr.qpn));
	EXPECT_EQ(0, self->got.hdr.qkey);
	EXPECT_EQ(0, self->got.hdr.lid);
	EXPECT_EQ(0, self->got.hdr.sl);
	EXPECT_EQ(0, self->got.hdr.path_bits);
	EXPECT_EQ(1, self->got.hdr.grh_present);
	EXPECT_EQ(self->port.gid_index, self->got.hdr.gid_index);
	EXPECT_EQ(64, self->got.hdr.hop_limit);
	EXPECT_EQ(0x48, self->got.hdr.traffic_class);
	EXPECT_EQ(0, memcmp(self->got.hdr.gid, self->port.gid, 16));
	EXPECT_EQ(0, self->got.hdr.flow_label);
	EXPECT_EQ(0, self->got.hdr.pkey_index);
	EXPECT_EQ(0, memcmp(self->got.hdr.reserved, zero, 6));
	EXPECT_EQ(0, memcmp(self->got.data + MAD_HDR_LEN,
			    self->msg.data + MAD_HDR_LEN,
			    MAD_LEN - MAD_HDR_LEN));
	/* Nothing behind the returned length is touched. */
	EXPECT_EQ(0xff, self->got.data[MAD_LEN]);
}

TEST_F(rw, short_write_is_padded_with_zeroes)
{
	memset(self->msg.data + MAD_HDR_LEN, 0xa5, MAD_LEN - MAD_HDR_LEN);
	memset(&self->got, 0xff, sizeof(self->got));
	ASSERT_EQ(HDR_NEW + 100,
		  msg_write_len(self->fd, &self->msg, HDR_NEW + 100));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	EXPECT_EQ(0xa5, self->got.data[99]);
	EXPECT_EQ(0, self->got.data[100]);
	EXPECT_EQ(0, self->got.data[MAD_LEN - 1]);
}

TEST_F(rw, raw_rmpp_segment_passes_unchanged)
{
	int i;

	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR2, METHOD_TEST, 1);
	for (i = 40; i < MAD_LEN; i++)
		self->msg.data[i] = i;
	self->msg.data[24] = 1;
	self->msg.data[25] = 1;
	self->msg.data[26] = 0xa9;	/* RRespTime and Active */
	self->msg.data[27] = 0x5a;
	memset(self->msg.data + 28, 0x77, 8);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	EXPECT_EQ(1, self->got.hdr.id);
	EXPECT_EQ(0, memcmp(self->got.data + MAD_HDR_LEN,
			    self->msg.data + MAD_HDR_LEN,
			    MAD_LEN - MAD_HDR_LEN));
}

TEST_F(rw, tid_upper_half_is_replaced_on_requests)
{
	uint64_t tid = 0xdeadbeef12345678ull, sent;

	self->msg.mad.tid = htobe64(tid);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	sent = msg_tid64(&self->got);
	EXPECT_EQ(0x12345678, (uint32_t)sent);
	EXPECT_NE(0xdeadbeef, sent >> 32);
	EXPECT_EQ(0, sent >> 56);
	/* The caller's buffer stays as it was. */
	EXPECT_EQ(tid, msg_tid64(&self->msg));
}

TEST_F(rw, tid_upper_half_differs_between_agents)
{
	uint64_t first;

	ASSERT_EQ(1, umad_reg_client(self->fd));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	first = msg_tid64(&self->got);
	self->msg.hdr.id = 1;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	EXPECT_EQ((uint32_t)first, msg_tid(&self->got));
	EXPECT_NE(first, msg_tid64(&self->got));
}

/* A peer sees a response's TID only by its routing: to the agent it names. */
TEST_F(rw, tid_is_kept_on_responses)
{
	struct umad_msg reply;

	self->msg.hdr.timeout_ms = 20000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&reply, &self->got, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &reply, 10000));
	EXPECT_EQ(msg_tid64(&self->got), msg_tid64(&reply));
	EXPECT_EQ(METHOD_TEST | METHOD_RESP, reply.mad.method);
}

TEST_F(rw, tid_is_kept_on_trap_repress)
{
	struct umad_msg reply;

	ASSERT_EQ(2, umad_reg_server(self->peer, CLASS_VENDOR1, METHOD_TRAP));
	self->msg.mad.method = METHOD_TRAP;
	self->msg.hdr.timeout_ms = 20000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&reply, &self->got, 0);
	reply.mad.method = METHOD_REPRESS;
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &reply, 10000));
	EXPECT_EQ(msg_tid64(&self->got), msg_tid64(&reply));
	EXPECT_EQ(METHOD_REPRESS, reply.mad.method);
}

/* Class BM says "response" in the attribute modifier. */
TEST_F(rw, tid_is_kept_on_baseboard_responses)
{
	struct umad_msg reply;

	ASSERT_EQ(2, umad_reg_server(self->peer, CLASS_BM, METHOD_SEND));
	msg_init(&self->msg, &self->port, 0, CLASS_BM, METHOD_SEND, 1);
	self->msg.hdr.timeout_ms = 20000;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&reply, &self->got, 2);
	reply.mad.method = METHOD_SEND;
	reply.mad.attr_mod = htobe32(1);
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &reply));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &reply, 10000));
	EXPECT_EQ(msg_tid64(&self->got), msg_tid64(&reply));
}

TEST_F(rw, read_below_the_header_is_EINVAL_before_EAGAIN)
{
	EXPECT_EQ(-1, read(self->fd, &self->got, HDR_NEW - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(self->fd, &self->got, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(self->fd, &self->got, HDR_NEW));
	EXPECT_EQ(EAGAIN, errno);
}

TEST_F(rw, read_EAGAIN_writes_nothing)
{
	memset(&self->got, 0xee, sizeof(self->got));
	EXPECT_EQ(-1, read(self->fd, &self->got, MSG_LEN));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(0xeeeeeeee, self->got.hdr.id);
	EXPECT_EQ(0xeeeeeeee, self->got.hdr.length);
}

TEST_F(rw, short_read_is_EINVAL_writes_nothing_and_keeps_the_mad)
{
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	memset(&self->got, 0xee, sizeof(self->got));
	EXPECT_EQ(-EINVAL, msg_read_len(self->peer, &self->got, HDR_NEW,
					10000));
	EXPECT_EQ(-EINVAL, msg_read_len(self->peer, &self->got, MSG_LEN - 1,
					0));
	EXPECT_EQ(0xeeeeeeee, self->got.hdr.id);
	EXPECT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 0));
	EXPECT_EQ(-ETIME, msg_read(self->peer, &self->got, 100));
}

TEST_F(rw, read_into_bad_memory_is_EFAULT_and_keeps_the_mad)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *mem = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, mem);
	ASSERT_EQ(0, munmap(mem + page, page));
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EFAULT, msg_read(self->peer, (void *)(mem + page), 10000));
	EXPECT_EQ(-EFAULT, msg_read(self->peer,
				    (void *)(mem + page - HDR_NEW), 0));
	EXPECT_EQ(-EFAULT, msg_read(self->peer,
				    (void *)(mem + page - MSG_LEN + 1), 0));
	EXPECT_EQ(MSG_LEN, msg_read(self->peer,
				    (void *)(mem + page - MSG_LEN), 0));
}

TEST_F(rw, no_position_no_mapping)
{
	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, pread(self->fd, &self->got, MSG_LEN, 0));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, pwrite(self->fd, &self->msg, MSG_LEN, 0));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, self->fd,
				   0));
	EXPECT_EQ(ENODEV, errno);
}

/* The old layout: the same fields, the MAD at byte 56. */
TEST_F(rw, old_header_carries_mads_both_ways)
{
	struct ib_user_mad_reg_req req = { .qpn = 1 };
	uint8_t buf[HDR_OLD + MAD_LEN + 1];
	struct umad_msg reply;
	int fd = umad_open(O_RDWR | O_NONBLOCK);
	uint32_t length;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req));
	self->msg.hdr.timeout_ms = 20000;
	memcpy(buf, &self->msg.hdr, HDR_OLD);
	memcpy(buf + HDR_OLD, self->msg.data, MAD_LEN);
	EXPECT_EQ(-1, write(fd, buf, HDR_OLD + 35));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(fd, buf, HDR_OLD + MAD_LEN + 1));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(HDR_OLD + MAD_LEN, write(fd, buf, HDR_OLD + MAD_LEN));
	ASSERT_EQ(MSG_LEN, msg_read(self->peer, &self->got, 10000));
	msg_reply(&reply, &self->got, 0);
	reply.data[200] = 0x42;
	ASSERT_EQ(MSG_LEN, msg_write(self->peer, &reply));
	memset(buf, 0xee, sizeof(buf));
	EXPECT_EQ(-EINVAL, msg_read_len(fd, (void *)buf, HDR_OLD + MAD_LEN - 1,
					10000));
	ASSERT_EQ(HDR_OLD + MAD_LEN, msg_read_len(fd, (void *)buf, sizeof(buf),
						  0));
	memcpy(&length, buf + 16, 4);
	EXPECT_EQ(HDR_OLD + MAD_LEN, length);
	EXPECT_EQ(1, buf[32]);
	EXPECT_EQ(0, memcmp(buf + 36, self->port.gid, 16));
	EXPECT_EQ(METHOD_TEST | METHOD_RESP, buf[HDR_OLD + 3]);
	EXPECT_EQ(0x42, buf[HDR_OLD + 200]);
	EXPECT_EQ(0xee, buf[HDR_OLD + MAD_LEN]);
	close(fd);
}

TEST_HARNESS_MAIN
