// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "queues.h"

#include <linux/errno.h>
#include <linux/workqueue.h>

struct workqueue_struct *umad_timer_wq;
struct workqueue_struct *umad_addr_wq;

/**
 * umad_queues_init() - make the workqueues
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int umad_queues_init(void)
{
	/* Not WQ_HIGHPRI: a program decides how much there is to be done. */
	umad_timer_wq = alloc_workqueue("ib_umad", WQ_UNBOUND, 0);
	if (!umad_timer_wq)
		return -ENOMEM;
	umad_addr_wq = alloc_workqueue("ib_umad_addr", WQ_UNBOUND,
				       UMAD_ADDR_WORKS);
	if (!umad_addr_wq) {
		destroy_workqueue(umad_timer_wq);
		return -ENOMEM;
	}
	return 0;
}

/**
 * umad_queues_exit() - destroy the workqueues
 *
 * Context: process; no file is left.
 */
void umad_queues_exit(void)
{
	destroy_workqueue(umad_addr_wq);
	destroy_workqueue(umad_timer_wq);
}
