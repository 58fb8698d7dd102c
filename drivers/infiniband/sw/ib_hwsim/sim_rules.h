/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rules: what happens to which packets. Documentation/ib_hwsim/faults.rst has their syntax.
 */
#ifndef SIM_RULES_H
#define SIM_RULES_H

#include <linux/types.h>
#include "sim_packet.h"
#include "sim_verdict.h"

struct seq_file;
struct sim_rules;

/* The most rules that a list holds. */
#define SIM_RULES_MAX		256

struct sim_rules *sim_rules_new(void);
void sim_rules_free(struct sim_rules *rules);
int sim_rules_add(struct sim_rules *rules, const char *line);
bool sim_rules_are_none(struct sim_rules *rules);
void sim_rules_clear(struct sim_rules *rules);
int sim_rules_show(struct sim_rules *rules, struct seq_file *s);
bool sim_rules_judge(struct sim_rules *rules, struct sim_packet *packet,
		     struct sim_verdict *verdict);

#endif
