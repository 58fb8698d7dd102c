// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* write(): one header and one MAD, copied in before anything is locked. */
#include <linux/types.h>
#include "file.h"

#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "agent.h"
#include "send.h"

/**
 * umad_write() - write() of umadN
 * @filp: the file
 * @buf: the caller's
 * @count: bytes of header and MAD
 * @pos: unused, a stream has none
 *
 * The caller's memory is read here and nowhere else, holding nothing: a page
 * fault that takes for ever (userfaultfd, a dead network file system) delays
 * nobody but its own thread.
 * Context: process; sleeps.
 * Return: @count; -EINVAL for a length or an id that cannot be; -EFAULT; -EIO
 * when the id has no agent, or the device is gone; as umad_send_mad().
 */
ssize_t umad_write(struct file *filp, const char __user *buf, size_t count,
		   loff_t *pos)
{
	struct umad_file *file = filp->private_data;
	size_t hdr_size = umad_file_hdr_size(file);
	struct ib_user_mad_hdr hdr = {};
	size_t len;
	void *mad;
	int ret;

	/* ABI: no class has less than the common and the RMPP header. */
	if (count < hdr_size + IB_MGMT_RMPP_HDR)
		return -EINVAL;
	len = count - hdr_size;

	if (copy_from_user(&hdr, buf, hdr_size))
		return -EFAULT;
	if (hdr.id >= UMAD_MAX_AGENTS)
		return -EINVAL;
	/* Before the length, which is judged by what the agent may send. */
	if (!umad_agent_exists(file, hdr.id))
		return -EIO;
	if (len > UMAD_MAX_MAD)
		return -EINVAL;

	mad = memdup_user(buf + hdr_size, len);
	if (IS_ERR(mad))
		return PTR_ERR(mad);
	ret = umad_send_mad(file, &hdr, mad, len);
	return ret ?: count;
}
