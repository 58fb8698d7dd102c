// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The four ioctls, for native and compat callers. */
#include <linux/types.h>
#include "cdev.h"

#include <linux/compat.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/uaccess.h>
#include "file.h"
#include "hdr.h"
#include "port.h"
#include "refuse.h"
#include "register.h"

static int refuse(struct umad_file *file, const struct umad_reg *reg,
		  enum umad_refusal why, int error)
{
	umad_refuse(file, reg, why, error);
	return error;
}

/* What it asks for has not been read. */
static int refuse_gone(struct umad_file *file)
{
	static const struct umad_reg unknown;

	return refuse(file, &unknown, UMAD_REFUSED_GONE, -EPIPE);
}

/* Register, tell the caller the id, and only then let the agent be used. */
static int register_agent(struct umad_file *file, const struct umad_reg *reg,
			  u32 __user *uid, bool pkey_hdr)
{
	struct umad_agent *agent;
	u32 id;
	int ret;

	agent = umad_agent_create(file, reg, &id);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	if (put_user(id, uid)) {
		umad_agent_unregister(file, id, agent);
		return -EFAULT;
	}
	ret = umad_agent_publish(file, id, agent, pkey_hdr);
	if (ret)
		return refuse(file, reg, UMAD_REFUSED_GONE, ret);
	if (!READ_ONCE(file->pkey_hdr))
		dev_info_once(&file->port->dev,
			      "%*pE does not ask for the P_Key index (IB_USER_MAD_ENABLE_PKEY)\n",
			      (int)strnlen(file->comm, sizeof(file->comm)), file->comm);
	return 0;
}

static int ioctl_register(struct umad_file *file,
			  struct ib_user_mad_reg_req __user *uarg, bool compat)
{
	struct ib_user_mad_reg_req ureq;
	struct umad_reg reg;

	if (READ_ONCE(file->shutdown))
		return refuse_gone(file);
	if (copy_from_user(&ureq, uarg, sizeof(ureq)))
		return -EFAULT;
	umad_reg_from_req(&reg, &ureq, compat);
	if (reg.qpn > 1)
		return refuse(file, &reg, UMAD_REFUSED_QPN, -EINVAL);
	return register_agent(file, &reg, &uarg->id, false);
}

static int ioctl_register2(struct umad_file *file,
			   struct ib_user_mad_reg_req2 __user *uarg)
{
	struct ib_user_mad_reg_req2 ureq;
	struct umad_reg reg;
	int ret;

	if (READ_ONCE(file->shutdown))
		return refuse_gone(file);
	if (copy_from_user(&ureq, uarg, sizeof(ureq)))
		return -EFAULT;
	ret = umad_reg_from_req2(&reg, &ureq);
	if (reg.qpn > 1)
		return refuse(file, &reg, UMAD_REFUSED_QPN, -EINVAL);
	if (reg.flags & ~IB_USER_MAD_REG_FLAGS_CAP) {
		refuse(file, &reg, UMAD_REFUSED_FLAGS, -EINVAL);
		/* ABI: say which flags there are. */
		return put_user((u32)IB_USER_MAD_REG_FLAGS_CAP,
				&uarg->flags) ? -EFAULT : -EINVAL;
	}
	if (ret)
		return refuse(file, &reg, UMAD_REFUSED_OUI, ret);
	return register_agent(file, &reg, &uarg->id, true);
}

static int ioctl_unregister(struct umad_file *file, u32 __user *uarg)
{
	u32 id;

	if (get_user(id, uarg))
		return -EFAULT;
	return umad_agent_unregister(file, id, NULL);
}

static int ioctl_enable_pkey(struct umad_file *file)
{
	int ret = -EINVAL;

	spin_lock(&file->lock);
	if (!file->used) {
		WRITE_ONCE(file->pkey_hdr, true);
		ret = 0;
	}
	spin_unlock(&file->lock);
	return ret;
}

static long do_ioctl(struct file *filp, unsigned int cmd, void __user *uarg,
		     bool compat)
{
	struct umad_file *file = filp->private_data;

	switch (cmd) {
	case IB_USER_MAD_REGISTER_AGENT:
		return ioctl_register(file, uarg, compat);
	case IB_USER_MAD_REGISTER_AGENT2:
		return ioctl_register2(file, uarg);
	case IB_USER_MAD_UNREGISTER_AGENT:
		return ioctl_unregister(file, uarg);
	case IB_USER_MAD_ENABLE_PKEY:
		return ioctl_enable_pkey(file);
	default:
		return -ENOIOCTLCMD;
	}
}

/**
 * umad_ioctl() - ioctl of a native caller
 * @filp: umadN
 * @cmd: IB_USER_MAD_*
 * @arg: the caller's argument
 *
 * Context: process; sleeps.
 * Return: 0 or an errno of the ABI; -ENOTTY for any other @cmd.
 */
long umad_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return do_ioctl(filp, cmd, (void __user *)arg, false);
}

#ifdef CONFIG_COMPAT
/**
 * umad_compat_ioctl() - ioctl of a 32-bit caller on a 64-bit kernel
 * @filp: umadN
 * @cmd: IB_USER_MAD_*
 * @arg: the caller's argument
 *
 * Context: process; sleeps.
 * Return: as umad_ioctl().
 */
long umad_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return do_ioctl(filp, cmd, compat_ptr(arg), true);
}
#endif
