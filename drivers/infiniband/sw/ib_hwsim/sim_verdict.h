/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What rules or chance decide about a packet.
 */
#ifndef SIM_VERDICT_H
#define SIM_VERDICT_H

#include <linux/types.h>

/**
 * enum sim_action - what happens to a packet
 * @SIM_PASS: nothing
 * @SIM_DROP: it does not arrive
 * @SIM_DUP: it arrives more than once
 * @SIM_DELAY: it arrives later; others do not wait for it
 * @SIM_REORDER: others overtake it
 * @SIM_CORRUPT: one of its bytes was changed
 * @SIM_MUTATE: one of its fields was changed
 * @SIM_ACTIONS: number of actions
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
 * struct sim_verdict - what was decided about a packet
 * @action: what happens to it
 * @rule: number of the rule that decided; 0 for none
 * @copies: SIM_DUP: number of copies besides the packet itself
 * @delay_us: its delay; SIM_DUP by a rule: the delay of its copies
 * @behind: SIM_REORDER: number of packets that overtake it
 */
struct sim_verdict {
	enum sim_action action;
	u32 rule;
	u32 copies;
	u32 delay_us;
	u32 behind;
};

const char *sim_action_name(enum sim_action action);

#endif
