// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Beside a program that has many files: it is one program still. */
#include "hwsim_peers.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define TRANSFERS	16	/* of a port */

/* A program of its own that goes on when @begin has returned 0; or a negative errno. */
static pid_t begin_other(int (*begin)(void))
{
	int ret = -EIO, ends[2];
	pid_t pid;

	if (pipe(ends))
		return -errno;
	pid = fork();
	if (!pid) {
		ret = begin();
		if (write(ends[1], &ret, sizeof(ret)) == sizeof(ret))
			pause();
		_exit(1);
	}
	close(ends[1]);
	if (pid > 0 && (read(ends[0], &ret, sizeof(ret)) != sizeof(ret) || ret)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		pid = ret;
	}
	close(ends[0]);
	return pid;
}

static void end_other(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int open_server(uint8_t method)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = method,
	};
	int fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);

	return fd < 0 ? fd : rmpp_register(fd, &agent);
}

#define SERVERS		20

static int open_servers(void)
{
	int i, ret;

	for (i = 0; i < SERVERS; i++) {
		ret = open_server(METHOD_TABLE + 1 + i);
		if (ret)
			return ret;
	}
	return 0;
}

/* A first segment for the n-th of the files; what is answered to it. */
static int begin_message(FIXTURE_DATA(peers) *self, uint8_t n, uint32_t tid)
{
	const struct rmpp_pkt pkt = {
		.version = 1, .type = RMPP_DATA, .flags = RMPP_ACTIVE | RMPP_FIRST,
		.seg = 1, .len = 3 * RMPP_PAYLOAD,
	};
	int ret = inject(self, 1, METHOD_TABLE + n, tid, &pkt);

	/* Others' may be repeated. */
	while (!ret) {
		ret = see(self, SOON);
		if (ret > 0 && frame_mad(&self->seen)->tid != htobe64(tid))
			ret = 0;
	}
	return ret;
}

/* Each of its files has begun no more than one. */
TEST_F(peers, many_files_do_not_take_all_transfers_of_a_port)
{
	long transfers = rmpp_param_set("rmpp_port_transfers", TRANSFERS);
	pid_t other = begin_other(open_servers);
	int i;

	ASSERT_LT(0, transfers);
	ASSERT_LT(0, other);
	for (i = 0; i < TRANSFERS; i++)
		EXPECT_EQ(RMPP_ACK, begin_message(self, 1 + i, 1000 + i));
	for (; i < SERVERS; i++)
		EXPECT_EQ(RMPP_STOP, begin_message(self, 1 + i, 1000 + i));
	for (i = 0; i < TRANSFERS / 2; i++)
		EXPECT_EQ(RMPP_ACK, begin_message(self, 0, 2000 + i));
	end_other(other);
	rmpp_param_set("rmpp_port_transfers", transfers);
}

/* UMAD_FILES says how many on a slow kernel. */
static int retrying_files(void)
{
	const char *text = getenv("UMAD_FILES");
	int i, fd, n = text ? atoi(text) : 5000;
	struct rlimit limit = { n + 64, n + 64 };
	struct umad_msg msg;

	setrlimit(RLIMIT_NOFILE, &limit);
	msg_init(&msg, &(struct test_port){ .lid = PEER }, 0, CLASS_RMPP,
		 METHOD_TABLE, 0);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = 1;
	msg.hdr.retries = 0x7fffffff;
	for (i = 0; i < n; i++) {
		fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
		if (fd < 0)
			return fd;
		if (umad_reg_client(fd) < 0)
			return -EIO;
		msg.mad.tid = htobe64(1 + i);
		if (msg_write(fd, &msg) != MSG_LEN)
			return -EIO;
	}
	return 0;
}

/* Each of them has a request that is always due. */
TEST_F_TIMEOUT(peers, many_files_do_not_delay_what_others_send_again, 120)
{
	pid_t other = begin_other(retrying_files);
	struct umad_msg msg;
	uint64_t start;
	int seen = 0;

	ASSERT_LT(0, other);
	while (see(self, 0) >= 0)
		;
	msg_init(&msg, &self->port, 0, CLASS_RMPP, METHOD_TABLE + 1, 77);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = 50;
	msg.hdr.retries = 10;
	start = now_ms();
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &msg));
	while (seen < 5 && now_ms() - start < SOON)
		if (see(self, SOON) >= 0)
			seen += frame_mad(&self->seen)->method == METHOD_TABLE + 1;
	TH_LOG("sent again 4 times in %llu ms", (unsigned long long)(now_ms() - start));
	EXPECT_EQ(5, seen);
	EXPECT_GT(4 * 50 + 400, now_ms() - start);
	end_other(other);
}

TEST_HARNESS_MAIN
