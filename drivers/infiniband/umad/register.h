/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Agents come and go: what a process registers, what it unregisters. */
#ifndef UMAD_REGISTER_H
#define UMAD_REGISTER_H

#include <linux/types.h>

struct umad_agent;
struct umad_file;
struct umad_reg;

int umad_register_init(void);
void umad_register_exit(void);
struct umad_agent *umad_agent_create(struct umad_file *file,
				     const struct umad_reg *reg, u32 *id);
int umad_agent_publish(struct umad_file *file, u32 id,
		       struct umad_agent *agent, bool pkey_hdr);
int umad_agent_unregister(struct umad_file *file, u32 id,
			  struct umad_agent *unpublished);
void umad_agent_destroy(struct umad_agent *agent);

#endif /* UMAD_REGISTER_H */
