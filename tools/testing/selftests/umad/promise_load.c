// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Loads of the tests of the promises. See promise_load.h.
 */
#include "promise_load.h"
#include "rdma_link.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define FOREVER		(-1)
#define NOBODY_THERE	0x78	/* last byte of a GID that no neighbour has */

int load_open(struct load *load, int flags)
{
	int fd = umad_open(flags);

	if (fd >= 0)
		load->fds[load->n_fds++] = fd;
	return fd;
}

static void load_agent(struct load *load, int fd, uint32_t id)
{
	load->agents[load->n_agents].fd = fd;
	load->agents[load->n_agents++].id = id;
}

/* An agent that sends; its number. */
int load_client(struct load *load, int fd)
{
	int id = umad_reg_client(fd);

	if (id >= 0)
		load_agent(load, fd, id);
	return id;
}

/* The same @n times, each with a TID of its own. */
int load_write_many(int fd, struct umad_msg *msg, int n)
{
	int i, ret = 0;

	for (i = 0; i < n && ret >= 0; i++) {
		msg->mad.tid = htobe64(i);
		ret = msg_write(fd, msg);
	}
	return ret < 0 ? ret : 0;
}

/*
 * Attempts come due faster than they can be sent, and always will. The agent
 * that is destroyed first is another one.
 */
int load_retries(struct load *load)
{
	int n = env_long("UMAD_RETRIES", 300);
	int fd = load_open(load, O_RDWR);
	struct umad_msg msg;
	int ret;

	if (fd < 0)
		return fd;
	load_client(load, fd);
	ret = load_client(load, fd);
	msg_init(&msg, &load->port, 1, CLASS_VENDOR1, METHOD_NOBODY, 0);
	msg.hdr.timeout_ms = 1;
	msg.hdr.retries = 0x7fffffff;
	if (ret >= 0)
		ret = load_write_many(fd, &msg, n);
	sleep_ms(500);
	return ret;
}

/* Segments of one message, written by a program that has its own RMPP. */
int load_one_tid(struct load *load)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.flags = IB_USER_MAD_USER_RMPP,
	};
	const struct rmpp_pkt pkt = {
		.version = 1, .type = RMPP_DATA, .flags = RMPP_ACTIVE, .seg = 7,
	};
	int n = env_long("UMAD_SENDS", 10000);
	int fd = load_open(load, O_RDWR);
	struct umad_msg msg;
	int ret, i;

	if (fd < 0)
		return fd;
	ret = rmpp_register(fd, &agent);
	load_agent(load, fd, ret);
	msg_init(&msg, &load->port, ret, CLASS_RMPP, METHOD_NOBODY, 1);
	msg.hdr.timeout_ms = 600000;
	rmpp_put(msg.data, &pkt);
	for (i = 0; i < n && ret >= 0; i++)
		ret = msg_write(fd, &msg);
	return ret < 0 ? ret : 0;
}

static void *write_on(void *arg)
{
	struct load_writer *writer = arg;
	struct load *load = writer->load;
	struct umad_msg msg;
	int ret;

	msg_init(&msg, &load->port, load->agents[writer->agent].id,
		 CLASS_VENDOR1, METHOD_NOBODY, writer->agent);
	msg.hdr.gid[15] = NOBODY_THERE;
	do {
		ret = msg_write(load->agents[writer->agent].fd, &msg);
	} while (ret == MSG_LEN || ret == -ETIMEDOUT || ret == -EHOSTUNREACH);
	return NULL;
}

/* Each agent's thread writes again as soon as the address has timed out. */
int load_resolution(struct load *load)
{
	int fd = load_open(load, O_RDWR);
	int i, ret = 0;

	if (fd < 0)
		return fd;
	ret = netdev_arp(load->port.netdev, true);
	for (i = 0; i < LOAD_AGENTS && ret >= 0; i++)
		ret = load_client(load, fd);
	for (i = 0; i < LOAD_AGENTS && ret >= 0; i++) {
		load->writers[i].load = load;
		load->writers[i].agent = i;
		side_start(&load->writers[i].call, write_on, &load->writers[i]);
	}
	sleep_ms(100);
	return ret < 0 ? ret : 0;
}

/* The first half of a long message, by hand; the sender obeys the window. */
int load_half_received(struct load *load)
{
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.method = METHOD_TABLE,
	};
	const struct rmpp_agent sender = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.flags = IB_USER_MAD_USER_RMPP,
	};
	size_t bytes = env_long("UMAD_HALF_KIB", 2048) * 1024;
	uint32_t segs = rmpp_segs(CLASS_RMPP, bytes), seg, last = 1;
	struct rmpp_raw raw = { 0 };
	struct rmpp_pkt pkt;
	int fd, ret;

	fd = load_open(load, O_RDWR | O_NONBLOCK);
	raw.fd = load_open(load, O_RDWR | O_NONBLOCK);
	if (fd < 0 || raw.fd < 0)
		return -ENODEV;
	ret = rmpp_register(fd, &server);
	if (ret < 0)
		return ret;
	load_agent(load, fd, ret);
	ret = rmpp_register(raw.fd, &sender);
	if (ret < 0)
		return ret;
	load_agent(load, raw.fd, ret);
	raw.id = ret;
	raw.port = &load->port;
	raw.mgmt_class = CLASS_RMPP;
	raw.method = METHOD_TABLE;
	raw.tid = 1;
	for (seg = 1; seg <= segs / 2; seg++) {
		while (seg > last) {
			ret = raw_wait(&raw, RMPP_ACK, &pkt, 5000);
			if (ret < 0)
				return ret;
			last = pkt.len > last ? pkt.len : last;
		}
		ret = raw_data(&raw, seg, 0, seg == 1 ? segs * RMPP_PAYLOAD : 0);
		if (ret < 0)
			return ret;
		/* Not more of them than have to be read anyway. */
		if (!raw_recv(&raw, &pkt, 0) && pkt.type == RMPP_ACK &&
		    pkt.len > last)
			last = pkt.len;
	}
	return 0;
}

/* @n messages that nobody acknowledges, from a file of their own. */
int load_messages(struct load *load, int n, size_t len, uint32_t timeout_ms,
		  uint32_t retries)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
	};
	int fd = load_open(load, O_RDWR | O_NONBLOCK);
	struct rmpp_msg msg = { 0 };
	int ret, i;

	if (fd < 0)
		return fd;
	ret = rmpp_register(fd, &agent);
	load_agent(load, fd, ret);
	for (i = 0; i < n && ret >= 0; i++) {
		rmpp_msg_init(&msg, &load->port, HDR_NEW, 0, CLASS_RMPP,
			      METHOD_NOBODY, i, len, i);
		rmpp_user_hdr(&msg)->timeout_ms = timeout_ms;
		rmpp_user_hdr(&msg)->retries = retries;
		ret = rmpp_msg_write(fd, &msg);
	}
	rmpp_msg_free(&msg);
	return ret < 0 ? ret : 0;
}

int load_half_sent(struct load *load)
{
	int ret = load_messages(load, 16, 1 << 20, FOREVER, 0);

	sleep_ms(100);
	return ret;
}

int load_short_messages(struct load *load)
{
	return load_messages(load, env_long("UMAD_SENDS", 8000), 100, FOREVER, 0);
}

static void *write_hole(void *arg)
{
	struct load *load = arg;

	msg_write(load->fds[0], (void *)(load->pages.hole - HDR_NEW - 100));
	return NULL;
}

/* A write() that sleeps in a page fault in the middle of its MAD. */
int load_page_fault(struct load *load)
{
	int fd = load_open(load, O_RDWR);
	struct umad_msg msg;
	int ret;

	if (fd < 0)
		return fd;
	ret = load_client(load, fd);
	if (ret >= 0)
		ret = uffd_open(&load->pages);
	if (ret < 0)
		return ret;
	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
	memcpy(load->pages.hole - HDR_NEW - 100, &msg, HDR_NEW + 100);
	side_start(&load->writers[0].call, write_hole, load);
	return uffd_wait_fault(&load->pages, 10000);
}

/* What the process does when its load is there; the slowest call, in ms. */
static long obey(struct load *load, enum loader_cmd cmd)
{
	uint64_t slowest = 0, start, took;
	int i, n;

	n = cmd == LOADER_CLOSE ? load->n_fds : load->n_agents;
	for (i = 0; i < n; i++) {
		start = now_ms();
		if (cmd == LOADER_CLOSE)
			close(load->fds[i]);
		else if (umad_unreg(load->agents[i].fd, load->agents[i].id))
			return -errno;
		took = now_ms() - start;
		if (took > slowest)
			slowest = took;
	}
	return slowest;
}

static void loader_main(load_fn fn, int in, int out)
{
	struct load load = { 0 };
	long answer;
	char cmd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	answer = umad_port_find(&load.port);
	if (!answer)
		answer = fn(&load);
	for (;;) {
		if (write(out, &answer, sizeof(answer)) != sizeof(answer))
			_exit(1);
		if (read(in, &cmd, 1) != 1 || cmd == LOADER_EXIT)
			_exit(0);
		answer = obey(&load, cmd);
	}
}

static long hear(struct loader *loader, int wait_ms)
{
	struct pollfd pfd = { .fd = loader->from, .events = POLLIN };
	long answer;

	if (poll(&pfd, 1, wait_ms) != 1)
		return -ETIME;
	if (read(loader->from, &answer, sizeof(answer)) != sizeof(answer))
		return -ESRCH;
	return answer;
}

/* 0 once the process has its load. */
int loader_start(struct loader *loader, load_fn fn, int wait_ms)
{
	int to[2], from[2];

	/* What it started itself is this process's to wait for. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) || pipe2(to, O_CLOEXEC) ||
	    pipe2(from, O_CLOEXEC))
		return -errno;
	loader->pid = fork();
	if (!loader->pid) {
		close(to[1]);
		close(from[0]);
		loader_main(fn, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	loader->to = to[1];
	loader->from = from[0];
	return hear(loader, wait_ms);
}

/* The ms of the slowest call, or -ETIME if it is not over after @wait_ms. */
long loader_tell(struct loader *loader, enum loader_cmd cmd, int wait_ms)
{
	char byte = cmd;

	if (write(loader->to, &byte, 1) != 1)
		return -errno;
	return hear(loader, wait_ms);
}

/*
 * Has the process ended, and all that it held been let go? What it started has the
 * files of the test as well, and those of the next test are to be the only ones.
 */
bool loader_gone(struct loader *loader, int wait_ms)
{
	uint64_t end = now_ms() + wait_ms;
	pid_t pid;

	if (!loader->pid)
		return true;
	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0) {
		if (pid)
			continue;
		if (now_ms() >= end)
			return false;
		sleep_ms(2);
	}
	loader->pid = 0;
	close(loader->to);
	close(loader->from);
	return true;
}

/* The ms from SIGKILL until the process has gone, or -ETIME. */
long loader_kill(struct loader *loader, int wait_ms)
{
	uint64_t start = now_ms();

	if (!loader->pid)
		return 0;
	kill(loader->pid, SIGKILL);
	return loader_gone(loader, wait_ms) ? (long)(now_ms() - start) : -ETIME;
}
