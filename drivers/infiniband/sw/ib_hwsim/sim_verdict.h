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

const char *sim_action_name(enum sim_action action);

#endif
