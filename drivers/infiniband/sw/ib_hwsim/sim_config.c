// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Parses what is written to new_device: "ID [key=value ...]".
 */
#include "sim_config.h"

#include <linux/slab.h>
#include <linux/string.h>
#include "sim_attrs.h"

static int set_number(u32 *to, const char *value, u32 min, u32 max)
{
	u32 number;
	int ret;

	ret = kstrtou32(value, 0, &number);
	if (ret)
		return ret;
	if (number < min || number > max)
		return -ERANGE;
	*to = number;
	return 0;
}

/* Set *to if value is the second of the two words. */
static int set_choice(bool *to, const char *value, const char *no,
		      const char *yes)
{
	if (strcmp(value, no) && strcmp(value, yes))
		return -EINVAL;
	*to = !strcmp(value, yes);
	return 0;
}

static int set_string(char *to, size_t size, const char *value)
{
	return strscpy(to, value, size) < 0 ? -ENAMETOOLONG : 0;
}

static int set_mad(struct sim_config *config, const char *value)
{
	config->no_smi = !strcmp(value, "gsi");
	config->no_gsi = !strcmp(value, "smi");
	return config->no_smi || config->no_gsi || !strcmp(value, "all") ?
	       0 : -EINVAL;
}

static int set(struct sim_config *config, const char *key, const char *value)
{
	if (!strcmp(key, "type"))
		return set_choice(&config->is_switch, value, "hca", "switch");
	if (!strcmp(key, "link"))
		return set_choice(&config->opa, value, "ib", "opa");
	if (!strcmp(key, "mad"))
		return set_mad(config, value);
	if (!strcmp(key, "sma"))
		return set_choice(&config->far, value, "local", "far");
	if (!strcmp(key, "ports"))
		return set_number(&config->ports, value, 1, SIM_MAX_PORTS);
	if (!strcmp(key, "pkeys"))
		return set_number(&config->pkeys, value, 1, SIM_MAX_PKEYS);
	if (!strcmp(key, "lid"))
		return set_number(&config->lid, value, 1,
				  SIM_LID_MULTICAST - 1);
	if (!strcmp(key, "lmc"))
		return set_number(&config->lmc, value, 0, 7);
	if (!strcmp(key, "guid"))
		return kstrtou64(value, 0, &config->guid);
	if (!strcmp(key, "prefix"))
		return kstrtou64(value, 0, &config->prefix);
	if (!strcmp(key, "desc"))
		return set_string(config->desc, sizeof(config->desc), value);
	if (!strcmp(key, "fabric"))
		return set_string(config->fabric, sizeof(config->fabric),
				  value);
	return -EINVAL;
}

static int parse_words(struct sim_config *config, char *words)
{
	bool have_id = false;
	char *key, *value;
	int ret;

	while ((value = strsep(&words, " \t\n"))) {
		if (!*value)
			continue;
		if (!have_id) {
			/* It becomes part of the device's name and of its GUID. */
			ret = set_number(&config->id, value, 0, 0xffffff);
			have_id = true;
		} else {
			key = strsep(&value, "=");
			ret = value ? set(config, key, value) : -EINVAL;
		}
		if (ret)
			return ret;
	}
	return have_id ? 0 : -EINVAL;
}

/**
 * sim_config_parse() - parse a line
 * @config: filled in, with defaults for what the line does not name
 * @line: the line
 *
 * Context: process.
 * Return: 0 or an errno.
 */
int sim_config_parse(struct sim_config *config, const char *line)
{
	char *words;
	int ret;

	*config = (struct sim_config) {
		.ports = 1,
		.pkeys = 16,
		.prefix = SIM_PREFIX,
	};
	words = kstrdup(line, GFP_KERNEL);
	if (!words)
		return -ENOMEM;
	ret = parse_words(config, words);
	kfree(words);
	if (ret)
		return ret;

	if (config->lid + (config->ports << config->lmc) > SIM_LID_MULTICAST)
		return -ERANGE;
	if (!config->guid)
		config->guid = SIM_GUID_BASE | (u64)config->id << 8;
	if (!config->desc[0])
		snprintf(config->desc, sizeof(config->desc), "hwsim%u",
			 config->id);
	return 0;
}
