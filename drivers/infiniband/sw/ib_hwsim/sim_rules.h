/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rules: what happens to which packets, on purpose and countably. See
 * README-faults.rst for how they are written.
 */
#ifndef SIM_RULES_H
#define SIM_RULES_H

#include <linux/types.h>
#include "sim_packet.h"

struct seq_file;
struct sim_rules;

/* The most that a list holds, and the longest of them. */
#define SIM_RULES_MAX		256
#define SIM_RULE_LEN_MAX	512

/**
 * enum sim_action - what happens to a packet
 * @SIM_PASS: nothing
 * @SIM_DROP: it does not arrive
 * @SIM_DUP: it arrives more than once
 * @SIM_DELAY: it arrives later, and holds nobody up
 * @SIM_REORDER: others overtake it
 * @SIM_CORRUPT: one of its bytes is another; done when this is said
 * @SIM_MUTATE: one of its fields is another; done when this is said
 * @SIM_ACTIONS: how many there are
 */
enum sim_action {
	SIM_PASS,
	SIM_DROP,
	SIM_DUP,
	SIM_DELAY,
	SIM_REORDER,
	SIM_CORRUPT,
	SIM_MUTATE,
	SIM_ACTIONS
};

/**
 * struct sim_verdict - what has been decided of a packet
 * @action: what happens to it
 * @rule: number of the rule that decided, 0 if none did
 * @copies: of SIM_DUP: how many besides the packet itself
 * @delay_us: how much later it arrives; of SIM_DUP by a rule, its copies
 * @behind: of SIM_REORDER: how many overtake it
 */
struct sim_verdict {
	enum sim_action action;
	u32 rule;
	u32 copies;
	u32 delay_us;
	u32 behind;
};

struct sim_rules *sim_rules_new(void);
void sim_rules_free(struct sim_rules *rules);
int sim_rules_add(struct sim_rules *rules, const char *line);
bool sim_rules_are_none(struct sim_rules *rules);
void sim_rules_clear(struct sim_rules *rules);
int sim_rules_show(struct sim_rules *rules, struct seq_file *s);
bool sim_rules_judge(struct sim_rules *rules, struct sim_packet *packet,
		     struct sim_verdict *verdict);

const char *sim_action_name(enum sim_action action);

#endif
