// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The ledger of a well-behaved process. See fuzz_ledger.h. */
#include "fuzz_ledger.h"
#include "fuzz_gen.h"
#include "promise_load.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define OPEN		16	/* requests outstanding */
#define TIMEOUT		4000	/* ms, UMAD_SLOW times; under load nothing is lost */
#define RETRIES		3
#define NOBODY_TIMEOUT	50
#define OVERDUE		((TIMEOUT) * (RETRIES + 3))
#define COOKIE		64	/* in the MAD */

struct entry {
	bool open;
	bool nobody;	/* no answer is due */
	uint32_t tid;
	uint64_t cookie;
	uint64_t since_us;
};

struct book {
	struct fuzz_ledger *ledger;
	const struct test_port *port;
	int client, server;
	struct entry entry[OPEN];
	uint32_t next_tid;
	long slow;
};

static void fault(struct book *book, const char *what, long a, long b)
{
	char *text = book->ledger->fault;

	if (!*text)
		snprintf(text, sizeof(book->ledger->fault),
			 "%s (%ld, %ld)", what, a, b);
}

static void ask(struct book *book, struct entry *entry)
{
	struct umad_msg msg;
	int ret;

	entry->tid = ++book->next_tid;
	entry->nobody = entry->tid % 16 == 0;
	entry->cookie = entry->tid * 0x9e3779b97f4a7c15ull;
	msg_init(&msg, book->port, 0, CLASS_LEDGER,
		 entry->nobody ? METHOD_NOBODY : METHOD_TEST, entry->tid);
	msg.hdr.timeout_ms = entry->nobody ? NOBODY_TIMEOUT :
			     TIMEOUT * book->slow;
	msg.hdr.retries = entry->nobody ? 0 : RETRIES;
	memcpy(msg.data + COOKIE, &entry->cookie, sizeof(entry->cookie));
	entry->since_us = now_us();
	ret = msg_write(book->client, &msg);
	if (ret != MSG_LEN) {
		fault(book, "write of a request", ret, entry->tid);
		return;
	}
	entry->open = true;
	book->ledger->sent++;
}

static void serve(struct book *book)
{
	struct umad_msg req, reply;
	int ret;

	while ((ret = read(book->server, &req, MSG_LEN)) == MSG_LEN) {
		msg_reply(&reply, &req, 0);
		ret = msg_write(book->server, &reply);
		if (ret != MSG_LEN)
			fault(book, "write of an answer", ret, msg_tid(&req));
		else
			book->ledger->served++;
	}
	if (ret >= 0 || errno != EAGAIN)
		fault(book, "read of the server", ret, errno);
}

static void settle(struct book *book, struct entry *entry,
		   const struct umad_msg *got, int len)
{
	struct fuzz_ledger *ledger = book->ledger;
	uint64_t took = now_us() - entry->since_us;

	entry->open = false;
	if (got->hdr.status) {
		ledger->timed_out++;
		if (!entry->nobody || got->hdr.status != ETIMEDOUT ||
		    len != TIMED_OUT_LEN)
			fault(book, "a request timed out",
			      got->hdr.status, entry->tid);
		return;
	}
	ledger->answered++;
	if (took > ledger->longest_us)
		ledger->longest_us = took;
	if (entry->nobody || len != MSG_LEN ||
	    memcmp(got->data + COOKIE, &entry->cookie, sizeof(entry->cookie)))
		fault(book, "a wrong answer", len, entry->tid);
}

static void hear(struct book *book)
{
	struct umad_msg got;
	int ret, i;

	while ((ret = read(book->client, &got, MSG_LEN)) > 0) {
		for (i = 0; i < OPEN; i++)
			if (book->entry[i].open &&
			    book->entry[i].tid == msg_tid(&got))
				break;
		if (i < OPEN)
			settle(book, &book->entry[i], &got, ret);
		else
			fault(book, "ended twice, or never sent", msg_tid(&got),
			      got.hdr.status);
	}
	if (ret >= 0 || errno != EAGAIN)
		fault(book, "read of the client", ret, errno);
}

static int turn(struct book *book, bool more)
{
	struct pollfd pfd[2] = {
		{ .fd = book->client, .events = POLLIN },
		{ .fd = book->server, .events = POLLIN },
	};
	uint64_t now = now_us();
	int open = 0, i;

	for (i = 0; i < OPEN; i++) {
		struct entry *entry = &book->entry[i];

		if (!entry->open && more)
			ask(book, entry);
		open += entry->open;
		if (entry->open && now > entry->since_us &&
		    now - entry->since_us > book->slow * OVERDUE * 1000ull) {
			fault(book, "never ended", entry->tid, entry->nobody);
			entry->open = false;
		}
	}
	poll(pfd, 2, 10);
	serve(book);
	hear(book);
	return open;
}

static void keep_book(struct fuzz_ledger *ledger, const struct test_port *port)
{
	struct book book = {
		.ledger = ledger, .port = port, .slow = env_long("UMAD_SLOW", 1),
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	book.client = umad_open(O_RDWR | O_NONBLOCK);
	book.server = umad_open(O_RDWR | O_NONBLOCK);
	if (umad_reg_client(book.client) ||
	    umad_reg_server(book.server, CLASS_LEDGER, METHOD_TEST))
		fault(&book, "register", book.client, book.server);
	__atomic_store_n(&ledger->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&ledger->stop, __ATOMIC_ACQUIRE)) {
		turn(&book, true);
		sleep_ms(2);
	}
	while (turn(&book, false))
		;
	/* What has ended stays ended. */
	sleep_ms(200);
	turn(&book, false);
	close(book.client);
	close(book.server);
}

/* NULL when it cannot be started. */
struct fuzz_ledger *ledger_start(const struct test_port *port)
{
	struct fuzz_ledger *ledger;
	pid_t pid;

	ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ledger == MAP_FAILED)
		return NULL;
	pid = fork();
	if (!pid) {
		keep_book(ledger, port);
		_exit(0);
	}
	ledger->pid = pid;
	while (pid > 0 &&
	       !__atomic_load_n(&ledger->ready, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	return pid > 0 ? ledger : NULL;
}

/* Its last requests have ended when this returns. */
void ledger_stop(struct fuzz_ledger *ledger)
{
	int status;

	__atomic_store_n(&ledger->stop, 1, __ATOMIC_RELEASE);
	if (waitpid(ledger->pid, &status, 0) != ledger->pid || status)
		snprintf(ledger->fault, sizeof(ledger->fault),
			 "the well-behaved process ended with %#x", status);
}
