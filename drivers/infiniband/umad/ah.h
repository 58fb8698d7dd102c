/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Address handles: made, kept and dropped here and nowhere else. */
#ifndef UMAD_AH_H
#define UMAD_AH_H

#include <linux/types.h>

struct ib_ah;
struct umad_addr;
struct umad_agent;
struct umad_ah;
struct umad_file;

int umad_ah_enter(struct umad_file *file);
void umad_ah_leave(struct umad_file *file);
struct umad_ah *umad_ah_create(struct umad_agent *agent,
			       const struct umad_addr *addr, bool writer);
void umad_ah_forget_kept(struct umad_agent *agent);
void umad_ah_get(struct umad_ah *ah);
void umad_ah_put(struct umad_ah *ah);
void umad_ah_put_later(struct umad_ah *ah, struct umad_agent *agent);
void umad_ah_put_request(struct umad_agent *agent, struct umad_ah *ah);
struct ib_ah *umad_ah_verbs(struct umad_ah *ah);

#endif /* UMAD_AH_H */
