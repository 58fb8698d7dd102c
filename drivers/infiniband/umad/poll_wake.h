/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Wakes the pollers of a file after a read() that has failed, as one of them may have seen
 * the queue empty meanwhile. A process may have 200,000 of them, all of which are looked at,
 * and fail to read again and again: so this is done by a work, and not too often.
 */
#ifndef UMAD_POLL_WAKE_H
#define UMAD_POLL_WAKE_H

#include <linux/atomic.h>

struct umad_poll_wake;
struct umad_rxq;

void umad_poll_wake_soon(struct umad_poll_wake **place, struct umad_rxq *q,
			 atomic64_t *paid_at);
void umad_poll_wake_free(struct umad_poll_wake *wake);

#endif /* UMAD_POLL_WAKE_H */
