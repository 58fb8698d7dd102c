// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A program that has little of the processor (cpu.max of its cgroup) is stopped inside
 * the kernel, in the middle of its calls, for as long as its quota is used up. Removal
 * of the device must not wait for that; nor must another program that opens a file of
 * the port. Not kept yet: only with UMAD_DARE=slow.
 */
#include "kselftest_harness.h"
#include "promise_cgroup.h"
#include "promise_load.h"
#include "rdma_link.h"

#include <stdio.h>

#define CGROUP		"/sys/fs/cgroup/hostile-slow"
/* One thousandth of a processor, us. */
#define QUOTA		"1000 1000000"
#define BOUND		2000	/* ms */
#define RESOLUTION	1000
#define PATIENCE	20000	/* ms; what is not over then may never be */
#define END		300000	/* ms; without the limit */

FIXTURE(slow) {
	struct test_port port;
	struct loader loader;
	struct side_call call;
	int ret;
};

static int enter_cgroup(void)
{
	cgroup_make("hostile-slow");
	umad_write_sysfs("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
	umad_write_sysfs(CGROUP "/cpu.max", "max");
	return cgroup_enter("hostile-slow");
}

static void *compute(void *arg)
{
	(void)arg;
	for (;;)
		getppid();
	return NULL;
}

/* Requests whose cancelling takes longer than the quota. */
static int load_requests(struct load *load)
{
	int fd = load_open(load, O_RDWR), ret;
	struct umad_msg msg;

	ret = fd < 0 ? fd : load_client(load, fd);
	if (ret < 0)
		return ret;
	msg_init(&msg, &load->port, ret, CLASS_VENDOR1, METHOD_NOBODY, 0);
	msg.hdr.timeout_ms = -1;
	ret = load_write_many(fd, &msg, env_long("UMAD_SENDS", 30000));
	return ret ? ret : enter_cgroup();
}

/* Threads that resolve an address, with another that takes what they need to go on. */
static int load_writers(struct load *load)
{
	static struct side_call computes;
	int ret = enter_cgroup();

	if (!ret)
		ret = load_resolution(load);
	if (!ret)
		side_start(&computes, compute, NULL);
	return ret;
}

FIXTURE_SETUP(slow)
{
	const char *dare = getenv("UMAD_DARE");

	if (!dare || strcmp(dare, "slow"))
		SKIP(return, "removal waits for a program without processor time");
	if (rdma_link_index(umad_ibdev()) < 0)
		ASSERT_EQ(0, rdma_link_add(umad_ibdev(), "dummy0"));
	ASSERT_EQ(0, umad_port_find(&self->port));
}

FIXTURE_TEARDOWN(slow)
{
	if (!self->loader.pid)
		return;
	umad_write_sysfs(CGROUP "/cpu.max", "max");
	EXPECT_LE(0, loader_kill(&self->loader, END));
	if (self->call.started)
		EXPECT_TRUE(side_done(&self->call, END));
	side_join(&self->call);
	netdev_arp(self->port.netdev, false);
	if (rdma_link_index(self->port.ibdev) < 0)
		EXPECT_EQ(0, rdma_link_add(self->port.ibdev, self->port.netdev));
	cgroup_remove("hostile-slow");
}

static void *do_del(void *arg)
{
	FIXTURE_DATA(slow) *self = arg;

	self->ret = rdma_link_del(self->port.ibdev);
	return NULL;
}

static void *do_open(void *arg)
{
	FIXTURE_DATA(slow) *self = arg;

	self->ret = umad_open(O_RDWR);
	return NULL;
}

static void start_slow(struct __test_metadata *_metadata, FIXTURE_DATA(slow) *self,
		       load_fn fn)
{
	ASSERT_EQ(0, loader_start(&self->loader, fn, END));
	ASSERT_EQ(0, umad_write_sysfs(CGROUP "/cpu.max", QUOTA));
}

/* How long the call took, and whether it has come to its end. */
#define EXPECT_OVER(what, bound) do {					\
	uint64_t __start = now_ms();					\
	bool __over = side_done(&self->call, PATIENCE);			\
									\
	TH_LOG("%s: %ld ms%s", what, (long)(now_ms() - __start),	\
	       __over ? "" : ", not over");				\
	EXPECT_GE(bound, now_ms() - __start);				\
	EXPECT_EQ(0, self->ret < 0 ? self->ret : 0);			\
} while (0)

TEST_F_TIMEOUT(slow, removal_beside_a_close, 600)
{
	if (!self->port.node[0])
		return;
	start_slow(_metadata, self, load_requests);
	loader_tell(&self->loader, LOADER_CLOSE, 1500);
	side_start(&self->call, do_del, self);
	EXPECT_OVER("removal", BOUND);
}

TEST_F_TIMEOUT(slow, removal_beside_an_unregister, 600)
{
	if (!self->port.node[0])
		return;
	start_slow(_metadata, self, load_requests);
	loader_tell(&self->loader, LOADER_UNREGISTER, 1500);
	side_start(&self->call, do_del, self);
	EXPECT_OVER("removal", BOUND);
}

TEST_F_TIMEOUT(slow, removal_beside_writers, 600)
{
	if (!self->port.node[0])
		return;
	start_slow(_metadata, self, load_writers);
	sleep_ms(3000);
	side_start(&self->call, do_del, self);
	EXPECT_OVER("removal", BOUND + RESOLUTION);
}

TEST_F_TIMEOUT(slow, open_beside_a_close, 600)
{
	if (!self->port.node[0])
		return;
	start_slow(_metadata, self, load_requests);
	loader_tell(&self->loader, LOADER_CLOSE, 1500);
	side_start(&self->call, do_open, self);
	EXPECT_OVER("open", BOUND);
	close(self->ret);
}

TEST_HARNESS_MAIN
