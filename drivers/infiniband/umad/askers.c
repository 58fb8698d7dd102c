// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "askers.h"

#include <linux/jiffies.h>
#include "umad_export.h"

/* Who has not asked for so long has got it. */
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

/* That of the task, or else who has asked least: nobody if it is over. */
static struct umad_asker *find(struct umad_askers *askers, const void *task, unsigned long now)
{
	struct umad_asker *asker, *least = NULL;

	for (asker = askers->of; asker < askers->of + UMAD_ASKERS; asker++) {
		if (is_over(asker, now))
			asker->times = 0;
		if (asker->task == task)
			return asker;
		if (!least || asker->times < least->times)
			least = asker;
	}
	return least;
}

/**
 * umad_askers_note() - a task asks
 * @askers: of what it asks for
 * @task: it
 * @progress: of it: if it differs, its last charge has not failed
 * @now: the time, in jiffies
 *
 * Of more tasks than there are places one may have asked as often as the one in whose place it
 * comes, and is taken to have. So if all of them ask in vain, it does not take longer.
 * Context: process; does not sleep.
 * Return: how often it has asked for this charge, or of late if it has none; or more.
 */
unsigned int umad_askers_note(struct umad_askers *askers, const void *task,
			      unsigned long progress, unsigned long now)
{
	struct umad_asker *asker;
	unsigned int times;

	spin_lock(&askers->lock);
	asker = find(askers, task, now);
	times = asker->times + 1;
	if (asker->task == task && asker->progress != progress)
		times = 1;
	*asker = (struct umad_asker){ task, progress, now, times };
	spin_unlock(&askers->lock);
	return times;
}
EXPORT_SYMBOL_IF_KUNIT(umad_askers_note);
