// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* One trial. See race.h. */
#include "race.h"

#include <stdio.h>

#define OPTIONS		"lid=0x20 sma=far"
#define PATIENCE	4000	/* ms for what has to end */
#define COME		25	/* ms until an operation has had its effect */
#define MEANWHILE	15	/* ms for the second, while the first is stopped */

static void fail_off(void)
{
	hwsim_set(DEVICE, 1, "hold_completions", "0");
	umad_write_sysfs("/sys/kernel/debug/ib_hwsim/hwsim40/fail/send_wc",
			 "off");
}

static void all_go(void)
{
	stop_release(STOP_MAIN);
	stop_release(STOP_OF(0));
	stop_release(STOP_OF(1));
	fail_off();
}

/* Module and device are there, the wire is empty. */
static int world_up(struct trial *t, char *node, size_t len)
{
	struct ib_hwsim_frame frame;
	int ret;

	if (t->unloaded) {
		ret = module_load();
		if (ret)
			return ret;
		t->unloaded = false;
	}
	if (t->gone) {
		close(t->raw);
		ret = hwsim_new(DEVICE, OPTIONS);
		if (ret)
			return ret;
		t->raw = raw_attach(DEVICE, 1);
		if (t->raw < 0)
			return t->raw;
		t->gone = false;
	}
	while (raw_read(t->raw, &frame, 0) > 0)
		;
	return hwsim_umad(DEVICE, 1, "umad", node, len);
}

static int begin(struct trial *t, const struct op *first,
		 const struct op *second)
{
	struct command ping = { .order = DO_DRAIN };
	char node[32];
	int ret;

	ret = world_up(t, node, sizeof(node));
	if (ret)
		return ret;
	memset(t->call, 0, sizeof(t->call));
	t->nth++;
	ret = worker_start(&t->worker, node);
	if (ret)
		return ret;
	worker_send(&t->worker, 0, &ping);
	if (!worker_wait(&t->worker, 0, PATIENCE, NULL))
		return -ETIME;
	ret = first->prepare ? first->prepare(t, 0) : 0;
	if (!ret && second && second->prepare)
		ret = second->prepare(t, 1);
	return ret;
}

/* All that was begun ends, each request once. False: @why has what does not. */
static bool wind_up(struct trial *t, bool file_stays, char *why, size_t len)
{
	struct command drain = { .order = DO_DRAIN, .count = file_stays };
	bool good = true;
	int side, left = 0;

	all_go();
	for (side = 0; side < SIDES; side++)
		if (!act_wait(t, side, PATIENCE)) {
			snprintf(why, len, "%s does not end",
				 side ? "the second" : "the first");
			good = false;
		}
	if (good) {
		worker_send(&t->worker, 0, &drain);
		if (!worker_wait(&t->worker, 0, PATIENCE, &left))
			left = 1000;
		if (left < 0 || (file_stays && left)) {
			snprintf(why, len, left < 0 ? "a request ended twice" :
				 "%d requests do not end", left);
			good = false;
		}
	}
	if (!worker_end(&t->worker, PATIENCE)) {
		snprintf(why, len, "the worker does not end");
		good = false;
	}
	for (side = 0; side < SIDES; side++)
		side_join(&t->call[side]);
	return good;
}

int run_init(struct trial *t)
{
	char node[32];

	memory_init();
	memset(t, 0, sizeof(*t));
	t->gone = true;
	t->raw = -1;
	return world_up(t, node, sizeof(node));
}

void run_exit(struct trial *t)
{
	char node[32];

	world_up(t, node, sizeof(node));
	hwsim_del(DEVICE);
	close(t->raw);
}

/* How long it may take until it has come to all its points. */
static unsigned int come_ms(const struct op *op)
{
	return op->come_ms ? op->come_ms : COME;
}

/* Which points does it come to? */
int run_profile(struct trial *t, const struct op *op, struct points *points)
{
	static struct points before, after;
	char why[64] = "";
	unsigned int i, j;
	int ret;

	points->n = 0;
	ret = begin(t, op, NULL);
	if (ret || points_read(&before)) {
		wind_up(t, false, why, sizeof(why));
		return ret ? ret : -ENOENT;
	}
	op->act(t, 0);
	act_wait(t, 0, 200);
	sleep_ms(2 * come_ms(op));
	points_read(&after);
	wind_up(t, false, why, sizeof(why));
	for (i = 0; i < after.n; i++) {
		for (j = 0; j < before.n; j++)
			if (!strcmp(before.point[j].name, after.point[i].name))
				break;
		if (after.point[i].hits >
		    (j < before.n ? before.point[j].hits : 0))
			points->point[points->n++] = after.point[i];
	}
	return 0;
}

/* Until the first is stopped, or is over without. */
static bool wait_stopped(struct trial *t, const struct op *op)
{
	uint64_t last = now_us() + 300 * 1000;

	while (now_us() < last) {
		if (stop_wait(STOP_MAIN, "parked", 0) ||
		    stop_is(STOP_MAIN, "over"))
			return true;
		if (act_wait(t, 0, 0))
			return stop_wait(STOP_MAIN, "parked", come_ms(op));
		usleep(300);
	}
	return false;
}

enum outcome run_pair(struct trial *t, const struct op *first,
		      const char *point, const struct op *second, char *why,
		      size_t len)
{
	bool stays = !first->ends_file && !second->ends_file;
	enum outcome outcome = MISSED;
	int ret;

	ret = begin(t, first, second);
	if (!ret)
		ret = stop_arm(STOP_MAIN, point, "ms=400");
	if (ret) {
		snprintf(why, len, "not prepared: %d", ret);
		return wind_up(t, false, why, len) ? SKIPPED : FAILED;
	}
	first->act(t, 0);
	if (wait_stopped(t, first)) {
		outcome = MET;
		second->act(t, 1);
		act_wait(t, 1, MEANWHILE);
		sleep_ms(second->linger_ms);
	}
	return wind_up(t, stays && outcome == MET, why, len) ? outcome : FAILED;
}
