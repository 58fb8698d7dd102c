// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* write(): one header and one MAD, copied in before anything is locked. */
#include <linux/types.h>
#include "cdev.h"

#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include "agent.h"
#include "charge.h"
#include "file.h"
#include "port.h"
#include "records.h"
#include "request.h"
#include "rmpp/limits.h"
#include "rmpp/xfer_tx.h"
#include "send.h"

/*
 * What is copied before anything is decided: the header and a whole MAD of InfiniBand, or the
 * begin. The MAD is aligned behind either of the headers.
 */
struct record_head {
	u8 bytes[sizeof(struct ib_user_mad_hdr) + sizeof(struct ib_mad)];
} __aligned(8);

static_assert(IS_ALIGNED(offsetof(struct ib_user_mad_hdr, pkey_index), 8));

/* Of OPA, or too long. */
static int write_long_mad(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
			  const void *head, struct iov_iter *from, size_t len)
{
	size_t copied = sizeof(struct ib_mad);
	void *mad;
	int ret;

	if (len > UMAD_MAX_MAD)
		return -EINVAL;
	mad = kmalloc(len, UMAD_GFP_WRITE);
	if (!mad)
		return -ENOMEM;
	/* What was decided on is what is sent. */
	memcpy(mad, head, copied);
	ret = -EFAULT;
	if (copy_from_iter_full(mad + copied, len - copied, from))
		ret = umad_send_mad(file, hdr, mad, len);
	kfree(mad);
	return ret;
}

static int write_message(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
			 const void *head, struct iov_iter *from, size_t len)
{
	struct umad_xfer_tx *tx;

	if (len > umad_rmpp_max_message())
		return -EMSGSIZE;
	tx = umad_xfer_tx_create(file, hdr, head, from, len);
	if (IS_ERR(tx))
		return PTR_ERR(tx);
	return umad_rmpp_send(file, hdr, tx);
}

/* Its agent decides on what it is, or it is not all in @head. */
static int write_by_kind(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
			 void *head, struct iov_iter *from, size_t len, bool rmpp)
{
	enum umad_agent_kind kind = umad_agent_kind(file, hdr->id);

	if (kind == UMAD_AGENT_NONE)
		return -EIO;
	if (kind == UMAD_AGENT_RMPP && rmpp)
		return write_message(file, hdr, head, from, len);
	if (len > sizeof(struct ib_mad))
		return write_long_mad(file, hdr, head, from, len);
	return umad_send_mad(file, hdr, head, len);
}

/* Not all of it can be read. */
static int copy_failed(struct iov_iter *from, size_t hdr_size)
{
	struct ib_user_mad_hdr hdr;

	/* ABI: the header is looked at before the MAD. */
	if (copy_from_iter_full(&hdr, hdr_size, from) && hdr.id >= UMAD_MAX_AGENTS)
		return -EINVAL;
	return -EFAULT;
}

/* One buffer of @count bytes. */
static ssize_t write_record(struct kiocb *iocb, struct iov_iter *from, size_t count)
{
	struct umad_file *file = iocb->ki_filp->private_data;
	size_t hdr_size = umad_file_hdr_size(file);
	struct ib_user_mad_hdr hdr = {};
	struct record_head head;
	void *mad = head.bytes + hdr_size;
	size_t len, copied;
	bool rmpp;
	int ret;

	/* ABI: no class has less than the common and the RMPP header. */
	if (count < hdr_size + IB_MGMT_RMPP_HDR)
		return -EINVAL;
	len = count - hdr_size;
	copied = min(len, sizeof(struct ib_mad));
	if (!copy_from_iter_full(head.bytes, hdr_size + copied, from))
		return copy_failed(from, hdr_size);
	memcpy(&hdr, head.bytes, hdr_size);
	if (hdr.id >= UMAD_MAX_AGENTS)
		return -EINVAL;
	rmpp = umad_mad_is_rmpp_active(mad);
	if (rmpp || copied < len)
		ret = write_by_kind(file, &hdr, mad, from, len, rmpp);
	else
		ret = umad_send_mad(file, &hdr, mad, len);
	return ret ?: count;
}

/**
 * umad_write_iter() - write(), writev(), and io_uring's, of umadN
 * @iocb: of the file
 * @from: the caller's; each of several buffers is a header and a MAD
 *
 * The caller's memory is read here and nowhere else, holding nothing: a page
 * fault that takes forever (userfaultfd, a dead network file system) delays
 * nobody but its own thread.
 * Context: process; sleeps.
 * Return: bytes of the buffers taken; or what is wrong with the first: -EINVAL for a length
 * or an id that cannot be; -EMSGSIZE for a message beyond the bound; -EFAULT; -EIO when the
 * id has no agent, or the device is gone; -EAGAIN, as it might have to wait for an address;
 * as umad_send_mad().
 */
ssize_t umad_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	struct umad_file *file = iocb->ki_filp->private_data;

	/* io_uring calls again from a thread that may sleep. O_NONBLOCK is not for write(). */
	if (iocb->ki_flags & IOCB_NOWAIT && !(iocb->ki_filp->f_flags & O_NONBLOCK) &&
	    file->port->roce)
		return -EAGAIN;
	return umad_for_records(iocb, from, write_record);
}
