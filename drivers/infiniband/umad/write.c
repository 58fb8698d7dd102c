// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* write(): one header and one MAD, copied in before anything is locked. */
#include <linux/types.h>
#include "cdev.h"

#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "agent.h"
#include "file.h"
#include "request.h"
#include "rmpp/limits.h"
#include "rmpp/xfer_tx.h"
#include "send.h"

/* What is copied before anything is decided: a whole MAD of InfiniBand, or the begin. */
struct mad_head {
	u8 bytes[sizeof(struct ib_mad)];
} __aligned(8);

/* Of OPA, or too long. */
static int write_long_mad(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
			  const struct mad_head *head, const char __user *buf,
			  size_t len)
{
	size_t copied = sizeof(head->bytes);
	void *mad;
	int ret;

	if (len > UMAD_MAX_MAD)
		return -EINVAL;
	mad = kmalloc(len, GFP_KERNEL_ACCOUNT);
	if (!mad)
		return -ENOMEM;
	/* What was decided on is what is sent. */
	memcpy(mad, head->bytes, copied);
	ret = -EFAULT;
	if (!copy_from_user(mad + copied, buf + copied, len - copied))
		ret = umad_send_mad(file, hdr, mad, len);
	kfree(mad);
	return ret;
}

static int write_message(struct umad_file *file,
			 const struct ib_user_mad_hdr *hdr,
			 const struct mad_head *head, const char __user *buf,
			 size_t len)
{
	struct umad_xfer_tx *tx;

	if (len > umad_rmpp_max_message())
		return -EMSGSIZE;
	tx = umad_xfer_tx_create(file, hdr, head->bytes, buf, len);
	if (IS_ERR(tx))
		return PTR_ERR(tx);
	return umad_rmpp_send(file, hdr, tx);
}

/* Its agent decides on what it is, or it is not all in @head. */
static int write_by_kind(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
			 struct mad_head *head, const char __user *buf, size_t len,
			 bool rmpp)
{
	enum umad_agent_kind kind = umad_agent_kind(file, hdr->id);

	if (kind == UMAD_AGENT_NONE)
		return -EIO;
	if (kind == UMAD_AGENT_RMPP && rmpp)
		return write_message(file, hdr, head, buf, len);
	if (len > sizeof(head->bytes))
		return write_long_mad(file, hdr, head, buf, len);
	return umad_send_mad(file, hdr, head->bytes, len);
}

/**
 * umad_write() - write() of umadN
 * @filp: the file
 * @buf: the caller's
 * @count: bytes of header and MAD
 * @pos: unused, a stream has none
 *
 * The caller's memory is read here and nowhere else, holding nothing: a page
 * fault that takes forever (userfaultfd, a dead network file system) delays
 * nobody but its own thread.
 * Context: process; sleeps.
 * Return: @count; -EINVAL for a length or an id that cannot be; -EMSGSIZE for
 * a message beyond the bound; -EFAULT; -EIO when the id has no agent, or the
 * device is gone; as umad_send_mad().
 */
ssize_t umad_write(struct file *filp, const char __user *buf, size_t count,
		   loff_t *pos)
{
	struct umad_file *file = filp->private_data;
	size_t hdr_size = umad_file_hdr_size(file);
	struct ib_user_mad_hdr hdr = {};
	struct mad_head head;
	size_t len, copied;
	bool rmpp;
	int ret;

	/* ABI: no class has less than the common and the RMPP header. */
	if (count < hdr_size + IB_MGMT_RMPP_HDR)
		return -EINVAL;
	len = count - hdr_size;

	if (copy_from_user(&hdr, buf, hdr_size))
		return -EFAULT;
	if (hdr.id >= UMAD_MAX_AGENTS)
		return -EINVAL;
	buf += hdr_size;
	copied = min(len, sizeof(head.bytes));
	if (copy_from_user(head.bytes, buf, copied))
		return -EFAULT;
	rmpp = umad_mad_is_rmpp_active((struct ib_mad_hdr *)head.bytes);
	if (rmpp || copied < len)
		ret = write_by_kind(file, &hdr, &head, buf, len, rmpp);
	else
		ret = umad_send_mad(file, &hdr, head.bytes, len);
	return ret ?: count;
}
