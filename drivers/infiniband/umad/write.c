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

/* What each MAD begins with, as far as it decides on the rest. */
struct mad_head {
	u8 bytes[IB_MGMT_RMPP_HDR];
} __aligned(8);

static int write_mad(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		     const struct mad_head *head, const char __user *buf,
		     size_t len)
{
	void *mad;

	if (len > UMAD_MAX_MAD)
		return -EINVAL;
	mad = memdup_user(buf, len);
	if (IS_ERR(mad))
		return PTR_ERR(mad);
	/* What was decided on is what is sent. */
	memcpy(mad, head->bytes, sizeof(head->bytes));
	return umad_send_mad(file, hdr, mad, len);
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
	enum umad_agent_kind kind;
	struct mad_head head;
	size_t len;
	int ret;

	/* ABI: no class has less than the common and the RMPP header. */
	if (count < hdr_size + IB_MGMT_RMPP_HDR)
		return -EINVAL;
	len = count - hdr_size;

	if (copy_from_user(&hdr, buf, hdr_size))
		return -EFAULT;
	if (hdr.id >= UMAD_MAX_AGENTS)
		return -EINVAL;
	if (copy_from_user(head.bytes, buf + hdr_size, sizeof(head.bytes)))
		return -EFAULT;
	kind = umad_agent_kind(file, hdr.id);
	if (kind == UMAD_AGENT_NONE)
		return -EIO;
	if (kind == UMAD_AGENT_RMPP &&
	    umad_mad_is_rmpp_active((struct ib_mad_hdr *)head.bytes))
		ret = write_message(file, &hdr, &head, buf + hdr_size, len);
	else
		ret = write_mad(file, &hdr, &head, buf + hdr_size, len);
	return ret ?: count;
}
