// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A client of ibsim: sockets, and questions with their answers.
 *
 * ibsim is one process that handles one message after the other, and does not go on
 * until what it sends has been read. So only ibsim_connect() and ibsim_call() wait for
 * it; they are for a client that has no MADs outstanding.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ibsim.h"

#define ANSWER_MS	5000
#define RETRY_MS	100

/* Sent to ibsim by a new client, and in ibsim's answer. */
struct client_info {
	__u32 id;	/* sent: in its sockets' names; answered: the slot */
	__u32 qp;
	__u32 issm;	/* it takes requests to QP0 and QP1 */
	char node[IBSIM_NODE_LEN];
};

/*
 * Names are in the abstract name space; the byte 0 at their end is a part of them.
 * number < 0: none.
 */
static socklen_t make_name(struct sockaddr_un *addr, const char *base,
			   const char *what, long number)
{
	char digits[24] = "";
	int len;

	if (number >= 0)
		snprintf(digits, sizeof(digits), "%ld", number);
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	len = snprintf(addr->sun_path + 1, sizeof(addr->sun_path) - 1,
		       "%s:%s%s", base, what, digits);
	return offsetof(struct sockaddr_un, sun_path) + 1 + len + 1;
}

static int named_socket(const char *base, const char *what, __u32 number)
{
	struct sockaddr_un addr;
	socklen_t len = make_name(&addr, base, what, number);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&addr, len) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int point_at(int fd, const char *base, const char *what, long number)
{
	struct sockaddr_un addr;
	socklen_t len = make_name(&addr, base, what, number);

	return connect(fd, (struct sockaddr *)&addr, len);
}

/**
 * ibsim_open() - create the sockets of a client
 * @sim: the client, not initialised
 * @base: first part of ibsim's names; the string must stay
 * @node: id of the node to be at
 * @conn: a number that no other client of this ibsim has
 *
 * Return: 0, or -1 with errno set.
 */
int ibsim_open(struct ibsim *sim, const char *base, const char *node,
	       __u32 conn)
{
	memset(sim, 0, sizeof(*sim));
	sim->base = base;
	sim->conn = conn;
	sim->mads = -1;
	if (strlen(node) >= sizeof(sim->node)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(sim->node, node, strlen(node));
	sim->ctl = named_socket(base, "ctl", conn);
	if (sim->ctl >= 0)
		sim->mads = named_socket(base, "in", conn);
	return sim->mads < 0 ? -1 : 0;
}

/**
 * ibsim_ask() - ask a question, and do not wait for the answer
 * @sim: the client
 * @type: what
 * @data: what belongs to it
 * @len: bytes of @data
 *
 * There may be one question at a time. IBSIM_CONNECT brings its own data.
 *
 * Return: 0, or -1 with errno set; EAGAIN: later.
 */
int ibsim_ask(struct ibsim *sim, enum ibsim_type type, const void *data,
	      size_t len)
{
	struct ibsim_ctl ctl = {
		.magic = IBSIM_MAGIC, .client = sim->slot, .type = type,
	};
	/*
	 * issm here means that the client takes requests, as a subnet manager
	 * or the server of ibping does. It is not the bit IsSM.
	 */
	struct client_info info = { .id = sim->conn, .issm = 1 };

	if (type == IBSIM_CONNECT) {
		memcpy(info.node, sim->node, sizeof(info.node));
		data = &info;
		len = sizeof(info);
	}
	ctl.len = len;
	if (len)
		memcpy(ctl.data, data, len);
	return send(sim->ctl, &ctl, sizeof(ctl), 0) == sizeof(ctl) ? 0 : -1;
}

/**
 * ibsim_answer() - read an answer
 * @sim: the client
 * @answer: where to
 *
 * Return: 0, or -1 with errno set; EAGAIN: none is there, EPROTO: ibsim has
 * refused.
 */
int ibsim_answer(struct ibsim *sim, struct ibsim_ctl *answer)
{
	ssize_t len = recv(sim->ctl, answer, sizeof(*answer), 0);

	if (len < 0)
		return -1;
	if (len != sizeof(*answer) || answer->magic != IBSIM_MAGIC ||
	    answer->type == IBSIM_ERROR) {
		errno = EPROTO;
		return -1;
	}
	return 0;
}

/**
 * ibsim_wait() - wait for an answer
 * @sim: the client
 * @answer: the answer
 *
 * Return: 0, or -1 with errno set.
 */
int ibsim_wait(struct ibsim *sim, struct ibsim_ctl *answer)
{
	struct pollfd ready = { .fd = sim->ctl, .events = POLLIN };

	if (poll(&ready, 1, ANSWER_MS) != 1) {
		errno = ETIMEDOUT;
		return -1;
	}
	return ibsim_answer(sim, answer);
}

/**
 * ibsim_call() - ask a question, and wait for the answer
 * @sim: the client
 * @type: what
 * @data: what belongs to it
 * @len: bytes of @data
 * @answer: the answer
 *
 * Return: 0, or -1 with errno set.
 */
int ibsim_call(struct ibsim *sim, enum ibsim_type type, const void *data,
	       size_t len, struct ibsim_ctl *answer)
{
	return ibsim_ask(sim, type, data, len) ? -1 : ibsim_wait(sim, answer);
}

/**
 * ibsim_attach() - take the slot that ibsim has assigned
 * @sim: the client
 * @answer: ibsim's to IBSIM_CONNECT
 *
 * Return: 0, or -1 with errno set.
 */
int ibsim_attach(struct ibsim *sim, const struct ibsim_ctl *answer)
{
	struct client_info info;

	memcpy(&info, answer->data, sizeof(info));
	sim->slot = info.id;
	return point_at(sim->mads, sim->base, "out", sim->slot);
}

/**
 * ibsim_connect() - wait for ibsim, and become its client
 * @sim: an opened one
 * @seconds: how long to wait
 *
 * Return: 0, or -1 with errno set.
 */
int ibsim_connect(struct ibsim *sim, int seconds)
{
	struct timespec pause = { .tv_nsec = RETRY_MS * 1000000L };
	struct ibsim_ctl answer;
	int tries;

	for (tries = seconds * 1000 / RETRY_MS;
	     point_at(sim->ctl, sim->base, "ctl", -1); tries--) {
		if (errno != ECONNREFUSED || tries <= 0)
			return -1;
		nanosleep(&pause, NULL);
	}
	if (ibsim_call(sim, IBSIM_CONNECT, NULL, 0, &answer))
		return -1;
	return ibsim_attach(sim, &answer);
}
