// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A refused registration says why: by a counter, by a trace event, and by one line of the
 * kernel log that names the process, the port, what was asked for and who has it. Each
 * test has a port of its own, as the lines are limited by port.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define DEVICE	36
#define NAME	"hwsim36"
#define COMM	"registrar"
#define TRACING	"/sys/kernel/tracing/"
#define EVENT	TRACING "events/ib_umad/ib_umad_register_refused/enable"
#define MARK	"cannot register"
#define MODULE	"/lib/umad/ours/ib_umad.ko"
#define LEVEL_INFO	6

struct log {
	int fd;
	const char *mark;	/* of what is looked for */
	int lines;		/* of that */
	int level;		/* of the last one */
	char last[1024];
};

static int log_open(struct log *log)
{
	memset(log, 0, sizeof(*log));
	log->mark = MARK;
	log->fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (log->fd < 0 || lseek(log->fd, 0, SEEK_END))
		return -errno;
	return 0;
}

/* A record is "PRIORITY,SEQUENCE,TIME,FLAGS;TEXT", and lines that begin with a blank. */
static void log_read(struct log *log)
{
	char text[2048], *from;
	ssize_t n;

	for (;;) {
		n = read(log->fd, text, sizeof(text) - 1);
		if (n < 0 && errno == EPIPE)
			continue;
		if (n <= 0)
			return;
		text[n] = '\0';
		from = strchr(text, ';');
		if (!from || !strstr(from, log->mark))
			continue;
		log->lines++;
		log->level = atoi(text) & 7;
		from[strcspn(from, "\n")] = '\0';
		snprintf(log->last, sizeof(log->last), "%.1000s", from + 1);
	}
}

FIXTURE(refused) {
	struct test_port port;
	struct log log;
	int fd;
};

static void make(struct __test_metadata *_metadata, FIXTURE_DATA(refused) *self,
		 const char *options)
{
	ASSERT_EQ(0, prctl(PR_SET_NAME, COMM));
	ASSERT_EQ(0, hwsim_new(DEVICE, options));
	ASSERT_EQ(0, hwsim_umad(DEVICE, 1, "umad", self->port.node,
				sizeof(self->port.node)));
	self->fd = umad_open_node(self->port.node, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, log_open(&self->log));
}

static void unmake(FIXTURE_DATA(refused) *self)
{
	close(self->log.fd);
	close(self->fd);
	hwsim_del(DEVICE);
}

FIXTURE_SETUP(refused)
{
	make(_metadata, self, "lid=0x20");
}

FIXTURE_TEARDOWN(refused)
{
	unmake(self);
}

static void expect_text(struct __test_metadata *_metadata, const char *text,
			const char *has)
{
	EXPECT_NE(NULL, strstr(text, has)) {
		TH_LOG("no \"%s\" in: %s", has, text);
	}
}

static int ask(int fd, uint8_t mgmt_class, uint8_t version, uint32_t qpn,
	       unsigned int method)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, mgmt_class, version);
	req.qpn = qpn;
	mask_set((uint64_t *)req.method_mask, method);
	return umad_reg2(fd, &req);
}

/* OpenSM's "ERR 5426: Unable to register class 129", and why. */
TEST_F(refused, line_names_the_process_the_port_and_the_holder)
{
	char text[128];
	int ends[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(ends));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "first");
		self->fd = umad_open_node(self->port.node, O_RDWR);
		text[0] = ask(self->fd, CLASS_SMI_DR, 1, 0, METHOD_TRAP);
		if (write(ends[1], text, 1) == 1)
			pause();
		_exit(1);
	}
	ASSERT_EQ(1, read(ends[0], text, 1));
	ASSERT_EQ(0, text[0]);
	EXPECT_EQ(-EINVAL, ask(self->fd, CLASS_SMI_DR, 1, 0, METHOD_TRAP));
	log_read(&self->log);
	EXPECT_EQ(1, self->log.lines);
	EXPECT_EQ(LEVEL_INFO, self->log.level);
	snprintf(text, sizeof(text), " %s: " COMM " (pid %d) ", self->port.node,
		 getpid());
	expect_text(_metadata, self->log.last, text);
	expect_text(_metadata, self->log.last, " class 0x81 version 1 methods [5] ");
	expect_text(_metadata, self->log.last, " QP0 on " NAME " port 1: ");
	snprintf(text, sizeof(text), " taken, by first (pid %d) (", pid);
	expect_text(_metadata, self->log.last, text);
	/* And when it has gone, nobody has it. */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	EXPECT_LE(0, ask(self->fd, CLASS_SMI_DR, 1, 0, METHOD_TRAP));
	log_read(&self->log);
	EXPECT_EQ(1, self->log.lines);
}

/* A holder of the same process; and one that has another method, version, class, OUI. */
TEST_F(refused, holder_is_who_has_the_method)
{
	char text[128];
	int other;

	ASSERT_EQ(0, prctl(PR_SET_NAME, "other"));
	other = umad_open_node(self->port.node, O_RDWR);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, prctl(PR_SET_NAME, COMM));
	ASSERT_LE(0, ask(other, CLASS_VENDOR1, 1, 1, METHOD_TEST2));
	ASSERT_LE(0, ask(other, CLASS_VENDOR1, 2, 1, METHOD_TEST));
	ASSERT_LE(0, ask(other, CLASS_VENDOR1B, 1, 1, METHOD_TEST));
	ASSERT_LE(0, ask(self->fd, CLASS_VENDOR1, 1, 1, METHOD_TEST));
	EXPECT_EQ(-EINVAL, ask(other, CLASS_VENDOR1, 1, 1, METHOD_TEST));
	log_read(&self->log);
	EXPECT_EQ(1, self->log.lines);
	snprintf(text, sizeof(text), " taken, by " COMM " (pid %d) (", getpid());
	expect_text(_metadata, self->log.last, text);
	close(other);
}

/* ib_cm has it: matrix.toml loads it. */
TEST_F(refused, holder_in_the_kernel_is_not_known)
{
	int ret = ask(self->fd, 0x07, 2, 1, METHOD_SEND);

	if (ret >= 0)
		SKIP(return, "no ib_cm");
	EXPECT_EQ(-EINVAL, ret);
	log_read(&self->log);
	EXPECT_EQ(1, self->log.lines);
	expect_text(_metadata, self->log.last, " taken, by the kernel, another module, ");
}

TEST_F(refused, success_says_nothing)
{
	EXPECT_EQ(0, umad_reg_client(self->fd));
	EXPECT_EQ(1, ask(self->fd, CLASS_SMI_LID, 1, 0, METHOD_TRAP));
	EXPECT_EQ(0, umad_unreg(self->fd, 0));
	EXPECT_EQ(-EINVAL, umad_unreg(self->fd, 0));
	log_read(&self->log);
	EXPECT_EQ(0, self->log.lines);
	EXPECT_EQ(0, umad_counter(&self->port, "register_refused"));
}

TEST_F(refused, lines_are_limited_and_counters_are_not)
{
	int i;

	for (i = 0; i < 200; i++)
		EXPECT_EQ(-EINVAL, ask(self->fd, CLASS_VENDOR1, 0x83, 1, METHOD_TEST));
	log_read(&self->log);
	EXPECT_LE(1, self->log.lines);
	EXPECT_GE(40, self->log.lines);
	EXPECT_EQ(200, umad_counter(&self->port, "register_refused"));
	EXPECT_EQ(200, umad_counter(&self->port, "register_refused_version"));
}

TEST_F(refused, name_with_a_line_in_it_makes_no_line)
{
	ASSERT_EQ(0, prctl(PR_SET_NAME, "a\n<0>b"));
	EXPECT_EQ(-EINVAL, ask(self->fd, CLASS_VENDOR1, 0x83, 1, METHOD_TEST));
	log_read(&self->log);
	EXPECT_EQ(1, self->log.lines);
	EXPECT_EQ(LEVEL_INFO, self->log.level);
	expect_text(_metadata, self->log.last, "n<0>b (pid ");
}

TEST_F(refused, thirty_third_agent)
{
	int i;

	for (i = 0; i < MAX_AGENTS; i++)
		ASSERT_EQ(i, umad_reg_client(self->fd));
	EXPECT_EQ(-ENOMEM, umad_reg_client(self->fd));
	log_read(&self->log);
	EXPECT_EQ(1, self->log.lines);
	expect_text(_metadata, self->log.last, ": the file has 32 agents already (");
	EXPECT_EQ(1, umad_counter(&self->port, "register_refused_ids"));
	EXPECT_EQ(0, umad_counter(&self->port, "register_refused_nomem"));
}

TEST_F(refused, ninth_OUI)
{
	struct ib_user_mad_reg_req2 req;
	int i, ret = 0;

	for (i = 0; i < 9 && ret >= 0; i++) {
		reg_init(&req, CLASS_VENDOR2, 1);
		req.oui = TEST_OUI + i;
		mask_set((uint64_t *)req.method_mask, METHOD_TEST);
		ret = umad_reg2(self->fd, &req);
	}
	EXPECT_EQ(9, i);
	EXPECT_EQ(-ENOMEM, ret);
	log_read(&self->log);
	EXPECT_EQ(1, self->log.lines);
	expect_text(_metadata, self->log.last, " oui 00aac3 ");
	expect_text(_metadata, self->log.last, ": the port has eight OUIs of the class ");
	EXPECT_EQ(1, umad_counter(&self->port, "register_refused_ouis"));
}

TEST_F(refused, device_that_is_gone)
{
	ASSERT_EQ(0, hwsim_del(DEVICE));
	EXPECT_EQ(-EPIPE, umad_reg_client(self->fd));
	log_read(&self->log);
	EXPECT_EQ(1, self->log.lines);
	expect_text(_metadata, self->log.last, COMM " (pid ");
	expect_text(_metadata, self->log.last, " on " NAME " port 1: the RDMA device is gone (");
}

TEST_F(refused, trace_event_has_the_reason_and_the_holder)
{
	static char text[65536];
	char want[128], *at;

	mount("tracefs", TRACING, "tracefs", 0, NULL);
	if (umad_write_sysfs(EVENT, "1"))
		SKIP(return, "no tracefs");
	ASSERT_LE(0, ask(self->fd, CLASS_VENDOR1, 1, 1, METHOD_TEST));
	EXPECT_EQ(-EINVAL, ask(self->fd, CLASS_VENDOR1, 1, 1, METHOD_TEST));
	EXPECT_EQ(0, umad_write_sysfs(EVENT, "0"));
	ASSERT_EQ(0, umad_read_file(TRACING "trace", text, sizeof(text)));
	at = strstr(text, "ib_umad_register_refused: ");
	ASSERT_NE(NULL, at);
	expect_text(_metadata, at, "QP1 class 0xa version 1 ");
	expect_text(_metadata, at, " methods 0x00000000000000000000000000010000 ");
	snprintf(want, sizeof(want), " reason taken error -22 holder %d ", getpid());
	expect_text(_metadata, at, want);
}

TEST_F(refused, agents_are_in_the_list_of_files)
{
	char path[128], text[2048];
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, CLASS_VENDOR2, 1);
	req.oui = TEST_OUI;
	req.rmpp_version = 1;
	mask_set((uint64_t *)req.method_mask, METHOD_GET);
	mask_set((uint64_t *)req.method_mask, METHOD_TEST);
	mask_set((uint64_t *)req.method_mask, METHOD_TEST2);
	ASSERT_EQ(0, umad_reg2(self->fd, &req));
	ASSERT_EQ(1, umad_reg_client(self->fd));
	ASSERT_EQ(2, ask(self->fd, CLASS_SMI_DR, 1, 0, METHOD_TRAP));
	ASSERT_EQ(0, umad_unreg(self->fd, 1));
	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_umad/%s/files",
		 self->port.node);
	ASSERT_EQ(0, umad_read_file(path, text, sizeof(text)));
	expect_text(_metadata, text, " comm " COMM " hdr 64 agents 2 ");
	expect_text(_metadata, text,
		    "\n agent 0 QP1 class 0x3a version 1 methods [1,16-17] oui 00aabb rmpp kernel\n");
	expect_text(_metadata, text,
		    "\n agent 2 QP0 class 0x81 version 1 methods [5] oui 000000 rmpp no\n");
	EXPECT_EQ(NULL, strstr(text, " agent 1 "));
}

/* What is against it whoever asks. */
static const struct reason {
	const char *options, *name, *text;
	int error;
	struct ib_user_mad_reg_req2 req;
} reasons[] = {
	{ "lid=1", "qpn", "the QP is neither 0 nor 1", -EINVAL, { .qpn = 2 } },
	{ "lid=1", "flags", "unknown flags", -EINVAL, { .qpn = 1, .flags = 2 } },
	{ "lid=1", "oui", "the OUI has more than 24 bits", -EINVAL,
	  { .qpn = 1, .mgmt_class = CLASS_VENDOR2, .oui = 0x1000000 } },
	{ "mad=gsi lid=1", "no_qp", "the port has no such QP", -EPROTONOSUPPORT,
	  { .qpn = 0, .mgmt_class = CLASS_SMI_DR, .mgmt_class_version = 1 } },
	{ "mad=smi lid=1", "no_qp", "the port has no such QP", -EPROTONOSUPPORT,
	  { .qpn = 1 } },
	{ "lid=1", "rmpp_version", "the RMPP version is neither 0 nor 1", -EINVAL,
	  { .qpn = 1, .mgmt_class = CLASS_SA, .mgmt_class_version = 2,
	    .rmpp_version = 2 } },
	{ "lid=1", "user_rmpp", "RMPP of the application's own needs a class", -EINVAL,
	  { .qpn = 1, .flags = 1 } },
	{ "lid=1", "rmpp_class", "the class has no RMPP", -EINVAL,
	  { .qpn = 1, .mgmt_class = CLASS_VENDOR1, .mgmt_class_version = 1,
	    .rmpp_version = 1 } },
	{ "lid=1", "version", "there is no such class version", -EINVAL,
	  { .qpn = 1, .mgmt_class = CLASS_VENDOR1, .mgmt_class_version = 0x83 } },
	{ "lid=1", "class", "there is no such class", -EINVAL,
	  { .qpn = 1, .mgmt_class = 0x50, .mgmt_class_version = 1 } },
	{ "lid=1", "no_oui", "a vendor class needs an OUI", -EINVAL,
	  { .qpn = 1, .mgmt_class = CLASS_VENDOR2, .mgmt_class_version = 1 } },
	{ "lid=1", "class_qp", "the class belongs to the other QP", -EINVAL,
	  { .qpn = 1, .mgmt_class = CLASS_SMI_DR, .mgmt_class_version = 1 } },
	{ "lid=1", "class_qp", "the class belongs to the other QP", -EINVAL,
	  { .qpn = 0, .mgmt_class = CLASS_SA, .mgmt_class_version = 2 } },
};

static void refuse(struct __test_metadata *_metadata, FIXTURE_DATA(refused) *self,
		   const struct reason *reason)
{
	struct ib_user_mad_reg_req2 req = reason->req;
	char text[128];

	EXPECT_EQ(reason->error, umad_reg2(self->fd, &req));
	log_read(&self->log);
	EXPECT_EQ(1, self->log.lines);
	EXPECT_EQ(LEVEL_INFO, self->log.level);
	snprintf(text, sizeof(text), " on " NAME " port 1: %s (", reason->text);
	expect_text(_metadata, self->log.last, text);
	EXPECT_EQ(1, umad_counter(&self->port, "register_refused"));
	snprintf(text, sizeof(text), "register_refused_%s", reason->name);
	EXPECT_EQ(1, umad_counter(&self->port, text));
}

TEST(each_reason_is_counted_and_said)
{
	FIXTURE_DATA(refused) data, *self = &data;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++) {
		make(_metadata, self, reasons[i].options);
		refuse(_metadata, self, &reasons[i]);
		unmake(self);
	}
}

static int module_reload(void)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_delete_module, "ib_umad", O_NONBLOCK) ||
	      syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

/* An agent that was not refused; this line comes once in the module's life. */
TEST(name_with_a_line_in_it_does_not_ask_for_the_P_Key_index)
{
	FIXTURE_DATA(refused) data, *self = &data;
	struct ib_user_mad_reg_req req = { .qpn = 1 };

	ASSERT_EQ(0, module_reload());
	make(_metadata, self, "lid=1");
	close(self->fd);
	ASSERT_EQ(0, prctl(PR_SET_NAME, "a\n<0>b"));
	self->fd = umad_open_node(self->port.node, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->log.mark = "does not ask for the P_Key index";
	EXPECT_EQ(0, umad_ioctl(self->fd, IB_USER_MAD_REGISTER_AGENT, &req));
	log_read(&self->log);
	EXPECT_EQ(1, self->log.lines);
	/* What is not printable would be \x0a there. */
	expect_text(_metadata, self->log.last, "\\x5cn<0>b does not ask ");
	unmake(self);
}

TEST_HARNESS_MAIN
