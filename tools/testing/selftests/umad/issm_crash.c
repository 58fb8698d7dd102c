// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The holder of an issm node closes it after the RDMA device has gone, while
 * others wait in open(). With the in-tree module this kills the kernel, so the
 * test stands alone, and runs in-tree only in a plan that wants the splat.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "umad_util.h"

#include <stdio.h>
#include <sys/syscall.h>

struct waiter {
	struct side_call call;
	char node[32];
	pid_t tid;
	int ret;
};

static void *do_open(void *arg)
{
	struct waiter *waiter = arg;

	__atomic_store_n(&waiter->tid, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	waiter->ret = umad_open_node(waiter->node, O_RDWR);
	return NULL;
}

TEST(holder_closes_after_the_removal)
{
	struct waiter waiters[3];
	struct test_port port;
	char node[32];
	int holder, i;

	ASSERT_EQ(0, umad_port_find(&port));
	snprintf(node, sizeof(node), "issm%.20s", port.node + 4);
	holder = umad_open_node(node, O_RDWR);
	if (holder == -ENOENT)
		SKIP(return, "no %s on this port", node);
	ASSERT_LE(0, holder);
	for (i = 0; i < 3; i++) {
		memset(&waiters[i], 0, sizeof(waiters[i]));
		memcpy(waiters[i].node, node, sizeof(node));
		side_start(&waiters[i].call, do_open, &waiters[i]);
		while (!__atomic_load_n(&waiters[i].tid, __ATOMIC_SEQ_CST))
			sleep_ms(1);
		ASSERT_TRUE(wait_asleep(waiters[i].tid, 5000));
	}
	ASSERT_EQ(0, rdma_link_del(port.ibdev));
	sleep_ms(200);
	EXPECT_EQ(0, close(holder));
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(side_done(&waiters[i].call, 3000));
		side_join(&waiters[i].call);
		EXPECT_EQ(-ENODEV, waiters[i].ret);
	}
	EXPECT_EQ(0, rdma_link_add(port.ibdev, port.netdev));
	EXPECT_EQ(0, umad_port_find(&port));
}

TEST_HARNESS_MAIN
