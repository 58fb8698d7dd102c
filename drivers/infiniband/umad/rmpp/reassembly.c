// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Messages being received: their references. */
#include <linux/types.h>
#include "rmpp/reassembly.h"

#include <linux/slab.h>
#include <rdma/ib_mad.h>
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

static void release_message(struct umad_rxq *q, struct umad_rx_entry *rx_entry)
{
	struct umad_rmpp_rx_entry *entry = container_of(rx_entry, struct umad_rmpp_rx_entry,
							rx_entry);

	/* Where memory is wanted. */
	if (!q) {
		umad_pagebuf_free(entry->view.body);
		entry->view.body = NULL;
	}
	umad_rmpp_rx_entry_free(entry);
}

/* Nobody has asked for it. */
static bool may_go(const struct umad_rx_entry *rx_entry)
{
	return !ib_response_mad((const struct ib_mad_hdr *)
				container_of(rx_entry, struct umad_rmpp_rx_entry,
					     rx_entry)->head);
}

const struct umad_rx_ops umad_rmpp_rx_ops = {
	.view = view_message,
	.release = release_message,
	.may_go = may_go,
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
