// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What RMPP messages from rxe0 to rxe1 take: time, and the kernel's memory.
 *
 *	bench_rmpp LABEL xfer SIZE COUNT LIMIT		one after the other
 *	bench_rmpp LABEL many SIZE COUNT LIMIT		all at once
 *	bench_rmpp LABEL stall SIZE 1 LIMIT		somebody cuts the wire
 *	bench_rmpp LABEL memory SIZE COUNT LIMIT	unread, and being sent
 *
 * SIZE is the data of one message (K, M), LIMIT seconds of waiting for all that
 * is under way. Each message is a SubnAdm class Report to a program on rxe1:
 * 200 bytes per segment, no response. A message is timed from before its
 * write() to after the read() that has all of it; its bytes are compared. The
 * sender waits 2 s for an answer (time-out 0) and has 3 retries, as libibmad's.
 */
#include "umad_util.h"

#include "bench_memory.h"
#include <stdio.h>
#include <sys/mman.h>
#include "bench_util.h"

#define SA_HDR_LEN	56
#define METHOD_REPORT	0x06
#define RMPP_VERSION	1
#define RMPP_FLAGS_AT	26	/* Active is the module's to set */
#define RETRIES		3	/* libibmad's number */
#define MANY_MAX	1024

struct transfer {
	uint64_t start_us;
	uint64_t written_us;
	uint64_t read_us;	/* 0: not (yet) */
	uint64_t sent_us;	/* 0: not known */
	bool wrong;
};

struct bench {
	const char *label;
	struct test_port from, to;
	size_t size;
	size_t msg_len;
	int count;
	int limit_s;
	struct transfer transfers[MANY_MAX];
	int tx_fd[MANY_MAX];
	int rx_fd;
	uint8_t *tx_buf[MANY_MAX], *rx_buf;
	uint32_t tid_base;
};

static struct bench bench;

static size_t parse_size(const char *text)
{
	char *end;
	size_t size = strtoul(text, &end, 0);

	if (*end == 'K')
		size <<= 10;
	if (*end == 'M')
		size <<= 20;
	return size;
}

static void find_port(struct test_port *port, const char *ibdev)
{
	setenv("UMAD_IBDEV", ibdev, 1);
	bench_check(!umad_port_find(port), ibdev);
}

/* In place before anything is measured. */
static void *buffer(size_t len)
{
	void *buf = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	bench_check(buf != MAP_FAILED, "mmap");
	return buf;
}

/* Segments have other bytes than their neighbours, messages than others. */
static void fill(uint8_t *data, size_t len, uint32_t tid)
{
	uint32_t x = tid * 2654435761u + 1;
	size_t i;

	for (i = 0; i + 4 <= len; i += 4) {
		x = x * 1664525 + 1013904223;
		memcpy(data + i, &x, 4);
	}
	for (; i < len; i++)
		data[i] = i;
}

static int open_sender(void)
{
	struct ib_user_mad_reg_req2 req;
	int fd = umad_open_node(bench.from.node, O_RDWR);

	bench_check(fd >= 0, "open the sender's node");
	reg_init(&req, CLASS_SA, 2);
	req.rmpp_version = RMPP_VERSION;
	bench_check(umad_reg2(fd, &req) == 0, "register the sender");
	return fd;
}

static int open_receiver(void)
{
	struct ib_user_mad_reg_req2 req;
	int fd = umad_open_node(bench.to.node, O_RDWR | O_NONBLOCK);

	bench_check(fd >= 0, "open the receiver's node");
	reg_init(&req, CLASS_SA, 2);
	req.rmpp_version = RMPP_VERSION;
	mask_set((uint64_t *)req.method_mask, METHOD_REPORT);
	bench_check(umad_reg2(fd, &req) == 0, "register the receiver");
	return fd;
}

static void prepare(int i, int retries)
{
	struct umad_msg *msg;

	if (!bench.tx_buf[i])
		bench.tx_buf[i] = buffer(bench.msg_len + sizeof(*msg));
	msg = (struct umad_msg *)bench.tx_buf[i];
	msg_init(msg, &bench.from, 0, CLASS_SA, METHOD_REPORT,
		 bench.tid_base + i);
	memcpy(msg->hdr.gid, bench.to.gid, 16);
	msg->hdr.retries = retries;
	msg->data[24] = RMPP_VERSION;
	msg->data[25] = 1;		/* DATA */
	msg->data[RMPP_FLAGS_AT] = 1;
	fill(bench.tx_buf[i] + HDR_NEW + SA_HDR_LEN, bench.size,
	     bench.tid_base + i);
}

static void start(int i)
{
	struct transfer *t = &bench.transfers[i];
	ssize_t ret;

	t->start_us = now_us();
	ret = write(bench.tx_fd[i], bench.tx_buf[i], bench.msg_len);
	bench_check(ret == (ssize_t)bench.msg_len, "write");
	t->written_us = now_us();
}

/* Read one message; false if none is there. */
static bool receive(void)
{
	struct umad_msg *msg = (struct umad_msg *)bench.rx_buf;
	struct transfer *t;
	uint8_t *expected;
	uint64_t now;
	ssize_t ret;
	uint32_t i;

	ret = read(bench.rx_fd, msg, bench.msg_len + 4096);
	now = now_us();
	if (ret < 0 && errno == EAGAIN)
		return false;
	bench_check(ret >= 0, "read");
	i = msg_tid(msg) - bench.tid_base;
	if (i >= bench.count || bench.transfers[i].read_us) {
		fprintf(stderr, "bench_rmpp: message %u came unexpectedly\n",
			i);
		exit(1);
	}
	t = &bench.transfers[i];
	t->read_us = now;
	expected = malloc(bench.size);
	fill(expected, bench.size, bench.tid_base + i);
	t->wrong = ret != (ssize_t)bench.msg_len ||
		   memcmp(bench.rx_buf + HDR_NEW + SA_HDR_LEN, expected,
			  bench.size);
	free(expected);
	return true;
}

static int receive_all(int wanted)
{
	uint64_t end = now_ms() + bench.limit_s * 1000ull;
	struct pollfd p = { .fd = bench.rx_fd, .events = POLLIN };
	int got = 0;
	uint64_t now;

	while (got < wanted) {
		now = now_ms();
		if (now >= end || poll(&p, 1, end - now) <= 0)
			break;
		got += receive();
	}
	return got;
}

/*
 * Only our module says when the sender has its last acknowledgment, for a
 * message without a response.
 */
static void wait_sent(struct transfer *t, long before)
{
	uint64_t end = now_ms() + 2000;

	if (before < 0)
		return;
	while (now_ms() < end) {
		if (umad_counter(&bench.from, "rmpp_sent") > before) {
			t->sent_us = now_us();
			return;
		}
		usleep(100);
	}
}

static double seconds(uint64_t from, uint64_t to)
{
	return (to - from) / 1e6;
}

static void print_transfer(int i)
{
	const struct transfer *t = &bench.transfers[i];

	if (!t->read_us) {
		printf("# %s %d: not within %d s\n", bench.label, i,
		       bench.limit_s);
		return;
	}
	printf("# %s %d: write %.4f read %.4f", bench.label, i,
	       seconds(t->start_us, t->written_us),
	       seconds(t->start_us, t->read_us));
	if (t->sent_us)
		printf(" sender %.4f", seconds(t->start_us, t->sent_us));
	printf(" s%s\n", t->wrong ? " WRONG BYTES" : "");
}

#define COUNTERS 8

static const char * const counters[COUNTERS] = {
	"send_failed", "rmpp_retransmitted", "rmpp_tx_failed", "rmpp_rx_failed",
	"rmpp_refused", "rmpp_unmatched", "recv_dropped_budget",
	"recv_dropped_nomem",
};

static void read_counters(long *values)
{
	for (int i = 0; i < COUNTERS; i++)
		values[i] = umad_counter(&bench.from, counters[i]) +
			    umad_counter(&bench.to, counters[i]);
}

static void print_counters(const long *before)
{
	long after[COUNTERS];

	read_counters(after);
	for (int i = 0; i < COUNTERS; i++)
		if (after[i] != before[i])
			printf(" %s=%ld", counters[i], after[i] - before[i]);
	printf("\n");
}

/* The summary: a line for the table. */
static int summary(const char *what, const long *before)
{
	double took[MANY_MAX], sum = 0;
	int done = 0, i;
	bool wrong = false;

	for (i = 0; i < bench.count; i++) {
		const struct transfer *t = &bench.transfers[i];

		wrong |= t->wrong;
		if (!t->read_us)
			continue;
		took[done] = seconds(t->start_us, t->read_us);
		sum += took[done++];
	}
	qsort(took, done, sizeof(*took), bench_compare);
	printf("bench %s %s size=%zu done=%d/%d", bench.label, what,
	       bench.size, done, bench.count);
	if (done)
		printf(" min=%.4f median=%.4f max=%.4f mean=%.4f s slowest/mean=%.2f MB/s=%.3f",
		       took[0], took[done / 2], took[done - 1], sum / done,
		       took[done - 1] * done / sum,
		       bench.size / took[done / 2] / 1e6);
	print_counters(before);
	return wrong;
}

static int bench_xfer(void)
{
	long before[COUNTERS], sent;
	int i;

	read_counters(before);
	for (i = 0; i < bench.count; i++) {
		bench.rx_fd = open_receiver();
		bench.tx_fd[i] = open_sender();
		sleep_ms(20);
		sent = umad_counter(&bench.from, "rmpp_sent");
		bench.tx_buf[i] = bench.tx_buf[0];
		prepare(i, RETRIES);
		start(i);
		if (receive_all(1))
			wait_sent(&bench.transfers[i], sent);
		close(bench.tx_fd[i]);
		close(bench.rx_fd);
		print_transfer(i);
		/* What is on the wire of a transfer that was given up. */
		sleep_ms(100);
	}
	return summary("xfer", before);
}

static pthread_barrier_t starting;

static void *sender_thread(void *arg)
{
	int i = (long)arg;

	pthread_barrier_wait(&starting);
	start(i);
	return NULL;
}

/* A program each, so to speak; the time of all begins with the first one. */
static int bench_many(void)
{
	long before[COUNTERS];
	pthread_t threads[MANY_MAX];
	uint64_t first = UINT64_MAX;
	int i;

	read_counters(before);
	bench_check(!pthread_barrier_init(&starting, NULL, bench.count + 1),
		    "barrier");
	bench.rx_fd = open_receiver();
	for (i = 0; i < bench.count; i++) {
		bench.tx_fd[i] = open_sender();
		prepare(i, RETRIES);
		bench_check(!pthread_create(&threads[i], NULL, sender_thread, (void *)(long)i),
			    "thread");
	}
	sleep_ms(20);
	pthread_barrier_wait(&starting);
	receive_all(bench.count);
	for (i = 0; i < bench.count; i++) {
		pthread_join(threads[i], NULL);
		if (bench.transfers[i].start_us < first)
			first = bench.transfers[i].start_us;
	}
	for (i = 0; i < bench.count; i++) {
		printf("# %s %d: began at %.4f\n", bench.label, i,
		       seconds(first, bench.transfers[i].start_us));
		bench.transfers[i].start_us = first;
		print_transfer(i);
		close(bench.tx_fd[i]);
	}
	close(bench.rx_fd);
	return summary("many", before);
}

/*
 * The wire is cut while it goes: when does the sender hear of that? And, if
 * there are counters, when does the receiver give up?
 */
static int bench_stall(void)
{
	struct umad_msg got;
	long unreceived;
	uint64_t end;
	int ret;

	bench.rx_fd = open_receiver();
	bench.tx_fd[0] = open_sender();
	prepare(0, RETRIES);
	unreceived = umad_counter(&bench.to, "rmpp_rx_failed");
	start(0);
	ret = msg_read_len(bench.tx_fd[0], &got, sizeof(got),
			   bench.limit_s * 1000);
	printf("bench %s stall size=%zu", bench.label, bench.size);
	if (ret > 0)
		printf(" sender=%.1f status=%d reason=%d,%d",
		       seconds(bench.transfers[0].start_us, now_us()),
		       got.hdr.status, got.hdr.reserved[0],
		       got.hdr.reserved[1]);
	else
		printf(" sender=never");
	end = now_ms() + bench.limit_s * 1000ull;
	while (unreceived >= 0 && now_ms() < end) {
		if (umad_counter(&bench.to, "rmpp_rx_failed") > unreceived) {
			printf(" receiver=%.1f",
			       seconds(bench.transfers[0].start_us, now_us()));
			break;
		}
		sleep_ms(100);
	}
	printf(" s, from the write() on\n");
	return receive();
}

static void print_memory(const char *what, const struct memory *before,
			 const struct memory *after, size_t bytes)
{
	printf("bench %s memory %s bytes=%zu taken=%.3f slabs=%.3f per byte\n",
	       bench.label, what, bytes,
	       (double)(before->free - after->free) / bytes,
	       (double)(after->slab - before->slab) / bytes);
}

static void bench_unread(void)
{
	struct memory before, after;
	int i, got;

	bench.rx_fd = open_receiver();
	for (i = 0; i < bench.count; i++)
		prepare(i, RETRIES);
	memory_settle(&before, bench.limit_s);
	for (i = 0; i < bench.count; i++) {
		bench.tx_fd[i] = open_sender();
		start(i);
		memory_settle(&after, bench.limit_s);
		close(bench.tx_fd[i]);
	}
	memory_settle(&after, bench.limit_s);
	print_memory("received", &before, &after, bench.size * bench.count);
	got = receive_all(bench.count);
	memory_settle(&after, bench.limit_s);
	print_memory("after-read", &before, &after, bench.size * bench.count);
	bench_check(got == bench.count, "not all messages came");
	for (i = 0; i < bench.count; i++)
		bench_check(!bench.transfers[i].wrong, "wrong bytes");
	close(bench.rx_fd);
}

/* Nobody answers, so all of it is kept. */
static void bench_sending(void)
{
	struct memory before, after;
	int i;

	for (i = 0; i < bench.count; i++) {
		bench.tx_fd[i] = open_sender();
		prepare(i, 30);
	}
	memory_settle(&before, bench.limit_s);
	for (i = 0; i < bench.count; i++)
		start(i);
	memory_settle(&after, bench.limit_s);
	print_memory("sending", &before, &after, bench.size * bench.count);
	for (i = 0; i < bench.count; i++)
		close(bench.tx_fd[i]);
	memory_settle(&after, bench.limit_s);
	print_memory("after-close", &before, &after,
		     bench.size * bench.count);
}

static int bench_memory(void)
{
	/* Whatever is allocated once, and kept. */
	struct memory m;

	memory_settle(&m, bench.limit_s);
	bench_sending();
	bench_unread();
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc == 6 ? argv[2] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 6) {
		fprintf(stderr,
			"usage: bench_rmpp LABEL MODE SIZE COUNT LIMIT\n");
		return 2;
	}
	bench.label = argv[1];
	bench.size = parse_size(argv[3]);
	bench.count = atoi(argv[4]);
	bench.limit_s = atoi(argv[5]);
	bench_check(bench.count > 0 && bench.count <= MANY_MAX, "COUNT");
	bench.msg_len = HDR_NEW + SA_HDR_LEN + bench.size;
	bench.tid_base = now_us();
	find_port(&bench.from, "rxe0");
	find_port(&bench.to, "rxe1");
	bench.rx_buf = buffer(bench.msg_len + sizeof(struct umad_msg) + 4096);

	if (!strcmp(mode, "xfer"))
		return bench_xfer();
	if (!strcmp(mode, "many"))
		return bench_many();
	if (!strcmp(mode, "stall"))
		return bench_stall();
	if (!strcmp(mode, "memory"))
		return bench_memory();
	fprintf(stderr, "bench_rmpp: mode?\n");
	return 2;
}
