// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What one more write() and one more round trip cost with sends outstanding.
 * Prints a line per figure; for guests on the instruction clock, where a
 * figure repeats to about 1 %.
 *
 *	bench_write LABEL [OUTSTANDING...]
 */
#include "umad_util.h"

#include <stdio.h>
#include "bench_util.h"

#define BLOCKS 25
#define PER_BLOCK 20

static struct test_port port;

/* Each block's own sends are flushed after it, by their agent's end. */
static void bench_write(const char *label, int fd, int outstanding)
{
	double us[BLOCKS];
	struct umad_msg msg;
	uint64_t start;
	int block, i, id;

	for (block = 0; block < BLOCKS; block++) {
		id = umad_reg_client(fd);
		bench_check(id >= 0, "register");
		msg_init_usual(&msg, &port, id, CLASS_VENDOR1, METHOD_NOBODY, 0);
		msg.hdr.timeout_ms = -1;
		sleep_ms(20);
		start = now_us();
		for (i = 0; i < PER_BLOCK; i++) {
			msg.mad.tid = htobe64(1000000 + i);
			bench_check(msg_write(fd, &msg) == MSG_LEN, "write");
		}
		us[block] = (double)(now_us() - start) / PER_BLOCK;
		sleep_ms(20);
		umad_unreg(fd, id);
	}
	bench_print(label, "write", outstanding, us, BLOCKS, "us");
}

static void bench_round_trip(const char *label, int fd, int peer,
			     int outstanding)
{
	struct umad_msg msg, got;
	double us[BLOCKS];
	uint64_t start;
	int block, i;

	msg_init_usual(&msg, &port, 0, CLASS_VENDOR1, METHOD_TEST, 0);
	msg.hdr.timeout_ms = 60000;
	for (block = 0; block < BLOCKS; block++) {
		sleep_ms(20);
		start = now_us();
		for (i = 0; i < PER_BLOCK; i++) {
			msg.mad.tid = htobe64(2000000 + i);
			bench_check(msg_write(fd, &msg) == MSG_LEN, "write");
			bench_check(read(peer, &got, MSG_LEN) == MSG_LEN, "read");
			msg_reply(&got, &got, 0);
			bench_check(msg_write(peer, &got) == MSG_LEN, "reply");
			bench_check(read(fd, &got, MSG_LEN) == MSG_LEN, "read");
		}
		us[block] = (double)(now_us() - start) / PER_BLOCK;
	}
	bench_print(label, "round_trip", outstanding, us, BLOCKS, "us");
}

static void bench(const char *label, int outstanding)
{
	int fd = umad_open(O_RDWR), peer = umad_open(O_RDWR), i;
	struct umad_msg msg;

	bench_check(fd >= 0 && peer >= 0, "open");
	bench_check(!umad_reg_client(fd), "register");
	bench_check(!umad_reg_server(peer, CLASS_VENDOR1, METHOD_TEST), "register");
	msg_init_usual(&msg, &port, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	msg.hdr.timeout_ms = -1;
	for (i = 0; i < outstanding; i++) {
		msg.mad.tid = htobe64(i);
		bench_check(msg_write(fd, &msg) == MSG_LEN, "write");
	}
	bench_write(label, fd, outstanding);
	bench_round_trip(label, fd, peer, outstanding);
	close(fd);
	close(peer);
}

/* A file, from its opening to its close, with an agent. */
static void bench_open(const char *label)
{
	double us[BLOCKS];
	uint64_t start;
	int block, i, fd;

	for (block = 0; block < BLOCKS; block++) {
		sleep_ms(20);
		start = now_us();
		for (i = 0; i < PER_BLOCK; i++) {
			fd = umad_open(O_RDWR);
			bench_check(fd >= 0 && !umad_reg_client(fd), "open");
			close(fd);
		}
		us[block] = (double)(now_us() - start) / PER_BLOCK;
	}
	bench_print(label, "open_close", 0, us, BLOCKS, "us");
}

/* For nobody, and no response is expected: the call alone. */
static void bench_write_alone(const char *label, int fd, struct umad_msg *msg)
{
	double us[BLOCKS];
	uint64_t start;
	int block, i;

	for (block = 0; block < BLOCKS; block++) {
		us[block] = 0;
		for (i = 0; i < PER_BLOCK; i++) {
			sleep_ms(1);
			start = now_us();
			bench_check(msg_write(fd, msg) == MSG_LEN, "write");
			us[block] += (double)(now_us() - start) / PER_BLOCK;
		}
	}
	bench_print(label, "write_alone", 0, us, BLOCKS, "us");
}

/* The same, with all that the processor does for it. */
static void bench_flood(const char *label, int fd, struct umad_msg *msg)
{
	double us[BLOCKS];
	uint64_t start;
	int block, i;

	for (block = 0; block < BLOCKS; block++) {
		start = now_us();
		for (i = 0; i < 20 * PER_BLOCK; i++)
			bench_check(msg_write(fd, msg) == MSG_LEN, "write");
		us[block] = (double)(now_us() - start) / (20 * PER_BLOCK);
	}
	bench_print(label, "write_flood", 0, us, BLOCKS, "us");
}

static void bench_unsolicited(const char *label)
{
	int fd = umad_open(O_RDWR);
	struct umad_msg msg;

	bench_check(fd >= 0 && !umad_reg_client(fd), "open");
	msg_init_usual(&msg, &port, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	bench_write_alone(label, fd, &msg);
	bench_flood(label, fd, &msg);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *label = argc > 1 ? argv[1] : "ib_umad";
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	bench_check(!umad_port_find(&port), "no umad node");
	if (argc < 3) {
		bench_open(label);
		bench_unsolicited(label);
		bench(label, 100);
		bench(label, 10000);
	}
	for (i = 2; i < argc; i++)
		bench(label, atoi(argv[i]));
	return 0;
}
