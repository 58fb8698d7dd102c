// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What keeps a sender from sending is no silence of its receiver; and what is one. */
#include "rmpp/tx.h"

#include <linux/minmax.h>
#include "umad_export.h"

/* Longer than the slowest receiver that is there takes to acknowledge. */
#define SILENT_AFTER	(500ULL * NSEC_PER_MSEC)

/**
 * rmpp_tx_waited() - the caller kept it from sending again
 * @tx: the sender
 * @since: when rmpp_tx_timer() would have been called
 * @now: the time
 *
 * That is no silence of the receiver, and puts off the give-up timeout; but what comes
 * after a long one the receiver may take for a new message, as it remembers for 10 s
 * only; and one that is silent indeed must not be waited for so many times.
 * rmpp_tx_wait_deadline() says when it has been too long in all.
 * Context: any.
 */
void rmpp_tx_waited(struct rmpp_tx *tx, u64 since, u64 now)
{
	u64 from = max(since, tx->progress_at);

	if (now <= from || now - from >= RMPP_TX_WAIT_MAX - tx->waited)
		return;
	tx->progress_at += now - from;
	tx->waited += now - from;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_waited);

/**
 * rmpp_tx_wait_deadline() - until when the caller may keep it from sending again
 * @tx: the sender
 * @since: when rmpp_tx_timer() would have been called
 *
 * Context: any.
 * Return: the time; rmpp_tx_timer() will give up then.
 */
u64 rmpp_tx_wait_deadline(const struct rmpp_tx *tx, u64 since)
{
	return max(max(since, tx->progress_at) + RMPP_TX_WAIT_MAX - tx->waited,
		   tx->progress_at + tx->give_up_after);
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_wait_deadline);

/**
 * rmpp_tx_held() - the caller did not send what rmpp_tx_may_send() was true for
 * @tx: the sender
 * @since: when it became true
 * @now: the time
 *
 * Neither is that a silence of the receiver: both timeouts are put off.
 * Context: any.
 */
void rmpp_tx_held(struct rmpp_tx *tx, u64 since, u64 now)
{
	if (now <= since)
		return;
	if (now > tx->progress_at)
		tx->progress_at += now - max(since, tx->progress_at);
	if (tx->rto_at)
		tx->rto_at = min(tx->rto_at + (now - since), now + tx->rto);
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_held);

/**
 * rmpp_tx_is_silent() - does its receiver not answer?
 * @tx: the sender
 * @now: the time
 *
 * It may still: not before rmpp_tx_timer() gives up it is sure that it will not.
 * Context: any.
 * Return: true if something has been sent, and nothing was heard for half a second.
 */
bool rmpp_tx_is_silent(const struct rmpp_tx *tx, u64 now)
{
	return tx->state == RMPP_TX_SENDING && !tx->posted && tx->next > tx->una &&
	       now >= max(tx->progress_at, tx->heard_at) + SILENT_AFTER;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_is_silent);

/**
 * rmpp_tx_no_memory() - the message has to go
 * @tx: the sender, SENDING
 *
 * Context: any.
 */
void rmpp_tx_no_memory(struct rmpp_tx *tx)
{
	WRITE_ONCE(tx->state, RMPP_TX_FAILED);
	tx->reason = RMPP_REASON_NO_MEMORY;
	tx->status = IB_MGMT_RMPP_STATUS_RESX;
	tx->rto_at = 0;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_tx_no_memory);
