/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reasons to refuse a registration. Self-contained: no device, no lock, no allocation. */
#ifndef UMAD_REFUSAL_H
#define UMAD_REFUSAL_H

#include <linux/types.h>

struct ib_mad_reg_req;
struct umad_reg;

/* Of the names in refusals.h, with the NUL. */
#define UMAD_REFUSAL_NAME_LEN	16

/* One for each line of refusals.h. */
enum umad_refusal {
	UMAD_REFUSED_NOT,
#define UMAD_REFUSAL(why, name, text) UMAD_REFUSED_##why,
#include "refusals.h"
#undef UMAD_REFUSAL
	UMAD_REFUSED_COUNT,
};

enum umad_refusal umad_refusal_by_core(const struct umad_reg *reg, int error);
bool umad_reg_overlaps(const struct ib_mad_reg_req *a, const struct ib_mad_reg_req *b);
const char *umad_refusal_name(enum umad_refusal why);
const char *umad_refusal_text(enum umad_refusal why);

#endif /* UMAD_REFUSAL_H */
