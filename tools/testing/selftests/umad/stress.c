// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Races: everybody does everything at once while the device goes and comes.
 * Nothing here knows what a single call should give; that the kernel stays
 * whole, that every thread ends, and that the device works afterwards is the
 * test. Only methods that ib_core does not answer by itself are sent: its own
 * responder (6.12) does not survive the removal.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "umad_util.h"

#include <stdio.h>

#define CALLS_MIN	100
#define SECONDS 3
#define FILES 3

FIXTURE(stress) {
	struct test_port port;
};

static struct test_port port;
static int fds[FILES];
static int stop;
static unsigned int calls, links;

static bool going(void)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
	return !__atomic_load_n(&stop, __ATOMIC_RELAXED);
}

FIXTURE_SETUP(stress)
{
	if (umad_port_find(&self->port) == -ENODEV)
		rdma_link_add(umad_ibdev(), "dummy0");
	ASSERT_EQ(0, umad_port_find(&self->port));
	port = self->port;
	side_allow_kick();
}

/* After all that the device must do its work. */
FIXTURE_TEARDOWN(stress)
{
	struct umad_msg msg, got;
	int fd;

	if (rdma_link_index(port.ibdev) < 0)
		EXPECT_EQ(0, rdma_link_add(port.ibdev, port.netdev));
	EXPECT_EQ(0, umad_port_find(&port));
	fd = umad_open(O_RDWR);
	EXPECT_LE(0, fd);
	EXPECT_EQ(0, umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST));
	msg_init(&msg, &port, 0, CLASS_VENDOR1, METHOD_TEST, 1);
	EXPECT_EQ(MSG_LEN, msg_write(fd, &msg));
	EXPECT_EQ(MSG_LEN, msg_read(fd, &got, 10000));
	close(fd);
}

static int any_file(unsigned int *seed)
{
	return fds[rand_r(seed) % FILES];
}

static void *do_write(void *arg)
{
	unsigned int seed = (long)arg;
	struct umad_msg msg;

	while (going()) {
		msg_init(&msg, &port, rand_r(&seed) % 4, CLASS_VENDOR1,
			 rand_r(&seed) % 3 ? METHOD_TEST : METHOD_NOBODY,
			 rand_r(&seed) % 4096);
		msg.hdr.timeout_ms = rand_r(&seed) % 4 * 30;
		msg.hdr.retries = rand_r(&seed) % 4;
		if (!(rand_r(&seed) % 50))
			msg.hdr.timeout_ms = -1;
		msg_write(any_file(&seed), &msg);
	}
	return NULL;
}

static void *do_read(void *arg)
{
	unsigned int seed = (long)arg;
	struct umad_msg msg, reply;
	int fd;

	while (going()) {
		fd = any_file(&seed);
		/* Now and then with a buffer that is too small. */
		if (msg_read_len(fd, &msg, rand_r(&seed) % 8 ? MSG_LEN :
				 HDR_NEW + 50, 20) != MSG_LEN)
			continue;
		if (msg.mad.method & METHOD_RESP || rand_r(&seed) % 3 == 0)
			continue;
		msg_reply(&reply, &msg, rand_r(&seed) % 4);
		msg_write(fd, &reply);
	}
	return NULL;
}

static void *do_register(void *arg)
{
	unsigned int seed = (long)arg;

	while (going()) {
		int fd = any_file(&seed);

		umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST);
		umad_reg_client(fd);
		umad_unreg(fd, rand_r(&seed) % 6);
	}
	return NULL;
}

static void *do_reopen(void *arg)
{
	unsigned int seed = (long)arg;

	while (going()) {
		int fd = umad_open(O_RDWR | O_NONBLOCK);

		if (fd < 0)
			continue;
		umad_reg_server(fd, CLASS_VENDOR1, METHOD_TEST);
		umad_reg_client(fd);
		/*
		 * Closes the old file under everybody, but not its number:
		 * that would soon be somebody's netlink socket.
		 */
		dup2(fd, any_file(&seed));
		close(fd);
		sleep_ms(rand_r(&seed) % 20);
	}
	return NULL;
}

static void *do_links(void *arg)
{
	unsigned int seed = (long)arg;

	while (going()) {
		sleep_ms(50 + rand_r(&seed) % 200);
		if (!rdma_link_del(port.ibdev))
			links++;
		sleep_ms(rand_r(&seed) % 30);
		rdma_link_add(port.ibdev, port.netdev);
	}
	return NULL;
}

static void *do_look(void *arg)
{
	struct rdma_chardev cdev;
	char text[256], path[128];

	(void)arg;
	snprintf(path, sizeof(path),
		 "/sys/kernel/debug/ib_umad/%s/counters", port.node);
	while (going()) {
		umad_read_sysfs("/sys/class/infiniband_mad/umad0/ibdev", text,
				sizeof(text));
		umad_read_sysfs("/sys/class/infiniband_mad/umad0/port", text,
				sizeof(text));
		umad_read_sysfs(path, text, sizeof(text));
		rdma_get_chardev(port.ibdev, 1, "umad", &cdev);
		sleep_ms(1);
	}
	return NULL;
}

static void run(struct __test_metadata *_metadata, void *(*const *jobs)(void *),
		int n)
{
	struct side_call threads[16];
	int i;

	for (i = 0; i < FILES; i++) {
		fds[i] = umad_open(O_RDWR | O_NONBLOCK);
		ASSERT_LE(0, fds[i]);
		umad_reg_client(fds[i]);
		umad_reg_client(fds[i]);
	}
	for (i = 0; i < n; i++)
		side_start(&threads[i], jobs[i], (void *)(i + 1l));
	/* A slow host takes longer for something to happen. */
	for (i = 0; i < 5 && (!i || __atomic_load_n(&calls, __ATOMIC_RELAXED) <= CALLS_MIN); i++)
		sleep_ms(SECONDS * 1000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < n; i++) {
		EXPECT_TRUE(side_done(&threads[i], 20000)) {
			TH_LOG("thread %d does not end", i);
		}
		side_join(&threads[i]);
	}
	for (i = 0; i < FILES; i++)
		close(fds[i]);
	TH_LOG("%u calls, %u removals", calls, links);
	/* A stress that did nothing is no test. */
	EXPECT_LT(CALLS_MIN, calls);
}

TEST_F_TIMEOUT(stress, calls_on_shared_files, 60)
{
	static void *(*const jobs[])(void *) = {
		do_write, do_write, do_read, do_read, do_register, do_reopen,
	};

	run(_metadata, jobs, ARRAY_SIZE(jobs));
}

TEST_F_TIMEOUT(stress, calls_while_the_device_goes_and_comes, 60)
{
	static void *(*const jobs[])(void *) = {
		do_write, do_read, do_register, do_reopen, do_links, do_look,
	};

	run(_metadata, jobs, ARRAY_SIZE(jobs));
	EXPECT_LT(0, links);
}

TEST_F_TIMEOUT(stress, open_and_close_against_removal, 60)
{
	static void *(*const jobs[])(void *) = {
		do_reopen, do_reopen, do_reopen, do_links,
	};

	run(_metadata, jobs, ARRAY_SIZE(jobs));
	EXPECT_LT(0, links);
}

TEST_F_TIMEOUT(stress, register_against_removal, 60)
{
	static void *(*const jobs[])(void *) = {
		do_register, do_register, do_reopen, do_links,
	};

	run(_metadata, jobs, ARRAY_SIZE(jobs));
	EXPECT_LT(0, links);
}

static void *do_issm(void *arg)
{
	(void)arg;
	while (going())
		close(umad_open_node("issm0", O_RDONLY | O_NONBLOCK));
	return NULL;
}

static void *do_issm_wait(void *arg)
{
	(void)arg;
	while (going()) {
		int fd = umad_open_node("issm0", O_RDONLY);

		sleep_ms(3);
		close(fd);
	}
	return NULL;
}

TEST_F_TIMEOUT(stress, issm_open_and_close, 60)
{
	static void *(*const jobs[])(void *) = {
		do_issm, do_issm_wait, do_issm_wait,
	};

	if (access("/dev/infiniband/issm0", F_OK))
		return;
	run(_metadata, jobs, ARRAY_SIZE(jobs));
}

TEST_HARNESS_MAIN
