/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* An open file of /dev/ib_hwsim, and the port that it is attached to. */
#ifndef SIM_RAW_H
#define SIM_RAW_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

struct sim_packet;
struct sim_port;

/**
 * struct sim_raw - an open file
 * @port: the port that it is attached to; protected by sim_raw_sem
 * @lock: protects all below
 * @queue: packets to read
 * @count: how many they are
 * @dead: the port was removed
 * @wait: for a packet or @dead
 */
struct sim_raw {
	struct sim_port *port;
	spinlock_t lock;	/* a leaf, hard irqs off */
	struct list_head queue;
	u32 count;
	bool dead;
	wait_queue_head_t wait;
};

struct sim_raw *sim_raw_new(void);
void sim_raw_free(struct sim_raw *raw);
int sim_raw_attach(struct sim_raw *raw, struct sim_port *port);
int sim_raw_with_port(struct sim_raw *raw,
		      void (*call)(struct sim_port *port,
				   struct sim_packet *packet),
		      struct sim_packet *packet);
bool sim_raw_readable(struct sim_raw *raw);
struct sim_packet *sim_raw_wait(struct sim_raw *raw, size_t max, bool nonblock);

bool sim_raw_deliver(struct sim_port *port, struct sim_packet *packet);
void sim_raw_port_event(struct sim_port *port);
void sim_raw_detach(struct sim_port *port);

#endif
