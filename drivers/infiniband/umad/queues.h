/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Workqueues of the module; a port has others (port.h). None is flushed by anybody but its
 * destruction.
 */
#ifndef UMAD_QUEUES_H
#define UMAD_QUEUES_H

struct umad_deadline_pool;
struct workqueue_struct;

/*
 * Deadlines of files on InfiniBand: what runs here waits for no device. Ports of RoCE have
 * pools of their own, as some of their devices destroy an address handle by a command.
 */
extern struct umad_deadline_pool *umad_ib_deadlines;
/* What is sent in its turn, and what is freed: what runs here waits for nobody. */
extern struct workqueue_struct *umad_timer_wq;
/* Reserves of files that are refilled, which may have to wait for reclaim. */
extern struct workqueue_struct *umad_reserve_wq;
/* What ends, and takes long for it. */
extern struct workqueue_struct *umad_end_wq;

int umad_queues_init(void);
void umad_queues_exit(void);

#endif /* UMAD_QUEUES_H */
