// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many clients of a subnet administrator at once: 10,000 queries for single PathRecords, then
 * one for all paths of a node by each client. The SA is that of a real OpenSM, on the fabric
 * of ibsim. Each client is a file of its own.
 *
 *	bench_sa LABEL LIDS
 */
#include "rmpp_util.h"

#include <stdio.h>
#include "bench_util.h"

#define CLIENTS		100
#define QUERIES		10000
/* What libibmad's and OpenSM's clients wait, and how often they repeat. */
#define QUERY_MS	1000
#define QUERY_RETRIES	3
/* Outstanding of each client. */
#define DEPTH		5
/* saquery's for a table, in the tests of a fabric; and until the last one is given up here. */
#define TABLE_MS	60000
#define TABLE_END	(2 * TABLE_MS)

#define ATTR_PATH_RECORD	0x0035
#define MASK_DLID	0x0010
#define MASK_SLID	0x0020
#define MASK_NUMB_PATH	0x1000
/* In the MAD of an SA, and in a PathRecord. */
#define AT_OFFSET	44
#define AT_MASK		48
#define AT_RECORD	56
#define AT_DLID		40
#define AT_SLID		42
#define AT_NUMB_PATH	49
#define RECORD		64

struct client {
	int fd;
	int asked, ended;
	uint64_t since[QUERIES / CLIENTS];
};

static const char *label;
static int lids;
static struct test_port port;
static uint16_t sm_lid;
static struct client client[CLIENTS];
static double latency[QUERIES];
static int answered, timed_out, refused;

static void prepare(struct umad_msg *msg, uint8_t method, uint64_t tid)
{
	uint8_t *record = msg->data + AT_RECORD;

	msg_init_usual(msg, &port, 0, CLASS_SA, method, tid);
	msg->hdr.lid = htobe16(sm_lid);
	msg->mad.attr_id = htobe16(ATTR_PATH_RECORD);
	*(uint16_t *)(msg->data + AT_OFFSET) = htobe16(RECORD / 8);
	*(uint64_t *)(msg->data + AT_MASK) = htobe64(MASK_SLID | MASK_NUMB_PATH);
	*(uint16_t *)(record + AT_SLID) = htobe16(port.lid);
	record[AT_NUMB_PATH] = 1;
}

static void ask_path(struct client *c, int number)
{
	struct umad_msg msg;

	prepare(&msg, METHOD_GET, number);
	*(uint64_t *)(msg.data + AT_MASK) |= htobe64(MASK_DLID);
	*(uint16_t *)(msg.data + AT_RECORD + AT_DLID) = htobe16(1 + rand() % lids);
	msg.hdr.timeout_ms = QUERY_MS;
	msg.hdr.retries = QUERY_RETRIES;
	c->since[number] = now_us();
	bench_check(msg_write(c->fd, &msg) == MSG_LEN, "write");
}

static void take_path(struct client *c)
{
	struct umad_msg msg;
	int len = msg_read(c->fd, &msg, 0);
	uint32_t number = msg_tid(&msg);

	if (len == -EAGAIN || len == -ETIME)
		return;
	bench_check(len > 0 && number < QUERIES / CLIENTS, "read");
	latency[answered + timed_out + refused] = now_us() - c->since[number];
	if (msg.hdr.status)
		timed_out++;
	else if (msg.mad.status)
		refused++;
	else
		answered++;
	c->ended++;
}

/* Wait until one of them has something to read. */
static void wait_for_clients(struct pollfd *pfd)
{
	int i;

	for (i = 0; i < CLIENTS; i++)
		pfd[i] = (struct pollfd){ .fd = client[i].fd, .events = POLLIN };
	bench_check(poll(pfd, CLIENTS, TABLE_END) > 0, "poll");
}

static void bench_paths(void)
{
	struct pollfd pfd[CLIENTS];
	uint64_t start = now_us();
	double seconds;
	int i;

	while (answered + timed_out + refused < QUERIES) {
		for (i = 0; i < CLIENTS; i++)
			while (client[i].asked < QUERIES / CLIENTS &&
			       client[i].asked - client[i].ended < DEPTH)
				ask_path(&client[i], client[i].asked++);
		wait_for_clients(pfd);
		for (i = 0; i < CLIENTS; i++)
			if (pfd[i].revents)
				take_path(&client[i]);
	}
	seconds = (now_us() - start) / 1e6;
	qsort(latency, QUERIES, sizeof(*latency), bench_compare);
	printf("# sa %s paths: %d answered, %d refused, %d timed out; %.2f s, %.0f a second;",
	       label, answered, refused, timed_out, seconds, QUERIES / seconds);
	printf(" us: median %.0f, p99 %.0f, max %.0f\n", latency[QUERIES / 2],
	       latency[QUERIES / 100 * 99], latency[QUERIES - 1]);
}

static void bench_tables(void)
{
	size_t size = HDR_NEW + AT_RECORD + (size_t)(lids + 1) * RECORD * 2, bytes = 0;
	double took[CLIENTS], sum = 0;
	uint8_t *buf = malloc(size);
	struct pollfd pfd[CLIENTS];
	uint64_t start = now_us();
	int i, n = 0, failed = 0;
	struct umad_msg msg;
	ssize_t len;

	for (i = 0; i < CLIENTS; i++) {
		prepare(&msg, METHOD_TABLE, QUERIES);
		msg.hdr.timeout_ms = TABLE_MS;
		bench_check(msg_write(client[i].fd, &msg) == MSG_LEN, "write");
	}
	while (n + failed < CLIENTS) {
		wait_for_clients(pfd);
		for (i = 0; i < CLIENTS; i++) {
			if (!pfd[i].revents)
				continue;
			len = read(client[i].fd, buf, size);
			bench_check(len > 0, "read of a table");
			if (((struct ib_user_mad_hdr *)buf)->status || len <= MSG_LEN) {
				failed++;
				continue;
			}
			bytes += len;
			took[n++] = (now_us() - start) / 1e6;
			sum += took[n - 1];
		}
	}
	printf("# sa %s tables: %d answered, %d failed; %zu bytes each;", label, n, failed,
	       n ? bytes / n : 0);
	printf(" s: first %.2f, mean %.2f, last %.2f\n", n ? took[0] : 0, n ? sum / n : 0,
	       n ? took[n - 1] : 0);
}

static uint16_t read_lid(const char *file)
{
	char path[128], lid[32];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/%s", umad_ibdev(), file);
	bench_check(umad_read_sysfs(path, lid, sizeof(lid)) >= 0, path);
	return strtoul(lid, NULL, 0);
}

int main(int argc, char **argv)
{
	const struct rmpp_agent agent = { .mgmt_class = CLASS_SA, .rmpp_version = 1 };
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 3) {
		fprintf(stderr, "usage: bench_sa LABEL LIDS\n");
		return 2;
	}
	label = argv[1];
	lids = atoi(argv[2]);
	/* Without the GID that other benchmarks look for. */
	port.lid = read_lid("lid");
	sm_lid = read_lid("sm_lid");
	bench_check(lids > 0 && port.lid && sm_lid, "no subnet manager");
	for (i = 0; i < CLIENTS; i++) {
		client[i].fd = umad_open(O_RDWR | O_NONBLOCK);
		bench_check(client[i].fd >= 0 && !rmpp_register(client[i].fd, &agent), "open");
	}
	bench_paths();
	bench_tables();
	return 0;
}
