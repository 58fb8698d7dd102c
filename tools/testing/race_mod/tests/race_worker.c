// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The process that has the file open. See race.h. */
#include "race.h"
#include "rmpp_util.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define WRITTEN_MAX	256
#define MESSAGE_LEN	800	/* bytes of data: four segments */
#define DRAIN_MS	1500

/* What the process knows of its requests, under @lock. */
static struct book {
	pthread_mutex_t lock;
	int fd;
	char files[64];		/* the port's list of files in debugfs */
	unsigned int n;
	struct {
		uint32_t tid;
		unsigned int ends;
	} written[WRITTEN_MAX];
	bool wrong;
} book = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void wrote(uint32_t tid)
{
	pthread_mutex_lock(&book.lock);
	if (book.n < WRITTEN_MAX)
		book.written[book.n++].tid = tid;
	pthread_mutex_unlock(&book.lock);
}

static void do_write(const struct command *command)
{
	struct test_port port = { .lid = FAR_LID };
	struct umad_msg msg;
	uint32_t i;

	for (i = 0; i < command->count; i++) {
		msg_init(&msg, &port, 0, CLASS_VENDOR2, METHOD_TEST2,
			 command->tid + i);
		msg.hdr.grh_present = 0;
		msg.hdr.timeout_ms = command->timeout_ms;
		msg.hdr.retries = command->retries;
		if (msg_write(book.fd, &msg) == MSG_LEN && command->timeout_ms)
			wrote(command->tid + i);
	}
}

static void do_message(const struct command *command)
{
	struct test_port port = { .lid = FAR_LID };
	struct rmpp_msg msg = {};

	rmpp_msg_init(&msg, &port, HDR_NEW, 0, CLASS_VENDOR2, METHOD_TEST2,
		      command->tid, MESSAGE_LEN, 1);
	rmpp_user_hdr(&msg)->grh_present = 0;
	rmpp_user_hdr(&msg)->timeout_ms = command->timeout_ms;
	rmpp_user_hdr(&msg)->retries = command->retries;
	if (rmpp_msg_write(book.fd, &msg) > 0)
		wrote(command->tid);
	rmpp_msg_free(&msg);
}

/* One record; true if there was one. Each request ends once. */
static bool read_one(int wait_ms)
{
	struct pollfd pfd = { .fd = book.fd, .events = POLLIN };
	uint8_t buf[4096] __attribute__((aligned(8)));
	struct umad_msg *msg = (void *)buf;
	unsigned int i;
	int ret;

	if (poll(&pfd, 1, wait_ms) != 1 || !(pfd.revents & POLLIN))
		return false;
	ret = read(book.fd, buf, sizeof(buf));
	if (ret <= 0)
		return false;
	pthread_mutex_lock(&book.lock);
	for (i = 0; i < book.n; i++)
		if (book.written[i].tid == msg_tid(msg) &&
		    book.written[i].ends++)
			book.wrong = true;
	pthread_mutex_unlock(&book.lock);
	return true;
}

static unsigned int unended(void)
{
	unsigned int n = 0, i;

	pthread_mutex_lock(&book.lock);
	for (i = 0; i < book.n; i++)
		n += !book.written[i].ends;
	pthread_mutex_unlock(&book.lock);
	return n;
}

/* -1: a request ended twice; else how many have not ended. */
static int drain(bool wait)
{
	uint64_t end = now_ms() + DRAIN_MS;

	do {
		while (read_one(0))
			;
		if (!wait || !unended())
			break;
		read_one(10);
	} while (now_ms() < end);
	return book.wrong ? -1 : (int)unended();
}

static int register_one(void)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, CLASS_VENDOR2, 1);
	mask_set((uint64_t *)req.method_mask, METHOD_TEST);
	req.oui = TEST_OUI;
	req.rmpp_version = 1;
	return umad_reg2(book.fd, &req);
}

/* A buffer that is too short leaves the record where it is. */
static int do_read(void)
{
	uint8_t buf[TIMED_OUT_LEN - 1];

	if (read(book.fd, buf, sizeof(buf)) > 0)
		return -1;
	return read_one(50);
}

static int do_poll(void)
{
	struct pollfd pfd = { .fd = book.fd, .events = POLLIN };
	char text[256];

	umad_read_sysfs(book.files, text, sizeof(text));
	return poll(&pfd, 1, 20);
}

/* One that is refused by ib_core, one too late, and one that is good. */
static int do_register(void)
{
	register_one();
	umad_ioctl(book.fd, IB_USER_MAD_ENABLE_PKEY, NULL);
	return umad_reg_client(book.fd);
}

static int obey(const struct command *command)
{
	switch (command->order) {
	case DO_WRITE:
		do_write(command);
		return 0;
	case DO_MESSAGE:
		do_message(command);
		return 0;
	case DO_READ:
		return do_read();
	case DO_POLL:
		return do_poll();
	case DO_REGISTER:
		return do_register();
	case DO_UNREGISTER:
		return umad_unreg(book.fd, 0);
	case DO_CLOSE:
		return close(book.fd);
	case DO_DRAIN:
		return drain(command->count);
	}
	return -1;
}

static void *listen_to(void *arg)
{
	struct command command;
	int channel = (long)arg, ret;

	while (read(channel, &command, sizeof(command)) == sizeof(command)) {
		ret = obey(&command);
		if (write(channel, &ret, sizeof(ret)) != sizeof(ret))
			break;
	}
	_exit(0);
}

static void work(const int *channel, const char *node)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memory_enter();
	snprintf(book.files, sizeof(book.files),
		 "/sys/kernel/debug/ib_umad/%s/files", node);
	book.fd = umad_open_node(node, O_RDWR | O_NONBLOCK);
	if (book.fd < 0 || register_one())
		_exit(1);
	if (pthread_create(&thread, NULL, listen_to, (void *)(long)channel[1]))
		_exit(1);
	listen_to((void *)(long)channel[0]);
}

int worker_start(struct worker *worker, const char *node)
{
	int far[SIDES], pair[2], side;

	memset(worker, 0, sizeof(*worker));
	for (side = 0; side < SIDES; side++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
			return -errno;
		worker->channel[side] = pair[0];
		far[side] = pair[1];
	}
	worker->pid = fork();
	if (!worker->pid) {
		for (side = 0; side < SIDES; side++)
			close(worker->channel[side]);
		work(far, node);
	}
	for (side = 0; side < SIDES; side++)
		close(far[side]);
	return worker->pid < 0 ? -errno : 0;
}

void worker_send(struct worker *worker, int side, const struct command *command)
{
	/* A worker that has been killed hears nothing. */
	if (send(worker->channel[side], command, sizeof(*command),
		 MSG_NOSIGNAL) == sizeof(*command))
		worker->busy[side] = true;
}

/* True when the last command has been obeyed, or nobody is there to obey. */
bool worker_wait(struct worker *worker, int side, int wait_ms, int *result)
{
	struct pollfd pfd = { .fd = worker->channel[side], .events = POLLIN };
	int ret = 0;

	if (!worker->busy[side])
		return true;
	if (poll(&pfd, 1, wait_ms) != 1)
		return false;
	if (read(worker->channel[side], &ret, sizeof(ret)) != sizeof(ret))
		ret = 0;
	worker->busy[side] = false;
	if (result)
		*result = ret;
	return true;
}

/* False: it does not end. */
bool worker_end(struct worker *worker, int wait_ms)
{
	uint64_t end = now_ms() + wait_ms;
	int side;

	for (side = 0; side < SIDES; side++)
		close(worker->channel[side]);
	kill(worker->pid, SIGKILL);
	while (waitpid(worker->pid, NULL, WNOHANG) != worker->pid) {
		if (now_ms() > end)
			return false;
		usleep(500);
	}
	return true;
}
