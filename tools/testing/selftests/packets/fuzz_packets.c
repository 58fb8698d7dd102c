// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A hostile peer, and all nodes of a fabric at once: packets by chance, from
 * one seed, while programs of the port do their work. See fuzz.h.
 *
 *	UMAD_FUZZ_WIRE		ib, opa (ib_hwsim), roce (setup step rxe-remote)
 *	UMAD_FUZZ_PACKETS	how many
 *	UMAD_FUZZ_SEED		a number, or "random"
 *	UMAD_FUZZ_KINDS		names of attack.c, to find out which it takes
 */
#include "kselftest_harness.h"
#include "attack.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>

#define RUN	"tools/testing/qemu/run.py --setup hwsim --setup rxe-remote " \
		"--modules drivers/infiniband/sw/ib_hwsim " \
		"--programs tools/testing/selftests/packets"
#define SETTINGS "UMAD_FUZZ_SEED=%llu UMAD_FUZZ_PACKETS=%llu ./fuzz_packets'"
#define PACKETS		20000
#define HANG_MS		60000
#define END_MS		90000
#define SETTLE_MS	5000

static const char *setting(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

static uint64_t any_seed(void)
{
	const char *text = setting("UMAD_FUZZ_SEED", "1");
	uint64_t seed;

	if (strcmp(text, "random"))
		return strtoull(text, NULL, 0);
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		abort();
	return seed >> 16;
}

FIXTURE(hostile) {
	struct wire wire;
	struct shared *shared;
	struct attack *attack;
	struct rng rng;
	pid_t good;
	pid_t worker[WORKERS];
	char before[256];
};

/* "rdma resource": what is left of RDMA objects, by kind. */
static void resources(const char *ibdev, char *text, size_t len)
{
	char command[128];
	FILE *file;

	snprintf(command, sizeof(command), "rdma resource show %s", ibdev);
	memset(text, 0, len);
	file = popen(command, "re");
	if (!file)
		return;
	if (!fgets(text, len, file))
		text[0] = '\0';
	pclose(file);
}

/* A program has no part of the fabric open. */
static void be_program(FIXTURE_DATA(hostile) *self)
{
	close(self->wire.fd);
	close(self->attack->sync_fd);
}

static void start_worker(FIXTURE_DATA(hostile) *self, int i)
{
	uint64_t seed = rng_next(&self->rng);

	self->shared->beat[i * THREADS].ms = 0;
	self->shared->beat[i * THREADS + 1].ms = 0;
	self->worker[i] = fork();
	if (self->worker[i])
		return;
	be_program(self);
	work_main(self->shared, &self->wire, i, seed);
}

FIXTURE_SETUP(hostile)
{
	const char *kind = setting("UMAD_FUZZ_WIRE", "ib");
	const char *packets = setting("UMAD_FUZZ_PACKETS", NULL);
	uint64_t seed = any_seed(), i;

	ASSERT_EQ(0, wire_open(&self->wire, kind));
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	self->attack = calloc(1, sizeof(*self->attack));
	self->attack->wire = &self->wire;
	self->attack->shared = self->shared;
	self->attack->limit = packets ? strtoull(packets, NULL, 0) : PACKETS;
	ASSERT_EQ(0, attack_choose(self->attack,
				   setting("UMAD_FUZZ_KINDS", NULL)));
	TH_LOG("again: " RUN " --cmd 'UMAD_FUZZ_WIRE=%s " SETTINGS,
	       kind, (unsigned long long)seed,
	       (unsigned long long)self->attack->limit);
	resources(self->wire.port.ibdev, self->before, sizeof(self->before));

	self->rng.state = seed;
	self->attack->rng.state = rng_next(&self->rng);
	ASSERT_EQ(0, attack_open(self->attack));
	i = rng_next(&self->rng);
	self->good = fork();
	if (!self->good) {
		be_program(self);
		good_main(self->shared, &self->wire, i);
	}
	for (i = 0; i < WORKERS; i++)
		start_worker(self, i);
}

FIXTURE_TEARDOWN(hostile)
{
	wire_close(&self->wire);
}

/* Sees that every call of a worker ends; kills one now and then. */
static bool watch(FIXTURE_DATA(hostile) *self)
{
	struct beat *beat;
	uint64_t ms;
	int i;

	for (i = 0; i < ARRAY_SIZE(self->shared->beat); i++) {
		beat = &self->shared->beat[i];
		ms = __atomic_load_n(&beat->ms, __ATOMIC_ACQUIRE);
		if (ms && now_ms() > ms + HANG_MS) {
			fprintf(stderr, "worker %d hangs in %s\n",
				i / THREADS, beat->what);
			self->attack->failed = "a call does not end";
			return false;
		}
	}
	if (rnd(&self->rng, 60))
		return true;
	i = rnd(&self->rng, WORKERS);
	kill(self->worker[i], SIGKILL);
	waitpid(self->worker[i], NULL, 0);
	start_worker(self, i);
	self->attack->counts.restarts++;
	return true;
}

/* True once they all have ended well; the fabric does its work meanwhile. */
static bool all_end(FIXTURE_DATA(hostile) *self)
{
	uint64_t end = now_ms() + END_MS;
	unsigned int left = WORKERS + 1;
	int status, bad = 0;

	__atomic_store_n(&self->shared->stop, 1, __ATOMIC_RELAXED);
	while (left && now_ms() < end) {
		attack_listen(self->attack);
		if (waitpid(-1, &status, WNOHANG) > 0) {
			left--;
			bad += !!status;
		} else {
			poll(NULL, 0, 1);
		}
	}
	return !left && !bad;
}

static void print_counts(struct __test_metadata *_metadata,
			 FIXTURE_DATA(hostile) *self)
{
	const struct attack *attack = self->attack;
	const struct counts *c = &attack->counts;
	const struct ledger *l = &self->shared->good;
	uint32_t calls = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(self->shared->beat); i++)
		calls += self->shared->beat[i].calls;
	TH_LOG("%llu packets, %u from the port, %u forwarded; %u conversations, %u complete",
	       (unsigned long long)attack->sent, c->captured, c->forwarded,
	       c->convs, c->finished);
	TH_LOG("%u syncs, longest %u ms; %u calls, %u programs killed",
	       c->syncs, c->max_sync_ms, calls, c->restarts);
	TH_LOG("good: asked %u answered %u (stolen %u) timed out %u refused %u, longest %u ms",
	       l->asked, l->answered, l->stolen, l->timed_out, l->refused,
	       l->max_ms);
	TH_LOG("good: served %u again %u foreign %u replies %u undelivered %u",
	       l->served, l->again, l->foreign, l->replies, l->undelivered);
}

/* What the module made of it. */
static void print_counters(struct __test_metadata *_metadata,
			   const struct test_port *port)
{
	char path[128], line[128], all[1024] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_umad/%s/counters",
		 port->node);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = ' ';
		strncat(all, line, sizeof(all) - strlen(all) - 1);
	}
	fclose(file);
	TH_LOG("%s", all);
}

/* No file, no agent and no object is left; counters agree with each other. */
static void nothing_left(struct __test_metadata *_metadata,
			 FIXTURE_DATA(hostile) *self)
{
	const struct test_port *port = &self->wire.port;
	long posted = umad_counter(port, "send_posted");
	struct ib_user_mad_reg_req2 req;
	char text[256], path[128];
	long ended, failed;
	int fd, i;

	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_umad/%s/files",
		 port->node);
	if (!umad_read_sysfs(path, text, sizeof(text)))
		EXPECT_STREQ("", text);
	ended = umad_counter(port, "send_completed") +
		umad_counter(port, "send_timed_out") +
		umad_counter(port, "send_canceled");
	failed = umad_counter(port, "send_failed") +
		 umad_counter(port, "send_refused");
	TH_LOG("posted %ld, ended %ld, failed or refused %ld", posted, ended,
	       failed);
	print_counters(_metadata, port);
	if (posted >= 0) {
		EXPECT_LE(0, posted - ended);
		EXPECT_GE(failed, posted - ended);
	}
	fd = umad_open(O_RDWR);
	ASSERT_LE(0, fd);
	for (i = 0; i < services_n; i++) {
		reg_init(&req, services[i].mgmt_class, services[i].version);
		mask_set((uint64_t *)req.method_mask, services[i].method);
		if (services[i].mgmt_class >= 0x30)
			req.oui = TEST_OUI;
		EXPECT_LE(0, umad_reg2(fd, &req)) {
			TH_LOG("an agent of class 0x%02x is left",
			       services[i].mgmt_class);
		}
	}
	close(fd);
	resources(port->ibdev, text, sizeof(text));
	EXPECT_STREQ(self->before, text);
}

TEST_F_TIMEOUT(hostile, peers_harm_nobody, 36000)
{
	struct attack *attack = self->attack;
	const struct ledger *good = &self->shared->good;

	while (attack->sent < attack->limit && !attack->failed) {
		attack_burst(attack);
		attack_listen(attack);
		if (attack_sync(attack))
			watch(self);
	}
	EXPECT_EQ(NULL, attack->failed) {
		TH_LOG("%s", attack->failed);
	}
	EXPECT_TRUE(all_end(self));
	print_counts(_metadata, self);
	EXPECT_EQ(0, good->wrong);
	EXPECT_EQ(0, good->unasked);
	EXPECT_EQ(0, good->twice);
	EXPECT_EQ(0, good->lost);
	EXPECT_EQ(good->asked, good->answered + good->timed_out);
	/* A fuzzer that kept everybody from working is no test; nor a slow guest. */
	EXPECT_LT(good->asked / 2 / strtoul(setting("UMAD_SLOW", "1"), NULL, 0),
		  good->answered);
	EXPECT_LT(0, attack->counts.finished);
	close(attack->sync_fd);
	sleep_ms(SETTLE_MS / 10);
	nothing_left(_metadata, self);
}

TEST_HARNESS_MAIN
