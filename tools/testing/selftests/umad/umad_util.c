// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Helpers shared by the umad selftests. See umad_util.h.
 */
#include "umad_util.h"

#include <assert.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

static_assert(sizeof(struct ib_user_mad_hdr) == HDR_NEW, "64-byte header");
static_assert(sizeof(struct ib_user_mad_hdr_old) == HDR_OLD, "56-byte header");
static_assert(sizeof(struct ib_user_mad_reg_req) == 28, "REGISTER_AGENT");
static_assert(sizeof(struct ib_user_mad_reg_req2) == 40, "REGISTER_AGENT2");
static_assert(sizeof(struct mad_hdr) == MAD_HDR_LEN, "MAD header");

/* To its end, as a trace is read in parts; or to where the device has gone. */
int umad_read_file(const char *path, char *buf, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t got = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf + got, len - 1 - got)) > 0)
		got += n;
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0 && !got)
		return n;
	buf[got] = '\0';
	return 0;
}

int umad_read_sysfs(const char *path, char *buf, size_t len)
{
	int ret = umad_read_file(path, buf, len);

	if (!ret)
		buf[strcspn(buf, "\n")] = '\0';
	return ret;
}

int umad_write_sysfs(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		n = -errno;
	close(fd);
	return n < 0 ? n : 0;
}

const char *umad_ibdev(void)
{
	const char *name = getenv("UMAD_IBDEV");

	return name ? name : "rxe0";
}

/* The node name ("umad0") of port 1 of @ibdev, as libibumad looks for it. */
int umad_node_of(const char *ibdev, char *node, size_t len)
{
	char path[512], value[64];
	struct dirent *entry;
	DIR *dir = opendir("/sys/class/infiniband_mad");

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, "umad", 4))
			continue;
		snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s/ibdev",
			 entry->d_name);
		if (umad_read_sysfs(path, value, sizeof(value)) ||
		    strcmp(value, ibdev))
			continue;
		snprintf(node, len, "%.20s", entry->d_name);
		closedir(dir);
		return 0;
	}
	closedir(dir);
	return -ENODEV;
}

static int parse_gid(const char *text, uint8_t gid[16])
{
	unsigned int word[8];
	int i;

	if (sscanf(text, "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x", &word[0], &word[1],
		   &word[2], &word[3], &word[4], &word[5], &word[6],
		   &word[7]) != 8)
		return -EINVAL;
	for (i = 0; i < 8; i++) {
		gid[2 * i] = word[i] >> 8;
		gid[2 * i + 1] = word[i];
	}
	return 0;
}

/* ib_core matches no response over an IPv4-mapped GID: take an fd00:: one. */
static int find_gid(struct test_port *port)
{
	char path[256], value[64];
	int i;

	for (i = 0; i < 32; i++) {
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband/%s/ports/1/gids/%d",
			 port->ibdev, i);
		if (umad_read_sysfs(path, value, sizeof(value)))
			continue;
		if (parse_gid(value, port->gid) || port->gid[0] != 0xfd)
			continue;
		port->gid_index = i;
		return 0;
	}
	return -ENOENT;
}

int umad_port_find(struct test_port *port)
{
	char path[256], value[64];
	int ret, i;

	memset(port, 0, sizeof(*port));
	snprintf(port->ibdev, sizeof(port->ibdev), "%s", umad_ibdev());
	ret = umad_node_of(port->ibdev, port->node, sizeof(port->node));
	if (ret)
		return ret;
	/* A device that has just come back learns its GIDs a moment later. */
	for (i = 0; i < 100; i++) {
		ret = find_gid(port);
		if (!ret)
			break;
		sleep_ms(50);
	}
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/lid",
		 port->ibdev);
	ret = umad_read_sysfs(path, value, sizeof(value));
	if (ret)
		return ret;
	port->lid = strtoul(value, NULL, 0);
	/* An InfiniBand port has none. */
	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/%d",
		 port->ibdev, port->gid_index);
	ret = umad_read_sysfs(path, port->netdev, sizeof(port->netdev));
	return port->lid ? 0 : ret;
}

int umad_open_node(const char *node, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", node);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Devices that come and go share their numbers: the node may have become another
 * device's before it was opened. Then there is none of this one for the moment.
 */
int umad_open_ibdev(const char *ibdev, int flags)
{
	char node[32], now[32];
	int ret, fd;

	ret = umad_node_of(ibdev, node, sizeof(node));
	if (ret)
		return ret;
	fd = umad_open_node(node, flags);
	if (fd < 0)
		return fd;
	if (!umad_node_of(ibdev, now, sizeof(now)) && !strcmp(node, now))
		return fd;
	close(fd);
	return -ENODEV;
}

int umad_open(int flags)
{
	return umad_open_ibdev(umad_ibdev(), flags);
}

void mask_set(uint64_t mask[2], unsigned int method)
{
	mask[method / 64] |= 1ull << (method % 64);
}

void reg_init(struct ib_user_mad_reg_req2 *req, uint8_t mgmt_class,
	      uint8_t version)
{
	memset(req, 0, sizeof(*req));
	req->id = 0xdeadbeef;
	req->qpn = 1;
	req->mgmt_class = mgmt_class;
	req->mgmt_class_version = version;
}

int umad_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? -errno : 0;
}

/* Returns the agent's id. */
int umad_reg2(int fd, struct ib_user_mad_reg_req2 *req)
{
	int ret = umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, req);

	return ret ? ret : (int)req->id;
}

/* An agent that sends and gets responses, and nothing unsolicited. */
int umad_reg_client(int fd)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, 0, 0);
	return umad_reg2(fd, &req);
}

int umad_reg_server(int fd, uint8_t mgmt_class, unsigned int method)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, mgmt_class, mgmt_class == CLASS_SA ? 2 : 1);
	mask_set((uint64_t *)req.method_mask, method);
	if (mgmt_class >= 0x30 && mgmt_class <= 0x4f)
		req.oui = TEST_OUI;
	return umad_reg2(fd, &req);
}

int umad_unreg(int fd, uint32_t id)
{
	return umad_ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id);
}

/* Of a class of vendor range 2. */
void mad_put_oui(uint8_t *mad)
{
	mad[37] = TEST_OUI >> 16 & 0xff;
	mad[38] = TEST_OUI >> 8 & 0xff;
	mad[39] = TEST_OUI & 0xff;
}

/* A MAD from the port to itself. */
void msg_init(struct umad_msg *msg, const struct test_port *port, uint32_t id,
	      uint8_t mgmt_class, uint8_t method, uint64_t tid)
{
	memset(msg, 0, sizeof(*msg));
	msg->hdr.id = id;
	msg->hdr.qpn = htobe32(1);
	msg->hdr.qkey = htobe32(GSI_QKEY);
	msg->hdr.lid = htobe16(port->lid);
	msg->hdr.grh_present = 1;
	msg->hdr.gid_index = port->gid_index;
	msg->hdr.hop_limit = 64;
	memcpy(msg->hdr.gid, port->gid, 16);
	msg->mad.base_version = 1;
	msg->mad.mgmt_class = mgmt_class;
	msg->mad.class_version = mgmt_class == CLASS_SA ? 2 : 1;
	msg->mad.method = method;
	msg->mad.tid = htobe64(tid);
	if (mgmt_class >= 0x30 && mgmt_class <= 0x4f)
		mad_put_oui(msg->data);
}

/* As programs have it: with a GRH on RoCE only. */
void msg_init_usual(struct umad_msg *msg, const struct test_port *port, uint32_t id,
		    uint8_t mgmt_class, uint8_t method, uint64_t tid)
{
	msg_init(msg, port, id, mgmt_class, method, tid);
	msg->hdr.grh_present = !port->lid;
}

/* To a neighbour that does not answer, on RoCE: one of 256 of each thread's. */
void msg_init_silent(struct umad_msg *msg, const struct test_port *port, unsigned int thread,
		     unsigned int n)
{
	msg_init(msg, port, 0, CLASS_VENDOR1, METHOD_NOBODY, thread << 16 | n);
	msg->hdr.timeout_ms = 10;
	msg->hdr.gid[8] = 1;
	msg->hdr.gid[14] = n;
	msg->hdr.gid[15] = thread;
}

/* Turn a received request round: back to where its header says it came from. */
void msg_reply(struct umad_msg *reply, const struct umad_msg *req, uint32_t id)
{
	memcpy(reply, req, sizeof(*reply));
	reply->hdr.id = id;
	reply->hdr.status = 0;
	reply->hdr.timeout_ms = 0;
	reply->hdr.retries = 0;
	reply->hdr.qkey = htobe32(GSI_QKEY);
	reply->mad.method |= METHOD_RESP;
}

int msg_write_len(int fd, const struct umad_msg *msg, size_t len)
{
	ssize_t n = write(fd, msg, len);

	return n < 0 ? -errno : (int)n;
}

int msg_write(int fd, const struct umad_msg *msg)
{
	return msg_write_len(fd, msg, MSG_LEN);
}

/* poll() for @wait_ms, then read(). -ETIME: nothing became readable. */
int msg_read_len(int fd, struct umad_msg *msg, size_t len, int wait_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	ssize_t n;
	int ret;

	ret = poll(&pfd, 1, wait_ms);
	if (ret < 0)
		return -errno;
	if (!ret)
		return -ETIME;
	n = read(fd, msg, len);
	return n < 0 ? -errno : (int)n;
}

int msg_read(int fd, struct umad_msg *msg, int wait_ms)
{
	return msg_read_len(fd, msg, MSG_LEN, wait_ms);
}

uint64_t msg_tid64(const struct umad_msg *msg)
{
	return be64toh(msg->mad.tid);
}

/*
 * A request of agent 0 of @fd that agent 0 of @srv serves, and its response: 0, an errno, or
 * the status of that, negative.
 */
int msg_round_trip(int fd, int srv, const struct test_port *port, uint64_t tid)
{
	struct umad_msg msg, got;

	msg_init(&msg, port, 0, CLASS_VENDOR1, METHOD_TEST, tid);
	msg.hdr.timeout_ms = 5000;
	if (msg_write(fd, &msg) != MSG_LEN || msg_read(srv, &got, 5000) != MSG_LEN)
		return -EIO;
	msg_reply(&msg, &got, 0);
	if (msg_write(srv, &msg) != MSG_LEN || msg_read(fd, &got, 5000) != MSG_LEN)
		return -EIO;
	return -(int)got.hdr.status;
}

uint32_t msg_tid(const struct umad_msg *msg)
{
	return msg_tid64(msg);
}

/* One counter of the node, or -ENOENT where there is none (in-tree). */
long umad_counter(const struct test_port *port, const char *name)
{
	char path[128], line[128], found[64];
	long value, ret = -ENOENT;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/ib_umad/%s/counters",
		 port->node);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%63s %ld", found, &value) == 2 &&
		    !strcmp(found, name))
			ret = value;
	fclose(file);
	return ret;
}

long env_long(const char *name, long value)
{
	const char *text = getenv(name);

	return text ? atol(text) : value;
}

/* Is it this version, or a later one? */
bool kernel_from(unsigned int major, unsigned int minor)
{
	unsigned int is_major = 0, is_minor = 0;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &is_major, &is_minor) != 2)
		return false;
	return is_major > major || (is_major == major && is_minor >= minor);
}

/* Do KASAN, lockdep and kmemleak take most of the time, and more of the memory? */
bool kernel_debugs(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK);
}

uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

uint64_t now_ms(void)
{
	return now_us() / 1000;
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static void *side_main(void *arg)
{
	struct side_call *call = arg;
	void *ret = call->fn(call->arg);

	__atomic_store_n(&call->done, 1, __ATOMIC_RELEASE);
	return ret;
}

void side_start(struct side_call *call, void *(*fn)(void *arg), void *arg)
{
	memset(call, 0, sizeof(*call));
	call->fn = fn;
	call->arg = arg;
	if (pthread_create(&call->thread, NULL, side_main, call))
		abort();
	call->started = true;
}

/* Is the call over, or does it get over within @wait_ms? */
bool side_done(struct side_call *call, unsigned int wait_ms)
{
	uint64_t end = now_ms() + wait_ms;

	for (;;) {
		if (__atomic_load_n(&call->done, __ATOMIC_ACQUIRE))
			return true;
		if (now_ms() >= end)
			return false;
		sleep_ms(5);
	}
}

void side_join(struct side_call *call)
{
	if (call->started)
		pthread_join(call->thread, NULL);
	call->started = false;
}

static void on_kick(int sig)
{
	(void)sig;
}

/* After this SIGUSR1 ends a sleeping system call with EINTR. */
void side_allow_kick(void)
{
	struct sigaction action = { .sa_handler = on_kick };

	sigaction(SIGUSR1, &action, NULL);
}

/* Send signals until the call is over. */
bool side_kick(struct side_call *call, unsigned int wait_ms)
{
	uint64_t end = now_ms() + wait_ms;

	while (!side_done(call, 20)) {
		if (now_ms() >= end)
			return false;
		pthread_kill(call->thread, SIGUSR1);
	}
	return true;
}

/* Has the thread @tid of this process gone to sleep? */
bool wait_asleep(pid_t tid, unsigned int wait_ms)
{
	char path[64], text[256], *state;
	uint64_t end = now_ms() + wait_ms;
	int seen = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	while (now_ms() < end) {
		if (umad_read_sysfs(path, text, sizeof(text)))
			return false;
		state = strrchr(text, ')');
		seen = state && (state[2] == 'S' || state[2] == 'D') ?
		       seen + 1 : 0;
		if (seen >= 3)
			return true;
		sleep_ms(10);
	}
	return false;
}
