# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""How fast the time stamp counter of this machine is.

Without KVM a guest reads that of the host, and finds out how fast it is by timers
that QEMU runs: on a busy host it may be wrong. One guest took 2,596 MHz for 922, so
that its clock was 2.8 times as fast, and its tests timed out. So it is told.
"""

import functools
import subprocess
import tempfile
from pathlib import Path

# Each reading of the clock stands between two of the counter that are close.
SOURCE = r"""
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static void both(uint64_t *tsc, double *ms)
{
	uint64_t before, took, best = UINT64_MAX;
	struct timespec now;

	for (int i = 0; i < 50; i++) {
		before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		took = __rdtsc() - before;
		if (took >= best)
			continue;
		best = took;
		*tsc = before;
		*ms = now.tv_sec * 1e3 + now.tv_nsec / 1e6;
	}
}

int main(void)
{
	const struct timespec nap = { .tv_nsec = 200000000 };
	uint64_t tsc[2];
	double ms[2];

	both(&tsc[0], &ms[0]);
	nanosleep(&nap, NULL);
	both(&tsc[1], &ms[1]);
	printf("%.0f\n", (tsc[1] - tsc[0]) / (ms[1] - ms[0]));
	return 0;
}
"""


@functools.cache
def host_khz():
    """kHz, or 0 if that cannot be found out here."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "tsc"
        try:
            subprocess.run(["gcc", "-O2", "-xc", "-", "-o", program],
                           input=SOURCE.encode(), check=True,
                           stderr=subprocess.DEVNULL)
            said = subprocess.run([program], stdout=subprocess.PIPE,
                                  check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return 0
    return int(said)


def argument(accel):
    """What the guest's kernel is told; nothing where it has another clock."""
    khz = host_khz() if accel == "tcg" else 0
    return f"tsc_early_khz={khz}" if khz else ""
