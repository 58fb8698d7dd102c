// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The bridge between ports of ib_hwsim and ibsim: each port is attached to a node of
 * ibsim's net; the node's SMA and PMA are ibsim's.
 *
 *	hwsim_ibsim [--make] [-s NAME] [-w SECONDS] DEVICE:PORT=NODE ...
 *
 * It forwards MADs both ways. It sets the attributes of the kernel's port that ibsim
 * knows (LID, state, P_Keys), and tells ibsim the IsSM bit. It prints "ready" when all
 * ports are attached, and its counters at SIGUSR1.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bridge.h"
#include "loop.h"

#define NEW_DEVICE	"/sys/bus/ib_hwsim/new_device"
#define MAX_PORTS	10	/* ibsim has no more clients */
#define DEVICE_PORTS	8	/* a device of ib_hwsim has no more */

#define TICK_MS		1000	/* ibsim is asked for news */
#define REFRESH_MS	10	/* the same after a MAD has changed a port */

/* Of NodeInfo: IBA 14.2.5.3 */
#define NI_TYPE		2
#define NI_PORTS	3
#define NI_GUID		12
#define TYPE_SWITCH	2
#define NODE_PKEYS	32	/* what ibsim reports of a P_Key table */

static struct port ports[MAX_PORTS];
static int port_count;
static struct source signals;
static bool stopping;

static void print_counts(void)
{
	struct port *port;

	for (port = ports; port < ports + port_count; port++) {
		printf("hwsim%u:%u %s to_ibsim %lu from_ibsim %lu unreachable %lu",
		       port->device, port->number, port->sim.node,
		       port->count.to_ibsim, port->count.from_ibsim,
		       port->count.unreachable);
		printf(" unfit %lu refused %lu told %lu\n", port->count.unfit,
		       port->count.refused, port->count.told);
	}
	fflush(stdout);
}

static void signal_ready(struct port *none)
{
	struct signalfd_siginfo info;

	(void)none;
	if (read(signals.fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1)
		print_counts();
	else
		stopping = true;
}

/* Return: true if a MAD has changed a port that may be another one of ours. */
static bool take_news(void)
{
	bool news = false;
	struct port *port;

	for (port = ports; port < ports + port_count; port++) {
		news |= port->news;
		port->news = false;
	}
	return news;
}

static void tick(void)
{
	struct port *port;

	for (port = ports; port < ports + port_count; port++) {
		if (port->gone)
			continue;
		bridge_check(port);
		bridge_want(port, WANT_NEWS);
		bridge_ask_kernel(port);
	}
}

static void refresh(void)
{
	struct port *port;

	for (port = ports; port < ports + port_count; port++)
		bridge_want(port, WANT_NEWS);
}

static void serve(void)
{
	long tick_at = now_ms() + TICK_MS;
	long refresh_at = tick_at;

	while (!stopping) {
		loop_once(refresh_at < tick_at ? refresh_at : tick_at);
		if (take_news() && refresh_at >= tick_at)
			refresh_at = now_ms() + REFRESH_MS;
		if (now_ms() >= tick_at) {
			tick();
			tick_at = now_ms() + TICK_MS;
			refresh_at = tick_at;
		} else if (now_ms() >= refresh_at) {
			refresh();
			refresh_at = tick_at;
		}
	}
}

/* Create the hwsim device for ibsim's node. */
static void make_device(struct port *port)
{
	struct ibsim_ctl answer;
	unsigned int n_ports;
	char line[256];
	__u64 guid;
	int fd, len;

	if (ibsim_call(&port->sim, IBSIM_GET_NODEINFO, NULL, 0, &answer))
		bridge_die(port, "NodeInfo from ibsim");
	memcpy(&guid, answer.data + NI_GUID, sizeof(guid));
	n_ports = answer.data[NI_PORTS];
	len = snprintf(line, sizeof(line),
		       "%u type=%s ports=%u pkeys=%u guid=0x%llx desc=%s sma=far\n",
		       port->device,
		       answer.data[NI_TYPE] == TYPE_SWITCH ? "switch" : "hca",
		       n_ports < DEVICE_PORTS ? n_ports : DEVICE_PORTS,
		       NODE_PKEYS, (unsigned long long)be64toh(guid),
		       port->sim.node);
	fd = open(NEW_DEVICE, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, line, len) != len)
		bridge_die(port, NEW_DEVICE);
	close(fd);
}

static const char usage[] =
	"usage: hwsim_ibsim [OPTION...] DEVICE:PORT=NODE ...\n"
	"  DEVICE:PORT   of ib_hwsim: number and port (0 of a switch)\n"
	"  NODE          in ibsim's net file; its first port is taken\n"
	"  -m, --make    make the devices too, with the nodes' GUIDs\n"
	"  -s, --socket NAME  of ibsim ($IBSIM_SOCKNAME, or sim)\n"
	"  -w, --wait SECONDS for ibsim to come (10)\n";

static noreturn void refuse(void)
{
	fputs(usage, stderr);
	exit(2);
}

static void parse_port(const char *base, const char *word)
{
	struct port *port = &ports[port_count];
	int used = 0;

	if (port_count == MAX_PORTS ||
	    sscanf(word, "%u:%u=%n", &port->device, &port->number, &used) < 2 ||
	    !used || !word[used])
		refuse();
	if (ibsim_open(&port->sim, base, word + used,
		       1U << 30 | getpid() << 4 | port_count))
		bridge_die(NULL, word);
	port_count++;
}

static void catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals.fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	signals.ready = signal_ready;
	if (loop_add(&signals))
		bridge_die(NULL, "signals");
}

static void plug_in(struct port *port, bool make, int seconds)
{
	if (ibsim_connect(&port->sim, seconds))
		bridge_die(port, "cannot connect to ibsim");
	if (make)
		make_device(port);
	bridge_plug_in(port);
	if (loop_add(&port->raw) || loop_add(&port->mads) ||
	    loop_add(&port->ctl))
		bridge_die(port, "epoll_ctl");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "make", no_argument, NULL, 'm' },
		{ "socket", required_argument, NULL, 's' },
		{ "wait", required_argument, NULL, 'w' },
		{ }
	};
	const char *base = getenv("IBSIM_SOCKNAME");
	int i, option, seconds = 10;
	bool make = false;

	while ((option = getopt_long(argc, argv, "ms:w:", options, NULL)) >= 0) {
		switch (option) {
		case 'm':
			make = true;
			break;
		case 's':
			base = optarg;
			break;
		case 'w':
			seconds = atoi(optarg);
			break;
		default:
			refuse();
		}
	}
	if (optind == argc)
		refuse();
	for (; optind < argc; optind++)
		parse_port(base && *base ? base : "sim", argv[optind]);

	if (loop_init())
		bridge_die(NULL, "epoll_create1");
	catch_signals();
	for (i = 0; i < port_count; i++)
		plug_in(&ports[i], make, seconds);
	printf("ready\n");
	fflush(stdout);
	serve();
	for (i = 0; i < port_count; i++)
		bridge_pull_out(&ports[i]);
	print_counts();
	return 0;
}
