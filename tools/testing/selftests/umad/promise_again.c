// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Programs whose work is done by the kernel's threads: what they have sent again and
 * again, in ways that get round a bound for one file, or for single MADs that nobody
 * answers; what is answered, or given up, for them. See promise_noise.h.
 */
#include "promise_noise.h"
#include "rdma_link.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define FILES		300
#define MESSAGES	300
#define RETRIES		0x7fffffff
#define WAITING		20000
/* What a login of Debian's may have of files, and so poll(): half a million. */
#define POLLED		200000

/* The turn of a file is no bound if there are many files. */
int noise_retries_of_files(struct load *load)
{
	struct umad_msg msg;

	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
	msg.hdr.timeout_ms = 1;
	msg.hdr.retries = RETRIES;
	return noise_files(load, FILES, &msg);
}

/* Messages whose first segment nobody acknowledges. */
int noise_resends(struct load *load)
{
	return load_messages(load, MESSAGES, 400, 1, RETRIES);
}

/*
 * Requests that are answered each time, by ib_core, as nobody serves them: with an
 * answer for which there is no room, as the first ones are not read.
 */
int noise_unread_answers(struct load *load)
{
	long budget = rmpp_param_set("recv_budget", 600);
	int fd = noise_client(load);
	struct umad_msg msg;

	if (budget < 0)
		return budget;
	rmpp_param_set("recv_budget", budget);
	if (fd < 0)
		return fd;
	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_GET, 0);
	msg.hdr.timeout_ms = 1;
	msg.hdr.retries = RETRIES;
	return load_write_many(fd, &msg, MESSAGES);
}

static void *flood_gets(void *arg)
{
	struct load *load = arg;
	struct umad_msg msg;

	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_GET, 0);
	noise_flood(load, &msg);
	return NULL;
}

/* Nobody serves them: ib_core answers each, in its receive work. */
int noise_floods_gets(struct load *load)
{
	int fd = noise_client(load);

	return fd < 0 ? fd : noise_on_thread(load, flood_gets);
}

static void *flood_refused(void *arg)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.flags = IB_USER_MAD_USER_RMPP,
	};
	const struct rmpp_pkt pkt = {
		.version = 2, .type = RMPP_DATA, .flags = RMPP_ACTIVE | RMPP_FIRST,
		.seg = 1,
	};
	struct load *load = arg;
	struct umad_msg msg, got;
	uint64_t tid = 0;
	int fd = load->fds[0];

	rmpp_register(fd, &agent);
	msg_init(&msg, &load->port, 0, CLASS_RMPP, METHOD_TABLE, 0);
	rmpp_put(msg.data, &pkt);
	for (;;) {
		msg.mad.tid = htobe64(0x70000000 + tid++);
		msg_write(fd, &msg);
		while (msg_read(fd, &got, 0) > 0)
			;
	}
	return NULL;
}

/* Each is answered by an ABORT. */
int noise_floods_refused(struct load *load)
{
	int fd = load_open(load, O_RDWR | O_NONBLOCK);

	return fd < 0 ? fd : noise_on_thread(load, flood_refused);
}

static void *bulk_write(void *arg)
{
	struct load *load = arg;
	struct rmpp_msg msg = { 0 };
	uint32_t tid = 1;

	for (;;) {
		rmpp_msg_init(&msg, &load->port, HDR_NEW, 0, CLASS_RMPP,
			      METHOD_TEST, tid, 1 << 20, tid);
		tid++;
		rmpp_user_hdr(&msg)->timeout_ms = 0;
		if (rmpp_msg_write(load->fds[0], &msg) < 0)
			sleep_ms(1);
	}
	return NULL;
}

static void *bulk_read(void *arg)
{
	struct load *load = arg;
	struct rmpp_msg got = { 0 };

	for (;;)
		rmpp_msg_read(load->fds[1], &got, HDR_NEW, 1000);
	return NULL;
}

/* Two threads, which write to and read from a file each. */
static int to_itself(struct load *load, void *(*write_fn)(void *arg),
		     void *(*read_fn)(void *arg))
{
	const struct rmpp_agent client = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
	};
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.method = METHOD_TEST,
	};
	int fd = load_open(load, O_RDWR);
	int srv = load_open(load, O_RDWR | O_NONBLOCK);
	int ret = rmpp_register(fd, &client);

	if (!ret)
		ret = rmpp_register(srv, &server);
	if (ret < 0)
		return ret;
	side_start(&load->writers[0].call, write_fn, load);
	side_start(&load->writers[1].call, read_fn, load);
	return 0;
}

/* Messages of 1 MiB to itself, one behind the other. */
int noise_bulk(struct load *load)
{
	return to_itself(load, bulk_write, bulk_read);
}

#define SHORT_SEGS	32
#define OUI_BYTES	4	/* of each segment, before its data */
#define SHORTS		8	/* at a time */

static sem_t shorts_may;	/* one less of them is under way */

static void *shorts_write_fn(void *arg)
{
	struct load *load = arg;
	struct rmpp_msg msg = { 0 };
	uint64_t n = 0;

	/* Built once: this load is what the module does, not what the program computes. */
	rmpp_msg_init(&msg, &load->port, HDR_NEW, 0, CLASS_RMPP, METHOD_TEST, 0,
		      SHORT_SEGS * (RMPP_PAYLOAD - OUI_BYTES), 0);
	rmpp_user_hdr(&msg)->timeout_ms = 0;
	for (;;) {
		/* It sleeps meanwhile: polling would take time from others. */
		sem_wait(&shorts_may);
		rmpp_mad(&msg)->tid = htobe64(n++);
		while (rmpp_msg_write(load->fds[0], &msg) < 0)
			sleep_ms(1);
	}
	return NULL;
}

static void *shorts_read_fn(void *arg)
{
	struct load *load = arg;
	struct rmpp_msg got = { 0 };

	for (;;)
		if (rmpp_msg_read(load->fds[1], &got, HDR_NEW, 1000) > 0)
			sem_post(&shorts_may);
	return NULL;
}

/* Short messages to itself, some at a time. */
int noise_shorts(struct load *load)
{
	sem_init(&shorts_may, 0, SHORTS);
	return to_itself(load, shorts_write_fn, shorts_read_fn);
}

static void *flood_late(void *arg)
{
	struct load *load = arg;
	struct umad_msg msg, got;
	uint64_t tid = 1 << 20;

	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	msg.hdr.timeout_ms = 1;
	for (;;) {
		msg.mad.tid = htobe64(tid++);
		msg_write(load->fds[0], &msg);
		msg_read(load->fds[0], &got, 0);
	}
	return NULL;
}

/* What is given up stands in ib_core's list behind many that wait for ever. */
int noise_late(struct load *load)
{
	int fd = noise_client(load);
	struct umad_msg msg;
	int ret;

	if (fd < 0)
		return fd;
	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	msg.hdr.timeout_ms = -1;
	ret = load_write_many(fd, &msg, WAITING);
	return ret < 0 ? ret : noise_on_thread(load, flood_late);
}

#define METHOD_ASKED	0x14
#define SLOW_FILES	200
#define SLOW_BURST	2	/* segments each ms: each message has one in 100 ms */

/* One segment of one of the answers after the other, without end; nothing is read. */
static void *answer_slowly(void *arg)
{
	long n = env_long("UMAD_FILES", SLOW_FILES), burst = env_long("UMAD_BURST", SLOW_BURST);
	struct load *load = arg;
	struct rmpp_pkt pkt = { .version = 1, .type = RMPP_DATA, .flags = RMPP_ACTIVE };
	struct umad_msg msg, got;
	uint64_t *tids = calloc(n, sizeof(*tids));
	uint32_t seg;
	long i;

	for (i = 0; i < n; i++) {
		if (msg_read(load->fds[0], &got, 5000) < 0)
			return NULL;
		tids[i] = msg_tid64(&got);
	}
	msg_init(&msg, &load->port, 0, CLASS_RMPP, METHOD_ASKED | METHOD_RESP, 0);
	for (seg = 1;; seg++) {
		for (i = 0; i < n; i++) {
			pkt.seg = seg;
			pkt.flags = RMPP_ACTIVE | (seg == 1 ? RMPP_FIRST : 0);
			pkt.len = seg == 1 ? 1000000 * RMPP_PAYLOAD : 0;
			rmpp_put(msg.data, &pkt);
			msg.mad.tid = htobe64(tids[i]);
			msg_write(load->fds[0], &msg);
			/* Its ACKs. */
			while (msg_read(load->fds[0], &got, 0) > 0)
				;
			if (i % burst == burst - 1)
				sleep_ms(1);
		}
	}
	return NULL;
}

/* @n requests, of one file or of one each, that this program answers itself. */
static int ask_slowly(struct load *load, bool one_file)
{
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.flags = IB_USER_MAD_USER_RMPP, .method = METHOD_ASKED,
	};
	const struct rmpp_agent client = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
	};
	long n = env_long("UMAD_FILES", SLOW_FILES), i;
	struct rlimit limit = { n + 100, n + 100 };
	int srv = load_open(load, O_RDWR | O_NONBLOCK), fd = -1, ret;
	struct umad_msg msg;

	setrlimit(RLIMIT_NOFILE, &limit);
	ret = srv < 0 ? srv : rmpp_register(srv, &server);
	msg_init(&msg, &load->port, 0, CLASS_RMPP, METHOD_ASKED, 0);
	msg.hdr.timeout_ms = -1;
	for (i = 0; i < n && ret >= 0; i++) {
		if (fd < 0 || !one_file) {
			fd = umad_open_node(load->port.node, O_RDWR);
			ret = fd < 0 ? fd : rmpp_register(fd, &client);
		}
		msg.mad.tid = htobe64(i);
		if (ret >= 0)
			ret = msg_write(fd, &msg);
	}
	return ret < 0 ? ret : noise_on_thread(load, answer_slowly);
}

/* Each of many files receives a message, a segment of it now and then. */
int noise_windows(struct load *load)
{
	return ask_slowly(load, false);
}

/* The same messages, of one file: what that costs the processor. */
int noise_windows_of_one(struct load *load)
{
	return ask_slowly(load, true);
}

#define RESOLVERS	800

static struct load *resolvers_load;

static void *resolve(void *arg)
{
	struct load *load = resolvers_load;
	int fd = umad_open_node(load->port.node, O_RDWR);
	long i = (long)arg;
	struct umad_msg msg;

	if (fd < 0 || umad_reg_client(fd) < 0)
		return NULL;
	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_NOBODY, i);
	for (;; i += RESOLVERS) {
		msg.mad.tid = htobe64(i);
		/* A neighbour that nobody else has asked for. */
		msg.hdr.gid[12] = 0x77;
		msg.hdr.gid[13] = i >> 16;
		msg.hdr.gid[14] = i >> 8;
		msg.hdr.gid[15] = i;
		if (msg_write(fd, &msg) == -EIO)
			break;
	}
	return NULL;
}

/* As many threads as a program likes, each with a file and addresses of its own. */
int noise_resolves_many(struct load *load)
{
	long i, n = env_long("UMAD_FILES", RESOLVERS);
	struct rlimit limit = { n + 100, n + 100 };
	pthread_attr_t attr;
	pthread_t thread;

	setrlimit(RLIMIT_NOFILE, &limit);
	netdev_arp(load->port.netdev, true);
	resolvers_load = load;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32768);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, resolve, (void *)i))
			return -EAGAIN;
	return 0;
}

/* One thread that waits for what never comes, in so many places of one file's queue. */
static void *poll_much(void *arg)
{
	struct load *load = arg;
	struct pollfd *fds = calloc(POLLED, sizeof(*fds));
	int i;

	for (i = 0; fds && i < POLLED; i++) {
		fds[i].fd = load->fds[1];
		fds[i].events = POLLPRI;
	}
	while (fds)
		poll(fds, POLLED, -1);
	return NULL;
}

/* A MAD each ms for that file. */
static void *feed_polled(void *arg)
{
	struct load *load = arg;
	struct umad_msg msg, got;
	uint64_t tid = 0;

	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_TEST2, 0);
	for (;;) {
		msg.mad.tid = htobe64(tid++);
		msg_write(load->fds[0], &msg);
		sleep_ms(1);
		msg_read(load->fds[1], &got, 0);
	}
	return NULL;
}

/* What it writes to the first of its files comes to the second, which many wait for. */
static int wait_much(struct load *load)
{
	struct rlimit limit = { POLLED + 100, POLLED + 100 };
	int ret = noise_client(load), fd;

	if (ret < 0)
		return ret;
	fd = load_open(load, O_RDWR | O_NONBLOCK);
	if (fd < 0)
		return fd;
	ret = umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST2);
	if (ret < 0 || setrlimit(RLIMIT_NOFILE, &limit))
		return ret < 0 ? ret : -errno;
	side_start(&load->writers[1].call, poll_much, load);
	sleep_ms(500);
	return 0;
}

/* Each MAD looks at all who wait for one, though it is for none of them. */
int noise_polls(struct load *load)
{
	int ret = wait_much(load);

	return ret < 0 ? ret : noise_on_thread(load, feed_polled);
}

/* Reads that fail, on and on; not to have the processor is no matter of this module. */
static void *fail_to_read(void *arg)
{
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct load *load = arg;
	unsigned int i;

	for (i = 1;; i++) {
		if (read(load->fds[1], nowhere, MSG_LEN) >= 0)
			return NULL;
		if (i % 8 == 0)
			sleep_ms(1);
	}
}

/* And one who finds, now and then, no MAD meanwhile. */
static void *look_again(void *arg)
{
	struct load *load = arg;
	struct pollfd pfd = { .fd = load->fds[1], .events = POLLIN };
	unsigned int i;

	for (i = 1;; i++) {
		if (poll(&pfd, 1, 0) < 0)
			return NULL;
		if (i % 64 == 0)
			sleep_ms(1);
	}
}

/* A MAD that is put back again and again, and many who wait. */
int noise_fails(struct load *load)
{
	struct umad_msg msg;
	int ret = wait_much(load);

	if (ret < 0)
		return ret;
	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_TEST2, 0);
	if (msg_write(load->fds[0], &msg) != MSG_LEN)
		return -EIO;
	side_start(&load->writers[2].call, look_again, load);
	return noise_on_thread(load, fail_to_read);
}
