// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Processes that quarrel about few places in ib_core, and about classes and methods: with
 * requests of all kinds, agents and files that come and go in the middle, SIGKILL, and a
 * far end that answers what it likes. Each request ends once at the most, the device can
 * be removed at any moment, and who comes after them has all places, and any class.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"
#include "rmpp_util.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define DEVICE		37
#define LID		0x20
#define PEER		0x99
#define SOON		5000	/* ms */
#define QUEUE		64	/* of which an agent of class SA has two places */
#define PROCESSES	4
#define THREADS		3
#define TIDS		65536

/* One process: two files that its threads share, and what has become of their requests. */
struct worker {
	int fd[2];
	uint32_t tid;
	uint8_t ended[2][TIDS];
	unsigned int seed;
};

static uint32_t pick(unsigned int *seed, uint32_t n)
{
	return (uint32_t)rand_r(seed) % n;
}

static void write_some(struct worker *w, unsigned int *seed)
{
	static const uint32_t timeouts[] = { 0, 1, 1, 20, 50, 100, 1000, -1 };
	static const uint32_t retries[] = { 0, 0, 1, 5, 0x80000000 };
	static const uint8_t classes[] = { CLASS_SA, CLASS_SA, CLASS_SA, CLASS_RMPP, 0x07,
					   CLASS_VENDOR1 };
	const struct test_port peer = { .lid = PEER };
	int file = pick(seed, 2);
	struct umad_msg msg;
	struct rmpp_msg rmpp = {};
	uint32_t tid, n = 1 + pick(seed, 40);

	while (n--) {
		tid = __atomic_add_fetch(&w->tid, 1, __ATOMIC_RELAXED) % TIDS;
		if (!pick(seed, 8)) {
			rmpp_msg_init(&rmpp, &peer, HDR_NEW, pick(seed, 6), CLASS_SA,
				      METHOD_TABLE, tid, 1 + pick(seed, 2000), 1);
			rmpp_user_hdr(&rmpp)->grh_present = 0;
			rmpp_user_hdr(&rmpp)->timeout_ms = timeouts[pick(seed, 8)];
			rmpp_user_hdr(&rmpp)->retries = retries[pick(seed, 5)];
			rmpp_msg_write(w->fd[file], &rmpp);
			rmpp_msg_free(&rmpp);
			continue;
		}
		msg_init(&msg, &peer, pick(seed, 6), classes[pick(seed, 6)], METHOD_TEST,
			 tid);
		msg.hdr.grh_present = 0;
		msg.hdr.timeout_ms = timeouts[pick(seed, 8)];
		msg.hdr.retries = retries[pick(seed, 5)];
		msg_write(w->fd[file], &msg);
	}
}

static void read_some(struct worker *w, unsigned int *seed)
{
	int file = pick(seed, 2);
	struct umad_msg msg;
	unsigned int n = pick(seed, 100);

	while (n-- && msg_read(w->fd[file], &msg, 0) > 0) {
		/* Who does RMPP itself gets any segment. */
		if (!msg.hdr.status && (!(msg.mad.method & METHOD_RESP) ||
					msg.data[MAD_HDR_LEN + 2] & RMPP_ACTIVE))
			continue;
		if (__atomic_add_fetch(&w->ended[file][msg_tid(&msg) % TIDS], 1,
				       __ATOMIC_RELAXED) > 1) {
			printf("# TID %u of class %u ended twice, status %u\n",
			       msg_tid(&msg), msg.mad.mgmt_class, msg.hdr.status);
			fflush(stdout);
			_exit(3);
		}
	}
}

static void register_some(struct worker *w, unsigned int *seed)
{
	static const uint8_t classes[] = { CLASS_SA, CLASS_SA, 0, CLASS_RMPP, 0x07,
					   CLASS_VENDOR1, CLASS_SMI_DR, 0x50 };
	struct ib_user_mad_reg_req2 req;
	int file = pick(seed, 2);

	reg_init(&req, classes[pick(seed, 8)], 1 + pick(seed, 2));
	req.qpn = pick(seed, 8) ? req.mgmt_class != CLASS_SMI_DR : pick(seed, 3);
	req.rmpp_version = pick(seed, 2);
	req.flags = req.rmpp_version && !pick(seed, 4);
	if (req.mgmt_class == CLASS_RMPP)
		req.oui = TEST_OUI + pick(seed, 10);
	if (pick(seed, 2) && req.mgmt_class)
		mask_set((uint64_t *)req.method_mask, 1 + pick(seed, 5));
	switch (pick(seed, 16)) {
	case 0:
		umad_ioctl(w->fd[file], IB_USER_MAD_REGISTER_AGENT2, NULL);
		break;
	case 1:
		umad_ioctl(w->fd[file], IB_USER_MAD_REGISTER_AGENT,
			   (void *)0xffff800000000000ul);
		break;
	default:
		umad_reg2(w->fd[file], &req);
	}
}

static void *quarrel(void *arg)
{
	struct worker *w = arg;
	unsigned int seed = __atomic_add_fetch(&w->seed, 1, __ATOMIC_RELAXED);

	for (;;) {
		switch (pick(&seed, 12)) {
		case 0 ... 3:
			write_some(w, &seed);
			break;
		case 4 ... 6:
			read_some(w, &seed);
			break;
		case 7 ... 8:
			register_some(w, &seed);
			break;
		case 9:
			umad_unreg(w->fd[pick(&seed, 2)], pick(&seed, 12));
			break;
		default:
			sleep_ms(pick(&seed, 5));
		}
	}
	return NULL;
}

static pid_t start_worker(unsigned int seed)
{
	static struct worker w;
	pid_t pid = fork(), child;
	pthread_t thread;
	int i;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	w.seed = seed * 1000;
	for (i = 0; i < 2; i++) {
		w.fd[i] = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
		if (w.fd[i] < 0)
			pause();
	}
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, quarrel, &w);
	/* One more process that has the files; each has its own ledger, so it only registers. */
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Unless the parent was killed before that. */
		while (getppid() != 1) {
			register_some(&w, &seed);
			umad_unreg(w.fd[pick(&seed, 2)], pick(&seed, 32));
		}
		_exit(0);
	}
	for (;;)
		pause();
}

struct far {
	int wire;
	bool stop;
	unsigned int seed;
	unsigned int frames;
};

static void inject(struct far *far, uint8_t mgmt_class, uint8_t method, uint64_t tid,
		   uint16_t status, const struct rmpp_pkt *pkt)
{
	static struct ib_hwsim_frame frame;

	frame_init(&frame, mgmt_class, method, tid);
	frame_mad(&frame)->class_version = 1 + (mgmt_class == CLASS_SA);
	frame_mad(&frame)->status = htobe16(status);
	frame.slid = PEER;
	frame.dlid = LID;
	memset(frame.mad + MAD_HDR_LEN, 0, RMPP_HDR - MAD_HDR_LEN);
	if (pkt)
		rmpp_put(frame.mad, pkt);
	raw_write(far->wire, &frame);
}

/* To what was sent, or to one that may be waiting still. */
static void answer(struct far *far, const struct mad_hdr *mad)
{
	static uint64_t old[64];
	uint64_t tid = be64toh(mad->tid);
	struct rmpp_pkt pkt = { 1, 0, RMPP_ACTIVE, 0, 0, 0 };
	unsigned int i;

	old[pick(&far->seed, 64)] = tid;
	if (!pick(&far->seed, 4))
		tid += pick(&far->seed, 100);
	if (!pick(&far->seed, 8))
		tid = old[pick(&far->seed, 64)];
	switch (pick(&far->seed, 12)) {
	case 0 ... 3:
		for (i = 1 + !pick(&far->seed, 3); i; i--)
			inject(far, mad->mgmt_class, mad->method | METHOD_RESP, tid, 0, NULL);
		return;
	case 4:
		inject(far, mad->mgmt_class, mad->method | METHOD_RESP, tid, 1, NULL);
		return;
	case 5:
		pkt.type = RMPP_ACK;
		pkt.seg = 1 + pick(&far->seed, 9);
		pkt.len = pkt.seg + pick(&far->seed, 9);
		break;
	case 6:
		pkt.type = RMPP_STOP;
		pkt.status = RMPP_RESX;
		break;
	case 7:
		pkt.type = RMPP_ABORT;
		pkt.status = RMPP_BADT + pick(&far->seed, 6);
		break;
	case 8:
		pkt.type = RMPP_DATA;
		pkt.flags |= RMPP_FIRST | RMPP_LAST;
		pkt.seg = 1;
		pkt.len = RMPP_PAYLOAD;
		break;
	case 9:
		/* One that begins, and never ends. */
		pkt.type = RMPP_DATA;
		pkt.flags |= RMPP_FIRST;
		pkt.seg = 1;
		pkt.len = 3 * RMPP_PAYLOAD;
		break;
	default:
		return;
	}
	inject(far, mad->mgmt_class, mad->method | (pick(&far->seed, 4) ? METHOD_RESP : 0),
	       tid, 0, &pkt);
}

static void *far_end(void *arg)
{
	static struct ib_hwsim_frame seen;
	struct far *far = arg;

	while (!__atomic_load_n(&far->stop, __ATOMIC_ACQUIRE)) {
		if (raw_read(far->wire, &seen, 20) < 0) {
			sleep_ms(1);
			continue;
		}
		far->frames++;
		answer(far, frame_mad(&seen));
	}
	return NULL;
}

FIXTURE(crowd) {
	char path[96];
	pid_t pid[PROCESSES];
	struct far far;
	pthread_t thread;
	unsigned int seed, ms;
	long flow_control;
	char text[1 << 16];
};

static void make(struct __test_metadata *_metadata, FIXTURE_DATA(crowd) *self)
{
	char node[32];

	ASSERT_EQ(0, hwsim_new(DEVICE, "lid=0x20"));
	ASSERT_EQ(0, hwsim_umad(DEVICE, 1, "umad", node, sizeof(node)));
	snprintf(self->path, sizeof(self->path), "/sys/kernel/debug/ib_umad/%s/files", node);
	self->far.wire = raw_attach(DEVICE, 1);
	ASSERT_LE(0, self->far.wire);
	self->far.stop = false;
	self->far.seed = self->seed;
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, far_end, &self->far));
}

static void far_stop(FIXTURE_DATA(crowd) *self)
{
	__atomic_store_n(&self->far.stop, true, __ATOMIC_RELEASE);
	pthread_join(self->thread, NULL);
	close(self->far.wire);
}

FIXTURE_SETUP(crowd)
{
	self->seed = env_long("UMAD_SEED", getpid());
	self->ms = env_long("UMAD_CROWD_MS", 1500);
	TH_LOG("seed %u", self->seed);
	self->flow_control = rmpp_param_set("flow_control", env_long("UMAD_FLOW", QUEUE));
	make(_metadata, self);
}

FIXTURE_TEARDOWN(crowd)
{
	if (self->flow_control >= 0)
		rmpp_param_set("flow_control", self->flow_control);
}

static void crowd_start(FIXTURE_DATA(crowd) *self)
{
	int i;

	for (i = 0; i < PROCESSES; i++)
		self->pid[i] = start_worker(self->seed++);
}

/* The device fails to post, completes nothing for a while, or a process is stopped. */
static void disturb(FIXTURE_DATA(crowd) *self)
{
	char text[16];
	int i = pick(&self->seed, PROCESSES);

	switch (pick(&self->seed, 8)) {
	case 0:
		hwsim_set(DEVICE, 1, "hold_completions", "1");
		break;
	case 1 ... 2:
		hwsim_set(DEVICE, 1, "hold_completions", "0");
		break;
	case 3 ... 4:
		snprintf(text, sizeof(text), "nth %u", 1 + pick(&self->seed, 20));
		umad_write_sysfs("/sys/kernel/debug/ib_hwsim/hwsim37/fail/post_send", text);
		break;
	case 5:
		kill(self->pid[i], SIGSTOP);
		break;
	case 6:
		kill(self->pid[i], SIGCONT);
	}
}

/* Not one has found anything; true: and it was killed here. */
static void crowd_kill(struct __test_metadata *_metadata, FIXTURE_DATA(crowd) *self, int i)
{
	int status = 0;

	/* Its sends have to complete. */
	hwsim_set(DEVICE, 1, "hold_completions", "0");
	kill(self->pid[i], SIGKILL);
	ASSERT_EQ(self->pid[i], waitpid(self->pid[i], &status, 0));
	EXPECT_FALSE(WIFEXITED(status)) {
		TH_LOG("worker: %d", WEXITSTATUS(status));
	}
}

/* Nobody has left anything: all places are there, any class can be had. */
static void expect_fresh(struct __test_metadata *_metadata, FIXTURE_DATA(crowd) *self)
{
	const struct rmpp_agent agent = { .mgmt_class = CLASS_SA, .rmpp_version = 1 };
	const struct test_port peer = { .lid = PEER };
	static struct ib_hwsim_frame seen;
	uint64_t end = now_ms() + SOON;
	unsigned int tid, n = 0;
	struct umad_msg msg;
	int fd, wire, i;

	while (!umad_read_file(self->path, self->text, sizeof(self->text)) &&
	       *self->text && now_ms() < end)
		sleep_ms(20);
	if (self->flow_control >= 0)
		EXPECT_STREQ("", self->text);
	wire = raw_attach(DEVICE, 1);
	ASSERT_LE(0, wire);
	fd = hwsim_open(DEVICE, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, rmpp_register(fd, &agent));
	for (i = 1; i <= 4; i++)
		ASSERT_EQ(i, umad_reg_server(fd, CLASS_VENDOR1, i));
	while (raw_read(wire, &seen, 100) >= 0)
		;
	for (tid = 1; tid <= 50; tid++) {
		msg_init(&msg, &peer, 0, CLASS_SA, METHOD_TEST, tid);
		msg.hdr.grh_present = 0;
		msg.hdr.timeout_ms = -1;
		ASSERT_EQ(MSG_LEN, msg_write(fd, &msg));
	}
	while (raw_read(wire, &seen, 300) >= 0)
		n++;
	TH_LOG("%u at once", n);
	if (self->flow_control >= 0 && !getenv("UMAD_FLOW"))
		EXPECT_EQ(QUEUE / 32, n);
	close(fd);
	close(wire);
}

TEST_F_TIMEOUT(crowd, leaves_nothing, 300)
{
	uint64_t end = now_ms() + self->ms;
	unsigned int killed = 0, reads = 0;
	int i;

	crowd_start(self);
	while (now_ms() < end) {
		reads += !umad_read_file(self->path, self->text, sizeof(self->text));
		sleep_ms(10);
		disturb(self);
		if (pick(&self->seed, 10))
			continue;
		i = pick(&self->seed, PROCESSES);
		crowd_kill(_metadata, self, i);
		self->pid[i] = start_worker(self->seed++);
		killed++;
	}
	for (i = 0; i < PROCESSES; i++)
		crowd_kill(_metadata, self, i);
	TH_LOG("%u frames, %u killed, %u reads", self->far.frames, killed, reads);
	far_stop(self);
	expect_fresh(_metadata, self);
	EXPECT_EQ(0, hwsim_del(DEVICE));
}

TEST_F_TIMEOUT(crowd, does_not_keep_the_device, 300)
{
	uint64_t end = now_ms() + self->ms, start, longest = 0;
	unsigned int rounds = 0;
	int i;

	do {
		crowd_start(self);
		sleep_ms(100 + pick(&self->seed, 300));
		disturb(self);
		/* Removal waits for what is held. */
		hwsim_set(DEVICE, 1, "hold_completions", "0");
		start = now_ms();
		ASSERT_EQ(0, hwsim_del(DEVICE));
		if (now_ms() - start > longest)
			longest = now_ms() - start;
		sleep_ms(20);
		for (i = 0; i < PROCESSES; i++)
			crowd_kill(_metadata, self, i);
		far_stop(self);
		make(_metadata, self);
		rounds++;
	} while (now_ms() < end);
	TH_LOG("%u rounds, longest removal %llu ms", rounds, (unsigned long long)longest);
	far_stop(self);
	expect_fresh(_metadata, self);
	EXPECT_EQ(0, hwsim_del(DEVICE));
}

TEST_HARNESS_MAIN
