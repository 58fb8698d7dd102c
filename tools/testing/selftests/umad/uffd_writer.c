// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A write() or ioctl() that sleeps in a page fault on its own buffer delays
 * nobody: not its file, not its port, not other people's MADs. In-tree holds
 * the file's mutex (for an ioctl the port's too) over the fault. Removal of the
 * device under such a writer stands in uffd_removal.c.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "uffd.h"
#include "umad_util.h"

#define PATIENCE 3000	/* ms for what must not have to wait */

FIXTURE(uffd) {
	struct test_port port;
	int fd;			/* the stuck file; agent 0 serves METHOD_TEST */
	int other;		/* agent 0 serves METHOD_TEST2 */
	int client;
	struct uffd_pages pages;
	struct side_call stuck;	/* the call in the fault */
	struct side_call call;	/* the call that must not wait for it */
	struct umad_msg msg;
	struct umad_msg got;
	int stuck_ret;
	int ret;
};

FIXTURE_VARIANT(uffd) {
	size_t there;	/* bytes of the argument before the missing page */
	bool is_ioctl;
};

FIXTURE_VARIANT_ADD(uffd, write_header) {
	.there = 8,
};

FIXTURE_VARIANT_ADD(uffd, write_body) {
	.there = HDR_NEW + 100,
};

FIXTURE_VARIANT_ADD(uffd, register) {
	.there = 8,
	.is_ioctl = true,
};

struct stuck {
	int fd;
	char *arg;
	bool is_ioctl;
	int *ret;
};

static struct stuck stuck;

static void *stuck_main(void *arg)
{
	(void)arg;
	if (stuck.is_ioctl)
		*stuck.ret = umad_ioctl(stuck.fd, IB_USER_MAD_REGISTER_AGENT2,
					stuck.arg);
	else
		*stuck.ret = msg_write(stuck.fd, (void *)stuck.arg);
	return NULL;
}

FIXTURE_SETUP(uffd)
{
	struct ib_user_mad_reg_req2 req;
	const void *from = &self->msg;

	ASSERT_EQ(0, umad_port_find(&self->port));
	side_allow_kick();
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	self->other = umad_open(O_RDWR | O_NONBLOCK);
	self->client = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, umad_reg_server(self->fd, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(0, umad_reg_server(self->other, CLASS_VENDOR1,
				     METHOD_TEST2));
	ASSERT_EQ(0, umad_reg_client(self->client));
	ASSERT_EQ(0, uffd_open(&self->pages));
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 99);
	if (variant->is_ioctl) {
		reg_init(&req, 0, 0);
		from = &req;
	}
	memcpy(self->pages.hole - variant->there, from, variant->there);
	stuck = (struct stuck){
		.fd = self->fd, .arg = self->pages.hole - variant->there,
		.is_ioctl = variant->is_ioctl, .ret = &self->stuck_ret,
	};
	side_start(&self->stuck, stuck_main, NULL);
	ASSERT_EQ(0, uffd_wait_fault(&self->pages, 10000));
	msg_init(&self->msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
	self->ret = -EINPROGRESS;
}

FIXTURE_TEARDOWN(uffd)
{
	uffd_close(&self->pages);
	side_join(&self->stuck);
	side_join(&self->call);
	close(self->fd);
	close(self->other);
	close(self->client);
}

/* Run @fn aside; it must come back while the writer is stuck. */
#define MUST_NOT_WAIT(self, fn) do {					\
	side_start(&(self)->call, fn, self);				\
	ASSERT_TRUE(side_done(&(self)->call, PATIENCE)) {		\
		TH_LOG("waits for the page fault of another thread");	\
	}								\
	side_join(&(self)->call);					\
	EXPECT_FALSE(side_done(&(self)->stuck, 0));			\
} while (0)

static void *do_poll(void *arg)
{
	FIXTURE_DATA(uffd) *self = arg;
	struct pollfd pfd = { .fd = self->fd, .events = POLLIN | POLLOUT };

	poll(&pfd, 1, 0);
	self->ret = pfd.revents;
	return NULL;
}

TEST_F(uffd, poll_goes_on)
{
	MUST_NOT_WAIT(self, do_poll);
	EXPECT_EQ(POLLOUT, self->ret);
}

static void *do_read(void *arg)
{
	FIXTURE_DATA(uffd) *self = arg;

	self->ret = read(self->fd, &self->got, MSG_LEN) < 0 ? -errno : 0;
	return NULL;
}

TEST_F(uffd, nonblocking_read_goes_on)
{
	MUST_NOT_WAIT(self, do_read);
	EXPECT_EQ(-EAGAIN, self->ret);
}

static void *do_write(void *arg)
{
	FIXTURE_DATA(uffd) *self = arg;

	self->ret = msg_write(self->fd, &self->msg);
	return NULL;
}

TEST_F(uffd, second_write_goes_on)
{
	MUST_NOT_WAIT(self, do_write);
	EXPECT_EQ(MSG_LEN, self->ret);
}

static void *do_register(void *arg)
{
	FIXTURE_DATA(uffd) *self = arg;

	self->ret = umad_reg_client(self->fd);
	if (self->ret >= 0)
		self->ret = umad_unreg(self->fd, self->ret);
	return NULL;
}

TEST_F(uffd, register_and_unregister_go_on)
{
	MUST_NOT_WAIT(self, do_register);
	EXPECT_EQ(0, self->ret);
}

static void *do_open_close(void *arg)
{
	FIXTURE_DATA(uffd) *self = arg;
	int fd = umad_open(O_RDWR);

	self->ret = fd < 0 ? fd : umad_reg_client(fd);
	close(fd);
	return NULL;
}

/* While REGISTER of another thread waits as well: in-tree chains up. */
TEST_F(uffd, open_and_close_of_the_port_go_on)
{
	struct side_call second;

	side_start(&second, do_register, self);
	side_done(&second, 500);
	side_start(&self->call, do_open_close, self);
	EXPECT_TRUE(side_done(&self->call, PATIENCE));
	EXPECT_TRUE(side_done(&second, 0));
	uffd_fill(&self->pages, NULL, 0);
	side_join(&second);
}

/* A MAD for the stuck file arrives, and can be read. */
static void *do_receive_same(void *arg)
{
	FIXTURE_DATA(uffd) *self = arg;

	self->msg.mad.method = METHOD_TEST;
	self->ret = msg_write(self->client, &self->msg);
	if (self->ret == MSG_LEN)
		self->ret = msg_read(self->fd, &self->got, 20000);
	return NULL;
}

TEST_F(uffd, mad_for_the_same_file_is_delivered)
{
	MUST_NOT_WAIT(self, do_receive_same);
	EXPECT_EQ(MSG_LEN, self->ret);
}

/* In-tree the receive path blocks on the first MAD for the stuck file. */
static void *do_receive_other(void *arg)
{
	FIXTURE_DATA(uffd) *self = arg;

	self->msg.mad.method = METHOD_TEST;
	self->ret = msg_write(self->client, &self->msg);
	self->msg.mad.method = METHOD_TEST2;
	self->msg.mad.tid = htobe64(2);
	if (self->ret == MSG_LEN)
		self->ret = msg_write(self->client, &self->msg);
	if (self->ret == MSG_LEN)
		self->ret = msg_read(self->other, &self->got, 20000);
	return NULL;
}

TEST_F(uffd, mad_for_another_file_is_delivered)
{
	MUST_NOT_WAIT(self, do_receive_other);
	EXPECT_EQ(MSG_LEN, self->ret);
}

/* A time-out of the stuck file's own. */
static void *do_timeout(void *arg)
{
	FIXTURE_DATA(uffd) *self = arg;

	self->msg.hdr.timeout_ms = 300;
	self->ret = msg_write(self->fd, &self->msg);
	if (self->ret == MSG_LEN)
		self->ret = msg_read(self->fd, &self->got, 20000);
	return NULL;
}

TEST_F(uffd, timeout_of_the_same_file_is_delivered)
{
	MUST_NOT_WAIT(self, do_timeout);
	EXPECT_EQ(TIMED_OUT_LEN, self->ret);
}

TEST_F(uffd, fault_ends_and_the_call_succeeds)
{
	struct umad_msg whole;

	sleep_ms(100);
	EXPECT_FALSE(side_done(&self->stuck, 0));
	if (variant->is_ioctl) {
		struct ib_user_mad_reg_req2 req;

		reg_init(&req, 0, 0);
		uffd_fill(&self->pages, (char *)&req + variant->there,
			  sizeof(req) - variant->there);
		side_join(&self->stuck);
		EXPECT_EQ(0, self->stuck_ret);
		return;
	}
	msg_init(&whole, &self->port, 0, CLASS_VENDOR1, METHOD_TEST2, 99);
	uffd_fill(&self->pages, (char *)&whole + variant->there,
		  MSG_LEN - variant->there);
	side_join(&self->stuck);
	EXPECT_EQ(MSG_LEN, self->stuck_ret);
}

TEST_F(uffd, fault_fails_and_the_call_gets_EFAULT)
{
	uffd_unmap(&self->pages);
	side_join(&self->stuck);
	EXPECT_EQ(-EFAULT, self->stuck_ret);
	/* The file is as it was; TID 99 is free. */
	self->msg.mad.tid = htobe64(99);
	EXPECT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	EXPECT_EQ(1, umad_reg_client(self->fd));
}

/* The rest of a REGISTER still works; a write() has lost its agent. */
TEST_F(uffd, agent_unregistered_under_the_call)
{
	struct ib_user_mad_reg_req2 req;
	struct umad_msg msg;

	/* Not before it is sure that this does not wait: it could not end. */
	side_start(&self->call, do_register, self);
	ASSERT_TRUE(side_done(&self->call, PATIENCE));
	side_join(&self->call);
	EXPECT_EQ(0, umad_unreg(self->fd, 0));
	reg_init(&req, 0, 0);
	msg_init(&msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 99);
	if (variant->is_ioctl)
		uffd_fill(&self->pages, (char *)&req + variant->there,
			  sizeof(req) - variant->there);
	else
		uffd_fill(&self->pages, (char *)&msg + variant->there,
			  MSG_LEN - variant->there);
	side_join(&self->stuck);
	EXPECT_EQ(variant->is_ioctl ? 0 : -EIO, self->stuck_ret);
}

/*
 * Not a page fault but an address that takes its time: a neighbour that does
 * not answer. The writer may wait for it, the others' receives may not.
 */
struct resolve {
	int fd;
	struct umad_msg msg;
	int ret;
};

static void *do_resolve(void *arg)
{
	struct resolve *resolve = arg;

	resolve->ret = msg_write(resolve->fd, &resolve->msg);
	return NULL;
}

FIXTURE(resolve) {
	struct test_port port;
	int fd, other, client;
};

FIXTURE_SETUP(resolve)
{
	ASSERT_EQ(0, umad_port_find(&self->port));
	ASSERT_EQ(0, netdev_arp(self->port.netdev, true));
	self->fd = umad_open(O_RDWR | O_NONBLOCK);
	self->other = umad_open(O_RDWR | O_NONBLOCK);
	self->client = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, umad_reg_server(self->fd, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(0, umad_reg_server(self->other, CLASS_VENDOR1,
				     METHOD_TEST2));
	ASSERT_EQ(0, umad_reg_client(self->client));
}

FIXTURE_TEARDOWN(resolve)
{
	close(self->fd);
	close(self->other);
	close(self->client);
	netdev_arp(self->port.netdev, false);
}

TEST_F(resolve, unresolvable_gid_is_ETIMEDOUT)
{
	struct umad_msg msg;

	msg_init(&msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
	msg.hdr.gid[15] = 0x77;
	EXPECT_EQ(-ETIMEDOUT, msg_write(self->client, &msg));
}

TEST_F(resolve, slow_address_delays_nobodys_receives)
{
	struct resolve resolve = { .fd = self->fd };
	struct side_call call;
	struct umad_msg msg, got;

	msg_init(&resolve.msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
	resolve.msg.hdr.gid[15] = 0x78;
	side_start(&call, do_resolve, &resolve);
	sleep_ms(100);
	ASSERT_FALSE(side_done(&call, 0));
	/* In-tree the first one blocks the port until the address times out. */
	msg_init(&msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
	EXPECT_EQ(MSG_LEN, msg_write(self->client, &msg));
	msg_init(&msg, &self->port, 0, CLASS_VENDOR1, METHOD_TEST2, 2);
	EXPECT_EQ(MSG_LEN, msg_write(self->client, &msg));
	EXPECT_EQ(MSG_LEN, msg_read(self->other, &got, 20000));
	/* There both end at once, and the other thread may not have said so. */
	EXPECT_FALSE(side_done(&call, 100)) {
		TH_LOG("the MAD came only after the address had timed out");
	}
	EXPECT_EQ(MSG_LEN, msg_read(self->fd, &got, 20000));
	side_join(&call);
	EXPECT_EQ(-ETIMEDOUT, resolve.ret);
}

TEST_HARNESS_MAIN
