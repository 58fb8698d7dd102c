// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Long messages, given back where nobody waits for it. */
#include "pagebuf.h"

#include <linux/sizes.h>
#include <linux/workqueue.h>
#include "queues.h"

/* Freed by a work if it takes more: 65,536 pages take 10 ms. */
#define FREE_AT_ONCE	SZ_1M
static LLIST_HEAD(to_free);

static void free_work(struct work_struct *work)
{
	struct umad_pagebuf *buf, *next;

	llist_for_each_entry_safe(buf, next, llist_del_all(&to_free), free_node)
		umad_pagebuf_free(buf);
}

static DECLARE_WORK(pagebuf_work, free_work);

/**
 * umad_pagebuf_free_soon() - give all memory back, not here if there is much
 * @buf: consumed; NULL is nothing
 *
 * ib_core's receive work must not wait for it.
 * Context: process; does not sleep.
 */
void umad_pagebuf_free_soon(struct umad_pagebuf *buf)
{
	if (!buf || buf->bytes <= FREE_AT_ONCE) {
		umad_pagebuf_free(buf);
		return;
	}
	if (llist_add(&buf->free_node, &to_free))
		queue_work(umad_timer_wq, &pagebuf_work);
}

/**
 * umad_pagebuf_exit() - wait for what is to be freed soon
 *
 * Context: process; sleeps; nobody uses a buffer any more.
 */
void umad_pagebuf_exit(void)
{
	flush_work(&pagebuf_work);
}
