/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef UMAD_FUZZ_MODULE_H
#define UMAD_FUZZ_MODULE_H

#include <linux/moduleparam.h>

/* The parameters of all that is linked; the linker knows where they are. */
extern const struct kernel_param __start___param[], __stop___param[];

#endif /* UMAD_FUZZ_MODULE_H */
