// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RMPP done by the kernel on both sides: what one program writes another one
 * reads, whole. With UMAD_PEER the server is on another device; the wire
 * between them may lose packets.
 */
#include "kselftest_harness.h"
#include "rmpp_util.h"

#include <stdio.h>
#include <sys/mman.h>

#define SOON	20000	/* ms; for what has to happen */
#define WHILE	300	/* ms; for what must not */

FIXTURE(rmpp) {
	struct test_port port;
	struct test_port peer;
	struct test_port path;		/* from port to peer */
	int fd;				/* client, agent 0 */
	int srv;			/* server, agent 0 */
	size_t hdr;
	struct rmpp_msg msg;
	struct rmpp_msg got;
	struct rmpp_msg reply;
};

FIXTURE_VARIANT(rmpp) {
	uint8_t mgmt_class;
	bool old;
};

FIXTURE_VARIANT_ADD(rmpp, vendor) {
	.mgmt_class = CLASS_RMPP,
};

FIXTURE_VARIANT_ADD(rmpp, vendor_old_ioctl) {
	.mgmt_class = CLASS_RMPP,
	.old = true,
};

FIXTURE_VARIANT_ADD(rmpp, sa) {
	.mgmt_class = CLASS_SA,
};

FIXTURE_VARIANT_ADD(rmpp, sa_old_ioctl) {
	.mgmt_class = CLASS_SA,
	.old = true,
};

FIXTURE_VARIANT_ADD(rmpp, devmgmt) {
	.mgmt_class = CLASS_DEVMGMT,
};

FIXTURE_SETUP(rmpp)
{
	struct rmpp_agent agent = {
		.mgmt_class = variant->mgmt_class,
		.old = variant->old,
		.rmpp_version = 1,
	};

	ASSERT_EQ(0, rmpp_path_find(&self->port, &self->peer, &self->path));
	/* What the test before has sent may still be on the wire, twice. */
	if (getenv("UMAD_PEER"))
		sleep_ms(50);
	self->fd = umad_open_node(self->port.node, O_RDWR | O_NONBLOCK);
	self->srv = umad_open_node(self->peer.node, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->srv);
	self->hdr = variant->old ? HDR_OLD : HDR_NEW;
	ASSERT_EQ(0, rmpp_register(self->fd, &agent));
	agent.method = METHOD_TABLE;
	ASSERT_EQ(0, rmpp_register(self->srv, &agent));
}

FIXTURE_TEARDOWN(rmpp)
{
	close(self->fd);
	close(self->srv);
	rmpp_msg_free(&self->msg);
	rmpp_msg_free(&self->got);
	rmpp_msg_free(&self->reply);
}

static void init(FIXTURE_DATA(rmpp) *self, const FIXTURE_VARIANT(rmpp) *variant,
		 size_t len, uint32_t seed)
{
	rmpp_msg_init(&self->msg, &self->path, self->hdr, 0,
		      variant->mgmt_class, METHOD_TABLE, seed, len, seed);
}

/* A request of @len bytes; its TID is the seed of its data. */
#define INIT(len, seed)	init(self, variant, len, seed)

/* Data bytes; negative: as many full segments, and one byte more or less. */
static const struct {
	uint32_t segs;
	int bytes;
} sizes[] = {
	{ 0, 0 }, { 0, 1 }, { 0, 2 }, { 1, -1 }, { 1, 0 }, { 1, 1 },
	{ 2, -1 }, { 2, 0 }, { 2, 1 }, { 0, 215 }, { 0, 216 }, { 0, 217 },
	{ 0, 432 }, { 0, 433 }, { 3, 0 }, { 31, 0 }, { 32, 0 }, { 33, 0 },
	{ 63, 0 }, { 64, 0 }, { 64, 1 }, { 65, 0 }, { 65, 1 }, { 66, 0 },
	{ 128, 0 }, { 129, 0 }, { 129, 1 }, { 193, 0 }, { 383, 0 },
	{ 384, 0 }, { 385, 1 }, { 512, 0 }, { 0, 100 << 10 },
};

TEST_F_TIMEOUT(rmpp, one_way_any_length, 120)
{
	size_t len;
	int i, n;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		len = sizes[i].segs * rmpp_seg_data(variant->mgmt_class) +
		      sizes[i].bytes;
		INIT(len, 100 + i);
		n = self->hdr + self->msg.mad_len;
		ASSERT_EQ(n, rmpp_msg_write(self->fd, &self->msg));
		ASSERT_EQ(n, rmpp_msg_read(self->srv, &self->got, self->hdr,
					   SOON)) {
			TH_LOG("%zu bytes", len);
		}
		EXPECT_TRUE(rmpp_msg_has(&self->got, len, 100 + i)) {
			TH_LOG("%zu bytes differ", len);
		}
		EXPECT_EQ(100 + i, rmpp_tid(&self->got));
	}
	/* Delivered, and nothing was expected: nobody hears of it. */
	EXPECT_TRUE(rmpp_quiet(self->fd, 2500));
	EXPECT_TRUE(rmpp_quiet(self->srv, 0));
}

TEST_F_TIMEOUT(rmpp, one_way_1_mib, 120)
{
	size_t len = 1 << 20;

	INIT(len, 7);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, self->hdr, 100000));
	EXPECT_TRUE(rmpp_msg_has(&self->got, len, 7));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

TEST_F_TIMEOUT(rmpp, double_sided_any_length, 120)
{
	static const uint32_t lens[][2] = {
		{ 0, 0 }, { 1, 1 }, { 200, 40000 }, { 40000, 200 },
		{ 216, 217 }, { 433, 432 }, { 15000, 15000 },
		{ 100, 100 << 10 }, { 100 << 10, 1 }, { 80000, 80001 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		INIT(lens[i][0], 500 + i);
		rmpp_user_hdr(&self->msg)->timeout_ms = 3000;
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, self->hdr,
					   SOON)) {
			TH_LOG("request of %u bytes", lens[i][0]);
		}
		EXPECT_TRUE(rmpp_msg_has(&self->got, lens[i][0], 500 + i));
		rmpp_msg_reply(&self->reply, &self->got, 0, lens[i][1], 900 + i);
		ASSERT_LT(0, rmpp_msg_write(self->srv, &self->reply));
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, self->hdr,
					   SOON)) {
			TH_LOG("response of %u bytes", lens[i][1]);
		}
		EXPECT_TRUE(rmpp_msg_has(&self->got, lens[i][1], 900 + i)) {
			TH_LOG("status %u, %zu bytes of %u",
			       rmpp_user_hdr(&self->got)->status,
			       self->got.mad_len, lens[i][1]);
		}
		EXPECT_EQ(500 + i, rmpp_tid(&self->got));
		EXPECT_EQ(METHOD_TABLE | METHOD_RESP,
			  rmpp_mad(&self->got)->method);
	}
	/* The request is complete, and so is the response. */
	EXPECT_TRUE(rmpp_quiet(self->fd, 3500));
	EXPECT_TRUE(rmpp_quiet(self->srv, 0));
}

/* saquery: a plain request, a table for an answer. */
TEST_F_TIMEOUT(rmpp, plain_request_gets_a_table, 120)
{
	static const uint32_t lens[] = { 0, 10, 216, 217, 20000, 1 << 20 };
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		INIT(10, 300 + i);
		rmpp_mad_bytes(&self->msg)[26] = 0;
		self->msg.mad_len = MAD_LEN;
		rmpp_user_hdr(&self->msg)->timeout_ms = 1000;
		rmpp_user_hdr(&self->msg)->retries = 3;
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		/* The wire may have repeated the one before. */
		do {
			ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got,
						   self->hdr, SOON));
		} while (rmpp_tid(&self->got) != 300 + i);
		EXPECT_EQ(MAD_LEN, self->got.mad_len);
		rmpp_msg_reply(&self->reply, &self->got, 0, lens[i], 400 + i);
		ASSERT_LT(0, rmpp_msg_write(self->srv, &self->reply));
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, self->hdr,
					   60000));
		EXPECT_TRUE(rmpp_msg_has(&self->got, lens[i], 400 + i)) {
			TH_LOG("status %u, %zu bytes of %u",
			       rmpp_user_hdr(&self->got)->status,
			       self->got.mad_len, lens[i]);
		}
		EXPECT_EQ(300 + i, rmpp_tid(&self->got));
	}
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

TEST_F(rmpp, table_request_gets_a_plain_response)
{
	int i = 0;

	/* A wire that loses may lose the response, of which nobody knows. */
	do {
		INIT(5000, ++i);
		rmpp_user_hdr(&self->msg)->timeout_ms = 3000;
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
		ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, self->hdr,
					   SOON));
		rmpp_msg_reply(&self->reply, &self->got, 0, 100, 2);
		rmpp_mad_bytes(&self->reply)[26] = 0;
		self->reply.mad_len = MAD_LEN;
		ASSERT_LT(0, rmpp_msg_write(self->srv, &self->reply));
		ASSERT_LT(0, rmpp_msg_read(self->fd, &self->got, self->hdr,
					   SOON));
	} while (getenv("UMAD_PEER") && rmpp_user_hdr(&self->got)->status &&
		 i < 5);
	ASSERT_EQ(MAD_LEN, self->got.mad_len);
	EXPECT_EQ(0, rmpp_user_hdr(&self->got)->status);
	EXPECT_TRUE(rmpp_same(rmpp_mad_bytes(&self->got) +
			      rmpp_offset(variant->mgmt_class), 0, 100, 2));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* libibmad's rpc, UCX: TRAP is no request, and Active all the same. */
TEST_F(rmpp, trap_pushes_a_message)
{
	struct rmpp_agent agent = {
		.mgmt_class = variant->mgmt_class,
		.method = METHOD_TRAP,
		.old = variant->old,
		.rmpp_version = 1,
	};
	size_t len = 32 << 10;

	ASSERT_EQ(1, rmpp_register(self->srv, &agent));
	rmpp_msg_init(&self->msg, &self->path, self->hdr, 0,
		      variant->mgmt_class, METHOD_TRAP, 5, len, 5);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, self->hdr, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, len, 5));
	EXPECT_EQ(1, rmpp_user_hdr(&self->got)->id);
	EXPECT_EQ(METHOD_TRAP, rmpp_mad(&self->got)->method);
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

TEST_F(rmpp, headers_as_received)
{
	size_t offset = rmpp_offset(variant->mgmt_class);
	size_t len = 3 * rmpp_seg_data(variant->mgmt_class) - 9;
	struct ib_user_mad_hdr *hdr;
	struct rmpp_pkt pkt;
	struct mad_hdr *mad;

	INIT(len, 0x1234);
	rmpp_user_hdr(&self->msg)->timeout_ms = 60000;
	rmpp_user_hdr(&self->msg)->retries = 2;
	rmpp_user_hdr(&self->msg)->traffic_class = 7;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, self->hdr, SOON));

	hdr = rmpp_user_hdr(&self->got);
	EXPECT_EQ(0, hdr->id);
	EXPECT_EQ(0, hdr->status);
	EXPECT_EQ(0, hdr->timeout_ms);
	EXPECT_EQ(0, hdr->retries);
	EXPECT_EQ(self->hdr + offset + len, hdr->length);
	EXPECT_EQ(htobe32(1), hdr->qpn);
	EXPECT_EQ(0, hdr->qkey);
	EXPECT_EQ(self->port.lid, be16toh(hdr->lid));
	EXPECT_EQ(1, hdr->grh_present);
	EXPECT_EQ(self->peer.gid_index, hdr->gid_index);
	EXPECT_EQ(7, hdr->traffic_class);
	EXPECT_EQ(0, memcmp(hdr->gid, self->port.gid, 16));

	mad = rmpp_mad(&self->got);
	EXPECT_EQ(1, mad->base_version);
	EXPECT_EQ(METHOD_TABLE, mad->method);
	EXPECT_EQ(htobe16(0x35), mad->attr_id);
	EXPECT_EQ(htobe32(0x01020304), mad->attr_mod);
	EXPECT_EQ(0x1234, rmpp_tid(&self->got));
	EXPECT_NE(0, be64toh(mad->tid) >> 32);
	/* The first segment's RMPP header, with the length of the whole. */
	rmpp_get(rmpp_mad_bytes(&self->got), &pkt);
	EXPECT_EQ(1, pkt.version);
	EXPECT_EQ(RMPP_DATA, pkt.type);
	EXPECT_EQ(RMPP_ACTIVE | RMPP_FIRST, pkt.flags);
	EXPECT_EQ(0, pkt.status);
	EXPECT_EQ(1, pkt.seg);
	EXPECT_EQ(len + 3 * (offset - RMPP_HDR), pkt.len);
	/* The class header is the caller's. */
	EXPECT_EQ(0, memcmp(rmpp_mad_bytes(&self->got) + RMPP_HDR,
			    rmpp_mad_bytes(&self->msg) + RMPP_HDR,
			    offset - RMPP_HDR));
}

TEST_F(rmpp, single_segment_header)
{
	size_t offset = rmpp_offset(variant->mgmt_class);
	struct rmpp_pkt pkt;

	INIT(33, 1);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_EQ(self->hdr + offset + 33,
		  rmpp_msg_read(self->srv, &self->got, self->hdr, SOON));
	rmpp_get(rmpp_mad_bytes(&self->got), &pkt);
	EXPECT_EQ(1, pkt.version);
	EXPECT_EQ(RMPP_DATA, pkt.type);
	EXPECT_EQ(RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST, pkt.flags);
	EXPECT_EQ(1, pkt.seg);
	EXPECT_EQ(33 + offset - RMPP_HDR, pkt.len);
}

/* What is written into the RMPP header is the engine's, but for Active. */
TEST_F(rmpp, writers_rmpp_header_is_overwritten)
{
	const struct rmpp_pkt nonsense = {
		.version = 9, .type = RMPP_ABORT, .status = 200,
		.flags = RMPP_ACTIVE | RMPP_LAST, .seg = 77, .len = 88,
	};
	struct rmpp_pkt pkt;

	INIT(1000, 1);
	rmpp_put(rmpp_mad_bytes(&self->msg), &nonsense);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, self->hdr, SOON));
	EXPECT_TRUE(rmpp_msg_has(&self->got, 1000, 1));
	rmpp_get(rmpp_mad_bytes(&self->got), &pkt);
	EXPECT_EQ(1, pkt.version);
	EXPECT_EQ(RMPP_DATA, pkt.type);
	EXPECT_EQ(RMPP_ACTIVE | RMPP_FIRST, pkt.flags);
	EXPECT_EQ(0, pkt.status);
	EXPECT_EQ(1, pkt.seg);
}

TEST_F(rmpp, inactive_mad_has_its_rmpp_header_zeroed)
{
	static const uint8_t zeros[12];
	int ret = -ETIME, tries;

	INIT(100, 1);
	memset(rmpp_mad_bytes(&self->msg) + 24, 0xfe, 12); /* not Active */
	self->msg.mad_len = MAD_LEN;
	/* A single MAD is not retransmitted, and some wires of this test lose 1 %. */
	for (tries = 0; tries < 4 && ret == -ETIME; tries++)
		ret = rmpp_msg_write(self->fd, &self->msg) < 0 ? -EIO :
		      rmpp_msg_read(self->srv, &self->got, self->hdr, SOON / 4);
	ASSERT_EQ(self->hdr + MAD_LEN, ret);
	EXPECT_EQ(0, memcmp(rmpp_mad_bytes(&self->got) + 24, zeros, 12));
	EXPECT_EQ(0, memcmp(rmpp_mad_bytes(&self->got) + RMPP_HDR,
			    rmpp_mad_bytes(&self->msg) + RMPP_HDR,
			    MAD_LEN - RMPP_HDR));
	/* And is one MAD, no more. */
	self->msg.mad_len = MAD_LEN + 1;
	EXPECT_EQ(-EINVAL, rmpp_msg_write(self->fd, &self->msg));
}

TEST_F(rmpp, write_shorter_than_the_class_header)
{
	INIT(0, 1);
	self->msg.mad_len = rmpp_offset(variant->mgmt_class) - 1;
	EXPECT_EQ(-EINVAL, rmpp_msg_write(self->fd, &self->msg));
	self->msg.mad_len = RMPP_HDR - 1;
	EXPECT_EQ(-EINVAL, rmpp_msg_write(self->fd, &self->msg));
	EXPECT_TRUE(rmpp_quiet(self->srv, WHILE));
}

TEST_F(rmpp, write_that_runs_into_a_hole)
{
	size_t page = sysconf(_SC_PAGESIZE), n, good;
	uint8_t *map;

	INIT(100000, 1);
	n = self->hdr + self->msg.mad_len;
	map = mmap(NULL, n + 2 * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, map);
	for (good = page; good < n; good += 6 * page) {
		memcpy(map, self->msg.buf, good);
		ASSERT_EQ(0, mprotect(map + good, page, PROT_NONE));
		EXPECT_EQ(-1, write(self->fd, map, n));
		EXPECT_EQ(EFAULT, errno);
		ASSERT_EQ(0, mprotect(map + good, page,
				      PROT_READ | PROT_WRITE));
	}
	munmap(map, n + 2 * page);
	EXPECT_TRUE(rmpp_quiet(self->srv, WHILE));
	EXPECT_EQ(n, rmpp_msg_write(self->fd, &self->msg));
}

/* read() into so many bytes, with a pattern around them to see what changes. */
static int read_into(int fd, uint8_t *buf, size_t size, size_t count)
{
	ssize_t n;

	memset(buf, 0xa5, size);
	n = read(fd, buf, count);
	return n < 0 ? -errno : (int)n;
}

/* The hole begins behind the first page. */
static int read_into_hole(int fd, size_t count)
{
	size_t page = sysconf(_SC_PAGESIZE);
	uint8_t *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	if (map == MAP_FAILED || mprotect(map + page, page, PROT_NONE))
		return -errno;
	ret = read(fd, map + page - count / 2, count) < 0 ? -errno : 0;
	munmap(map, 2 * page);
	return ret;
}

static bool untouched(const uint8_t *buf, size_t from, size_t to)
{
	for (; from < to; from++)
		if (buf[from] != 0xa5)
			return false;
	return true;
}

TEST_F(rmpp, short_reads)
{
	size_t hdr = self->hdr, offset = rmpp_offset(variant->mgmt_class);
	size_t len = 1000, whole = hdr + offset + len, count;
	struct ib_user_mad_hdr user;
	static uint8_t buf[4096];

	INIT(len, 3);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_FALSE(rmpp_quiet(self->srv, SOON));
	/* Another one, to see that it does not overtake. */
	INIT(2, 4);
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	sleep_ms(WHILE);

	for (count = 0; count < hdr + MAD_LEN; count += 17) {
		EXPECT_EQ(-EINVAL, read_into(self->srv, buf, sizeof(buf),
					     count));
		EXPECT_TRUE(untouched(buf, 0, sizeof(buf)));
	}
	EXPECT_EQ(-EINVAL, read_into(self->srv, buf, sizeof(buf),
				     hdr + MAD_LEN - 1));
	EXPECT_TRUE(untouched(buf, 0, sizeof(buf)));

	/* Room for one segment: that, and the length of the whole. */
	for (count = hdr + MAD_LEN; count < whole; count += 111) {
		EXPECT_EQ(-ENOSPC, read_into(self->srv, buf, sizeof(buf),
					     count));
		memcpy(&user, buf, hdr);
		EXPECT_EQ(whole, user.length);
		EXPECT_EQ(0, user.status);
		EXPECT_EQ(METHOD_TABLE, buf[hdr + 3]);
		EXPECT_TRUE(rmpp_same(buf + hdr + offset, 0, MAD_LEN - offset,
				      3));
		EXPECT_TRUE(untouched(buf, hdr + MAD_LEN, sizeof(buf)));
	}
	EXPECT_EQ(-ENOSPC, read_into(self->srv, buf, sizeof(buf), whole - 1));
	EXPECT_EQ(-EFAULT, read_into_hole(self->srv, whole));

	EXPECT_EQ(whole, read_into(self->srv, buf, sizeof(buf), whole));
	EXPECT_TRUE(rmpp_same(buf + hdr + offset, 0, len, 3));
	EXPECT_TRUE(untouched(buf, whole, sizeof(buf)));

	/* One of a single short segment needs its own length, no more. */
	EXPECT_EQ(-EINVAL, read_into(self->srv, buf, sizeof(buf),
				     hdr + offset + 1));
	EXPECT_TRUE(untouched(buf, 0, sizeof(buf)));
	EXPECT_EQ(hdr + offset + 2, read_into(self->srv, buf, sizeof(buf),
					      hdr + offset + 2));
	EXPECT_TRUE(untouched(buf, hdr + offset + 2, sizeof(buf)));
	EXPECT_TRUE(rmpp_quiet(self->srv, 0));
}

TEST_F(rmpp, request_that_is_on_its_way_is_a_duplicate)
{
	INIT(100, 1);
	rmpp_user_hdr(&self->msg)->timeout_ms = 800;
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	EXPECT_EQ(-EINVAL, rmpp_msg_write(self->fd, &self->msg));
	/* Nor as a plain one. */
	rmpp_mad_bytes(&self->msg)[26] = 0;
	EXPECT_EQ(-EINVAL, rmpp_msg_write(self->fd, &self->msg));
	/* Unanswered: the time-out runs from the delivery on. */
	EXPECT_EQ(self->hdr + MAD_HDR_LEN,
		  rmpp_msg_read(self->fd, &self->got, self->hdr, SOON));
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	rmpp_mad_bytes(&self->msg)[26] = RMPP_ACTIVE;
	EXPECT_LT(0, rmpp_msg_write(self->fd, &self->msg));
}

/* Delivered but not answered. */
TEST_F(rmpp, response_that_does_not_come)
{
	uint64_t begin, took;

	INIT(3000, 0x4321);
	rmpp_user_hdr(&self->msg)->timeout_ms = 500;
	rmpp_user_hdr(&self->msg)->length = 4321;
	begin = now_ms();
	ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, self->hdr, SOON));
	EXPECT_EQ(self->hdr + MAD_HDR_LEN,
		  rmpp_msg_read(self->fd, &self->got, self->hdr, SOON));
	took = now_ms() - begin;
	EXPECT_LE(450, took);
	EXPECT_GE(3000, took);
	EXPECT_EQ(ETIMEDOUT, rmpp_user_hdr(&self->got)->status);
	EXPECT_EQ(4321, rmpp_user_hdr(&self->got)->length);
	EXPECT_EQ(0x4321, rmpp_tid(&self->got));
	EXPECT_TRUE(rmpp_quiet(self->fd, WHILE));
}

/* Soft-RoCE of 5.10 has 100 address handles, and each message takes one at either end. */
TEST_F_TIMEOUT(rmpp, many_at_once, 120)
{
	enum { COUNT = 48 };
	bool seen[COUNT] = { 0 };
	size_t len = 50000;
	uint32_t tid;
	int i;

	for (i = 0; i < COUNT; i++) {
		INIT(len + i, i);
		rmpp_user_hdr(&self->msg)->retries = 3;	/* 2 s may not do on a slow host */
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->msg));
	}
	for (i = 0; i < COUNT; i++) {
		ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, self->hdr,
					   100000)) {
			TH_LOG("%d of %d messages", i, COUNT);
		}
		tid = rmpp_tid(&self->got);
		ASSERT_GT(COUNT, tid);
		EXPECT_FALSE(seen[tid]);
		seen[tid] = true;
		EXPECT_TRUE(rmpp_msg_has(&self->got, len + tid, tid));
	}
	EXPECT_TRUE(rmpp_quiet(self->fd, 2500));
}

/* Equal TIDs from two agents of one file, and of another file. */
TEST_F_TIMEOUT(rmpp, equal_tids_of_several_senders, 120)
{
	struct rmpp_agent agent = {
		.mgmt_class = variant->mgmt_class,
		.old = variant->old,
		.rmpp_version = 1,
	};
	bool seen[3] = { false };
	int other, i, fd;
	uint32_t seed;

	ASSERT_EQ(1, rmpp_register(self->fd, &agent));
	other = umad_open_node(self->port.node, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, rmpp_register(other, &agent));
	for (i = 0; i < 3; i++) {
		fd = i == 2 ? other : self->fd;
		rmpp_msg_init(&self->msg, &self->path, self->hdr, i % 2,
			      variant->mgmt_class, METHOD_TABLE, 99,
			      100000 + i, i);
		ASSERT_LT(0, rmpp_msg_write(fd, &self->msg)) {
			TH_LOG("sender %d", i);
		}
	}
	for (i = 0; i < 3; i++) {
		ASSERT_LT(0, rmpp_msg_read(self->srv, &self->got, self->hdr,
					   60000));
		EXPECT_EQ(99, rmpp_tid(&self->got));
		seed = self->got.mad_len - rmpp_offset(variant->mgmt_class) -
		       100000;
		ASSERT_GT(3, seed);
		EXPECT_FALSE(seen[seed]);
		seen[seed] = true;
		EXPECT_TRUE(rmpp_msg_has(&self->got, 100000 + seed, seed));
	}
	close(other);
}

TEST_HARNESS_MAIN
