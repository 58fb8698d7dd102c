// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What messages being received may take, of the file, of the port, and of each
 * peer; and who has to go if it is too much.
 */
#include <linux/types.h>
#include "rmpp/limits.h"

#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/time64.h>
#include "agent.h"
#include "file.h"
#include "port.h"
#include "request.h"
#include "rmpp/peer.h"
#include "rmpp/xfer_rx.h"
#include "room.h"
#include "unread.h"
#include "user.h"

static unsigned long rmpp_max_message = 256UL << 20;
module_param(rmpp_max_message, ulong, 0644);
MODULE_PARM_DESC(rmpp_max_message,
		 "Bytes one RMPP message may have, sent or received (default: 256 MiB)");

static unsigned long rmpp_file_bytes = 512UL << 20;
module_param(rmpp_file_bytes, ulong, 0644);
MODULE_PARM_DESC(rmpp_file_bytes,
		 "Bytes of RMPP messages being reassembled for one file (default: 512 MiB)");

static unsigned long rmpp_port_bytes = 1024UL << 20;
module_param(rmpp_port_bytes, ulong, 0644);
MODULE_PARM_DESC(rmpp_port_bytes,
		 "Bytes of RMPP messages being reassembled for one port (default: 1 GiB)");

static unsigned int rmpp_file_transfers = 8192;
module_param(rmpp_file_transfers, uint, 0644);
MODULE_PARM_DESC(rmpp_file_transfers,
		 "RMPP messages being reassembled for one file (default: 8192)");

static unsigned int rmpp_port_transfers = 32768;
module_param(rmpp_port_transfers, uint, 0644);
MODULE_PARM_DESC(rmpp_port_transfers,
		 "RMPP messages being reassembled for one port (default: 32768)");

static unsigned long rmpp_peer_bytes = 256UL << 20;
module_param(rmpp_peer_bytes, ulong, 0644);
MODULE_PARM_DESC(rmpp_peer_bytes,
		 "Bytes of RMPP messages that one peer sends to one file unsolicited (default: 256 MiB)");

static unsigned int rmpp_peer_transfers = 4096;
module_param(rmpp_peer_transfers, uint, 0644);
MODULE_PARM_DESC(rmpp_peer_transfers,
		 "RMPP messages that one peer sends to one file unsolicited (default: 4096)");

/* That any peer may send at the same time. */
#define PEER_TRANSFERS_FEW	256U
/* A message is not evicted before it has been idle for so long. */
#define IDLE_EVICT	NSEC_PER_SEC
/* Peers, and messages, that are looked at for such a one. */
#define EVICT_PEERS	8
/* Of those with an ACK in the send queue, which stay, so many count as one. */
#define EVICT_POSTED	8
/* Of those that may be slow, so many are looked at. */
#define EVICT_SLOW	128
/* What one peer may have, of all that a file may, before its messages go before others'. */
#define MANY(limit)	max((limit) / 32, 1U)

/*
 * No read() or write() moves more than MAX_RW_COUNT, and a message that no read()
 * can take would stop a file's queue. Less a page, for headers and the rest of a
 * segment.
 */
#define MESSAGE_MAX	(MAX_RW_COUNT - PAGE_SIZE)

/**
 * umad_rmpp_max_message() - how long a message may be
 *
 * Context: any.
 * Return: bytes: sent with the first segment's headers, received of data.
 */
size_t umad_rmpp_max_message(void)
{
	return min_t(size_t, READ_ONCE(rmpp_max_message), MESSAGE_MAX);
}

/* What there is too much of. */
enum lack {
	LACK_NOTHING,
	LACK_PEER,
	LACK_TRANSFERS,
	LACK_BYTES,
	LACK_CGROUP,
	LACK_ANSWERS,
};

/*
 * A port that is full refuses who has had a share of it, but nobody else: or one
 * would keep it from all others. It is shared by cgroups, a cgroup's share by those
 * below it and its processes, and a process's by its files: but all files of a process
 * have no more than twice its share. n who begin one after another on a port that is
 * full, all of one cgroup, have at most the n-th harmonic number times its share.
 */
static bool exceeds_share(const struct umad_file *file, u64 limit, u64 of_program,
			  u64 of_file)
{
	unsigned int files = READ_ONCE(file->user->active), siblings;
	const struct umad_user *user;
	u64 share = limit;

	/* It counts, if it has nothing yet. Others may come and go meanwhile. */
	for (user = file->user; user; user = user->parent) {
		siblings = user->parent ? READ_ONCE(user->parent->active) :
					  READ_ONCE(file->port->active_users);
		share = div_u64(share, max(siblings + !READ_ONCE(user->active), 1U));
	}
	if (of_program > 2 * share)
		return true;
	return of_file > div_u64(share, max(files + !file->rmpp->reassembling, 1U));
}

/*
 * Of a cgroup's memory, as far as it is for what nobody has asked for, and half of that for one
 * peer. And who was asked may send any number of segments, but not fill it.
 */
static enum lack lack_of_cgroup(const struct umad_xfer_rx *rx, enum umad_kept what)
{
	const struct umad_file *file = rx->agent->file;
	const struct umad_rmpp *rmpp = file->rmpp;
	u64 unread = what == UMAD_UNASKED_BEGINS ? 0 : umad_rxq_charged(&file->rxq);

	if (rx->solicited)
		return umad_reserve_allows(file->reserve, rmpp->reassembly_bytes -
					   rmpp->unasked_bytes + unread, UMAD_ANSWER) ?
		       LACK_NOTHING : LACK_ANSWERS;
	if (rx->peer->bytes + rx->peer->transfers * UMAD_RX_BYTES >
	    umad_reserve_max(file->reserve) / 8)
		return LACK_PEER;
	if (!umad_reserve_allows(file->reserve, rmpp->unasked_bytes + unread +
				 rmpp->unsolicited * UMAD_RX_BYTES, what))
		return LACK_CGROUP;
	return LACK_NOTHING;
}

static enum lack lack_of_bytes(const struct umad_xfer_rx *rx, enum umad_kept what)
{
	const struct umad_file *file = rx->agent->file;
	u64 port_bytes = atomic64_read(&file->port->rmpp_reassembly_bytes);
	u64 limit = READ_ONCE(rmpp_port_bytes);

	if (!rx->solicited && rx->peer->bytes > READ_ONCE(rmpp_peer_bytes))
		return LACK_PEER;
	if (file->rmpp->reassembly_bytes > READ_ONCE(rmpp_file_bytes))
		return LACK_BYTES;
	if (port_bytes > limit &&
	    exceeds_share(file, limit, atomic64_read(&file->user->reassembly_bytes),
			  file->rmpp->reassembly_bytes))
		return LACK_BYTES;
	return lack_of_cgroup(rx, what);
}

/*
 * What a file has of a kind, for a limit of transfers. Answers that were asked for have places of
 * their own: they are not kept out by what nobody has asked for, and come for requests only.
 */
static unsigned int transfers_of(const struct umad_xfer_rx *rx)
{
	const struct umad_rmpp *rmpp = rx->agent->file->rmpp;

	return rx->solicited ? rmpp->reassembling - rmpp->unsolicited : rmpp->unsolicited;
}

static bool peer_has_all(const struct umad_xfer_rx *rx)
{
	return !rx->solicited && rx->peer->transfers >= READ_ONCE(rmpp_peer_transfers);
}

/*
 * Beside a few, which each may have, a peer has no more than is free then: one alone half, a
 * second one half of the rest, and so on.
 */
static bool peer_has_too_many(const struct umad_xfer_rx *rx)
{
	unsigned int limit = READ_ONCE(rmpp_file_transfers);
	unsigned int free = limit - min(limit, transfers_of(rx));

	return !rx->solicited && rx->peer->transfers >= max(free, PEER_TRANSFERS_FEW);
}

/* With this one. No other gives way to an answer: they do not count for it. */
static enum lack lack_of_transfers(const struct umad_xfer_rx *rx)
{
	const struct umad_file *file = rx->agent->file;
	enum lack lack = rx->solicited ? LACK_ANSWERS : LACK_TRANSFERS;
	u32 in_port = atomic_read(&file->port->rmpp_reassembling), of_program;
	u32 limit = READ_ONCE(rmpp_port_transfers);

	if (transfers_of(rx) >= READ_ONCE(rmpp_file_transfers))
		return lack;
	of_program = rx->solicited ? 0 : atomic_read(&file->user->reassembling) + 1;
	if (in_port >= limit && exceeds_share(file, limit, of_program, transfers_of(rx) + 1))
		return lack;
	return LACK_NOTHING;
}

static enum lack lack_to_begin(const struct umad_xfer_rx *rx, bool whole)
{
	enum lack lack;

	/* It is complete before another can begin: what others hold does not keep it out. */
	if (whole)
		return LACK_NOTHING;
	if (peer_has_all(rx) || peer_has_too_many(rx))
		return LACK_PEER;
	lack = lack_of_transfers(rx);
	if (lack != LACK_NOTHING)
		return lack;
	return lack_of_bytes(rx, UMAD_UNASKED_BEGINS);
}

/*
 * It is not idle while an ACK waits in ib_core's send queue: its sender may wait for that. So
 * no more answers wait there than there may be messages, however many begin.
 */
static bool evict_idle(struct umad_xfer_rx *idle, u64 now, u64 for_ns,
		       struct umad_xfer_rx **victim)
{
	if (now - min(now, idle->engine.progress_at) < for_ns || idle->acks_posted ||
	    !umad_xfer_rx_evict(idle))
		return false;
	*victim = idle;
	return true;
}

/* The peer's other one that has been idle longest, if it is for long enough. */
static bool evict_from(struct umad_rmpp_peer *peer, struct umad_xfer_rx *rx,
		       u64 now, struct umad_xfer_rx **victim)
{
	struct umad_xfer_rx *idle;

	list_for_each_entry(idle, &peer->idle, peer_node)
		if (idle != rx)
			return evict_idle(idle, now, IDLE_EVICT, victim);
	return false;
}

/*
 * The slowest. Where a segment has come since it was last looked at, it is put where it
 * belongs now: so those that have had many do not hide others from the next one.
 */
static bool evict_slow(struct umad_rmpp *rmpp, u64 now, struct umad_xfer_rx **victim)
{
	struct timerqueue_node *node;
	unsigned int looked_at = 0;
	struct umad_xfer_rx *slow;
	u64 at;

	while (looked_at++ < EVICT_SLOW && (node = timerqueue_getnext(&rmpp->slow)) &&
	       (u64)node->expires < now) {
		slow = container_of(node, struct umad_xfer_rx, slow_node);
		at = rmpp_rx_slow_at(&slow->engine);
		if (at < now && evict_idle(slow, now, IDLE_EVICT, victim))
			return true;
		timerqueue_del(&rmpp->slow, node);
		/* It has had a segment just now, or cannot go yet. */
		node->expires = max(at, now + IDLE_EVICT);
		timerqueue_add(&rmpp->slow, node);
	}
	return false;
}

/* Whoever's, but not the one itself that makes room. */
static bool evict_oldest(struct list_head *by_progress, const struct umad_xfer_rx *rx, u64 now,
			 u64 for_ns, struct umad_xfer_rx **victim)
{
	unsigned int looked_at = 0;
	struct umad_xfer_rx *idle;

	list_for_each_entry(idle, by_progress, file_node) {
		if (looked_at >= EVICT_PEERS * EVICT_POSTED)
			break;
		looked_at += idle->acks_posted ? 1 : EVICT_POSTED;
		if (idle != rx && evict_idle(idle, now, for_ns, victim))
			return true;
	}
	return false;
}

/*
 * Not who comes last has to go, but who takes most and does nothing with it; then what its
 * sender has most likely given up, or only holds a place with; and what has only just begun,
 * as peers may be as many as they like, with a message each.
 */
static bool evict_for_place(struct umad_rmpp *rmpp, struct umad_xfer_rx *rx, u64 now,
			    struct umad_xfer_rx **victim)
{
	unsigned int many = MANY(READ_ONCE(rmpp_file_transfers)), looked_at = 0;
	struct umad_rmpp_peer *peer;
	struct rb_node *node;

	node = rb_first_cached(&rmpp->by_transfers);
	for (; node && looked_at++ < EVICT_PEERS; node = rb_next(node)) {
		peer = rb_entry(node, struct umad_rmpp_peer, by_transfers);
		if (peer->transfers <= many)
			break;
		if (evict_from(peer, rx, now, victim))
			return true;
	}
	if (evict_oldest(&rmpp->begun, rx, now, RMPP_RX_BEGUN_GIVEN_UP, victim) ||
	    evict_oldest(&rmpp->lone, rx, now, RMPP_RX_LONE_GIVEN_UP, victim))
		return true;
	/* A flood of first segments, in which none becomes so old, is not the slow ones' fault. */
	if (rmpp->lone_count > rmpp->unsolicited / 2 &&
	    evict_oldest(&rmpp->lone, rx, now, IDLE_EVICT, victim))
		return true;
	return evict_slow(rmpp, now, victim) ||
	       evict_oldest(&rmpp->lone, rx, now, IDLE_EVICT, victim);
}

static bool evict_for_bytes(struct umad_rmpp *rmpp, struct umad_xfer_rx *rx, u64 now,
			    struct umad_xfer_rx **victim)
{
	struct rb_node *node = rb_first_cached(&rmpp->by_bytes);
	struct umad_rmpp_peer *peer;
	unsigned int looked_at = 0;

	for (; node && looked_at++ < EVICT_PEERS; node = rb_next(node)) {
		peer = rb_entry(node, struct umad_rmpp_peer, by_bytes);
		if (evict_from(peer, rx, now, victim))
			return true;
	}
	return false;
}

/* In a flood of first segments these are not the fault of who takes most. */
static bool evict_for_cgroup(struct umad_rmpp *rmpp, struct umad_xfer_rx *rx, u64 now,
			     struct umad_xfer_rx **victim)
{
	if (rmpp->lone_count > rmpp->unsolicited / 2 &&
	    evict_oldest(&rmpp->lone, rx, now, IDLE_EVICT, victim))
		return true;
	return evict_for_bytes(rmpp, rx, now, victim);
}

static bool transfer_evict(enum lack lack, struct umad_xfer_rx *rx, u64 now,
			   struct umad_xfer_rx **victim)
{
	struct umad_rmpp *rmpp = rx->agent->file->rmpp;

	switch (lack) {
	case LACK_PEER:
		return evict_from(rx->peer, rx, now, victim);
	case LACK_TRANSFERS:
		return evict_for_place(rmpp, rx, now, victim);
	case LACK_BYTES:
		return evict_for_bytes(rmpp, rx, now, victim);
	case LACK_CGROUP:
		return evict_for_cgroup(rmpp, rx, now, victim);
	case LACK_ANSWERS:
	case LACK_NOTHING:
		break;
	}
	return false;
}

/*
 * A place is free, of this file. The file may have it even if it has more than its share of
 * the port, and its peer with more than is free: it has no more than before. But if a bound
 * has been lowered, that place is gone.
 */
static bool has_place_of_evicted(const struct umad_xfer_rx *rx)
{
	if (peer_has_all(rx))
		return false;
	return transfers_of(rx) < min(READ_ONCE(rmpp_file_transfers),
				      READ_ONCE(rmpp_port_transfers)) &&
	       lack_of_bytes(rx, UMAD_UNASKED_BEGINS) == LACK_NOTHING;
}

/**
 * umad_rmpp_is_crowded() - is there half of the messages that may be reassembled, or
 * all that a cgroup may have?
 * @file: that has some
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true if so, for the file or for its port.
 */
bool umad_rmpp_is_crowded(const struct umad_file *file)
{
	return file->rmpp->unsolicited > READ_ONCE(rmpp_file_transfers) / 2 ||
	       atomic_read(&file->port->rmpp_reassembling) > READ_ONCE(rmpp_port_transfers) / 2 ||
	       !umad_reserve_allows(file->reserve, U64_MAX, UMAD_UNASKED_BEGINS);
}

/**
 * umad_rmpp_may_begin() - do the bounds allow a message to begin?
 * @rx: not in the table yet, with its peer and the request that it answers
 * @whole: its first segment, which has come, is also its last
 * @now: the time
 * @victim: set to one that has made room, for umad_xfer_rx_stop_evicted(), whatever
 *	is returned
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true if so.
 */
bool umad_rmpp_may_begin(struct umad_xfer_rx *rx, bool whole, u64 now,
			 struct umad_xfer_rx **victim)
{
	enum lack lack;

	lockdep_assert_held(&rx->agent->file->lock);
	if (!umad_rxq_has_room(&rx->agent->file->rxq) ||
	    !umad_unread_has_room(rx->agent->file))
		return false;
	lack = lack_to_begin(rx, whole);
	if (lack == LACK_NOTHING)
		return true;
	return transfer_evict(lack, rx, now, victim) && has_place_of_evicted(rx);
}

/**
 * umad_rmpp_may_grow() - do the bounds allow the pages that a message has taken?
 * @rx: the message, in the table
 * @now: the time
 * @victim: set to one that has made room, for umad_xfer_rx_stop_evicted(), whatever
 *	is returned
 *
 * Context: process, &umad_file.lock held; does not sleep.
 * Return: true if so.
 */
bool umad_rmpp_may_grow(struct umad_xfer_rx *rx, u64 now,
			struct umad_xfer_rx **victim)
{
	enum lack lack = lack_of_bytes(rx, UMAD_UNASKED_GOES_ON);

	lockdep_assert_held(&rx->agent->file->lock);
	if (lack == LACK_NOTHING)
		return true;
	return transfer_evict(lack, rx, now, victim) &&
	       lack_of_bytes(rx, UMAD_UNASKED_GOES_ON) == LACK_NOTHING;
}
