// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An agent of ib_core's with the kernel's own RMPP, as the peer of programs:
 * what a host with the in-tree ib_umad would answer. The programs tell it what
 * to do in the data they send; tools/testing/selftests/umad/rmpp_far.h is the
 * other half of this.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#define PEER_CLASS	0x31
#define PEER_METHOD	0x10	/* what programs send to it */
#define PEER_PUSH	0x12	/* what it sends on its own */
#define PEER_PORT	1

static const u8 peer_oui[3] = { 0x00, 0xaa, 0xbb };

/**
 * enum peer_op - what a program may ask for
 * @PEER_OP_GENERATE: answer with so many bytes
 * @PEER_OP_ECHO: answer with the data that came
 * @PEER_OP_SUM: as STATE, and counts itself
 * @PEER_OP_CANCEL: as GENERATE, and cancel it after so many ms
 * @PEER_OP_PUSH: send so many bytes, with a TID of the program's choice
 * @PEER_OP_ASK: the same as a request with a response
 * @PEER_OP_STATE: answer with what became of all that
 * @PEER_OP_SINK: do nothing
 */
enum peer_op {
	PEER_OP_GENERATE,
	PEER_OP_ECHO,
	PEER_OP_SUM,
	PEER_OP_CANCEL,
	PEER_OP_PUSH,
	PEER_OP_ASK,
	PEER_OP_STATE,
	PEER_OP_SINK,
};

/**
 * struct peer_state - the answer to PEER_OP_STATE
 * @received: messages received
 * @len: data bytes of the last one, but for STATE itself
 * @hash: of those
 * @sent: sends that are complete, but for those of STATE and SUM
 * @status: ib_wc_status of the last of them
 * @response_len: data bytes of the last response received
 * @response_hash: of those
 */
struct peer_state {
	__be32 received;
	__be32 len;
	__be32 hash;
	__be32 sent;
	__be32 status;
	__be32 response_len;
	__be32 response_hash;
};

/**
 * struct peer - the one there is
 * @ib_dev: kept until the module goes
 * @agent: ib_core's
 * @lock: protects all below
 * @received: messages received
 * @len: see struct peer_state, as all below
 * @hash: see there
 * @sent: see there
 * @status: see there
 * @response_len: see there
 * @response_hash: see there
 * @wq: does what is asked for; ib_core's receive work, which the programs'
 *	packets need too, must not wait for it
 * @stopping: nothing more is queued there
 * @cancel: to be cancelled by @work, or NULL
 * @work: cancels @cancel
 */
struct peer {
	struct ib_device *ib_dev;
	struct ib_mad_agent *agent;
	spinlock_t lock;	/* of all below */
	u32 received;
	u32 len;
	u32 hash;
	u32 sent;
	int status;
	u32 response_len;
	u32 response_hash;
	struct workqueue_struct *wq;
	bool stopping;
	struct ib_mad_send_buf *cancel;
	struct delayed_work work;
};

static struct peer peer;

static char *device = "rxe0";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "the RDMA device it answers on");

static u8 byte_at(u32 i, u32 seed)
{
	u32 x = i * 2654435761u + seed * 40503u;

	return x >> 24 ^ x >> 11;
}

static u32 hash_bytes(u32 hash, const u8 *data, size_t len)
{
	while (len--)
		hash = (hash ^ *data++) * 16777619u;
	return hash;
}

/* The data of a message, segment by segment. */
struct walk {
	const struct ib_mad_recv_buf *buf;
	size_t left;
	const u8 *data;
	size_t len;
};

static void walk_begin(struct walk *walk, const struct ib_mad_recv_wc *wc)
{
	walk->buf = &wc->recv_buf;
	walk->left = wc->mad_len > IB_MGMT_VENDOR_HDR ?
		     wc->mad_len - IB_MGMT_VENDOR_HDR : 0;
	walk->data = (const u8 *)walk->buf->mad + IB_MGMT_VENDOR_HDR;
	walk->len = min_t(size_t, walk->left, IB_MGMT_VENDOR_DATA);
}

static bool walk_next(struct walk *walk)
{
	walk->left -= walk->len;
	if (!walk->left)
		return false;
	walk->buf = list_entry(walk->buf->list.next, struct ib_mad_recv_buf,
			       list);
	walk->data = (const u8 *)walk->buf->mad + IB_MGMT_VENDOR_HDR;
	walk->len = min_t(size_t, walk->left, IB_MGMT_VENDOR_DATA);
	return true;
}

static u32 hash_message(const struct ib_mad_recv_wc *wc, u32 *len)
{
	u32 hash = 2166136261u;
	struct walk walk;

	walk_begin(&walk, wc);
	*len = walk.left;
	do {
		hash = hash_bytes(hash, walk.data, walk.len);
	} while (walk_next(&walk));
	return hash;
}

/* A message to whom @wc is from; its data is still to be filled in. */
static struct ib_mad_send_buf *build(const struct ib_mad_recv_wc *wc,
				     u8 method, __be64 tid, u32 len)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *mad;
	struct ib_ah *ah;

	ah = ib_create_ah_from_wc(peer.agent->qp->pd, wc->wc, wc->recv_buf.grh,
				  PEER_PORT);
	if (IS_ERR(ah))
		return NULL;
	buf = ib_create_send_mad(peer.agent, wc->wc->src_qp,
				 wc->wc->pkey_index, 1, IB_MGMT_VENDOR_HDR, len,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf)) {
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
		return NULL;
	}
	mad = buf->mad;
	memcpy(mad, wc->recv_buf.mad, sizeof(*mad));
	memcpy((u8 *)mad + IB_MGMT_RMPP_HDR,
	       (u8 *)wc->recv_buf.mad + IB_MGMT_RMPP_HDR,
	       IB_MGMT_VENDOR_HDR - IB_MGMT_RMPP_HDR);
	mad->method = method;
	mad->tid = tid;
	buf->ah = ah;
	buf->retries = 3;
	return buf;
}

static void put_back(struct ib_mad_send_buf *buf)
{
	rdma_destroy_ah(buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(buf);
}

static void generate(struct ib_mad_send_buf *buf, u32 len, u32 seed)
{
	u32 i, seg, offset;
	u8 *data;

	for (seg = 1, offset = 0; offset < len; seg++) {
		data = ib_get_rmpp_segment(buf, seg);
		for (i = 0; i < buf->seg_size && offset < len; i++)
			data[i] = byte_at(offset++, seed);
	}
}

static void post(struct ib_mad_send_buf *buf, bool counts)
{
	buf->context[0] = (void *)(unsigned long)counts;
	if (ib_post_send_mad(buf, NULL))
		put_back(buf);
}

static void reply_bytes(const struct ib_mad_recv_wc *wc, const void *data,
			u32 len)
{
	const struct ib_mad_hdr *req = &wc->recv_buf.mad->mad_hdr;
	struct ib_mad_send_buf *buf;

	buf = build(wc, req->method | IB_MGMT_METHOD_RESP, req->tid, len);
	if (!buf)
		return;
	memcpy(ib_get_rmpp_segment(buf, 1), data, len);
	post(buf, false);
}

static void reply_state(const struct ib_mad_recv_wc *wc)
{
	struct peer_state state;

	spin_lock(&peer.lock);
	state.received = cpu_to_be32(peer.received);
	state.len = cpu_to_be32(peer.len);
	state.hash = cpu_to_be32(peer.hash);
	state.sent = cpu_to_be32(peer.sent);
	state.status = cpu_to_be32(peer.status);
	state.response_len = cpu_to_be32(peer.response_len);
	state.response_hash = cpu_to_be32(peer.response_hash);
	spin_unlock(&peer.lock);
	reply_bytes(wc, &state, sizeof(state));
}

static void reply_echo(const struct ib_mad_recv_wc *wc)
{
	const struct ib_mad_hdr *req = &wc->recv_buf.mad->mad_hdr;
	struct ib_mad_send_buf *buf;
	struct walk walk;
	u32 seg = 1;

	walk_begin(&walk, wc);
	buf = build(wc, req->method | IB_MGMT_METHOD_RESP, req->tid, walk.left);
	if (!buf)
		return;
	do {
		memcpy(ib_get_rmpp_segment(buf, seg++), walk.data, walk.len);
	} while (walk_next(&walk));
	post(buf, true);
}

static void reply_generated(const struct ib_mad_recv_wc *wc, u32 len, u32 arg,
			    bool cancel)
{
	const struct ib_mad_hdr *req = &wc->recv_buf.mad->mad_hdr;
	struct ib_mad_send_buf *buf;

	buf = build(wc, req->method | IB_MGMT_METHOD_RESP, req->tid, len);
	if (!buf)
		return;
	generate(buf, len, cancel ? 0 : arg);
	if (cancel) {
		spin_lock(&peer.lock);
		peer.cancel = buf;
		spin_unlock(&peer.lock);
		schedule_delayed_work(&peer.work, msecs_to_jiffies(arg));
	}
	post(buf, true);
}

static void push(const struct ib_mad_recv_wc *wc, u32 len, u32 arg, bool ask)
{
	u64 tid = (u64)peer.agent->hi_tid << 32 | arg;
	struct ib_mad_send_buf *buf;

	buf = build(wc, PEER_PUSH, cpu_to_be64(tid), len);
	if (!buf)
		return;
	generate(buf, len, arg);
	buf->timeout_ms = ask ? 3000 : 0;
	post(buf, true);
}

static void stop_sending(struct work_struct *work)
{
	spin_lock(&peer.lock);
	/* Its handler waits for the lock before it gives it back. */
	if (peer.cancel)
		ib_cancel_mad(peer.cancel);
	peer.cancel = NULL;
	spin_unlock(&peer.lock);
}

static void peer_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	spin_lock(&peer.lock);
	if (peer.cancel == wc->send_buf)
		peer.cancel = NULL;
	if (wc->send_buf->context[0]) {
		peer.sent++;
		peer.status = wc->status;
	}
	spin_unlock(&peer.lock);
	put_back(wc->send_buf);
}

static u32 word(const struct ib_mad_recv_wc *wc, unsigned int i)
{
	const u8 *data = (const u8 *)wc->recv_buf.mad + IB_MGMT_VENDOR_HDR;

	return be32_to_cpup((const __be32 *)data + i);
}

static void serve(struct ib_mad_recv_wc *wc)
{
	const struct ib_mad_hdr *mad = &wc->recv_buf.mad->mad_hdr;
	u32 op = word(wc, 0), len = word(wc, 1), arg = word(wc, 2);
	u32 got_len, hash = hash_message(wc, &got_len);
	bool response = mad->method & IB_MGMT_METHOD_RESP;

	spin_lock(&peer.lock);
	if (response) {
		peer.response_len = got_len;
		peer.response_hash = hash;
	} else if (op != PEER_OP_STATE) {
		peer.received++;
		peer.len = got_len;
		peer.hash = hash;
	}
	spin_unlock(&peer.lock);
	if (response)
		return;

	switch (op) {
	case PEER_OP_GENERATE:
		reply_generated(wc, len, arg, false);
		break;
	case PEER_OP_CANCEL:
		reply_generated(wc, len, arg, true);
		break;
	case PEER_OP_ECHO:
		reply_echo(wc);
		break;
	case PEER_OP_SUM:
	case PEER_OP_STATE:
		reply_state(wc);
		break;
	case PEER_OP_PUSH:
	case PEER_OP_ASK:
		push(wc, len, arg, op == PEER_OP_ASK);
		break;
	case PEER_OP_SINK:
		break;
	}
}

/**
 * struct job - a message that was received
 * @work: does what it says
 * @wc: the message
 */
struct job {
	struct work_struct work;
	struct ib_mad_recv_wc *wc;
};

static void job_work(struct work_struct *work)
{
	struct job *job = container_of(work, struct job, work);

	serve(job->wc);
	ib_free_recv_mad(job->wc);
	kfree(job);
}

static void peer_received(struct ib_mad_agent *agent,
			  struct ib_mad_send_buf *buf,
			  struct ib_mad_recv_wc *wc)
{
	struct job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	/* The agent receives before its registration has returned. */
	WRITE_ONCE(peer.agent, agent);
	spin_lock(&peer.lock);
	if (job && !peer.stopping) {
		job->wc = wc;
		INIT_WORK(&job->work, job_work);
		queue_work(peer.wq, &job->work);
		wc = NULL;
		job = NULL;
	}
	spin_unlock(&peer.lock);
	kfree(job);
	if (wc)
		ib_free_recv_mad(wc);
}

static int look_at_device(struct ib_device *ib_dev)
{
	if (!strcmp(dev_name(&ib_dev->dev), device) && ib_device_try_get(ib_dev))
		peer.ib_dev = ib_dev;
	return -EOPNOTSUPP;
}

/* ib_core shows a new client all devices; to be asked for one by name is gone in 7.x. */
static int find_device(void)
{
	struct ib_client client = { .name = "umad_peer", .add = look_at_device };
	int ret = ib_register_client(&client);

	if (ret)
		return ret;
	ib_unregister_client(&client);
	return peer.ib_dev ? 0 : -ENODEV;
}

static int __init peer_init(void)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = PEER_CLASS,
		.mgmt_class_version = 1,
	};
	struct ib_mad_agent *agent;
	int ret;

	spin_lock_init(&peer.lock);
	INIT_DELAYED_WORK(&peer.work, stop_sending);
	ret = find_device();
	if (ret)
		return ret;
	ret = -ENOMEM;
	peer.wq = alloc_ordered_workqueue("umad_peer", 0);
	if (!peer.wq)
		goto err_dev;
	memcpy(req.oui, peer_oui, sizeof(req.oui));
	__set_bit(PEER_METHOD, req.method_mask);
	agent = ib_register_mad_agent(peer.ib_dev, PEER_PORT, IB_QPT_GSI, &req,
				      IB_MGMT_RMPP_VERSION, peer_sent,
				      peer_received, NULL, 0);
	ret = PTR_ERR_OR_ZERO(agent);
	if (ret)
		goto err_wq;
	WRITE_ONCE(peer.agent, agent);
	return 0;

err_wq:
	destroy_workqueue(peer.wq);
err_dev:
	ib_device_put(peer.ib_dev);
	return ret;
}

static void __exit peer_exit(void)
{
	spin_lock(&peer.lock);
	peer.stopping = true;
	spin_unlock(&peer.lock);
	destroy_workqueue(peer.wq);
	cancel_delayed_work_sync(&peer.work);
	ib_unregister_mad_agent(peer.agent);
	ib_device_put(peer.ib_dev);
}

module_init(peer_init);
module_exit(peer_exit);
MODULE_DESCRIPTION("A peer of ib_umad's tests with in-tree RMPP");
MODULE_LICENSE("Dual BSD/GPL");
