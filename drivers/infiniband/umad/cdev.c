// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* umadN: an open file begins, is polled, and ends. */
#include <linux/types.h>
#include "cdev.h"

#include <linux/fs.h>
#include <linux/moduleparam.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include "agent.h"
#include "file.h"
#include "poll_wake.h"
#include "port.h"
#include "reclaim.h"
#include "register.h"
#include "request.h"
#include "rmpp/xfer_tx.h"
#include "umad_export.h"
#include "unread.h"
#include "user.h"

static unsigned long recv_budget = 64UL << 20;
module_param(recv_budget, ulong, 0644);
MODULE_PARM_DESC(recv_budget,
		 "Bytes of received MADs a file may have unread, for files opened from now on (default: 64 MiB)");

static struct kmem_cache *file_cache;

/**
 * umad_cdev_init() - before the first open()
 *
 * Context: process; sleeps.
 * Return: 0 or -ENOMEM.
 */
int umad_cdev_init(void)
{
	file_cache = KMEM_CACHE(umad_file, 0);
	return file_cache ? 0 : -ENOMEM;
}

/**
 * umad_cdev_exit() - no file is left
 *
 * Context: process; sleeps.
 */
void umad_cdev_exit(void)
{
	kmem_cache_destroy(file_cache);
}

/* Of one without agents that is on no list. */
static void file_free(struct umad_file *file)
{
	umad_reclaim_remove(file);
	umad_poll_wake_free(file->poll_wake);
	umad_retry_queue_destroy(&file->retry_queue);
	if (file->rmpp)
		umad_xfer_tx_queues_destroy(file->rmpp);
	/* No agent, so neither requests nor messages: nothing arms them any more. */
	cancel_work_sync(&file->backlog_work);
	umad_deadlines_destroy(&file->deadlines);
	umad_rmpp_free(file->rmpp);
	kfree(file->more_agents);
	umad_txn_table_destroy(&file->txns);
	umad_timers_destroy(&file->timers);
	umad_user_put(file->user);
	umad_unread_forget(file);
	umad_reserve_put(file->reserve);
	umad_port_put(file->port);
	kmem_cache_free(file_cache, file);
}

static int list_file(struct umad_file *file)
{
	struct umad_port *port = file->port;
	int ret = -EPERM;

	if (!umad_active_ref_tryget(&port->active_ref))
		return -ENXIO;
	if (rdma_dev_access_netns(port->ib_dev, current->nsproxy->net_ns)) {
		mutex_lock(&port->files_lock);
		list_add_tail(&file->port_node, &port->files);
		mutex_unlock(&port->files_lock);
		ret = 0;
	}
	umad_active_ref_put(&port->active_ref);
	return ret;
}

/**
 * umad_file_create() - what an open file consists of
 * @port: kept by the caller, who has no active reference: what is allocated is
 *	charged, and the cgroup may have to reclaim for it
 *
 * Context: process; may sleep.
 * Return: the file, known to @port; or -ENXIO when the device is gone, -EPERM
 * when it is of another net namespace, -ENOMEM.
 */
struct umad_file *umad_file_create(struct umad_port *port)
{
	struct umad_file *file;
	int ret;

	file = kmem_cache_zalloc(file_cache, GFP_KERNEL_ACCOUNT);
	if (!file)
		return ERR_PTR(-ENOMEM);
	file->reserve = umad_reserve_get();
	if (!file->reserve)
		goto err_free;
	file->user = umad_user_get(port, file->reserve);
	if (!file->user)
		goto err_reserve;

	file->port = port;
	umad_resolver_init(&file->guests);
	spin_lock_init(&file->lock);
	umad_timers_init(&file->timers, &file->lock);
	umad_deadlines_init(&file->deadlines, port->deadline_pool, &file->user->deadline_turn,
			    &umad_file_deadlines_ops);
	file->armed = KTIME_MAX;
	umad_txn_table_init(&file->txns, &file->timers);
	INIT_LIST_HEAD(&file->done);
	umad_retry_queue_init(&file->retry_queue, &port->pace, &file->user->turn,
			      umad_request_retry_work);
	INIT_WORK(&file->backlog_work, umad_request_backlog_work);
	umad_rxq_init(&file->rxq, READ_ONCE(recv_budget));
	get_task_comm(file->comm, current);

	umad_reclaim_add(file);
	umad_port_get(port);
	ret = list_file(file);
	if (!ret)
		return file;
	file_free(file);
	return ERR_PTR(ret);

err_reserve:
	umad_reserve_put(file->reserve);
err_free:
	kmem_cache_free(file_cache, file);
	return ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL_IF_KUNIT(umad_file_create);

/**
 * umad_file_shut() - wake a file's waiters, and let nobody use its agents
 * @file: may be shut already
 *
 * Who is inside leaves meanwhile: of all agents at the same time, and of all
 * files that are shut before the first is killed. If another caller has begun, it may
 * still be dropping entries when this returns.
 * Context: process; may sleep, but never for user space.
 */
void umad_file_shut(struct umad_file *file)
{
	unsigned int id;
	bool was_shut;

	spin_lock(&file->lock);
	was_shut = file->shutdown;
	WRITE_ONCE(file->shutdown, true);
	for (id = 0; id < file->slots && !was_shut; id++)
		if (umad_file_agent(file, id))
			umad_agent_shut(umad_file_agent(file, id));
	spin_unlock(&file->lock);
	/* No agent has come to it since, and no entry. */
	if (!was_shut)
		umad_rxq_shutdown(&file->rxq);
	/* It may stay open for long. */
	umad_unread_settle(file);
}

/* One that falls to the caller, from *@id on; NULL: there is none. */
static struct umad_agent *take_agent(struct umad_file *file, unsigned int *id)
{
	struct umad_agent *agent = NULL;

	spin_lock(&file->lock);
	for (; !agent && *id < file->slots; ++*id) {
		agent = umad_file_agent(file, *id);
		umad_file_set_agent(file, *id, NULL);
	}
	spin_unlock(&file->lock);
	return agent;
}

/**
 * umad_file_shutdown() - take a file's agents, wake its waiters
 * @file: whose RDMA device is there; may be shut down already
 *
 * Called with an active reference to the port or under files_lock; an agent falls to one
 * caller only.
 * Context: process; sleeps, but never for user space.
 */
void umad_file_shutdown(struct umad_file *file)
{
	struct umad_agent *agent;
	unsigned int id = 0;

	umad_file_shut(file);
	while ((agent = take_agent(file, &id)))
		umad_agent_destroy(agent);
}

/**
 * umad_file_destroy() - the last close
 * @file: consumed
 *
 * Context: process; sleeps, but never for user space.
 */
void umad_file_destroy(struct umad_file *file)
{
	struct umad_port *port = file->port;

	/* Mostly without the mutex, which others want too. */
	if (umad_active_ref_tryget(&port->active_ref)) {
		umad_file_shutdown(file);
		umad_active_ref_put(&port->active_ref);
	}
	/* Others that close theirs wait behind the mutex with their agents shut. */
	umad_file_shut(file);
	mutex_lock(&port->files_lock);
	/*
	 * Who has killed the active references may not have come to this file yet, and will
	 * not find it: but needs the mutex to go on, so the device is there.
	 */
	umad_file_shutdown(file);
	list_del(&file->port_node);
	mutex_unlock(&port->files_lock);
	file_free(file);
}
EXPORT_SYMBOL_IF_KUNIT(umad_file_destroy);

static int umad_open(struct inode *inode, struct file *filp)
{
	struct umad_port *port = container_of(inode->i_cdev, struct umad_port,
					      cdev);
	struct umad_file *file = umad_file_create(port);

	if (IS_ERR(file))
		return PTR_ERR(file);
	filp->private_data = file;
	/* For io_uring, see IOCB_NOWAIT. */
	filp->f_mode |= FMODE_NOWAIT;
	return stream_open(inode, filp);
}

static int umad_release(struct inode *inode, struct file *filp)
{
	umad_file_destroy(filp->private_data);
	return 0;
}

static __poll_t umad_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct umad_file *file = filp->private_data;
	/* ABI: a MAD can always be written. */
	__poll_t mask = EPOLLOUT | EPOLLWRNORM;
	bool hears = poll_requested_events(wait) & (EPOLLIN | EPOLLRDNORM);

	poll_wait(filp, &file->rxq.wait, wait);
	if (!(hears ? umad_rxq_poll(&file->rxq) : umad_rxq_is_ready(&file->rxq)))
		return mask;
	return READ_ONCE(file->rxq.shutdown) ? EPOLLERR : mask | EPOLLIN | EPOLLRDNORM;
}

const struct file_operations umad_fops = {
	.owner = THIS_MODULE,
	.open = umad_open,
	.release = umad_release,
	.read_iter = umad_read_iter,
	.write_iter = umad_write_iter,
	.poll = umad_poll,
	.unlocked_ioctl = umad_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl = umad_compat_ioctl,
#endif
};
