// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which engine a packet is for, when an engine's time has come. */
#include <linux/types.h>
#include "rmpp.h"

#include <linux/err.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include "agent.h"
#include "ah.h"
#include "port.h"
#include "file.h"
#include "post.h"
#include "queues.h"
#include "recv_hdr.h"
#include "rmpp_addr.h"
#include "rmpp_recv.h"
#include "rmpp_send.h"
#include "rmpp_table.h"
#include "send.h"

/* Timers dealt with in one go with the file's lock held. */
#define BATCH	16
/* And in one run of the work, as engines set new ones meanwhile. */
#define RUN_MAX	256

/* Run the work when the first timer is due, if it will not run before. */
static void arm(struct umad_rmpp *rmpp)
{
	struct timerqueue_node *node = timerqueue_getnext(&rmpp->timers);
	s64 ns;

	if (!node || node->expires >= rmpp->armed)
		return;
	rmpp->armed = node->expires;
	ns = max_t(s64, ktime_sub(node->expires, ktime_get()), 0);
	mod_delayed_work(umad_timer_wq, &rmpp->work, nsecs_to_jiffies(ns) + 1);
}

/**
 * umad_rmpp_set_timer() - when an engine wants to be called
 * @file: that has it
 * @timer: the engine's
 * @deadline: in nanoseconds, or U64_MAX for never
 *
 * With each segment the deadline is put off. The queue is left alone then: an
 * engine that is called too early finds nothing to do, and is asked again.
 * Context: process, &umad_file.lock held; does not sleep.
 */
void umad_rmpp_set_timer(struct umad_file *file, struct umad_rmpp_timer *timer,
			 u64 deadline)
{
	struct umad_rmpp *rmpp = &file->rmpp;

	lockdep_assert_held(&file->lock);
	if (!RB_EMPTY_NODE(&timer->node.node)) {
		if (deadline != U64_MAX && deadline >= timer->node.expires)
			return;
		timerqueue_del(&rmpp->timers, &timer->node);
		timerqueue_init(&timer->node);
	}
	if (deadline == U64_MAX)
		return;
	timer->node.expires = deadline;
	timerqueue_add(&rmpp->timers, &timer->node);
	arm(rmpp);
}

/* A timer that is due, and what keeps its engine until it was called. */
struct due {
	struct umad_send *send;
	struct umad_rmpp_rx *rx;
	struct umad_agent *agent;
};

/* Its engine is to be called, unless that has to wait for a turn. */
static bool tx_is_due(struct umad_send *send, ktime_t now)
{
	struct rmpp_tx *tx = &send->rmpp->engine;
	u64 give_up;

	/* One that has ended is about to be freed. */
	if (!umad_rmpp_tx_is_active(send))
		return true;
	if (!umad_again_waits(&send->in_line) &&
	    rmpp_tx_will_resend(tx, ktime_to_ns(now)))
		umad_send_again(send, now);
	if (!umad_again_waits(&send->in_line) || tx->state != RMPP_TX_SENDING)
		return true;
	/*
	 * Waiting for its turn is no silence of its receiver's; but there is an end
	 * to it, or the line of one that never answers has none.
	 */
	give_up = rmpp_tx_wait_deadline(tx, ktime_to_ns(send->again_since));
	if (ktime_to_ns(now) >= give_up)
		return true;
	umad_rmpp_set_timer(send->file, &send->rmpp->timer, give_up);
	return false;
}

/* One batch under the lock; @n of them are left to do. True: there may be more. */
static bool collect(struct umad_file *file, struct due *due, unsigned int *n)
{
	struct umad_rmpp *rmpp = &file->rmpp;
	struct timerqueue_node *node;
	struct umad_rmpp_timer *timer;
	ktime_t now = ktime_get();
	unsigned int looked_at;
	struct due *next;

	*n = 0;
	spin_lock(&file->lock);
	for (looked_at = 0; looked_at < BATCH; looked_at++) {
		node = timerqueue_getnext(&rmpp->timers);
		if (!node || ktime_after(node->expires, now))
			break;
		timerqueue_del(&rmpp->timers, node);
		timerqueue_init(node);
		timer = container_of(node, struct umad_rmpp_timer, node);
		next = &due[*n];
		*next = (struct due){};
		if (timer->is_rx) {
			next->rx = container_of(timer, struct umad_rmpp_rx,
						timer);
			next->agent = next->rx->agent;
		} else {
			next->send = container_of(timer, struct umad_rmpp_tx,
						  timer)->send;
			next->agent = next->send->agent;
			if (!tx_is_due(next->send, now))
				continue;
		}
		/* Closed: whoever closed it takes everything down. */
		if (!umad_gate_enter(&next->agent->gate))
			continue;
		if (next->rx)
			umad_rmpp_rx_get(next->rx);
		else
			umad_send_get(next->send);
		++*n;
	}
	spin_unlock(&file->lock);
	return looked_at == BATCH;
}

static void timer_work(struct work_struct *work)
{
	struct umad_rmpp *rmpp = container_of(work, struct umad_rmpp,
					      work.work);
	struct umad_file *file = container_of(rmpp, struct umad_file, rmpp);
	unsigned int total = 0, n, i;
	struct due due[BATCH];
	bool more;

	do {
		more = collect(file, due, &n);
		for (i = 0; i < n; i++) {
			if (due[i].rx) {
				umad_rmpp_rx_timer(due[i].rx);
				umad_rmpp_rx_put(due[i].rx);
			} else {
				umad_rmpp_tx_timer(due[i].send);
				umad_send_put(due[i].send);
			}
			umad_agent_leave(due[i].agent);
		}
		total += BATCH;
		cond_resched();
	} while (more && total < RUN_MAX);

	spin_lock(&file->lock);
	rmpp->armed = KTIME_MAX;
	arm(rmpp);
	spin_unlock(&file->lock);
}

/**
 * umad_rmpp_init() - what a file needs for RMPP
 * @rmpp: of a file
 *
 * Context: any.
 */
void umad_rmpp_init(struct umad_rmpp *rmpp)
{
	rmpp->receivers = RB_ROOT;
	rmpp->peers = RB_ROOT;
	rmpp->by_transfers = RB_ROOT_CACHED;
	rmpp->by_bytes = RB_ROOT_CACHED;
	rmpp->dests = RB_ROOT;
	INIT_LIST_HEAD(&rmpp->unresolved);
	INIT_LIST_HEAD(&rmpp->lingering);
	timerqueue_init_head(&rmpp->timers);
	INIT_DELAYED_WORK(&rmpp->work, timer_work);
	rmpp->armed = KTIME_MAX;
}

/**
 * umad_rmpp_destroy() - give back what a file had for RMPP
 * @rmpp: of a file without agents
 *
 * Context: process; sleeps.
 */
void umad_rmpp_destroy(struct umad_rmpp *rmpp)
{
	cancel_delayed_work_sync(&rmpp->work);
	WARN_ON_ONCE(rmpp->joining || !RB_EMPTY_ROOT(&rmpp->peers) ||
		     !RB_EMPTY_ROOT(&rmpp->receivers) ||
		     rmpp->lingering_count || rmpp->resolving ||
		     atomic_read(&rmpp->strays) ||
		     rmpp->sending_bytes || !RB_EMPTY_ROOT(&rmpp->dests) ||
		     timerqueue_getnext(&rmpp->timers));
}

static void control_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	umad_post_free(buf, umad_post_owner(buf));
}

/**
 * umad_rmpp_post_control() - send an ACK, a STOP or an ABORT
 * @agent: inside its gate, or in a handler of ib_core
 * @ah: to whom
 * @hdr: its queue pair and P_Key index
 * @head: MAD and class header
 * @packet: RMPP header
 * @done: called when ib_core has done with it; NULL if nobody wants to know
 * @owner: for @done
 *
 * One that cannot be sent is as good as lost on the way.
 * Context: process; may sleep; hold no lock.
 * Return: 0 if it was posted, and @done will be called; else an errno.
 */
int umad_rmpp_post_control(struct umad_agent *agent, struct umad_ah *ah,
			   const struct ib_user_mad_hdr *hdr,
			   const struct ib_mad_hdr *head,
			   const struct rmpp_packet *packet, umad_done_fn done,
			   void *owner)
{
	size_t len = ib_get_mad_data_offset(head->mgmt_class);
	const struct umad_post post = {
		.core = agent->core,
		.ah = ah,
		.qpn = be32_to_cpu(hdr->qpn),
		.pkey_index = hdr->pkey_index,
		.head = head,
		.head_len = len,
		.len = len,
		.gfp = UMAD_POST_NOWAIT,
		.done = done ?: control_done,
		.owner = done ? owner : ah,
	};
	struct ib_mad_send_buf *buf;
	int ret;

	buf = umad_post_build(&post);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	rmpp_format(buf->mad, packet);
	ret = ib_post_send_mad(buf, NULL);
	if (ret)
		umad_post_free(buf, ah);
	return ret;
}

/**
 * struct stray - an answer to a packet that belongs to no message, or begins none
 * @work: resolves the address, which ib_core's receive work must not wait for
 * @agent: inside its gate
 * @hdr: whom it came from
 * @head: headers of the answer
 * @packet: RMPP header of the answer
 */
struct stray {
	struct work_struct work;
	struct umad_agent *agent;
	struct ib_user_mad_hdr hdr;
	u8 head[UMAD_RMPP_HDR_MAX] __aligned(8);
	struct rmpp_packet packet;
};

/* Under way for one file, and for all; more are not worth an answer. */
#define FILE_STRAYS	16
#define ALL_STRAYS	64
static_assert(ALL_STRAYS + UMAD_RMPP_ADDR_WORKS + UMAD_RMPP_ADDR_FIRST <=
	      UMAD_ADDR_WORKS);
static atomic_t strays = ATOMIC_INIT(0);

static bool stray_enter(struct umad_rmpp *rmpp)
{
	if (!atomic_add_unless(&rmpp->strays, 1, FILE_STRAYS))
		return false;
	if (atomic_add_unless(&strays, 1, ALL_STRAYS))
		return true;
	atomic_dec(&rmpp->strays);
	return false;
}

static void stray_leave(struct umad_rmpp *rmpp)
{
	atomic_dec(&strays);
	atomic_dec(&rmpp->strays);
}

static void stray_work(struct work_struct *work)
{
	struct stray *stray = container_of(work, struct stray, work);
	struct umad_agent *agent = stray->agent;
	struct umad_ah *ah;

	/* Whoever takes the agent away waits for us: not for an address. */
	if (umad_gate_is_shut(&agent->gate))
		goto out;
	ah = umad_ah_create(agent->core->qp->pd, agent->file->port->port_num,
			    &stray->hdr);
	if (!IS_ERR(ah)) {
		umad_rmpp_post_control(agent, ah, &stray->hdr,
				       (struct ib_mad_hdr *)stray->head,
				       &stray->packet, NULL, NULL);
		umad_ah_put(ah);
	}
out:
	/* The file may go with its last agent. */
	stray_leave(&agent->file->rmpp);
	umad_agent_leave(agent);
	kfree(stray);
}

/**
 * umad_rmpp_answer_stray() - tell a sender that its packet is refused
 * @agent: that received it
 * @rwc: the packet
 * @type: IB_MGMT_RMPP_TYPE_STOP or _ABORT
 * @status: RMPPStatus
 *
 * The answer is sent by a work, or not at all: without memory, to a GID that this
 * port has not, or with too many of them under way.
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 */
void umad_rmpp_answer_stray(struct umad_agent *agent,
			    const struct ib_mad_recv_wc *rwc, u8 type,
			    u8 status)
{
	const struct ib_mad_hdr *mad = &rwc->recv_buf.mad->mad_hdr;
	struct ib_mad_hdr *head;
	struct stray *stray;

	if (!stray_enter(&agent->file->rmpp))
		return;
	stray = kzalloc(sizeof(*stray), GFP_NOWAIT | __GFP_NOWARN);
	if (!stray)
		goto err_count;
	if (umad_recv_hdr(agent, rwc, &stray->hdr) ||
	    !umad_gate_enter(&agent->gate))
		goto err_free;

	memcpy(stray->head, mad, ib_get_mad_data_offset(mad->mgmt_class));
	head = (struct ib_mad_hdr *)stray->head;
	head->method ^= IB_MGMT_METHOD_RESP;
	stray->packet.version = IB_MGMT_RMPP_VERSION;
	stray->packet.type = type;
	stray->packet.status = status;
	stray->agent = agent;
	INIT_WORK(&stray->work, stray_work);
	queue_work(umad_addr_wq, &stray->work);
	return;

err_free:
	kfree(stray);
err_count:
	stray_leave(&agent->file->rmpp);
}

/* A placeholder that a packet has used up: ib_core completes it now. */
static void forget_placeholder(struct ib_mad_send_buf *buf)
{
	struct umad_send *send = umad_post_owner(buf);

	spin_lock(&send->file->lock);
	if (send->waiting == buf)
		send->waiting = NULL;
	spin_unlock(&send->file->lock);
}

/*
 * What has used it up was not the response, and ib_core would drop that if it is a
 * single MAD. A message says again that it waits; a request without a deadline
 * hears that its response cannot come any more.
 */
static void replace_placeholder(struct umad_send *send)
{
	bool finish = false;

	if (send->rmpp) {
		umad_rmpp_tx_turn_again(send);
		return;
	}
	spin_lock(&send->file->lock);
	umad_rmpp_end_for_ever(send, IB_MGMT_RMPP_STATUS_UNSPEC, &finish);
	spin_unlock(&send->file->lock);
	if (finish)
		umad_send_finish(send);
}

/**
 * umad_rmpp_waste() - what is not the response has used up a request's placeholder
 * @buf: the MAD sent that ib_core takes it for the answer of
 *
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 */
void umad_rmpp_waste(struct ib_mad_send_buf *buf)
{
	forget_placeholder(buf);
	replace_placeholder(umad_post_owner(buf));
}

/* Does it begin the response of a request, or belong to one that has begun? */
static bool is_response_to(const struct umad_send *send,
			   struct umad_agent *agent,
			   const struct ib_mad_recv_wc *rwc,
			   const struct rmpp_packet *packet)
{
	struct umad_rmpp_key from;
	struct umad_rmpp_rx *rx;
	bool found;
	u8 status;

	if (packet->type != IB_MGMT_RMPP_TYPE_DATA)
		return false;
	umad_rmpp_key_of(&from, agent, rwc);
	spin_lock(&agent->file->lock);
	if (rmpp_rx_check_start(packet, &status) == RMPP_RX_STORE) {
		found = umad_rmpp_find_request(agent, &from) == send;
	} else {
		rx = umad_rmpp_table_find(&agent->file->rmpp, &from);
		found = rx && rx->send == send;
	}
	spin_unlock(&agent->file->lock);
	return found;
}

/* To the message that it belongs to, or that it begins; else a stray. */
static void dispatch(struct umad_agent *agent, const struct ib_mad_recv_wc *rwc,
		     const struct rmpp_packet *packet)
{
	bool turn_around;
	u8 status;

	if (packet->version == IB_MGMT_RMPP_VERSION &&
	    packet->type == IB_MGMT_RMPP_TYPE_DATA) {
		umad_rmpp_rx_data(agent, rwc, packet);
		return;
	}

	/*
	 * An ACK of segment 0 looks like one of our answer, and is one of
	 * their request. And who sends us a message ends that message, not
	 * the one that it answers.
	 */
	turn_around = packet->type == IB_MGMT_RMPP_TYPE_ACK && !packet->seg;
	if (umad_rmpp_rx_receive(agent, rwc, packet, turn_around ?
				 RMPP_RX_DONE : RMPP_RX_JOINING) ||
	    umad_rmpp_tx_receive(agent, rwc, packet) ||
	    umad_rmpp_rx_receive(agent, rwc, packet, RMPP_RX_DONE))
		return;
	umad_stat_inc(&agent->file->port->stats, UMAD_STAT_RMPP_STRAY);
	if (rmpp_rx_check_start(packet, &status) == RMPP_RX_ABORT)
		umad_rmpp_answer_stray(agent, rwc, IB_MGMT_RMPP_TYPE_ABORT,
				       status);
}

/**
 * umad_rmpp_receive() - an RMPP packet has been received
 * @agent: with RMPP done here
 * @buf: the MAD sent that ib_core takes it for the answer of, or NULL
 * @rwc: the packet, Active; stays the caller's
 *
 * Context: process, ib_core's receive handler; may sleep; hold no lock.
 */
void umad_rmpp_receive(struct umad_agent *agent, struct ib_mad_send_buf *buf,
		       const struct ib_mad_recv_wc *rwc)
{
	const struct ib_rmpp_mad *mad;
	struct rmpp_packet packet;
	bool wasted = false;

	mad = (const struct ib_rmpp_mad *)rwc->recv_buf.mad;
	rmpp_parse(mad, &packet);
	if (buf) {
		wasted = !is_response_to(umad_post_owner(buf), agent, rwc,
					 &packet);
		forget_placeholder(buf);
	}
	dispatch(agent, rwc, &packet);
	if (wasted)
		replace_placeholder(umad_post_owner(buf));
}
