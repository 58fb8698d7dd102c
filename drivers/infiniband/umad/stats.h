/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What happened on a port, counted. */
#ifndef UMAD_STATS_H
#define UMAD_STATS_H

#include <linux/atomic.h>

/**
 * enum umad_stat - the counters of a port, in MADs if not said otherwise
 * @UMAD_STAT_SEND_POSTED: handed to ib_core for the first time
 * @UMAD_STAT_SEND_RETRIED: handed to ib_core again after a timeout
 * @UMAD_STAT_SEND_COMPLETED: answered; when no response was expected, sent, or of
 *	a message acknowledged
 * @UMAD_STAT_SEND_TIMED_OUT: reported to the caller with ETIMEDOUT
 * @UMAD_STAT_SEND_FAILED: attempts, and segments, that failed on this host
 * @UMAD_STAT_SEND_CANCELED: given up by their owner: unregister, close, removal
 * @UMAD_STAT_SEND_REFUSED: writes that failed after their MAD was copied in and
 *	their agent found
 * @UMAD_STAT_SEND_DUPLICATE: of the refused, those for their TID
 * @UMAD_STAT_SEND_OVER_LIMIT: of the refused, those beyond max_sends
 * @UMAD_STAT_RECV_DELIVERED: queued for read()
 * @UMAD_STAT_RECV_UNMATCHED: responses that came late, or with RMPP were not
 *	asked for (ib_core drops a plain one that nobody asked for); messages that
 *	were complete while their agent was going away
 * @UMAD_STAT_RECV_DROPPED_BUDGET: dropped, the file's budget was spent
 * @UMAD_STAT_RECV_DROPPED_NOMEM: dropped for want of memory
 * @UMAD_STAT_RECV_DROPPED_GID: dropped, sent to a GID this port has not
 * @UMAD_STAT_RECV_DROPPED_FOREIGN: responses dropped, that another port has received
 *	than their agent's, or nobody who may answer it has sent
 * @UMAD_STAT_RECV_DROPPED_DEAD: dropped, their agent or file was going away
 * @UMAD_STAT_READ_SHORT: reads whose buffer was too short for the MAD
 * @UMAD_STAT_RMPP_SENT: messages that their receiver has whole
 * @UMAD_STAT_RMPP_UNDELIVERED: messages that it will not get, or will not answer
 * @UMAD_STAT_RMPP_SEND_REFUSED: messages whose write failed as the file's messages
 *	being sent take too much memory
 * @UMAD_STAT_RMPP_RESENT: segments sent more than once
 * @UMAD_STAT_RMPP_RECEIVED: messages received whole, and wanted
 * @UMAD_STAT_RMPP_UNRECEIVED: messages begun, not refused, and not completed
 * @UMAD_STAT_RMPP_REFUSED: messages refused with STOP for a bound, when they begin
 *	or later
 * @UMAD_STAT_RMPP_EVICTED: of the refused, those that made room for another
 * @UMAD_STAT_RMPP_ACKS_MERGED: ACKs not sent, as the next one tells the same
 * @UMAD_STAT_RMPP_STRAY: packets that belong to no message
 * @UMAD_STAT_COUNT: how many there are
 */
enum umad_stat {
	UMAD_STAT_SEND_POSTED,
	UMAD_STAT_SEND_RETRIED,
	UMAD_STAT_SEND_COMPLETED,
	UMAD_STAT_SEND_TIMED_OUT,
	UMAD_STAT_SEND_FAILED,
	UMAD_STAT_SEND_CANCELED,
	UMAD_STAT_SEND_REFUSED,
	UMAD_STAT_SEND_DUPLICATE,
	UMAD_STAT_SEND_OVER_LIMIT,
	UMAD_STAT_RECV_DELIVERED,
	UMAD_STAT_RECV_UNMATCHED,
	UMAD_STAT_RECV_DROPPED_BUDGET,
	UMAD_STAT_RECV_DROPPED_NOMEM,
	UMAD_STAT_RECV_DROPPED_GID,
	UMAD_STAT_RECV_DROPPED_FOREIGN,
	UMAD_STAT_RECV_DROPPED_DEAD,
	UMAD_STAT_READ_SHORT,
	UMAD_STAT_RMPP_SENT,
	UMAD_STAT_RMPP_UNDELIVERED,
	UMAD_STAT_RMPP_SEND_REFUSED,
	UMAD_STAT_RMPP_RESENT,
	UMAD_STAT_RMPP_RECEIVED,
	UMAD_STAT_RMPP_UNRECEIVED,
	UMAD_STAT_RMPP_REFUSED,
	UMAD_STAT_RMPP_EVICTED,
	UMAD_STAT_RMPP_ACKS_MERGED,
	UMAD_STAT_RMPP_STRAY,
	UMAD_STAT_COUNT,
};

/**
 * struct umad_stats - the counters of one port
 * @value: by &enum umad_stat; they only rise
 */
struct umad_stats {
	atomic64_t value[UMAD_STAT_COUNT];
};

/**
 * umad_stat_inc() - count one
 * @stats: of the port
 * @stat: which
 *
 * Context: any.
 */
static inline void umad_stat_inc(struct umad_stats *stats, enum umad_stat stat)
{
	atomic64_inc(&stats->value[stat]);
}

/**
 * umad_stat_add() - count several
 * @stats: of the port
 * @stat: which
 * @n: how many
 *
 * Context: any.
 */
static inline void umad_stat_add(struct umad_stats *stats, enum umad_stat stat,
				 u32 n)
{
	if (n)
		atomic64_add(n, &stats->value[stat]);
}

#endif /* UMAD_STATS_H */
