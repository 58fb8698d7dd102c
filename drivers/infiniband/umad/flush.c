// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/types.h>
#include "flush.h"

#include <linux/compiler.h>
#include <linux/device.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>
#include "port.h"

/* In ms. A removal is to end within 2 s, and one address resolution may be waited for. */
#define FLUSH_AFTER	1500
#define FLUSH_AGAIN	500

/**
 * umad_flush_qp() - a queue pair of the port is used
 * @port: of an RDMA device that is there
 * @qp: ib_core's, of QP0 or QP1, which outlives all agents of the port
 *
 * Context: process; does not sleep.
 */
void umad_flush_qp(struct umad_port *port, struct ib_qp *qp)
{
	WRITE_ONCE(port->flush.qp[qp->qp_type == IB_QPT_GSI], qp);
}

/*
 * With it in error the device has to complete all that it has (IBA 10.3.1), and so has
 * soft-RoCE, whose queue pair stands still after a failed send. ib_core may have put it into
 * another state meanwhile.
 */
static void do_flush(struct work_struct *work)
{
	struct umad_flush *flush = container_of(to_delayed_work(work), struct umad_flush, work);
	struct umad_port *port = container_of(flush, struct umad_port, flush);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_qp *qp;
	unsigned int i;

	/* Of @port->dev the name goes with the last file. */
	dev_info(&port->ib_dev->dev, "umad%d: the device does not complete what it sends: flushed\n",
		 port->index);
	for (i = 0; i < ARRAY_SIZE(flush->qp); i++) {
		qp = READ_ONCE(flush->qp[i]);
		if (qp)
			ib_modify_qp(qp, &attr, IB_QP_STATE);
	}
	schedule_delayed_work(&flush->work, msecs_to_jiffies(FLUSH_AGAIN));
}

/**
 * umad_flush_init() - nothing is to be flushed yet
 * @port: to be filled in
 *
 * Context: any.
 */
void umad_flush_init(struct umad_port *port)
{
	INIT_DELAYED_WORK(&port->flush.work, do_flush);
}

/**
 * umad_flush_begin() - the RDMA device goes away
 * @port: of it
 *
 * From now on what it sends is completed within two seconds, without success if need be. For
 * the queue pairs of a device that stays are others', too, nothing is done if it is the module
 * that goes. umad_flush_end() has to follow.
 * Context: process; does not sleep.
 */
void umad_flush_begin(struct umad_port *port)
{
	if (THIS_MODULE->state == MODULE_STATE_LIVE)
		schedule_delayed_work(&port->flush.work, msecs_to_jiffies(FLUSH_AFTER));
}

/**
 * umad_flush_end() - no agent of the port is left
 * @port: of which umad_flush_begin() may have been called
 *
 * Context: process; sleeps; hold no lock.
 */
void umad_flush_end(struct umad_port *port)
{
	cancel_delayed_work_sync(&port->flush.work);
}
