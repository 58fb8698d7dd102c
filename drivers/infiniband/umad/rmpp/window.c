// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "rmpp/window.h"

#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "rmpp/peer.h"
#include "rmpp/reassembly.h"
#include "stats.h"
#include "user.h"

/*
 * A sender that is silent for so long uses nothing of what it was granted: it
 * waits for its own timeout, of 2 s in-tree, or is gone. When it comes back it
 * counts again, as soon as it uses what it has.
 */
#define SILENT_AFTER	(250 * NSEC_PER_MSEC)
/* Which is that, and more often than @SILENT_AFTER. */
#define USED_MIN(granted)	((granted) / 16 + 1)
/* Of the window budget, what one peer alone is not granted: for who comes next. */
#define RESERVE(budget)	((budget) / 8)
/*
 * Of that, what all peers of one process are not granted: half of this is for others
 * at the highest level, half of the rest at the next, and so on.
 */
#define SPARE(budget)	((budget) / 24)
/*
 * Where the part of a message is small, it has so many segments at once, and waits then
 * until it has had no more than its part: else there would be an ACK for each few.
 */
#define TURN		32
/* A part, in segments, for which it waits so often. */
#define TINY		3
#define TINY_WAITS	2
/* Of fewer segments of its own it cannot be said what it has of all that come. */
#define TURN_SAMPLE	16
/* Where a segment takes longer, ACKs are no burden, in ns. */
#define TURN_SLOW	(250 * NSEC_PER_USEC)
/* It waits no longer, for its sender's timeouts; and not at all if a timer takes as long. */
#define TURN_WAIT_MAX	(400 * NSEC_PER_MSEC)
#define TURN_WAIT_MIN	(4 * NSEC_PER_MSEC)
/*
 * Of an answer that has not begun: it counts when it has, so that many offers come to more than
 * the budget. Nor does anybody wait for the answer to who is gone.
 */
#define OFFER_MAX	16U
/* The longest way up to the port: from a peer, by its file and those who have that. */
#define LEVELS		(2 + UMAD_USER_LEVELS)

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
	umad_share_init(&window->all, NULL);
}

static struct umad_rmpp_window *window_of(struct umad_xfer_rx *rx)
{
	return &rx->agent->file->port->rmpp_window;
}

static bool is_active(const struct umad_xfer_rx *rx)
{
	return !list_empty(&rx->window_node);
}

/* What has been granted to a message is so to all that it belongs to. */
static void add_granted(struct umad_xfer_rx *rx, u32 granted)
{
	struct umad_share *share;

	for (share = &rx->peer->share; share; share = share->parent)
		share->granted += granted;
}

static void window_deactivate(struct umad_rmpp_window *window, struct umad_xfer_rx *rx)
{
	struct umad_share *share = &rx->peer->share;

	lockdep_assert_held(&window->lock);
	list_del_init(&rx->window_node);
	window->messages--;
	add_granted(rx, -rx->granted);
	while (share && !--share->active)
		share = share->parent;
}

static void window_activate(struct umad_rmpp_window *window, struct umad_xfer_rx *rx)
{
	struct umad_share *share = &rx->peer->share;

	lockdep_assert_held(&window->lock);
	list_add_tail(&rx->window_node, &window->active);
	window->messages++;
	add_granted(rx, rx->granted);
	while (share && !share->active++)
		share = share->parent;
}

/*
 * What its sender may send without a further ACK, from the first missing one.
 * One segment is not counted, that each is always granted: else many that have
 * no more than that would use up what others could be granted.
 */
static void window_account(struct umad_rmpp_window *window, struct umad_xfer_rx *rx)
{
	const struct rmpp_rx *engine = &rx->engine;
	u32 granted = engine->window_last - (engine->expected - 1);

	lockdep_assert_held(&window->lock);
	if (granted)
		granted--;
	if (is_active(rx))
		add_granted(rx, granted - rx->granted);
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
		window_deactivate(window, rx);
	}
}

static void sample_opened(const struct umad_rmpp_window *window, struct umad_xfer_rx *rx, u64 now)
{
	lockdep_assert_held(&window->lock);
	rx->turn.opened_at = now;
	rx->turn.opened_segs = window->segs;
}

static void sample_begin(const struct umad_rmpp_window *window, struct umad_xfer_rx *rx, u64 now)
{
	lockdep_assert_held(&window->lock);
	rx->turn.began_at = now;
	rx->turn.port_segs = window->segs;
	rx->turn.seg = rx->engine.expected - 1;
	sample_opened(window, rx, now);
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
	window->segs++;
	if (!rx->turn.began_at)
		sample_begin(window, rx, now);
	if (++rx->seen_segs >= USED_MIN(rx->granted)) {
		rx->seen_segs = 0;
		rx->seen_at = now;
		if (is_active(rx))
			list_move_tail(&rx->window_node, &window->active);
		else
			window_activate(window, rx);
	}
	window_account(window, rx);
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
		window_deactivate(window, rx);
	rx->granted = 0;
	spin_unlock(&window->lock);
}

/**
 * struct window_choice - what a message can have
 * @size: its part
 * @turn: what it can have at once, if its part is less than a turn
 */
struct window_choice {
	u32 size;
	u32 turn;
};

/*
 * A fair share: at each level the same for all who are active, of what those above it
 * have. But no more than is left of any of these, as those who came first may have
 * been granted much. @share: of a peer or a file; @own: what is granted of it to who
 * asks; @below: who divide it. Those who have less than a turn take turns with what is left
 * to all of them.
 */
static struct window_choice window_choose(struct umad_rmpp_window *window, u32 budget,
					  const struct umad_share *share, u32 own,
					  unsigned int below)
{
	u32 most = budget, used = window->all.granted - own;
	u32 left = most - min(most, used), spare = 0;
	u32 turn = left - min(left, RESERVE(budget));
	const struct umad_share *way[LEVELS];
	unsigned int n = 0;

	lockdep_assert_held(&window->lock);
	for (; share->parent && !WARN_ON_ONCE(n == LEVELS); share = share->parent)
		way[n++] = share;
	while (n--) {
		share = way[n];
		/* It counts, if it has nothing yet. */
		most /= share->parent->active + !share->active;
		spare = n ? (spare + SPARE(budget)) / 2 : RESERVE(budget);
		most = min(most, budget - spare);
		used = share->granted - own;
		left = min(left, most - min(most, used));
		if (most >= TURN)
			turn = min(turn, left);
	}
	return (struct window_choice){
		.size = clamp_t(u32, min(left, most / below), 1, RMPP_RX_WINDOW_MAX),
		.turn = turn,
	};
}

/* Nothing that was granted is on its way or lost, and the rest of it is more than its part. */
static bool may_take_turns(const struct rmpp_rx *engine, u32 size)
{
	return size < RMPP_RX_WINDOW_SMALL && engine->in_order_run >= RMPP_RX_WINDOW_SMALL &&
	       rmpp_rx_may_hold(engine) && !engine->rewinds &&
	       engine->claim - engine->window_last > size;
}

/*
 * Do many others send, too, and fast? If those that count send little, it has the way for
 * itself, and would wait for nobody: so it is, too, if they have left the port idle while it
 * waited, as far as can be seen from how fast segments came when it did not. Of few segments
 * that cannot be said: it is as before.
 */
static bool is_crowded(const struct umad_rmpp_window *window, struct umad_xfer_rx *rx,
		       u32 budget, u64 now)
{
	struct umad_rmpp_turn *turn = &rx->turn;
	u64 came = window->segs - turn->port_segs;
	u32 had = rx->engine.expected - 1 - turn->seg;

	if (had < TURN_SAMPLE)
		return turn->crowded;
	turn->each = div64_u64(now - turn->opened_at, max(window->segs - turn->opened_segs, 1ULL));
	turn->crowded = (u64)budget * had < came * RMPP_RX_WINDOW_SMALL &&
			turn->each < TURN_SLOW &&
			came * turn->each >= (now - turn->began_at) / 4 * 3;
	sample_begin(window, rx, now);
	return turn->crowded;
}

/*
 * How long it has to wait for its turn, in ns. The port is taken to be busy with each turn as
 * long as with so many of what came lately; but a turn begins the sooner the less is
 * under way. What is ahead is at most a turn of each, and what one of them can wait: else
 * those who go on when a crowd has gone would wait for its turns, too, and those who are
 * fast for the time that the slow ones take.
 */
static u64 turn_wait(struct umad_rmpp_window *window, const struct umad_xfer_rx *rx,
		     u32 budget, u64 now)
{
	u32 aim = max(budget / 4 * 3, 1U);
	u64 each = rx->turn.each, sooner = aim * each;
	u64 most = min_t(u64, TURN * each * window->messages, TURN_WAIT_MAX);
	u64 until = clamp(window->turns_until, now, now + sooner + most);
	u64 ahead = until - now;

	lockdep_assert_held(&window->lock);
	window->turns_until = until + div_u64(TURN * each * clamp(window->all.granted, aim / 2,
								  2 * aim), aim);
	return ahead - min(ahead, sooner);
}

/* It remains active meanwhile: what it is to have is still a part of what all have. */
static void hold(struct umad_rmpp_window *window, struct umad_xfer_rx *rx, u64 until,
		 struct rmpp_packet *ack)
{
	lockdep_assert_held(&window->lock);
	rx->turn.until = until;
	rx->seen_at = until;
	list_move_tail(&rx->window_node, &window->active);
	rmpp_rx_hold(&rx->engine, until, ack);
	umad_stat_inc(&rx->agent->file->port->stats, UMAD_STAT_RMPP_TURNS);
}

/*
 * Returns true if it has to wait for its turn, and the ACK says so. If there is no room for
 * one when it has waited, it goes on with its part, and waits again; but where that is tiny,
 * once only until there is, or it would wait for each few. It goes on, too, while it has to
 * wait and does not.
 */
static bool take_turn(struct umad_rmpp_window *window, struct umad_xfer_rx *rx, u32 budget,
		      struct window_choice *choice, u64 now, struct rmpp_packet *ack)
{
	struct rmpp_rx *engine = &rx->engine;
	bool crowded, turn;
	u64 wait = 0;

	lockdep_assert_held(&window->lock);
	engine->in_turn = false;
	if (now < rx->turn.until)
		return false;
	crowded = is_crowded(window, rx, budget, now);
	turn = crowded && may_take_turns(engine, choice->size);
	if (rx->turn.until) {
		rx->turn.until = 0;
		rx->turn.waits++;
		sample_opened(window, rx, now);
	} else if (turn && rx->turn.waits < TINY_WAITS) {
		wait = turn_wait(window, rx, budget, now);
	}
	if (wait >= TURN_WAIT_MIN) {
		hold(window, rx, now + wait, ack);
		return true;
	}
	engine->in_turn = turn && choice->turn >= TURN;
	if (engine->in_turn)
		choice->size = TURN;
	if (engine->in_turn || !crowded || choice->size > TINY)
		rx->turn.waits = 0;
	return false;
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
	struct window_choice choice = { .size = 1 };
	bool held = false;

	lockdep_assert_held(&rx->agent->file->lock);
	/* Complete: it wants nothing, and has left. */
	if (rx->engine.state == RMPP_RX_DONE) {
		rmpp_rx_format_ack(&rx->engine, 1, ack);
		return;
	}
	spin_lock(&window->lock);
	let_age(window, now);
	/* Who is silent needs no more than a way to go on. */
	if (is_active(rx)) {
		choice = window_choose(window, budget, &rx->peer->share, rx->granted,
				       rx->peer->share.active);
		held = take_turn(window, rx, budget, &choice, now, ack);
	}
	if (!held)
		rmpp_rx_format_ack(&rx->engine, choice.size, ack);
	window_account(window, rx);
	spin_unlock(&window->lock);
}

/**
 * umad_rmpp_window_offer() - the window for a message that is yet to begin
 * @file: that will receive it, from a peer that it does not know yet
 * @now: the time
 *
 * Context: process; does not sleep.
 * Return: segments, at least one, OFFER_MAX at the most.
 */
u32 umad_rmpp_window_offer(struct umad_file *file, u64 now)
{
	struct umad_rmpp_window *window = &file->port->rmpp_window;
	u32 budget = READ_ONCE(file->port->rx_window_budget);
	const struct umad_share *share = &file->rmpp->share;
	struct window_choice choice;

	spin_lock(&window->lock);
	let_age(window, now);
	choice = window_choose(window, budget, share, 0, share->active + 1);
	spin_unlock(&window->lock);
	return min(choice.size, OFFER_MAX);
}
