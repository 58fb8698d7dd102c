// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The names of actions, in rules and in the capture.
 */
#include "sim_verdict.h"

static const char * const action_names[SIM_ACTIONS] = {
	[SIM_PASS] = "pass",
	[SIM_DROP] = "drop",
	[SIM_DUP] = "dup",
	[SIM_DELAY] = "delay",
	[SIM_REORDER] = "reorder",
	[SIM_CORRUPT] = "corrupt",
	[SIM_MUTATE] = "mutate",
};

/**
 * sim_action_name() - get the name of an action
 * @action: the action
 *
 * Context: any.
 * Return: its name.
 */
const char *sim_action_name(enum sim_action action)
{
	return action < SIM_ACTIONS ? action_names[action] : "?";
}
