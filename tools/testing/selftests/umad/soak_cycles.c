// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RDMA device goes and comes, again and again, while programs exchange
 * requests and messages over it and hold files open. Every request ends exactly
 * once, no removal takes longer than promised, nothing is left.
 *
 * UMAD_CYCLES in the environment sets how often, or SOAK_SECONDS how long;
 * UMAD_SEED begins another sequence. UMAD_HWSIM, the line that makes it, is for
 * a device of ib_hwsim; UMAD_BESIDE says that other tests are run beside.
 */
#include "kselftest_harness.h"
#include "ledger.h"
#include "promise_load.h"
#include "rdma_link.h"

#include <stdio.h>
#include <stdlib.h>

#define WORKERS		3
#define HOLDERS		16	/* files that are open when the device goes */
#define BOUND		3000	/* ms of a removal: 2 s and a resolution */
#define PATIENCE	20000	/* ms; times UMAD_SLOW, as the bound */
#define WARM_UP		20	/* cycles until caches are filled */
#define MIB		(1l << 20)

FIXTURE(cycles) {
	struct test_port port;
	struct ledger_server server;
	struct ledger_worker workers[WORKERS];
	struct side_call holder, del;
	int del_ret;
	unsigned long held;
	int stop;
	unsigned int seed;
	long slow;
};

static int device_del(const char *ibdev)
{
	int ret;

	if (!getenv("UMAD_HWSIM"))
		return rdma_link_del(ibdev);
	ret = umad_write_sysfs("/sys/bus/ib_hwsim/del_device", ibdev + 5);
	return ret < 0 ? ret : 0;
}

static int device_add(const struct test_port *port)
{
	const char *line = getenv("UMAD_HWSIM");
	int ret;

	if (!line)
		return rdma_link_add(port->ibdev, port->netdev);
	ret = umad_write_sysfs("/sys/bus/ib_hwsim/new_device", line);
	return ret < 0 ? ret : 0;
}

static void *do_del(void *arg)
{
	FIXTURE_DATA(cycles) *self = arg;

	self->del_ret = device_del(self->port.ibdev);
	return NULL;
}

/* Open, and with a request that waits for ever, when the device goes. */
static void *do_hold(void *arg)
{
	FIXTURE_DATA(cycles) *self = arg;
	unsigned int seed = self->seed, i;
	struct umad_msg msg;
	int fds[HOLDERS];

	for (i = 0; i < HOLDERS; i++)
		fds[i] = -1;
	while (!__atomic_load_n(&self->stop, __ATOMIC_RELAXED)) {
		i = rand_r(&seed) % HOLDERS;
		close(fds[i]);
		fds[i] = umad_open_ibdev(self->port.ibdev, O_RDWR | O_NONBLOCK);
		sleep_ms((1 + rand_r(&seed) % 4) * (fds[i] < 0 ? self->slow : 1));
		if (fds[i] < 0 || umad_reg_client(fds[i]))
			continue;
		msg_init(&msg, &self->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 1);
		msg.hdr.timeout_ms = -1;
		self->held += msg_write(fds[i], &msg) == MSG_LEN;
	}
	for (i = 0; i < HOLDERS; i++)
		close(fds[i]);
	return NULL;
}

static long slab_bytes(void)
{
	char line[128];
	long kib = 0;
	FILE *file;

	umad_write_sysfs("/proc/sys/vm/stat_refresh", "1");
	file = fopen("/proc/meminfo", "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "SUnreclaim: %ld kB", &kib) == 1)
			break;
	fclose(file);
	return kib * 1024;
}

FIXTURE_SETUP(cycles)
{
	int i;

	ASSERT_EQ(0, umad_port_find(&self->port));
	self->slow = env_long("UMAD_SLOW", 1);
	self->seed = env_long("UMAD_SEED", 1);
	self->server.ibdev = self->port.ibdev;
	self->server.seed = self->seed;
	self->server.removals = true;
	ledger_server_start(&self->server);
	for (i = 0; i < WORKERS; i++) {
		self->workers[i].path = &self->port;
		self->workers[i].ibdev = self->port.ibdev;
		self->workers[i].seed = self->seed + 1 + i;
		self->workers[i].removals = true;
		self->workers[i].messages = true;
		ledger_worker_start(&self->workers[i]);
	}
	side_start(&self->holder, do_hold, self);
}

static void stop_all(struct __test_metadata *_metadata,
		     FIXTURE_DATA(cycles) *self)
{
	struct ledger_sums sums = { 0 };
	unsigned long opens = 0;
	int i;

	for (i = 0; i < WORKERS; i++) {
		ledger_worker_stop(&self->workers[i]);
		ledger_add(&sums, &self->workers[i].ledger.sums);
		opens += self->workers[i].opens;
	}
	ledger_server_stop(&self->server);
	__atomic_store_n(&self->stop, 1, __ATOMIC_RELAXED);
	side_join(&self->holder);
	ledger_print("all", &sums);
	TH_LOG("%lu files of workers, %lu of the server, %lu held",
	       opens, self->server.opens, self->held);
	EXPECT_TRUE(ledger_balanced(&sums));
	EXPECT_LT(0, sums.answered);
}

FIXTURE_TEARDOWN(cycles)
{
	if (!self->stop)
		stop_all(_metadata, self);
}

/* One cycle; the ms of the removal. */
static long cycle(struct __test_metadata *_metadata, FIXTURE_DATA(cycles) *self)
{
	uint64_t start = now_ms(), took;
	struct test_port again;

	side_start(&self->del, do_del, self);
	ASSERT_TRUE(side_done(&self->del, self->slow * PATIENCE)) {
		TH_LOG("removal hangs");
	}
	took = now_ms() - start;
	side_join(&self->del);
	ASSERT_EQ(0, self->del_ret);
	ASSERT_EQ(0, device_add(&self->port));
	while (umad_port_find(&again)) {
		ASSERT_GT(start + self->slow * PATIENCE, now_ms()) {
			TH_LOG("the device does not come back");
		}
		sleep_ms(self->slow);
	}
	/* Its GIDs may stand elsewhere now. */
	self->port = again;
	sleep_ms(rand_r(&self->seed) % 20);
	return took;
}

TEST_F_TIMEOUT(cycles, device_goes_and_comes_under_load, 100000)
{
	uint64_t end = now_ms() + env_long("SOAK_SECONDS", 0) * 1000;
	long cycles = env_long("UMAD_CYCLES", env_long("SOAK_SECONDS", 0) ? 0 : 200);
	long i, took, slowest = 0, before = 0, after;

	TH_LOG("seed %u", self->seed);
	for (i = 0; i < cycles || now_ms() < end; i++) {
		took = cycle(_metadata, self);
		if (took > slowest)
			slowest = took;
		if (i == WARM_UP)
			before = slab_bytes();
		if (i % 500 == 499) {
			printf("# %ld cycles, slowest removal %ld ms\n", i + 1,
			       slowest);
			fflush(stdout);
		}
	}
	after = slab_bytes();
	TH_LOG("%ld cycles, slowest removal %ld ms, slabs %+ld KiB", i,
	       slowest, (after - before) >> 10);
	EXPECT_GE(self->slow * BOUND, slowest);
	stop_all(_metadata, self);
	/* Memory that others beside take is not this test's. */
	if (!getenv("UMAD_BESIDE"))
		EXPECT_GE(8 * MIB, after - before);
}

TEST_HARNESS_MAIN
