// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What happens on some ports, and those on others meanwhile: timeouts of many ports, or of
 * many files, at once; addresses that take long on another device. For the instruction clock.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"
#include "promise_cgroup.h"
#include "rmpp_util.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define CROWD	50		/* the devices whose requests time out */
#define DEVICES	2
#define PORTS	8
#define FILES_MAX	1000

/* Whose requests time out at one moment. */
struct crowd {
	int dev;		/* the first */
	int ports, files;	/* of each port */
	int processes;		/* for each port; 0: one for all */
	int each;		/* requests of each file */
	int endless;		/* and before those, ones whose timeout is infinite */
	uint8_t mgmt_class;
};

/* As promised of a neighbour on the same port (promises.rst). */
#define BOUND_US	20000

FIXTURE(beside) {
	struct test_port port;
	int fd, srv;
	struct rmpp_msg out, in;
	pid_t pid;
	uint64_t longest, longest_rmpp;
};

FIXTURE_SETUP(beside)
{
	const struct rmpp_agent client = { .mgmt_class = CLASS_RMPP, .rmpp_version = 1 };
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TABLE,
	};
	const struct rlimit limit = { 4096, 4096 };
	char options[64];
	int i;

	setrlimit(RLIMIT_NOFILE, &limit);
	for (i = 0; i < DEVICES; i++) {
		snprintf(options, sizeof(options), "ports=%d lid=%d", PORTS, 0x400 + i * 8);
		ASSERT_EQ(0, hwsim_new(CROWD + i, options));
	}
	setenv("UMAD_IBDEV", "hwsim0", 1);
	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR);
	self->srv = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	ASSERT_EQ(1, rmpp_register(self->fd, &client));
	ASSERT_EQ(0, umad_reg_server(self->srv, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(1, rmpp_register(self->srv, &server));
}

FIXTURE_TEARDOWN(beside)
{
	int i;

	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
	close(self->fd);
	close(self->srv);
	rmpp_msg_free(&self->out);
	rmpp_msg_free(&self->in);
	for (i = 0; i < DEVICES; i++)
		EXPECT_EQ(0, hwsim_del(CROWD + i));
}

static int open_one(const struct crowd *crowd, int i)
{
	const struct rmpp_agent client = { .mgmt_class = CLASS_RMPP, .rmpp_version = 1 };
	int port = i / crowd->files, fd;

	fd = hwsim_open(crowd->dev + port / PORTS, port % PORTS + 1, O_RDWR);
	if (fd < 0 || (crowd->mgmt_class == CLASS_RMPP ? rmpp_register(fd, &client) < 0 :
		       umad_reg_client(fd)))
		_exit(1);
	return fd;
}

/* Requests of these files that time out at one moment; says in how many ms. */
static void time_out_at(const struct crowd *crowd, uint64_t due, int first, int files, int ready)
{
	int fd[DEVICES * PORTS * FILES_MAX], i, left;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < files; i++)
		fd[i] = open_one(crowd, first + i);
	for (i = 0; i < files * crowd->endless; i++)
		if (hwsim_request(fd[i % files], crowd->mgmt_class, 1000000 + i / files, -1))
			_exit(1);
	for (i = 0; i < files * crowd->each; i++)
		if (hwsim_request(fd[i % files], crowd->mgmt_class, i / files, due - now_ms()))
			_exit(1);
	left = due - now_ms();
	if (write(ready, &left, sizeof(left)) != sizeof(left))
		_exit(1);
	for (;;)
		pause();
}

/* The processes that do that; ends with its parent, as they do with it. */
static void time_out_together(const struct crowd *crowd, int ready)
{
	int all = crowd->ports * crowd->files, i;
	int files = crowd->processes ? crowd->files / crowd->processes : all;
	uint64_t due = now_ms() + 9000;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < all; i += files)
		if (!fork())
			time_out_at(crowd, due, i, files, ready);
	for (;;)
		pause();
}

/* Begins that; in how many ms it will be. */
static int crowd_begin(FIXTURE_DATA(beside) *self, const struct crowd *crowd)
{
	int processes = crowd->processes ? crowd->ports * crowd->processes : 1;
	int ends[2], left = -1;

	if (pipe(ends))
		return -1;
	self->pid = fork();
	if (!self->pid)
		time_out_together(crowd, ends[1]);
	close(ends[1]);
	while (processes--)
		if (read(ends[0], &left, sizeof(left)) != sizeof(left))
			left = -1;
	close(ends[0]);
	return left;
}

static int round_trip(FIXTURE_DATA(beside) *self, uint64_t tid)
{
	uint64_t start = now_us();
	int ret = msg_round_trip(self->fd, self->srv, &self->port, tid);

	if (now_us() - start > self->longest)
		self->longest = now_us() - start;
	return ret;
}

static int message(FIXTURE_DATA(beside) *self, uint64_t tid)
{
	uint64_t start = now_us();
	int ret;

	rmpp_msg_init(&self->out, &self->port, HDR_NEW, 1, CLASS_RMPP, METHOD_TABLE, tid, 4096,
		      tid);
	rmpp_user_hdr(&self->out)->timeout_ms = 0;
	ret = rmpp_msg_write(self->fd, &self->out);
	while (ret > 0) {
		ret = rmpp_msg_read(self->srv, &self->in, HDR_NEW, 5000);
		if (ret > 0 && rmpp_user_hdr(&self->in)->id == 1)
			break;
	}
	if (now_us() - start > self->longest_rmpp)
		self->longest_rmpp = now_us() - start;
	return ret;
}

TEST_F_TIMEOUT(beside, timeouts_of_many_ports_at_once, 120)
{
	const struct crowd crowd = {
		.dev = CROWD, .ports = DEVICES * PORTS, .files = 4, .each = 300,
		.mgmt_class = CLASS_VENDOR1,
	};
	int left = crowd_begin(self, &crowd), n;
	uint64_t end;

	ASSERT_LT(300, left);
	sleep_ms(left - 200);
	end = now_ms() + 2000;
	for (n = 0; now_ms() < end; n++) {
		ASSERT_EQ(0, round_trip(self, n));
		if (n % 4 == 0)
			ASSERT_LT(0, message(self, n));
	}
	TH_LOG("%d round trips, the longest %llu us; of messages %llu us", n,
	       (unsigned long long)self->longest, (unsigned long long)self->longest_rmpp);
	EXPECT_GE(BOUND_US, self->longest);
	EXPECT_GE(BOUND_US, self->longest_rmpp);
}

static void expect_on_time(struct __test_metadata *_metadata, FIXTURE_DATA(beside) *self,
			   const struct crowd *crowd)
{
	int left = crowd_begin(self, crowd), n;
	int64_t late, longest = 0;
	uint64_t end;

	ASSERT_LT(300, left);
	sleep_ms(left - 200);
	end = now_ms() + 3000;
	for (n = 0; now_ms() < end; n++) {
		late = hwsim_late_by(self->fd, n, 20);
		if (late > longest)
			longest = late;
	}
	TH_LOG("%d timeouts, the latest by %lld us", n, (long long)longest);
	EXPECT_GE(BOUND_US, longest);
}

TEST_F_TIMEOUT(beside, timeouts_beside_those_of_many_files, 120)
{
	const struct crowd crowd = {
		.dev = CROWD, .ports = 1, .files = 200, .each = 100,
		.mgmt_class = CLASS_VENDOR1,
	};

	expect_on_time(_metadata, self, &crowd);
}

TEST_F_TIMEOUT(beside, timeouts_beside_those_of_many_processes, 120)
{
	const struct crowd crowd = {
		.dev = CROWD, .ports = 1, .files = 200, .each = 100,
		.processes = 200, .mgmt_class = CLASS_VENDOR1,
	};

	expect_on_time(_metadata, self, &crowd);
}

TEST_F_TIMEOUT(beside, timeouts_beside_those_of_another_process, 120)
{
	const struct crowd crowd = {
		.ports = 1, .files = FILES_MAX, .each = 20, .mgmt_class = CLASS_VENDOR1,
	};

	expect_on_time(_metadata, self, &crowd);
}

TEST_F_TIMEOUT(beside, timeouts_beside_those_of_many_ports, 120)
{
	const struct crowd crowd = {
		.dev = CROWD, .ports = DEVICES * PORTS, .files = 4, .each = 300,
		.mgmt_class = CLASS_VENDOR1,
	};

	expect_on_time(_metadata, self, &crowd);
}

/* Each of them is searched for behind those whose timeout is infinite. */
TEST_F_TIMEOUT(beside, timeouts_beside_those_that_take_long, 120)
{
	const struct crowd crowd = {
		.dev = CROWD, .ports = 1, .files = 4, .each = 3000, .endless = 2000,
		.mgmt_class = CLASS_RMPP,
	};

	expect_on_time(_metadata, self, &crowd);
}

#define BUSY_EACH	10	/* requests of each process at once, all the time */
#define BUSY_MS		5	/* their timeout */
#define BURST		300	/* requests that time out at one moment */
#define BURST_US	2500	/* for each such process it may come later: they are busy */

/* Into a new cgroup. */
static int enter_cgroup(int n)
{
	char name[32];

	snprintf(name, sizeof(name), "hwsim_beside%d", n);
	return cgroup_make(name) ?: cgroup_enter(name);
}

static void leave_cgroup(int n)
{
	char name[32];

	snprintf(name, sizeof(name), "hwsim_beside%d", n);
	cgroup_remove(name);
}

/* Requests that time out, again and again, of one file; ends with its parent. */
static void time_out_always(void)
{
	struct umad_msg got;
	uint64_t tid = 0;
	int fd, i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = hwsim_open(0, 1, O_RDWR);
	if (fd < 0 || umad_reg_client(fd))
		_exit(1);
	for (;;) {
		for (i = 0; i < BUSY_EACH; i++)
			if (hwsim_request(fd, CLASS_VENDOR1, tid++, BUSY_MS))
				_exit(1);
		for (i = 0; i < BUSY_EACH; i++)
			if (msg_read(fd, &got, 30000) != TIMED_OUT_LEN)
				_exit(1);
	}
}

/* By how many us the last of so many is late. */
static int64_t burst_late_by(int fd, uint64_t tid, int timeout_ms)
{
	uint64_t due = now_us() + timeout_ms * 1000;
	struct umad_msg got;
	int i;

	for (i = 0; i < BURST; i++)
		if (hwsim_request(fd, CLASS_VENDOR1, tid + i, (due - now_us()) / 1000))
			return INT64_MAX;
	for (i = 0; i < BURST; i++)
		if (msg_read(fd, &got, 30000) != TIMED_OUT_LEN)
			return INT64_MAX;
	return now_us() - due;
}

static void expect_burst_on_time(struct __test_metadata *_metadata, FIXTURE_DATA(beside) *self,
				 int processes, bool cgroups)
{
	int64_t late, longest = 0;
	pid_t pid[64];
	int n;

	for (n = 0; n < processes; n++) {
		pid[n] = fork();
		if (pid[n])
			continue;
		if (cgroups && enter_cgroup(n))
			_exit(1);
		time_out_always();
	}
	sleep_ms(100);
	for (n = 0; n < 2; n++) {
		late = burst_late_by(self->fd, n * BURST, 600);
		if (late > longest)
			longest = late;
	}
	for (n = 0; n < processes; n++) {
		/* None has ended by itself. */
		EXPECT_EQ(0, waitpid(pid[n], NULL, WNOHANG));
		kill(pid[n], SIGKILL);
		waitpid(pid[n], NULL, 0);
		if (cgroups)
			leave_cgroup(n);
	}
	TH_LOG("of %d timeouts the last was late by %lld us", BURST, (long long)longest);
	EXPECT_GE(processes * BURST_US, longest);
}

TEST_F_TIMEOUT(beside, many_timeouts_beside_few_of_many_processes, 120)
{
	expect_burst_on_time(_metadata, self, 60, false);
}

TEST_F_TIMEOUT(beside, many_timeouts_beside_few_of_many_cgroups, 120)
{
	ASSERT_EQ(0, cgroup_make("hwsim_beside0"));
	cgroup_remove("hwsim_beside0");
	expect_burst_on_time(_metadata, self, 20, true);
}

#define SLOW		48	/* its addresses take long */
#define FINE		49
#define SERVERS		120	/* on SLOW */
#define SEGMENTS	40	/* to each: first ones, of ten nodes */
#define LID		1
#define NODE		0x100
#define AH_MS		"/sys/kernel/debug/ib_hwsim/hwsim48/ah_ms"

struct service {
	uint8_t mgmt_class, method;
};

static int segment(int wire, uint16_t slid, struct service to, uint64_t tid, uint32_t seg,
		   uint32_t segs)
{
	const struct rmpp_pkt pkt = rmpp_data_pkt(seg, segs, segs * RMPP_PAYLOAD);
	struct ib_hwsim_frame frame;

	frame_init(&frame, to.mgmt_class, to.method, tid);
	frame.slid = slid;
	frame.dlid = LID;
	rmpp_put(frame.mad, &pkt);
	mad_put_oui(frame.mad);
	return raw_write(wire, &frame);
}

/* How many ms until a message of three segments has come, from a sender that repeats them. */
static int three_segments(int wire, int fd, uint64_t tid)
{
	const struct service server = { CLASS_RMPP, METHOD_TABLE };
	uint64_t start = now_ms();
	struct rmpp_msg got = {};
	int ret = -ETIME, tries;
	uint32_t seg;

	for (tries = 0; ret < 0 && tries < 20; tries++) {
		for (seg = 1; seg <= 3; seg++) {
			if (segment(wire, NODE + 50, server, tid, seg, 3))
				return -EIO;
			sleep_ms(5);
		}
		ret = rmpp_msg_read(fd, &got, HDR_NEW, 500);
	}
	rmpp_msg_free(&got);
	return ret < 0 ? ret : (int)(now_ms() - start);
}

static int serve(int fd, struct service service)
{
	const struct rmpp_agent agent = {
		.mgmt_class = service.mgmt_class, .rmpp_version = 1, .method = service.method,
	};

	return rmpp_register(fd, &agent);
}

TEST(messages_beside_a_device_whose_addresses_take_long)
{
	struct rlimit limit = { 4096, 4096 };
	struct service service;
	int slow, fine, fd, fds[SERVERS], i, j;

	setrlimit(RLIMIT_NOFILE, &limit);
	ASSERT_EQ(0, hwsim_new(SLOW, "lid=1"));
	ASSERT_EQ(0, hwsim_new(FINE, "lid=1"));
	slow = raw_attach(SLOW, 1);
	fine = raw_attach(FINE, 1);
	fd = hwsim_open(FINE, 1, O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, serve(fd, (struct service){ CLASS_RMPP, METHOD_TABLE }));
	ASSERT_LE(0, three_segments(fine, fd, 1));
	for (i = 0; i < SERVERS; i++) {
		fds[i] = hwsim_open(SLOW, 1, O_RDWR | O_NONBLOCK);
		service = (struct service){ 0x31 + i / 100, 0x10 + i % 100 };
		ASSERT_EQ(0, serve(fds[i], service));
	}
	ASSERT_EQ(0, umad_write_sysfs(AH_MS, "8000"));
	for (i = 0; i < SERVERS; i++) {
		service = (struct service){ 0x31 + i / 100, 0x10 + i % 100 };
		for (j = 0; j < SEGMENTS; j++)
			ASSERT_EQ(0, segment(slow, NODE + j % 10, service, 1000 * j + i, 1, 3));
	}
	sleep_ms(300);
	i = three_segments(fine, fd, 2);
	TH_LOG("%d ms", i);
	EXPECT_LE(0, i);
	EXPECT_GE(100, i);
	ASSERT_EQ(0, umad_write_sysfs(AH_MS, "0"));
	for (i = 0; i < SERVERS; i++)
		close(fds[i]);
	close(fd);
	close(slow);
	close(fine);
	EXPECT_EQ(0, hwsim_del(SLOW));
	EXPECT_EQ(0, hwsim_del(FINE));
}

TEST_HARNESS_MAIN
