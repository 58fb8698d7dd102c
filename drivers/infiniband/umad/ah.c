// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "ah.h"

#include <linux/err.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include "addr.h"
#include "agent.h"
#include "file.h"
#include "port.h"
#include "user.h"

/**
 * struct umad_ah - a shared address handle
 * @refs: the request's own, and one for each posted MAD
 * @ah: the verbs object
 */
struct umad_ah {
	refcount_t refs;
	struct ib_ah *ah;
};

/**
 * umad_ah_enter() - a write begins that may resolve an address
 * @file: that it is for; without an active reference, as others of its process may be
 *	resolving for long
 *
 * Context: process; sleeps until fewer threads of the process are, killable.
 * Return: 0, umad_ah_leave() has to follow; -EINTR.
 */
int umad_ah_enter(struct umad_file *file)
{
	return down_killable(&file->user->resolving);
}

/**
 * umad_ah_leave() - undo umad_ah_enter()
 * @file: the same
 */
void umad_ah_leave(struct umad_file *file)
{
	up(&file->user->resolving);
}

/**
 * umad_ah_create() - the handle for an address
 * @agent: caller must hold an active reference
 * @addr: the address
 *
 * On RoCE this resolves the GID, and a neighbour that does not answer takes
 * about a second: hold no lock.
 * Context: process; sleeps. The RDMA device stays until umad_ah_put().
 * Return: the handle with one reference, or what ib_core and the driver have
 * against the address: -ENODATA for a GID index without GID, -EINVAL for an
 * address without GRH on RoCE, -ENETUNREACH, -ETIMEDOUT, -ENOMEM.
 */
struct umad_ah *umad_ah_create(const struct umad_agent *agent,
			       const struct umad_addr *addr)
{
	u32 port_num = agent->file->port->port_num;
	struct ib_pd *pd = agent->core->qp->pd;
	struct rdma_ah_attr attr;
	struct umad_ah *ah;
	struct ib_ah *verbs;

	ah = kmalloc(sizeof(*ah), GFP_KERNEL_ACCOUNT);
	if (!ah)
		return ERR_PTR(-ENOMEM);

	umad_addr_to_ah_attr(addr, rdma_ah_find_type(pd->device, port_num),
			     port_num, &attr);
	verbs = rdma_create_user_ah(pd, &attr, NULL);
	if (IS_ERR(verbs)) {
		kfree(ah);
		return ERR_CAST(verbs);
	}
	refcount_set(&ah->refs, 1);
	ah->ah = verbs;
	return ah;
}

/**
 * umad_ah_get() - take a reference
 * @ah: to be kept
 *
 * Context: any.
 */
void umad_ah_get(struct umad_ah *ah)
{
	refcount_inc(&ah->refs);
}

/**
 * umad_ah_put() - drop a reference
 * @ah: consumed
 *
 * Context: process; may sleep; hold no lock.
 */
void umad_ah_put(struct umad_ah *ah)
{
	if (!refcount_dec_and_test(&ah->refs))
		return;
	rdma_destroy_ah(ah->ah, RDMA_DESTROY_AH_SLEEPABLE);
	kfree(ah);
}

/**
 * umad_ah_verbs() - what ib_core takes
 * @ah: a reference is held
 *
 * Context: any.
 * Return: the verbs object, valid as long as the reference.
 */
struct ib_ah *umad_ah_verbs(struct umad_ah *ah)
{
	return ah->ah;
}
