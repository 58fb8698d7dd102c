// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The program on the remote host: does what requests say (rmpp_remote.h)
 * until one says that it is to end.
 *
 *	rmpp_server SECONDS	serve, for so long at most (then: status 1)
 *	rmpp_server stop	have the one at UMAD_PEER_GID end
 */
#include "rmpp_remote.h"

#include <stdio.h>

#define GOING_MS	3000

enum { CLIENT, SERVER };

struct server {
	int fd;
	struct rmpp_msg got;
	struct rmpp_msg out;
	struct remote_state state;
	bool exiting;
};

static uint32_t word(const struct rmpp_msg *msg, unsigned int i)
{
	uint32_t value;

	memcpy(&value, rmpp_mad_bytes(msg) + 40 + 4 * i, 4);
	return be32toh(value);
}

static void send_out(struct server *s, bool counts)
{
	int ret = rmpp_msg_write(s->fd, &s->out);

	if (ret < 0)
		fprintf(stderr, "rmpp_server: write: %s\n", strerror(-ret));
	else if (counts)
		s->state.sent++;
}

static void reply_bytes(struct server *s, const void *data, size_t len)
{
	rmpp_msg_reply(&s->out, &s->got, SERVER, len, 0);
	rmpp_user_hdr(&s->out)->retries = 3;
	memcpy(rmpp_mad_bytes(&s->out) + 40, data, len);
}

static void reply_state(struct server *s)
{
	const uint32_t *state = (const uint32_t *)&s->state;
	uint32_t words[sizeof(s->state) / 4];
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		words[i] = htobe32(state[i]);
	reply_bytes(s, words, sizeof(words));
	send_out(s, false);
}

/* To whom the request came from, as a message of our own. */
static void push(struct server *s, uint32_t len, uint32_t arg, bool ask)
{
	rmpp_msg_reply(&s->out, &s->got, CLIENT, len, arg);
	rmpp_mad(&s->out)->method = METHOD_TABLE;
	rmpp_mad(&s->out)->tid = htobe64(arg);
	rmpp_user_hdr(&s->out)->retries = 3;
	rmpp_user_hdr(&s->out)->timeout_ms = ask ? 3000 : 0;
	send_out(s, true);
}

static void serve(struct server *s)
{
	uint32_t op = word(&s->got, 0), len = word(&s->got, 1);
	uint32_t arg = word(&s->got, 2);
	const uint8_t *data = rmpp_mad_bytes(&s->got) + 40;
	size_t data_len = s->got.mad_len - 40;

	if (op != OP_STATE) {
		s->state.received++;
		s->state.len = data_len;
		s->state.hash = remote_hash(data, data_len);
	}
	switch (op) {
	case OP_GENERATE:
		rmpp_msg_reply(&s->out, &s->got, SERVER, len, arg);
		rmpp_user_hdr(&s->out)->retries = 3;
		send_out(s, true);
		break;
	case OP_ECHO:
		reply_bytes(s, data, data_len);
		send_out(s, true);
		break;
	case OP_PUSH:
	case OP_ASK:
		push(s, len, arg, op == OP_ASK);
		break;
	case OP_SUM:
	case OP_STATE:
		reply_state(s);
		break;
	case OP_EXIT:
		reply_state(s);
		s->exiting = true;
		break;
	default:
		break;
	}
}

static void received(struct server *s)
{
	const struct ib_user_mad_hdr *hdr = rmpp_user_hdr(&s->got);

	if (hdr->status) {
		s->state.status = hdr->status;
	} else if (rmpp_mad(&s->got)->method & METHOD_RESP) {
		s->state.response_len = s->got.mad_len - 40;
		s->state.response_hash = remote_hash(rmpp_mad_bytes(&s->got) + 40,
						     s->state.response_len);
	} else if (s->got.mad_len >= 40 + REMOTE_WORDS) {
		serve(s);
	}
}

static int run(int seconds)
{
	struct rmpp_agent agent = { .mgmt_class = CLASS_PEER, .rmpp_version = 1 };
	uint64_t end = now_ms() + 1000ull * seconds;
	struct server s = { 0 };
	int ret;

	s.fd = umad_open(O_RDWR | O_NONBLOCK);
	if (s.fd < 0)
		return s.fd;
	ret = rmpp_register(s.fd, &agent);
	if (ret != CLIENT)
		return ret < 0 ? ret : -EBUSY;
	agent.method = METHOD_TEST;
	ret = rmpp_register(s.fd, &agent);
	if (ret != SERVER)
		return ret < 0 ? ret : -EBUSY;
	while (!s.exiting) {
		if (now_ms() >= end)
			return -ETIME;
		ret = rmpp_msg_read(s.fd, &s.got, HDR_NEW, 1000);
		if (ret > 0)
			received(&s);
		else if (ret != -ETIME)
			return ret;
	}
	/* What is still on its way, the answer to EXIT too. */
	sleep_ms(GOING_MS);
	close(s.fd);
	return 0;
}

static int stop(void)
{
	struct remote f = { 0 };
	int ret = remote_open(&f);

	if (!ret) {
		f.retries = 3;
		ret = remote_request(&f, OP_EXIT, 0, 0, REMOTE_WORDS, SOON / 4);
	}
	if (ret > 0)
		ret = rmpp_msg_read(f.fd, &f.got, HDR_NEW, 2 * SOON);
	if (ret > 0)
		ret = -rmpp_user_hdr(&f.got)->status;
	remote_close(&f);
	/* Until it has gone: the next one is not to be taken for it. */
	sleep_ms(GOING_MS + 1500);
	return ret;
}

int main(int argc, char **argv)
{
	int ret;

	if (argc != 2) {
		fprintf(stderr, "usage: rmpp_server SECONDS | stop\n");
		return 2;
	}
	ret = strcmp(argv[1], "stop") ? run(atoi(argv[1])) : stop();
	if (ret < 0)
		fprintf(stderr, "rmpp_server: %s\n", strerror(-ret));
	return ret < 0;
}
