// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MADs a second of one port, written by several threads, each to a file of its own. For
 * guests with as many processors, on the clock of the host: it shows how the module scales,
 * not what it costs.
 *
 *	bench_threads LABEL THREADS [SECONDS]
 */
#include "umad_util.h"

#include <stdio.h>
#include "bench_util.h"

#define THREADS_MAX	16

static struct test_port port;
static int stop;

struct writer {
	pthread_t thread;
	uint64_t written;
};

static void *write_on(void *arg)
{
	struct writer *writer = arg;
	int fd = umad_open(O_RDWR);
	struct umad_msg msg;

	bench_check(fd >= 0 && !umad_reg_client(fd), "open");
	msg_init_usual(&msg, &port, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		/* The last may not have left. */
		msg.mad.tid = htobe64(writer->written++);
		bench_check(msg_write(fd, &msg) == MSG_LEN, "write");
	}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	struct writer writers[THREADS_MAX] = {};
	uint64_t start, sum = 0;
	int n, i;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_threads LABEL THREADS [SECONDS]\n");
		return 2;
	}
	n = atoi(argv[2]);
	bench_check(n > 0 && n <= THREADS_MAX, "threads");
	bench_check(!umad_port_find(&port), "no umad node");
	start = now_us();
	for (i = 0; i < n; i++)
		bench_check(!pthread_create(&writers[i].thread, NULL, write_on, &writers[i]),
			    "thread");
	sleep_ms(1000 * (argc > 3 ? atoi(argv[3]) : 2));
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < n; i++) {
		pthread_join(writers[i].thread, NULL);
		sum += writers[i].written;
	}
	printf("# %s, %d threads: %.0f MADs a second\n", argv[1], n,
	       sum * 1e6 / (now_us() - start));
	return 0;
}
