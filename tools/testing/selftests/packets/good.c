// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The pair that behaves: a client and a server of the port under test, in one
 * process, and a ledger of both. What is sent can be told from the transaction
 * ID: length and every byte. Each request has to end exactly once.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rmpp_util.h"
#include "wire.h"

#define OUTSTANDING	4
#define SEEN_MAX	(1u << 20)
#define DRAIN_MS	60000
#define RESPONSE	0x5a5a0000

struct request {
	uint32_t tid;		/* 0: none */
	uint64_t ms;
};

struct pair {
	struct shared *shared;
	struct ledger *ledger;
	const struct wire *wire;
	struct rng rng;
	int client, server;
	int plain_id, rmpp_id;		/* the client's agents */
	int plain_server, rmpp_server;
	uint32_t next_tid;
	struct request request[OUTSTANDING];
	uint64_t *seen;			/* by the server when, in ms, by TID */
	struct rmpp_msg in, out;
};

/* Both sides know what belongs to a TID. */
static bool is_rmpp(uint32_t tid)
{
	return tid % 3;
}

static size_t data_len(uint32_t seed)
{
	struct rng rng = { seed };

	if (chance(&rng, 20))
		return rnd(&rng, 30000);
	return rnd(&rng, chance(&rng, 50) ? 200 : 3000);
}

static bool same(const struct rmpp_msg *msg, uint32_t tid, uint32_t seed)
{
	if (is_rmpp(tid))
		return rmpp_msg_has(msg, data_len(seed), seed);
	return msg->mad_len >= MAD_LEN &&
	       rmpp_same(rmpp_mad_bytes(msg) + MAD_HDR_LEN, 0,
			 MAD_LEN - MAD_HDR_LEN, seed);
}

/* Does it come from this port? */
static bool is_own(const struct pair *pair, const struct rmpp_msg *msg)
{
	const struct ib_user_mad_hdr *hdr = rmpp_user_hdr(msg);

	if (hdr->grh_present &&
	    memcmp(hdr->gid, pair->wire->port.gid, sizeof(hdr->gid)))
		return false;
	return pair->wire->kind == WIRE_ROCE ||
	       (be16toh(hdr->lid) >= OWN_LID && be16toh(hdr->lid) < OWN_LID + 4);
}

/* Says what is wrong; counts it. */
static void complain(struct pair *pair, uint32_t *count, const char *what)
{
	const struct ib_user_mad_hdr *hdr = rmpp_user_hdr(&pair->in);
	const struct mad_hdr *mad = rmpp_mad(&pair->in);

	if ((*count)++ >= 5)
		return;
	fprintf(stderr, "good: %s: status %u agent %u lid 0x%x grh %u ", what,
		hdr->status, hdr->id, be16toh(hdr->lid), hdr->grh_present);
	fprintf(stderr, "class 0x%02x method 0x%02x tid 0x%llx, %zu bytes\n",
		mad->mgmt_class, mad->method,
		(unsigned long long)be64toh(mad->tid), pair->in.mad_len);
}

static void build(struct pair *pair, uint32_t tid)
{
	struct ib_user_mad_hdr *hdr;

	if (is_rmpp(tid)) {
		rmpp_msg_init(&pair->out, &pair->wire->port, HDR_NEW,
			      pair->rmpp_id, GOOD_CLASS, GOOD_METHOD, tid,
			      data_len(tid), tid);
	} else {
		rmpp_msg_init(&pair->out, &pair->wire->port, HDR_NEW,
			      pair->plain_id, GOOD_PLAIN, GOOD_METHOD, tid, 0,
			      tid);
		rmpp_fill(rmpp_mad_bytes(&pair->out) + MAD_HDR_LEN, 0,
			  MAD_LEN - MAD_HDR_LEN, tid);
		pair->out.mad_len = MAD_LEN;
	}
	hdr = rmpp_user_hdr(&pair->out);
	hdr->timeout_ms = 2000;
	hdr->retries = 3;
	if (pair->wire->kind != WIRE_ROCE)
		hdr->grh_present = tid & 1;
}

static void ask(struct pair *pair, struct request *request)
{
	uint32_t tid = ++pair->next_tid;

	build(pair, tid);
	if (rmpp_msg_write(pair->client, &pair->out) < 0) {
		pair->ledger->refused++;
		return;
	}
	request->tid = tid;
	request->ms = now_ms();
	pair->ledger->asked++;
}

static struct request *find(struct pair *pair, uint32_t tid)
{
	int i;

	for (i = 0; i < OUTSTANDING; i++)
		if (pair->request[i].tid == tid)
			return &pair->request[i];
	return NULL;
}

/*
 * ABI: an agent without RMPP gets every segment that has its TID, and any agent
 * what a program of this host sends by directed route to the host itself.
 */
static bool is_nobodys(const struct pair *pair)
{
	const struct ib_user_mad_hdr *hdr = rmpp_user_hdr(&pair->in);
	uint8_t class = rmpp_mad(&pair->in)->mgmt_class;

	if (hdr->status)
		return false;
	return class == 0x81 || (hdr->id == pair->plain_id &&
				 class != GOOD_PLAIN);
}

/* The client has read something: it has to be the end of a request. */
static void settle(struct pair *pair)
{
	struct ledger *ledger = pair->ledger;
	uint32_t tid = rmpp_tid(&pair->in), ms;
	struct request *request = tid ? find(pair, tid) : NULL;

	if (is_nobodys(pair)) {
		ledger->nobodys++;
		return;
	}
	if (!request) {
		complain(pair, &ledger->unasked, "nobody asked");
		return;
	}
	ms = now_ms() - request->ms;
	request->tid = 0;
	if (rmpp_user_hdr(&pair->in)->status) {
		ledger->timed_out++;
		return;
	}
	ledger->answered++;
	if (ms > ledger->max_ms)
		ledger->max_ms = ms;
	/*
	 * ib_core takes a plain answer from anybody who knows the TID; a
	 * message has to come from whom was asked.
	 */
	if (!is_own(pair, &pair->in)) {
		if (pair->in.mad_len > MAD_LEN)
			complain(pair, &ledger->wrong, "not who was asked");
		ledger->stolen++;
	} else if (!same(&pair->in, tid, tid ^ RESPONSE)) {
		complain(pair, &ledger->wrong, "wrong answer");
	}
}

static void reply(struct pair *pair, int id, uint32_t tid)
{
	uint32_t seed = tid ^ RESPONSE;
	bool rmpp = id == pair->rmpp_server;

	rmpp_msg_reply(&pair->out, &pair->in, id, rmpp ? data_len(seed) : 0,
		       seed);
	if (!rmpp) {
		rmpp_fill(rmpp_mad_bytes(&pair->out) + MAD_HDR_LEN, 0,
			  MAD_LEN - MAD_HDR_LEN, seed);
		pair->out.mad_len = MAD_LEN;
	}
	if (rmpp_msg_write(pair->server, &pair->out) > 0)
		pair->ledger->replies++;
}

/* A plain one is retried; of one segment, see "Known limits". */
static void served_again(struct pair *pair, uint32_t tid)
{
	uint64_t ms = now_ms() - pair->seen[tid % SEEN_MAX];
	char what[64];

	pair->ledger->again++;
	if (!is_rmpp(tid) || pair->in.mad_len <= MAD_LEN)
		return;
	/* A complete message lingers for 10 s. */
	snprintf(what, sizeof(what), "delivered twice, after %llu ms", (unsigned long long)ms);
	complain(pair, &pair->ledger->twice, what);
}

static void serve(struct pair *pair)
{
	struct ledger *ledger = pair->ledger;
	uint32_t tid = rmpp_tid(&pair->in);
	int id = rmpp_user_hdr(&pair->in)->id;

	if (rmpp_user_hdr(&pair->in)->status) {
		ledger->undelivered++;
		return;
	}
	if (!is_own(pair, &pair->in)) {
		ledger->foreign++;
		if (chance(&pair->rng, 30))
			reply(pair, id, tid);
		return;
	}
	ledger->served++;
	if (!same(&pair->in, tid, tid))
		complain(pair, &ledger->wrong, "wrong request");
	if (pair->seen[tid % SEEN_MAX])
		served_again(pair, tid);
	pair->seen[tid % SEEN_MAX] = now_ms();
	reply(pair, id, tid);
}

static int open_pair(struct pair *pair)
{
	struct rmpp_agent agent = {
		.mgmt_class = GOOD_CLASS,
		.rmpp_version = 1,
	};
	int ret;

	pair->client = umad_open(O_RDWR | O_NONBLOCK);
	pair->server = umad_open(O_RDWR | O_NONBLOCK);
	if (pair->client < 0 || pair->server < 0)
		return -ENODEV;
	ret = umad_ioctl(pair->client, IB_USER_MAD_ENABLE_PKEY, NULL);
	if (!ret)
		ret = umad_ioctl(pair->server, IB_USER_MAD_ENABLE_PKEY, NULL);
	if (ret)
		return ret;
	pair->plain_id = umad_reg_client(pair->client);
	pair->rmpp_id = rmpp_register(pair->client, &agent);
	agent.method = GOOD_METHOD;
	pair->rmpp_server = rmpp_register(pair->server, &agent);
	pair->plain_server = umad_reg_server(pair->server, GOOD_PLAIN,
					     GOOD_METHOD);
	if (pair->plain_id < 0 || pair->rmpp_id < 0 ||
	    pair->rmpp_server < 0 || pair->plain_server < 0)
		return -EINVAL;
	return 0;
}

static void read_all(struct pair *pair, int fd, void (*what)(struct pair *))
{
	int n;

	for (n = 0; n < 64 && fuzz_read(fd, &pair->in) >= 0; n++)
		what(pair);
}

static unsigned int outstanding(const struct pair *pair)
{
	unsigned int n = 0;
	int i;

	for (i = 0; i < OUTSTANDING; i++)
		n += !!pair->request[i].tid;
	return n;
}

static void one_round(struct pair *pair, bool stop)
{
	struct pollfd pfd[2] = {
		{ .fd = pair->client, .events = POLLIN },
		{ .fd = pair->server, .events = POLLIN },
	};
	int i = rnd(&pair->rng, OUTSTANDING);

	if (!stop && !pair->request[i].tid &&
	    may_go(&pair->shared->requests))
		ask(pair, &pair->request[i]);
	poll(pfd, 2, 5);
	read_all(pair, pair->client, settle);
	read_all(pair, pair->server, serve);
}

void good_main(struct shared *shared, const struct wire *wire, uint64_t seed)
{
	struct pair pair = {
		.shared = shared,
		.ledger = &shared->good,
		.wire = wire,
		.rng = { seed },
		.seen = calloc(SEEN_MAX, sizeof(uint64_t)),
	};
	uint64_t end;

	if (open_pair(&pair))
		_exit(1);
	while (!stopping(shared))
		one_round(&pair, false);
	end = now_ms() + DRAIN_MS;
	while (outstanding(&pair) && now_ms() < end)
		one_round(&pair, true);
	/* Nothing may come after the end, late answers included. */
	end = now_ms() + 1000;
	while (now_ms() < end)
		one_round(&pair, true);
	shared->good.lost = outstanding(&pair);
	close(pair.client);
	close(pair.server);
	_exit(0);
}
