// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names that change, or are nonsense: of the RDMA device, of a program. */
#include "kselftest_harness.h"
#include "hwsim_util.h"
#include "rdma_link.h"
#include "umad_util.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEVICE	35
#define NAME	"hwsim35"
#define OTHER	"has_another_name_meanwhile"

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

TEST_HARNESS_MAIN
