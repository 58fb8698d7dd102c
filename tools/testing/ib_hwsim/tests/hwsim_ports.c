// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many ports, with umad and issm each; ports with one of QP0 and QP1 only, as the devices
 * of an XDR host have them; and ports that may not run a subnet manager.
 */
#include "kselftest_harness.h"
#include "hwsim_util.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define PORTS		256	/* UMAD_PORTS */
#define PER_DEVICE	8
#define FIRST		100	/* number of the first device */
#define FIXED		64	/* ports of major 231 */
#define MAJOR		231
#define BOUND		2000	/* ms: what removal of a device may take */
#define SOON		5000	/* ms; for what has to happen */
#define IS_SM		0x2
#define SM_DISABLED	0x400

enum kind {
	UMAD,
	ISSM,
	KINDS
};

static const char * const kinds[KINDS] = { "umad", "issm" };

struct made {
	int index[KINDS];	/* N of umadN, issmN; -1: there is none */
	int fd[KINDS];
};

FIXTURE(many) {
	unsigned int n_ports, n_devices;
	struct made *made;
	struct umad_msg got;
};

/* Number of the port among all, or -1 for one of another device. */
static int which(const char *node)
{
	unsigned int device, port;
	char path[384], text[64];

	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s/ibdev", node);
	if (umad_read_sysfs(path, text, sizeof(text)) ||
	    sscanf(text, "hwsim%u", &device) != 1 || device < FIRST)
		return -1;
	snprintf(path, sizeof(path), "/sys/class/infiniband_mad/%s/port", node);
	if (umad_read_sysfs(path, text, sizeof(text)) ||
	    sscanf(text, "%u", &port) != 1)
		return -1;
	return (device - FIRST) * PER_DEVICE + port - 1;
}

/* How many nodes there are; one pass, as a look-up of each takes too long. */
static unsigned int find_nodes(struct made *made, unsigned int n_ports)
{
	DIR *dir = opendir("/sys/class/infiniband_mad");
	struct dirent *entry;
	unsigned int n = 0;
	int kind, port;

	while (dir && (entry = readdir(dir))) {
		for (kind = 0; kind < KINDS; kind++) {
			if (strncmp(entry->d_name, kinds[kind], 4))
				continue;
			port = which(entry->d_name);
			if (port < 0 || port >= (int)n_ports)
				continue;
			made[port].index[kind] = atoi(entry->d_name + 4);
			n++;
		}
	}
	if (dir)
		closedir(dir);
	return n;
}

FIXTURE_SETUP(many)
{
	char options[32];
	unsigned int i;

	self->n_ports = env_long("UMAD_PORTS", PORTS);
	self->n_devices = self->n_ports / PER_DEVICE;
	self->made = malloc(self->n_ports * sizeof(*self->made));
	ASSERT_NE(NULL, self->made);
	memset(self->made, -1, self->n_ports * sizeof(*self->made));
	snprintf(options, sizeof(options), "ports=%u", PER_DEVICE);
	for (i = 0; i < self->n_devices; i++)
		ASSERT_EQ(0, hwsim_new(FIRST + i, options));
	ASSERT_EQ(KINDS * self->n_ports, find_nodes(self->made, self->n_ports));
}

FIXTURE_TEARDOWN(many)
{
	unsigned int i;

	for (i = 0; i < self->n_devices; i++)
		hwsim_del(FIRST + i);
	free(self->made);
}

static unsigned int device_of(unsigned int port)
{
	return FIRST + port / PER_DEVICE;
}

/* As ib_hwsim has it, or a negative errno. */
static long cap_mask(unsigned int device, unsigned int port)
{
	char text[64];
	int ret = hwsim_get(device, port, "cap_mask", text, sizeof(text));

	return ret ? ret : strtol(text, NULL, 0);
}

static bool is_sm(unsigned int port)
{
	return cap_mask(device_of(port), port % PER_DEVICE + 1) & IS_SM;
}

static int open_kind(const struct made *made, enum kind kind)
{
	char node[32];

	snprintf(node, sizeof(node), "%s%d", kinds[kind], made->index[kind]);
	return umad_open_node(node, O_RDWR | O_NONBLOCK);
}

static void open_all(struct __test_metadata *_metadata, FIXTURE_DATA(many) *self)
{
	struct made *made;
	unsigned int i;

	for (i = 0; i < self->n_ports; i++) {
		made = &self->made[i];
		made->fd[UMAD] = open_kind(made, UMAD);
		ASSERT_LE(0, made->fd[UMAD]);
		ASSERT_EQ(0, umad_reg_client(made->fd[UMAD]));
		ASSERT_EQ(1, umad_reg_server(made->fd[UMAD], CLASS_VENDOR1, METHOD_TEST));
		EXPECT_FALSE(is_sm(i));
		made->fd[ISSM] = open_kind(made, ISSM);
		ASSERT_LE(0, made->fd[ISSM]);
		EXPECT_TRUE(is_sm(i));
	}
}

TEST_F_TIMEOUT(many, are_made_opened_and_removed, 300)
{
	uint64_t start = now_ms(), took, longest = 0;
	struct made *made;
	unsigned int i;

	open_all(_metadata, self);
	TH_LOG("%u ports are open: %llu ms", self->n_ports,
	       (unsigned long long)(now_ms() - start));
	/* Half of them are closed before, and their bits are cleared, no others. */
	for (i = 0; i < self->n_ports; i += 2)
		EXPECT_EQ(0, close(self->made[i].fd[ISSM]));
	for (i = 0; i < self->n_ports; i++)
		EXPECT_EQ(i % 2, is_sm(i));

	for (i = 0; i < self->n_devices; i++) {
		start = now_ms();
		EXPECT_EQ(0, hwsim_del(FIRST + i));
		took = now_ms() - start;
		EXPECT_GE(BOUND, took);
		if (took > longest)
			longest = took;
	}
	TH_LOG("longest removal of a device: %llu ms", (unsigned long long)longest);
	EXPECT_EQ(0, find_nodes(self->made, self->n_ports));
	for (i = 0; i < self->n_ports; i++) {
		made = &self->made[i];
		EXPECT_EQ(-EIO, msg_read(made->fd[UMAD], &self->got, 0));
		EXPECT_EQ(0, close(made->fd[UMAD]));
		if (i % 2)
			EXPECT_EQ(0, close(made->fd[ISSM]));
	}
}

TEST_F_TIMEOUT(many, device_numbers_beyond_64_are_dynamic, 300)
{
	unsigned int i, n = 0, beyond = 0;
	int kind, index, dynamic = 0;
	char path[64];
	struct stat st;

	if (self->n_ports > FIXED)
		beyond = self->n_ports - FIXED;
	for (i = 0; i < self->n_ports; i++) {
		index = self->made[i].index[UMAD];
		EXPECT_EQ(index, self->made[i].index[ISSM]);
		for (kind = 0; kind < KINDS; kind++) {
			snprintf(path, sizeof(path), "/dev/infiniband/%s%d", kinds[kind],
				 index);
			ASSERT_EQ(0, stat(path, &st));
			if (index < FIXED) {
				EXPECT_EQ(MAJOR, major(st.st_rdev));
				EXPECT_EQ(index + kind * FIXED, minor(st.st_rdev));
				continue;
			}
			if (!dynamic)
				dynamic = major(st.st_rdev);
			EXPECT_NE(MAJOR, major(st.st_rdev));
			EXPECT_EQ(dynamic, major(st.st_rdev));
			EXPECT_EQ(index - FIXED + kind * (8192 - FIXED),
				  minor(st.st_rdev));
			n++;
		}
	}
	EXPECT_LE(KINDS * beyond, n);
}

/* Devices of another kind. */
FIXTURE(some) {
	int fd;
	int wire;
	struct umad_msg msg, got;
	struct ib_hwsim_frame frame;
};

FIXTURE_SETUP(some)
{
	self->fd = -1;
	self->wire = -1;
}

FIXTURE_TEARDOWN(some)
{
	if (self->fd >= 0)
		close(self->fd);
	if (self->wire >= 0)
		close(self->wire);
	hwsim_del(FIRST);
}

static int reg(int fd, uint8_t mgmt_class, uint32_t qpn)
{
	struct ib_user_mad_reg_req2 req;

	reg_init(&req, mgmt_class, !!mgmt_class);
	req.qpn = qpn;
	if (mgmt_class)
		mask_set((uint64_t *)req.method_mask, METHOD_TRAP);
	return umad_reg2(fd, &req);
}

static void open_one(struct __test_metadata *_metadata, FIXTURE_DATA(some) *self,
		     const char *options)
{
	ASSERT_EQ(0, hwsim_new(FIRST, options));
	self->wire = raw_attach(FIRST, 1);
	ASSERT_LE(0, self->wire);
	self->fd = hwsim_open(FIRST, 1, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
}

/* The device of an XDR host that has the parent's QP1. */
TEST_F(some, port_without_QP0)
{
	struct test_port peer = { .lid = 7 };

	open_one(_metadata, self, "mad=gsi lid=0x20");
	EXPECT_EQ(-EPROTONOSUPPORT, reg(self->fd, 0, 0));
	EXPECT_EQ(-EPROTONOSUPPORT, reg(self->fd, CLASS_SMI_DR, 0));
	ASSERT_EQ(0, reg(self->fd, 0, 1));
	msg_init(&self->msg, &peer, 0, CLASS_VENDOR1, METHOD_TEST, 5);
	self->msg.hdr.grh_present = 0;
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_LE(0, raw_read(self->wire, &self->frame, SOON));
	EXPECT_EQ(CLASS_VENDOR1, frame_mad(&self->frame)->mgmt_class);
	EXPECT_EQ(1, self->frame.src_qp);
}

/* ib_core opens such a port since 6.11. */
static bool core_needs_gsi(void)
{
	return !kernel_from(6, 11);
}

/* And the one that has QP0. */
TEST_F(some, port_without_QP1)
{
	struct mad_hdr *mad = &self->msg.mad;

	open_one(_metadata, self, "mad=smi sma=far lid=0x20");
	EXPECT_EQ(-EPROTONOSUPPORT, reg(self->fd, 0, 1));
	EXPECT_EQ(-EPROTONOSUPPORT, reg(self->fd, CLASS_VENDOR1, 1));
	if (core_needs_gsi()) {
		EXPECT_EQ(-ENODEV, reg(self->fd, 0, 0));
		EXPECT_EQ(-ENODEV, reg(self->fd, CLASS_SMI_DR, 0));
		EXPECT_EQ(-EIO, msg_write(self->fd, &self->msg));
		return;
	}
	ASSERT_EQ(0, reg(self->fd, 0, 0));
	ASSERT_EQ(1, reg(self->fd, CLASS_SMI_DR, 0));
	self->msg.hdr.lid = htobe16(7);
	mad->base_version = 1;
	mad->mgmt_class = CLASS_SMI_LID;
	mad->class_version = 1;
	mad->method = METHOD_GET;
	mad->attr_id = htobe16(ATTR_NODE_INFO);
	ASSERT_EQ(MSG_LEN, msg_write(self->fd, &self->msg));
	ASSERT_LE(0, raw_read(self->wire, &self->frame, SOON));
	EXPECT_EQ(CLASS_SMI_LID, frame_mad(&self->frame)->mgmt_class);
	EXPECT_EQ(0, self->frame.src_qp);
}

TEST_F(some, port_without_QP1_is_an_SM)
{
	char node[32];
	int fd;

	ASSERT_EQ(0, hwsim_new(FIRST, "mad=smi"));
	ASSERT_EQ(0, hwsim_umad(FIRST, 1, "issm", node, sizeof(node)));
	fd = umad_open_node(node, O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_TRUE(cap_mask(FIRST, 1) & IS_SM);
	close(fd);
	EXPECT_FALSE(cap_mask(FIRST, 1) & IS_SM);
}

/*
 * As on machines with NVSwitches, where the subnet manager looks for the one port that has
 * not IsSMDisabled. The bit is the administrator's and the firmware's: issm heeds it as
 * little as in-tree, and leaves it.
 */
TEST_F(some, SM_is_disabled_on_all_ports_but_one)
{
	unsigned int port, one = 5, found = 0;
	char node[32], text[32];
	long mask;
	int fd;

	ASSERT_EQ(0, hwsim_new(FIRST, "ports=8 lid=0x20"));
	for (port = 1; port <= PER_DEVICE; port++) {
		if (port == one)
			continue;
		snprintf(text, sizeof(text), "0x%lx", cap_mask(FIRST, port) | SM_DISABLED);
		ASSERT_EQ(0, hwsim_set(FIRST, port, "cap_mask", text));
	}
	for (port = 1; port <= PER_DEVICE; port++) {
		ASSERT_EQ(0, hwsim_sysfs(FIRST, port, "cap_mask", text, sizeof(text)));
		mask = strtol(text, NULL, 0);
		EXPECT_EQ(port != one, !!(mask & SM_DISABLED));
		if (!(mask & SM_DISABLED))
			found = port;
		ASSERT_EQ(0, hwsim_umad(FIRST, port, "issm", node, sizeof(node)));
		fd = umad_open_node(node, O_RDWR);
		ASSERT_LE(0, fd);
		EXPECT_EQ(mask | IS_SM, cap_mask(FIRST, port));
		EXPECT_EQ(0, close(fd));
		EXPECT_EQ(mask, cap_mask(FIRST, port));
	}
	EXPECT_EQ(one, found);
}

TEST_HARNESS_MAIN
