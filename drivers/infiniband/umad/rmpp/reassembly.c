// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Messages being received: their references. */
#include <linux/types.h>
#include "rmpp/reassembly.h"

#include <linux/slab.h>
#include "ah.h"
#include "pagebuf.h"
#include "request.h"

/**
 * umad_rmpp_rx_entry_free() - give a message back
 * @entry: consumed
 *
 * Context: process; may sleep.
 */
void umad_rmpp_rx_entry_free(struct umad_rmpp_rx_entry *entry)
{
	umad_pagebuf_free_soon(entry->view.body);
	kfree(entry);
}

static void view_message(const struct umad_rx_entry *rx_entry, struct umad_rx_view *view)
{
	*view = container_of(rx_entry, struct umad_rmpp_rx_entry, rx_entry)->view;
}

static void release_message(struct umad_rxq *q, struct umad_rx_entry *rx_entry, bool here)
{
	struct umad_rmpp_rx_entry *entry = container_of(rx_entry, struct umad_rmpp_rx_entry,
							rx_entry);

	if (here) {
		umad_pagebuf_free(entry->view.body);
		entry->view.body = NULL;
	}
	umad_rmpp_rx_entry_free(entry);
}

const struct umad_rx_ops umad_rmpp_rx_ops = {
	.view = view_message,
	.release = release_message,
	.unasked = true,
};

const struct umad_rx_ops umad_rmpp_answer_ops = {
	.view = view_message,
	.release = release_message,
};

/**
 * umad_xfer_rx_get() - take a reference
 * @rx: to be kept
 *
 * Context: any.
 */
void umad_xfer_rx_get(struct umad_xfer_rx *rx)
{
	refcount_inc(&rx->refs);
}

/**
 * umad_xfer_rx_free() - give a message back without its address handle
 * @rx: complete, in no list, without other references; consumed
 *
 * Context: process; does not sleep.
 */
void umad_xfer_rx_free(struct umad_xfer_rx *rx)
{
	WARN_ON_ONCE(rx->ah || rx->entry || rx->req);
	kfree(rx);
}

/**
 * umad_xfer_rx_put() - drop a reference
 * @rx: consumed
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_xfer_rx_put(struct umad_xfer_rx *rx)
{
	if (!refcount_dec_and_test(&rx->refs))
		return;
	if (rx->ah)
		umad_ah_put(rx->ah);
	if (rx->entry)
		umad_rmpp_rx_entry_free(rx->entry);
	if (rx->req)
		umad_request_put(rx->req);
	kfree(rx);
}
