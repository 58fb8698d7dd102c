// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PortCounters of 10,000 ports, as a performance manager reads them: so many requests
 * outstanding at a time, all answered by the kernel of the far end, or 50 of them by nobody.
 * For guests with ib_hwsim on the instruction clock with one processor.
 *
 *	bench_sweep LABEL
 */
#include "umad_util.h"

#include <stdio.h>
#include <sys/uio.h>
#include "bench_util.h"

#define RUNS		3
#define PORTS		10000
/* As OpenSM's performance manager. */
#define WINDOW		500
#define DEAD		50
/* The last of the dead has timed out before the end. */
#define DEAD_EACH	150
#define DEAD_LID	0x4000
#define TIMEOUT_MS	100
#define RETRIES		1
#define BATCH_MAX	64

#define CLASS_PERF		0x04
#define ATTR_PORT_COUNTERS	0x0012
#define DATA_AT			64

static const char *label;
static struct test_port port;
static uint16_t far_lid;
static int fd;

static struct umad_msg out[BATCH_MAX], in[BATCH_MAX];
static struct iovec out_vec[BATCH_MAX], in_vec[BATCH_MAX];

static void prepare(struct umad_msg *msg, int i, bool dead)
{
	msg_init_usual(msg, &port, 0, CLASS_PERF, METHOD_GET, i);
	msg->hdr.lid = htobe16(dead && i % DEAD_EACH == 0 && i / DEAD_EACH < DEAD ?
			       DEAD_LID : far_lid);
	msg->hdr.timeout_ms = TIMEOUT_MS;
	msg->hdr.retries = RETRIES;
	msg->mad.attr_id = htobe16(ATTR_PORT_COUNTERS);
	msg->data[DATA_AT + 1] = 1;
}

/* So many requests by one call. */
static int send_some(int first, int n, bool dead)
{
	int i;

	for (i = 0; i < n; i++)
		prepare(&out[i], first + i, dead);
	bench_check(writev(fd, out_vec, n) == (ssize_t)n * MSG_LEN, "write");
	return n;
}

/* What one call returns: the last may be a timeout, which is shorter. */
static int receive_some(int batch, int *calls, int *timed_out)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	ssize_t len;
	int n;

	for (;;) {
		(*calls)++;
		len = readv(fd, in_vec, batch);
		if (len >= 0 || errno != EAGAIN)
			break;
		(*calls)++;
		bench_check(poll(&pfd, 1, 10000) == 1, "poll");
	}
	bench_check(len > 0, "read");
	n = (len + MSG_LEN - 1) / MSG_LEN;
	if (len % MSG_LEN) {
		bench_check(len % MSG_LEN == TIMED_OUT_LEN && in[n - 1].hdr.status == ETIMEDOUT,
			    "a timeout");
		(*timed_out)++;
	}
	return n;
}

/* How many have timed out; @calls: of the system. */
static int sweep(int batch, bool dead, int *calls)
{
	int sent = 0, got = 0, timed_out = 0, n;

	*calls = 0;
	while (got < PORTS) {
		while (sent < PORTS && sent - got + batch <= WINDOW) {
			n = PORTS - sent < batch ? PORTS - sent : batch;
			sent += send_some(sent, n, dead);
			(*calls)++;
		}
		got += receive_some(batch, calls, &timed_out);
	}
	return timed_out;
}

static void bench(const char *what, int batch, bool dead)
{
	double us[RUNS];
	uint64_t start;
	int run, calls;

	for (run = 0; run < RUNS; run++) {
		start = now_us();
		bench_check(sweep(batch, dead, &calls) == (dead ? DEAD : 0), "timeouts");
		us[run] = (double)(now_us() - start) / PORTS;
	}
	bench_print(label, what, WINDOW, us, RUNS, "us");
	printf("# %s %s: %d calls for %d ports\n", label, what, calls, PORTS);
}

int main(int argc, char **argv)
{
	char lid[32];
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2) {
		fprintf(stderr, "usage: bench_sweep LABEL\n");
		return 2;
	}
	label = argv[1];
	bench_check(!umad_port_find(&port), "no umad node");
	bench_check(umad_read_sysfs("/sys/class/infiniband/hwsim1/ports/1/lid", lid,
				    sizeof(lid)) >= 0, "hwsim1");
	far_lid = strtoul(lid, NULL, 0);
	fd = umad_open(O_RDWR | O_NONBLOCK);
	bench_check(fd >= 0 && !umad_reg_client(fd), "open");
	for (i = 0; i < BATCH_MAX; i++) {
		out_vec[i] = (struct iovec){ &out[i], MSG_LEN };
		in_vec[i] = (struct iovec){ &in[i], MSG_LEN };
	}
	bench("sweep", 1, false);
	bench("sweep_dead", 1, true);
	bench("sweep_batch", BATCH_MAX, false);
	return 0;
}
