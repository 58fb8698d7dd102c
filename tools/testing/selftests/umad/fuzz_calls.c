// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A hostile caller: many threads make every call on shared files with every kind
 * of argument and memory, while a well-behaved process beside keeps a ledger of
 * what it sends and gets. Nothing here knows what a hostile call should give: that
 * the kernel stays whole, that every call ends, that the ledger is right, and that
 * nothing is left is the test.
 *
 *	UMAD_FUZZ_CALLS	how many calls, of all threads (default 20000)
 *	UMAD_FUZZ_SEED	what they are (default: from the clock; printed)
 *
 * The calls of a thread follow from the seed; how the threads interleave does not.
 */
#include "kselftest_harness.h"
#include "fuzz_gen.h"
#include "fuzz_ledger.h"
#include "uffd.h"

#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define THREADS		6
#define SLOTS		6
#define END_LIMIT	4000	/* ms: close(), exit by SIGKILL; times UMAD_SLOW */
#define STALL		40	/* s without a single call done; as well */

struct fuzzer {
	unsigned int number;
	pid_t tid;
	struct fuzz_rng rng;
	struct fuzz_mem mem;
	uint64_t now_doing;
	const char *what;
};

static struct test_port port;
static struct fuzz_helpers helpers;
static struct fuzzer fuzzers[THREADS];
static int slots[SLOTS];	/* always open, but who knows for how long */
static int epfd;
static uint64_t seed, calls, calls_done;
static uint64_t slow = 1;	/* so many times: of a guest that has more to do */
static uint64_t longest_close_ms, longest_kill_ms;
static uint64_t written, records, registered;	/* calls that succeeded */

static int slot(struct fuzzer *f)
{
	return slots[fuzz_below(&f->rng, SLOTS)];
}

static void longest(uint64_t *most, uint64_t since)
{
	uint64_t took = now_ms() - since, old = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (took > old && !__atomic_compare_exchange_n(most, &old, took, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void count(uint64_t *sum, bool good)
{
	if (good)
		__atomic_fetch_add(sum, 1, __ATOMIC_RELAXED);
}

static void do_write(struct fuzzer *f)
{
	size_t len = fuzz_mad(&f->rng, &f->mem, &port);
	void *from = fuzz_place(&f->rng, &f->mem, f->mem.mad, len);

	count(&written, write(slot(f), from, len) > 0);
}

/* To oneself, to be answered by oneself: what the rest is meant to disturb. */
static void do_reply(struct fuzzer *f)
{
	struct umad_msg msg, reply;
	int fd = slot(f);

	if (msg_read_len(fd, &msg, MSG_LEN, 0) < TIMED_OUT_LEN)
		return;
	count(&records, true);
	fuzz_saw_tid(msg_tid64(&msg));
	msg_reply(&reply, &msg, fuzz_below(&f->rng, 4));
	if (reply.mad.mgmt_class == CLASS_LEDGER)
		return;
	reply.hdr.timeout_ms = fuzz_below(&f->rng, 3);
	msg_write(fd, &reply);
	if (fuzz_one_in(&f->rng, 4))
		msg_write(fd, &reply);
}

static void do_read(struct fuzzer *f)
{
	size_t len = fuzz_one_in(&f->rng, 2) ? MSG_LEN : fuzz_len(&f->rng);
	void *to = fuzz_place(&f->rng, &f->mem, f->mem.mad, len);

	count(&records, read(slot(f), to, len) > 0);
}

static void do_register(struct fuzzer *f)
{
	struct ib_user_mad_reg_req2 req;
	bool second = fuzz_below(&f->rng, 3);
	struct ib_user_mad_reg_req old = {};
	void *arg;

	fuzz_reg(&f->rng, &req);
	if (second) {
		arg = fuzz_place(&f->rng, &f->mem, &req, sizeof(req));
		count(&registered,
		      !ioctl(slot(f), IB_USER_MAD_REGISTER_AGENT2, arg));
		return;
	}
	old.qpn = req.qpn;
	old.mgmt_class = req.mgmt_class;
	old.mgmt_class_version = req.mgmt_class_version;
	old.rmpp_version = req.rmpp_version;
	memcpy(old.method_mask, req.method_mask, sizeof(old.method_mask));
	memcpy(old.oui, "\0\xaa\xbb", 3);
	arg = fuzz_place(&f->rng, &f->mem, &old, sizeof(old));
	count(&registered, !ioctl(slot(f), IB_USER_MAD_REGISTER_AGENT, arg));
}

static void do_unregister(struct fuzzer *f)
{
	uint32_t id = fuzz_one_in(&f->rng, 8) ? fuzz_u64(&f->rng) :
						fuzz_below(&f->rng, 6);

	ioctl(slot(f), IB_USER_MAD_UNREGISTER_AGENT,
	      fuzz_place(&f->rng, &f->mem, &id, sizeof(id)));
}

static void do_any_ioctl(struct fuzzer *f)
{
	static const unsigned int other[] = {
		0x5421 /* FIONBIO */, 0x541b /* FIONREAD */, 0x5452 /* FIOASYNC */,
		0x5401 /* TCGETS */, 0x1b01, 0x1b02, 0, 0xffffffff,
	};
	unsigned int cmd = IB_USER_MAD_ENABLE_PKEY;
	unsigned int kind = fuzz_below(&f->rng, 4);

	if (kind == 1)
		cmd = _IOC(fuzz_below(&f->rng, 4), 0x1b, fuzz_below(&f->rng, 8),
			   fuzz_below(&f->rng, 64));
	else if (kind == 2)
		cmd = fuzz_u64(&f->rng);
	else if (kind == 3)
		cmd = other[fuzz_below(&f->rng, 8)];
	ioctl(slot(f), cmd,
	      fuzz_place(&f->rng, &f->mem, f->mem.mad, fuzz_below(&f->rng, 64)));
}

static void do_poll(struct fuzzer *f)
{
	struct epoll_event event = { .events = fuzz_u64(&f->rng) & ~EPOLLEXCLUSIVE };
	struct pollfd pfd = { .fd = slot(f), .events = fuzz_u64(&f->rng) };

	switch (fuzz_below(&f->rng, 4)) {
	case 0:
		epoll_ctl(epfd, EPOLL_CTL_ADD, slot(f), &event);
		break;
	case 1:
		epoll_ctl(epfd, EPOLL_CTL_DEL, slot(f), &event);
		break;
	case 2:
		epoll_wait(epfd, &event, 1, fuzz_below(&f->rng, 5));
		break;
	default:
		poll(&pfd, 1, fuzz_below(&f->rng, 5));
	}
}

/* Several pieces, good and bad. */
static void do_vector(struct fuzzer *f)
{
	size_t len = fuzz_mad(&f->rng, &f->mem, &port);
	struct iovec iov[3];
	int n = 1 + fuzz_below(&f->rng, 3), i;

	for (i = 0; i < n; i++) {
		iov[i].iov_len = i ? fuzz_below(&f->rng, 512) : len;
		iov[i].iov_base = fuzz_place(&f->rng, &f->mem, f->mem.mad,
					     iov[i].iov_len);
	}
	if (fuzz_one_in(&f->rng, 2))
		writev(slot(f), iov, n);
	else
		readv(slot(f), iov, n);
}

static void do_strange(struct fuzzer *f)
{
	int fd = slot(f), other;
	char path[32];
	void *at;

	switch (fuzz_below(&f->rng, 9)) {
	case 0:
		at = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  fuzz_one_in(&f->rng, 2) ? MAP_SHARED : MAP_PRIVATE, fd, 0);
		if (at != MAP_FAILED)
			munmap(at, 4096);
		break;
	case 1:
		lseek(fd, fuzz_u64(&f->rng), fuzz_below(&f->rng, 5));
		break;
	case 2:
		pread(fd, f->mem.mad, MSG_LEN, fuzz_u64(&f->rng));
		break;
	case 3:
		ftruncate(fd, 0);
		fsync(fd);
		break;
	case 4:
		fcntl(fd, F_SETFL, (fuzz_below(&f->rng, 2) ? O_NONBLOCK : 0) |
				   (fuzz_below(&f->rng, 2) ? O_APPEND : 0));
		break;
	case 5:
		sendfile(fd, slot(f), NULL, 4096);
		break;
	case 6:
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		other = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (other >= 0)
			close(other);
		break;
	case 7:
		pwrite(fd, f->mem.mad, MSG_LEN, 0);
		break;
	default:
		syscall(__NR_copy_file_range, fd, NULL, slot(f), NULL, 4096, 0);
	}
}

/* The last close, or one of several, of a file that others are busy with. */
static void do_reopen(struct fuzzer *f)
{
	int fd = umad_open(fuzz_one_in(&f->rng, 3) ? O_RDWR :
						     O_RDWR | O_NONBLOCK);
	struct ib_user_mad_reg_req2 req;
	uint64_t since = now_ms();
	unsigned int i, n = fuzz_below(&f->rng, 4);

	if (fd < 0)
		return;
	for (i = 0; i < n; i++) {
		fuzz_reg(&f->rng, &req);
		umad_reg2(fd, &req);
	}
	umad_reg_client(fd);
	dup2(fd, slot(f));
	close(fd);
	longest(&longest_close_ms, since);
}

/* A file on the way through a socket, and back, or lost there. */
static void do_pass(struct fuzzer *f)
{
	char control[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int pair[2], fd = slot(f);

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return;
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(int));
	sendmsg(pair[0], &msg, 0);
	if (fuzz_below(&f->rng, 2) &&
	    recvmsg(pair[1], &msg, MSG_CMSG_CLOEXEC) == 1 &&
	    CMSG_FIRSTHDR(&msg)) {
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
		write(fd, f->mem.mad, fuzz_mad(&f->rng, &f->mem, &port));
		close(fd);
	}
	close(pair[0]);
	close(pair[1]);
}

/* A page that never comes. */
static void write_for_ever(struct fuzzer *f)
{
	struct uffd_pages pages;
	size_t there = fuzz_below(&f->rng, MSG_LEN);

	if (uffd_open(&pages))
		return;
	fuzz_mad(&f->rng, &f->mem, &port);
	memcpy(pages.hole - there, f->mem.mad, there);
	if (fuzz_one_in(&f->rng, 3))
		ioctl(slot(f), IB_USER_MAD_REGISTER_AGENT2, pages.hole - 8);
	else
		write(slot(f), pages.hole - there, MSG_LEN);
}

/* What the child of do_fork() does until it is killed; nothing that locks. */
static void child(struct fuzzer *f)
{
	int fd = slot(f), i;

	for (i = fuzz_below(&f->rng, 8); i > 0; i--)
		do_write(f);
	switch (fuzz_below(&f->rng, 4)) {
	case 0:
		fcntl(fd, F_SETFL, 0);
		read(fd, f->mem.mad, MSG_LEN);
		break;
	case 1:
		do_read(f);
		break;
	case 2:
		do_reopen(f);
		break;
	default:
		write_for_ever(f);
	}
}

static void do_fork(struct fuzzer *f)
{
	bool kill_it = fuzz_below(&f->rng, 4);
	uint64_t since;
	pid_t pid;

	if (!fuzz_one_in(&f->rng, 10))
		return;
	pid = fork();
	if (!pid) {
		alarm(2);
		signal(SIGALRM, SIG_DFL);
		child(f);
		_exit(0);
	}
	if (pid < 0)
		return;
	if (kill_it) {
		sleep_ms(fuzz_below(&f->rng, 20));
		kill(pid, SIGKILL);
	}
	since = now_ms();
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (kill_it)
		longest(&longest_kill_ms, since);
}

static const struct {
	const char *name;
	void (*fn)(struct fuzzer *f);
	unsigned int weight;
} kinds[] = {
	{ "write", do_write, 40 },
	{ "reply", do_reply, 12 },
	{ "read", do_read, 16 },
	{ "register", do_register, 8 },
	{ "unregister", do_unregister, 4 },
	{ "ioctl", do_any_ioctl, 6 },
	{ "poll", do_poll, 5 },
	{ "vector", do_vector, 4 },
	{ "strange", do_strange, 5 },
	{ "reopen", do_reopen, 2 },
	{ "pass", do_pass, 2 },
	{ "fork", do_fork, 1 },
};

static void one_call(struct fuzzer *f, uint64_t call)
{
	unsigned int i, sum = 0, pick;

	fuzz_seed(&f->rng, seed, f->number, call);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		sum += kinds[i].weight;
	pick = fuzz_below(&f->rng, sum);
	for (i = 0; pick >= kinds[i].weight; i++)
		pick -= kinds[i].weight;
	f->what = kinds[i].name;
	f->now_doing = call;
	kinds[i].fn(f);
}

static void *fuzz(void *arg)
{
	struct fuzzer *f = arg;
	uint64_t call;

	f->tid = syscall(__NR_gettid);
	for (call = 0; call < calls / THREADS; call++) {
		one_call(f, call);
		__atomic_fetch_add(&calls_done, 1, __ATOMIC_RELAXED);
	}
	f->what = "done";
	return NULL;
}

/* Where the threads are, when they do not come on. */
static void show_stall(void)
{
	char path[64], text[2048];
	int i, fd;
	ssize_t n;

	for (i = 0; i < THREADS; i++) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/stack",
			 fuzzers[i].tid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		text[n < 0 ? 0 : n] = '\0';
		fprintf(stderr, "thread %d, call %llu, %s:\n%s", i,
			(unsigned long long)fuzzers[i].now_doing,
			fuzzers[i].what, text);
		close(fd);
	}
}

/* Wakes those that block, until all are done. False: they stopped coming on. */
static bool watch(struct side_call *threads)
{
	uint64_t last = 0, since = now_ms(), done;
	bool over;
	int i;

	do {
		over = true;
		for (i = 0; i < THREADS; i++)
			if (!side_done(&threads[i], 0)) {
				pthread_kill(threads[i].thread, SIGUSR1);
				over = false;
			}
		sleep_ms(50);
		done = __atomic_load_n(&calls_done, __ATOMIC_RELAXED);
		if (done != last)
			since = now_ms();
		last = done;
		if (now_ms() - since > slow * STALL * 1000) {
			show_stall();
			return false;
		}
	} while (!over);
	return true;
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* What debugfs says of open files; the module in the tree has no such file. */
static int files_left(void)
{
	char path[128], line[512];
	int n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_umad/%s/files",
		 port.node);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		fprintf(stderr, "left: %s", line);
		n++;
	}
	fclose(file);
	return n;
}

static void report(struct __test_metadata *_metadata,
		   const struct fuzz_ledger *ledger)
{
	TH_LOG("%llu calls; longest close %llu ms, end by SIGKILL %llu ms",
	       (unsigned long long)calls_done,
	       (unsigned long long)longest_close_ms,
	       (unsigned long long)longest_kill_ms);
	TH_LOG("good: %llu writes, %llu reads, %llu registrations",
	       (unsigned long long)written, (unsigned long long)records,
	       (unsigned long long)registered);
	TH_LOG("beside: %llu sent, %llu answered, %llu timed out, longest %llu us",
	       (unsigned long long)ledger->sent,
	       (unsigned long long)ledger->answered,
	       (unsigned long long)ledger->timed_out,
	       (unsigned long long)ledger->longest_us);
	TH_LOG("again: UMAD_IBDEV=%s UMAD_FUZZ_SEED=%llu UMAD_FUZZ_CALLS=%llu %s",
	       umad_ibdev(), (unsigned long long)seed, (unsigned long long)calls,
	       program_invocation_name);
}

FIXTURE(fuzz) {
	struct fuzz_ledger *ledger;
	struct side_call threads[THREADS];
};

FIXTURE_SETUP(fuzz)
{
	int i;

	ASSERT_EQ(0, umad_port_find(&port));
	seed = env_number("UMAD_FUZZ_SEED", now_us());
	slow = env_number("UMAD_SLOW", 1);
	calls = env_number("UMAD_FUZZ_CALLS", 20000);
	side_allow_kick();
	self->ledger = ledger_start(&port);
	ASSERT_NE(NULL, self->ledger);
	ASSERT_EQ(0, fuzz_helpers_start(&helpers, seed));
	epfd = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; i < SLOTS; i++) {
		slots[i] = umad_open(O_RDWR | O_NONBLOCK);
		ASSERT_LE(0, slots[i]);
	}
}

FIXTURE_TEARDOWN(fuzz)
{
	uint64_t since;
	int i;

	for (i = 0; i < SLOTS; i++) {
		since = now_ms();
		close(slots[i]);
		longest(&longest_close_ms, since);
	}
	ledger_stop(self->ledger);
	fuzz_helpers_stop(&helpers);
	report(_metadata, self->ledger);
	EXPECT_STREQ("", self->ledger->fault);
	EXPECT_EQ(self->ledger->sent,
		  self->ledger->answered + self->ledger->timed_out);
	EXPECT_LT(0, self->ledger->answered);
	/* Hostility that is all refused at the door is no test. */
	EXPECT_LT(calls / 100, written);
	EXPECT_LT(calls / 500, records);
	EXPECT_LT(calls / 500, registered);
	EXPECT_GT(slow * END_LIMIT, longest_close_ms);
	EXPECT_GT(slow * END_LIMIT, longest_kill_ms);
	close(epfd);
	EXPECT_EQ(0, files_left());
}

TEST_F_TIMEOUT(fuzz, hostile_calls_harm_nobody, 20000)
{
	int i;

	for (i = 0; i < THREADS; i++) {
		fuzzers[i].number = i;
		ASSERT_EQ(0, fuzz_mem_init(&fuzzers[i].mem));
		ASSERT_EQ(0, fuzz_helpers_hole(&helpers, &fuzzers[i].mem));
		side_start(&self->threads[i], fuzz, &fuzzers[i]);
	}
	ASSERT_TRUE(watch(self->threads)) {
		TH_LOG("the calls have stopped: UMAD_FUZZ_SEED=%llu",
		       (unsigned long long)seed);
	}
	for (i = 0; i < THREADS; i++) {
		side_join(&self->threads[i]);
		fuzz_mem_free(&fuzzers[i].mem);
	}
	EXPECT_EQ(calls / THREADS * THREADS, calls_done);
}

TEST_HARNESS_MAIN
