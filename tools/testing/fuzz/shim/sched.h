/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef UMAD_FUZZ_SCHED_H
#define UMAD_FUZZ_SCHED_H

#include <linux/types.h>

/* How often somebody was woken: nobody sleeps in one thread. */
extern u32 fuzz_wakes;

#endif /* UMAD_FUZZ_SCHED_H */
