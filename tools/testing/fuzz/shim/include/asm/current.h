/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The one thread there is. */
#ifndef UMAD_FUZZ_ASM_CURRENT_H
#define UMAD_FUZZ_ASM_CURRENT_H

struct task_struct;

extern struct task_struct *fuzz_current;

#define current fuzz_current

#endif /* UMAD_FUZZ_ASM_CURRENT_H */
