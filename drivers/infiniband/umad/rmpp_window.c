// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp_window.h"

#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "rmpp_peer.h"
#include "rmpp_rx_life.h"

/*
 * A sender that is silent for so long uses nothing of what it was granted: it
 * waits for its own timeout, of 2 s in-tree, or is gone. When it comes back it
 * does so with one segment or two, and counts again.
 */
#define SILENT_AFTER	(250 * NSEC_PER_MSEC)
/* Of the window budget, what one peer alone is not granted: for who comes next. */
#define RESERVE(budget)	((budget) / 8)

/**
 * umad_rmpp_window_init() - nothing is granted yet
 * @window: of a port
 *
 * Context: any.
 */
void umad_rmpp_window_init(struct umad_rmpp_window *window)
{
	spin_lock_init(&window->lock);
	INIT_LIST_HEAD(&window->active);
}

static struct umad_rmpp_window *window_of(struct umad_xfer_rx *rx)
{
	return &rx->agent->file->port->rmpp_window;
}

static bool is_active(const struct umad_xfer_rx *rx)
{
	return !list_empty(&rx->window_node);
}

static void deactivate(struct umad_rmpp_window *window, struct umad_xfer_rx *rx)
{
	lockdep_assert_held(&window->lock);
	list_del_init(&rx->window_node);
	window->granted -= rx->granted;
	rx->peer->granted -= rx->granted;
	if (!--rx->peer->active)
		window->peers--;
}

static void activate(struct umad_rmpp_window *window, struct umad_xfer_rx *rx)
{
	lockdep_assert_held(&window->lock);
	list_add_tail(&rx->window_node, &window->active);
	window->granted += rx->granted;
	rx->peer->granted += rx->granted;
	if (!rx->peer->active++)
		window->peers++;
}

/*
 * What its sender may send without a further ACK, from the first missing one.
 * One segment is not counted, that each is always granted: else many that have
 * no more than that would use up what others could be granted.
 */
static void account(struct umad_rmpp_window *window, struct umad_xfer_rx *rx)
{
	const struct rmpp_rx *engine = &rx->engine;
	u32 granted = engine->window_last - (engine->expected - 1);

	lockdep_assert_held(&window->lock);
	if (granted)
		granted--;
	if (is_active(rx)) {
		window->granted += granted - rx->granted;
		rx->peer->granted += granted - rx->granted;
	}
	rx->granted = granted;
}

/* Those whose senders have fallen silent do not count. */
static void let_age(struct umad_rmpp_window *window, u64 now)
{
	struct umad_xfer_rx *rx, *next;

	lockdep_assert_held(&window->lock);
	list_for_each_entry_safe(rx, next, &window->active, window_node) {
		if (now - min(now, rx->seen_at) < SILENT_AFTER)
			break;
		deactivate(window, rx);
	}
}

/**
 * umad_rmpp_window_seen() - a segment of a message has come, and was stored
 * @rx: the message, not complete
 * @now: the time
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_window_seen(struct umad_xfer_rx *rx, u64 now)
{
	struct umad_rmpp_window *window = window_of(rx);

	lockdep_assert_held(&rx->agent->file->lock);
	spin_lock(&window->lock);
	rx->seen_at = now;
	if (is_active(rx))
		list_move_tail(&rx->window_node, &window->active);
	else
		activate(window, rx);
	account(window, rx);
	spin_unlock(&window->lock);
}

/**
 * umad_rmpp_window_leave() - a message has ended
 * @rx: complete, or not to be completed
 *
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_window_leave(struct umad_xfer_rx *rx)
{
	struct umad_rmpp_window *window = window_of(rx);

	lockdep_assert_held(&rx->agent->file->lock);
	spin_lock(&window->lock);
	if (is_active(rx))
		deactivate(window, rx);
	rx->granted = 0;
	spin_unlock(&window->lock);
}

/*
 * A fair share: of the window budget for the peer, of that for its message; but no
 * more than is left of either, as those who came first may have been promised
 * much. Who is silent needs no more than a way to go on.
 */
static u32 choose(struct umad_rmpp_window *window, u32 budget,
		  const struct umad_xfer_rx *rx)
{
	const struct umad_rmpp_peer *peer = rx->peer;
	u32 others, most, left, used;

	lockdep_assert_held(&window->lock);
	if (!is_active(rx))
		return 1;
	most = min(budget / window->peers, budget - RESERVE(budget));
	used = peer->granted - rx->granted;
	others = window->granted - rx->granted;
	left = min(most - min(most, used), budget - min(budget, others));
	return clamp_t(u32, min(left, most / peer->active), 1,
		       RMPP_RX_WINDOW_MAX);
}

/**
 * umad_rmpp_window_ack() - the ACK of a message, with the window it can have now
 * @rx: the message
 * @ack: filled in; it is sent
 * @now: the time
 *
 * Choosing the window and granting it are one step, so that what is granted
 * never exceeds the window budget but by one segment for each message.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_window_ack(struct umad_xfer_rx *rx, struct rmpp_packet *ack,
			  u64 now)
{
	u32 budget = READ_ONCE(rx->agent->file->port->rx_window_budget);
	struct umad_rmpp_window *window = window_of(rx);

	lockdep_assert_held(&rx->agent->file->lock);
	/* Complete: it wants nothing, and has left. */
	if (rx->engine.state == RMPP_RX_DONE) {
		rmpp_rx_format_ack(&rx->engine, 1, ack);
		return;
	}
	spin_lock(&window->lock);
	let_age(window, now);
	rmpp_rx_format_ack(&rx->engine, choose(window, budget, rx), ack);
	account(window, rx);
	spin_unlock(&window->lock);
}

/**
 * umad_rmpp_window_offer() - the window for a message that is yet to begin
 * @port: that will receive it
 * @now: the time
 *
 * Context: process; does not sleep.
 * Return: segments, at least one, RMPP_RX_WINDOW_MAX at the most.
 */
u32 umad_rmpp_window_offer(struct umad_port *port, u64 now)
{
	struct umad_rmpp_window *window = &port->rmpp_window;
	u32 budget = READ_ONCE(port->rx_window_budget);
	u32 left;

	spin_lock(&window->lock);
	let_age(window, now);
	left = min(budget - min(budget, window->granted),
		   (budget - RESERVE(budget)) / (window->peers + 1));
	spin_unlock(&window->lock);
	return clamp_t(u32, left, 1, RMPP_RX_WINDOW_MAX);
}
