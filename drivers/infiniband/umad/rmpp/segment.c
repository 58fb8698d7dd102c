// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Segments of a message: cut, built, and posted. */
#include <linux/types.h>
#include "rmpp/xfer_tx.h"

#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include "charge.h"
#include "file.h"
#include "pagebuf.h"
#include "post.h"
#include "request.h"
#include "wait_entry.h"

/* The wait entry does not count as posted in the engine. */
static void waiting_done(struct ib_mad_send_buf *buf, enum ib_wc_status status)
{
	struct umad_request *req = umad_post_owner(buf);
	struct umad_file *file = req->file;

	spin_lock(&file->lock);
	umad_wait_entry_done(req, buf);
	umad_request_count_failure(req, status);
	/* The response has overtaken the last ACK, and there was no room for it. */
	if (req->answer_lost)
		umad_request_step(req, UMAD_TXN_EV_LOST, status, ktime_get());
	umad_request_unlock(file);
	umad_request_free_mad(req, buf);
}

static void fill_segment(struct umad_xfer_tx *tx, u32 seg,
			 struct ib_rmpp_mad *mad)
{
	size_t offset = (size_t)(seg - 1) * tx->layout.data;
	size_t len = min_t(size_t, tx->layout.data, tx->data_len - offset);
	u32 segs = rmpp_segments(&tx->layout, tx->data_len);
	u32 class_hdr = tx->layout.hdr - IB_MGMT_RMPP_HDR;
	struct rmpp_packet packet = {
		.version = IB_MGMT_RMPP_VERSION,
		.type = IB_MGMT_RMPP_TYPE_DATA,
		.seg = seg,
	};

	/* IBA 13.6.2.3: each segment's class header counts. */
	if (seg == 1) {
		packet.flags |= IB_MGMT_RMPP_FLAG_FIRST;
		packet.len = tx->data_len + segs * class_hdr;
	}
	if (seg == segs) {
		packet.flags |= IB_MGMT_RMPP_FLAG_LAST;
		packet.len = len + class_hdr;
	}
	rmpp_format(mad, &packet);
	umad_pagebuf_read(tx->data, offset, (void *)mad + tx->layout.hdr, len);
}

/*
 * A response of one MAD can come before the last ACK, or in its place if that was
 * lost. So the last segment is the wait entry, if there is none; an ACK uses it up,
 * and the turn-around ACK follows it. ib_core does not say when it has left.
 */
static int post_last(struct umad_request *req, struct ib_mad_send_buf *buf)
{
	struct umad_file *file = req->file;
	bool waits;
	int ret;

	spin_lock(&file->lock);
	waits = umad_wait_entry_attach(req, buf, waiting_done);
	spin_unlock(&file->lock);
	if (!waits)
		return ib_post_send_mad(buf, NULL);
	ret = ib_post_send_mad(buf, NULL);
	spin_lock(&file->lock);
	if (!ret)
		rmpp_tx_sent(&req->rmpp->engine, ktime_get_ns());
	umad_wait_entry_posted(req, buf, true, ret);
	spin_unlock(&file->lock);
	return ret;
}

/*
 * The last segment may stay for as long as the request does, so it is charged; unless
 * the cgroup is full, for a message that has begun has to go on.
 */
static struct ib_mad_send_buf *segment_build(struct umad_request *req, bool last,
					     umad_done_fn done)
{
	struct umad_xfer_tx *tx = req->rmpp;
	struct umad_charge charge = umad_charge_begin(req->file->reserve->memcg);
	struct ib_mad_send_buf *buf = ERR_PTR(-ENOMEM);

	if (last)
		buf = umad_request_build_mad(req, tx->head, tx->layout.hdr, tx->mad_size,
					     UMAD_GFP_HANDLER, done);
	umad_charge_end(&charge);
	if (IS_ERR(buf))
		buf = umad_request_build_mad(req, tx->head, tx->layout.hdr, tx->mad_size,
					     UMAD_POST_NOWAIT, done);
	return buf;
}

/**
 * umad_xfer_tx_post_segment() - build a segment, and hand it to ib_core
 * @req: with a message that is being sent; caller must hold an active reference to its
 *	agent, or be in a handler of ib_core; one thread at a time
 * @seg: its number, from 1
 * @done: called when ib_core has done with it, unless it is the wait entry;
 *	umad_request_free_mad() has to follow
 *
 * Context: process; may sleep; hold no lock.
 * Return: 0, or an errno: @done will not be called.
 */
int umad_xfer_tx_post_segment(struct umad_request *req, u32 seg, umad_done_fn done)
{
	struct umad_xfer_tx *tx = req->rmpp;
	struct ib_mad_send_buf *buf;
	int ret;

	buf = segment_build(req, seg == tx->engine.segs, done);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	fill_segment(tx, seg, buf->mad);
	if (seg == tx->engine.segs)
		ret = post_last(req, buf);
	else
		ret = ib_post_send_mad(buf, NULL);
	if (ret)
		umad_request_free_mad(req, buf);
	else
		WRITE_ONCE(tx->taken, true);
	return ret;
}
