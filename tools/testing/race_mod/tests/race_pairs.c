// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Each pair of operations, the one brought inside the other at each point of
 * ib_umad's code that it comes to. The points are found in the module's code by
 * ib_umad_race, which of them an operation comes to is found by doing it.
 *
 *	UMAD_RACE_SECONDS	stop after so long (default: when all are tried)
 *	UMAD_RACE_SEED		the order (default 1)
 *	UMAD_RACE_ONLY		"FIRST|FUNCTION WHERE|SECOND"; "*" for any
 */
#include "race.h"

#include <stdio.h>

#define OPS_MAX		32
#define TRIALS_MAX	65536

struct planned {
	uint16_t first, second, point;
};

static struct points reached[OPS_MAX];	/* by the first of a pair */
static struct planned trials[TRIALS_MAX];
static unsigned int trials_n;
static unsigned int tried[OPS_MAX], met[OPS_MAX], missed[OPS_MAX],
		    skipped[OPS_MAX], failed[OPS_MAX];
static bool undone[OPS_MAX];	/* alone already */
static bool pair_met[OPS_MAX][OPS_MAX];

/* What is freed is of no interest to who comes later. */
static bool wanted(const char *point)
{
	return !strstr(point, " kfree") && !strstr(point, " copy");
}

static bool asked_for(unsigned int first, const char *point, unsigned int second)
{
	char only[256], *at = only, *word;
	const char *const names[] = { ops[first].name, point, ops[second].name };
	unsigned int i;

	if (!getenv("UMAD_RACE_ONLY"))
		return true;
	snprintf(only, sizeof(only), "%s", getenv("UMAD_RACE_ONLY"));
	for (i = 0; i < 3; i++) {
		word = strsep(&at, "|");
		if (!word || (strcmp(word, "*") && strcmp(word, names[i])))
			return false;
	}
	return true;
}

static void plan(unsigned int seed)
{
	unsigned int first, second, point, i, j;
	struct planned swap;

	for (first = 0; first < ops_n; first++)
		for (point = 0; point < reached[first].n; point++)
			for (second = 0; second < ops_n; second++) {
				const char *name = reached[first].point[point].name;

				if (trials_n == TRIALS_MAX || !wanted(name) ||
				    !asked_for(first, name, second))
					continue;
				trials[trials_n++] = (struct planned){
					first, second, point,
				};
			}
	for (i = trials_n; i > 1; i--) {
		j = rand_r(&seed) % i;
		swap = trials[i - 1];
		trials[i - 1] = trials[j];
		trials[j] = swap;
	}
}

static void note(const struct planned *p, enum outcome how, const char *why)
{
	tried[p->first]++;
	met[p->first] += how == MET;
	missed[p->first] += how == MISSED;
	skipped[p->first] += how == SKIPPED;
	failed[p->first] += how == FAILED;
	if (how == MET) {
		pair_met[p->first][p->second] = true;
		reached[p->first].point[p->point].met++;
	}
	if (how != FAILED)
		return;
	printf("# failed: %s. Again: UMAD_RACE_ONLY='%s|%s|%s' ./race_pairs\n",
	       why, ops[p->first].name,
	       reached[p->first].point[p->point].name, ops[p->second].name);
	fflush(stdout);
}

/* 2: somebody was stopped there and met; 1: somebody came along; 0: nobody. */
static unsigned int coverage(const struct point *point)
{
	unsigned int best = 0, i, j;

	for (i = 0; i < ops_n; i++)
		for (j = 0; j < reached[i].n; j++)
			if (!strcmp(reached[i].point[j].name, point->name))
				best = reached[i].point[j].met || best == 2 ?
				       2 : 1;
	return best;
}

static void show_coverage(bool whole)
{
	unsigned int pairs = 0, count[3] = {}, cover, i, j;
	static struct points points;

	for (i = 0; i < ops_n; i++)
		for (j = 0; j < ops_n; j++)
			pairs += pair_met[i][j];
	printf("# pairs: %u of %u met\n", pairs, ops_n * ops_n);
	points_read(&points);
	for (i = 0; i < points.n; i++) {
		if (!wanted(points.point[i].name))
			continue;
		cover = coverage(&points.point[i]);
		count[cover]++;
		if (whole && cover < 2)
			printf("# %s: %s\n", cover ? "never met at" :
			       "not reached", points.point[i].name);
	}
	printf("# points: %u, met at %u, reached besides %u, not reached %u\n",
	       count[0] + count[1] + count[2], count[2], count[1], count[0]);
}

static void show_results(void)
{
	unsigned int i;

	for (i = 0; i < ops_n; i++) {
		printf("# %s: %u points, %u trials, %u met, %u missed, %u not prepared\n",
		       ops[i].name, reached[i].n, tried[i], met[i], missed[i],
		       skipped[i]);
		printf("%sok %u %s\n", failed[i] || undone[i] ? "not " : "",
		       i + 1, ops[i].name);
	}
}

static unsigned int number(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

int main(void)
{
	unsigned int seconds = number("UMAD_RACE_SECONDS", 0), i;
	uint64_t end = now_ms() + seconds * 1000ull;
	static struct trial trial;
	int ret;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%u\n", ops_n);
	ret = run_init(&trial);
	if (ret) {
		printf("Bail out! no device: %d\n", ret);
		return 1;
	}
	for (i = 0; i < ops_n; i++) {
		ret = run_profile(&trial, &ops[i], &reached[i]);
		/* One that comes to nothing is not what it was meant to be, if all is looked at. */
		undone[i] = ret || !(reached[i].n || ops[i].is_dropped ||
				     getenv("UMAD_RACE_ONLY"));
		if (undone[i])
			printf("# %s: cannot be done: %d\n", ops[i].name, ret);
	}
	/* From here on a load of the module need not take seconds. */
	umad_write_sysfs("/sys/module/ib_umad_race/parameters/plant_all", "0");
	plan(number("UMAD_RACE_SEED", 1));
	printf("# %u trials\n", trials_n);
	for (i = 0; i < trials_n && (!seconds || now_ms() < end); i++) {
		const struct planned *p = &trials[i];
		char why[128] = "";

		note(p, run_pair(&trial, &ops[p->first],
				 reached[p->first].point[p->point].name,
				 &ops[p->second], why, sizeof(why)), why);
	}
	printf("# %u of %u trials done\n", i, trials_n);
	run_exit(&trial);
	show_coverage(!seconds);
	show_results();
	return 0;
}
