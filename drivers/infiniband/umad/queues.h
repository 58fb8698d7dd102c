/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Workqueues of the module. Neither is flushed by anybody but its destruction. */
#ifndef UMAD_QUEUES_H
#define UMAD_QUEUES_H

struct workqueue_struct;

/* Deadlines of requests and of RMPP: what runs here waits for nobody. */
extern struct workqueue_struct *umad_timer_wq;
/*
 * Addresses to be resolved, which takes a second if a neighbour is silent. Who
 * sends to us decides how many there are, so nothing else is queued here.
 */
extern struct workqueue_struct *umad_addr_wq;

int umad_queues_init(void);
void umad_queues_exit(void);

#endif /* UMAD_QUEUES_H */
