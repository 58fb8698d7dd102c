/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Servers in small cgroups, which use and give back memory at the word of the test. */
#ifndef HWSIM_SERVER_H
#define HWSIM_SERVER_H

#include "hwsim_victim.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

#define ONE	CGROUP "/one"
#define OTHER	CGROUP "/other"
#define KB	1024
#define OF_CLASS	64	/* files */
#define FOREVER	0xfffffff0	/* for timeout_ms */
#define SILENT	300	/* requests at a time that are not answered */
#define NEW	(8 << 20)
#define OPA_MAD_LEN	2048
#define OPA_VERSION	0x80
#define WAITS	3000	/* ms that one waits that is */

/* A process that serves @method in a cgroup, and does what it is told by a character. */
struct server {
	const char *cgroup;
	const char *then;	/* that it moves to when it has opened its files; or NULL */
	uint8_t method;		/* of its first file; of more those behind it */
	unsigned int files;	/* 0: one */
	bool own_rmpp;		/* that it does itself */
	bool blocks;		/* its files are opened without O_NONBLOCK */
	size_t cache;
	size_t moment;
	int orders[2], done[2];
	pid_t pid;
};

/* What it has read since the last order to read. */
struct was_read {
	int all;
	int timed_out;
	int answers;
};

static inline struct was_read read_all(int fd)
{
	struct was_read was = {};
	struct rmpp_msg msg = {};

	for (; rmpp_msg_read(fd, &msg, HDR_NEW, 100) >= 0; was.all++) {
		was.timed_out += rmpp_user_hdr(&msg)->status == ETIMEDOUT;
		was.answers += !rmpp_user_hdr(&msg)->status &&
			       (rmpp_mad_bytes(&msg)[3] & METHOD_RESP);
	}
	rmpp_msg_free(&msg);
	return was;
}

/* Requests to the first peer, that wait for so long. */
static inline int ask(int fd, unsigned int n, uint32_t timeout_ms)
{
	static const struct test_port peer = { .lid = PEER };
	static unsigned int asked;
	struct umad_msg msg;
	int ret = MSG_LEN;

	while (ret == MSG_LEN && n--) {
		msg_init_usual(&msg, &peer, 0, CLASS_RMPP, METHOD_TABLE, ++asked);
		msg.hdr.timeout_ms = timeout_ms;
		ret = msg_write(fd, &msg);
	}
	return ret == MSG_LEN ? 0 : -EIO;
}

/* The first of its files. */
static inline int open_files(const struct server *server)
{
	const struct rlimit limit = { server->files + 64, server->files + 64 };
	unsigned int i;
	int fd, first = -1;

	if (setrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	for (i = 0; i < server->files || !i; i++) {
		const struct rmpp_agent agent = {
			.mgmt_class = CLASS_RMPP + i / OF_CLASS,
			.rmpp_version = !server->own_rmpp,
			.method = server->method + i % OF_CLASS,
		};

		fd = hwsim_open(DEVICE, 1, O_RDWR | (server->blocks ? 0 : O_NONBLOCK));
		if (fd < 0 || rmpp_register(fd, &agent))
			return -EIO;
		if (!i)
			first = fd;
	}
	return first;
}

static inline void wake(int sig)
{
	(void)sig;
}

/* For so many seconds at most; bytes, or an errno. */
static inline int read_for(int fd, void *buf, size_t len, unsigned int seconds)
{
	const struct sigaction action = { .sa_handler = wake };
	int ret;

	sigaction(SIGALRM, &action, NULL);
	alarm(seconds);
	ret = read(fd, buf, len);
	ret = ret < 0 ? -errno : ret;
	alarm(0);
	return ret;
}

/* Too few bytes for anything that is there. */
static inline int read_blocking(int fd)
{
	char byte[64];

	return read_for(fd, byte, sizeof(byte), 1);
}

/* What comes meanwhile, into memory that was not used before. */
static inline int read_new_blocking(int fd)
{
	char *buf = map_private(NEW);
	int ret = read_for(fd, buf, NEW, 2);

	munmap(buf, NEW);
	return ret;
}

/* Into a buffer that is too short for a message. */
static inline int read_first_segment(int fd)
{
	char buf[1024];

	return read(fd, buf, sizeof(buf)) < 0 ? -errno : 0;
}

/* With what nobody reads. */
static inline int fill_sockets(void)
{
	static char bytes[64 * KB];
	int i, pair[2];

	for (i = 0; i < 14; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair))
			return -errno;
		while (write(pair[0], bytes, sizeof(bytes)) > 0)
			;
	}
	return 0;
}

/* Small pages are to become a huge one. */
static inline int collapse(void)
{
	const size_t huge = 2 << 20;
	char *mem = map_private(2 * huge);
	char *page = (char *)(((uintptr_t)mem + huge - 1) & ~(huge - 1));

	madvise(mem, 2 * huge, MADV_NOHUGEPAGE);
	*page = 1;
	madvise(mem, 2 * huge, MADV_HUGEPAGE);
	return madvise(page, huge, MADV_COLLAPSE) ? -errno : 0;
}

/* Of which only the first MiB is there. */
static inline int read_beyond(int fd)
{
	char *buf = map_private(NEW);
	int ret = mprotect(buf + (1 << 20), NEW - (1 << 20), PROT_NONE);

	ret = ret ?: read(fd, buf, NEW);
	ret = ret < 0 ? -errno : ret;
	munmap(buf, NEW);
	return ret;
}

/* All that there is, into memory that was not used before; entries. */
static inline int read_new(int fd)
{
	char *buf = map_private(NEW);
	int n = 0;

	while (read(fd, buf, NEW) > 0) {
		madvise(buf, NEW, MADV_DONTNEED);
		n++;
	}
	munmap(buf, NEW);
	return n;
}

/* Each request that is there by a message of its own of so many bytes; how many were written. */
static inline int answer_all(int fd, size_t len)
{
	struct rmpp_msg asked = {}, answer = {};
	struct test_port peer = {};
	int n = 0;

	while (rmpp_msg_read(fd, &asked, HDR_NEW, 100) >= 0) {
		/* What was not delivered comes back. */
		if (rmpp_user_hdr(&asked)->status)
			continue;
		peer.lid = be16toh(rmpp_user_hdr(&asked)->lid);
		rmpp_msg_init(&answer, &peer, HDR_NEW, 0, CLASS_RMPP, METHOD_TABLE | METHOD_RESP,
			      be64toh(((struct mad_hdr *)rmpp_mad_bytes(&asked))->tid), len, n);
		rmpp_user_hdr(&answer)->grh_present = 0;
		rmpp_user_hdr(&answer)->timeout_ms = 10000;
		n += rmpp_msg_write(fd, &answer) >= 0;
	}
	rmpp_msg_free(&asked);
	rmpp_msg_free(&answer);
	return n;
}

/* Each by a single MAD of so many bytes, which nothing is heard of any more. */
static inline int answer_all_singly(int fd, unsigned int mad_len)
{
	static char bytes[MSG_LEN - MAD_LEN + OPA_MAD_LEN];
	const ssize_t len = MSG_LEN - MAD_LEN + mad_len;
	struct test_port peer = {};
	struct umad_msg msg;
	int n = 0;

	while (msg_read(fd, &msg, 100) >= 0) {
		peer.lid = be16toh(msg.hdr.lid);
		msg_init_usual(&msg, &peer, 0, CLASS_RMPP, METHOD_TABLE | METHOD_RESP,
			       msg_tid64(&msg));
		msg.hdr.timeout_ms = 0;
		if (mad_len == OPA_MAD_LEN)
			msg.mad.base_version = OPA_VERSION;
		memcpy(bytes, &msg, MSG_LEN);
		n += write(fd, bytes, len) == len;
	}
	return n;
}

static inline int poll_now(int fd, short events)
{
	struct pollfd pollfd = { .fd = fd, .events = events };

	return poll(&pollfd, 1, 0);
}

static inline void serve(const struct server *server)
{
	int ret = cgroup_enter(server->cgroup), fd = open_files(server);
	char *cache = map_private(server->cache), *moment = NULL, order;
	struct was_read was = {};

	fill_lazy(cache, server->cache);
	ret = ret < 0 ? ret : fd;
	if (ret >= 0 && server->then)
		ret = cgroup_enter(server->then);
	while (write(server->done[1], &ret, sizeof(ret)) > 0 &&
	       read(server->orders[0], &order, 1) == 1) {
		switch (order) {
		case 'u':
			moment = map_private(server->moment);
			memset(moment, 1, server->moment);
			break;
		case 'b':
			munmap(moment, server->moment);
			fill_lazy(cache, server->cache);
			break;
		case 'r':
			was = read_all(fd);
			ret = was.all;
			break;
		case 't':
			ret = was.timed_out;
			break;
		case 'a':
			ret = was.answers;
			break;
		case 'A':
			ret = ask(fd, 1, WAITS);
			break;
		case 'L':
			ret = ask(fd, 1, 60000);
			break;
		case 'p':
			ret = poll_now(fd, POLLIN);
			break;
		case 'o':
			ret = poll_now(fd, POLLOUT);
			break;
		case 's':
			ret = answer_all(fd, 150);
			break;
		case 'S':
			ret = answer_all(fd, 400);
			break;
		case 'l':
			ret = answer_all(fd, 100000);
			break;
		case 'P':
			ret = answer_all_singly(fd, MAD_LEN);
			break;
		case 'O':
			ret = answer_all_singly(fd, OPA_MAD_LEN);
			break;
		case 'N':
			ret = read_new(fd);
			break;
		case 'n':
			ret = read_first_segment(fd);
			break;
		case 'h':
			ret = answer_all(fd, 600000);
			break;
		case 'k':
			ret = fill_sockets();
			break;
		case 'c':
			ret = collapse();
			break;
		case 'x':
			ret = read_beyond(fd);
			break;
		case 'W':
			ret = read_new_blocking(fd);
			break;
		case 'B':
			ret = read_blocking(fd);
			break;
		case 'F':
			ret = ask(fd, 1, FOREVER);
			break;
		case 'T':
			ret = ask(fd, SILENT, 1);
			break;
		}
	}
	_exit(0);
}

static inline int wait_done(struct server *server)
{
	int ret;

	return read(server->done[0], &ret, sizeof(ret)) == sizeof(ret) ? ret : -EIO;
}

/* wait_done() has to follow. */
static inline int begin_order(struct server *server, char what)
{
	return write(server->orders[1], &what, 1) == 1 ? 0 : -EIO;
}

static inline int order(struct server *server, char what)
{
	return begin_order(server, what) ?: wait_done(server);
}

static inline int start(struct server *server)
{
	if (pipe(server->orders) || pipe(server->done))
		return -errno;
	server->pid = fork();
	if (!server->pid) {
		/* Its end is seen, and it sees that of the test. */
		close(server->orders[1]);
		close(server->done[0]);
		serve(server);
	}
	close(server->orders[0]);
	close(server->done[1]);
	return wait_done(server);
}

static inline void end(struct server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	close(server->orders[1]);
	close(server->done[0]);
	cgroup_remove(server->cgroup);
}

static inline int send_mads(FIXTURE_DATA(peers) *self, const struct server *server, int n)
{
	static const struct rmpp_pkt pkt;
	int i, ret = 0;

	for (i = 0; !ret && i < n; i++)
		ret = inject(self, i % 8, server->method, 1000 + i, &pkt);
	sleep_ms(50);
	return ret;
}

static inline int make_cgroup(FIXTURE_DATA(peers) *self)
{
	/* The servers serve what the fixture's own file does. */
	close(self->fd);
	self->fd = -1;
	return cgroup_make(CGROUP) ?: cgroup_set(CGROUP, "memory.max", LIMIT);
}

static inline int make_cgroups(FIXTURE_DATA(peers) *self)
{
	return make_cgroup(self) ?: cgroup_delegate(CGROUP) ?: cgroup_make(ONE) ?:
	       cgroup_make(OTHER);
}

#endif /* HWSIM_SERVER_H */
