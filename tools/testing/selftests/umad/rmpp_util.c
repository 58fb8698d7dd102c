// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Helpers of the RMPP tests. See rmpp_util.h.
 */
#include "rmpp_util.h"

#include <stdio.h>

/* Where the data of a class begins in each segment. */
size_t rmpp_offset(uint8_t mgmt_class)
{
	switch (mgmt_class) {
	case CLASS_SA:
		return 56;
	case 0x06:
	case 0x10:
	case 0x12:
		return 64;
	default:
		return 40;
	}
}

size_t rmpp_seg_data(uint8_t mgmt_class)
{
	return MAD_LEN - rmpp_offset(mgmt_class);
}

uint32_t rmpp_segs(uint8_t mgmt_class, size_t data_len)
{
	size_t per_seg = rmpp_seg_data(mgmt_class);

	return data_len ? (data_len + per_seg - 1) / per_seg : 1;
}

void rmpp_put(uint8_t *mad, const struct rmpp_pkt *pkt)
{
	uint32_t seg = htobe32(pkt->seg), len = htobe32(pkt->len);

	mad[24] = pkt->version;
	mad[25] = pkt->type;
	mad[26] = pkt->flags;
	mad[27] = pkt->status;
	memcpy(mad + 28, &seg, 4);
	memcpy(mad + 32, &len, 4);
}

/* RRespTime, the upper bits of the flags, is no matter of the tests. */
void rmpp_get(const uint8_t *mad, struct rmpp_pkt *pkt)
{
	uint32_t seg, len;

	memcpy(&seg, mad + 28, 4);
	memcpy(&len, mad + 32, 4);
	pkt->version = mad[24];
	pkt->type = mad[25];
	pkt->flags = mad[26] & 7;
	pkt->status = mad[27];
	pkt->seg = be32toh(seg);
	pkt->len = be32toh(len);
}

/* No two segments are alike, nor are two messages. */
static uint8_t byte_at(size_t i, uint32_t seed)
{
	uint32_t x = i * 2654435761u + seed * 40503u;

	return x >> 24 ^ x >> 11;
}

void rmpp_fill(uint8_t *data, size_t first, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = byte_at(first + i, seed);
}

bool rmpp_same(const uint8_t *data, size_t first, size_t len, uint32_t seed)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (data[i] != byte_at(first + i, seed))
			return false;
	return true;
}

static bool has_oui(uint8_t mgmt_class)
{
	return mgmt_class >= 0x30 && mgmt_class <= 0x4f;
}

static int register_old(int fd, const struct rmpp_agent *agent)
{
	struct ib_user_mad_reg_req req = {
		.qpn = 1,
		.mgmt_class = agent->mgmt_class,
		.mgmt_class_version = agent->mgmt_class == CLASS_SA ? 2 : 1,
		.rmpp_version = agent->rmpp_version,
	};
	unsigned int bits = 8 * sizeof(long);
	int ret;

	if (agent->method)
		req.method_mask[agent->method / bits] |=
			1ul << agent->method % bits;
	if (has_oui(agent->mgmt_class)) {
		req.oui[0] = TEST_OUI >> 16 & 0xff;
		req.oui[1] = TEST_OUI >> 8 & 0xff;
		req.oui[2] = TEST_OUI & 0xff;
	}
	ret = umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req);
	return ret ? ret : (int)req.id;
}

/* Returns the agent's id. */
int rmpp_register(int fd, const struct rmpp_agent *agent)
{
	struct ib_user_mad_reg_req2 req;

	if (agent->old)
		return register_old(fd, agent);
	reg_init(&req, agent->mgmt_class,
		 agent->mgmt_class == CLASS_SA ? 2 : 1);
	if (agent->method)
		mask_set((uint64_t *)req.method_mask, agent->method);
	if (has_oui(agent->mgmt_class))
		req.oui = TEST_OUI;
	req.rmpp_version = agent->rmpp_version;
	req.flags = agent->flags;
	return umad_reg2(fd, &req);
}

struct ib_user_mad_hdr *rmpp_user_hdr(const struct rmpp_msg *msg)
{
	return (struct ib_user_mad_hdr *)msg->buf;
}

uint8_t *rmpp_mad_bytes(const struct rmpp_msg *msg)
{
	return msg->buf + msg->hdr_len;
}

struct mad_hdr *rmpp_mad(const struct rmpp_msg *msg)
{
	return (struct mad_hdr *)rmpp_mad_bytes(msg);
}

uint32_t rmpp_tid(const struct rmpp_msg *msg)
{
	return be64toh(rmpp_mad(msg)->tid);
}

/* At least one MAD, so that a test may always look at the headers. */
static void msg_grow(struct rmpp_msg *msg, size_t size)
{
	if (size < MSG_LEN)
		size = MSG_LEN;
	if (size <= msg->size)
		return;
	msg->buf = realloc(msg->buf, size);
	if (!msg->buf)
		abort();
	memset(msg->buf + msg->size, 0, size - msg->size);
	msg->size = size;
}

void rmpp_msg_free(struct rmpp_msg *msg)
{
	free(msg->buf);
	memset(msg, 0, sizeof(*msg));
}

static void put_data(struct rmpp_msg *msg, size_t data_len, uint32_t seed)
{
	size_t offset = rmpp_offset(rmpp_mad(msg)->mgmt_class);

	msg->mad_len = offset + data_len;
	msg_grow(msg, msg->hdr_len + msg->mad_len);
	rmpp_fill(rmpp_mad_bytes(msg) + offset, 0, data_len, seed);
}

/* @msg is zero, or was used before. An Active message of the port to itself. */
void rmpp_msg_init(struct rmpp_msg *msg, const struct test_port *port,
		   size_t hdr_len, uint32_t id, uint8_t mgmt_class,
		   uint8_t method, uint64_t tid, size_t data_len,
		   uint32_t seed)
{
	struct umad_msg head;
	size_t i;

	msg_init(&head, port, id, mgmt_class, method, tid);
	head.mad.attr_id = htobe16(0x35);
	head.mad.attr_mod = htobe32(0x01020304);
	msg->hdr_len = hdr_len;
	msg_grow(msg, 0);
	memset(msg->buf, 0, msg->size);
	memcpy(msg->buf, &head.hdr, hdr_len);
	memcpy(rmpp_mad_bytes(msg), head.data, 64);
	/* The class header, where it has no OUI. */
	for (i = has_oui(mgmt_class) ? 40 : RMPP_HDR;
	     i < rmpp_offset(mgmt_class); i++)
		rmpp_mad_bytes(msg)[i] = 0x80 + i;
	rmpp_mad_bytes(msg)[26] = RMPP_ACTIVE;
	put_data(msg, data_len, seed);
}

/* An Active response to what was received. */
void rmpp_msg_reply(struct rmpp_msg *reply, const struct rmpp_msg *req,
		    uint32_t id, size_t data_len, uint32_t seed)
{
	reply->hdr_len = req->hdr_len;
	msg_grow(reply, 0);
	memset(reply->buf, 0, reply->size);
	memcpy(reply->buf, req->buf, req->hdr_len + 64);
	rmpp_user_hdr(reply)->id = id;
	rmpp_user_hdr(reply)->status = 0;
	rmpp_user_hdr(reply)->timeout_ms = 0;
	rmpp_user_hdr(reply)->retries = 0;
	rmpp_user_hdr(reply)->qkey = htobe32(GSI_QKEY);
	rmpp_mad(reply)->method |= METHOD_RESP;
	memset(rmpp_mad_bytes(reply) + 24, 0, 12);
	rmpp_mad_bytes(reply)[26] = RMPP_ACTIVE;
	put_data(reply, data_len, seed);
}

int rmpp_msg_write(int fd, const struct rmpp_msg *msg)
{
	ssize_t n = write(fd, msg->buf, msg->hdr_len + msg->mad_len);

	return n < 0 ? -errno : (int)n;
}

/* As saquery does: one MAD's room first, more when it is asked for. */
int rmpp_msg_read(int fd, struct rmpp_msg *msg, size_t hdr_len, int wait_ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	size_t count = hdr_len + MAD_LEN;
	ssize_t n;
	int ret;

	msg->hdr_len = hdr_len;
	msg->mad_len = 0;
	ret = poll(&pfd, 1, wait_ms);
	if (ret < 0)
		return -errno;
	if (!ret)
		return -ETIME;
	for (;;) {
		msg_grow(msg, count);
		n = read(fd, msg->buf, count);
		if (n >= 0)
			break;
		if (errno != ENOSPC || rmpp_user_hdr(msg)->length <= count)
			return -errno;
		count = rmpp_user_hdr(msg)->length;
	}
	if (n >= hdr_len)
		msg->mad_len = n - hdr_len;
	return n;
}

bool rmpp_msg_has(const struct rmpp_msg *msg, size_t data_len, uint32_t seed)
{
	size_t offset = rmpp_offset(rmpp_mad(msg)->mgmt_class);

	return !rmpp_user_hdr(msg)->status &&
	       msg->mad_len == offset + data_len &&
	       rmpp_same(rmpp_mad_bytes(msg) + offset, 0, data_len, seed);
}

/* Nothing to be read for so long? */
bool rmpp_quiet(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return !poll(&pfd, 1, ms);
}

/* One packet; one of DATA has the data that belongs there. */
int raw_send(struct rmpp_raw *raw, const struct rmpp_pkt *pkt)
{
	size_t per_seg = rmpp_seg_data(raw->mgmt_class);
	struct umad_msg msg;
	int ret;

	msg_init(&msg, raw->port, raw->id, raw->mgmt_class, raw->method,
		 raw->tid);
	msg.mad.attr_id = htobe16(0x35);
	rmpp_put(msg.data, pkt);
	if (pkt->type == RMPP_DATA && pkt->seg)
		rmpp_fill(msg.data + rmpp_offset(raw->mgmt_class),
			  (pkt->seg - 1) * per_seg, per_seg, raw->seed);
	ret = msg_write(raw->fd, &msg);
	return ret == MSG_LEN ? 0 : ret < 0 ? ret : -EIO;
}

int raw_data(struct rmpp_raw *raw, uint32_t seg, uint8_t flags, uint32_t len)
{
	const struct rmpp_pkt pkt = {
		.version = 1,
		.type = RMPP_DATA,
		.flags = RMPP_ACTIVE | flags | (seg == 1 ? RMPP_FIRST : 0),
		.seg = seg,
		.len = len,
	};

	return raw_send(raw, &pkt);
}

int raw_ack(struct rmpp_raw *raw, uint32_t seg, uint32_t last)
{
	const struct rmpp_pkt pkt = {
		.version = 1,
		.type = RMPP_ACK,
		.flags = RMPP_ACTIVE,
		.seg = seg,
		.len = last,
	};

	return raw_send(raw, &pkt);
}

/*
 * A MAD without RMPP. As it is no segment it is a duplicate for as long as an
 * ACK of the same TID is in the send queue.
 */
int raw_plain(struct rmpp_raw *raw)
{
	static const struct rmpp_pkt plain;
	uint64_t end = now_ms() + 2000;
	int ret;

	do {
		ret = raw_send(raw, &plain);
	} while (ret == -EINVAL && now_ms() < end);
	return ret;
}

/* The next packet, whatever it is; -EBADMSG for what is no packet. */
int raw_recv(struct rmpp_raw *raw, struct rmpp_pkt *pkt, int wait_ms)
{
	int ret = msg_read(raw->fd, &raw->got, wait_ms);

	if (ret < 0)
		return ret;
	if (ret != MSG_LEN || raw->got.hdr.status)
		return -EBADMSG;
	rmpp_get(raw->got.data, pkt);
	return 0;
}

/* The next packet of a type; others are passed over. */
int raw_wait(struct rmpp_raw *raw, uint8_t type, struct rmpp_pkt *pkt,
	     int wait_ms)
{
	uint64_t end = now_ms() + wait_ms;
	uint64_t now;
	int ret;

	for (;;) {
		now = now_ms();
		ret = raw_recv(raw, pkt, now < end ? end - now : 0);
		if (ret < 0 || pkt->type == type)
			return ret;
	}
}

/* The same with a segment number: others are repetitions. */
int raw_wait_seg(struct rmpp_raw *raw, uint8_t type, uint32_t seg,
		 struct rmpp_pkt *pkt, int wait_ms)
{
	uint64_t end = now_ms() + wait_ms;
	uint64_t now;
	int ret;

	for (;;) {
		now = now_ms();
		ret = raw_wait(raw, type, pkt, now < end ? end - now : 0);
		if (ret < 0 || pkt->seg == seg)
			return ret;
	}
}

/* None of these types (bits by number) comes for so long. */
bool raw_never(struct rmpp_raw *raw, unsigned int types, int ms)
{
	uint64_t end = now_ms() + ms;
	struct rmpp_pkt pkt;
	uint64_t now;

	for (;;) {
		now = now_ms();
		if (raw_recv(raw, &pkt, now < end ? end - now : 0) < 0)
			return true;
		if (types & 1u << pkt.type)
			return false;
	}
}

/* The server's port: of UMAD_PEER, else the client's own. */
int rmpp_peer_port(struct test_port *peer)
{
	const char *name = getenv("UMAD_PEER");
	char own[64];
	int ret;

	if (!name)
		return umad_port_find(peer);
	snprintf(own, sizeof(own), "%s", umad_ibdev());
	setenv("UMAD_IBDEV", name, 1);
	ret = umad_port_find(peer);
	setenv("UMAD_IBDEV", own, 1);
	return ret;
}

/* Both ends, and the port of the client with the server's GID to write to. */
int rmpp_path_find(struct test_port *port, struct test_port *peer,
		   struct test_port *path)
{
	int ret = umad_port_find(port);

	if (!ret)
		ret = rmpp_peer_port(peer);
	*path = *port;
	memcpy(path->gid, peer->gid, sizeof(path->gid));
	path->lid = peer->lid;
	return ret;
}

/* Sets a parameter of the module; returns what it was, or an errno. */
long rmpp_param_set(const char *name, long value)
{
	char path[128], old[32], text[32];
	int ret;

	snprintf(path, sizeof(path), "/sys/module/ib_umad/parameters/%s", name);
	ret = umad_read_sysfs(path, old, sizeof(old));
	if (ret)
		return ret;
	snprintf(text, sizeof(text), "%ld", value);
	ret = umad_write_sysfs(path, text);
	return ret ? ret : atol(old);
}
