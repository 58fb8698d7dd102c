// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A program of the port under test that does all that a program may: registers
 * whatever it likes, sends to nodes that are there and not, to itself and by
 * directed route, answers what it reads, gives up, closes and begins anew. What
 * comes back is of no interest; each call has to come to an end.
 */
#include "attack.h"

#include <stdio.h>

#define AGENTS	6

struct agent {
	int id;			/* -1: none */
	uint8_t mgmt_class;	/* 0: sends only */
	uint8_t version;
	uint8_t qpn;
	bool kernel_rmpp;
};

struct work {
	struct work *first;	/* of a second thread: whose file it uses */
	struct shared *shared;
	struct beat *beat;
	const struct wire *wire;
	struct rng rng;
	int fd;
	struct agent agent[AGENTS];
	struct rmpp_msg in, out;
};

static void begin(struct work *work, const char *what)
{
	snprintf(work->beat->what, sizeof(work->beat->what), "%s", what);
	__atomic_store_n(&work->beat->ms, now_ms(), __ATOMIC_RELEASE);
}

static void done(struct work *work)
{
	__atomic_store_n(&work->beat->ms, 0, __ATOMIC_RELEASE);
	work->beat->calls++;
}

static struct agent *any_agent(struct work *work)
{
	return &work->agent[rnd(&work->rng, AGENTS)];
}

static void do_unregister(struct work *work)
{
	struct agent *agent = any_agent(work);

	if (agent->id < 0)
		return;
	begin(work, "unregister");
	umad_unreg(work->fd, agent->id);
	done(work);
	agent->id = -1;
}

static void any_request(struct work *work, struct ib_user_mad_reg_req2 *req)
{
	struct rng *rng = &work->rng;
	const struct service *service = &services[2 + rnd(rng, services_n - 2)];

	reg_init(req, service->mgmt_class, service->version);
	if (service->rmpp)
		req->rmpp_version = chance(rng, 80);
	if (service->mgmt_class >= 0x30)
		req->oui = TEST_OUI;
	if (req->rmpp_version && chance(rng, 20))
		req->flags = IB_USER_MAD_USER_RMPP;
	if (chance(rng, 70))
		mask_set((uint64_t *)req->method_mask, service->method);
	if (chance(rng, 20)) {
		reg_init(req, 0, 0);
	} else if (work->wire->kind != WIRE_ROCE && chance(rng, 25)) {
		reg_init(req, chance(rng, 70) ? 0x81 : 0x01, 1);
		req->qpn = 0;
		mask_set((uint64_t *)req->method_mask, 1 + rnd(rng, 7));
	}
}

static void do_register(struct work *work)
{
	struct agent *agent = any_agent(work);
	struct ib_user_mad_reg_req2 req;

	if (agent->id >= 0)
		return;
	any_request(work, &req);
	begin(work, "register");
	agent->id = umad_reg2(work->fd, &req);
	done(work);
	agent->mgmt_class = req.mgmt_class;
	agent->version = req.mgmt_class_version;
	agent->qpn = req.qpn;
	agent->kernel_rmpp = req.rmpp_version &&
			     !(req.flags & IB_USER_MAD_USER_RMPP);
}

/*
 * The other thread goes on with the number of the old file: which is the new one's
 * when that has its header, and before an agent of either thread fixes it.
 */
static void do_open(struct work *work)
{
	int fd, i;

	begin(work, "open");
	fd = umad_open(O_RDWR | O_NONBLOCK);
	done(work);
	if (fd >= 0 && umad_ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL))
		_exit(1);
	begin(work, "close");
	if (fd >= 0 && work->fd >= 0) {
		dup2(fd, work->fd);
		close(fd);
	} else {
		close(work->fd);
		work->fd = fd;
	}
	done(work);
	for (i = 0; i < AGENTS; i++)
		work->agent[i].id = -1;
	for (i = 0; i < AGENTS; i++)
		do_register(work);
}

static void any_time(struct work *work, struct ib_user_mad_hdr *hdr)
{
	static const uint32_t times[] = { 0, 0, 1, 10, 50, 200, 1000 };

	hdr->timeout_ms = times[rnd(&work->rng, ARRAY_SIZE(times))];
	hdr->retries = rnd(&work->rng, 4);
	if (chance(&work->rng, 3))
		hdr->timeout_ms = -1;
}

static void any_address(struct work *work, const struct agent *agent,
			struct ib_user_mad_hdr *hdr)
{
	struct rng *rng = &work->rng;
	int peer = rnd(rng, PEERS);

	/* An address that does not resolve costs a second. */
	if (peer >= PEERS - SILENT_PEERS && !chance(rng, 10))
		peer = 0;
	peer_address(work->wire, chance(rng, 15) ? -1 : peer, chance(rng, 30),
		     hdr);
	hdr->qpn = htobe32(agent->qpn);
	if (!agent->qpn) {
		hdr->qkey = 0;
		hdr->grh_present = 0;
	}
}

static size_t any_len(struct work *work)
{
	struct rng *rng = &work->rng;

	if (chance(rng, 2))
		return rnd(rng, 60000);
	return rnd(rng, chance(rng, 70) ? 400 : 4000);
}

/* An SMP by directed route: to this very port, mostly. */
static void route_smp(struct work *work)
{
	struct rng *rng = &work->rng;
	uint8_t *bytes = rmpp_mad_bytes(&work->out);
	struct mad_hdr *mad = rmpp_mad(&work->out);
	struct shared *shared = work->shared;
	uint32_t hi;

	memset(bytes + MAD_HDR_LEN, 0, MAD_LEN - MAD_HDR_LEN);
	memset(bytes + 32, 0xff, 4);
	rmpp_user_hdr(&work->out)->lid = htobe16(PERMISSIVE);
	mad->attr_id = htobe16(chance(rng, 50) ? 0x11 : 0x20);
	bytes[7] = chance(rng, 80) ? 0 : rnd(rng, 4);
	if (!chance(rng, 40))
		return;
	/* An answer, to whoever has this TID: in any process. */
	mad->method |= METHOD_RESP;
	mad->status = htobe16(0x8000);
	hi = shared->hi_tid[rnd(rng, ARRAY_SIZE(shared->hi_tid))];
	mad->tid = htobe64((uint64_t)hi << 32 | rnd(rng, 64));
}

static void do_write(struct work *work)
{
	struct agent *agent = any_agent(work);
	struct rng *rng = &work->rng;
	const struct service *service = &services[2 + rnd(rng, services_n - 2)];
	struct ib_user_mad_hdr *hdr;
	struct mad_hdr *mad;

	if (agent->id < 0)
		return;
	rmpp_msg_init(&work->out, &work->wire->port, HDR_NEW, agent->id,
		      agent->mgmt_class ? agent->mgmt_class :
					  service->mgmt_class,
		      service->method, rnd(rng, 64), any_len(work),
		      rng_next(rng));
	hdr = rmpp_user_hdr(&work->out);
	mad = rmpp_mad(&work->out);
	if (agent->mgmt_class)
		mad->class_version = agent->version;
	any_time(work, hdr);
	any_address(work, agent, hdr);
	if (!agent->kernel_rmpp || chance(rng, 30)) {
		work->out.mad_len = MAD_LEN;
		if (chance(rng, 80))
			rmpp_mad_bytes(&work->out)[26] = 0;
	}
	if (mad->mgmt_class == 0x81)
		route_smp(work);
	/* Taking the port down is not what this is about. */
	if (!agent->qpn && (mad->method & ~METHOD_RESP) == 0x02)
		return;
	begin(work, "write");
	rmpp_msg_write(work->fd, &work->out);
	done(work);
}

/* What is read is answered, now and then. */
static void do_read(struct work *work)
{
	struct rng *rng = &work->rng;
	int n = 1 + rnd(rng, 32);
	int ret, id;

	while (n--) {
		begin(work, "read");
		ret = fuzz_read(work->fd, &work->in);
		done(work);
		if (ret < 0)
			return;
		id = rmpp_user_hdr(&work->in)->id;
		if (rmpp_user_hdr(&work->in)->status || chance(rng, 40) ||
		    work->in.mad_len < 64)
			continue;
		rmpp_msg_reply(&work->out, &work->in, id, any_len(work),
			       rng_next(rng));
		any_time(work, rmpp_user_hdr(&work->out));
		if (chance(rng, 40)) {
			work->out.mad_len = MAD_LEN;
			rmpp_mad_bytes(&work->out)[26] = 0;
		}
		begin(work, "reply");
		rmpp_msg_write(work->fd, &work->out);
		done(work);
	}
}

static void do_any(struct work *work)
{
	switch (rnd(&work->rng, 200)) {
	case 0 ... 1:
		if (!work->first)
			do_open(work);
		break;
	case 2 ... 5:
		do_unregister(work);
		break;
	case 6 ... 20:
		do_register(work);
		break;
	case 21 ... 100:
		do_write(work);
		break;
	default:
		do_read(work);
	}
}

static void run(struct work *work)
{
	while (!stopping(work->shared)) {
		if (!may_go(&work->shared->calls)) {
			poll(NULL, 0, 5);
			continue;
		}
		/* What the first thread knows may be of yesterday: so be it. */
		if (work->first) {
			work->fd = work->first->fd;
			memcpy(work->agent, work->first->agent,
			       sizeof(work->agent));
		}
		do_any(work);
	}
}

static void *second_main(void *arg)
{
	run(arg);
	return NULL;
}

void work_main(struct shared *shared, const struct wire *wire, int index,
	       uint64_t seed)
{
	struct work work = {
		.shared = shared,
		.beat = &shared->beat[index * THREADS],
		.wire = wire,
		.rng = { seed },
		.fd = -1,
	};
	struct work second = work;
	struct side_call call;

	do_open(&work);
	second.first = &work;
	second.beat++;
	second.rng.state = rng_next(&work.rng);
	side_start(&call, second_main, &second);
	run(&work);
	side_join(&call);
	begin(&work, "last close");
	close(work.fd);
	done(&work);
	_exit(0);
}
