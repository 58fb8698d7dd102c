// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bench_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "umad_util.h"

static void read_memory(struct memory *m)
{
	FILE *meminfo = fopen("/proc/meminfo", "r");
	FILE *zoneinfo = fopen("/proc/zoneinfo", "r");
	char line[256];
	long n;

	if (!meminfo || !zoneinfo) {
		perror("meminfo, zoneinfo");
		exit(1);
	}
	memset(m, 0, sizeof(*m));
	while (fgets(line, sizeof(line), meminfo)) {
		if (sscanf(line, "MemFree: %ld", &n) == 1)
			m->free += n << 10;
		else if (sscanf(line, "Slab: %ld", &n) == 1)
			m->slab = n << 10;
	}
	while (fgets(line, sizeof(line), zoneinfo))
		if (sscanf(line, " count: %ld", &n) == 1)
			m->free += n * sysconf(_SC_PAGESIZE);
	fclose(meminfo);
	fclose(zoneinfo);
}

/**
 * memory_settle() - read it when two seconds have changed next to nothing
 * @m: to be filled in
 * @limit_s: seconds, after which that is given up
 */
void memory_settle(struct memory *m, int limit_s)
{
	uint64_t end = now_ms() + limit_s * 1000ull;
	struct memory last;
	int same = 0;

	read_memory(m);
	while (same < 4 && now_ms() < end) {
		last = *m;
		sleep_ms(500);
		read_memory(m);
		same = labs(last.free - m->free) < 64 << 10 ? same + 1 : 0;
	}
}
