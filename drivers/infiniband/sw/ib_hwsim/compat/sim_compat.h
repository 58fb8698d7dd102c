/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The one place that knows in what kernels differ, from 6.1 on: by what probe.sh has
 * found in their headers.
 */
#ifndef SIM_COMPAT_H
#define SIM_COMPAT_H

#include <linux/hrtimer.h>
/* Remove when kernels before 6.12 are dropped. */
#ifdef SIM_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

/* Remove when kernels before 6.4 are dropped. */
#ifdef SIM_HAVE_CONST_BUS
#define SIM_BUS_CONST const
#else
#define SIM_BUS_CONST
#endif

/*
 * What a CQ of user space comes with; NULL for one of the kernel. Remove when kernels
 * before 6.11 are dropped.
 */
#ifdef SIM_HAVE_CQ_ATTRS
#define sim_cq_user uverbs_attr_bundle
#else
#define sim_cq_user ib_udata
#endif

/* An argument of reg_user_mr(). Remove when kernels before 6.17 are dropped. */
#ifdef SIM_HAVE_MR_DMAH
#define SIM_MR_DMAH struct ib_dmah *dmah,
#else
#define SIM_MR_DMAH
#endif

/* Remove when kernels before 6.13 are dropped. */
#ifndef SIM_HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *timer),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* SIM_COMPAT_H */
