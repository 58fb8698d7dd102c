/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel's own headers, for a user space program of one thread: what
 * would need per-CPU data, patched instructions or a hypervisor is off.
 */
#ifndef UMAD_FUZZ_CONFIG_H
#define UMAD_FUZZ_CONFIG_H

#include <linux/kconfig.h>

#undef CONFIG_SMP
#undef CONFIG_PARAVIRT
#undef CONFIG_PARAVIRT_XXL
#undef CONFIG_PARAVIRT_SPINLOCKS
#undef CONFIG_JUMP_LABEL
#undef CONFIG_TRACEPOINTS
#undef CONFIG_DEBUG_BUGVERBOSE
#undef CONFIG_HARDENED_USERCOPY
#undef CONFIG_PREEMPT_DYNAMIC
#undef CONFIG_PREEMPT_VOLUNTARY
#undef CONFIG_PREEMPT_BUILD
#undef CONFIG_PREEMPTION
#undef CONFIG_PREEMPT_COUNT
#undef CONFIG_PREEMPT_RCU
#define CONFIG_PREEMPT_NONE 1
#define CONFIG_TINY_RCU 1

/* In sched.c, which sees locks that are taken or given back twice. */
#define CONFIG_DEBUG_SPINLOCK 1
#include <generated/bounds.h>
#undef SPINLOCK_SIZE
#define SPINLOCK_SIZE 24

#endif /* UMAD_FUZZ_CONFIG_H */
