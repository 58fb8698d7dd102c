/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A registration was refused: count it, trace it, say why. */
#ifndef UMAD_REFUSE_H
#define UMAD_REFUSE_H

#include "refusal.h"

struct umad_file;
struct umad_reg;

void umad_refuse(struct umad_file *file, const struct umad_reg *reg,
		 enum umad_refusal why, int error);

#endif /* UMAD_REFUSE_H */
