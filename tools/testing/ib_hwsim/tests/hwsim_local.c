// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Directed route SMPs that do not leave the host (hop count 0): ib_core hands
 * them from one agent to another by itself, together with the send buffer of
 * whoever wrote them. That may be another file's.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"

#include <stdlib.h>

#define DEVICE		31
#define SOON		3000	/* ms; for what has to happen */
#define WHILE		1200	/* ms; for what must not */
#define HAMMER		1500	/* ms */
#define ATTR_SM_INFO	0x0020
#define DR_DIRECTION	0x8000

FIXTURE(local) {
	int sm;		/* agent 0 serves class 0x81 */
	int fd;		/* agent 0: a client of QP0 */
	struct umad_msg msg, got;
};

FIXTURE_VARIANT(local) {
	const char *options;
	uint8_t base_version;	/* of the port's own SMPs */
};

FIXTURE_VARIANT_ADD(local, ib) {
	.options = "lid=0x20",
	.base_version = 1,
};

/* SMPs of 256 bytes on a port whose own have 2,048. */
FIXTURE_VARIANT_ADD(local, opa) {
	.options = "link=opa lid=0x20",
	.base_version = 0x80,
};

static int reg_qp0(int fd, bool serve)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, serve ? CLASS_SMI_DR : 0, serve ? 1 : 0);
	req.qpn = 0;
	if (serve) {
		mask_set((uint64_t *)req.method_mask, METHOD_GET);
		mask_set((uint64_t *)req.method_mask, METHOD_SET);
	}
	return umad_reg2(fd, &req);
}

FIXTURE_SETUP(local)
{
	ASSERT_EQ(0, hwsim_new(DEVICE, variant->options));
	self->sm = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->sm);
	ASSERT_EQ(0, reg_qp0(self->sm, true));
	self->fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, reg_qp0(self->fd, false));
}

FIXTURE_TEARDOWN(local)
{
	close(self->fd);
	close(self->sm);
	EXPECT_EQ(0, hwsim_del(DEVICE));
}

/* An SMP by directed route to this very node. */
static void dr_init(struct umad_msg *msg, uint8_t method, uint16_t attr,
		    uint64_t tid, uint32_t timeout_ms)
{
	memset(msg, 0, sizeof(*msg));
	msg->hdr.lid = htobe16(PERMISSIVE);
	msg->hdr.timeout_ms = timeout_ms;
	msg->mad.base_version = 1;
	msg->mad.mgmt_class = CLASS_SMI_DR;
	msg->mad.class_version = 1;
	msg->mad.method = method;
	msg->mad.tid = htobe64(tid);
	msg->mad.attr_id = htobe16(attr);
	if (method & METHOD_RESP)
		msg->mad.status = htobe16(DR_DIRECTION);
	/* DrSLID and DrDLID (IBA 14.2.1.2), and those of OPA. */
	memset(msg->data + 32, 0xff, 8);
}

/* The program at the SM's end answers; with a time-out if it is so told. */
static int sm_answer(FIXTURE_DATA(local) *self, uint32_t timeout_ms)
{
	struct umad_msg req;
	int ret;

	ret = msg_read(self->sm, &req, SOON);
	if (ret < 0)
		return ret;
	dr_init(&self->msg, METHOD_GET_RESP, ATTR_SM_INFO,
		be64toh(req.mad.tid), timeout_ms);
	self->msg.data[SMP_DATA] = 0x5a;
	ret = msg_write(self->sm, &self->msg);
	return ret < 0 ? ret : 0;
}

TEST_F(local, agent_of_the_port_answers)
{
	dr_init(&self->msg, METHOD_GET, ATTR_NODE_INFO, 7, 1000);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(METHOD_GET_RESP, self->got.mad.method);
	EXPECT_EQ(7, msg_tid(&self->got));
}

/* In-tree it is delivered: ib_core looks for no request here. */
TEST_F(local, answer_without_a_timeout_is_delivered)
{
	dr_init(&self->msg, METHOD_GET, ATTR_NODE_INFO, 8, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(8, msg_tid(&self->got));
}

TEST_F(local, program_that_is_the_SM_answers)
{
	dr_init(&self->msg, METHOD_GET, ATTR_SM_INFO, 9, 2000);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(0, sm_answer(self, 0));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(9, msg_tid(&self->got));
	EXPECT_EQ(0x5a, self->got.data[SMP_DATA]);
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, 2500));
	EXPECT_EQ(-ETIME, msg_read(self->sm, &self->got, 0));
}

/* ib_core completes the request at once; its answer takes a program's time. */
TEST_F(local, infinite_timeout_waits_for_the_program)
{
	dr_init(&self->msg, METHOD_GET, ATTR_SM_INFO, 10, 0xffffffff);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	sleep_ms(50);
	ASSERT_EQ(-ETIME, msg_read(self->fd, &self->got, 0));
	ASSERT_EQ(0, sm_answer(self, 0));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(10, msg_tid(&self->got));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
}

/* The client's request ends once, though the answer brings a foreign buffer. */
TEST_F(local, answer_with_a_timeout_ends_the_request_once)
{
	dr_init(&self->msg, METHOD_GET, ATTR_SM_INFO, 11, 600);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(0, sm_answer(self, 300));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(0, self->got.hdr.status);
	EXPECT_EQ(11, msg_tid(&self->got));
	EXPECT_EQ(-ETIME, msg_read(self->fd, &self->got, WHILE));
	/* Nobody answers an answer. */
	ASSERT_EQ(TIMED_OUT_LEN, msg_read(self->sm, &self->got, SOON));
	EXPECT_EQ(ETIMEDOUT, self->got.hdr.status);
}

TEST_F(local, forged_answer_does_no_harm)
{
	uint64_t hi;

	dr_init(&self->msg, METHOD_GET, ATTR_NODE_INFO, 12, 1000);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	hi = msg_tid64(&self->got) >> 32;
	dr_init(&self->msg, METHOD_GET_RESP, ATTR_SM_INFO, hi << 32 | 13, 0);
	ASSERT_EQ(MSG_LEN, msg_write(self->sm, &self->msg));
	EXPECT_EQ(-ETIME, msg_read(self->sm, &self->got, 300));
	/* The client is as good as before. */
	dr_init(&self->msg, METHOD_GET, ATTR_NODE_INFO, 14, 1000);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	do {
		ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
		EXPECT_EQ(0, self->got.hdr.status);
	} while (msg_tid(&self->got) != 14);
}

/*
 * ib_core finds who gets an answer by the upper half of its TID: it may be an agent
 * of the kernel, which takes the writer's send buffer for its own. What a write lacks
 * at its end is 0 in ib_core's buffer.
 */
TEST_F(local, answer_to_an_agent_of_the_kernel_harms_nobody)
{
	uint8_t any[4096];
	uint64_t hi;
	int len;

	if (access("/sys/kernel/debug/ib_umad", F_OK) && !getenv("UMAD_DARE"))
		SKIP(return, "in-tree the kernel panics");
	for (hi = 0; hi < 200; hi++) {
		for (len = HDR_NEW + 36; len <= HDR_NEW + 40; len++) {
			dr_init(&self->msg, METHOD_GET_RESP, ATTR_SM_INFO,
				hi << 32 | (1000 + 10 * hi + len % 10), 0);
			ASSERT_EQ(len, write(self->sm, &self->msg, len));
		}
		dr_init(&self->msg, METHOD_GET_RESP, ATTR_SM_INFO,
			hi << 32 | (17 + 2 * hi), 0);
		ASSERT_EQ(MSG_LEN, msg_write(self->sm, &self->msg));
		dr_init(&self->msg, METHOD_REPRESS, ATTR_SM_INFO,
			hi << 32 | (18 + 2 * hi), 0);
		self->msg.mad.base_version = variant->base_version;
		self->msg.mad.class_version = variant->base_version;
		ASSERT_EQ(MSG_LEN, msg_write(self->sm, &self->msg));
	}
	sleep_ms(100);
	/* ... but for the two of this program, which is not asked. */
	while (read(self->sm, any, sizeof(any)) > 0)
		;
	while (read(self->fd, any, sizeof(any)) > 0)
		;
	dr_init(&self->msg, METHOD_GET, ATTR_NODE_INFO, 18, 1000);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	EXPECT_EQ(18, msg_tid(&self->got));
}

struct hammer {
	int fd;
	uint64_t hi;
	bool stop;
};

/* Answers to somebody else, each with a transaction of its writer's. */
static void *forge(void *arg)
{
	struct hammer *hammer = arg;
	struct umad_msg msg;
	uint32_t tid = 0;

	while (!__atomic_load_n(&hammer->stop, __ATOMIC_RELAXED)) {
		dr_init(&msg, METHOD_GET_RESP, ATTR_SM_INFO,
			hammer->hi << 32 | tid++ % 64, 20);
		msg_write(hammer->fd, &msg);
	}
	return NULL;
}

static void *drain(void *arg)
{
	struct hammer *hammer = arg;
	struct umad_msg got;

	while (!__atomic_load_n(&hammer->stop, __ATOMIC_RELAXED))
		msg_read(hammer->fd, &got, 10);
	return NULL;
}

/* Answers that bring a buffer of another file, with that file busy. */
TEST_F_TIMEOUT(local, foreign_send_buffers_harm_nobody, 60)
{
	struct hammer write = { .fd = self->sm };
	struct hammer read = { .fd = self->sm }, victim = { .fd = self->fd };
	struct side_call calls[4];
	uint64_t end;
	int i;

	dr_init(&self->msg, METHOD_GET, ATTR_NODE_INFO, 15, 1000);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_EQ(MSG_LEN, msg_read(self->fd, &self->got, SOON));
	write.hi = msg_tid64(&self->got) >> 32;
	side_start(&calls[0], forge, &write);
	side_start(&calls[1], forge, &write);
	side_start(&calls[2], drain, &read);
	side_start(&calls[3], drain, &victim);
	end = now_ms() + HAMMER;
	while (now_ms() < end) {
		dr_init(&self->msg, METHOD_GET, ATTR_NODE_INFO, 16, 5);
		msg_write(self->fd, &self->msg);
	}
	__atomic_store_n(&write.stop, true, __ATOMIC_RELAXED);
	__atomic_store_n(&read.stop, true, __ATOMIC_RELAXED);
	__atomic_store_n(&victim.stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 4; i++)
		side_join(&calls[i]);
}

TEST_HARNESS_MAIN
