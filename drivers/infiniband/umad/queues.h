/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Workqueues of the module. Neither is flushed by anybody but its destruction. */
#ifndef UMAD_QUEUES_H
#define UMAD_QUEUES_H

struct workqueue_struct;

/* Deadlines of requests and of RMPP: what runs here waits for nobody. */
extern struct workqueue_struct *umad_timer_wq;
/*
 * What may take a second, as an address of a neighbour that is silent. Who sends to
 * us decides how many of those are wanted, so who queues them has a bound, and all
 * of them run at the same time; what is left of UMAD_ADDR_WORKS is for the works of
 * files that refill their reserve.
 */
extern struct workqueue_struct *umad_addr_wq;

/* Run at a time; WQ_MAX_ACTIVE. */
#define UMAD_ADDR_WORKS	512

int umad_queues_init(void);
void umad_queues_exit(void);

#endif /* UMAD_QUEUES_H */
