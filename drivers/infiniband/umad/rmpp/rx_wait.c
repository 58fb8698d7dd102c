// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Acknowledgments that are not sent, or not yet. */
#include "rmpp/rx.h"

#include <linux/limits.h>
#include "umad_export.h"

/**
 * rmpp_rx_hush() - repeat no acknowledgment until a segment comes
 * @rx: the receiver
 *
 * Context: any.
 */
void rmpp_rx_hush(struct rmpp_rx *rx)
{
	rx->ack_repeat_at = U64_MAX;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_hush);

/**
 * rmpp_rx_may_withhold() - is the sender waiting for nothing but a window?
 * @rx: the receiver
 *
 * Context: any.
 * Return: true if so: all that it may send has come.
 */
bool rmpp_rx_may_withhold(const struct rmpp_rx *rx)
{
	return rx->state == RMPP_RX_REASSEMBLING && !rx->rewinds &&
	       rx->expected > rx->window_last;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_may_withhold);

/**
 * rmpp_rx_withhold() - let the sender wait for its window
 * @rx: the receiver, for which rmpp_rx_may_withhold() is true
 * @until: rmpp_rx_timer() says RMPP_RX_ACK then
 *
 * A segment that comes twice ends that: its sender asks.
 * Context: any.
 */
void rmpp_rx_withhold(struct rmpp_rx *rx, u64 until)
{
	rx->withheld_until = until;
	/* The last one is as old as the window. */
	rx->ack_repeat_at = U64_MAX;
}
EXPORT_SYMBOL_IF_KUNIT(rmpp_rx_withhold);
