// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Hostile programs and peers of the tests of the promises. See
 * promise_noise.h.
 */
#include "promise_cgroup.h"
#include "promise_noise.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define BALLAST		(40l << 20)	/* bytes of a process in a cgroup */
#define FILES		1000
#define METHOD_VICTIM	0x13
#define CGROUP		"promise-noise"

/* The peer has another GID of the same port, fd00::2, if there is one. */
static void as_peer(const struct test_port *port, struct umad_msg *msg)
{
	char path[256], gid[64];
	int i;

	for (i = 0; i < 32; i++) {
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband/%s/ports/1/gids/%d",
			 port->ibdev, i);
		if (!umad_read_sysfs(path, gid, sizeof(gid)) &&
		    !strcmp(gid, "fd00:0000:0000:0000:0000:0000:0000:0002"))
			msg->hdr.gid_index = i;
	}
}

int noise_none(struct load *load)
{
	(void)load;
	return 0;
}

static void *compute(void *arg)
{
	(void)arg;
	for (;;)
		getppid();
	return NULL;
}

int noise_on_thread(struct load *load, void *(*fn)(void *))
{
	side_start(&load->writers[0].call, fn, load);
	return 0;
}

/* Nothing but processor time: what any program may take from another. */
int noise_computes(struct load *load)
{
	return noise_on_thread(load, compute);
}

/* Without end, by agent 0 of the first file. */
void noise_flood(struct load *load, struct umad_msg *msg)
{
	uint64_t tid = 0;

	for (;;) {
		msg->mad.tid = htobe64(tid++);
		msg_write(load->fds[0], msg);
	}
}

static void *flood(void *arg)
{
	struct load *load = arg;
	struct umad_msg msg;

	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	noise_flood(load, &msg);
	return NULL;
}

/* A file that does not block, agent 0 of which sends; as writers do. */
int noise_client(struct load *load)
{
	int fd = load_open(load, O_RDWR | O_NONBLOCK);
	int ret = fd < 0 ? fd : load_client(load, fd);

	return ret < 0 ? ret : fd;
}

int noise_floods_writes(struct load *load)
{
	int fd = noise_client(load);

	return fd < 0 ? fd : noise_on_thread(load, flood);
}

static void *flood_requests(void *arg)
{
	struct load *load = arg;
	struct umad_msg msg, got;
	uint64_t tid = 0;

	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	msg.hdr.timeout_ms = 5;
	msg.hdr.retries = 20;
	for (;;) {
		msg.mad.tid = htobe64(tid++);
		msg_write(load->fds[0], &msg);
		msg_read(load->fds[0], &got, 0);
	}
	return NULL;
}

int noise_floods_requests(struct load *load)
{
	int fd = noise_client(load);

	return fd < 0 ? fd : noise_on_thread(load, flood_requests);
}

/* Two MADs each millisecond, for the victim. */
static void *feed(void *arg)
{
	struct load *load = arg;
	struct umad_msg msg;
	uint64_t tid = 0;

	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_VICTIM, 0);
	for (;; tid++) {
		msg.mad.tid = htobe64(tid);
		msg_write(load->fds[0], &msg);
		if (tid & 1)
			sleep_ms(1);
	}
	return NULL;
}

/* The process that MADs are sent to, and that never reads them. */
static int victim(bool in_cgroup, int out)
{
	char *ballast;
	int fd, ret = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (in_cgroup)
		ret = cgroup_enter(CGROUP);
	if (!ret && in_cgroup) {
		ballast = mmap(NULL, BALLAST, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(ballast, 1, BALLAST);
	}
	fd = umad_open(O_RDWR);
	if (!ret)
		ret = fd;
	if (ret >= 0)
		ret = umad_reg_server(fd, CLASS_VENDOR1, METHOD_VICTIM);
	if (write(out, &ret, sizeof(ret)) != sizeof(ret))
		_exit(1);
	for (;;)
		pause();
}

static int start_victim(bool in_cgroup, pid_t *pid)
{
	int from[2], ret = -EIO;

	if (pipe2(from, O_CLOEXEC))
		return -errno;
	*pid = fork();
	if (!*pid)
		victim(in_cgroup, from[1]);
	close(from[1]);
	if (read(from[0], &ret, sizeof(ret)) != sizeof(ret))
		ret = -ESRCH;
	close(from[0]);
	return ret < 0 ? ret : 0;
}

int noise_is_stopped(struct load *load)
{
	pid_t pid;
	int ret = start_victim(false, &pid);

	if (ret)
		return ret;
	kill(pid, SIGSTOP);
	ret = noise_client(load);
	return ret < 0 ? ret : noise_on_thread(load, feed);
}

/* With @room bytes more than it has, or less, in the cgroup's @file. */
static int feed_in_cgroup(struct load *load, const char *file, long room)
{
	pid_t pid;
	int ret;

	cgroup_remove(CGROUP);
	ret = cgroup_make(CGROUP);
	if (!ret)
		ret = start_victim(true, &pid);
	if (!ret)
		ret = cgroup_set(CGROUP, file,
				 cgroup_get(CGROUP, "memory.current") + room);
	if (!ret)
		ret = noise_client(load);
	return ret < 0 ? ret : noise_on_thread(load, feed);
}

int noise_is_over_high(struct load *load)
{
	return feed_in_cgroup(load, "memory.high", -BALLAST / 2);
}

int noise_is_at_max(struct load *load)
{
	return feed_in_cgroup(load, "memory.max", 64 << 10);
}

/* @n files, each with an agent, and @msg written to it. */
int noise_files(struct load *load, int n, const struct umad_msg *msg)
{
	struct rlimit limit = { n + 100, n + 100 };
	int i, fd, ret;

	if (setrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	for (i = 0; i < n; i++) {
		fd = umad_open_node(load->port.node, O_RDWR);
		ret = fd < 0 ? fd : umad_reg_client(fd);
		if (ret >= 0)
			ret = msg_write(fd, msg);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Each with a request that waits for ever. */
int noise_holds_files(struct load *load)
{
	struct umad_msg msg;

	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
	msg.hdr.timeout_ms = -1;
	return noise_files(load, FILES, &msg);
}

static void *write_garbage(void *arg)
{
	struct load *load = arg;
	unsigned int seed = env_long("UMAD_SEED", 1), i, len;
	int fd = load->fds[0], op;
	uint8_t bytes[1024];

	for (;;) {
		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = rand_r(&seed) >> 8;
		len = rand_r(&seed) % sizeof(bytes);
		op = rand_r(&seed) % 8;
		/* Half of them with an agent that is there. */
		if (op & 1)
			memset(bytes, 0, 4);
		if (op < 6)
			i = write(fd, bytes, len);
		else if (op == 6)
			ioctl(fd, rand_r(&seed), bytes);
		else
			i = read(fd, bytes, len);
	}
	return NULL;
}

int noise_writes_garbage(struct load *load)
{
	int fd = noise_client(load);

	return fd < 0 ? fd : noise_on_thread(load, write_garbage);
}

static void *peer_flood(void *arg)
{
	struct load *load = arg;
	struct umad_msg msg;

	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_VICTIM, 0);
	as_peer(&load->port, &msg);
	noise_flood(load, &msg);
	return NULL;
}

/* MADs that somebody serves, who does not read. */
int noise_peer_floods(struct load *load)
{
	pid_t pid;
	int ret = start_victim(false, &pid);

	if (!ret)
		ret = noise_client(load);
	return ret < 0 ? ret : noise_on_thread(load, peer_flood);
}

/* RMPP packets of a peer; @first: each begins a message of the victim's. */
static int peer_packets(struct load *load, bool first, int n, int pause_ms)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.flags = IB_USER_MAD_USER_RMPP,
	};
	const struct rmpp_pkt pkt = {
		.version = 1, .type = RMPP_DATA,
		.flags = RMPP_ACTIVE | (first ? RMPP_FIRST : 0),
		.seg = first ? 1 : 9, .len = first ? 1000 * RMPP_PAYLOAD : 0,
	};
	struct umad_msg msg, got;
	int i, fd, ret;

	fd = load_open(load, O_RDWR | O_NONBLOCK);
	ret = fd < 0 ? fd : rmpp_register(fd, &agent);
	if (ret < 0)
		return ret;
	msg_init(&msg, &load->port, ret, CLASS_RMPP, METHOD_TABLE, 0);
	as_peer(&load->port, &msg);
	rmpp_put(msg.data, &pkt);
	for (i = 0; n < 0 || i < n; i++) {
		msg.mad.tid = htobe64(0x70000000 + i);
		ret = msg_write(fd, &msg);
		while (msg_read(fd, &got, 0) > 0)
			;
		if (ret < 0)
			return ret;
		if (pause_ms && !(i & 1))
			sleep_ms(pause_ms);
	}
	return 0;
}

/* More messages than one file may have, of which one segment has come. */
int noise_peer_begins_messages(struct load *load)
{
	return peer_packets(load, true, 1100, 0);
}

static void *send_segments(void *arg)
{
	peer_packets(arg, false, -1, 1);
	return NULL;
}

/* Segments of messages that never began. */
int noise_peer_sends_segments(struct load *load)
{
	return noise_on_thread(load, send_segments);
}
