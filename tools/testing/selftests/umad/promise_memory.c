// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a program, or a peer, can make the kernel hold: it is charged to the
 * memory cgroup of who opened the file, so that memory.max bounds all of it;
 * what has a bound of its own stops there; and close() gives it back. Prints
 * what was held, and how much of it was charged.
 */
#include "kselftest_harness.h"
#include "promise_cgroup.h"
#include "promise_load.h"

#include <stdio.h>
#include <sys/mman.h>

#define CGROUP		"promise-memory"
#define MIB		(1l << 20)
#define LIMIT		300000	/* ms */
/* Of 100 bytes held, so many have to be charged: ib_core's and the device's
 * objects, and what a slab has beside its objects, are not all of the owner's.
 */
#define CHARGED		70

/* Filled by the process that holds, in its cgroup. */
static struct held {
	long n;			/* things held */
	int error;		/* of the call that was refused, or 0 */
	long charged, used;	/* bytes before: of the cgroup, of the host */
} *held;

FIXTURE(memory) {
	struct test_port port;
	struct loader loader;
	long charged, used;
	long dying;
	long counter;
	long old;
	int ret;
};

FIXTURE_VARIANT(memory) {
	const char *name;
	load_fn load;
	bool until_max;		/* more of it until the cgroup is full */
	long least;		/* bytes that it may take then */
	const char *param;	/* parameter with the bound of the thing, */
	long bound;		/* its value, */
	const char *counter;	/* and what counts beyond it */
	long most;		/* bytes of the host that may be held then */
};

/* The number that a line of a file begins with this word has, or 0. */
static long number(const char *path, const char *word)
{
	char line[128], name[64];
	long value, found = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %ld", name, &value) == 2 &&
		    !strcmp(name, word))
			found = value;
	fclose(file);
	return found;
}

/*
 * Bytes that the kernel holds: all slabs of the host, charged or not, and the
 * pages beside slabs of this cgroup. (Free memory says little: a processor
 * keeps some 10 MiB of pages that are neither.)
 */
static long kernel_bytes(void)
{
	static const char stat[] = "/sys/fs/cgroup/" CGROUP "/memory.stat";

	/* What is counted for each processor joins the sums. */
	umad_write_sysfs("/proc/sys/vm/stat_refresh", "1");
	return number("/proc/meminfo", "SUnreclaim:") * 1024 +
	       number(stat, "kernel") - number(stat, "slab");
}

/* Removed cgroups that somebody still has a reference to. */
static long dying_cgroups(void)
{
	return number("/sys/fs/cgroup/cgroup.stat", "nr_dying_descendants");
}

/* In its cgroup from here on, with a file of its own. */
static int begin(struct load *load)
{
	int ret = cgroup_enter(CGROUP);

	if (!ret)
		ret = load_open(load, O_RDWR | O_NONBLOCK);
	if (ret < 0)
		return ret;
	held->charged = cgroup_get(CGROUP, "memory.current");
	held->used = kernel_bytes();
	return load_client(load, load->fds[0]);
}

/* write() until it is refused, or @n times. */
static int write_many(struct load *load, struct umad_msg *msg, int n)
{
	int ret;

	for (held->n = 0; held->n < n; held->n++) {
		msg->mad.tid = htobe64(held->n);
		ret = msg_write(load->fds[0], msg);
		if (ret < 0) {
			held->error = -ret;
			break;
		}
	}
	return 0;
}

static int hold_requests(struct load *load)
{
	struct umad_msg msg;
	int ret = begin(load);

	if (ret < 0)
		return ret;
	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	msg.hdr.timeout_ms = -1;
	return write_many(load, &msg, env_long("UMAD_SENDS", 8000));
}

static int hold_timeouts(struct load *load)
{
	struct umad_msg msg;
	int ret = begin(load);

	if (ret < 0)
		return ret;
	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_NOBODY, 0);
	msg.hdr.timeout_ms = 1;
	ret = write_many(load, &msg, env_long("UMAD_SENDS", 8000));
	sleep_ms(500);
	return ret;
}

static int hold_unread(struct load *load)
{
	struct umad_msg msg;
	int ret = begin(load);

	if (ret >= 0)
		ret = umad_reg_server(load->fds[0], CLASS_VENDOR1, METHOD_TEST);
	if (ret < 0)
		return ret;
	msg_init(&msg, &load->port, 0, CLASS_VENDOR1, METHOD_TEST, 0);
	ret = write_many(load, &msg, env_long("UMAD_SENDS", 8000));
	sleep_ms(500);
	return ret;
}

static int hold_messages_sent(struct load *load)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
	};
	struct rmpp_msg msg = { 0 };
	int id, ret = begin(load);

	id = ret < 0 ? ret : rmpp_register(load->fds[0], &agent);
	if (id < 0)
		return id;
	/* Each is another: equal ones take memory once. */
	for (held->n = 0; held->n < 64; held->n++) {
		rmpp_msg_init(&msg, &load->port, HDR_NEW, id, CLASS_RMPP,
			      METHOD_NOBODY, held->n, 256 << 10, held->n);
		rmpp_user_hdr(&msg)->timeout_ms = -1;
		ret = rmpp_msg_write(load->fds[0], &msg);
		if (ret < 0) {
			held->error = -ret;
			break;
		}
		/* The copy of the program's own is part of what is charged. */
		if (!held->n) {
			held->charged = cgroup_get(CGROUP, "memory.current");
			held->used = kernel_bytes();
		}
	}
	sleep_ms(200);
	return 0;
}

/* Messages of one segment without data, which nobody acknowledges, sent for ever. */
static int hold_messages_empty(struct load *load)
{
	const struct rmpp_agent agent = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
	};
	int id, n = env_long("UMAD_SENDS", 4000), ret = begin(load);
	struct rmpp_msg msg = { 0 };

	id = ret < 0 ? ret : rmpp_register(load->fds[0], &agent);
	if (id < 0)
		return id;
	for (held->n = 0; held->n < n; held->n++) {
		rmpp_msg_init(&msg, &load->port, HDR_NEW, id, CLASS_RMPP,
			      METHOD_NOBODY, held->n, 0, 1);
		rmpp_user_hdr(&msg)->timeout_ms = 2000;
		rmpp_user_hdr(&msg)->retries = 0x7fffffff;
		ret = rmpp_msg_write(load->fds[0], &msg);
		if (ret < 0) {
			held->error = -ret;
			break;
		}
	}
	sleep_ms(200);
	return 0;
}

/* What has been read is held no more. */
static int hold_messages_read(struct load *load)
{
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.method = METHOD_TABLE,
	};
	const struct rmpp_agent client = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
	};
	struct rmpp_msg msg = { 0 }, got = { 0 };
	int id, fd, ret = begin(load);

	fd = ret < 0 ? ret : load_open(load, O_RDWR | O_NONBLOCK);
	id = fd < 0 ? fd : rmpp_register(fd, &client);
	if (id < 0)
		return id;
	ret = rmpp_register(load->fds[0], &server);
	for (held->n = 0; held->n < 64 && ret >= 0; held->n++) {
		rmpp_msg_init(&msg, &load->port, HDR_NEW, id, CLASS_RMPP,
			      METHOD_TABLE, held->n, 128 << 10, 1);
		ret = rmpp_msg_write(fd, &msg);
		if (ret > 0)
			ret = rmpp_msg_read(load->fds[0], &got, HDR_NEW, LIMIT);
	}
	rmpp_msg_free(&msg);
	rmpp_msg_free(&got);
	return ret < 0 ? ret : 0;
}

static int hold_half_received(struct load *load)
{
	int ret = begin(load);

	return ret < 0 ? ret : load_half_received(load);
}

static int hold_messages_begun(struct load *load)
{
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1,
		.method = METHOD_TABLE,
	};
	const struct rmpp_pkt pkt = {
		.version = 1, .type = RMPP_DATA,
		.flags = RMPP_ACTIVE | RMPP_FIRST, .seg = 1,
		.len = 1000 * RMPP_PAYLOAD,
	};
	struct umad_msg msg;
	int ret = begin(load);

	if (ret >= 0)
		ret = rmpp_register(load->fds[0], &server);
	if (ret < 0)
		return ret;
	msg_init(&msg, &load->port, 0, CLASS_RMPP, METHOD_TABLE, 0);
	rmpp_put(msg.data, &pkt);
	ret = write_many(load, &msg, 2000);
	sleep_ms(500);
	return ret;
}

/* What is held need not grow with time either. */
static int hold_retries(struct load *load)
{
	int ret = begin(load);

	if (ret >= 0)
		ret = load_retries(load);
	sleep_ms(5000);
	held->n = 300;
	return ret;
}

FIXTURE_VARIANT_ADD(memory, requests) {
	.name = "requests", .load = hold_requests,
	.until_max = true, .least = 3 * MIB, .most = 40 * MIB,
};

FIXTURE_VARIANT_ADD(memory, timeouts) {
	.name = "timeouts", .load = hold_timeouts,
	.until_max = true, .most = 2 * MIB,
};

FIXTURE_VARIANT_ADD(memory, unread) {
	.name = "unread", .load = hold_unread,
	.param = "recv_budget", .bound = MIB,
	.counter = "recv_dropped_budget", .most = 2 * MIB,
};

FIXTURE_VARIANT_ADD(memory, messages_sent) {
	.name = "messages_sent", .load = hold_messages_sent,
	.until_max = true, .most = 32 * MIB,
};

FIXTURE_VARIANT_ADD(memory, messages_empty) {
	.name = "messages_empty", .load = hold_messages_empty,
	.most = 32 * MIB,
};

FIXTURE_VARIANT_ADD(memory, messages_read) {
	.name = "messages_read", .load = hold_messages_read,
	.most = 4 * MIB,
};

FIXTURE_VARIANT_ADD(memory, half_received) {
	.name = "half_received", .load = hold_half_received,
	.most = 4 * MIB,
};

FIXTURE_VARIANT_ADD(memory, messages_begun) {
	.name = "messages_begun", .load = hold_messages_begun,
	.param = "rmpp_file_transfers", .bound = 100,
	.counter = "rmpp_refused", .most = 4 * MIB,
};

FIXTURE_VARIANT_ADD(memory, retries) {
	.name = "retries", .load = hold_retries,
	.most = 4 * MIB,
};

FIXTURE_SETUP(memory)
{
	const char *only = getenv("UMAD_LOAD");

	if (only && !strstr(only, variant->name))
		SKIP(return, "not asked for");
	ASSERT_EQ(0, umad_port_find(&self->port));
	held = mmap(NULL, sizeof(*held), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, held);
	held->n = 0; /* Its page is not charged to the cgroup. */
	cgroup_remove(CGROUP);
	ASSERT_EQ(0, cgroup_make(CGROUP));
	self->dying = dying_cgroups();
	if (variant->param) {
		self->old = rmpp_param_set(variant->param, variant->bound);
		ASSERT_LE(0, self->old);
		self->counter = umad_counter(&self->port, variant->counter);
	}
	self->ret = 1;
}

FIXTURE_TEARDOWN(memory)
{
	int i;

	if (!self->ret)
		return;
	loader_kill(&self->loader, LIMIT);
	if (variant->param)
		rmpp_param_set(variant->param, self->old);
	cgroup_remove(CGROUP);
	/* Without the process nothing keeps it. */
	for (i = 0; i < 100 && dying_cgroups() > self->dying; i++)
		sleep_ms(100);
	EXPECT_GE(self->dying, dying_cgroups());
}

TEST_F_TIMEOUT(memory, is_bounded_charged_and_given_back, 600)
{
	if (!self->ret)
		return;
	ASSERT_EQ(0, loader_start(&self->loader, variant->load, LIMIT));
	self->used = kernel_bytes() - held->used;
	self->charged = cgroup_get(CGROUP, "memory.current") - held->charged;
	TH_LOG("%s: %ld held in %ld KiB, %ld KiB of them charged; errno %d",
	       variant->name, held->n, self->used >> 10, self->charged >> 10,
	       held->error);
	EXPECT_GE(variant->most, self->used);
	EXPECT_LE(self->used * CHARGED / 100, self->charged + MIB / 4);
	if (variant->param) {
		self->counter = umad_counter(&self->port, variant->counter) -
				self->counter;
		TH_LOG("%s: %ld beyond the bound", variant->name,
		       self->counter);
		EXPECT_LT(0, self->counter);
	}
	/* The process goes on, its file does not. */
	EXPECT_LE(0, loader_tell(&self->loader, LOADER_CLOSE, LIMIT));
	sleep_ms(1000);
	self->used = kernel_bytes() - held->used;
	self->charged = cgroup_get(CGROUP, "memory.current") - held->charged;
	TH_LOG("%s: after close() %ld KiB, %ld KiB charged", variant->name,
	       self->used >> 10, self->charged >> 10);
	EXPECT_GE(MIB / 4, self->charged);
	EXPECT_GE(2 * MIB, self->used);
}

/* At memory.max it stops, with an errno; nobody is killed for it. */
TEST_F_TIMEOUT(memory, stops_at_memory_max, 600)
{
	int ret;

	if (!self->ret || !variant->until_max)
		return;
	ASSERT_EQ(0, cgroup_set(CGROUP, "memory.max", 4 * MIB));
	setenv("UMAD_SENDS", "60000", 1);
	ret = loader_start(&self->loader, variant->load, LIMIT);
	self->used = kernel_bytes() - held->used;
	TH_LOG("%s: %ld held in %ld KiB; errno %d%s", variant->name, held->n,
	       self->used >> 10, held->error,
	       ret == -ESRCH ? ", killed by the kernel" : "");
	EXPECT_LE(0, ret);
	EXPECT_EQ(ENOMEM, held->error);
	EXPECT_LE(variant->least, self->used);
	EXPECT_GE(8 * MIB, self->used);
}

#define FULL_FILES	32
#define FULL_MADS	250	/* for each: some 125 KiB, twice what is allowed in all */

static int open_servers(struct load *load)
{
	int i, fd, ret = cgroup_enter(CGROUP);

	(void)load;
	for (i = 0; i < FULL_FILES && ret >= 0; i++) {
		fd = umad_open(O_RDWR | O_NONBLOCK);
		ret = fd < 0 ? fd : umad_reg_server(fd, CLASS_VENDOR1, 1 + i);
	}
	return ret < 0 ? ret : 0;
}

static void below(char *name, size_t len, int i)
{
	snprintf(name, len, CGROUP "/%d", i);
}

/* Each of them from a cgroup of its own, in that one, as a container may make them. */
static int open_servers_below(struct load *load)
{
	char name[64];
	int i, fd, ret = umad_write_sysfs("/sys/fs/cgroup/" CGROUP "/cgroup.subtree_control",
					  "+memory");

	(void)load;
	for (i = 0; i < FULL_FILES && ret >= 0; i++) {
		below(name, sizeof(name), i);
		ret = cgroup_make(name);
		if (!ret)
			ret = cgroup_enter(name);
		fd = ret ? ret : umad_open(O_RDWR | O_NONBLOCK);
		ret = fd < 0 ? fd : umad_reg_server(fd, CLASS_VENDOR1, 1 + i);
	}
	return ret < 0 ? ret : 0;
}

FIXTURE(full) {
	struct test_port port;
	struct loader loader;
};

FIXTURE_SETUP(full)
{
	ASSERT_EQ(0, umad_port_find(&self->port));
	cgroup_remove(CGROUP);
	ASSERT_EQ(0, cgroup_make(CGROUP));
}

FIXTURE_TEARDOWN(full)
{
	char name[64];
	int i;

	loader_kill(&self->loader, LIMIT);
	for (i = 0; i < FULL_FILES; i++) {
		below(name, sizeof(name), i);
		if (cgroup_get(name, "memory.current") >= 0)
			cgroup_remove(name);
	}
	cgroup_remove(CGROUP);
}

static void expect_reserve(struct __test_metadata *_metadata, FIXTURE_DATA(full) *self,
			   load_fn open_files)
{
	long used, received;
	struct umad_msg msg;
	int i, fd;

	ASSERT_EQ(0, loader_start(&self->loader, open_files, LIMIT));
	fd = umad_open(O_RDWR);
	ASSERT_LE(0, fd);
	ASSERT_LE(0, umad_reg_client(fd));
	ASSERT_EQ(0, cgroup_set(CGROUP, "memory.max",
				cgroup_get(CGROUP, "memory.current")));
	used = kernel_bytes();
	received = umad_counter(&self->port, "recv_delivered");
	for (i = 0; i < FULL_FILES * FULL_MADS; i++) {
		msg_init(&msg, &self->port, 0, CLASS_VENDOR1, 1 + i % FULL_FILES, i);
		ASSERT_EQ(MSG_LEN, msg_write(fd, &msg));
	}
	sleep_ms(500);
	received = umad_counter(&self->port, "recv_delivered") - received;
	used = kernel_bytes() - used;
	TH_LOG("%ld received, %ld KiB", received, used >> 10);
	EXPECT_LT(100, received);
	EXPECT_GE(2 * MIB, used);
	close(fd);
}

/* What it has not been charged for is bounded, however many files it has. */
TEST_F_TIMEOUT(full, cgroup_with_many_files_takes_no_more_than_its_reserve, 600)
{
	expect_reserve(_metadata, self, open_servers);
}

TEST_F_TIMEOUT(full, cgroup_with_many_below_it_takes_no_more_than_its_reserve, 600)
{
	expect_reserve(_metadata, self, open_servers_below);
}

TEST_HARNESS_MAIN
