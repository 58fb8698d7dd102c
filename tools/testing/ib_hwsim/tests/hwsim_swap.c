// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Beside a process of the same cgroup that has more than fits into it, and most of which can be
 * reclaimed: what comes is charged, and must not be dropped for that.
 */
#include "hwsim_victim.h"
#include "rmpp_util.h"

#define SWAP		"/dev/ram0"
#define SWAPPINESS	"/proc/sys/vm/swappiness"
#define A_FILE		"/dev/ram1"
#define SIZE		(2 * (size_t)LIMIT)
#define MANY		1000	/* MADs */
#define FEW		5	/* messages */
#define TASKS		12
#define MESSAGE		200000	/* bytes */
#define ANSWER		1000000
#define TIMEOUT		8000	/* ms */
#define MOST		11500000	/* bytes that it uses itself, and a buffer */
#define MORE		400000	/* and these, when the answers are there */
#define FIRST_LID	1	/* of the first port */
#define SECOND_LID	4
#define ID		7	/* of what is in messages */

FIXTURE(beside) {
	pid_t user, hogs[TASKS], reader;
	int fd;			/* at the other port */
	int go[2], done[2];
	bool there;
};

/* What the process does that is told from how much it got. */
typedef int (*receive_fn)(int fd);

FIXTURE_VARIANT(beside) {
	const char *file;	/* that the other process maps; or NULL: its memory is swapped */
	bool idle;		/* which it uses only once */
	unsigned int tasks;	/* that divide SIZE among them */
	bool reads;		/* and one more reads a file, which the kernel reads ahead */
};

FIXTURE_VARIANT_ADD(beside, swapped) { .tasks = 1 };
FIXTURE_VARIANT_ADD(beside, swapped_by_many) { .tasks = TASKS };
FIXTURE_VARIANT_ADD(beside, swapped_and_read_ahead) { .tasks = 1, .reads = true };
FIXTURE_VARIANT_ADD(beside, swapped_before) { .tasks = 1, .idle = true };
FIXTURE_VARIANT_ADD(beside, mapped) { .tasks = 1, .file = A_FILE };

static unsigned int seen;

static void use_memory(const char *file, bool idle, size_t size, int ready)
{
	int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	char *mem;
	bool first = true;
	size_t i;

	cgroup_enter(CGROUP);
	mem = file ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : map_private(size);
	for (i = 0; getppid() != 1; i = (i + 4096) % size) {
		if (file)
			seen += mem[i];
		else
			mem[i] += 1;
		if (first && i + 4096 >= size) {
			first = write(ready, "", 1) != 1;
			while (idle && getppid() != 1)
				sleep_ms(100);
		}
		if (!(i % (32 << 12)))
			sleep_ms(1);
	}
	_exit(0);
}

/* Again and again. */
static void read_file(const char *file)
{
	static char bytes[64 << 10];
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	cgroup_enter(CGROUP);
	while (fd >= 0 && getppid() != 1) {
		if (read(fd, bytes, sizeof(bytes)) <= 0)
			lseek(fd, 0, SEEK_SET);
		sleep_ms(1);
	}
	_exit(0);
}

static bool has_swap(void)
{
	return !system("modprobe -q brd rd_nr=2 rd_size=65536 && mkswap " SWAP
		       " >/dev/null && swapon " SWAP);
}

static int open_agent(int dev)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TABLE,
	};
	int fd = hwsim_open(dev, 1, O_RDWR | O_NONBLOCK), ret;

	if (fd < 0)
		return fd;
	ret = rmpp_register(fd, &agent);
	return ret < 0 ? ret : fd;
}

/* What the process is asked by, and says when it is ready and how many it got. */
static int open_ends(FIXTURE_DATA(beside) *self)
{
	if (pipe(self->go) || pipe(self->done))
		return -errno;
	self->fd = open_agent(0);
	return self->fd;
}

FIXTURE_SETUP(beside)
{
	const size_t part = SIZE / variant->tasks / 4096 * 4096;
	unsigned int i;
	char byte;

	self->there = has_swap();
	if (!self->there)
		SKIP(return, "no swap");
	if (variant->file)
		ASSERT_EQ(0, system("swapoff " SWAP));
	self->there = !cgroup_make(CGROUP) && !cgroup_set(CGROUP, "memory.max", LIMIT);
	if (!self->there)
		SKIP(return, "no memory cgroups");
	ASSERT_LE(0, open_ends(self));
	for (i = 0; i < variant->tasks; i++) {
		self->hogs[i] = fork();
		if (!self->hogs[i])
			use_memory(variant->file, variant->idle, part, self->done[1]);
	}
	self->reader = variant->reads ? fork() : -1;
	if (!self->reader)
		read_file(A_FILE);
	/* All of it. */
	for (i = 0; i < variant->tasks; i++)
		ASSERT_EQ(1, read(self->done[0], &byte, 1));
	sleep_ms(1500);
}

FIXTURE_TEARDOWN(beside)
{
	unsigned int i;

	if (!self->there)
		return;
	if (self->user)
		end_victim(self->user);
	for (i = 0; i < variant->tasks; i++)
		end_victim(self->hogs[i]);
	if (variant->reads)
		end_victim(self->reader);
	close(self->fd);
	if (!variant->file)
		EXPECT_EQ(0, system("swapoff " SWAP));
	EXPECT_EQ(0, system("rmmod brd"));
}

/* In the cgroup, at the second port; it begins at once, and waits for a word before @receive. */
static int start_user(FIXTURE_DATA(beside) *self, receive_fn receive)
{
	int fd, ret;
	char byte;

	self->user = fork();
	if (self->user)
		return read(self->done[0], &byte, 1) == 1 ? 0 : -EIO;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	cgroup_enter(CGROUP);
	fd = open_agent(1);
	if (fd < 0 || write(self->done[1], "", 1) != 1 || read(self->go[0], &byte, 1) != 1)
		_exit(1);
	ret = receive(fd);
	ret = write(self->done[1], &ret, sizeof(ret));
	_exit(0);
}

static int received(FIXTURE_DATA(beside) *self)
{
	int n = -EIO;

	return read(self->done[0], &n, sizeof(n)) == sizeof(n) ? n : -EIO;
}

static int receive_mads(int fd)
{
	struct umad_msg msg;
	int n = 0;

	while (msg_read(fd, &msg, 1000) >= 0)
		n += !msg.hdr.status;
	return n;
}

static int receive_messages(int fd)
{
	struct rmpp_msg msg = {};
	int n = 0;

	while (n < FEW && rmpp_msg_read(fd, &msg, HDR_NEW, TIMEOUT) >= 0)
		n += rmpp_msg_has(&msg, MESSAGE, ID);
	return n;
}

static int ask(int fd, int i)
{
	static const struct test_port to = { .lid = FIRST_LID };
	struct umad_msg msg;

	msg_init_usual(&msg, &to, 0, CLASS_RMPP, METHOD_TABLE, 100 + i);
	msg.hdr.timeout_ms = TIMEOUT;
	return msg_write(fd, &msg) == MSG_LEN ? 0 : -EIO;
}

static int ask_for_messages(int fd)
{
	struct rmpp_msg answer = {};
	int i, n = 0;

	for (i = 0; i < FEW; i++) {
		if (ask(fd, i) || rmpp_msg_read(fd, &answer, HDR_NEW, 2 * TIMEOUT) < 0)
			break;
		n += !rmpp_user_hdr(&answer)->status && rmpp_msg_has(&answer, ANSWER, ID);
	}
	return n;
}

/* All at once, and has to have memory before it reads. */
static int ask_and_use_memory(int fd)
{
	static const struct test_port to = { .lid = FIRST_LID };
	struct rmpp_msg answer = {};
	int i, n = 0;

	/* It has the buffer that they are read to before, too. */
	rmpp_msg_init(&answer, &to, HDR_NEW, 0, CLASS_RMPP, METHOD_TABLE, 1, ANSWER, ID);
	memset(map_private(MOST), 1, MOST);
	for (i = 0; i < FEW - 1; i++)
		if (ask(fd, i))
			return -EIO;
	sleep_ms(TIMEOUT / 2);
	memset(map_private(MORE), 1, MORE);
	while (rmpp_msg_read(fd, &answer, HDR_NEW, TIMEOUT / 4) >= 0)
		n += !rmpp_user_hdr(&answer)->status && rmpp_msg_has(&answer, ANSWER, ID);
	return n;
}

static int send_message(FIXTURE_DATA(beside) *self, uint8_t method, uint64_t tid, size_t len)
{
	static const struct test_port to = { .lid = SECOND_LID };
	struct rmpp_msg msg = {};
	int ret;

	rmpp_msg_init(&msg, &to, HDR_NEW, 0, CLASS_RMPP, method, tid, len, ID);
	rmpp_user_hdr(&msg)->grh_present = 0;
	rmpp_user_hdr(&msg)->timeout_ms = method & METHOD_RESP ? 1000 : 0;
	rmpp_user_hdr(&msg)->retries = 5;
	ret = rmpp_msg_write(self->fd, &msg);
	rmpp_msg_free(&msg);
	return ret < 0 ? ret : 0;
}

/* What comes back is not one. */
static int read_request(FIXTURE_DATA(beside) *self, struct rmpp_msg *msg)
{
	int ret;

	do {
		ret = rmpp_msg_read(self->fd, msg, HDR_NEW, 2 * TIMEOUT);
	} while (ret >= 0 && rmpp_user_hdr(msg)->status);
	return ret < 0 ? ret : 0;
}

/* MADs that are read later. */
TEST_F_TIMEOUT(beside, mads_stay, 60)
{
	static const struct test_port to = { .lid = SECOND_LID };
	struct umad_msg msg;
	int i;

	if (!self->there)
		return;
	ASSERT_EQ(0, start_user(self, receive_mads));
	for (i = 0; i < MANY; i++) {
		msg_init_usual(&msg, &to, 0, CLASS_RMPP, METHOD_TABLE, 100 + i);
		msg.hdr.timeout_ms = 0;
		ASSERT_EQ(MSG_LEN, msg_write(self->fd, &msg));
		if (!(i % 50))
			sleep_ms(10);
	}
	sleep_ms(3000);
	ASSERT_EQ(1, write(self->go[1], "", 1));
	EXPECT_EQ(MANY, received(self));
}

TEST_F_TIMEOUT(beside, messages_come, 60)
{
	int i;

	if (!self->there || variant->tasks > 1 || variant->reads)
		return;
	ASSERT_EQ(0, start_user(self, receive_messages));
	ASSERT_EQ(1, write(self->go[1], "", 1));
	for (i = 0; i < FEW; i++) {
		ASSERT_EQ(0, send_message(self, METHOD_TABLE, 100 + i, MESSAGE));
		sleep_ms(300);
	}
	EXPECT_EQ(FEW, received(self));
}

static int answer_next(FIXTURE_DATA(beside) *self)
{
	struct rmpp_msg asked = {};

	return read_request(self, &asked) ?:
	       send_message(self, METHOD_TABLE | METHOD_RESP, be64toh(rmpp_mad(&asked)->tid),
			    ANSWER);
}

TEST_F_TIMEOUT(beside, answers_come, 60)
{
	int i;

	if (!self->there || variant->tasks > 1 || variant->reads)
		return;
	if (cgroup_is_v1() && !variant->file)
		SKIP(return, "what can be swapped is not counted");
	ASSERT_EQ(0, start_user(self, ask_for_messages));
	ASSERT_EQ(1, write(self->go[1], "", 1));
	for (i = 0; i < FEW; i++)
		ASSERT_EQ(0, answer_next(self));
	EXPECT_EQ(FEW, received(self));
}

static long swapped_out(void)
{
	if (!cgroup_is_v1())
		return cgroup_get(CGROUP, "memory.swap.current");
	return cgroup_get(CGROUP, "memory.memsw.usage_in_bytes") -
	       cgroup_get(CGROUP, "memory.current");
}

/* A part of it was swapped out once. */
static int swap_and_ask(int fd, size_t len)
{
	char *mem = map_private(len);

	memset(mem, 1, len);
	if (madvise(mem, len, MADV_PAGEOUT))
		return -errno;
	if (swapped_out() < (long)len / 2)
		return -ENODATA;
	return ask_and_use_memory(fd);
}

static int swap_little_and_ask(int fd)
{
	return swap_and_ask(fd, MORE);
}

/* As much as an answer has. */
static int swap_much_and_ask(int fd)
{
	return swap_and_ask(fd, ANSWER);
}

/* The process, which uses most of its cgroup, is sent answers that this has no room for. */
static void expect_alive(struct __test_metadata *_metadata, receive_fn receive)
{
	FIXTURE_DATA(beside) data = {}, *self = &data;
	int i, n;

	ASSERT_LE(0, open_ends(self));
	ASSERT_EQ(0, start_user(self, receive));
	close(self->done[1]);
	ASSERT_EQ(1, write(self->go[1], "", 1));
	for (i = 0; i < FEW - 1; i++)
		ASSERT_EQ(0, answer_next(self));
	n = received(self);
	TH_LOG("%d of %d answers", n, FEW - 1);
	EXPECT_LT(0, n);
	end_victim(self->user);
	close(self->fd);
}

static void expect_alive_with(struct __test_metadata *_metadata, receive_fn receive,
			      const char *swappiness, long swap)
{
	if (!has_swap())
		SKIP(return, "no swap");
	ASSERT_LE(0, umad_write_sysfs(SWAPPINESS, swappiness));
	if (cgroup_make(CGROUP) || cgroup_set(CGROUP, "memory.max", LIMIT) ||
	    (swap && cgroup_set(CGROUP, "memory.swap.max", swap)))
		SKIP(return, "no memory cgroups");
	expect_alive(_metadata, receive);
	cgroup_remove(CGROUP);
	ASSERT_LE(0, umad_write_sysfs(SWAPPINESS, "60"));
	EXPECT_EQ(0, system("swapoff " SWAP));
	EXPECT_EQ(0, system("rmmod brd"));
}

/* There is swap, but the cgroup does not. */
TEST(who_is_never_swapped_lives)
{
	expect_alive_with(_metadata, ask_and_use_memory, "0", 0);
}

TEST(who_is_not_swapped_any_more_lives)
{
	expect_alive_with(_metadata, swap_little_and_ask, "0", 0);
}

/* Of version 1 the limit is of both together. */
TEST(who_may_not_swap_lives)
{
	if (!cgroup_is_v1())
		SKIP(return, "version 1 only");
	expect_alive_with(_metadata, ask_and_use_memory, "60", LIMIT);
}

TEST(who_may_not_swap_any_more_lives)
{
	if (!cgroup_is_v1())
		SKIP(return, "version 1 only");
	expect_alive_with(_metadata, swap_much_and_ask, "60", LIMIT);
}

TEST_HARNESS_MAIN
