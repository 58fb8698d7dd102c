// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Beside a program that has many files, or makes itself many programs: others have
 * their turns and their shares of the port.
 */
#include "hwsim_peers.h"
#include "promise_cgroup.h"

#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CGROUP		"hwsim-programs"
#define TRANSFERS	16	/* of a port */
#define SERVERS		40
#define OTHERS_PID	3000	/* nobody's */

/* A program of its own that goes on when @begin has returned 0; or a negative errno. */
static pid_t begin_other(int (*begin)(void), pid_t *wanted)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = (uintptr_t)wanted,
		.set_tid_size = !!wanted,
	};
	int ret = -EIO, ends[2];
	pid_t pid;

	if (pipe(ends))
		return -errno;
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ret = begin();
		if (write(ends[1], &ret, sizeof(ret)) == sizeof(ret))
			pause();
		_exit(1);
	}
	close(ends[1]);
	if (pid > 0 && (read(ends[0], &ret, sizeof(ret)) != sizeof(ret) || ret)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		pid = ret < 0 ? ret : -EIO;
	}
	close(ends[0]);
	return pid;
}

static void end_other(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Called by a process that ends then; the file that it opens is ours, too. */
static int by_another(int (*open_file)(int n), int n, pid_t *wanted)
{
	struct clone_args args = {
		.flags = CLONE_FILES, .exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)wanted, .set_tid_size = !!wanted,
	};
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));
	int status = 0;

	if (!pid)
		_exit(open_file(n) ? 1 : 0);
	if (pid < 0)
		return -errno;
	waitpid(pid, &status, 0);
	return status ? -EIO : 0;
}

static int open_nth_server(int n)
{
	int fd = open_server(METHOD_TABLE + n);

	return fd < 0 ? fd : 0;
}

static int open_first_servers(int n)
{
	int i, ret = 0;

	for (i = 1; i <= n && !ret; i++)
		ret = open_nth_server(i);
	return ret;
}

static int open_servers(void)
{
	return open_first_servers(SERVERS);
}

/* The n-th server is asked to receive so many messages; how many it begins. */
static int begin_messages(FIXTURE_DATA(peers) *self, uint8_t n, int messages)
{
	static uint32_t tid = 1000;
	const struct rmpp_pkt pkt = {
		.version = 1, .type = RMPP_DATA, .flags = RMPP_ACTIVE | RMPP_FIRST,
		.seg = 1, .len = 3 * RMPP_PAYLOAD,
	};
	int type, begun = 0;

	while (messages--) {
		tid++;
		if (inject(self, 1, METHOD_TABLE + n, tid, &pkt))
			return -EIO;
		/* What was sent to others may be repeated. */
		do {
			type = see(self, SOON);
		} while (type >= 0 && frame_mad(&self->seen)->tid != htobe64(tid));
		begun += type == RMPP_ACK;
	}
	return begun;
}

/* Each of the first servers is asked for one. */
static int begin_one_each(FIXTURE_DATA(peers) *self)
{
	int i, begun = 0;

	for (i = 1; i <= SERVERS; i++)
		begun += begin_messages(self, i, 1);
	return begun;
}

/* Servers of another have begun no more than one each; half of the port is ours. */
static void expect_half(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			int (*begin)(void))
{
	pid_t other = begin_other(begin, NULL);
	long transfers;

	ASSERT_LT(0, other);
	transfers = rmpp_param_set("rmpp_port_transfers", TRANSFERS);
	EXPECT_EQ(TRANSFERS, begin_one_each(self));
	EXPECT_EQ(TRANSFERS / 2, begin_messages(self, 0, TRANSFERS / 2));
	rmpp_param_set("rmpp_port_transfers", transfers);
	end_other(other);
}

TEST_F(peers, many_files_do_not_take_all_transfers_of_a_port)
{
	expect_half(_metadata, self, open_servers);
}

/* Of one of its files; the others of the same program have theirs. */
TEST_F(peers, one_file_does_not_take_all_transfers_of_its_program)
{
	pid_t other = begin_other(open_servers, NULL);
	long transfers;

	ASSERT_LT(0, other);
	transfers = rmpp_param_set("rmpp_port_transfers", TRANSFERS);
	EXPECT_EQ(TRANSFERS, begin_messages(self, 1, TRANSFERS));
	EXPECT_EQ(TRANSFERS / 2, begin_messages(self, 2, TRANSFERS / 2));
	rmpp_param_set("rmpp_port_transfers", transfers);
	end_other(other);
}

/* One process that has each file opened by another, which ends, in a cgroup. */
static int many_programs(void)
{
	int i, ret = cgroup_enter(CGROUP);

	for (i = 1; i <= SERVERS && !ret; i++)
		ret = by_another(open_nth_server, i, NULL);
	return ret;
}

TEST_F(peers, many_programs_do_not_take_all_transfers_of_a_port)
{
	cgroup_remove(CGROUP);
	if (cgroup_make(CGROUP))
		SKIP(return, "no memory cgroups");
	expect_half(_metadata, self, many_programs);
	cgroup_remove(CGROUP);
}

/* Into a new cgroup below. */
static int enter_below(int n)
{
	char name[64];
	int ret;

	snprintf(name, sizeof(name), CGROUP "/%d", n);
	ret = cgroup_make(name);
	if (!ret)
		ret = cgroup_enter(name);
	return ret;
}

/* The same, but each file is opened in a cgroup of its own below that one cgroup. */
static int open_server_below(int n)
{
	int ret = enter_below(n);

	return ret ? ret : open_nth_server(n);
}

static int allow_below(void)
{
	return umad_write_sysfs("/sys/fs/cgroup/" CGROUP "/cgroup.subtree_control",
				"+memory");
}

static int many_cgroups(void)
{
	int i, ret = allow_below();

	for (i = 1; i <= SERVERS && ret >= 0; i++) {
		char name[64];

		ret = by_another(open_server_below, i, NULL);
		/* It is gone at once, but for the file. */
		snprintf(name, sizeof(name), CGROUP "/%d", i);
		if (getenv("UMAD_RMDIR"))
			cgroup_remove(name);
	}
	return ret < 0 ? ret : 0;
}

static void remove_below(int n)
{
	char name[64];

	for (; n > 0; n--) {
		snprintf(name, sizeof(name), CGROUP "/%d", n);
		cgroup_remove(name);
	}
	cgroup_remove(CGROUP);
}

/* A container may make cgroups in its own as it likes. */
TEST_F(peers, cgroups_of_one_cgroup_do_not_take_all_transfers_of_a_port)
{
	cgroup_remove(CGROUP);
	if (cgroup_make(CGROUP))
		SKIP(return, "no memory cgroups");
	expect_half(_metadata, self, many_cgroups);
	remove_below(SERVERS);
}

static int open_servers_by_pid(void)
{
	pid_t pid = OTHERS_PID;

	return by_another(open_first_servers, SERVERS, &pid);
}

static int open_last_server(void)
{
	return open_nth_server(SERVERS + 1);
}

/* Whose files are open still, as another has them, too. */
TEST_F(peers, process_with_the_pid_of_one_that_has_ended_has_its_own_share)
{
	pid_t other = begin_other(open_servers_by_pid, NULL), pid = OTHERS_PID, last;
	long transfers;

	ASSERT_LT(0, other);
	last = begin_other(open_last_server, &pid);
	ASSERT_EQ(OTHERS_PID, last);
	transfers = rmpp_param_set("rmpp_port_transfers", TRANSFERS);
	EXPECT_EQ(TRANSFERS, begin_one_each(self));
	EXPECT_EQ(1, begin_messages(self, SERVERS + 1, 1));
	rmpp_param_set("rmpp_port_transfers", transfers);
	end_other(last);
	end_other(other);
}

static int open_retrying(int n)
{
	struct umad_msg msg;
	int fd;

	msg_init(&msg, &(struct test_port){ .lid = PEER }, 0, CLASS_RMPP,
		 METHOD_TABLE, n);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = 1;
	msg.hdr.retries = 0x7fffffff;
	fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	if (fd < 0 || umad_reg_client(fd) < 0)
		return -EIO;
	return msg_write(fd, &msg) == MSG_LEN ? 0 : -EIO;
}

/* UMAD_FILES says how many on a slow kernel. */
static int files(void)
{
	return env_long("UMAD_FILES", 5000);
}

static int open_many_retrying(void)
{
	int i, n = files(), ret = 0;
	struct rlimit limit = { n + 64, n + 64 };

	setrlimit(RLIMIT_NOFILE, &limit);
	for (i = 0; i < n && !ret; i++)
		ret = open_retrying(i);
	return ret;
}

/* Each of them has a request that is always due. */
static void expect_turns(struct __test_metadata *_metadata, FIXTURE_DATA(peers) *self,
			 int (*begin)(void))
{
	pid_t other = begin_other(begin, NULL);
	struct umad_msg msg;
	uint64_t start;
	int seen = 0;

	ASSERT_LT(0, other);
	start = now_ms();
	while (now_ms() - start < SOON && see(self, 0) >= 0)
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
	/* By turns of files it is once in 5 s. */
	EXPECT_EQ(5, seen);
	EXPECT_GT(2000, now_ms() - start);
	end_other(other);
}

TEST_F_TIMEOUT(peers, many_files_do_not_delay_what_others_send_again, 120)
{
	expect_turns(_metadata, self, open_many_retrying);
}

/* So many cgroups take much longer to make. */
#define BELOW	(files() / 10)

static int open_retrying_below(int n)
{
	int ret = enter_below(n);

	return ret ? ret : open_retrying(n);
}

static int many_cgroups_retrying(void)
{
	int i, ret = allow_below();
	struct rlimit limit = { BELOW + 64, BELOW + 64 };

	setrlimit(RLIMIT_NOFILE, &limit);
	for (i = 1; i <= BELOW && ret >= 0; i++)
		ret = by_another(open_retrying_below, i, NULL);
	return ret < 0 ? ret : 0;
}

TEST_F_TIMEOUT(peers, cgroups_of_one_cgroup_do_not_delay_what_others_send_again, 200)
{
	cgroup_remove(CGROUP);
	if (cgroup_make(CGROUP))
		SKIP(return, "no memory cgroups");
	expect_turns(_metadata, self, many_cgroups_retrying);
	remove_below(BELOW);
}

TEST_HARNESS_MAIN
