// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* read(): one entry of the queue, whole or not at all. */
#include <linux/types.h>
#include "cdev.h"

#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "file.h"
#include "pagebuf.h"
#include "poll_wake.h"
#include "port.h"
#include "records.h"
#include "room.h"
#include "trace.h"
#include "unread.h"
#include "user.h"

/* Bytes of a message that are copied first; a page of the reader's may be longer than 16 KiB. */
#define LIFTED		PAGE_ALIGN(SZ_16K)
/* And of one for which it is worth the while. */
#define LONG		(4 * LIFTED)
/* And for which there is room beside it: what others may want meanwhile. */
#define BESIDE		SZ_4M

/* The header, then @len bytes of the MAD, from its start: its head, then its body. */
static int copy_mad(const struct ib_user_mad_hdr *hdr, size_t hdr_size,
		    const struct umad_rx_view *view, struct iov_iter *to, size_t len)
{
	size_t head = min(len, view->len);

	if (copy_to_iter(hdr, hdr_size, to) != hdr_size ||
	    copy_to_iter(view->data, head, to) != head)
		return -EFAULT;
	return len == head ? 0 : umad_pagebuf_read_iter(view->body, to, len - head);
}

/*
 * The same of a whole message, to a reader whose cgroup has no memory for it twice: he would
 * be killed for what it has already. There may be none left, so before the first page of his
 * own is needed some are given back; what they had is charged to nobody meanwhile.
 */
static int move_mad(const struct ib_user_mad_hdr *hdr, size_t hdr_size,
		    const struct umad_rx_view *view, struct iov_iter *to)
{
	void *begin = kmalloc(LIFTED, GFP_KERNEL);
	int ret = -EFAULT;

	if (!begin)
		return copy_mad(hdr, hdr_size, view, to, view->len + view->body_len);
	umad_pagebuf_lift(view->body, begin, LIFTED);
	if (copy_to_iter(hdr, hdr_size, to) == hdr_size &&
	    copy_to_iter(view->data, view->len, to) == view->len &&
	    copy_to_iter(begin, LIFTED, to) == LIFTED)
		ret = umad_pagebuf_move_iter(view->body, to, LIFTED, view->body_len);
	kfree(begin);
	return ret;
}

/*
 * Bytes copied, or an errno when the entry has to stay, unless some of it is @lost, as it was
 * to be moved. A message of several segments that does not fit is begun all the same, so that
 * its reader learns the length.
 */
static ssize_t copy_out(struct umad_file *file, const struct umad_rx_entry *entry,
			struct iov_iter *to, size_t count, bool *lost)
{
	size_t hdr_size = umad_file_hdr_size(file);
	struct ib_user_mad_hdr hdr = entry->hdr;
	struct umad_rx_view view = {};
	size_t whole, part, bytes;
	bool fits;
	int ret;

	entry->ops->view(entry, &view);
	whole = view.len + view.body_len;
	part = min(whole, view.body ? view.first : whole);
	fits = count >= hdr_size + whole;
	if (!fits)
		umad_stat_inc(&file->port->stats, UMAD_STAT_READ_SHORT);
	if (count < hdr_size + part)
		return -EINVAL;
	/* ABI: a timeout gives back the length that was written. */
	if (!hdr.status)
		hdr.length = hdr_size + whole;
	if (fits && view.body_len >= LONG &&
	    umad_reserve_is_full(file->reserve, view.body_len + BESIDE)) {
		bytes = view.body->bytes;
		ret = move_mad(&hdr, hdr_size, &view, to);
		*lost = ret && view.body->bytes < bytes;
	} else {
		ret = copy_mad(&hdr, hdr_size, &view, to, fits ? whole : part);
	}
	if (ret)
		return ret;
	if (!fits)
		return -ENOSPC;

	if (hdr.status)
		trace_ib_umad_read_send(file, &hdr, view.data);
	else
		trace_ib_umad_read_recv(file, &hdr, view.data);
	return hdr_size + whole;
}

static struct umad_rx_entry *wait_for_entry(struct umad_file *file, bool nonblock)
{
	struct umad_rx_entry *entry;

	for (;;) {
		if (READ_ONCE(file->shutdown))
			return ERR_PTR(-EIO);
		entry = umad_rxq_pop(&file->rxq);
		if (entry)
			return entry;
		/* Or poll() has said that there was something, which had to give way. */
		if (umad_rxq_take_owed(&file->rxq) || nonblock)
			return ERR_PTR(-EAGAIN);
		/*
		 * All are woken: the one that were first may be kept from the processor for
		 * long, by its cgroup, and the others would sleep beside the entry.
		 */
		if (wait_event_interruptible(file->rxq.readers,
					     umad_rxq_is_ready(&file->rxq)))
			return ERR_PTR(-ERESTARTSYS);
	}
}

/* What one buffer of @count bytes is for. */
static ssize_t read_record(struct kiocb *iocb, struct iov_iter *to, size_t count)
{
	struct umad_file *file = iocb->ki_filp->private_data;
	bool nonblock = iocb->ki_filp->f_flags & O_NONBLOCK ||
			iocb->ki_flags & IOCB_NOWAIT;
	struct umad_rx_entry *entry;
	bool lost = false;
	ssize_t ret;

	if (count < umad_file_hdr_size(file))
		return -EINVAL;
	entry = wait_for_entry(file, nonblock);
	if (IS_ERR(entry))
		return PTR_ERR(entry);

	/* The file may have asked for the P_Key index while we slept. */
	ret = copy_out(file, entry, to, count, &lost);
	if (lost)
		umad_stat_inc(&file->port->stats, UMAD_STAT_RECV_SHED);
	if (ret >= 0 || lost)
		umad_rxq_free_here(&file->rxq, entry);
	else if (umad_rxq_put_back(&file->rxq, entry))
		umad_poll_wake_soon(&file->poll_wake, &file->rxq, &file->user->poll_paid_at);
	umad_unread_settle(file);
	return ret;
}

/**
 * umad_read_iter() - read(), readv(), and io_uring's, of umadN
 * @iocb: of the file
 * @to: the caller's; of several buffers each takes an entry
 *
 * Context: process; sleeps, in page faults of the caller's for as long as it
 * likes: no lock is held then.
 * Return: bytes of headers and MADs; or what is wrong with the first buffer: -EINVAL when it
 * is too short for the first segment and -ENOSPC when it is for the whole message, the
 * entry stays; -EAGAIN, also of a file without O_NONBLOCK, for what the process has heard
 * of, by poll() or an error, and was shed;
 * -ERESTARTSYS; -EFAULT, the entry stays, but for a long one beside which
 * the cgroup had no room for the buffer; -EIO when the device is gone.
 */
ssize_t umad_read_iter(struct kiocb *iocb, struct iov_iter *to)
{
	return umad_for_records(iocb, to, read_record);
}
