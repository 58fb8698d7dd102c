// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "queues.h"

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/workqueue.h>
#include "deadlines.h"

struct workqueue_struct *umad_timer_wq;
struct workqueue_struct *umad_reserve_wq;
struct workqueue_struct *umad_end_wq;
struct umad_deadline_pool *umad_ib_deadlines;

/* Not WQ_HIGHPRI: a process decides how much there is to be done. */
static const struct {
	struct workqueue_struct **wq;
	const char *name;
} queues[] = {
	{ &umad_timer_wq, "ib_umad" },
	{ &umad_reserve_wq, "ib_umad_reserve" },
	{ &umad_end_wq, "ib_umad_end" },
};

/**
 * umad_queues_init() - make the workqueues
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int umad_queues_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(queues); i++) {
		*queues[i].wq = alloc_workqueue("%s", WQ_UNBOUND, 0, queues[i].name);
		if (!*queues[i].wq)
			goto err;
	}
	umad_ib_deadlines = umad_deadline_pool_create("ib_umad_deadline");
	if (umad_ib_deadlines)
		return 0;

err:
	while (i--)
		destroy_workqueue(*queues[i].wq);
	return -ENOMEM;
}

/**
 * umad_queues_exit() - destroy the workqueues
 *
 * Context: process; no file is left.
 */
void umad_queues_exit(void)
{
	unsigned int i = ARRAY_SIZE(queues);

	umad_deadline_pool_destroy(umad_ib_deadlines);
	while (i--)
		destroy_workqueue(*queues[i].wq);
}
