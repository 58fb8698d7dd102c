// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "queues.h"

#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/nodemask.h>
#include <linux/workqueue.h>

struct workqueue_struct *umad_timer_wq;
struct workqueue_struct *umad_addr_wq;
struct workqueue_struct *umad_reserve_wq;
struct workqueue_struct *umad_end_wq;

/**
 * umad_queues_init() - make the workqueues
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int umad_queues_init(void)
{
	/* Not WQ_HIGHPRI: a process decides how much there is to be done. */
	umad_timer_wq = alloc_workqueue("ib_umad", WQ_UNBOUND, 0);
	if (!umad_timer_wq)
		return -ENOMEM;
	/*
	 * From 6.9 on the nodes of a NUMA host share the number: where more is not
	 * allowed, works of one node may wait for each other there.
	 */
	umad_addr_wq = alloc_workqueue("ib_umad_addr", WQ_UNBOUND,
				       min_t(int, WQ_MAX_ACTIVE,
					     UMAD_ADDR_WORKS *
					     num_possible_nodes()));
	if (!umad_addr_wq)
		goto err_timer;
	umad_reserve_wq = alloc_workqueue("ib_umad_reserve", WQ_UNBOUND, 0);
	if (!umad_reserve_wq)
		goto err_addr;
	umad_end_wq = alloc_workqueue("ib_umad_end", WQ_UNBOUND, 0);
	if (!umad_end_wq)
		goto err_reserve;
	return 0;

err_reserve:
	destroy_workqueue(umad_reserve_wq);
err_addr:
	destroy_workqueue(umad_addr_wq);
err_timer:
	destroy_workqueue(umad_timer_wq);
	return -ENOMEM;
}

/**
 * umad_queues_exit() - destroy the workqueues
 *
 * Context: process; no file is left.
 */
void umad_queues_exit(void)
{
	destroy_workqueue(umad_end_wq);
	destroy_workqueue(umad_reserve_wq);
	destroy_workqueue(umad_addr_wq);
	destroy_workqueue(umad_timer_wq);
}
