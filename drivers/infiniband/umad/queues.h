/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Workqueues of the module. None is flushed by anybody but its destruction. */
#ifndef UMAD_QUEUES_H
#define UMAD_QUEUES_H

struct workqueue_struct;

/* What is sent in its turn, and what is freed: what runs here waits for nobody. */
extern struct workqueue_struct *umad_timer_wq;
/*
 * Addresses to be resolved, which takes a second if a neighbour is silent. Who sends
 * to us decides how many are wanted; those who queue them have bounds, so that there
 * are never more than UMAD_ADDR_WORKS, which run at the same time.
 */
extern struct workqueue_struct *umad_addr_wq;
/* Reserves of files that are refilled, which may have to wait for reclaim. */
extern struct workqueue_struct *umad_reserve_wq;
/* What ends, and takes long for it. */
extern struct workqueue_struct *umad_end_wq;

/* Of them those for messages, more if they are the first of their file, for strays. */
#define UMAD_RMPP_ADDR_WORKS	384
#define UMAD_RMPP_ADDR_FIRST	64
#define UMAD_RMPP_ADDR_REJECTS	64
#define UMAD_ADDR_WORKS		(UMAD_RMPP_ADDR_WORKS + UMAD_RMPP_ADDR_FIRST + \
				 UMAD_RMPP_ADDR_REJECTS)

int umad_queues_init(void);
void umad_queues_exit(void);

#endif /* UMAD_QUEUES_H */
