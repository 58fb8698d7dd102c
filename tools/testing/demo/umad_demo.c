// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two processes that talk to each other through /dev/infiniband/umadN, with
 * nothing but the distribution's own libibumad: a server of a vendor class,
 * which answers Get and only looks at Set, and a client, which asks both.
 * RoCE has no LIDs, so that both go by GID.
 *
 *	umad_demo [RDMA-DEVICE]
 */
#include <arpa/inet.h>
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/umad.h>

#define CLASS_VENDOR	0x35	/* one of those that go with an OUI */
#define METHOD_GET	0x01
#define METHOD_SET	0x02
#define METHOD_GETRESP	0x81

#define TIMEOUT_MS	300
#define RETRIES		2

/* A vendor MAD with an OUI, as on the wire: IBA 16.5 */
struct mad {
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method;
	uint16_t status;
	uint16_t class_specific;
	uint64_t tid;
	uint16_t attr_id;
	uint16_t reserved;
	uint32_t attr_mod;
	uint8_t rmpp[12];
	uint8_t reserved2;
	uint8_t oui[3];
	char text[216];
};

static_assert(sizeof(struct mad) == 256, "a MAD has 256 bytes");

static uint8_t oui[3] = { 0x02, 0x00, 0x01 };	/* nobody's */
static double *start;	/* of the question in hand, shared by both */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

#define say(who, format, ...) \
	printf("  %.3f s  %s  " format "\n", now() - *start, who, ##__VA_ARGS__)

static noreturn void die(const char *what)
{
	printf("  umad_demo: %s: %s\n", what, strerror(errno));
	exit(1);
}

static const char *gid_text(const uint8_t *gid)
{
	static char text[INET6_ADDRSTRLEN];

	return inet_ntop(AF_INET6, gid, text, sizeof(text));
}

static unsigned long long tid_of(const struct mad *mad)
{
	return be64toh(mad->tid);
}

/*
 * The last IPv6 GID of the port's table; ib_core matches no response that
 * comes over an IPv4-mapped one.
 */
static int find_gid(const char *ca, int port, uint8_t *gid)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	char path[128], text[64];
	int found = -1, i;
	uint8_t raw[16];
	FILE *file;

	for (i = 0; i < 16; i++) {
		snprintf(path, sizeof(path), SYS_INFINIBAND "/%s/ports/%d/gids/%d",
			 ca, port, i);
		file = fopen(path, "r");
		if (!file)
			break;
		if (fgets(text, sizeof(text), file)) {
			text[strcspn(text, "\n")] = '\0';
			if (inet_pton(AF_INET6, text, raw) == 1 && raw[0] &&
			    memcmp(raw, v4, sizeof(v4))) {
				memcpy(gid, raw, sizeof(raw));
				found = i;
			}
		}
		fclose(file);
	}
	return found;
}

static void address(struct ib_user_mad *umad, const uint8_t *gid,
		    int gid_index, int pkey_index)
{
	struct ib_mad_addr addr = { .hop_limit = 64 };

	memcpy(addr.gid, gid, sizeof(addr.gid));
	umad_set_addr_net(umad, 0, htonl(1), 0, 0);
	umad_set_grh(umad, &addr);
	/* The one part of the address that libibumad has no function for. */
	umad->addr.gid_index = gid_index;
	umad_set_pkey(umad, pkey_index);
}

/* Answers each Get, and never a Set, until it is killed. */
static void serve(int port, int ready)
{
	long methods[16 / sizeof(long)] = {
		1L << METHOD_GET | 1L << METHOD_SET
	};
	struct ib_user_mad *umad = umad_alloc(1, umad_size() + 256);
	struct mad *mad = umad_get_mad(umad);
	int agent, len, attempts = 0;

	agent = umad_register_oui(port, CLASS_VENDOR, 0, oui, methods);
	if (agent < 0)
		die("server: umad_register_oui");
	if (write(ready, "", 1) != 1)
		die("server: pipe");

	for (;;) {
		len = sizeof(*mad);
		if (umad_recv(port, umad, &len, -1) < 0)
			die("server: umad_recv");
		if (mad->method == METHOD_SET) {
			say("server", "gets attempt %d, TID 0x%016llx, and is silent",
			    ++attempts, tid_of(mad));
			continue;
		}
		say("server", "gets \"%s\", TID 0x%016llx,", mad->text,
		    tid_of(mad));
		say("server", "  from %s, P_Key index %d",
		    gid_text(umad->addr.gid), umad_get_pkey(umad));

		mad->method = METHOD_GETRESP;
		strcpy(mad->text, "I am!");
		address(umad, umad->addr.gid, umad->addr.gid_index,
			umad_get_pkey(umad));
		if (umad_send(port, agent, umad, sizeof(*mad), 0, 0) < 0)
			die("server: umad_send");
	}
}

/* Sends one request, waits for what comes of it, and says what. */
static int ask(int port, int agent, const uint8_t *gid, int gid_index,
	       uint8_t method, uint32_t tid)
{
	struct ib_user_mad *umad = umad_alloc(1, umad_size() + 256);
	struct mad *mad = umad_get_mad(umad);
	int len = sizeof(*mad), status;

	mad->base_version = 1;
	mad->mgmt_class = CLASS_VENDOR;
	mad->class_version = 1;
	mad->method = method;
	mad->tid = htobe64(tid);
	memcpy(mad->oui, oui, sizeof(oui));
	strcpy(mad->text, method == METHOD_GET ? "Anybody there?" :
						 "Say nothing.");
	address(umad, gid, gid_index, 0);

	*start = now();
	say("client", "sends \"%s\", TID 0x%08x,", mad->text, tid);
	say("client", "  to %s, P_Key index 0, %d ms, %d retries",
	    gid_text(gid), TIMEOUT_MS, RETRIES);
	if (umad_send(port, agent, umad, sizeof(*mad), TIMEOUT_MS, RETRIES) < 0)
		die("client: umad_send");
	/* A time-out makes umad_recv() fail, and leaves the record. */
	umad_recv(port, umad, &len, 5000);
	status = umad_status(umad);
	if (!status)
		say("client", "gets \"%s\", TID 0x%016llx, P_Key index %d",
		    mad->text, tid_of(mad), umad_get_pkey(umad));
	else
		say("client", "gets it back, TID 0x%016llx: status %d, %s",
		    tid_of(mad), status, strerror(status));
	umad_free(umad);
	return status;
}

int main(int argc, char **argv)
{
	const char *ca = argc > 1 ? argv[1] : "rxe0";
	int server, client, agent, gid_index, ok, pipes[2];
	uint8_t gid[16];
	pid_t pid;
	char c;

	setvbuf(stdout, NULL, _IOLBF, 0);
	gid_index = find_gid(ca, 1, gid);
	if (gid_index < 0)
		die("no IPv6 GID");
	server = umad_open_port(ca, 1);
	client = umad_open_port(ca, 1);
	if (server < 0 || client < 0)
		die("umad_open_port");
	if (pipe(pipes))
		die("pipe");

	start = mmap(NULL, sizeof(*start), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		die("mmap");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		serve(server, pipes[1]);
	close(pipes[1]);
	if (read(pipes[0], &c, 1) != 1)
		die("the server is gone");
	agent = umad_register_oui(client, CLASS_VENDOR, 0, oui, NULL);
	if (agent < 0)
		die("client: umad_register_oui");

	puts("  A request that is answered:");
	ok = !ask(client, agent, gid, gid_index, METHOD_GET, 0x1001);
	puts("  A request that nobody answers:");
	ok &= ask(client, agent, gid, gid_index, METHOD_SET, 0x1002) ==
	      ETIMEDOUT;

	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	umad_close_port(client);
	umad_close_port(server);
	return !ok;
}
