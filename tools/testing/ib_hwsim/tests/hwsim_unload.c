// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The module is unloaded while a device is removed: ib_core waits for one of the two only, and
 * frees what belongs to the agents of the device. It is not loaded afterwards.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"

#include <sys/syscall.h>
#include "uffd.h"

#define DEVICE		60
#define PATIENCE	10000

struct reader {
	struct side_call call;
	void *buf;
	int fd;
	long ret;
};

static void *do_read(void *arg)
{
	struct reader *reader = arg;

	reader->ret = syscall(SYS_getdents64, reader->fd, reader->buf, 4096);
	return NULL;
}

static void *do_unload(void *arg)
{
	int *ret = arg;

	*ret = syscall(SYS_delete_module, "ib_umad", O_NONBLOCK) ? -errno : 0;
	return NULL;
}

static void *do_del(void *arg)
{
	int *ret = arg;

	*ret = hwsim_del(DEVICE);
	return NULL;
}

/* A directory is read into a page that does not come: no node is removed from it before. */
TEST(unload_that_is_held_up_beside_a_removal)
{
	int unload_ret = -1, del_ret = -1;
	struct side_call unload, del;
	struct uffd_pages pages = {};
	struct reader reader = {};
	char zeros[4096] = {};

	/* Those of the setup have other nodes. */
	hwsim_del(0);
	hwsim_del(1);
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=1 ports=2"));
	sleep_ms(200);
	if (uffd_open(&pages))
		SKIP(return, "no userfaultfd");
	reader.fd = open("/dev/infiniband", O_RDONLY | O_DIRECTORY);
	ASSERT_LE(0, reader.fd);
	reader.buf = pages.hole;
	side_start(&reader.call, do_read, &reader);
	ASSERT_EQ(0, uffd_wait_fault(&pages, PATIENCE));
	side_start(&unload, do_unload, &unload_ret);
	EXPECT_FALSE(side_done(&unload, 500));
	side_start(&del, do_del, &del_ret);
	side_done(&del, 1000);
	uffd_fill(&pages, zeros, sizeof(zeros));
	EXPECT_TRUE(side_done(&unload, PATIENCE));
	EXPECT_TRUE(side_done(&del, PATIENCE));
	side_join(&unload);
	side_join(&del);
	side_join(&reader.call);
	EXPECT_EQ(0, unload_ret);
	EXPECT_EQ(0, del_ret);
	EXPECT_LT(0, reader.ret);
	close(reader.fd);
	uffd_close(&pages);
}

TEST_HARNESS_MAIN
