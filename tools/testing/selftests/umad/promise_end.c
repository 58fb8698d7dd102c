// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Whatever a program has outstanding, close(), UNREGISTER_AGENT, its exit by
 * SIGKILL, removal of the device and unloading of the module come to an end
 * within 2 s; a removal may take one address resolution more, not one for each
 * agent. Prints how long each took. For a guest on the instruction clock.
 *
 * UMAD_RETRIES, UMAD_SENDS and UMAD_HALF_KIB in the environment set the size of
 * the loads; UMAD_LOAD and UMAD_END name one load and one end that alone are
 * tried.
 */
#include "kselftest_harness.h"
#include "promise_load.h"
#include "rdma_link.h"

#include <stdio.h>
#include <sys/syscall.h>

#define BOUND		2000	/* ms */
#define RESOLUTION	1000	/* ms until a neighbour is given up */
#define PATIENCE	10000	/* ms; what is not over then may never be */
#define LOAD_TIME	300000
/* Left by a test after which the guest is of no use. */
#define STUCK		"/tmp/promise_end.stuck"

FIXTURE(end) {
	struct test_port port;
	struct loader loader;
	struct side_call del;
	int del_ret;
};

FIXTURE_VARIANT(end) {
	const char *name;
	load_fn load;
};

FIXTURE_VARIANT_ADD(end, retries) {
	.name = "retries", .load = load_retries,
};

FIXTURE_VARIANT_ADD(end, one_tid) {
	.name = "one_tid", .load = load_one_tid,
};

FIXTURE_VARIANT_ADD(end, resolution) {
	.name = "resolution", .load = load_resolution,
};

FIXTURE_VARIANT_ADD(end, half_received) {
	.name = "half_received", .load = load_half_received,
};

FIXTURE_VARIANT_ADD(end, half_sent) {
	.name = "half_sent", .load = load_half_sent,
};

FIXTURE_VARIANT_ADD(end, short_messages) {
	.name = "short_messages", .load = load_short_messages,
};

FIXTURE_VARIANT_ADD(end, page_fault) {
	.name = "page_fault", .load = load_page_fault,
};

static int module_load(void)
{
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), "/lib/umad/%s/ib_umad.ko",
		 getenv("UMAD_MODULE") ?: "ours");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

static bool module_there(void)
{
	return !access("/sys/module/ib_umad", F_OK);
}

FIXTURE_SETUP(end)
{
	const char *only = getenv("UMAD_LOAD");
	int ret;

	if (only && !strstr(only, variant->name))
		SKIP(return, "not asked for");
	ASSERT_NE(0, access(STUCK, F_OK)) {
		TH_LOG("what an earlier test has left hanging is still there");
	}
	/* Which of them it is that will have to be loaded again. */
	setenv("UMAD_MODULE", access("/sys/module/ib_umad/version", F_OK) ?
	       "intree" : "ours", 0);
	if (rdma_link_index(umad_ibdev()) < 0)
		ASSERT_EQ(0, rdma_link_add(umad_ibdev(), "dummy0"));
	ASSERT_EQ(0, umad_port_find(&self->port));
	ret = loader_start(&self->loader, variant->load, LOAD_TIME);
	ASSERT_EQ(0, ret);
}

/* What served before serves after: a MAD from the port to itself. */
static void still_works(struct __test_metadata *_metadata, struct test_port *port)
{
	struct umad_msg msg, got;
	uint64_t start = now_ms();
	int fd;

	EXPECT_EQ(0, umad_port_find(port));
	fd = umad_open(O_RDWR);
	EXPECT_LE(0, fd);
	EXPECT_EQ(0, umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST));
	msg_init(&msg, port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
	EXPECT_EQ(MSG_LEN, msg_write(fd, &msg));
	EXPECT_EQ(MSG_LEN, msg_read(fd, &got, PATIENCE));
	close(fd);
	EXPECT_GT(BOUND, now_ms() - start);
}

static void stuck(void)
{
	close(open(STUCK, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

FIXTURE_TEARDOWN(end)
{
	if (!self->loader.pid && !self->port.node[0])
		return;
	netdev_arp(self->port.netdev, false);
	if (loader_kill(&self->loader, LOAD_AGENTS * BOUND) < 0 ||
	    (self->del.started && !side_done(&self->del, PATIENCE))) {
		stuck();
		return;
	}
	side_join(&self->del);
	if (!module_there())
		EXPECT_EQ(0, module_load());
	if (rdma_link_index(self->port.ibdev) < 0)
		EXPECT_EQ(0, rdma_link_add(self->port.ibdev,
					   self->port.netdev));
	still_works(_metadata, &self->port);
}

/* A time, and whether it is one. */
#define EXPECT_WITHIN(what, ms, bound) do {				\
	long __ms = (ms);						\
									\
	TH_LOG("%s %s: %ld ms%s", variant->name, what, __ms,		\
	       __ms < 0 ? " (not over)" : "");				\
	EXPECT_LE(0, __ms);						\
	EXPECT_GE(bound, __ms);						\
} while (0)

static bool wanted(FIXTURE_DATA(end) *self, const char *end)
{
	const char *only = getenv("UMAD_END");

	return self->loader.pid && (!only || !strcmp(only, end));
}

TEST_F_TIMEOUT(end, close_ends, 900)
{
	if (!wanted(self, "close"))
		return;
	EXPECT_WITHIN("close", loader_tell(&self->loader, LOADER_CLOSE,
					   PATIENCE), BOUND);
}

TEST_F_TIMEOUT(end, unregister_ends, 900)
{
	if (!wanted(self, "unregister"))
		return;
	EXPECT_WITHIN("unregister", loader_tell(&self->loader,
						LOADER_UNREGISTER,
						LOAD_AGENTS * BOUND),
		      BOUND);
}

TEST_F_TIMEOUT(end, killed_process_ends, 900)
{
	if (!wanted(self, "SIGKILL"))
		return;
	EXPECT_WITHIN("SIGKILL", loader_kill(&self->loader, PATIENCE), BOUND);
}

static void *do_del(void *arg)
{
	FIXTURE_DATA(end) *self = arg;

	self->del_ret = rdma_link_del(self->port.ibdev);
	return NULL;
}

TEST_F_TIMEOUT(end, removal_ends, 900)
{
	uint64_t start = now_ms();

	if (!wanted(self, "removal"))
		return;
	side_start(&self->del, do_del, self);
	EXPECT_WITHIN("removal", side_done(&self->del, LOAD_AGENTS * BOUND) ?
		      (long)(now_ms() - start) : -ETIME, BOUND + RESOLUTION);
	EXPECT_EQ(0, self->del_ret);
}

/* From the end of its last user on. */
TEST_F_TIMEOUT(end, unload_ends, 900)
{
	uint64_t start = now_ms();
	int ret;

	if (!wanted(self, "unload"))
		return;
	kill(self->loader.pid, SIGKILL);
	do {
		ret = syscall(SYS_delete_module, "ib_umad", O_NONBLOCK);
		if (ret)
			sleep_ms(2);
	} while (ret && errno == EAGAIN && now_ms() - start < PATIENCE);
	EXPECT_WITHIN("SIGKILL and unload", ret ? -ETIME :
		      (long)(now_ms() - start), BOUND);
}

TEST_HARNESS_MAIN
