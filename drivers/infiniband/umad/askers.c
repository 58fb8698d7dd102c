// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "askers.h"

#include <linux/jiffies.h>
#include <linux/limits.h>
#include "umad_export.h"

/* Who has not asked for so long has got it. Swapping out may take as long. */
#define FORGOTTEN	(5 * HZ)

/**
 * umad_askers_init() - nobody has asked
 * @askers: to be initialised
 *
 * Context: any.
 */
void umad_askers_init(struct umad_askers *askers)
{
	*askers = (struct umad_askers){};
	spin_lock_init(&askers->lock);
}
EXPORT_SYMBOL_IF_KUNIT(umad_askers_init);

static bool is_over(const struct umad_asker *asker, unsigned long now)
{
	return !asker->task || time_after(now, asker->at + FORGOTTEN);
}

/* That of the task, or a place for it. */
static struct umad_asker *find(struct umad_askers *askers, const void *task, unsigned long now)
{
	struct umad_asker *asker, *place = NULL;

	for (asker = askers->of; asker < askers->of + UMAD_ASKERS; asker++) {
		if (asker->task == task)
			return asker;
		if (is_over(asker, now))
			place = asker;
	}
	return place;
}

/**
 * umad_askers_note() - a task asks
 * @askers: of what it asks for
 * @task: it
 * @faults: page faults of it: one more, and its last charge has not failed
 * @now: the time, in jiffies
 *
 * Context: process; does not sleep.
 * Return: how often it has asked for this page fault, or of late if it has none; UINT_MAX when
 * more ask than can be looked at.
 */
unsigned int umad_askers_note(struct umad_askers *askers, const void *task,
			      unsigned long faults, unsigned long now)
{
	struct umad_asker *asker;
	unsigned int times = UINT_MAX;

	spin_lock(&askers->lock);
	asker = find(askers, task, now);
	if (asker) {
		times = 1;
		if (asker->task == task && asker->faults == faults && !is_over(asker, now))
			times += asker->times;
		*asker = (struct umad_asker){ task, faults, now, times };
	}
	spin_unlock(&askers->lock);
	return times;
}
EXPORT_SYMBOL_IF_KUNIT(umad_askers_note);
