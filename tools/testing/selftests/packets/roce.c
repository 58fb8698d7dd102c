// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RoCEv2 by hand, at the far end of the veth pair that the setup step rxe-remote
 * makes: rxe0 stands on veth0, packets go in and out by veth1.
 */
#include "wire.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>

#define NEAR		"veth0"
#define FAR		"veth1"
#define ROCE_PORT	4791
#define UD_SEND_ONLY	0x64
#define PROTO_UDP	17

/* Offsets in the Ethernet frame. */
#define AT_IPV6		14
#define AT_UDP		(AT_IPV6 + 40)
#define AT_BTH		(AT_UDP + 8)
#define AT_DETH		(AT_BTH + 12)
#define AT_MAD		(AT_DETH + 8)
#define ICRC_LEN	4

static uint32_t crc32_le(uint32_t crc, const uint8_t *data, size_t len)
{
	int bit;

	while (len--) {
		crc ^= *data++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return crc;
}

/* As if an LRH stood in front; fields that change on the way are ones. */
static uint32_t icrc(const uint8_t *packet, size_t len)
{
	uint8_t head[AT_DETH - AT_IPV6];
	uint32_t crc = 0xdebb20e3;	/* of 8 bytes 0xff */

	memcpy(head, packet + AT_IPV6, sizeof(head));
	head[0] |= 0x0f;				/* class, flow label */
	memset(head + 1, 0xff, 3);
	head[7] = 0xff;					/* hop limit */
	memset(head + AT_UDP - AT_IPV6 + 6, 0xff, 2);	/* UDP checksum */
	head[AT_BTH - AT_IPV6 + 4] = 0xff;		/* reserved */
	crc = crc32_le(crc, head, sizeof(head));
	return ~crc32_le(crc, packet + AT_DETH, len - AT_DETH);
}

static int read_mac(const char *netdev, uint8_t mac[6])
{
	char path[64], text[32];
	unsigned int byte[6];
	int ret, i;

	snprintf(path, sizeof(path), "/sys/class/net/%s/address", netdev);
	ret = umad_read_sysfs(path, text, sizeof(text));
	if (ret)
		return ret;
	if (sscanf(text, "%x:%x:%x:%x:%x:%x", &byte[0], &byte[1], &byte[2],
		   &byte[3], &byte[4], &byte[5]) != 6)
		return -EINVAL;
	for (i = 0; i < 6; i++)
		mac[i] = byte[i];
	return 0;
}

/* The silent ones do not answer: their address takes a second to fail. */
static int add_neighbours(const struct wire *wire)
{
	FILE *ip = popen("ip -6 -batch -", "we");
	int peer;

	if (!ip)
		return -errno;
	for (peer = 0; peer < PEERS - SILENT_PEERS; peer++)
		fprintf(ip, "neigh replace fd00::%x lladdr %02x:%02x:%02x:%02x:%02x:%02x dev "
			NEAR " nud permanent\n", PEER_LID + peer,
			wire->mac[0][0], wire->mac[0][1], wire->mac[0][2],
			wire->mac[0][3], wire->mac[0][4], wire->mac[0][5]);
	return pclose(ip) ? -EIO : 0;
}

int roce_open(struct wire *wire)
{
	int size = 8 << 20;
	int ret;

	setenv("UMAD_IBDEV", "rxe0", 1);
	if (read_mac(FAR, wire->mac[0]) || read_mac(NEAR, wire->mac[1]))
		return -ENOENT;
	ret = add_neighbours(wire);
	if (ret)
		return ret;
	wire->far.sll_family = AF_PACKET;
	wire->far.sll_protocol = htons(ETH_P_IPV6);
	wire->far.sll_ifindex = if_nametoindex(FAR);
	wire->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			  htons(ETH_P_IPV6));
	if (wire->fd < 0)
		return -errno;
	setsockopt(wire->fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (bind(wire->fd, (struct sockaddr *)&wire->far, sizeof(wire->far)))
		return -errno;
	return 0;
}

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value);
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

int roce_inject(struct wire *wire, const struct ib_hwsim_frame *frame)
{
	/* A longer one is an error of rxe's queue pair, not of this module. */
	size_t len = frame->len > MAD_LEN ? MAD_LEN : frame->len;
	size_t pad = -len & 3;
	uint8_t packet[AT_MAD + MAD_LEN + ICRC_LEN] = { 0 };
	size_t end = AT_MAD + len + pad;
	uint32_t crc;

	memcpy(packet, wire->mac[1], 6);
	memcpy(packet + 6, wire->mac[0], 6);
	put16(packet + 12, ETH_P_IPV6);
	memcpy(packet + AT_IPV6, frame->grh, 40);
	packet[AT_IPV6] = 0x60 | (packet[AT_IPV6] & 0xf);
	put16(packet + AT_IPV6 + 4, end + ICRC_LEN - AT_UDP);
	packet[AT_IPV6 + 6] = PROTO_UDP;
	put16(packet + AT_UDP, 0xc000);
	put16(packet + AT_UDP + 2, ROCE_PORT);
	put16(packet + AT_UDP + 4, end + ICRC_LEN - AT_UDP);
	packet[AT_BTH] = UD_SEND_ONLY;
	packet[AT_BTH + 1] = pad << 4;
	put16(packet + AT_BTH + 2, frame->pkey);
	put32(packet + AT_BTH + 4, frame->dest_qp & 0xffffff);
	put32(packet + AT_DETH, frame->qkey);
	put32(packet + AT_DETH + 4, frame->src_qp & 0xffffff);
	memcpy(packet + AT_MAD, frame->mad, len);
	crc = icrc(packet, end);
	memcpy(packet + end, &crc, ICRC_LEN);
	return send(wire->fd, packet, end + ICRC_LEN, 0) < 0 ? -errno : 0;
}

/* What is no MAD of the port is passed over. */
int roce_capture(struct wire *wire, struct ib_hwsim_frame *frame)
{
	struct sockaddr_ll from = { 0 };
	socklen_t from_len = sizeof(from);
	uint8_t *packet = wire->last;
	ssize_t n;

	n = recvfrom(wire->fd, packet, sizeof(wire->last), 0,
		     (struct sockaddr *)&from, &from_len);
	if (n < 0)
		return -errno;
	if (from.sll_pkttype == PACKET_OUTGOING || n < AT_MAD + ICRC_LEN + 24 ||
	    packet[AT_IPV6 + 6] != PROTO_UDP ||
	    packet[AT_UDP + 2] << 8 != (ROCE_PORT & 0xff00) ||
	    packet[AT_UDP + 3] != (ROCE_PORT & 0xff))
		return -EAGAIN;
	memset(frame, 0, offsetof(struct ib_hwsim_frame, mad));
	n -= AT_MAD + ICRC_LEN;
	frame->len = n > MAD_LEN ? MAD_LEN : n;
	frame->flags = IB_HWSIM_GRH;
	frame->pkey = packet[AT_BTH + 2] << 8 | packet[AT_BTH + 3];
	frame->dest_qp = get32(packet + AT_BTH + 4) & 0xffffff;
	frame->qkey = get32(packet + AT_DETH);
	frame->src_qp = get32(packet + AT_DETH + 4) & 0xffffff;
	memcpy(frame->grh, packet + AT_IPV6, 40);
	memset(frame->mad, 0, MAD_LEN);
	memcpy(frame->mad, packet + AT_MAD, frame->len);
	return 0;
}
