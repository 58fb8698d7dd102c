// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The program of Documentation/user/quick-start.rst: MADs through
 * /dev/infiniband/umadN with nothing but <rdma/ib_user_mad.h>. It has two files open,
 * a client and a server of a vendor class, and sends from one to the other by the
 * port's own address.
 *
 *	quick_start [umadN [GID-INDEX]]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_mad.h>

#define MAD_SIZE	256
#define CLASS_VENDOR	0x32	/* vendor classes 0x30 to 0x4f have an OUI */
#define OUI		0x020001
#define METHOD_GET	0x01
#define METHOD_SET	0x02
#define METHOD_GETRESP	0x81
#define RMPP_ACTIVE	0x01

/* The MAD of this class, as on the wire: big endian. */
struct vendor_mad {
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	uint16_t status;
	uint16_t class_specific;
	uint32_t tid_high;		/* of a request: replaced by the kernel */
	uint32_t tid;
	uint16_t attr_id;
	uint16_t reserved;
	uint32_t attr_mod;
	uint8_t rmpp_version;
	uint8_t rmpp_type;
	uint8_t rmpp_flags;
	uint8_t rmpp_status;
	uint32_t segment;
	uint32_t payload_length;
	uint8_t reserved2;
	uint8_t oui[3];
	uint8_t data[216];
};

/* What one write() or read() moves. */
struct packet {
	struct ib_user_mad_hdr hdr;
	struct vendor_mad mad;
};

static void die(const char *what)
{
	fprintf(stderr, "quick_start: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A line of a file of sysfs. */
static void read_line(const char *dir, const char *name, char *line, int size)
{
	char path[192];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	if (!file || !fgets(line, size, file))
		die(path);
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

/* The address of the port itself; a GRH is necessary on RoCE, harmless elsewhere. */
static void own_address(const char *umad, int gid_index, struct ib_user_mad_hdr *hdr)
{
	char dir[128], ibdev[64], port[16], name[32], text[64];

	snprintf(dir, sizeof(dir), "/sys/class/infiniband_mad/%s", umad);
	read_line(dir, "ibdev", ibdev, sizeof(ibdev));
	read_line(dir, "port", port, sizeof(port));

	snprintf(dir, sizeof(dir), "/sys/class/infiniband/%s/ports/%s", ibdev, port);
	read_line(dir, "lid", text, sizeof(text));
	hdr->lid = htons(strtoul(text, NULL, 0));
	snprintf(name, sizeof(name), "gids/%d", gid_index);
	read_line(dir, name, text, sizeof(text));
	if (inet_pton(AF_INET6, text, hdr->gid) != 1)
		die(text);
	hdr->grh_present = 1;
	hdr->gid_index = gid_index;
	hdr->hop_limit = 64;
	hdr->qpn = htonl(1);
}

/* Open a device; its file speaks the header with the P_Key index from here on. */
static int open_umad(const char *umad)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/dev/infiniband/%s", umad);
	fd = open(path, O_RDWR);
	if (fd < 0)
		die(path);
	if (ioctl(fd, IB_USER_MAD_ENABLE_PKEY))
		die("IB_USER_MAD_ENABLE_PKEY");
	return fd;
}

/* Register an agent: @methods are those of the requests that it wants to receive. */
static uint32_t register_agent(int fd, uint64_t methods)
{
	struct ib_user_mad_reg_req2 req = {
		.qpn = 1,
		.mgmt_class = CLASS_VENDOR,
		.mgmt_class_version = 1,
		.oui = OUI,
		.rmpp_version = 1,	/* the kernel does RMPP */
		.method_mask = { methods },
	};

	if (ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &req))
		die("IB_USER_MAD_REGISTER_AGENT2");
	return req.id;
}

/* Send a request: three attempts, 200 ms apart. */
static void send_request(int fd, uint32_t agent, const struct ib_user_mad_hdr *to,
			 uint8_t method, uint32_t tid)
{
	struct packet packet = {
		.hdr = *to,
		.mad = {
			.base_version = 1,
			.mgmt_class = CLASS_VENDOR,
			.class_version = 1,
			.method = method,
			.tid = htonl(tid),
			.attr_id = htons(0x0010),
			.oui = { OUI >> 16, OUI >> 8 & 0xff, OUI & 0xff },
		},
	};

	packet.hdr.id = agent;
	packet.hdr.timeout_ms = 200;
	packet.hdr.retries = 2;
	if (write(fd, &packet, sizeof(packet)) != sizeof(packet))
		die("write");
}

/* Receive one entry of any length; the caller frees it. */
static struct packet *receive(int fd, size_t *len)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	size_t size = sizeof(struct ib_user_mad_hdr) + MAD_SIZE;
	struct packet *packet = malloc(size);
	ssize_t n;

	for (;;) {
		if (!packet)
			die("malloc");
		if (poll(&pollfd, 1, 5000) != 1)
			die("poll");
		n = read(fd, packet, size);
		if (n >= 0)
			break;
		/* A message of several segments: now its length is known. */
		if (errno != ENOSPC)
			die("read");
		size = packet->hdr.length;
		printf("ENOSPC: %zu bytes are needed\n", size);
		packet = realloc(packet, size);
	}
	*len = n;
	return packet;
}

/* Answer a request by a message of @size bytes of data. */
static void answer(int fd, uint32_t agent, const struct packet *request, size_t size)
{
	size_t len = sizeof(*request) - sizeof(request->mad.data) + size;
	struct packet *packet = calloc(1, len);

	if (!packet)
		die("calloc");
	memcpy(packet, request, len < sizeof(*request) ? len : sizeof(*request));
	packet->hdr.id = agent;
	packet->hdr.timeout_ms = 0;	/* no response is expected */
	packet->hdr.retries = 3;
	packet->mad.method = METHOD_GETRESP;
	packet->mad.rmpp_flags = RMPP_ACTIVE;
	memset(packet->mad.data, 'x', size);
	if (write(fd, packet, len) != (ssize_t)len)
		die("write");
	free(packet);
}

int main(int argc, char **argv)
{
	const char *umad = argc > 1 ? argv[1] : "umad0";
	struct ib_user_mad_hdr to = { 0 };
	uint32_t client_agent, server_agent;
	int client, server;
	struct packet *packet;
	size_t len;

	own_address(umad, argc > 2 ? atoi(argv[2]) : 0, &to);
	client = open_umad(umad);
	server = open_umad(umad);
	client_agent = register_agent(client, 0);
	server_agent = register_agent(server, 1 << METHOD_GET | 1 << METHOD_SET);

	/* Answered, by more than fits into one MAD. */
	send_request(client, client_agent, &to, METHOD_GET, 1);
	packet = receive(server, &len);
	printf("server: method 0x%02x, %zu bytes\n", packet->mad.method, len);
	answer(server, server_agent, packet, 1000);
	free(packet);
	packet = receive(client, &len);
	printf("client: status %u, method 0x%02x, tid %u, %zu bytes\n",
	       packet->hdr.status, packet->mad.method, ntohl(packet->mad.tid), len);
	if (packet->hdr.status || packet->mad.method != METHOD_GETRESP ||
	    packet->mad.tid != htonl(1) || len < sizeof(*packet) + 1000 - 216)
		return 1;
	free(packet);

	/* Not answered: the header and 24 bytes of the MAD come back. */
	send_request(client, client_agent, &to, METHOD_SET, 2);
	packet = receive(client, &len);
	printf("client: status %u (%s), tid %u, %zu bytes\n", packet->hdr.status,
	       strerror(packet->hdr.status), ntohl(packet->mad.tid), len);
	if (packet->hdr.status != ETIMEDOUT || packet->mad.tid != htonl(2))
		return 1;
	free(packet);

	close(server);
	close(client);
	return 0;
}
