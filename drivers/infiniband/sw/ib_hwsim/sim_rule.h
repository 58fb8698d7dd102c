/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One rule, as sim_rule_parse.c makes it and sim_rules.c applies it.
 */
#ifndef SIM_RULE_H
#define SIM_RULE_H

#include <linux/list.h>
#include <linux/types.h>
#include "sim_field.h"
#include "sim_verdict.h"

#define SIM_CONDITIONS_MAX	12
/* The longest rule, in bytes. */
#define SIM_RULE_LEN_MAX	512

/* The numbers that a rule can have. */
enum sim_arg {
	SIM_ARG_NTH,
	SIM_ARG_EVERY,
	SIM_ARG_COUNT,
	SIM_ARG_COPIES,
	SIM_ARG_MS,
	SIM_ARG_BEHIND,
	SIM_ARG_BYTE,
	SIM_ARG_XOR,
	SIM_ARG_VALUE,
	SIM_ARG_ADD,
	SIM_ARGS
};

/**
 * struct sim_condition - a condition on a field
 * @field: the field
 * @value: the value to compare with, in the bits of @mask
 * @mask: bits to compare
 * @negate: the packet must have the field, with another value
 */
struct sim_condition {
	const struct sim_field *field;
	u64 value;
	u64 mask;
	bool negate;
};

/**
 * struct sim_rule - what happens to which packets
 * @node: in the list; like @number, @matched and @hits protected by the list's lock
 * @number: counted from 1
 * @matched: packets for which all conditions were true
 * @hits: packets on which the rule acted
 * @conditions: entries of @condition
 * @condition: all must be true
 * @action: what happens
 * @field: the field that SIM_MUTATE changes
 * @given: the numbers that the line has, a mask of enum sim_arg
 * @arg: the numbers, or their defaults
 * @text: the line
 */
struct sim_rule {
	struct list_head node;
	u32 number;
	u64 matched;
	u64 hits;
	u32 conditions;
	struct sim_condition condition[SIM_CONDITIONS_MAX];
	enum sim_action action;
	const struct sim_field *field;
	u32 given;
	u64 arg[SIM_ARGS];
	char text[];
};

struct sim_rule *sim_rule_parse(const char *line);
void sim_rule_free(struct sim_rule *rule);

#endif
