// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The files of ib_umad_race, and the module that it stops. See race.h. */
#include "race.h"

#include <stdio.h>
#include <sys/syscall.h>

#define FOLDER "/sys/kernel/debug/ib_umad_race/"
#define MODULE	"/lib/umad/ours/ib_umad.ko"

int points_read(struct points *points)
{
	char function[POINT_LEN / 2], where[POINT_LEN / 2 - 1];
	FILE *file = fopen(FOLDER "points", "re");
	struct point *point;

	points->n = 0;
	if (!file)
		return -errno;
	while (points->n < POINTS_MAX) {
		point = &points->point[points->n];
		if (fscanf(file, "%47s %46s %lu", function, where,
			   &point->hits) != 3)
			break;
		snprintf(point->name, sizeof(point->name), "%s %s", function,
			 where);
		points->n++;
	}
	fclose(file);
	return points->n ? 0 : -ENOENT;
}

static void stop_path(char *path, size_t len, unsigned int stop)
{
	snprintf(path, len, FOLDER "stop%u", stop);
}

int stop_arm(unsigned int stop, const char *point, const char *options)
{
	char path[64], line[POINT_LEN + 32];

	stop_path(path, sizeof(path), stop);
	snprintf(line, sizeof(line), "%s%s%s", point, options ? " " : "",
		 options ? options : "");
	return umad_write_sysfs(path, line);
}

void stop_release(unsigned int stop)
{
	char path[64];

	stop_path(path, sizeof(path), stop);
	umad_write_sysfs(path, "go");
}

bool stop_is(unsigned int stop, const char *state)
{
	char path[64], text[96];

	stop_path(path, sizeof(path), stop);
	return !umad_read_sysfs(path, text, sizeof(text)) &&
	       !strncmp(text, state, strlen(state));
}

bool stop_wait(unsigned int stop, const char *state, unsigned int wait_ms)
{
	uint64_t end = now_us() + wait_ms * 1000ull;

	while (!stop_is(stop, state)) {
		if (now_us() > end)
			return false;
		usleep(300);
	}
	return true;
}

/* It has been unloaded. */
int module_load(void)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(__NR_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}
