// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The module's face to the system: nodes, sysfs, network namespaces, nldev,
 * and that it stays loaded while somebody holds a file.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "umad_util.h"

#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

FIXTURE(life) {
	struct test_port port;
	char sysfs[128];
	char dev[128];
};

FIXTURE_SETUP(life)
{
	ASSERT_EQ(0, umad_port_find(&self->port));
	snprintf(self->sysfs, sizeof(self->sysfs),
		 "/sys/class/infiniband_mad/%s", self->port.node);
	snprintf(self->dev, sizeof(self->dev), "/dev/infiniband/%s",
		 self->port.node);
}

FIXTURE_TEARDOWN(life)
{
}

TEST_F(life, abi_version_is_5)
{
	char text[32];

	EXPECT_EQ(0, umad_read_sysfs("/sys/class/infiniband_mad/abi_version",
				     text, sizeof(text)));
	EXPECT_STREQ("5", text);
}

TEST_F(life, first_node_is_umad0_231_0_mode_0600)
{
	char path[256], text[32];
	struct stat st;

	EXPECT_STREQ("umad0", self->port.node);
	ASSERT_EQ(0, stat(self->dev, &st));
	EXPECT_TRUE(S_ISCHR(st.st_mode));
	EXPECT_EQ(0600, st.st_mode & 07777);
	EXPECT_EQ(makedev(231, 0), st.st_rdev);
	EXPECT_EQ(0, st.st_uid);
	snprintf(path, sizeof(path), "%s/dev", self->sysfs);
	EXPECT_EQ(0, umad_read_sysfs(path, text, sizeof(text)));
	EXPECT_STREQ("231:0", text);
}

TEST_F(life, attributes_ibdev_and_port)
{
	char path[256], text[64];

	snprintf(path, sizeof(path), "%s/ibdev", self->sysfs);
	EXPECT_EQ(0, umad_read_sysfs(path, text, sizeof(text)));
	EXPECT_STREQ(self->port.ibdev, text);
	snprintf(path, sizeof(path), "%s/port", self->sysfs);
	EXPECT_EQ(0, umad_read_sysfs(path, text, sizeof(text)));
	EXPECT_STREQ("1", text);
}

/* The RDMA device's own parent; rxe on a dummy netdev has none: both virtual. */
TEST_F(life, parent_is_the_parent_of_the_rdma_device)
{
	char path[256], node[512], ibdev[512];
	ssize_t n;

	n = readlink(self->sysfs, node, sizeof(node) - 1);
	ASSERT_LT(0, n);
	node[n] = '\0';
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s",
		 self->port.ibdev);
	n = readlink(path, ibdev, sizeof(ibdev) - 1);
	ASSERT_LT(0, n);
	ibdev[n] = '\0';
	/* ../../devices/.../infiniband_mad/umad0 beside .../infiniband/rxe0 */
	*strstr(node, "/infiniband_mad/") = '\0';
	*strstr(ibdev, "/infiniband/") = '\0';
	EXPECT_STREQ(ibdev, node);
}

TEST_F(life, no_issm_node_without_smi)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/issm%s",
		 self->port.node + 4);
	EXPECT_EQ(-1, access(path, F_OK));
	EXPECT_EQ(ENOENT, errno);
}

TEST_F(life, nldev_finds_the_node)
{
	struct rdma_chardev cdev = { 0 };
	struct stat st;

	ASSERT_EQ(0, rdma_get_chardev(self->port.ibdev, 1, "umad", &cdev));
	EXPECT_STREQ(self->port.node, cdev.name);
	EXPECT_EQ(5, cdev.abi);
	ASSERT_EQ(0, stat(self->dev, &st));
	EXPECT_EQ(major(st.st_rdev), cdev.dev >> 8 & 0xfff);
	EXPECT_EQ(minor(st.st_rdev), cdev.dev & 0xff);
}

TEST_F(life, nldev_refuses_a_port_that_is_not_there)
{
	struct rdma_chardev cdev = { 0 };

	EXPECT_GT(0, rdma_get_chardev(self->port.ibdev, 2, "umad", &cdev));
	EXPECT_GT(0, rdma_get_chardev(self->port.ibdev, 0, "umad", &cdev));
	EXPECT_EQ(0, rdma_get_chardev(self->port.ibdev, 1, "umad", &cdev));
}

TEST_F(life, unload_is_refused_while_a_file_is_open)
{
	int fd = umad_open(O_RDWR);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, syscall(SYS_delete_module, "ib_umad", O_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	/* And everything still works. */
	EXPECT_EQ(0, umad_reg_client(fd));
	close(fd);
}

/* Also by a file whose device has gone. */
TEST_F(life, unload_is_refused_while_a_dead_file_is_open)
{
	int fd = umad_open(O_RDWR);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rdma_link_del(self->port.ibdev));
	EXPECT_EQ(-1, syscall(SYS_delete_module, "ib_umad", O_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	close(fd);
	EXPECT_EQ(0, rdma_link_add(self->port.ibdev, self->port.netdev));
	EXPECT_EQ(0, umad_port_find(&self->port));
}

TEST_F(life, second_device_gets_the_next_number)
{
	char node[32];
	int fd;

	/* A second rxe on the same netdev is refused; loopback takes one. */
	if (rdma_link_add("rxe_second", "lo"))
		SKIP(return, "no second rxe device");
	EXPECT_EQ(0, umad_node_of("rxe_second", node, sizeof(node)));
	EXPECT_STREQ("umad1", node);
	fd = umad_open_node(node, O_RDWR);
	EXPECT_LE(0, fd);
	EXPECT_EQ(0, umad_reg_client(fd));
	close(fd);
	/* The first goes and comes: number 0 is free again, 1 is not. */
	EXPECT_EQ(0, rdma_link_del(self->port.ibdev));
	EXPECT_EQ(0, rdma_link_add(self->port.ibdev, self->port.netdev));
	EXPECT_EQ(0, umad_port_find(&self->port));
	EXPECT_STREQ("umad0", self->port.node);
	EXPECT_EQ(0, rdma_link_del("rxe_second"));
}

/* The same method may be served on each device. */
TEST_F(life, devices_do_not_share_agents)
{
	int fd = umad_open(O_RDWR), second;
	char node[32];

	if (rdma_link_add("rxe_second", "lo"))
		SKIP(return, "no second rxe device");
	ASSERT_EQ(0, umad_node_of("rxe_second", node, sizeof(node)));
	second = umad_open_node(node, O_RDWR);
	EXPECT_EQ(0, umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST));
	EXPECT_EQ(0, umad_reg_server(second, CLASS_VENDOR1, METHOD_TEST));
	/* One goes, the other's file lives. */
	EXPECT_EQ(0, rdma_link_del("rxe_second"));
	EXPECT_EQ(-EPIPE, umad_reg_client(second));
	EXPECT_EQ(1, umad_reg_client(fd));
	close(second);
	close(fd);
}

TEST_F(life, open_from_a_foreign_network_namespace_is_EPERM)
{
	int status;
	pid_t pid;

	/* Devices are shared between namespaces unless told otherwise. */
	ASSERT_EQ(0, rdma_set_netns_exclusive(true));
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNET))
			_exit(1);
		_exit(-umad_open(O_RDWR));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(EPERM, WEXITSTATUS(status));
	status = umad_open(O_RDWR);
	EXPECT_LE(0, status);
	close(status);
	/* The namespace dies in its own time, and until then says EBUSY. */
	for (status = 0; status < 200; status++) {
		if (!rdma_set_netns_exclusive(false))
			break;
		sleep_ms(50);
	}
	EXPECT_GT(200, status);
}

TEST_F(life, open_flags_and_two_hundred_files)
{
	int fds[200], i;

	for (i = 0; i < 200; i++) {
		fds[i] = umad_open(i & 1 ? O_RDWR : O_RDONLY | O_NONBLOCK);
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, umad_reg_client(fds[i]));
	}
	for (i = 0; i < 200; i++)
		close(fds[i]);
}

TEST_HARNESS_MAIN
