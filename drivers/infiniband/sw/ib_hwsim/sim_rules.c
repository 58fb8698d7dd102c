// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The list of rules, and what they decide about a packet. sim_rule_parse.c parses a
 * rule. Changes of a packet's bytes are made here, everything else in sim_medium.c.
 *
 * Locking: sim_rules.lock, a leaf, taken in any context, protects the list, the numbers
 * and the counters of the rules. A rule itself is constant.
 */
#include "sim_rules.h"

#include <linux/bits.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include "sim_export.h"
#include "sim_rule.h"

/**
 * struct sim_rules - rules in order
 * @lock: see above
 * @list: of struct sim_rule
 * @added: rules added since the list was last empty
 */
struct sim_rules {
	spinlock_t lock;	/* see above */
	struct list_head list;
	u32 added;
};

/**
 * sim_rules_new() - allocate an empty list of rules
 *
 * Context: process.
 * Return: the list, which the caller owns, or NULL.
 */
struct sim_rules *sim_rules_new(void)
{
	struct sim_rules *rules = kzalloc(sizeof(*rules), GFP_KERNEL);

	if (!rules)
		return NULL;
	spin_lock_init(&rules->lock);
	INIT_LIST_HEAD(&rules->list);
	return rules;
}
EXPORT_SYMBOL_IF_KUNIT(sim_rules_new);

/**
 * sim_rules_free() - free a list of rules
 * @rules: the list, which nobody else uses, or NULL
 *
 * Context: process.
 */
void sim_rules_free(struct sim_rules *rules)
{
	if (!rules)
		return;
	sim_rules_clear(rules);
	kfree(rules);
}
EXPORT_SYMBOL_IF_KUNIT(sim_rules_free);

/**
 * sim_rules_add() - append a rule
 * @rules: the list
 * @line: the rule
 *
 * Context: process.
 * Return: 0; -EINVAL if the rule is not valid; -ENOSPC if there are too many;
 * -ENOMEM.
 */
int sim_rules_add(struct sim_rules *rules, const char *line)
{
	struct sim_rule *rule;
	unsigned long flags;
	int ret = 0;

	rule = sim_rule_parse(line);
	if (IS_ERR(rule))
		return PTR_ERR(rule);
	spin_lock_irqsave(&rules->lock, flags);
	if (rules->added < SIM_RULES_MAX) {
		rule->number = ++rules->added;
		list_add_tail(&rule->node, &rules->list);
	} else {
		ret = -ENOSPC;
	}
	spin_unlock_irqrestore(&rules->lock, flags);
	if (ret)
		sim_rule_free(rule);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(sim_rules_add);

/**
 * sim_rules_are_none() - check whether the list is empty
 * @rules: the list
 *
 * Context: any, without the lock: a race with a change is harmless.
 * Return: true if there is none.
 */
bool sim_rules_are_none(struct sim_rules *rules)
{
	return list_empty(&rules->list);
}

/**
 * sim_rules_clear() - remove all rules
 * @rules: the list
 *
 * Context: process.
 */
void sim_rules_clear(struct sim_rules *rules)
{
	struct sim_rule *rule, *next;
	unsigned long flags;
	LIST_HEAD(gone);

	spin_lock_irqsave(&rules->lock, flags);
	list_splice_init(&rules->list, &gone);
	rules->added = 0;
	spin_unlock_irqrestore(&rules->lock, flags);
	list_for_each_entry_safe(rule, next, &gone, node)
		sim_rule_free(rule);
}
EXPORT_SYMBOL_IF_KUNIT(sim_rules_clear);

/**
 * sim_rules_show() - print the rules and their counters
 * @rules: the list
 * @s: the file
 *
 * Context: process.
 * Return: 0.
 */
int sim_rules_show(struct sim_rules *rules, struct seq_file *s)
{
	struct sim_rule *rule;
	unsigned long flags;

	spin_lock_irqsave(&rules->lock, flags);
	list_for_each_entry(rule, &rules->list, node)
		seq_printf(s, "%u matched=%llu hits=%llu: %s\n", rule->number,
			   rule->matched, rule->hits, rule->text);
	spin_unlock_irqrestore(&rules->lock, flags);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sim_rules_show);

static bool condition_holds(const struct sim_condition *condition,
			    const struct sim_packet *packet)
{
	u64 value;

	if (!sim_field_get(condition->field, packet, &value))
		return false;
	return ((value & condition->mask) == condition->value) !=
	       condition->negate;
}

static bool rule_matches(const struct sim_rule *rule,
			 const struct sim_packet *packet)
{
	u32 i;

	for (i = 0; i < rule->conditions; i++)
		if (!condition_holds(&rule->condition[i], packet))
			return false;
	return true;
}

/* Does the rule act on this match, which was counted already? */
static bool rule_is_due(const struct sim_rule *rule)
{
	const u64 *arg = rule->arg;
	u64 rest;

	if (arg[SIM_ARG_COUNT] && rule->hits >= arg[SIM_ARG_COUNT])
		return false;
	if (arg[SIM_ARG_NTH] && rule->matched != arg[SIM_ARG_NTH])
		return false;
	if (!arg[SIM_ARG_EVERY])
		return true;
	div64_u64_rem(rule->matched, arg[SIM_ARG_EVERY], &rest);
	return !rest;
}

static void corrupt(const struct sim_rule *rule, struct sim_packet *packet)
{
	u64 byte = rule->arg[SIM_ARG_BYTE];

	if (byte < packet->len)
		packet->mad[byte] ^= rule->arg[SIM_ARG_XOR];
}

static void mutate(const struct sim_rule *rule, struct sim_packet *packet)
{
	u64 value = 0;

	if (rule->given & BIT(SIM_ARG_ADD)) {
		if (!sim_field_get(rule->field, packet, &value))
			return;
		value += rule->arg[SIM_ARG_ADD];
	} else {
		value = rule->arg[SIM_ARG_VALUE];
	}
	sim_field_set(rule->field, packet, value);
}

static void rule_act(const struct sim_rule *rule, struct sim_packet *packet,
		     struct sim_verdict *verdict)
{
	verdict->action = rule->action;
	verdict->rule = rule->number;
	verdict->copies = rule->arg[SIM_ARG_COPIES];
	verdict->delay_us = rule->arg[SIM_ARG_MS] * USEC_PER_MSEC;
	verdict->behind = rule->arg[SIM_ARG_BEHIND];
	if (rule->action == SIM_CORRUPT)
		corrupt(rule, packet);
	else if (rule->action == SIM_MUTATE)
		mutate(rule, packet);
}

/**
 * sim_rules_judge() - let the rules decide about a packet
 * @rules: the list
 * @packet: the packet, whose bytes may be changed
 * @verdict: filled in: SIM_PASS if no rule decides otherwise
 *
 * Each rule counts a packet that it matches, so that the n-th match of a rule does not
 * depend on the others. The first rule that is due decides.
 * Context: any.
 * Return: true if a rule has decided, also for SIM_PASS.
 */
bool sim_rules_judge(struct sim_rules *rules, struct sim_packet *packet,
		     struct sim_verdict *verdict)
{
	struct sim_rule *rule, *due = NULL;
	unsigned long flags;

	*verdict = (struct sim_verdict){ .action = SIM_PASS };
	/* The usual case. */
	if (sim_rules_are_none(rules))
		return false;
	spin_lock_irqsave(&rules->lock, flags);
	list_for_each_entry(rule, &rules->list, node) {
		if (!rule_matches(rule, packet))
			continue;
		rule->matched++;
		if (!due && rule_is_due(rule))
			due = rule;
	}
	if (due) {
		due->hits++;
		rule_act(due, packet, verdict);
	}
	spin_unlock_irqrestore(&rules->lock, flags);
	return due;
}
EXPORT_SYMBOL_IF_KUNIT(sim_rules_judge);
