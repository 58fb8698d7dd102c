// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* See wire.h. */
#include "wire.h"

#include <stddef.h>
#include <stdio.h>

#define DEVICE		40
#define DEVICES		"/sys/bus/ib_hwsim/"
#define READ_MAX	(2 << 20)

static int hwsim_attach(unsigned int device)
{
	struct ib_hwsim_attach which = { .device = device, .port = 1 };
	int fd = open("/dev/ib_hwsim", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	int ret;

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, IB_HWSIM_ATTACH, &which))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static int hwsim_start(struct wire *wire)
{
	char line[128];
	int ret;

	wire->device = DEVICE;
	snprintf(line, sizeof(line),
		 "%u lid=%u lmc=2 prefix=0xfd00000000000000%s", DEVICE, OWN_LID,
		 wire->kind == WIRE_OPA ? " link=opa" : "");
	ret = umad_write_sysfs(DEVICES "new_device", line);
	if (ret)
		return ret;
	snprintf(line, sizeof(line), "hwsim%u", DEVICE);
	setenv("UMAD_IBDEV", line, 1);
	wire->fd = hwsim_attach(DEVICE);
	return wire->fd < 0 ? wire->fd : 0;
}

/* -ENOENT: this guest has no such device, or no such kind is known. */
int wire_open(struct wire *wire, const char *kind)
{
	int ret;

	memset(wire, 0, sizeof(*wire));
	wire->fd = -1;
	if (!strcmp(kind, "ib")) {
		wire->kind = WIRE_IB;
		ret = hwsim_start(wire);
	} else if (!strcmp(kind, "opa")) {
		wire->kind = WIRE_OPA;
		ret = hwsim_start(wire);
	} else if (!strcmp(kind, "roce")) {
		wire->kind = WIRE_ROCE;
		ret = roce_open(wire);
	} else {
		ret = -ENOENT;
	}
	return ret ? ret : umad_port_find(&wire->port);
}

void wire_close(struct wire *wire)
{
	char line[16];

	if (wire->fd >= 0)
		close(wire->fd);
	wire->fd = -1;
	if (wire->kind == WIRE_ROCE)
		return;
	snprintf(line, sizeof(line), "%u", wire->device);
	umad_write_sysfs(DEVICES "del_device", line);
}

int wire_inject(struct wire *wire, const struct ib_hwsim_frame *frame)
{
	ssize_t n;

	if (wire->kind == WIRE_ROCE)
		return roce_inject(wire, frame);
	n = write(wire->fd, frame,
		  offsetof(struct ib_hwsim_frame, mad) + frame->len);
	return n < 0 ? -errno : 0;
}

/* A MAD that the port has sent; -ETIME: none. */
int wire_capture(struct wire *wire, struct ib_hwsim_frame *frame, int wait_ms)
{
	struct pollfd pfd = { .fd = wire->fd, .events = POLLIN };
	ssize_t n;
	int ret;

	ret = poll(&pfd, 1, wait_ms);
	if (ret <= 0)
		return ret ? -errno : -ETIME;
	if (wire->kind == WIRE_ROCE)
		return roce_capture(wire, frame);
	n = read(wire->fd, frame, sizeof(*frame));
	if (n < 0)
		return -errno;
	return frame->flags & IB_HWSIM_PORT_EVENT ? -EAGAIN : 0;
}

/* Peers are fd..::100 and so on, in the port's own subnet. */
void wire_gid(const struct wire *wire, int peer, uint8_t gid[16])
{
	memcpy(gid, wire->port.gid, 8);
	memset(gid + 8, 0, 8);
	gid[14] = (PEER_LID + peer) >> 8;
	gid[15] = (PEER_LID + peer) & 0xff;
}

static void put_grh(const struct wire *wire, struct ib_hwsim_frame *frame,
		    int peer)
{
	frame->flags |= IB_HWSIM_GRH;
	memset(frame->grh, 0, GRH_LEN);
	frame->grh[0] = 0x60;
	frame->grh[4] = (frame->len + 24) >> 8;
	frame->grh[5] = frame->len + 24;
	frame->grh[6] = wire->kind == WIRE_ROCE ? 17 : 0x1b;
	frame->grh[7] = 64;
	wire_gid(wire, peer, frame->grh + GRH_SGID);
	memcpy(frame->grh + GRH_DGID, wire->port.gid, 16);
}

/* The peer sends it to the port. */
void wire_from_peer(const struct wire *wire, struct ib_hwsim_frame *frame,
		    int peer, bool grh)
{
	frame->flags = 0;
	frame->slid = PEER_LID + peer;
	frame->dlid = OWN_LID;
	frame->src_qp = 1;
	frame->dest_qp = 1;
	frame->qkey = GSI_QKEY;
	frame->pkey = 0xffff;
	frame->sl = 0;
	frame->reserved = 0;
	if (grh || wire->kind == WIRE_ROCE)
		put_grh(wire, frame, peer);
}

static int peer_of_gid(const struct wire *wire, const uint8_t *gid)
{
	uint8_t own[16];
	int peer;

	for (peer = 0; peer < PEERS; peer++) {
		wire_gid(wire, peer, own);
		if (!memcmp(gid, own, sizeof(own)))
			return peer;
	}
	return -1;
}

/* To which peer a captured packet goes; -1: none. */
int wire_peer_of(const struct wire *wire, const struct ib_hwsim_frame *frame)
{
	if (frame_has_grh(frame))
		return peer_of_gid(wire, frame->grh + GRH_DGID);
	if (frame->dlid < PEER_LID || frame->dlid >= PEER_LID + PEERS)
		return -1;
	return frame->dlid - PEER_LID;
}

/* Can the port find out where to answer? Otherwise that takes a second. */
bool wire_is_reachable(const struct wire *wire,
		       const struct ib_hwsim_frame *frame)
{
	int peer;

	if (wire->kind != WIRE_ROCE)
		return true;
	peer = peer_of_gid(wire, frame->grh + GRH_SGID);
	return peer >= 0 && peer < PEERS - SILENT_PEERS;
}

static bool is_own_lid(uint32_t lid)
{
	return lid >= OWN_LID && lid < OWN_LID + 4;
}

bool wire_is_to_own(const struct wire *wire, const struct ib_hwsim_frame *frame)
{
	return wire->kind != WIRE_ROCE && is_own_lid(frame->dlid);
}

/* Does it claim to come from the port itself? */
bool wire_is_from_own(const struct wire *wire,
		      const struct ib_hwsim_frame *frame)
{
	if (frame_has_grh(frame) &&
	    !memcmp(frame->grh + GRH_SGID, wire->port.gid, 16))
		return true;
	return wire->kind != WIRE_ROCE && is_own_lid(frame->slid);
}

/*
 * One record, in two steps if it is long. Its MAD may have 2,048 bytes, which is
 * more than rmpp_msg_read() begins with.
 */
int fuzz_read(int fd, struct rmpp_msg *msg)
{
	size_t count = HDR_NEW + OPA_LEN;
	ssize_t n;

	if (!msg->buf) {
		msg->size = READ_MAX;
		msg->buf = calloc(1, READ_MAX);
		if (!msg->buf)
			abort();
	}
	n = read(fd, msg->buf, count);
	if (n < 0 && errno == ENOSPC)
		n = read(fd, msg->buf, READ_MAX);
	if (n < 0)
		return -errno;
	msg->hdr_len = HDR_NEW;
	msg->mad_len = n > HDR_NEW ? n - HDR_NEW : 0;
	return n;
}

/* Where a program writes to; @peer -1: the port itself. */
void peer_address(const struct wire *wire, int peer, bool grh,
		  struct ib_user_mad_hdr *hdr)
{
	hdr->qpn = htobe32(1);
	hdr->qkey = htobe32(GSI_QKEY);
	if (wire->kind != WIRE_ROCE)
		hdr->lid = htobe16(peer < 0 ? OWN_LID : PEER_LID + peer);
	hdr->grh_present = grh || wire->kind == WIRE_ROCE;
	if (!hdr->grh_present)
		return;
	hdr->gid_index = wire->port.gid_index;
	hdr->hop_limit = 64;
	if (peer < 0)
		memcpy(hdr->gid, wire->port.gid, sizeof(hdr->gid));
	else
		wire_gid(wire, peer, hdr->gid);
}
