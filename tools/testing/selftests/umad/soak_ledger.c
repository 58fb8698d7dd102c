// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests and messages both ways between the ports UMAD_IBDEV and UMAD_PEER,
 * for so many seconds; then the ledger, which has to be balanced. The wire may
 * lose, repeat and delay.
 *
 *	soak_ledger SECONDS
 */
#include "ledger.h"
#include "promise_load.h"

#include <stdio.h>
#include <time.h>

#define WORKERS	2	/* each way */

int main(int argc, char **argv)
{
	struct test_port port, peer, there, back;
	static struct ledger_worker workers[2 * WORKERS];
	static struct ledger_server servers[2];
	struct ledger_sums sums = { 0 };
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 10, i;
	unsigned int seed = env_long("UMAD_SEED", time(NULL) % 100000);

	if (rmpp_path_find(&port, &peer, &there)) {
		fprintf(stderr, "soak_ledger: no ports\n");
		return 1;
	}
	back = peer;
	memcpy(back.gid, port.gid, sizeof(back.gid));
	back.lid = port.lid;
	for (i = 0; i < 2; i++) {
		servers[i].ibdev = i ? port.ibdev : peer.ibdev;
		servers[i].seed = seed + i;
		ledger_server_start(&servers[i]);
	}
	for (i = 0; i < 2 * WORKERS; i++) {
		workers[i].path = i & 1 ? &back : &there;
		workers[i].ibdev = i & 1 ? peer.ibdev : port.ibdev;
		workers[i].seed = seed + 2 + i;
		workers[i].messages = true;
		ledger_worker_start(&workers[i]);
	}
	sleep_ms(seconds * 1000);
	for (i = 0; i < 2 * WORKERS; i++)
		__atomic_store_n(&workers[i].stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 2 * WORKERS; i++) {
		ledger_worker_stop(&workers[i]);
		ledger_add(&sums, &workers[i].ledger.sums);
	}
	for (i = 0; i < 2; i++)
		ledger_server_stop(&servers[i]);
	printf("# UMAD_SEED=%u\n", seed);
	ledger_print("both ways", &sums);
	return !ledger_balanced(&sums) || !sums.answered;
}
