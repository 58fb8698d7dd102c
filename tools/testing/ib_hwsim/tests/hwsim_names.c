// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names that change, or are nonsense: of the RDMA device, of a program. And its space. */
#include "kselftest_harness.h"
#include "hwsim_util.h"
#include "rdma_link.h"
#include "umad_util.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE	35
#define NAME	"hwsim35"
#define OTHER	"has_another_name_meanwhile"
#define IS_SM	2	/* of the capability mask */
#define SOON	5000	/* ms; for what has to happen */

FIXTURE(names) {
	char node[32];
};

FIXTURE_SETUP(names)
{
	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20"));
	ASSERT_EQ(0, hwsim_umad(DEVICE, 1, "umad", self->node, sizeof(self->node)));
}

FIXTURE_TEARDOWN(names)
{
	EXPECT_EQ(0, hwsim_del(DEVICE));
}

/* Ends with 1 when it has read what is no name of the device. */
static pid_t read_names(const char *path)
{
	pid_t pid = fork();
	char text[128];

	if (pid)
		return pid;
	while (!umad_read_file(path, text, sizeof(text)) &&
	       (!strcmp(text, NAME "\n") || !strcmp(text, OTHER "\n")))
		;
	_exit(1);
}

/* The old name is freed: KASAN sees who reads it then. */
TEST_F(names, device_is_renamed_while_its_name_is_read)
{
	char path[128], text[128];
	int i, status;
	pid_t pid;

	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s/ibdev",
		 self->node);
	pid = read_names(path);
	ASSERT_LT(0, pid);
	for (i = 0; i < 300; i++) {
		ASSERT_EQ(0, rdma_link_rename(NAME, OTHER));
		ASSERT_EQ(0, rdma_link_rename(OTHER, NAME));
	}
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG));
	kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, rdma_link_rename(NAME, OTHER));
	EXPECT_EQ(0, umad_read_file(path, text, sizeof(text)));
	EXPECT_STREQ(OTHER "\n", text);
	ASSERT_EQ(0, rdma_link_rename(OTHER, NAME));
}

/* One file is one line, whatever its program calls itself. */
TEST_F(names, program_has_a_line_in_its_name)
{
	char path[128], text[512];
	char *end;
	int fd;

	ASSERT_EQ(0, prctl(PR_SET_NAME, "a\npid 1 comm b"));
	fd = hwsim_open(DEVICE, 1, O_RDWR);
	ASSERT_LE(0, fd);
	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_umad/%s/files",
		 self->node);
	ASSERT_EQ(0, umad_read_file(path, text, sizeof(text)));
	end = strchr(text, '\n');
	ASSERT_NE(NULL, end);
	EXPECT_EQ('\0', end[1]);
	close(fd);
}

/* A network namespace that lasts until the process is killed; an fd of it. */
static int other_netns(pid_t *pid)
{
	int fd, ends[2];
	char path[64], ready = 0;

	if (pipe(ends))
		return -errno;
	*pid = fork();
	if (!*pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!unshare(CLONE_NEWNET) && write(ends[1], &ready, 1) == 1)
			pause();
		_exit(1);
	}
	close(ends[1]);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", *pid);
	fd = read(ends[0], &ready, 1) == 1 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	close(ends[0]);
	return fd;
}

/* IS_SM, 0, or a negative errno. */
static int is_sm(void)
{
	char text[64];
	int ret = hwsim_get(DEVICE, 1, "cap_mask", text, sizeof(text));

	return ret < 0 ? ret : (int)(strtoul(text, NULL, 0) & IS_SM);
}

/* Whoever has issm open has lost the device, which goes on elsewhere. */
TEST_F(names, device_that_moves_to_another_netns_is_no_SM_there)
{
	char node[32];
	uint64_t start = now_ms();
	int fd, netns;
	pid_t pid;

	ASSERT_EQ(0, hwsim_umad(DEVICE, 1, "issm", node, sizeof(node)));
	fd = umad_open_node(node, O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rdma_set_netns_exclusive(true));
	netns = other_netns(&pid);
	EXPECT_LE(0, netns);
	EXPECT_EQ(IS_SM, is_sm());
	EXPECT_EQ(0, rdma_link_set_netns(NAME, netns));
	EXPECT_EQ(0, is_sm());
	close(fd);
	EXPECT_EQ(0, is_sm());
	close(netns);
	kill(pid, SIGKILL);
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	/* It comes back when the namespace has gone. */
	while (rdma_set_netns_exclusive(false) && now_ms() - start < SOON)
		sleep_ms(50);
	while (hwsim_umad(DEVICE, 1, "issm", node, sizeof(node)) &&
	       now_ms() - start < SOON)
		sleep_ms(50);
	EXPECT_EQ(0, hwsim_umad(DEVICE, 1, "issm", node, sizeof(node)));
	EXPECT_EQ(0, is_sm());
}

TEST_HARNESS_MAIN
