// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The settings of random faults, their generator, and its decisions.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": random: " fmt

#include "sim_random.h"

#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/lockdep.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include "sim_export.h"

#define MILLION		1000000
/* Bounds the packets in a medium. */
#define DELAY_MAX_US	(60 * USEC_PER_SEC)

/* "12.5%" as millionths. */
static int parse_chance(const char *text, u32 *chance)
{
	u32 value = 0, digits = 0, unit = MILLION / 100;

	for (; isdigit(*text); text++, digits++) {
		value = value * 10 + (*text - '0') * unit;
		if (value > MILLION)
			return -EINVAL;
	}
	if (*text == '.') {
		for (text++; isdigit(*text); text++, digits++) {
			unit /= 10;
			if (!unit && *text != '0')
				return -EINVAL;
			value += (*text - '0') * unit;
		}
	}
	if (!digits || strcmp(text, "%") || value > MILLION)
		return -EINVAL;
	*chance = value;
	return 0;
}

/* "10ms", "500us", "1s"; a number alone is milliseconds. */
static int parse_time(const char *text, u32 *us)
{
	u64 value = 0, unit;
	const char *at;

	for (at = text; isdigit(*at); at++) {
		value = value * 10 + (*at - '0');
		if (value > DELAY_MAX_US)
			return -EINVAL;
	}
	if (at == text)
		return -EINVAL;
	if (!*at || !strcmp(at, "ms"))
		unit = USEC_PER_MSEC;
	else if (!strcmp(at, "us"))
		unit = 1;
	else if (!strcmp(at, "s"))
		unit = USEC_PER_SEC;
	else
		return -EINVAL;
	if (value * unit > DELAY_MAX_US)
		return -EINVAL;
	*us = value * unit;
	return 0;
}

/* One KEY=VALUE. */
static int parse_word(struct sim_random_settings *settings, char *word,
		      bool *seeded)
{
	char *value = strchr(word, '=');

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(word, "drop"))
		return parse_chance(value, &settings->drop);
	if (!strcmp(word, "dup"))
		return parse_chance(value, &settings->dup);
	if (!strcmp(word, "reorder"))
		return parse_chance(value, &settings->reorder);
	if (!strcmp(word, "delay"))
		return parse_time(value, &settings->delay_us);
	if (!strcmp(word, "jitter"))
		return parse_time(value, &settings->jitter_us);
	if (!strcmp(word, "behind"))
		return kstrtou32(value, 0, &settings->behind);
	if (!strcmp(word, "seed")) {
		*seeded = true;
		return kstrtou32(value, 0, &settings->seed);
	}
	return -EINVAL;
}

static int parse_words(struct sim_random_settings *settings, char *words,
		       bool *seeded)
{
	char *word;

	while ((word = strsep(&words, " \t\n"))) {
		if (!*word)
			continue;
		if (!strcmp(word, "off"))
			memset(settings, 0, sizeof(*settings));
		else if (parse_word(settings, word, seeded))
			return -EINVAL;
	}
	if (!settings->behind)
		settings->behind = 1;
	return 0;
}

static bool can_happen(const struct sim_random_settings *settings)
{
	return settings->drop || settings->dup || settings->reorder ||
	       settings->delay_us || settings->jitter_us;
}

static void begin(struct sim_random *random)
{
	prandom_seed_state(&random->state, random->settings.seed);
	random->judged = 0;
	random->dropped = 0;
	random->duplicated = 0;
	random->reordered = 0;
}

/**
 * sim_random_init() - set up without random faults
 * @random: the random faults
 *
 * Context: any.
 */
void sim_random_init(struct sim_random *random)
{
	memset(random, 0, sizeof(*random));
	spin_lock_init(&random->lock);
	random->settings.behind = 1;
}
EXPORT_SYMBOL_IF_KUNIT(sim_random_init);

/**
 * sim_random_set() - set the random faults, and restart the generator
 * @random: the random faults
 * @line: the settings; those that it does not name are off. Without a seed, one
 *	is chosen and logged
 *
 * Context: process.
 * Return: 0; -EINVAL if the line is not valid; -ENOMEM.
 */
int sim_random_set(struct sim_random *random, const char *line)
{
	struct sim_random_settings settings = {};
	bool seeded = false;
	unsigned long flags;
	char *words;
	int ret;

	words = kstrdup(line, GFP_KERNEL);
	if (!words)
		return -ENOMEM;
	ret = parse_words(&settings, words, &seeded);
	kfree(words);
	if (ret)
		return ret;
	if (!seeded && can_happen(&settings)) {
		settings.seed = get_random_u32();
		pr_info("seed=%u\n", settings.seed);
	}
	spin_lock_irqsave(&random->lock, flags);
	random->settings = settings;
	/* Pairs with sim_random_is_on(). */
	WRITE_ONCE(random->on, can_happen(&settings));
	begin(random);
	spin_unlock_irqrestore(&random->lock, flags);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sim_random_set);

/**
 * sim_random_reseed() - restart the generator
 * @random: the random faults
 * @seed: the new seed
 *
 * Context: any.
 */
void sim_random_reseed(struct sim_random *random, u32 seed)
{
	unsigned long flags;

	spin_lock_irqsave(&random->lock, flags);
	random->settings.seed = seed;
	begin(random);
	spin_unlock_irqrestore(&random->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(sim_random_reseed);

/**
 * sim_random_seed() - get the seed
 * @random: the random faults
 *
 * Context: any.
 * Return: the seed.
 */
u32 sim_random_seed(struct sim_random *random)
{
	unsigned long flags;
	u32 seed;

	spin_lock_irqsave(&random->lock, flags);
	seed = random->settings.seed;
	spin_unlock_irqrestore(&random->lock, flags);
	return seed;
}
EXPORT_SYMBOL_IF_KUNIT(sim_random_seed);

static void show_chance(struct seq_file *s, const char *name, u32 chance)
{
	if (chance)
		seq_printf(s, "%s=%u.%04u%% ", name, chance / (MILLION / 100),
			   chance % (MILLION / 100));
}

/**
 * sim_random_show() - print the settings as sim_random_set() takes them
 * @random: the random faults
 * @s: the file
 *
 * A second line has the counters.
 * Context: process.
 * Return: 0.
 */
int sim_random_show(struct sim_random *random, struct seq_file *s)
{
	const struct sim_random_settings *settings = &random->settings;
	unsigned long flags;

	spin_lock_irqsave(&random->lock, flags);
	if (!random->on)
		seq_puts(s, "off ");
	show_chance(s, "drop", settings->drop);
	show_chance(s, "dup", settings->dup);
	show_chance(s, "reorder", settings->reorder);
	if (settings->reorder)
		seq_printf(s, "behind=%u ", settings->behind);
	if (settings->delay_us)
		seq_printf(s, "delay=%uus ", settings->delay_us);
	if (settings->jitter_us)
		seq_printf(s, "jitter=%uus ", settings->jitter_us);
	seq_printf(s, "seed=%u\n", settings->seed);
	seq_printf(s, "# judged=%llu dropped=%llu duplicated=%llu reordered=%llu\n",
		   random->judged, random->dropped, random->duplicated,
		   random->reordered);
	spin_unlock_irqrestore(&random->lock, flags);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(sim_random_show);

/* A uniformly distributed number below @below. */
static u32 draw(struct sim_random *random, u32 below)
{
	return ((u64)prandom_u32_state(&random->state) * below) >> 32;
}

static void judge_locked(struct sim_random *random, struct sim_verdict *verdict)
	__must_hold(&random->lock)
{
	const struct sim_random_settings *settings = &random->settings;
	u32 drop, dup, reorder, jitter;

	lockdep_assert_held(&random->lock);
	/* Draw the same count of numbers for each packet, whatever happens to it. */
	drop = draw(random, MILLION);
	dup = draw(random, MILLION);
	reorder = draw(random, MILLION);
	jitter = draw(random, settings->jitter_us + 1);

	random->judged++;
	verdict->delay_us = settings->delay_us + jitter;
	if (drop < settings->drop) {
		verdict->action = SIM_DROP;
		random->dropped++;
	} else if (dup < settings->dup) {
		verdict->action = SIM_DUP;
		verdict->copies = 1;
		random->duplicated++;
	} else if (reorder < settings->reorder) {
		verdict->action = SIM_REORDER;
		verdict->behind = settings->behind;
		random->reordered++;
	}
}

/**
 * sim_random_is_on() - check whether a fault is possible
 * @random: the random faults
 *
 * Context: any.
 * Return: true if it is.
 */
bool sim_random_is_on(struct sim_random *random)
{
	/* Pairs with sim_random_set(). */
	return READ_ONCE(random->on);
}

/**
 * sim_random_judge() - decide about a packet at random
 * @random: the random faults
 * @verdict: filled in: SIM_PASS for no fault
 *
 * Context: any.
 */
void sim_random_judge(struct sim_random *random, struct sim_verdict *verdict)
{
	unsigned long flags;

	*verdict = (struct sim_verdict){ .action = SIM_PASS };
	/* The usual case. */
	if (!sim_random_is_on(random))
		return;
	spin_lock_irqsave(&random->lock, flags);
	if (random->on)
		judge_locked(random, verdict);
	spin_unlock_irqrestore(&random->lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(sim_random_judge);
