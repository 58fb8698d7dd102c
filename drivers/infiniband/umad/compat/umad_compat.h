/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The one place that knows in what kernels differ, from 5.10 on, with its neighbours.
 * Everything else is written for the newest interface it can name here.
 */
#ifndef UMAD_COMPAT_H
#define UMAD_COMPAT_H

#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/sched.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <rdma/ib_mad.h>

struct sk_buff;

/*
 * ib_core keeps back what exceeds a limit of requests ("IB/mad: Add flow control for
 * solicited MADs"). A kernel with a backport of it needs the parameter flow_control.
 * Remove when kernels before 6.17 are dropped.
 */
#ifndef UMAD_CORE_FLOW_CONTROL
#define UMAD_CORE_FLOW_CONTROL 0
#endif

/*
 * ib_core keeps this in its private core_priv.h although each ib_client with
 * a get_nl_info() needs it; the layout is the same from 5.10 to 7.2.
 */
struct ib_client_nl_info {
	struct sk_buff *nl_msg;
	struct device *cdev;
	u32 port;
	u64 abi;
};

/*
 * For how many ns the task has waited for a processor in its life. Not known without
 * CONFIG_TASK_DELAY_ACCT or CONFIG_SCHEDSTATS, one of which all distributions have.
 */
static inline u64 umad_run_delay(void)
{
#ifdef CONFIG_SCHED_INFO
	return current->sched_info.run_delay;
#else
	return 0;
#endif
}

/* Remove when kernels before 6.2 are dropped. */
#ifdef UMAD_HAVE_CONST_DEVNODE
#define UMAD_DEVNODE_CONST const
#else
#define UMAD_DEVNODE_CONST
#endif

/* Remove when kernels before 6.4 are dropped. */
#ifdef UMAD_HAVE_CONST_CLASS_ATTR
#define UMAD_CLASS_ATTR_CONST const
#else
#define UMAD_CLASS_ATTR_CONST
#endif

/* Remove when kernels before 6.13 are dropped. */
#ifndef UMAD_HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *timer),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* Remove when kernels before 6.2 are dropped. */
#ifndef UMAD_HAVE_TIMER_DELETE
#define timer_delete_sync(timer) del_timer_sync(timer)
#endif

/* Remove when kernels before 5.14 are dropped. */
#ifdef UMAD_LACKS_MODIFY_BUF
static inline int umad_modify_mad(struct ib_mad_send_buf *buf, u32 timeout_ms)
{
	return ib_modify_mad(buf->mad_agent, buf, timeout_ms);
}

#define ib_modify_mad umad_modify_mad
#endif

#endif /* UMAD_COMPAT_H */
