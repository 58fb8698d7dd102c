// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ledger of requests, its worker and its server. See ledger.h.
 */
#include "ledger.h"
#include "promise_load.h"

#include <stdio.h>

#define AGENT_PLAIN	0
#define AGENT_FLEETING	1	/* is unregistered again and again */
#define AGENT_RMPP	2
#define MOST_OUT	16	/* requests that a worker has out */
#define LONGEST		20000	/* bytes of a message */
#define LAST_WAIT	60000	/* ms until everything has ended */

void ledger_wrote(struct ledger *ledger, uint32_t agent, uint32_t tid)
{
	int i = tid % LEDGER_SLOTS;

	ledger->slots[i].tid = tid;
	ledger->slots[i].agent = agent;
	ledger->slots[i].state = LEDGER_OUT;
	ledger->sums.written++;
	ledger->out++;
}

/* A record has been read: a response, or with a status the request itself. */
void ledger_read(struct ledger *ledger, uint32_t tid, uint32_t status)
{
	int i = tid % LEDGER_SLOTS;

	if (ledger->slots[i].tid != tid ||
	    ledger->slots[i].state == LEDGER_NONE) {
		ledger->sums.unknown++;
		return;
	}
	if (ledger->slots[i].state == LEDGER_ENDED) {
		ledger->sums.twice++;
		return;
	}
	/* What was queued when its agent went may be read afterwards. */
	if (ledger->slots[i].state == LEDGER_CANCELLED)
		ledger->sums.cancelled--;
	else
		ledger->out--;
	ledger->slots[i].state = LEDGER_ENDED;
	if (!status)
		ledger->sums.answered++;
	else if (status == ETIMEDOUT)
		ledger->sums.timed_out++;
	else
		ledger->sums.wrong_errno++;
}

/* Its owner has ended an agent, or with -1 the file. */
void ledger_cancel(struct ledger *ledger, int agent)
{
	int i;

	for (i = 0; i < LEDGER_SLOTS; i++) {
		if (ledger->slots[i].state == LEDGER_OUT &&
		    (agent < 0 || ledger->slots[i].agent == agent)) {
			ledger->slots[i].state = LEDGER_CANCELLED;
			ledger->sums.cancelled++;
			ledger->out--;
		}
		if (agent < 0)
			ledger->slots[i].state = LEDGER_NONE;
	}
}

void ledger_add(struct ledger_sums *sums, const struct ledger_sums *more)
{
	unsigned long *to = (unsigned long *)sums;
	const unsigned long *from = (const unsigned long *)more;
	size_t i;

	for (i = 0; i < sizeof(*sums) / sizeof(*to); i++)
		to[i] += from[i];
}

bool ledger_balanced(const struct ledger_sums *sums)
{
	return sums->written == sums->answered + sums->timed_out +
				sums->cancelled &&
	       !sums->twice && !sums->unknown && !sums->damaged &&
	       !sums->wrong_errno;
}

void ledger_print(const char *who, const struct ledger_sums *sums)
{
	printf("# %s: written %lu = answered %lu + timed out %lu", who,
	       sums->written, sums->answered, sums->timed_out);
	printf(" + cancelled %lu; refused %lu", sums->cancelled,
	       sums->refused);
	printf("; twice %lu unknown %lu damaged %lu wrong errno %lu\n",
	       sums->twice, sums->unknown, sums->damaged, sums->wrong_errno);
	fflush(stdout);
}

static bool stopped(const int *stop)
{
	return __atomic_load_n(stop, __ATOMIC_RELAXED);
}

static int open_registered(const char *ibdev, bool server)
{
	const struct rmpp_agent rmpp = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.method = server ? METHOD_TABLE : 0,
	};
	int fd = umad_open_ibdev(ibdev, O_RDWR | O_NONBLOCK);
	bool good;

	if (fd < 0)
		return fd;
	if (server)
		good = !umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST) &&
		       rmpp_register(fd, &rmpp) == 1;
	else
		good = umad_reg_client(fd) == AGENT_PLAIN &&
		       umad_reg_client(fd) == AGENT_FLEETING &&
		       rmpp_register(fd, &rmpp) == AGENT_RMPP;
	if (good)
		return fd;
	close(fd);
	return -EAGAIN;
}

static void worker_close(struct ledger_worker *worker)
{
	if (worker->fd >= 0) {
		ledger_cancel(&worker->ledger, -1);
		close(worker->fd);
	}
	worker->fd = -1;
}

/* Gone only if it may go. */
static void worker_lost(struct ledger_worker *worker, int error)
{
	if (!worker->removals)
		worker->ledger.sums.wrong_errno++;
	else if (error != -EIO && error != -ENODEV && error != -EPIPE &&
		 error != -EINVAL && error != -ENETUNREACH &&
		 error != -EHOSTUNREACH && error != -ETIMEDOUT)
		worker->ledger.sums.wrong_errno++;
	worker_close(worker);
}

/* Everything there is to be read; waits for the first so long. */
static void worker_read(struct ledger_worker *worker, int wait_ms)
{
	struct rmpp_msg *got = &worker->got;
	uint32_t tid, status;
	size_t data;
	int ret;

	while (worker->fd >= 0) {
		ret = rmpp_msg_read(worker->fd, got, HDR_NEW, wait_ms);
		if (ret == -ETIME || ret == -EAGAIN)
			return;
		if (ret < 0) {
			worker_lost(worker, ret);
			return;
		}
		wait_ms = 0;
		tid = rmpp_tid(got);
		status = rmpp_user_hdr(got)->status;
		data = got->mad_len - rmpp_offset(CLASS_RMPP);
		if (!status && rmpp_mad(got)->mgmt_class == CLASS_RMPP &&
		    got->mad_len > MAD_LEN && !rmpp_msg_has(got, data, tid))
			worker->ledger.sums.damaged++;
		ledger_read(&worker->ledger, tid, status);
	}
}

/*
 * Time-outs are so many times as long, by UMAD_SLOW in the environment; and pauses,
 * as who looks for a device in sysfs without a pause keeps it from coming there.
 */
static long slow(void)
{
	return env_long("UMAD_SLOW", 1);
}

static int write_plain(struct ledger_worker *worker, uint32_t tid,
		       uint32_t agent)
{
	unsigned int *seed = &worker->seed;
	struct umad_msg msg;

	msg_init(&msg, worker->path, agent, CLASS_VENDOR1,
		 rand_r(seed) % 4 ? METHOD_TEST : METHOD_NOBODY, tid);
	msg.hdr.timeout_ms = (1 + rand_r(seed) % 200) * slow();
	msg.hdr.retries = rand_r(seed) % 4;
	return msg_write(worker->fd, &msg);
}

static int write_message(struct ledger_worker *worker, uint32_t tid)
{
	unsigned int *seed = &worker->seed;

	rmpp_msg_init(&worker->msg, worker->path, HDR_NEW, AGENT_RMPP,
		      CLASS_RMPP, METHOD_TABLE, tid, rand_r(seed) % LONGEST,
		      tid);
	rmpp_user_hdr(&worker->msg)->timeout_ms = (200 + rand_r(seed) % 800) *
						    slow();
	return rmpp_msg_write(worker->fd, &worker->msg);
}

/* A request, now and then one that has to be refused. */
static void worker_write(struct ledger_worker *worker)
{
	struct ledger *ledger = &worker->ledger;
	uint32_t tid = ledger->next_tid, agent;
	int kind = rand_r(&worker->seed) % 32, ret;

	agent = kind & 1 ? AGENT_FLEETING : AGENT_PLAIN;
	if (kind == 0) {		/* an agent that is not there */
		ret = write_plain(worker, tid, 17);
		if (ret != -EINVAL && ret != -EIO)
			ledger->sums.wrong_errno++;
		ledger->sums.refused++;
		return;
	}
	if (kind < 6 && worker->messages) {
		agent = AGENT_RMPP;
		ret = write_message(worker, tid);
	} else {
		ret = write_plain(worker, tid, agent);
	}
	if (ret < 0) {
		ledger->sums.refused++;
		worker_lost(worker, ret);
		return;
	}
	ledger->next_tid++;
	ledger_wrote(ledger, agent, tid);
}

static void worker_step(struct ledger_worker *worker)
{
	int what = rand_r(&worker->seed) % 200;
	int ret;

	if (worker->fd < 0) {
		worker->fd = open_registered(worker->ibdev, false);
		if (worker->fd >= 0)
			worker->opens++;
		else
			sleep_ms(2 * slow());
		return;
	}
	if (what == 0) {
		ret = umad_unreg(worker->fd, AGENT_FLEETING);
		if (!ret) {
			ledger_cancel(&worker->ledger, AGENT_FLEETING);
			ret = umad_reg_client(worker->fd);
		}
		if (ret != AGENT_FLEETING)
			worker_lost(worker, ret);
	} else if (what == 1) {
		worker_close(worker);
	} else if (worker->ledger.out < MOST_OUT) {
		worker_write(worker);
	}
	worker_read(worker, worker->ledger.out < MOST_OUT ? 0 : 20);
}

static void *worker_main(void *arg)
{
	struct ledger_worker *worker = arg;
	uint64_t end;

	while (!stopped(&worker->stop) &&
	       (!worker->requests ||
		worker->ledger.sums.written < worker->requests))
		worker_step(worker);
	/* All that is still out ends by itself. */
	end = now_ms() + LAST_WAIT;
	while (worker->fd >= 0 && worker->ledger.out && now_ms() < end)
		worker_read(worker, 100);
	/* Nothing comes after that. */
	worker_read(worker, 200);
	return NULL;
}

void ledger_worker_start(struct ledger_worker *worker)
{
	worker->fd = -1;
	worker->ledger.next_tid = 1;
	side_start(&worker->call, worker_main, worker);
}

/* What has not ended by now is out of balance. */
void ledger_worker_stop(struct ledger_worker *worker)
{
	__atomic_store_n(&worker->stop, 1, __ATOMIC_RELAXED);
	side_join(&worker->call);
	if (worker->fd >= 0)
		close(worker->fd);
	rmpp_msg_free(&worker->msg);
	rmpp_msg_free(&worker->got);
}

/* Answered once, twice, late, or not at all. */
static int server_answer(struct ledger_server *server)
{
	struct rmpp_msg *msg = &server->msg, *reply = &server->reply;
	bool rmpp = rmpp_mad(msg)->mgmt_class == CLASS_RMPP;
	uint32_t tid = rmpp_tid(msg);
	int what = rand_r(&server->seed) % 64, times = 1, ret = 0;
	struct umad_msg plain;
	size_t len;

	server->requests++;
	if (what < 4)
		return 0;
	if (what < 8)
		times = 2;
	if (what == 8)
		sleep_ms(rand_r(&server->seed) % 60);
	len = rand_r(&server->seed) % LONGEST;
	while (times-- && ret >= 0) {
		if (rmpp) {
			rmpp_msg_reply(reply, msg, 1, len, tid);
			ret = rmpp_msg_write(server->fd, reply);
		} else {
			memcpy(&plain, msg->buf, MSG_LEN);
			msg_reply(&plain, &plain, 0);
			ret = msg_write(server->fd, &plain);
		}
		server->responses += ret > 0;
	}
	/* Duplicates of what is still being sent are refused. */
	return ret == -EINVAL ? 0 : ret;
}

static void *server_main(void *arg)
{
	struct ledger_server *server = arg;
	int ret;

	while (!stopped(&server->stop)) {
		if (server->fd < 0) {
			server->fd = open_registered(server->ibdev, true);
			if (server->fd >= 0)
				server->opens++;
			else
				sleep_ms(2 * slow());
			continue;
		}
		ret = rmpp_msg_read(server->fd, &server->msg, HDR_NEW, 50);
		if (ret > 0 && !rmpp_user_hdr(&server->msg)->status &&
		    !(rmpp_mad(&server->msg)->method & METHOD_RESP))
			ret = server_answer(server);
		if (ret < 0 && ret != -ETIME && ret != -EAGAIN) {
			close(server->fd);
			server->fd = -1;
		}
	}
	return NULL;
}

void ledger_server_start(struct ledger_server *server)
{
	server->fd = -1;
	side_start(&server->call, server_main, server);
}

void ledger_server_stop(struct ledger_server *server)
{
	__atomic_store_n(&server->stop, 1, __ATOMIC_RELAXED);
	side_join(&server->call);
	if (server->fd >= 0)
		close(server->fd);
	rmpp_msg_free(&server->msg);
	rmpp_msg_free(&server->reply);
}
