// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What programs say to a peer that does as it is told. See rmpp_remote.h.
 */
#include "rmpp_remote.h"

#include <arpa/inet.h>
#include <stdio.h>

/* ms without a packet; an in-tree sender repeats one after 2 s, four times at most. */
#define SILENCE		7000

bool remote_is_host(void)
{
	return getenv("UMAD_PEER_GID");
}

static int find_path(struct remote *f)
{
	const char *gid = getenv("UMAD_PEER_GID");
	struct test_port peer;
	int ret = umad_port_find(&f->port);

	if (ret)
		return ret;
	if (gid)
		return inet_pton(AF_INET6, gid, f->port.gid) == 1 ? 0 : -EINVAL;
	ret = rmpp_peer_port(&peer);
	memcpy(f->port.gid, peer.gid, sizeof(peer.gid));
	return ret;
}

/* Nothing but its own words; it says where it stands. */
int remote_open(struct remote *f)
{
	struct rmpp_agent agent = { .mgmt_class = CLASS_PEER, .rmpp_version = 1 };
	int ret = find_path(f);

	if (ret)
		return ret;
	f->fd = umad_open(O_RDWR | O_NONBLOCK);
	if (f->fd < 0)
		return f->fd;
	ret = rmpp_register(f->fd, &agent);
	if (ret)
		return ret < 0 ? ret : -EBUSY;
	agent.method = METHOD_TABLE;
	ret = rmpp_register(f->fd, &agent);
	if (ret != 1)
		return ret < 0 ? ret : -EBUSY;
	/* Of this run alone, should the last one's still be on the wire. */
	f->tid = now_us();
	return remote_ask_state(f);
}

void remote_close(struct remote *f)
{
	close(f->fd);
	rmpp_msg_free(&f->msg);
	rmpp_msg_free(&f->got);
	rmpp_msg_free(&f->reply);
}

/* @msg: to be made of it; the rest as for remote_request(). */
static int write_request(struct remote *f, struct rmpp_msg *msg, const uint32_t *words,
			 size_t req_len, unsigned int timeout_ms)
{
	if (req_len < REMOTE_WORDS)
		req_len = REMOTE_WORDS;
	rmpp_msg_init(msg, &f->port, HDR_NEW, 0, CLASS_PEER, METHOD_TEST, ++f->tid, req_len, 1);
	memcpy(rmpp_mad_bytes(msg) + 40, words, REMOTE_WORDS);
	rmpp_user_hdr(msg)->timeout_ms = timeout_ms;
	rmpp_user_hdr(msg)->retries = f->retries;
	return rmpp_msg_write(f->fd, msg);
}

/* A request of @req_len bytes with the words of an operation in front. */
int remote_request(struct remote *f, uint32_t op, uint32_t len, uint32_t arg,
		   size_t req_len, unsigned int timeout_ms)
{
	const uint32_t words[] = { htobe32(op), htobe32(len), htobe32(arg) };

	return write_request(f, &f->msg, words, req_len, timeout_ms);
}

/* The state, whatever else is waiting to be read. */
int remote_ask_state(struct remote *f)
{
	uint32_t *words = (uint32_t *)&f->state, retries = f->retries;
	size_t i;
	int ret;

	f->retries = 3;
	ret = remote_request(f, OP_STATE, 0, 0, REMOTE_WORDS, SOON / 4);
	f->retries = retries;
	if (ret < 0)
		return ret;
	do {
		ret = rmpp_msg_read(f->fd, &f->reply, HDR_NEW, 2 * SOON);
		if (ret < 0)
			return ret;
	} while (rmpp_tid(&f->reply) != f->tid);
	if (rmpp_user_hdr(&f->reply)->status)
		return -rmpp_user_hdr(&f->reply)->status;
	if (f->reply.mad_len != 40 + sizeof(f->state))
		return -EPROTO;
	memcpy(words, rmpp_mad_bytes(&f->reply) + 40, sizeof(f->state));
	for (i = 0; i < sizeof(f->state) / 4; i++)
		words[i] = be32toh(words[i]);
	return 0;
}

/* Packets that our device has received, or -1. */
static long packets_received(const struct remote *f)
{
	char path[256], text[32];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/rcvd_pkts",
		 f->port.ibdev);
	return umad_read_sysfs(path, text, sizeof(text)) ? -1 : atol(text);
}

/* Gives it something to send: a request beside that of the test, whose answer does not matter. */
static int nudge(struct remote *f, struct rmpp_msg *msg)
{
	const uint32_t words[] = { htobe32(OP_STATE), 0, 0 };

	return write_request(f, msg, words, REMOTE_WORDS, SOON);
}

/*
 * What comes next, as rmpp_msg_read(), from a peer whose rxe may stand still: it stops at 64
 * packets on their way out, and looks whether any are left before it says that it wants to
 * be told. If the last leaves in between, its queue waits for the next send, and ib_core's
 * RMPP for the end of the one that waits (rxe_requester(), 6.1 to 7.2). That is so if nothing
 * at all comes, not even repeated; it is given something to send then.
 */
int remote_read(struct remote *f, int wait_ms)
{
	uint64_t end = now_ms() + wait_ms, heard = now_ms(), nudged = 0;
	long pkts = packets_received(f), now_pkts;
	struct rmpp_msg msg = { 0 };
	struct umad_msg got;
	int ret;

	for (;;) {
		ret = rmpp_msg_read(f->fd, &f->got, HDR_NEW, 500);
		if (ret > 0 && nudged && rmpp_tid(&f->got) == nudged)
			continue;
		if (ret != -ETIME || now_ms() >= end)
			break;
		now_pkts = packets_received(f);
		if (now_pkts != pkts)
			heard = now_ms();
		pkts = now_pkts;
		if (pkts < 0 || now_ms() - heard < SILENCE)
			continue;
		/* It is there, and poll() has not said so. */
		if (read(f->fd, &got, sizeof(got)) >= 0 || errno != EAGAIN) {
			ret = -EPROTO;
			break;
		}
		printf("# nothing for %d ms: the peer is given something to send\n", SILENCE);
		nudged = f->tid + 1;
		ret = nudge(f, &msg);
		if (ret < 0)
			break;
		heard = now_ms();
	}
	rmpp_msg_free(&msg);
	return ret;
}

/* Until it has received more than so many messages. */
int remote_wait_received(struct remote *f, uint32_t received, int wait_ms)
{
	uint64_t end = now_ms() + wait_ms;
	int ret;

	do {
		sleep_ms(20);
		ret = remote_ask_state(f);
		if (ret)
			return ret;
		if (f->state.received != received)
			return 0;
	} while (now_ms() < end);
	return -ETIME;
}

uint32_t remote_hash(const uint8_t *data, size_t len)
{
	uint32_t hash = 2166136261u;

	while (len--)
		hash = (hash ^ *data++) * 16777619u;
	return hash;
}
