// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What many of something take: outstanding requests, open files, MADs that are not read.
 * For guests on the instruction clock with one processor.
 *
 *	bench_scale LABEL REQUESTS [RUNS]
 *
 * With RUNS only the requests, so many times.
 */
#include "umad_util.h"

#include <stdio.h>
#include <sys/resource.h>
#include "bench_memory.h"
#include "bench_util.h"

#define RUNS	5
#define FILES	500
#define UNREAD	5000
#define LIMIT_S	30
#define NEVER_MS	3600000

static struct test_port port;
static const char *label;

static double taken(const struct memory *before, const struct memory *after, int n)
{
	return (double)(before->free - after->free) / n;
}

static int open_client(void)
{
	int fd = umad_open(O_RDWR);

	bench_check(fd >= 0 && !umad_reg_client(fd), "open");
	return fd;
}

/* So many requests that nobody answers, until @due (ms). */
static void send_requests(int fd, int n, uint64_t due, int retries)
{
	struct umad_msg msg;
	int i;

	msg_init_usual(&msg, &port, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	msg.hdr.retries = retries;
	for (i = 0; i < n; i++) {
		msg.mad.tid = htobe64(i);
		msg.hdr.timeout_ms = due - now_ms();
		bench_check(msg_write(fd, &msg) == MSG_LEN, "write");
	}
}

/* Memory of a request as programs write them, and how long the end of its file takes for it. */
static void bench_outstanding(int n, int runs)
{
	double bytes[RUNS], us[RUNS];
	struct memory before, after;
	uint64_t start;
	int run, fd;

	for (run = 0; run < runs; run++) {
		fd = open_client();
		memory_settle(&before, LIMIT_S);
		send_requests(fd, n, now_ms() + NEVER_MS, 3);
		memory_settle(&after, LIMIT_S);
		bytes[run] = taken(&before, &after, n);
		start = now_us();
		close(fd);
		us[run] = (double)(now_us() - start) / n;
	}
	bench_print(label, "request_memory", n, bytes, runs, "bytes");
	bench_print(label, "request_close", n, us, runs, "us");
}

/* From the moment at which all time out until the last has been read. */
static void bench_expiry(int n, int runs)
{
	struct umad_msg got;
	double us[RUNS];
	uint64_t due;
	int run, fd, i;

	for (run = 0; run < runs; run++) {
		fd = open_client();
		due = now_ms() + 2000 + n / 2;
		send_requests(fd, n, due, 0);
		bench_check(now_ms() < due, "the machine is too slow");
		for (i = 0; i < n; i++)
			bench_check(msg_read(fd, &got, 600000) > 0 && got.hdr.status == ETIMEDOUT,
				    "timeout");
		us[run] = (double)(now_us() - due * 1000) / n;
		close(fd);
	}
	bench_print(label, "request_expiry", n, us, runs, "us");
}

/* What an open file with an agent takes, and its two ends. */
static void bench_files(void)
{
	double bytes[RUNS], open_us[RUNS], close_us[RUNS];
	struct memory before, after;
	int run, i, fd[FILES];
	uint64_t start;

	for (run = 0; run < RUNS; run++) {
		memory_settle(&before, LIMIT_S);
		start = now_us();
		for (i = 0; i < FILES; i++)
			fd[i] = open_client();
		open_us[run] = (double)(now_us() - start) / FILES;
		memory_settle(&after, LIMIT_S);
		bytes[run] = taken(&before, &after, FILES);
		start = now_us();
		for (i = 0; i < FILES; i++)
			close(fd[i]);
		close_us[run] = (double)(now_us() - start) / FILES;
	}
	bench_print(label, "file_memory", FILES, bytes, RUNS, "bytes");
	bench_print(label, "file_open", FILES, open_us, RUNS, "us");
	bench_print(label, "file_close", FILES, close_us, RUNS, "us");
}

static void bench_unread(void)
{
	struct memory before, after;
	int run, i, fd, peer;
	struct umad_msg msg;
	double bytes[RUNS];

	msg_init_usual(&msg, &port, 0, CLASS_VENDOR1, METHOD_TEST, 0);
	for (run = 0; run < RUNS; run++) {
		fd = open_client();
		peer = umad_open(O_RDWR);
		bench_check(!umad_reg_server(peer, CLASS_VENDOR1, METHOD_TEST), "register");
		memory_settle(&before, LIMIT_S);
		for (i = 0; i < UNREAD; i++) {
			msg.mad.tid = htobe64(i);
			bench_check(msg_write(fd, &msg) == MSG_LEN, "write");
		}
		memory_settle(&after, LIMIT_S);
		bytes[run] = taken(&before, &after, UNREAD);
		close(fd);
		close(peer);
	}
	bench_print(label, "unread_memory", UNREAD, bytes, RUNS, "bytes");
}

int main(int argc, char **argv)
{
	const struct rlimit limit = { 4096, 4096 };
	int requests, runs = RUNS;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 4)
		runs = atoi(argv[3]);
	if (argc < 3 || argc > 4 || runs < 1 || runs > RUNS) {
		fprintf(stderr, "usage: bench_scale LABEL REQUESTS [RUNS]\n");
		return 2;
	}
	label = argv[1];
	requests = atoi(argv[2]);
	bench_check(!umad_port_find(&port), "no umad node");
	setrlimit(RLIMIT_NOFILE, &limit);
	if (argc == 3) {
		bench_files();
		bench_unread();
	}
	bench_outstanding(requests, runs);
	bench_expiry(requests, runs);
	return 0;
}
