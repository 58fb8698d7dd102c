// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Parses a rule. A line that is not valid is refused; pr_debug() logs the reason.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": rule: " fmt

#include "sim_rule.h"

#include <linux/bits.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

/**
 * struct arg_spec - a number that a rule can have
 * @name: in the rule
 * @min: least value
 * @max: greatest value
 * @otherwise: its default
 */
struct arg_spec {
	const char *name;
	u64 min;
	u64 max;
	u64 otherwise;
};

static const struct arg_spec args[SIM_ARGS] = {
	[SIM_ARG_NTH] = { "nth", 1, U64_MAX },
	[SIM_ARG_EVERY] = { "every", 1, U64_MAX },
	[SIM_ARG_COUNT] = { "count", 1, U64_MAX },
	[SIM_ARG_COPIES] = { "copies", 1, 64, 1 },
	[SIM_ARG_MS] = { "ms", 1, 60000 },
	[SIM_ARG_BEHIND] = { "behind", 1, 10000, 1 },
	[SIM_ARG_BYTE] = { "byte", 0, IB_HWSIM_MAX_MAD - 1 },
	[SIM_ARG_XOR] = { "xor", 1, 0xff, 0xff },
	[SIM_ARG_VALUE] = { "value", 0, U64_MAX },
	[SIM_ARG_ADD] = { "add", 0, U64_MAX },
};

/* Allowed in every rule. */
#define ARGS_ALWAYS	(BIT(SIM_ARG_NTH) | BIT(SIM_ARG_EVERY) | \
			 BIT(SIM_ARG_COUNT))

/**
 * struct action_spec - the numbers of an action
 * @needs: required
 * @takes: optional
 * @one_of: exactly one of these is required
 */
struct action_spec {
	u32 needs;
	u32 takes;
	u32 one_of;
};

static const struct action_spec actions[SIM_ACTIONS] = {
	[SIM_DUP] = { .takes = BIT(SIM_ARG_COPIES) | BIT(SIM_ARG_MS) },
	[SIM_DELAY] = { .needs = BIT(SIM_ARG_MS) },
	[SIM_REORDER] = { .takes = BIT(SIM_ARG_BEHIND) },
	[SIM_CORRUPT] = { .needs = BIT(SIM_ARG_BYTE),
			  .takes = BIT(SIM_ARG_XOR) },
	[SIM_MUTATE] = { .one_of = BIT(SIM_ARG_VALUE) | BIT(SIM_ARG_ADD) },
};

static const char * const rmpp_names[] = {
	"none", "data", "ack", "stop", "abort",
};

/* The value of rmpp=: a name, or a number as in the packet. */
static int parse_rmpp(struct sim_condition *condition, const char *text)
{
	int kind;

	condition->mask = 0xff;
	if (!strcmp(text, "any")) {
		condition->negate = !condition->negate;
		condition->value = 0;
		return 0;
	}
	kind = match_string(rmpp_names, ARRAY_SIZE(rmpp_names), text);
	if (kind < 0)
		return -EINVAL;
	condition->value = kind;
	return 0;
}

/* NUMBER or NUMBER/MASK. */
static int parse_number(struct sim_condition *condition, char *text)
{
	u64 max = sim_field_max(condition->field);
	char *mask = strchr(text, '/');

	condition->mask = max;
	if (mask) {
		*mask++ = '\0';
		if (kstrtou64(mask, 0, &condition->mask))
			return -EINVAL;
	}
	if (kstrtou64(text, 0, &condition->value))
		return -EINVAL;
	if (condition->mask > max || condition->value & ~condition->mask)
		return -ERANGE;
	return 0;
}

static int parse_condition(struct sim_rule *rule, const struct sim_field *field,
			   char *value, bool negate)
{
	struct sim_condition *condition;
	int ret;

	if (rule->conditions == SIM_CONDITIONS_MAX) {
		pr_debug("too many conditions\n");
		return -EINVAL;
	}
	condition = &rule->condition[rule->conditions++];
	condition->field = field;
	condition->negate = negate;
	if (field == sim_field_find("rmpp"))
		ret = parse_rmpp(condition, value);
	else
		ret = parse_number(condition, value);
	if (ret)
		pr_debug("not a value of that field: '%s'\n", value);
	return ret ? -EINVAL : 0;
}

static int parse_arg(struct sim_rule *rule, enum sim_arg arg, const char *value)
{
	const struct arg_spec *spec = &args[arg];

	if (kstrtou64(value, 0, &rule->arg[arg]) ||
	    rule->arg[arg] < spec->min || rule->arg[arg] > spec->max) {
		pr_debug("%s is from %llu to %llu, not '%s'\n", spec->name,
			 spec->min, spec->max, value);
		return -EINVAL;
	}
	if (rule->given & BIT(arg)) {
		pr_debug("%s twice\n", spec->name);
		return -EINVAL;
	}
	rule->given |= BIT(arg);
	return 0;
}

static int parse_action(struct sim_rule *rule, const char *value)
{
	enum sim_action action;

	if (rule->action != SIM_ACTIONS) {
		pr_debug("more than one action\n");
		return -EINVAL;
	}
	for (action = 0; action < SIM_ACTIONS; action++) {
		if (!strcmp(sim_action_name(action), value)) {
			rule->action = action;
			return 0;
		}
	}
	pr_debug("no action '%s'\n", value);
	return -EINVAL;
}

static int parse_mutated(struct sim_rule *rule, const char *value)
{
	const struct sim_field *field = sim_field_find(value);

	if (rule->field || !field || !sim_field_settable(field)) {
		pr_debug("no field to mutate: '%s'\n", value);
		return -EINVAL;
	}
	rule->field = field;
	return 0;
}

/* One KEY=VALUE, or KEY!=VALUE of a condition. */
static int parse_word(struct sim_rule *rule, char *word)
{
	const struct sim_field *field;
	bool negate = false;
	char *value = strchr(word, '=');
	enum sim_arg arg;

	if (!value || value == word || !value[1]) {
		pr_debug("not KEY=VALUE: '%s'\n", word);
		return -EINVAL;
	}
	if (value[-1] == '!') {
		negate = true;
		value[-1] = '\0';
	}
	*value++ = '\0';

	field = sim_field_find(word);
	if (field)
		return parse_condition(rule, field, value, negate);
	if (negate) {
		pr_debug("no field '%s'\n", word);
		return -EINVAL;
	}
	if (!strcmp(word, "action"))
		return parse_action(rule, value);
	if (!strcmp(word, "field"))
		return parse_mutated(rule, value);
	for (arg = 0; arg < SIM_ARGS; arg++)
		if (!strcmp(args[arg].name, word))
			return parse_arg(rule, arg, value);
	pr_debug("no key '%s'\n", word);
	return -EINVAL;
}

/* Check that the rule has what its action needs, and nothing else. */
static int check_rule(const struct sim_rule *rule)
{
	const struct action_spec *spec;
	u32 one;

	if (rule->action == SIM_ACTIONS) {
		pr_debug("no action\n");
		return -EINVAL;
	}
	spec = &actions[rule->action];
	one = rule->given & spec->one_of;
	if ((rule->given & spec->needs) != spec->needs ||
	    (spec->one_of && !one) || (one & (one - 1)) ||
	    (rule->given & ~(ARGS_ALWAYS | spec->needs | spec->takes |
			     spec->one_of))) {
		pr_debug("%s wants other keys than these\n",
			 sim_action_name(rule->action));
		return -EINVAL;
	}
	if (rule->action == SIM_MUTATE ? !rule->field : !!rule->field) {
		pr_debug("field is for mutate, which wants it\n");
		return -EINVAL;
	}
	if ((rule->given & BIT(SIM_ARG_NTH)) &&
	    (rule->given & BIT(SIM_ARG_EVERY))) {
		pr_debug("nth and every\n");
		return -EINVAL;
	}
	if (rule->field &&
	    rule->arg[SIM_ARG_VALUE] > sim_field_max(rule->field)) {
		pr_debug("value is too great\n");
		return -EINVAL;
	}
	return 0;
}

/* Copy the words of @line to @text, with one blank between them. */
static void copy_words(char *text, const char *line)
{
	bool blank = false;

	for (line = skip_spaces(line); *line; line++) {
		if (isspace(*line)) {
			blank = true;
			continue;
		}
		if (blank)
			*text++ = ' ';
		blank = false;
		*text++ = *line;
	}
	*text = '\0';
}

static int parse_line(struct sim_rule *rule)
{
	char *line, *rest, *word;
	int ret = 0;

	line = kstrdup(rule->text, GFP_KERNEL);
	if (!line)
		return -ENOMEM;
	rest = line;
	while (!ret && (word = strsep(&rest, " ")))
		ret = parse_word(rule, word);
	kfree(line);
	return ret ?: check_rule(rule);
}

/**
 * sim_rule_free() - free a rule
 * @rule: the rule, which is in no list
 *
 * Context: any.
 */
void sim_rule_free(struct sim_rule *rule)
{
	kfree(rule);
}

/**
 * sim_rule_parse() - parse a rule
 * @line: the line; blanks at its ends are ignored
 *
 * Context: process.
 * Return: the rule, which the caller owns; ERR_PTR(-EINVAL) if the line is not valid;
 * or ERR_PTR(-ENOMEM).
 */
struct sim_rule *sim_rule_parse(const char *line)
{
	size_t len = strlen(line);
	struct sim_rule *rule;
	enum sim_arg arg;
	int ret;

	if (len > SIM_RULE_LEN_MAX) {
		pr_debug("too long\n");
		return ERR_PTR(-EINVAL);
	}
	rule = kzalloc(struct_size(rule, text, len + 1), GFP_KERNEL);
	if (!rule)
		return ERR_PTR(-ENOMEM);
	copy_words(rule->text, line);
	rule->action = SIM_ACTIONS;
	for (arg = 0; arg < SIM_ARGS; arg++)
		rule->arg[arg] = args[arg].otherwise;
	ret = parse_line(rule);
	if (ret) {
		sim_rule_free(rule);
		return ERR_PTR(ret);
	}
	return rule;
}
