// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a process does that has the file of another, or that has very many files: others go
 * on. For a guest on the instruction clock.
 */
#include "kselftest_harness.h"
#include "rdma_link.h"
#include "rmpp_util.h"
#include "umad_util.h"

#include <signal.h>
#include <sys/wait.h>

#define THREADS	64
#define FILES	300
#define EACH	60
#define TIMEOUT	3000	/* ms */

FIXTURE(others) {
	struct test_port port;
	int fd;			/* agent 0: a client */
	int lent;		/* the same, for another process */
	int srv;		/* agent 0: a server, agent 1: one of messages */
	struct rmpp_msg out, in;
	pid_t pid;
};

FIXTURE_SETUP(others)
{
	const struct rmpp_agent client = { .mgmt_class = CLASS_RMPP, .rmpp_version = 1 };
	const struct rmpp_agent server = {
		.mgmt_class = CLASS_RMPP, .rmpp_version = 1, .method = METHOD_TABLE,
	};

	ASSERT_EQ(0, umad_port_find(&self->port));
	self->fd = umad_open(O_RDWR);
	self->lent = umad_open(O_RDWR);
	self->srv = umad_open(O_RDWR | O_NONBLOCK);
	ASSERT_EQ(0, umad_reg_client(self->fd));
	ASSERT_EQ(1, rmpp_register(self->fd, &client));
	ASSERT_EQ(0, umad_reg_client(self->lent));
	ASSERT_EQ(0, umad_reg_server(self->srv, CLASS_VENDOR1, METHOD_TEST));
	ASSERT_EQ(1, rmpp_register(self->srv, &server));
}

FIXTURE_TEARDOWN(others)
{
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	close(self->fd);
	close(self->lent);
	close(self->srv);
	rmpp_msg_free(&self->out);
	rmpp_msg_free(&self->in);
}

static FIXTURE_DATA(others) *shared;

/* To neighbours that do not answer. */
static void *resolve(void *arg)
{
	struct umad_msg msg;
	unsigned int i;

	for (i = 0;; i++) {
		msg_init_silent(&msg, &shared->port, (long)arg, i);
		msg_write(shared->lent, &msg);
	}
	return NULL;
}

/* Of one opener they are, but not of one process. */
TEST_F_TIMEOUT(others, writer_to_a_lent_file_does_not_hold_the_lender_up, 120)
{
	uint64_t start, longest = 0;
	pthread_t thread;
	long i;

	ASSERT_EQ(0, netdev_arp(self->port.netdev, true));
	shared = self;
	self->pid = fork();
	if (!self->pid) {
		for (i = 1; i <= THREADS; i++)
			pthread_create(&thread, NULL, resolve, (void *)i);
		for (;;)
			pause();
	}
	sleep_ms(1000);
	for (i = 0; i < 50; i++) {
		start = now_us();
		ASSERT_EQ(0, msg_round_trip(self->fd, self->srv, &self->port, i));
		if (now_us() - start > longest)
			longest = now_us() - start;
	}
	TH_LOG("at most %llu us", (unsigned long long)longest);
	EXPECT_GT(100000, longest);
	EXPECT_EQ(0, netdev_arp(self->port.netdev, false));
}

/* Its requests time out at one moment, all. */
static void time_out_together(const struct test_port *port)
{
	uint64_t due = now_ms() + TIMEOUT;
	struct umad_msg msg;
	int fd[FILES], i;

	for (i = 0; i < FILES; i++) {
		fd[i] = umad_open(O_RDWR);
		umad_reg_client(fd[i]);
	}
	for (i = 0; i < FILES * EACH; i++) {
		msg_init(&msg, port, 0, CLASS_VENDOR1, METHOD_NOBODY, i / FILES);
		msg.hdr.timeout_ms = due - now_ms();
		msg_write(fd[i % FILES], &msg);
	}
}

TEST_F_TIMEOUT(others, timeouts_of_many_files_do_not_hold_messages_up, 120)
{
	uint64_t end = now_ms() + TIMEOUT + 1500, start, longest = 0;
	int n, ret;

	self->pid = fork();
	if (!self->pid) {
		time_out_together(&self->port);
		for (;;)
			pause();
	}
	sleep_ms(TIMEOUT - 500);
	for (n = 0; now_ms() < end; n++) {
		start = now_us();
		rmpp_msg_init(&self->out, &self->port, HDR_NEW, 1, CLASS_RMPP, METHOD_TABLE,
			      n, 4096, n);
		rmpp_user_hdr(&self->out)->timeout_ms = 0;
		ASSERT_LT(0, rmpp_msg_write(self->fd, &self->out));
		do {
			ret = rmpp_msg_read(self->srv, &self->in, HDR_NEW, 5000);
		} while (ret > 0 && rmpp_user_hdr(&self->in)->id != 1);
		ASSERT_LT(0, ret);
		if (now_us() - start > longest)
			longest = now_us() - start;
	}
	TH_LOG("%d messages, at most %llu us", n, (unsigned long long)longest);
	EXPECT_LT(100, n);
	EXPECT_GT(20000, longest);
}

TEST_HARNESS_MAIN
