// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RDMA device goes away while somebody waits to open its issm node. What
 * the holder's close does to those who wait on: issm_crash.c.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "umad_util.h"

#include <stdio.h>
#include <sys/syscall.h>

#define PATIENCE 6000

FIXTURE(issm) {
	struct test_port port;
	char node[32];
	int holder;
	struct side_call waiters[3], del;
	int next;
	int rets[3];
	int del_ret;
	pid_t tids[3];
};

static void *do_open(void *arg)
{
	FIXTURE_DATA(issm) *self = arg;
	int i = __atomic_fetch_add(&self->next, 1, __ATOMIC_SEQ_CST);

	__atomic_store_n(&self->tids[i], syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	self->rets[i] = umad_open_node(self->node, O_RDWR);
	return NULL;
}

static void *do_del(void *arg)
{
	FIXTURE_DATA(issm) *self = arg;

	self->del_ret = rdma_link_del(self->port.ibdev);
	return NULL;
}

FIXTURE_SETUP(issm)
{
	char path[128];
	int i;

	side_allow_kick();
	if (umad_port_find(&self->port) == -ENODEV)
		rdma_link_add(umad_ibdev(), "dummy0");
	ASSERT_EQ(0, umad_port_find(&self->port));
	snprintf(self->node, sizeof(self->node), "issm%.20s",
		 self->port.node + 4);
	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s",
		 self->node);
	if (access(path, F_OK))
		SKIP(exit(255), "no %s on this port", self->node);
	self->holder = umad_open_node(self->node, O_RDWR);
	ASSERT_LE(0, self->holder);
	for (i = 0; i < 3; i++) {
		side_start(&self->waiters[i], do_open, self);
		while (!__atomic_load_n(&self->tids[i], __ATOMIC_SEQ_CST))
			sleep_ms(1);
		ASSERT_TRUE(wait_asleep(self->tids[i], 5000));
	}
}

FIXTURE_TEARDOWN(issm)
{
	int i;

	/* Waiters first: in-tree the holder's close would kill the kernel. */
	for (i = 0; i < 3; i++) {
		side_kick(&self->waiters[i], 5000);
		side_join(&self->waiters[i]);
	}
	side_join(&self->del);
	close(self->holder);
	EXPECT_EQ(0, rdma_link_add(self->port.ibdev, self->port.netdev));
	EXPECT_EQ(0, umad_port_find(&self->port));
}

TEST_F(issm, removal_wakes_waiting_opens_with_ENODEV)
{
	int i;

	side_start(&self->del, do_del, self);
	ASSERT_TRUE(side_done(&self->del, PATIENCE));
	EXPECT_EQ(0, self->del_ret);
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(side_done(&self->waiters[i], 3000)) {
			TH_LOG("open() sleeps on after the removal");
		}
		EXPECT_EQ(-ENODEV, self->rets[i]);
	}
}

TEST_HARNESS_MAIN
