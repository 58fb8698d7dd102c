// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One port of ib_hwsim and the node of ibsim's net that it is.
 *
 * Only attaching and losing a port wait for ibsim: ibsim does not go on until its MADs
 * have been read, so each would wait for the other.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bridge.h"
#include "ib_hwsim.h"

#define RAW_DEVICE	"/dev/ib_hwsim"
#define BATCH		64	/* MADs read at a time from one side */
#define ANSWER_MS	5000	/* after this ibsim is considered dead */
#define PERMISSIVE_LID	0xffff
#define QP1_QKEY	0x80010000
#define DEFAULT_PKEY	0xffff
#define TAG_MAGIC	0xb5

static const enum ibsim_type question[] = {
	IBSIM_SET_ISSM, IBSIM_DISCONNECT, IBSIM_CONNECT, IBSIM_GET_PORTINFO,
	IBSIM_GET_PKEYS,
};

/**
 * bridge_die() - end the program
 * @port: the port that has failed, or NULL
 * @what: what has failed; errno has the reason
 */
noreturn void bridge_die(const struct port *port, const char *what)
{
	if (port)
		fprintf(stderr, "hwsim_ibsim: hwsim%u:%u at %s: ",
			port->device, port->number, port->sim.node);
	else
		fprintf(stderr, "hwsim_ibsim: ");
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/*
 * The device was removed. Close the socket for MADs first: ibsim would wait for it to
 * be read, while this waits for ibsim's answers.
 */
static void lose(struct port *port)
{
	struct ibsim_ctl answer;
	int issm = 0;

	if (port->gone)
		return;
	port->gone = true;
	close(port->mads.fd);
	close(port->raw.fd);
	if (port->asked)
		ibsim_wait(&port->sim, &answer);
	ibsim_call(&port->sim, IBSIM_SET_ISSM, &issm, sizeof(issm), &answer);
	ibsim_call(&port->sim, IBSIM_DISCONNECT, NULL, 0, &answer);
	close(port->ctl.fd);
	port->asked = 0;
	port->want = 0;
}

/* Write a MAD to the port, or to its SMA. */
static void write_frame(struct port *port, struct ib_hwsim_frame *frame)
{
	if (port->gone)
		return;
	frame->len = MAD_LEN;
	if (write(port->raw.fd, frame, IB_HWSIM_FRAME_LEN(MAD_LEN)) >= 0)
		return;
	if (errno == ENODEV)
		lose(port);
	else
		port->count.refused++;
}

static void tell_sma(struct port *port, __u8 method, __u16 attr,
		     const __u8 *data)
{
	struct ib_hwsim_frame frame = { .flags = IB_HWSIM_TO_SMA };
	__u32 modifier = attr == MAD_PORT_INFO ? port->number : 0;

	mad_make_smp(frame.mad, method, attr, modifier, data);
	write_frame(port, &frame);
}

static void tell_port_info(struct port *port, const __u8 *info)
{
	__u8 fixed[MAD_DATA_LEN];

	memcpy(fixed, info, sizeof(fixed));
	mad_default_prefix(fixed);
	if (!memcmp(fixed, port->info, sizeof(fixed)))
		return;
	memcpy(port->info, fixed, sizeof(fixed));
	port->count.told++;
	tell_sma(port, MAD_SET, MAD_PORT_INFO, fixed);
}

static void tell_pkeys(struct port *port, const __u8 *pkeys)
{
	if (!memcmp(pkeys, port->pkeys, sizeof(port->pkeys)))
		return;
	memcpy(port->pkeys, pkeys, sizeof(port->pkeys));
	port->count.told++;
	tell_sma(port, MAD_SET, MAD_PKEY_TABLE, pkeys);
}

/* Send ibsim the next question, if there is one and none is outstanding. */
static void ask_next(struct port *port)
{
	const void *data = NULL;
	size_t i, len = 0;

	if (port->asked || !port->want || port->gone)
		return;
	i = __builtin_ctz(port->want);
	if (1U << i == WANT_SET_ISSM) {
		port->set_issm = port->is_sm;
		data = &port->set_issm;
		len = sizeof(port->set_issm);
	}
	if (ibsim_ask(&port->sim, question[i], data, len)) {
		if (errno != EAGAIN)
			bridge_die(port, "ibsim has gone");
		return;		/* retried by the next bridge_want() */
	}
	port->asked = 1U << i;
	port->want &= ~port->asked;
	port->asked_at = now_ms();
}

/**
 * bridge_want() - queue questions to ibsim
 * @port: the port
 * @what: enum want, several at a time
 */
void bridge_want(struct port *port, unsigned int what)
{
	port->want |= what;
	ask_next(port);
}

/**
 * bridge_check() - end the program if ibsim does not answer
 * @port: the port
 */
void bridge_check(struct port *port)
{
	if (!port->asked || now_ms() - port->asked_at < ANSWER_MS)
		return;
	errno = ETIMEDOUT;
	bridge_die(port, "ibsim does not answer");
}

static void ctl_ready(struct port *port)
{
	struct ibsim_ctl answer;

	if (port->gone)
		return;
	if (ibsim_answer(&port->sim, &answer)) {
		if (errno != EAGAIN)
			bridge_die(port, "ibsim refuses to answer");
		return;
	}
	switch (port->asked) {
	case WANT_SET_ISSM:
		if (!port->set_issm)
			port->want |= WANT_DISCONNECT | WANT_CONNECT;
		break;
	case WANT_CONNECT:
		if (ibsim_attach(&port->sim, &answer))
			bridge_die(port, "cannot connect to ibsim again");
		break;
	case WANT_PORT_INFO:
		tell_port_info(port, answer.data);
		break;
	case WANT_PKEYS:
		tell_pkeys(port, answer.data);
		break;
	}
	port->asked = 0;
	ask_next(port);
}

/**
 * bridge_ask_kernel() - ask the kernel's port for its IsSM bit
 * @port: the port
 */
void bridge_ask_kernel(struct port *port)
{
	tell_sma(port, MAD_GET, MAD_PORT_INFO, NULL);
}

/* A report of the kernel's port: only its IsSM bit matters. */
static void take_port_info(struct port *port,
			   const struct ib_hwsim_frame *frame)
{
	bool is_sm;

	if (!mad_is_answer(frame->mad, MAD_PORT_INFO))
		return;
	is_sm = mad_is_sm(frame->mad + MAD_DATA);
	if (is_sm == port->is_sm)
		return;
	port->is_sm = is_sm;
	bridge_want(port, WANT_SET_ISSM);
}

/* Return: false if ibsim has no room for the MAD now. */
static bool send_held(struct port *port)
{
	if (send(port->sim.mads, &port->held, sizeof(port->held), 0) ==
	    sizeof(port->held)) {
		port->count.to_ibsim++;
		return true;
	}
	if (errno == EAGAIN)
		return false;
	bridge_die(port, "ibsim has gone");
}

static void hold(struct port *port, bool holding)
{
	if (port->holding == holding)
		return;
	port->holding = holding;
	if (loop_watch(&port->raw, holding ? 0 : EPOLLIN) ||
	    loop_watch(&port->mads, EPOLLIN | (holding ? EPOLLOUT : 0)))
		bridge_die(port, "epoll_ctl");
}

static void make_request(struct port *port, const struct ib_hwsim_frame *frame)
{
	bool directed = mad_is_directed(frame->mad);
	struct ibsim_request *request = &port->held;

	*request = (struct ibsim_request){
		.slid = htons(directed ? PERMISSIVE_LID : frame->slid),
		.dlid = htons(directed ? PERMISSIVE_LID : frame->dlid),
		.sqp = htonl(frame->src_qp),
		.dqp = htonl(frame->dest_qp),
		.length = htobe64(MAD_LEN),
		.tag = { TAG_MAGIC, frame->sl, frame->pkey >> 8, frame->pkey },
	};
	memcpy(request->mad, frame->mad, MAD_LEN);
	mad_to_ibsim(&port->flows, request->mad);
}

static void raw_ready(struct port *port)
{
	struct ib_hwsim_frame frame;
	ssize_t len;
	int i;

	for (i = 0; i < BATCH && !port->holding && !port->gone; i++) {
		len = read(port->raw.fd, &frame, sizeof(frame));
		if (len < 0 && errno == EAGAIN)
			return;
		if (len <= 0) {
			lose(port);
			return;
		}
		if (frame.flags & (IB_HWSIM_FROM_SMA | IB_HWSIM_PORT_EVENT)) {
			take_port_info(port, &frame);
			continue;
		}
		if (!mad_fits_ibsim(frame.mad, frame.len)) {
			port->count.unfit++;
			continue;
		}
		make_request(port, &frame);
		hold(port, !send_held(port));
	}
}

/*
 * Fields of a MAD that ibsim does not know are in the tag if the MAD comes from a bridge
 * or is a response to one; otherwise they are what a receiver expects.
 */
static void make_frame(struct port *port, struct ib_hwsim_frame *frame,
		       const struct ibsim_request *request)
{
	*frame = (struct ib_hwsim_frame){
		.slid = ntohs(request->slid),
		.dlid = ntohs(request->dlid),
		.src_qp = ntohl(request->sqp),
		.dest_qp = ntohl(request->dqp),
		.qkey = request->dqp ? QP1_QKEY : 0,
		.pkey = request->dqp ? mad_full_pkey(port->pkeys) :
				       DEFAULT_PKEY,
	};
	if (request->tag[0] == TAG_MAGIC) {
		frame->sl = request->tag[1];
		frame->pkey = request->tag[2] << 8 | request->tag[3];
	}
	memcpy(frame->mad, request->mad, MAD_LEN);
}

static void mads_ready(struct port *port)
{
	struct ibsim_request request;
	struct ib_hwsim_frame frame;
	enum mad_news news;
	int i;

	for (i = 0; i < BATCH && !port->gone; i++) {
		if (recv(port->sim.mads, &request, sizeof(request), 0) !=
		    sizeof(request))
			break;
		if (request.status) {
			port->count.unreachable++;
			continue;
		}
		news = mad_from_ibsim(&port->flows, request.mad);
		make_frame(port, &frame, &request);
		write_frame(port, &frame);
		port->count.from_ibsim++;
		if (news == MAD_OWN_PORT)
			bridge_want(port, WANT_NEWS);
		else if (news == MAD_SOME_PORT)
			port->news = true;
	}
	if (port->holding && !port->gone)
		hold(port, !send_held(port));
}

/**
 * bridge_plug_in() - attach a port
 * @port: the port, which is a client of ibsim already
 */
void bridge_plug_in(struct port *port)
{
	struct ib_hwsim_attach attach = { port->device, port->number };
	struct ibsim_ctl answer;
	int fd = open(RAW_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		bridge_die(port, RAW_DEVICE);
	if (ioctl(fd, IB_HWSIM_ATTACH, &attach))
		bridge_die(port, "IB_HWSIM_ATTACH");
	port->raw = (struct source){ fd, port, raw_ready };
	port->mads = (struct source){ port->sim.mads, port, mads_ready };
	port->ctl = (struct source){ port->sim.ctl, port, ctl_ready };
	if (ibsim_call(&port->sim, IBSIM_GET_PKEYS, NULL, 0, &answer))
		bridge_die(port, "P_Keys from ibsim");
	tell_pkeys(port, answer.data);
	if (ibsim_call(&port->sim, IBSIM_GET_PORTINFO, NULL, 0, &answer))
		bridge_die(port, "PortInfo from ibsim");
	tell_port_info(port, answer.data);
	bridge_ask_kernel(port);
}

/**
 * bridge_pull_out() - set a port down, and disconnect it from ibsim
 * @port: the port
 */
void bridge_pull_out(struct port *port)
{
	if (port->gone)
		return;
	mad_set_down(port->info);
	tell_sma(port, MAD_SET, MAD_PORT_INFO, port->info);
	lose(port);
}
