// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* See hwsim_util.h. */
#include "hwsim_util.h"

#include <dirent.h>
#include <stdio.h>

int hwsim_new(unsigned int id, const char *options)
{
	char line[256];

	snprintf(line, sizeof(line), "%u %s", id, options);
	return umad_write_sysfs("/sys/bus/ib_hwsim/new_device", line);
}

int hwsim_del(unsigned int id)
{
	char line[16];

	snprintf(line, sizeof(line), "%u", id);
	return umad_write_sysfs("/sys/bus/ib_hwsim/del_device", line);
}

static void port_path(char *path, size_t len, unsigned int id,
		      unsigned int port, const char *file)
{
	snprintf(path, len, "/sys/kernel/debug/ib_hwsim/hwsim%u/port%u/%s", id,
		 port, file);
}

int hwsim_set(unsigned int id, unsigned int port, const char *file,
	      const char *text)
{
	char path[128];

	port_path(path, sizeof(path), id, port, file);
	return umad_write_sysfs(path, text);
}

int hwsim_get(unsigned int id, unsigned int port, const char *file, char *text,
	      size_t len)
{
	char path[128];

	port_path(path, sizeof(path), id, port, file);
	return umad_read_sysfs(path, text, len);
}

long hwsim_counter(unsigned int id, unsigned int port, const char *name)
{
	char path[128], line[128], found[64];
	long value, ret = -ENOENT;
	FILE *file;

	port_path(path, sizeof(path), id, port, "counters");
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

int hwsim_sysfs(unsigned int id, unsigned int port, const char *file,
		char *text, size_t len)
{
	char path[128];

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/hwsim%u/ports/%u/%s", id, port, file);
	return umad_read_sysfs(path, text, len);
}

static bool is_node_of(const char *name, const char *ibdev, unsigned int port)
{
	char path[384], value[64];

	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s/ibdev",
		 name);
	if (umad_read_sysfs(path, value, sizeof(value)) ||
	    strcmp(value, ibdev))
		return false;
	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s/port",
		 name);
	return !umad_read_sysfs(path, value, sizeof(value)) &&
	       strtoul(value, NULL, 10) == port;
}

/* The node ("umad3", "issm3") of a port, by what kind begins with. */
int hwsim_umad(unsigned int id, unsigned int port, const char *kind, char *node,
	       size_t len)
{
	DIR *dir = opendir("/sys/class/infiniband_mad");
	struct dirent *entry;
	int ret = -ENODEV;
	char ibdev[32];

	if (!dir)
		return -errno;
	snprintf(ibdev, sizeof(ibdev), "hwsim%u", id);
	while (ret && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, kind, strlen(kind)) ||
		    !is_node_of(entry->d_name, ibdev, port))
			continue;
		snprintf(node, len, "%.20s", entry->d_name);
		ret = 0;
	}
	closedir(dir);
	return ret;
}

int hwsim_open(unsigned int id, unsigned int port, int flags)
{
	char node[32];
	int ret;

	ret = hwsim_umad(id, port, "umad", node, sizeof(node));
	return ret ? ret : umad_open_node(node, flags);
}

/* One on InfiniBand that nobody answers. */
int hwsim_request(int fd, uint8_t mgmt_class, uint64_t tid, int timeout_ms)
{
	struct test_port nobody = { .lid = 0x30 };
	struct umad_msg msg;

	msg_init(&msg, &nobody, 0, mgmt_class, METHOD_NOBODY, tid);
	msg.hdr.grh_present = 0;
	msg.hdr.timeout_ms = timeout_ms;
	return msg_write(fd, &msg) == MSG_LEN ? 0 : -1;
}

/* How late such a request times out, in us; INT64_MAX: something else happens. */
int64_t hwsim_late_by(int fd, uint64_t tid, int timeout_ms)
{
	uint64_t start = now_us();
	struct umad_msg got;

	if (hwsim_request(fd, CLASS_VENDOR1, tid, timeout_ms) ||
	    msg_read(fd, &got, 30000) != TIMED_OUT_LEN || got.hdr.status != ETIMEDOUT)
		return INT64_MAX;
	return now_us() - start - timeout_ms * 1000;
}

/* A file of the port that does not block, with the new header: agent 0 is a client. */
int hwsim_client(unsigned int id, unsigned int port)
{
	int fd = hwsim_open(id, port, O_RDWR | O_NONBLOCK), ret;

	if (fd < 0)
		return fd;
	ret = umad_ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL);
	if (!ret)
		ret = umad_reg_client(fd);
	if (!ret)
		return fd;
	close(fd);
	return ret < 0 ? ret : -EPROTO;
}

int raw_attach(unsigned int id, unsigned int port)
{
	struct ib_hwsim_attach which = { .device = id, .port = port };
	int fd = open("/dev/ib_hwsim", O_RDWR | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, IB_HWSIM_ATTACH, &which))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* -ETIME: nothing came. */
int raw_read(int fd, struct ib_hwsim_frame *frame, int wait_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	ssize_t n;
	int ret;

	ret = poll(&pfd, 1, wait_ms);
	if (ret <= 0)
		return ret ? -errno : -ETIME;
	n = read(fd, frame, sizeof(*frame));
	return n < 0 ? -errno : (int)n;
}

int raw_write(int fd, const struct ib_hwsim_frame *frame)
{
	ssize_t n = write(fd, frame, IB_HWSIM_FRAME_LEN(frame->len));

	return n < 0 ? -errno : 0;
}

/* A MAD for QP1 with bytes that tell whether all of it arrives. */
void frame_init(struct ib_hwsim_frame *frame, uint8_t mgmt_class,
		uint8_t method, uint64_t tid)
{
	struct mad_hdr *mad = frame_mad(frame);
	unsigned int i;

	memset(frame, 0, sizeof(*frame));
	frame->len = MAD_LEN;
	frame->src_qp = 1;
	frame->dest_qp = 1;
	frame->qkey = GSI_QKEY;
	frame->pkey = 0xffff;
	mad->base_version = 1;
	mad->mgmt_class = mgmt_class;
	mad->class_version = 1;
	mad->method = method;
	mad->tid = htobe64(tid);
	for (i = MAD_HDR_LEN; i < sizeof(frame->mad); i++)
		frame->mad[i] = i * 7 + tid;
}

/* An SMP by LID for the port's own agent. */
void frame_smp(struct ib_hwsim_frame *frame, uint8_t method, uint16_t attr,
	       uint32_t modifier)
{
	frame_init(frame, CLASS_SMI_LID, method, 0x1234);
	frame->flags = IB_HWSIM_TO_SMA;
	frame->src_qp = 0;
	frame->dest_qp = 0;
	frame->qkey = 0;
	frame_mad(frame)->attr_id = htobe16(attr);
	frame_mad(frame)->attr_mod = htobe32(modifier);
	memset(frame->mad + MAD_HDR_LEN, 0, MAD_LEN - MAD_HDR_LEN);
}
