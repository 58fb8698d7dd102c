// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A load for tools/testing/profile: COUNT times the same. Judges nothing.
 *
 *	profile_load write|trip|open|expire|segment COUNT
 */
#include "umad_util.h"

#include <stdio.h>

#define OUTSTANDING 500
#define SA_HDR_LEN 56
#define SA_DATA_LEN 200
#define METHOD_REPORT 0x06

static struct test_port port;

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "profile_load: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Requests of one agent that nobody answers; of so many, one that ends with another agent. */
static void load_write(int count)
{
	int fd = umad_open(O_RDWR), id = 0, i;
	struct umad_msg msg;

	for (i = 0; i < count; i++) {
		if (i % OUTSTANDING == 0) {
			check(!i || !umad_unreg(fd, id), "unregister");
			id = umad_reg_client(fd);
			check(id >= 0, "register");
			msg_init_usual(&msg, &port, id, CLASS_VENDOR1, METHOD_NOBODY, 0);
			msg.hdr.timeout_ms = -1;
		}
		msg.mad.tid = htobe64(i);
		check(msg_write(fd, &msg) == MSG_LEN, "write");
	}
	close(fd);
}

static void load_trip(int count)
{
	int fd = umad_open(O_RDWR), peer = umad_open(O_RDWR), i;
	struct umad_msg msg, got;

	check(!umad_reg_client(fd), "register");
	check(!umad_reg_server(peer, CLASS_VENDOR1, METHOD_TEST), "register");
	msg_init_usual(&msg, &port, 0, CLASS_VENDOR1, METHOD_TEST, 0);
	msg.hdr.timeout_ms = 60000;
	for (i = 0; i < count; i++) {
		msg.mad.tid = htobe64(i);
		check(msg_write(fd, &msg) == MSG_LEN, "write");
		check(read(peer, &got, MSG_LEN) == MSG_LEN, "read");
		msg_reply(&got, &got, 0);
		check(msg_write(peer, &got) == MSG_LEN, "reply");
		check(read(fd, &got, MSG_LEN) == MSG_LEN, "read");
	}
	close(fd);
	close(peer);
}

/* Requests that time out at one moment, and are read. */
static void load_expire(int count)
{
	uint64_t due = now_ms() + 2000;
	int fd = umad_open(O_RDWR), i;
	struct umad_msg msg;

	check(fd >= 0 && !umad_reg_client(fd), "open");
	msg_init_usual(&msg, &port, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	for (i = 0; i < count; i++) {
		msg.mad.tid = htobe64(i);
		msg.hdr.timeout_ms = due - now_ms();
		check(msg_write(fd, &msg) == MSG_LEN, "write");
	}
	for (i = 0; i < count; i++)
		check(msg_read(fd, &msg, 60000) > 0, "read");
	/* Until they are forgotten, too. */
	sleep_ms(6000);
	close(fd);
}

/* One RMPP message of so many segments. */
static void load_segment(int count)
{
	size_t len = HDR_NEW + SA_HDR_LEN + (size_t)count * SA_DATA_LEN;
	int fd = umad_open(O_RDWR), peer = umad_open(O_RDWR);
	struct ib_user_mad_reg_req2 req;
	struct umad_msg *msg = calloc(1, len);

	check(fd >= 0 && peer >= 0 && msg, "open");
	reg_init(&req, CLASS_SA, 2);
	req.rmpp_version = 1;
	check(!umad_reg2(fd, &req), "register");
	mask_set((uint64_t *)req.method_mask, METHOD_REPORT);
	check(!umad_reg2(peer, &req), "register");
	msg_init(msg, &port, 0, CLASS_SA, METHOD_REPORT, 1);
	msg->hdr.retries = 3;
	msg->data[24] = 1;		/* RMPP version */
	msg->data[25] = 1;		/* DATA */
	msg->data[26] = 1;		/* Active */
	check(write(fd, msg, len) == (ssize_t)len, "write");
	check(read(peer, msg, len) == (ssize_t)len, "read");
	close(fd);
	close(peer);
	free(msg);
}

static void load_open(int count)
{
	int i, fd;

	for (i = 0; i < count; i++) {
		fd = umad_open(O_RDWR);
		check(fd >= 0 && !umad_reg_client(fd), "open");
		close(fd);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int count);
	} loads[] = {
		{ "write", load_write },
		{ "trip", load_trip },
		{ "open", load_open },
		{ "expire", load_expire },
		{ "segment", load_segment },
		{},
	};
	int i;

	check(argc == 3 && !umad_port_find(&port), "usage, or no port");
	for (i = 0; loads[i].name; i++)
		if (!strcmp(argv[1], loads[i].name)) {
			loads[i].run(atoi(argv[2]));
			return 0;
		}
	return 1;
}
