// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The operations of the pairs: what a program, a peer, a device, time and the
 * lack of memory can do. See race.h.
 */
#include "race.h"
#include "rmpp_util.h"

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>

#define TID(side)	(0x1000u * ((side) + 1))
#define FAR_TID(side)	(TID(side) + 0x800)	/* of the far end's own */
#define LONG		250	/* ms: longer than anybody is stopped */
#define SOON		120	/* ms: when the other one is stopped */
#define AT_ONCE		4	/* ms */
#define LATE_MANY	9	/* late listeners of an agent, and one more */
#define RESOLVE		"create_verbs resolve1"

static const struct command plain = { .order = DO_WRITE, .count = 1 };

static void write_one(struct trial *t, int side, uint32_t timeout_ms,
		      uint32_t retries, uint32_t count)
{
	struct command command = plain;

	command.tid = TID(side);
	command.timeout_ms = timeout_ms;
	command.retries = retries;
	command.count = count;
	worker_send(&t->worker, side, &command);
}

static void tell(struct trial *t, int side, enum order order)
{
	struct command command = { .order = order };

	worker_send(&t->worker, side, &command);
}

/* The request of a side at the far end of the wire. */
static int far_find(struct trial *t, int side)
{
	struct ib_hwsim_frame *frame = &t->request[side];
	int ret;

	do {
		ret = raw_read(t->raw, frame, 500);
		if (ret < 0)
			return ret;
	} while (((uint32_t)be64toh(frame_mad(frame)->tid) & 0xfffff000) !=
		 TID(side));
	return 0;
}

static int request(struct trial *t, int side, uint32_t timeout_ms)
{
	write_one(t, side, timeout_ms, 0, 1);
	if (!worker_wait(&t->worker, side, 1000, NULL))
		return -ETIME;
	return far_find(t, side);
}

static void answer(struct trial *t, int side)
{
	struct ib_hwsim_frame frame = t->request[side];
	uint32_t lid = frame.slid;

	frame.slid = frame.dlid;
	frame.dlid = lid;
	frame_mad(&frame)->method |= METHOD_RESP;
	raw_write(t->raw, &frame);
}

/* A packet that the worker's agent is to get, unasked. */
static void far_send(struct trial *t, uint32_t tid, const struct rmpp_pkt *pkt)
{
	struct ib_hwsim_frame frame;
	char lid[16] = "0";

	hwsim_get(DEVICE, 1, "lid", lid, sizeof(lid));
	frame_init(&frame, CLASS_VENDOR2, METHOD_TEST, tid);
	frame.slid = FAR_LID;
	frame.dlid = strtoul(lid, NULL, 0);
	memset(frame.mad + 24, 0, 16);
	frame.mad[37] = TEST_OUI >> 16 & 0xff;
	frame.mad[38] = TEST_OUI >> 8 & 0xff;
	frame.mad[39] = TEST_OUI & 0xff;
	if (pkt)
		rmpp_put(frame.mad, pkt);
	raw_write(t->raw, &frame);
}

/* A packet back to the sender of the message that was found. */
static void far_control(struct trial *t, int side, uint8_t type, uint8_t status,
			uint32_t seg, uint32_t last)
{
	struct rmpp_pkt pkt = {
		.version = 1, .type = type, .flags = RMPP_ACTIVE,
		.status = status, .seg = seg, .len = last,
	};
	struct ib_hwsim_frame frame = t->request[side];
	uint32_t lid = frame.slid;

	frame.slid = frame.dlid;
	frame.dlid = lid;
	/* A response goes to who has asked; so do packets of RMPP. */
	frame_mad(&frame)->method |= METHOD_RESP;
	rmpp_put(frame.mad, &pkt);
	raw_write(t->raw, &frame);
}

/* Calls */

static void act_write(struct trial *t, int side)
{
	write_one(t, side, SOON, 0, 1);
}

static int prepare_record(struct trial *t, int side)
{
	far_send(t, FAR_TID(side), NULL);
	return 0;
}

static void act_read(struct trial *t, int side)
{
	tell(t, side, DO_READ);
}

static void act_poll(struct trial *t, int side)
{
	tell(t, side, DO_POLL);
}

static void act_register(struct trial *t, int side)
{
	tell(t, side, DO_REGISTER);
}

static void act_unregister(struct trial *t, int side)
{
	tell(t, side, DO_UNREGISTER);
}

static void act_close(struct trial *t, int side)
{
	tell(t, side, DO_CLOSE);
}

static void act_kill(struct trial *t, int side)
{
	(void)side;
	kill(t->worker.pid, SIGKILL);
}

/* Something for those to do that end the file. */
static int prepare_outstanding(struct trial *t, int side)
{
	far_send(t, FAR_TID(side), NULL);
	return request(t, side, LONG);
}

/* Module and device */

static void *unload(void *arg)
{
	struct trial *t = arg;
	uint64_t end = now_ms() + 1000;

	/* Its files are closed by the one that is killed now. */
	kill(t->worker.pid, SIGKILL);
	while (now_ms() < end) {
		if (!syscall(__NR_delete_module, "ib_umad", O_NONBLOCK)) {
			t->unloaded = true;
			break;
		}
		usleep(500);
	}
	return NULL;
}

static void act_unload(struct trial *t, int side)
{
	side_start(&t->call[side], unload, t);
}

static void *removal(void *arg)
{
	struct trial *t = arg;

	if (!hwsim_del(DEVICE))
		t->gone = true;
	return NULL;
}

static void act_removal(struct trial *t, int side)
{
	side_start(&t->call[side], removal, t);
}

/* Time */

/* As the first of a pair it is prepared, and comes while somebody waits. */
static int prepare_time(struct trial *t, int side, uint32_t retries)
{
	if (side)
		return 0;
	write_one(t, side, SOON, retries, 1);
	return worker_wait(&t->worker, side, 1000, NULL) ? 0 : -ETIME;
}

static int prepare_deadline(struct trial *t, int side)
{
	return prepare_time(t, side, 0);
}

static void act_deadline(struct trial *t, int side)
{
	if (side)
		write_one(t, side, AT_ONCE, 0, 1);
}

static int prepare_retry(struct trial *t, int side)
{
	return prepare_time(t, side, 1);
}

static void act_retry(struct trial *t, int side)
{
	if (side)
		write_one(t, side, AT_ONCE, 2, 1);
}

static int prepare_late_deadline(struct trial *t, int side)
{
	write_one(t, side, 1, 0, LATE_MANY - 1);
	if (!worker_wait(&t->worker, side, 1000, NULL))
		return -ETIME;
	sleep_ms(15);
	return 0;
}

static void act_late_deadline(struct trial *t, int side)
{
	struct command command = plain;

	command.tid = TID(side) + 0x100;
	command.timeout_ms = 1;
	command.count = 3;
	worker_send(&t->worker, side, &command);
}

/* The far end */

static int prepare_response(struct trial *t, int side)
{
	return request(t, side, LONG);
}

static int prepare_late_response(struct trial *t, int side)
{
	int ret = request(t, side, AT_ONCE);

	sleep_ms(15);
	return ret;
}

static int prepare_duplicate(struct trial *t, int side)
{
	int ret = request(t, side, LONG);

	if (!ret)
		answer(t, side);
	sleep_ms(3);
	return ret;
}

static void far_data(struct trial *t, uint32_t tid, uint32_t seg, uint8_t flags,
		     uint32_t len)
{
	struct rmpp_pkt pkt = {
		.version = 1, .type = 1, .flags = RMPP_ACTIVE | flags,
		.seg = seg, .len = len,
	};

	far_send(t, tid, &pkt);
}

static int prepare_data(struct trial *t, int side)
{
	far_data(t, FAR_TID(side), 1, RMPP_FIRST, 0);
	return 0;
}

static void act_data(struct trial *t, int side)
{
	far_data(t, FAR_TID(side), 2, 0, 0);
	far_data(t, FAR_TID(side), 3, RMPP_LAST, 100);
	/* One that belongs to no message; and another message begins. */
	far_data(t, FAR_TID(side) + 1, 7, 0, 0);
	far_data(t, FAR_TID(!side), 1, RMPP_FIRST, 0);
}

static int prepare_message(struct trial *t, int side)
{
	struct command command = {
		.order = DO_MESSAGE, .tid = TID(side), .timeout_ms = SOON,
	};

	worker_send(&t->worker, side, &command);
	if (!worker_wait(&t->worker, side, 1000, NULL))
		return -ETIME;
	return far_find(t, side);
}

static void act_ack(struct trial *t, int side)
{
	far_control(t, side, 2, 0, 1, 64);
	far_control(t, side, 2, 0, 2, 64);
	far_control(t, side, 2, 0, 4, 64);
}

static void act_stop(struct trial *t, int side)
{
	far_control(t, side, 3, RMPP_RESX, 0, 0);
}

static void act_abort(struct trial *t, int side)
{
	far_control(t, side, 4, RMPP_BAD_SEG, 0, 0);
}

/* The device */

static int prepare_held(struct trial *t, int side)
{
	hwsim_set(DEVICE, 1, "hold_completions", "1");
	/* The driver hears of it at once if no response is waited for. */
	write_one(t, side, 0, 0, 1);
	if (!worker_wait(&t->worker, side, 1000, NULL))
		return -ETIME;
	write_one(t, side, SOON, 1, 1);
	return worker_wait(&t->worker, side, 1000, NULL) ? 0 : -ETIME;
}

static int prepare_held_bad(struct trial *t, int side)
{
	umad_write_sysfs("/sys/kernel/debug/ib_hwsim/hwsim40/fail/send_wc",
			 "all");
	return prepare_held(t, side);
}

static void act_completion(struct trial *t, int side)
{
	(void)t;
	(void)side;
	hwsim_set(DEVICE, 1, "hold_completions", "0");
}

static int prepare_resolving(struct trial *t, int side, const char *options)
{
	int ret = stop_arm(STOP_OF(side), RESOLVE, options);

	if (ret)
		return ret;
	write_one(t, side, SOON, 0, 1);
	return stop_wait(STOP_OF(side), "parked", 300) ? 0 : -ETIME;
}

static int prepare_resolved(struct trial *t, int side)
{
	return prepare_resolving(t, side, NULL);
}

static int prepare_unresolved(struct trial *t, int side)
{
	return prepare_resolving(t, side, "fail=-110");
}

static void act_resolution(struct trial *t, int side)
{
	(void)t;
	stop_release(STOP_OF(side));
}

/* Memory: each allocation of the module in turn. */

static int prepare_no_memory(struct trial *t, int side)
{
	static struct points points;
	unsigned int n = 0, pick = 0, i;
	const char *name;

	if (points_read(&points))
		return -ENOENT;
	for (i = 0; i < points.n; i++)
		n += strstr(points.point[i].name, " alloc") ||
		     strstr(points.point[i].name, " build");
	if (!n)
		return -ENOENT;
	pick = t->nth % n;
	for (i = 0; i < points.n; i++) {
		name = points.point[i].name;
		if (strstr(name, " alloc") && !pick--)
			return stop_arm(STOP_OF(side), name, "fail=0 ms=0");
		if (strstr(name, " build") && !pick--)
			return stop_arm(STOP_OF(side), name, "fail=-12 ms=0");
	}
	return -ENOENT;
}

static void act_no_memory(struct trial *t, int side)
{
	struct command message = {
		.order = DO_MESSAGE, .tid = TID(side) + 0x10, .timeout_ms = SOON,
	};

	far_send(t, FAR_TID(side), NULL);
	far_data(t, FAR_TID(side), 1, RMPP_FIRST, 0);
	worker_send(&t->worker, side, &message);
}

/* A message that has begun, and MADs that are not read. */
static int prepare_unread(struct trial *t, int side)
{
	if (!memory_is_limited())
		return -ENOENT;
	far_send(t, FAR_TID(side) + 2, NULL);
	far_send(t, FAR_TID(side) + 3, NULL);
	return prepare_data(t, side);
}

static void act_reclaim(struct trial *t, int side)
{
	side_start(&t->call[side], memory_reclaim, t);
}

const struct op ops[] = {
	{ "write", NULL, act_write },
	{ "read", prepare_record, act_read },
	{ "poll", prepare_record, act_poll },
	{ "register", NULL, act_register },
	{ "unregister", prepare_outstanding, act_unregister, .ends_file = true },
	{ "close", prepare_outstanding, act_close, .ends_file = true },
	{ "SIGKILL", prepare_outstanding, act_kill, 10, true },
	{ "unload", prepare_outstanding, act_unload, .ends_file = true },
	{ "removal", prepare_outstanding, act_removal, .ends_file = true },
	{ "deadline", prepare_deadline, act_deadline, 20, .come_ms = 250 },
	{ "retry", prepare_retry, act_retry, 20, .come_ms = 250 },
	{ "late_deadline", prepare_late_deadline, act_late_deadline, 15 },
	{ "response", prepare_response, answer, 2 },
	{ "late_response", prepare_late_response, answer, 2 },
	{ "duplicate_response", prepare_duplicate, answer, 2, .is_dropped = true },
	{ "DATA", prepare_data, act_data, 3 },
	{ "ACK", prepare_message, act_ack, 3 },
	{ "STOP", prepare_message, act_stop, 2 },
	{ "ABORT", prepare_message, act_abort, 2 },
	{ "completion_good", prepare_held, act_completion, 2 },
	{ "completion_failed", prepare_held_bad, act_completion, 2 },
	{ "resolved", prepare_resolved, act_resolution, 2 },
	{ "unresolved", prepare_unresolved, act_resolution, 2 },
	{ "no_memory", prepare_no_memory, act_no_memory, 3 },
	{ "reclaim", prepare_unread, act_reclaim, 5 },
};

const unsigned int ops_n = sizeof(ops) / sizeof(*ops);

bool act_wait(struct trial *t, int side, int wait_ms)
{
	if (!worker_wait(&t->worker, side, wait_ms, NULL))
		return false;
	if (t->call[side].started) {
		if (!side_done(&t->call[side], wait_ms))
			return false;
		side_join(&t->call[side]);
	}
	return true;
}
